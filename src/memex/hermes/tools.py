"""The tools that the model may call: their schemas, and what a call does. Answers are JSON texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from ..core.fence import inert
from ..extract.parse import clean
from ..extract.rules import entity_words
from ..extract.types import FactDraft
from ..protocol.backend import Backend
from ..protocol.documents import record_document
from ..protocol.errors import InvalidInput, MemexError, RateLimited, Unavailable
from ..protocol.models import Level, LmPolicy, PreExtracted, RecallMode, RecallRequest, StoreRequest

__all__ = ["SCHEMAS", "Tools"]

E = TypeVar("E", bound=StrEnum)


def _schema(name: str, description: str, required: Sequence[str], properties: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": dict(properties), "required": list(required)}
    return {"name": name, "description": description, "parameters": parameters}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _choice(description: str, choices: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(choices), "description": description}


def _list(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


SCHEMAS: tuple[dict[str, Any], ...] = (
    _schema(
        "memory_search",
        "Search long-term memory for facts and earlier conversations. Give a query, keywords, or both.",
        [],
        {
            "query": _text("what to look for, as a sentence"),
            "keywords": _list("words to look for; a registered keyword finds its facts exactly"),
            "top_k": {"type": "integer", "minimum": 1, "maximum": 50, "description": "most results (default 5)"},
            "mode": _choice("one ranked list, or groups by topic", [m.value for m in RecallMode]),
            "dimensions": _list("only records that carry all of these as topic or tag"),
            "time_from": _text("only what happened at or after this ISO 8601 time"),
            "time_to": _text("only what happened before this ISO 8601 time"),
        },
    ),
    _schema(
        "memory_store",
        "Keep one fact in long-term memory: a preference, a decision, something about the user that will matter "
        "later. Write it so that it stands on its own.",
        ["content"],
        {
            "content": _text("the fact, one statement"),
            "keywords": _list("words to find it by"),
            "topic": _text("one to three words"),
            "tags": _list("labels"),
            "level": _choice("which layer (default fact)", [level.value for level in Level]),
            "lm_policy": _choice("whether facts are extracted from it (default skip)", [p.value for p in LmPolicy]),
            "occurred_at": _text("when it happened, ISO 8601 (default now)"),
        },
    ),
    _schema(
        "memory_get",
        "Return one memory by its id, whole.",
        ["memory_id"],
        {"memory_id": _text("the id, as memory_search shows it")},
    ),
)


class Tools:
    """Carries out tool calls on a backend.

    `queue_store` keeps a record for later when the backend is away; None refuses writing (a context
    that is not the user's own). `polish` may add keywords and a topic to an explicit fact.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        default_top_k: int,
        max_content_chars: int,
        origin: Callable[[], dict[str, str]],
        queue_store: Callable[[StoreRequest], None] | None,
        polish: Callable[[str], FactDraft | None] = lambda _: None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._backend = backend
        self._default_top_k = default_top_k
        self._max_content_chars = max_content_chars
        self._origin = origin
        self._queue_store = queue_store
        self._polish = polish
        self._clock = clock

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the answer as JSON; an error is an answer too, and says what would be right."""
        calls = {"memory_search": self._search, "memory_store": self._store, "memory_get": self._get}
        try:
            answer = calls[name](arguments) if name in calls else _error("not_found", f"there is no tool {name}")
        except MemexError as e:
            answer = _error(e.code, str(e))
        return json.dumps(answer, ensure_ascii=False)

    def _search(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        request = RecallRequest(
            query=_string(arguments, "query"),
            keywords=_strings(arguments, "keywords"),
            top_k=_whole(arguments, "top_k", self._default_top_k),
            mode=_member(RecallMode, arguments, "mode", RecallMode.PRECISE),
            dimensions=_strings(arguments, "dimensions"),
            time_from=_time(arguments, "time_from"),
            time_to=_time(arguments, "time_to"),
        )
        if request.is_empty:
            raise InvalidInput("give a query or keywords", field="query")
        found = self._backend.recall(request)
        if request.mode is RecallMode.CLUSTER:
            groups = [{"topic": g.key, "items": [_shown(r) for r in g.records]} for g in found.groups]
            return {"groups": groups, "count": len(found.records)}
        return {"items": [_shown(record) for record in found.records], "count": len(found.records)}

    def _store(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if self._queue_store is None:
            return _error("read_only", "memory can only be read here: this is not the user's own conversation")
        content = clean(_string(arguments, "content"))[: self._max_content_chars]
        if not content:
            raise InvalidInput("content must not be blank", field="content")
        draft = self._polish(content) or FactDraft(content=content, keywords=entity_words(content))
        level = _member(Level, arguments, "level", Level.FACT)
        keywords = _strings(arguments, "keywords") or draft.keywords
        extracted = PreExtracted(content=content, keywords=keywords, topic=_string(arguments, "topic") or draft.topic)
        request = StoreRequest(
            content=content,
            occurred_at=_time(arguments, "occurred_at") or self._clock(),
            source_type="manual",
            level=level,
            pre_extracted=extracted if level is not Level.RAW else None,
            lm_policy=_member(LmPolicy, arguments, "lm_policy", LmPolicy.SKIP),
            tags=_strings(arguments, "tags"),
            payload={"trigger": "manual", **self._origin()},
        )
        try:
            stored = self._backend.store(request)
        except (Unavailable, RateLimited) as e:
            self._queue_store(request)
            return {"status": "queued", "message": f"kept, and stored as soon as the memory answers again ({e})"}
        return {"status": "stored", "memory_id": stored.memory_id, "deduplicated": stored.deduplicated}

    def _get(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        memory_id = _string(arguments, "memory_id")
        if not memory_id:
            raise InvalidInput("memory_id must not be blank", field="memory_id")
        return {"item": _shown(self._backend.get(memory_id))}


def _shown(record: Any) -> dict[str, Any]:
    """Return a record for the model: its text cannot open or close a fence."""
    return {**record_document(record), "content": inert(record.content)}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def _string(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string", field=name)
    return value.strip()


def _strings(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of strings; models also send one string, or a list written as JSON."""
    value = arguments.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.lstrip().startswith("[") else value.replace("，", ",").split(",")
        except ValueError as e:
            raise InvalidInput(f"{name} must be a list of strings", field=name) from e
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise InvalidInput(f"{name} must be a list of strings", field=name)
    return tuple(entry.strip() for entry in value if entry.strip())


def _member(kind: type[E], arguments: Mapping[str, Any], name: str, default: E) -> E:
    text = _string(arguments, name).lower()
    if not text:
        return default
    try:
        return kind(text)
    except ValueError as e:
        raise InvalidInput(f"{name} must be one of {', '.join(kind)}", field=name) from e


def _whole(arguments: Mapping[str, Any], name: str, default: int) -> int:
    value = arguments.get(name, default)
    try:
        return int(value)
    except (TypeError, ValueError) as e:
        raise InvalidInput(f"{name} must be a whole number", field=name) from e


def _time(arguments: Mapping[str, Any], name: str) -> datetime | None:
    text = _string(arguments, name)
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as e:
        raise InvalidInput(f"{name} must be an ISO 8601 time such as 2026-09-01T12:00:00Z", field=name) from e
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
