"""The entities of memex: frozen values that every layer passes on.

Times are aware datetimes in UTC; `utc` is the one door through which a caller's time comes in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

__all__ = [
    "LEAST_RATING",
    "MAX_BATCH",
    "MAX_CONTENT_CHARS",
    "MAX_ID_CHARS",
    "MAX_QUERY_CHARS",
    "MAX_SOURCE_CHARS",
    "MAX_TAGS",
    "MAX_TAG_CHARS",
    "MAX_TOP_K",
    "MOST_RATING",
    "UNSET",
    "BatchItem",
    "DeleteReceipt",
    "Filters",
    "Hit",
    "Memory",
    "MemoryType",
    "NewMemory",
    "Page",
    "Patch",
    "Recalls",
    "SearchMode",
    "SearchRequest",
    "SearchResult",
    "Stored",
    "Unset",
    "Version",
    "Weights",
    "as_new",
    "utc",
]

MAX_ID_CHARS = 128
MAX_CONTENT_CHARS = 65_536
MAX_QUERY_CHARS = 8_192
MAX_TOP_K = 50
MAX_TAGS = 100
MAX_TAG_CHARS = 128
MAX_SOURCE_CHARS = 1_024
MAX_BATCH = 1_000
LEAST_RATING = 1.0  # of a candidate for memory: noise
MOST_RATING = 10.0  # must be kept


class MemoryType(StrEnum):
    """What kind of thing a memory is; see the layers in the documentation."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class SearchMode(StrEnum):
    """Which signals find and rank: both, the vector alone, or the words alone."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"


class Unset:
    """The type of `UNSET`: "not given", which is different from None ("clear it")."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET = Unset()


def utc(value: datetime) -> datetime:
    """Return `value` in UTC; a naive time is read as UTC already."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """What a caller asks to be stored. `occurred_at` None means "now", and lets a repeat renew it.

    With `renewable` a given `occurred_at` may be renewed too: it is no part of what makes a memory itself.
    """

    agent_id: str
    user_id: str
    content: str
    importance: float = 1.0
    memory_type: MemoryType = MemoryType.EPISODIC
    occurred_at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None
    session_id: str | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    renewable: bool = False

    @property
    def identifying_time(self) -> datetime | None:
        """The event time, where it tells two memories of the same text apart: a fact of another day is one fact."""
        return None if self.renewable or self.memory_type is not MemoryType.EPISODIC else self.occurred_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One stored memory, as every face shows it (`embedding` and terms stay in the store)."""

    id: UUID
    agent_id: str
    user_id: str
    content: str
    importance: float
    memory_type: MemoryType
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    source: str | None
    session_id: str | None
    occurred_at: datetime
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    pinned: bool
    occurrences: int
    valid_from: datetime | None
    valid_to: datetime | None
    superseded_by: UUID | None
    condensed_into: UUID | None
    deleted_at: datetime | None
    sources: tuple[str, ...] = ()  # every source that was merged into it, its own among them
    told_at: tuple[datetime, ...] = ()  # when the whole of it was told, in order, if not at `occurred_at` alone

    @property
    def told(self) -> tuple[datetime, ...]:
        """When the whole of it was told, in order."""
        return self.told_at or (self.occurred_at,)

    @property
    def tellings(self) -> tuple[datetime, ...]:
        """When it was told since it holds, in order."""
        return tuple(t for t in self.told if self.valid_from is None or t >= self.valid_from)


def as_new(memory: Memory, occurred_at: datetime | None, *, content: str | None = None) -> NewMemory:
    """Return what a caller would send to store `memory` as it is, or its like with another `content`."""
    return NewMemory(
        agent_id=memory.agent_id,
        user_id=memory.user_id,
        content=memory.content if content is None else content,
        importance=memory.importance,
        memory_type=memory.memory_type,
        occurred_at=occurred_at,
        tags=memory.tags,
        metadata=memory.metadata,
        source=memory.source,
        session_id=memory.session_id,
        expires_at=memory.expires_at,
        pinned=memory.pinned,
    )


@dataclass(frozen=True, slots=True)
class Stored:
    """The outcome of one store: the memory, and whether this call made it (else it was there)."""

    memory: Memory
    created: bool


@dataclass(frozen=True, slots=True)
class BatchItem:
    """What became of one item of a batch: `stored`, or the `error` that refused it."""

    index: int
    stored: Stored | None = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Changes to one memory; what is UNSET is kept. None clears a field that may be empty."""

    content: str | Unset = UNSET
    importance: float | Unset = UNSET
    memory_type: MemoryType | Unset = UNSET
    tags: tuple[str, ...] | Unset = UNSET
    metadata: Mapping[str, Any] | Unset = UNSET
    source: str | Unset | None = UNSET
    session_id: str | Unset | None = UNSET
    occurred_at: datetime | Unset = UNSET
    expires_at: datetime | Unset | None = UNSET
    pinned: bool | Unset = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions that a memory must meet before it is ranked; None or empty means "any".

    `tags`: all of them. `metadata`: see `core.filters`. Times are event times, from inclusive,
    to exclusive. `as_of`: what was valid at that moment, as far as it had been told of a time up to it
    (default: what is valid now).
    """

    agent_id: str | None = None
    memory_type: MemoryType | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    time_from: datetime | None = None
    time_to: datetime | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights of the four components of the ranking formula; any non-negative scale."""

    similarity: float = 0.0
    recency: float = 0.0
    importance: float = 0.0
    graph: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search in the memory of one user. `now` None means the service's clock."""

    user_id: str
    query: str
    top_k: int = 10
    mode: SearchMode | None = None
    alpha: float | None = None
    weights: Weights | None = None
    half_life_days: float | None = None
    filters: Filters = Filters()
    now: datetime | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Recalls:
    """How often searches found a memory, and when last."""

    times: int = 0
    last_at: datetime | None = None

    def __add__(self, other: Recalls) -> Recalls:
        """Return both counts together."""
        times = [at for at in (self.last_at, other.last_at) if at is not None]
        return Recalls(self.times + other.times, max(times, default=None))


@dataclass(frozen=True, slots=True)
class Hit:
    """A found memory, its score, the best passage, and (if asked) how the score came about.

    Scores lie in [0, 1], except that the plain formula on a negative cosine may go below 0.
    """

    memory: Memory
    score: float
    highlight: str | None = None
    explanation: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a search, best first."""

    hits: Sequence[Hit]
    query: str


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing, newest first; `next_cursor` None means that it was the last."""

    memories: Sequence[Memory]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One step in the life of a memory: what was done, when, by whom, and the memory after it."""

    version: int
    action: str
    at: datetime
    actor: str | None
    reason: str | None
    content: str
    importance: float
    memory_type: MemoryType
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteReceipt:
    """What a purge erased, and who asked for it; the hash lets the owner prove which text it was."""

    id: UUID
    content_sha256: str
    purged_at: datetime
    purged_by: str | None = None
