"""The JSON of REST v1 as typed values: pure functions, which ignore members that they do not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from .core.memory import DeleteReceipt, Hit, Memory, MemoryType, Page, Version, utc
from .protocol.errors import MemexError, Unavailable
from .protocol.wire import refusal

__all__ = [
    "BatchOutcome",
    "Context",
    "Remembered",
    "batch_outcomes",
    "context_of",
    "hit_of",
    "memory_document",
    "memory_of",
    "page_of",
    "plain",
    "receipt_of",
    "remembered_of",
    "version_of",
    "well_formed",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOutcome:
    """What became of one item of a batch: its id, and whether this call made it; or the error that refused it."""

    index: int
    id: UUID | None = None
    created: bool = False
    error: MemexError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What the gate decided, and why; `detail` is its whole answer."""

    outcome: str
    id: UUID | None
    importance: float | None
    reason: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A block of memory for a prompt, the memories in it, and about how many tokens it costs."""

    text: str
    ids: Sequence[UUID]
    tokens: int


def well_formed(operation: str, read: Callable[[], T]) -> T:
    """Return what `read` makes of an answer. Raises Unavailable if it is not what the service answers."""
    try:
        return read()
    except (LookupError, TypeError, ValueError) as e:
        raise Unavailable(f"the answer to {operation} is not one of memex: is the URL right?") from e


def plain(value: Any) -> Any:
    """Return `value` as JSON has it: times in ISO 8601, ids as text, sequences as lists."""
    if isinstance(value, datetime):
        return utc(value).isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(inner) for inner in value]
    return value


def memory_of(found: Mapping[str, Any]) -> Memory:
    """Return the memory that an object describes."""
    return Memory(
        id=UUID(found["id"]),
        agent_id=found["agent_id"],
        user_id=found["user_id"],
        content=found["content"],
        importance=float(found["importance"]),
        memory_type=MemoryType(found["memory_type"]),
        tags=tuple(found["tags"]),
        metadata=found["metadata"],
        source=found["source"],
        session_id=found["session_id"],
        occurred_at=_moment(found["occurred_at"]),
        created_at=_moment(found["created_at"]),
        updated_at=_moment(found["updated_at"]),
        expires_at=_time(found["expires_at"]),
        pinned=found["pinned"],
        occurrences=int(found["occurrences"]),
        valid_from=_time(found["valid_from"]),
        valid_to=_time(found["valid_to"]),
        superseded_by=_id(found["superseded_by"]),
        condensed_into=_id(found["condensed_into"]),
        deleted_at=_time(found["deleted_at"]),
        sources=tuple(found["sources"]),
    )


def memory_document(memory: Memory) -> dict[str, Any]:
    """Return a memory as the JSON object that `memory_of` reads."""
    return {one.name: plain(getattr(memory, one.name)) for one in fields(memory)}


def hit_of(found: Mapping[str, Any]) -> Hit:
    """Return one result of a search."""
    return Hit(memory_of(found), float(found["score"]), found.get("highlight"), found.get("explanation"))


def page_of(found: Mapping[str, Any]) -> Page:
    """Return one page of a listing."""
    return Page([memory_of(one) for one in found["memories"]], found["next_cursor"])


def version_of(found: Mapping[str, Any]) -> Version:
    """Return one step in the life of a memory."""
    return Version(
        version=int(found["version"]),
        action=found["action"],
        at=_moment(found["at"]),
        actor=found["actor"],
        reason=found["reason"],
        content=found["content"],
        importance=float(found["importance"]),
        memory_type=MemoryType(found["memory_type"]),
        tags=tuple(found["tags"]),
        metadata=found["metadata"],
    )


def receipt_of(found: Mapping[str, Any]) -> DeleteReceipt:
    """Return the proof of a purge."""
    return DeleteReceipt(
        id=UUID(found["id"]),
        content_sha256=found["content_sha256"],
        purged_at=_moment(found["purged_at"]),
        purged_by=found.get("purged_by"),
    )


def batch_outcomes(found: Mapping[str, Any]) -> list[BatchOutcome]:
    """Return what became of each item of a batch."""
    outcomes = []
    for one in found["results"]:
        status = int(one["status"])
        error = None if status < 300 else refusal(status, str(one.get("detail", "refused")), one)
        outcomes.append(
            BatchOutcome(index=int(one["index"]), id=_id(one.get("id")), created=status == 201, error=error)
        )
    return outcomes


def remembered_of(found: Mapping[str, Any]) -> Remembered:
    """Return the gate's decision."""
    importance = found.get("importance")
    return Remembered(
        outcome=str(found["outcome"]),
        id=_id(found.get("id")),
        importance=None if importance is None else float(importance),
        reason=str(found.get("reason") or ""),
        detail=found,
    )


def context_of(found: Mapping[str, Any]) -> Context:
    """Return a rendered block."""
    return Context(text=found["context"], ids=tuple(UUID(one) for one in found["ids"]), tokens=int(found["tokens"]))


def _moment(text: str) -> datetime:
    return utc(datetime.fromisoformat(text))


def _time(text: str | None) -> datetime | None:
    return None if text is None else _moment(text)


def _id(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)
