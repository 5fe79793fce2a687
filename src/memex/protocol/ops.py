"""The six calls without I/O: a message becomes an HTTP request, a response becomes an answer.

Implementations of the protocol differ in their envelope (`{"success", "data"}`, `{"code": 0, "data"}`,
none at all) and in the shape of what they list (items, groups, a bare list); all are understood.
Every `parse_*` raises the error of the tree that a refusal stands for, and Unavailable when the
answer is none of this protocol's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from .documents import extract_document, link_document, recall_document, store_document
from .errors import MemexError, NotFound, Unavailable
from .models import (
    ExtractRequest,
    ExtractResult,
    Group,
    Health,
    Level,
    Link,
    LinkRequest,
    LinkResult,
    RecallRequest,
    RecallResult,
    Record,
    StoreRequest,
    StoreResult,
    utc,
)
from .wire import Request, Response, document, encode, error_of, refusal

__all__ = [
    "PREFIX",
    "extract",
    "get",
    "health",
    "link",
    "parse_extract",
    "parse_get",
    "parse_health",
    "parse_link",
    "parse_recall",
    "parse_store",
    "recall",
    "store",
]

PREFIX = "/api/v1/memory"
_FINE = {"0", "200", "ok", "success"}
_STATUS_OF = {
    "invalid_input": 422, "invalid_request": 422, "validation_error": 422, "unauthorized": 401, "forbidden": 401,
    "not_found": 404, "conflict": 409, "too_large": 413, "rate_limited": 429,
}  # fmt: skip
_LEVELS = {"l1": Level.RAW, "l2": Level.FACT, "l3": Level.SUMMARY, "l4": Level.META}
_LISTS = ("items", "results", "records", "memories")
_ONE = ("item", "record", "memory")
_MILLISECONDS = 1e11  # an epoch beyond this (the year 5138 in seconds) is counted in milliseconds


def health() -> Request:
    """Ask how the backend is."""
    return Request(operation="health", method="GET", path=f"{PREFIX}/health", reads=True)


def store(request: StoreRequest) -> Request:
    """Keep a record. It may be sent twice: the same text is one record."""
    return _post("store", store_document(request))


def recall(request: RecallRequest) -> Request:
    """Ask for records."""
    return _post("recall", recall_document(request), reads=True)


def get(memory_id: str) -> Request:
    """Ask for one record."""
    return _post("get", {"memory_id": memory_id}, reads=True)


def link(request: LinkRequest) -> Request:
    """Make an edge. It may be sent twice."""
    return _post("link", link_document(request))


def extract(request: ExtractRequest) -> Request:
    """Have facts extracted."""
    return _post("extract", extract_document(request))


def parse_health(response: Response) -> Health:
    """Return how the backend says that it is."""
    data = _mapping(_data(response)[0], "health")
    can = data.get("capabilities")
    can = can if isinstance(can, Mapping) else {}
    levels = can.get("levels")
    return Health(
        status=str(data.get("status") or "ok"),
        version=str(data.get("version") or ""),
        protocol=str(data.get("protocol") or ""),
        lm=bool(can.get("lm")),
        levels=tuple(_level(level) for level in levels) if isinstance(levels, list) else tuple(Level),
        detail=data,
    )


def parse_store(response: Response) -> StoreResult:
    """Return the id of the record."""
    data = _data(response)[0]
    record = _inner(data) if isinstance(data, Mapping) else {"memory_id": data}
    memory_id = _id(record)
    if not memory_id:
        raise _foreign("store", "it has no memory_id")
    repeated = record.get("deduplicated", record.get("duplicate", False))
    return StoreResult(memory_id=memory_id, level=_level(record.get("level")), deduplicated=bool(repeated))


def parse_recall(response: Response) -> RecallResult:
    """Return the records in the order of the answer, groups flattened; a repeated record counts once."""
    data = _data(response)[0]
    groups = [Group(key=key, records=tuple(_records(items))) for key, items in _groups(data)]
    listed = [record for group in groups for record in group.records] or list(_records(data))
    unique = {record.memory_id or f"\0{record.content}": record for record in reversed(listed)}
    kept = set(map(id, unique.values()))
    return RecallResult(records=tuple(r for r in listed if id(r) in kept), groups=tuple(groups))


def parse_get(response: Response) -> Record:
    """Return the record. Raises NotFound also for an empty answer."""
    data = _data(response)[0]
    found = next(_records([data] if isinstance(data, Mapping) and not _has_list(data) else data), None)
    if found is None:
        raise NotFound("there is no such record")
    return found


def parse_link(response: Response) -> LinkResult:
    """Return the id of the edge; "" from a backend that gives it none."""
    data = _data(response)[0]
    if not isinstance(data, Mapping):
        return LinkResult(link_id=str(data) if isinstance(data, str | int) else "")
    made = data.get("created")
    return LinkResult(link_id=str(data.get("link_id") or data.get("id") or ""), created=made is not False)


def parse_extract(response: Response) -> ExtractResult:
    """Return what was extracted; a backend that cannot extract is no failure, but says so."""
    if response.status == 501:
        return ExtractResult(status="unavailable")
    data, message = _data(response)
    if not isinstance(data, Mapping) or not {"claimed", "extracted", "failed", "facts"} & data.keys():
        status = str(data.get("status") or "") if isinstance(data, Mapping) else ""
        text = str(data.get("message") or "") if isinstance(data, Mapping) else str(data or "")
        return ExtractResult(status=status or "unavailable", message=text or message)
    facts = data.get("facts")
    facts = facts if isinstance(facts, list) else []
    return ExtractResult(
        claimed=_count(data.get("claimed")),
        extracted=_count(data.get("extracted")),
        failed=_count(data.get("failed")),
        facts=tuple(_id(fact) if isinstance(fact, Mapping) else str(fact) for fact in facts),
        status=str(data.get("status") or "ok"),
        message=str(data.get("message") or message),
    )


def _post(operation: str, body: Mapping[str, Any], *, reads: bool = False) -> Request:
    return Request(
        operation=operation,
        method="POST",
        path=f"{PREFIX}/{operation}",
        body=encode(body),
        reads=reads,
        headers={"content-type": "application/json"},
    )


def _data(response: Response) -> tuple[Any, str]:
    """Take the envelope off: return the data and the message. Raises what the response stands for."""
    error = error_of(response)
    if error is not None:
        raise error
    body = document(response)
    if not isinstance(body, Mapping):
        return body, ""
    message = next((str(body[k]) for k in ("message", "msg") if isinstance(body.get(k), str)), "")
    code = body.get("code")
    if body.get("success") is False or (code is not None and str(code).lower() not in _FINE) or _failed(body):
        raise _told(body, message)
    enveloped = "data" in body or "success" in body or code is not None
    return (body.get("data") if enveloped else body), message


def _failed(body: Mapping[str, Any]) -> bool:
    return bool(body.get("error")) and body.get("data") is None and body.get("success") is not True


def _told(body: Mapping[str, Any], message: str) -> MemexError:
    """Return the error that a body with status 200 tells of."""
    error = body.get("error")
    details = error if isinstance(error, Mapping) else {}
    text = str(details.get("message") or (error if isinstance(error, str) else "") or message or "the service refused")
    code = str(details.get("code") or body.get("code") or "").lower()
    status = int(code) if code.isdecimal() and 400 <= int(code) < 600 else _STATUS_OF.get(code, 503)
    return refusal(status, text[:300], details)


def _mapping(data: Any, operation: str) -> Mapping[str, Any]:
    if data is None or isinstance(data, str):
        return {"status": data or "ok"}
    if not isinstance(data, Mapping):
        raise _foreign(operation, "it is not an object")
    return data


def _foreign(operation: str, why: str) -> Unavailable:
    return Unavailable(f"the answer to {operation} is not one of this protocol: {why}")


def _has_list(data: Mapping[str, Any]) -> bool:
    return any(isinstance(data.get(name), list) for name in _LISTS)


def _groups(data: Any) -> Iterator[tuple[str, Any]]:
    groups = data.get("groups", data.get("clusters")) if isinstance(data, Mapping) else None
    if isinstance(groups, Mapping):
        yield from ((str(key), items) for key, items in groups.items())
    for group in groups if isinstance(groups, list) else ():
        if isinstance(group, Mapping):
            yield str(next((group[k] for k in ("key", "topic", "name") if group.get(k)), "")), group


def _records(data: Any) -> Iterator[Record]:
    if isinstance(data, Mapping):
        data = next((data[name] for name in _LISTS if isinstance(data.get(name), list)), [])
    for item in data if isinstance(data, list) else ():
        record = _record(item)
        if record is not None:
            yield record


def _record(item: Any) -> Record | None:
    """Read one item; what has no text is none."""
    if not isinstance(item, Mapping):
        return Record(memory_id="", content=item) if isinstance(item, str) and item.strip() else None
    inner = _inner(item)
    text = next((inner[k] for k in ("content", "text", "memory") if isinstance(inner.get(k), str)), "")
    if not text.strip():
        return None
    payload = inner.get("payload", inner.get("metadata"))
    score = item.get("score", inner.get("score"))
    return Record(
        memory_id=_id(inner),
        content=text,
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
        level=_level(inner.get("level")),
        topic=str(inner.get("topic") or ""),
        keywords=_strings(inner.get("keywords")),
        occurred_at=_time(inner.get("occurred_at")),
        created_at=_time(inner.get("created_at")),
        source_type=str(inner.get("source_type") or inner.get("source") or ""),
        tags=_strings(inner.get("tags")),
        payload=payload if isinstance(payload, Mapping) else {},
        links=tuple(_links(inner.get("links"))),
    )


def _links(links: Any) -> Iterator[Link]:
    for link in links if isinstance(links, list) else ():
        if isinstance(link, Mapping):
            weight = link.get("weight")
            yield Link(
                link_id=str(link.get("link_id") or link.get("id") or ""),
                from_id=str(link.get("from_id") or link.get("source_id") or ""),
                to_id=str(link.get("to_id") or link.get("target_id") or ""),
                relation=str(link.get("relation") or ""),
                weight=float(weight) if isinstance(weight, int | float) else 1.0,
            )


def _inner(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((item[name] for name in _ONE if isinstance(item.get(name), Mapping)), item)


def _id(item: Mapping[str, Any]) -> str:
    payload = item.get("payload")
    places = [item.get("memory_id"), item.get("id"), payload.get("memory_id") if isinstance(payload, Mapping) else None]
    return next((str(p) for p in places if isinstance(p, str | int) and not isinstance(p, bool) and p != ""), "")


def _level(value: Any) -> Level:
    text = str(value).lower()
    text = f"l{text}" if text.isdecimal() else text
    return _LEVELS.get(text) or next((level for level in Level if level.value == text), Level.RAW)


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.replace("，", ",").replace("、", ",").split(",")
    return tuple(str(entry).strip() for entry in value if str(entry).strip()) if isinstance(value, list) else ()


def _time(value: Any) -> datetime | None:
    try:
        if isinstance(value, str):
            return utc(datetime.fromisoformat(value.strip()))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0
