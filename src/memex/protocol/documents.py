"""Requests and answers of the protocol as JSON objects."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from .models import (
    ExtractRequest,
    ExtractResult,
    LinkRequest,
    LinkResult,
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
    "recall_document",
    "recall_result_document",
    "record_document",
    "store_document",
    "store_result_document",
]


def store_document(request: StoreRequest) -> dict[str, Any]:
    """Return the body of `store`."""
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


def store_result_document(result: StoreResult) -> dict[str, Any]:
    """Return the data of `store`."""
    return {"memory_id": result.memory_id, "level": result.level.value, "deduplicated": result.deduplicated}


def recall_document(request: RecallRequest) -> dict[str, Any]:
    """Return the body of `recall`."""
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


def link_document(request: LinkRequest) -> dict[str, Any]:
    """Return the body of `link`."""
    return {
        "from_id": request.from_id,
        "to_id": request.to_id,
        "relation": request.relation,
        "weight": request.weight,
    }


def link_result_document(result: LinkResult) -> dict[str, Any]:
    """Return the data of `link`."""
    return {"link_id": result.link_id, "created": result.created}


def extract_document(request: ExtractRequest) -> dict[str, Any]:
    """Return the body of `extract`."""
    body: dict[str, Any] = {"limit": request.limit, "lm_policy": request.lm_policy.value}
    if request.memory_ids:
        body["memory_ids"] = list(request.memory_ids)
    return body


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
