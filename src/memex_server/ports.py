"""What the service calls, as structural types. Adapters implement them; `memex.testing` ships fakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memex.core.lifecycle import Ending
from memex.core.memory import DeleteReceipt, Filters, Memory, MemoryType, NewMemory, Patch, Recalls, Stored, Version
from memex.protocol.errors import Conflict

__all__ = [
    "Archived",
    "Candidates",
    "Clock",
    "Embedder",
    "Fetched",
    "FloatArray",
    "IdempotencyKey",
    "IndexEntry",
    "MemoryRepo",
    "ModelCard",
    "Observer",
    "PreparedMemory",
    "Query",
    "RateLimiter",
    "RecallLog",
    "RerankOutcome",
    "Reranker",
    "Role",
    "Scope",
    "VectorCache",
]

FloatArray = NDArray[np.float32]
Role = Literal["query", "passage"]
RerankOutcome = Literal["scored", "late", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What a database pins: two vectors compare only if they come from the same `id` and `dim`.

    `similarity_floor` and `similarity_ceiling` are the cosines of unrelated and of equal meaning
    for this model; `duplicate_threshold` is the cosine from which two texts say the same.
    """

    id: str
    dim: int
    max_tokens: int
    languages: str
    similarity_floor: float
    similarity_ceiling: float
    duplicate_threshold: float


class Embedder(Protocol):
    """Turns texts into vectors; a wrapper of this port may batch or cache."""

    @property
    def card(self) -> ModelCard:
        """The model's card; known before the model is loaded."""

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        """Return float32 vectors of shape (len(texts), dim), L2-normalised, in the order of `texts`.

        A text longer than the model's window is embedded whole (windows are pooled), never cut.

        Raises:
            Unavailable: the model or its endpoint cannot answer now.
        """

    async def close(self) -> None:
        """Release threads and memory; further calls are an error. Safe to call twice."""


class Reranker(Protocol):
    """Judges how well texts answer a query, by reading both together; slower and better than vectors."""

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score between 0 and 1 for each text, in their order; higher is better.

        It may be cancelled at any time, and then stops working soon. Texts beyond its length are cut.

        Raises:
            Unavailable: the model or its endpoint cannot answer now, or answers nonsense.
        """

    async def close(self) -> None:
        """Release threads, memory and connections; further calls are `Unavailable`. Safe to call twice."""


class VectorCache(Protocol):
    """Vectors by key (model, role, text hash). A cache may forget at any time."""

    async def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the stored value or None for each key."""

    async def set_many(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Store all items."""

    async def close(self) -> None:
        """Release connections. Safe to call twice."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What makes a text findable: for each passage its span and vector, and the postings of its terms.

    `vectors` has shape (passages, dim). A posting is (term hash, passage, frequency); passage -1 is the
    name of the speaker. `n_terms` counts the terms of what is said, `traits` are bits of `Trait`.
    """

    spans: Sequence[tuple[int, int]]
    vectors: FloatArray
    postings: Sequence[tuple[int, int, int]]
    n_terms: int
    traits: int


@dataclass(frozen=True, slots=True)
class PreparedMemory:
    """A new memory with everything that is worked out before the store is asked."""

    id: UUID
    new: NewMemory
    index: IndexEntry
    valid_from: datetime | None = None
    until: Ending | None = None  # told when it was, or is known to be, over by then
    rest_of: UUID | None = None  # the memory of which it is what stays


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A caller's key for one request, and the fingerprint of that request."""

    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search as the repository needs it: `vector` None leaves vectors out, no `terms` words.

    `terms` are different ones, `repeats` tells how often the query holds each.
    `wanted` is how many results are asked for; from a large scope more candidates are fetched.
    `version` is the scope's, read when the search began. With `valid_until` all match that are valid at
    some time from `valid_at` up to then.
    """

    user_id: str
    version: int
    filters: Filters
    valid_at: datetime
    vector: FloatArray | None
    terms: Sequence[int]
    repeats: Sequence[int]
    wanted: int
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Signals of n candidates as columns, and the postings of the query's terms among them.

    `cosine` is the best passage's and `passage` its number; NaN and 0 without a query vector.
    `passages` counts the passages, `length` the terms of what is said, `traits` holds bits of `Trait`,
    `session` is a hash of the session (0: none). A posting is a row of the columns (`post_row`), an
    index into the query's terms (`post_term`), the passage (-1: the speaker's name) and a frequency.
    `df` and `repeats` have one entry per query term; `df` is counted over `n_docs` memories.
    `complete`: the candidates are all that match, not a selection.
    """

    ids: NDArray[np.void]
    occurred_at_s: NDArray[np.float64]
    importance: NDArray[np.float64]
    session: NDArray[np.int64]
    length: NDArray[np.int32]
    traits: NDArray[np.int16]
    cosine: NDArray[np.float32]
    passage: NDArray[np.int16]
    passages: NDArray[np.int64]
    post_row: NDArray[np.int64]
    post_term: NDArray[np.int64]
    post_passage: NDArray[np.int16]
    post_tf: NDArray[np.float64]
    repeats: Sequence[int]
    df: NDArray[np.float64]
    n_docs: float
    complete: bool


@dataclass(frozen=True, slots=True)
class Fetched:
    """A whole memory, and the span of its best passage if it has more than one."""

    memory: Memory
    span: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Scope:
    """A number that every change of a user's memories counts up, and which of some terms are speakers' names."""

    version: int
    speakers: frozenset[int]


class Archived(Conflict):
    """The memory stands condensed in a summary (`summary_id`), and cannot be changed before it is taken out."""

    def __init__(self, memory_id: UUID, summary_id: UUID) -> None:
        super().__init__(f"memory {memory_id} is condensed into {summary_id}", existing_id=str(summary_id))
        self.summary_id = summary_id


class MemoryRepo(Protocol):
    """Keeps memories. Every call is atomic: it happens whole or not at all.

    All calls raise `Unavailable` while the store is down. Ids that are not of this tenant (or not
    of the given user or agent) are `NotFound`.
    """

    async def store(
        self, prepared: Sequence[PreparedMemory], *, now: datetime, key: IdempotencyKey | None = None
    ) -> list[Stored]:
        """Insert new memories, or count repeats of those that are there; one outcome per input.

        Raises:
            Conflict: `key` was used for another request.
        """

    async def replay(self, key: IdempotencyKey) -> list[Stored] | None:
        """Return what a finished request with this key stored, or None. Raises Conflict as `store`."""

    async def scope(self, user_id: str, terms: Sequence[int] = ()) -> Scope:
        """Return what a search needs to know of a user's memories before it begins. Raises Unavailable."""

    async def candidates(self, query: Query) -> Candidates:
        """Return what may answer the query, with its signals."""

    async def fetch(self, query: Query, ids: Sequence[UUID], passages: Sequence[int]) -> dict[UUID, Fetched]:
        """Return those of `ids` that (still) match the query."""

    async def get(self, memory_id: UUID, *, user_id: str | None, agent_id: str | None, deleted: bool = False) -> Memory:
        """Return one memory; tombstones only if `deleted`."""

    async def count(self, *, user_id: str, agent_id: str | None, now: datetime) -> int:
        """Return how many live memories the scope has."""

    async def patch(
        self,
        memory_id: UUID,
        patch: Patch,
        index: IndexEntry | None,
        *,
        user_id: str | None,
        agent_id: str | None,
        actor: str | None,
        now: datetime,
    ) -> Memory:
        """Change a live memory; `index` belongs to `patch.content`.

        Raises:
            Archived: it is condensed into a summary.
            Conflict: it would become the same as another live memory.
        """

    async def delete(
        self, memory_id: UUID, *, user_id: str | None, agent_id: str | None, actor: str | None, now: datetime
    ) -> None:
        """Turn a live memory into a tombstone; a summary together with its sources.

        Raises:
            Archived: it is condensed into a summary.
        """

    async def purge(
        self, memory_id: UUID, *, user_id: str | None, agent_id: str | None, actor: str | None, now: datetime
    ) -> DeleteReceipt:
        """Erase a memory (or tombstone) and all that was derived from it; a summary together with its sources.

        The other sources of a deleted (or retracted) summary are deleted (or retracted) by themselves from then on.
        What it superseded stays over, superseded by what superseded it, if anything did.

        Raises:
            Archived: it is condensed into a live summary.
        """

    async def history(self, memory_id: UUID, *, user_id: str | None, agent_id: str | None) -> list[Version]:
        """Return the versions of a memory or tombstone, oldest first."""

    async def delete_scope(
        self, *, user_id: str, agent_id: str | None, actor: str | None, purge: bool, now: datetime
    ) -> int:
        """Delete (or purge) everything of a scope at once; return how many memories went."""

    async def tidy(self, *, now: datetime, tombstone_days: float, limit: int) -> dict[str, int]:
        """Bury what expired, purge old tombstones, forget old keys and counters; return the numbers."""

    async def health(self) -> dict[str, Any]:
        """Return {"server_version", "vector_version", ...}, from a round trip to the store."""

    # Last, because its name hides the type `list` from what follows in the class.
    async def list(
        self,
        *,
        user_id: str,
        agent_id: str | None,
        memory_type: MemoryType | None,
        tags: Sequence[str],
        state: Literal["live", "deleted", "all"],
        before: UUID | None,
        limit: int,
        now: datetime,
    ) -> list[Memory]:
        """Return up to `limit` memories made before `before`, newest first."""


class RecallLog(Protocol):
    """Keeps counts of recalls."""

    async def add(self, counts: Mapping[tuple[str, UUID], Recalls]) -> None:
        """Add counts by (user, memory); those of memories that are gone are left out. Raises Unavailable."""

    async def get(self, user_id: str, memory_id: UUID) -> Recalls:
        """Return the counts of a memory, none if it was never found. Raises Unavailable."""


class RateLimiter(Protocol):
    """Counts calls per agent and operation in a sliding minute."""

    async def check(self, agent_key: str, operation: Literal["write", "search"]) -> None:
        """Count one call.

        Raises:
            RateLimited: the window is full; nothing was counted.
        """


class Observer(Protocol):
    """Is told what the service does; must not block."""

    def operation(self, operation: str, outcome: str, count: int = 1) -> None:
        """`count` operations on memories were carried out, with this outcome."""

    def rate_limited(self, operation: Literal["write", "search"]) -> None:
        """A call was refused by the rate limit."""

    def reranked(self, outcome: RerankOutcome) -> None:
        """A reranker was asked and has answered, was too late, or could not."""

    def search_stage(self, stage: str, duration_s: float) -> None:
        """One stage of a search took so long."""


class Clock(Protocol):
    """The time of day, injected so that tests can freeze it."""

    def __call__(self) -> datetime:
        """Return the current time, aware, in UTC."""
