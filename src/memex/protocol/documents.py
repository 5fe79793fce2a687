"""Requests and answers as JSON objects: written by one side, read by the other.

What a service reads is checked, and what does not fit is refused by name; fields that are not
known are ignored, so that an older side goes on working with a newer one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from .errors import InvalidInput
from .models import (
    ExtractRequest,
    ExtractResult,
    Level,
    LinkRequest,
    LinkResult,
    LmPolicy,
    PreExtracted,
    RecallMode,
    RecallRequest,
    RecallResult,
    Record,
    StoreRequest,
    StoreResult,
    utc,
)

__all__ = [
    "extract_document",
    "extract_result_document",
    "link_document",
    "link_result_document",
    "read_extract",
    "read_link",
    "read_memory_id",
    "read_recall",
    "read_store",
    "recall_document",
    "recall_result_document",
    "record_document",
    "store_document",
    "store_result_document",
]

_Document = Mapping[str, Any]


def store_document(request: StoreRequest) -> dict[str, Any]:
    """Return the body of `store`; `read_store` reads it back."""
    body: dict[str, Any] = {
        "content": request.content,
        "source_type": request.source_type,
        "occurred_at": _iso(request.occurred_at),
        "level": request.level.value,
        "lm_policy": request.lm_policy.value,
        "tags": list(request.tags),
        "payload": dict(request.payload),
    }
    if request.pre_extracted is not None:
        pre = request.pre_extracted
        body["pre_extracted"] = {"content": pre.content, "keywords": list(pre.keywords), "topic": pre.topic}
    return body


def read_store(body: _Document, *, now: datetime) -> StoreRequest:
    """Return the request; one that has no time happened `now`. Raises InvalidInput, TooLarge."""
    pre = _object(body, "pre_extracted")
    content = _text(body, "content")
    return StoreRequest(
        content=content,
        occurred_at=_time(body, "occurred_at") or now,
        source_type=_text(body, "source_type") or "memory",
        level=Level(_choice(body, "level", Level.RAW)),
        lm_policy=LmPolicy(_choice(body, "lm_policy", LmPolicy.AUTO)),
        tags=_texts(body, "tags"),
        payload=_object(body, "payload") or {},
        pre_extracted=PreExtracted(
            content=_text(pre, "content") or content, keywords=_texts(pre, "keywords"), topic=_text(pre, "topic")
        )
        if pre is not None
        else None,
    )


def store_result_document(result: StoreResult) -> dict[str, Any]:
    """Return the data of `store`."""
    return {"memory_id": result.memory_id, "level": result.level.value, "deduplicated": result.deduplicated}


def recall_document(request: RecallRequest) -> dict[str, Any]:
    """Return the body of `recall`; `read_recall` reads it back."""
    body: dict[str, Any] = {
        "keywords": list(request.keywords),
        "query": request.query,
        "top_k": request.top_k,
        "mode": request.mode.value,
        "dimensions": list(request.dimensions),
    }
    for name, value in (("time_from", request.time_from), ("time_to", request.time_to)):
        if value is not None:
            body[name] = _iso(value)
    return body


def read_recall(body: _Document) -> RecallRequest:
    """Return the request. Raises InvalidInput."""
    return RecallRequest(
        keywords=_texts(body, "keywords"),
        query=_text(body, "query"),
        top_k=_whole(body, "top_k", 5),
        mode=RecallMode(_choice(body, "mode", RecallMode.PRECISE)),
        dimensions=_texts(body, "dimensions"),
        time_from=_time(body, "time_from"),
        time_to=_time(body, "time_to"),
    )


def recall_result_document(result: RecallResult, mode: RecallMode) -> dict[str, Any]:
    """Return the data of `recall`: `items`, or in mode `cluster` `groups` of them."""
    if mode is RecallMode.CLUSTER:
        return {
            "groups": [
                {"key": group.key, "topic": group.key, "items": [record_document(r) for r in group.records]}
                for group in result.groups
            ]
        }
    return {"items": [record_document(record) for record in result.records]}


def record_document(record: Record) -> dict[str, Any]:
    """Return one record, as `recall` lists it and `get` answers it."""
    document: dict[str, Any] = {
        "memory_id": record.memory_id,
        "content": record.content,
        "score": record.score,
        "level": record.level.value,
        "topic": record.topic,
        "keywords": list(record.keywords),
        "occurred_at": _iso(record.occurred_at),
        "created_at": _iso(record.created_at),
        "source_type": record.source_type,
        "tags": list(record.tags),
        "payload": dict(record.payload),
    }
    if record.links:
        document["links"] = [
            {"link_id": x.link_id, "from_id": x.from_id, "to_id": x.to_id, "relation": x.relation, "weight": x.weight}
            for x in record.links
        ]
    return document


def read_memory_id(body: _Document) -> str:
    """Return the id that `get` asks for. Raises InvalidInput."""
    memory_id = _text(body, "memory_id").strip()
    if not memory_id:
        raise InvalidInput("memory_id is required", field="memory_id")
    return memory_id


def link_document(request: LinkRequest) -> dict[str, Any]:
    """Return the body of `link`; `read_link` reads it back."""
    return {
        "from_id": request.from_id,
        "to_id": request.to_id,
        "relation": request.relation,
        "weight": request.weight,
    }


def read_link(body: _Document) -> LinkRequest:
    """Return the request; the ends may also be called source_id and target_id. Raises InvalidInput."""
    weight = body.get("weight")
    if weight is None:
        weight = 1.0
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise InvalidInput("weight must be a number", field="weight")
    return LinkRequest(
        from_id=_text(body, "from_id") or _text(body, "source_id"),
        to_id=_text(body, "to_id") or _text(body, "target_id"),
        relation=_text(body, "relation") or "related",
        weight=float(weight),
    )


def link_result_document(result: LinkResult) -> dict[str, Any]:
    """Return the data of `link`."""
    return {"link_id": result.link_id, "created": result.created}


def extract_document(request: ExtractRequest) -> dict[str, Any]:
    """Return the body of `extract`; `read_extract` reads it back."""
    body: dict[str, Any] = {"limit": request.limit, "lm_policy": request.lm_policy.value}
    if request.memory_ids:
        body["memory_ids"] = list(request.memory_ids)
    return body


def read_extract(body: _Document) -> ExtractRequest:
    """Return the request. Raises InvalidInput."""
    return ExtractRequest(
        limit=_whole(body, "limit", 20),
        memory_ids=_texts(body, "memory_ids"),
        lm_policy=LmPolicy(_choice(body, "lm_policy", LmPolicy.AUTO)),
    )


def extract_result_document(result: ExtractResult) -> dict[str, Any]:
    """Return the data of `extract`."""
    return {
        "claimed": result.claimed,
        "extracted": result.extracted,
        "failed": result.failed,
        "facts": list(result.facts),
        "status": result.status,
        "message": result.message,
    }


def _iso(value: datetime | None) -> str | None:
    return utc(value).isoformat().replace("+00:00", "Z") if value is not None else None


def _text(body: _Document, name: str) -> str:
    value = body.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string", field=name)
    return value


def _texts(body: _Document, name: str) -> Sequence[str]:
    value = body.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise InvalidInput(f"{name} must be a list of strings", field=name)
    return value


def _object(body: _Document, name: str) -> _Document | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a JSON object", field=name)
    return value


def _whole(body: _Document, name: str, default: int) -> int:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{name} must be a whole number", field=name)
    return value


def _choice(body: _Document, name: str, default: Level | LmPolicy | RecallMode) -> str:
    text = _text(body, name).strip().lower() or default.value
    known = [member.value for member in type(default)]
    if text not in known:
        raise InvalidInput(f"{name} must be one of {', '.join(known)}, not {text[:40]!r}", field=name)
    return text


def _time(body: _Document, name: str) -> datetime | None:
    text = _text(body, name)
    if not text:
        return None
    try:
        return utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError) as e:
        raise InvalidInput(f"{name} must be a time such as 2026-05-26T10:30:00Z, not {text[:40]!r}", field=name) from e
