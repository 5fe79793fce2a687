"""What the lifecycle asks of the store beside `MemoryRepo`, and what it asks of a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from memex.core.forgetting import Kept
from memex.core.lifecycle import Ending, Neighbour
from memex.core.memory import Memory, NewMemory, Stored

from .ports import FloatArray, IndexEntry, MemoryRepo, PreparedMemory

__all__ = ["Condenser", "Job", "JobQueue", "LifecycleRepo", "Merge", "Retraction", "Return", "Scope", "UpkeepObserver"]


@dataclass(frozen=True, slots=True)
class Scope:
    """The memories of one agent for one user, and how many of them could be condensed."""

    user_id: str
    agent_id: str
    count: int


@dataclass(frozen=True, slots=True)
class Retraction:
    """A claim that must not come back, by the memory that made it."""

    memory_id: UUID
    content: str
    reason: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Merge:
    """A memory as it is after another, told `at`, was merged into it; `index` if its text changes."""

    target: Memory
    new: NewMemory
    sources: tuple[str, ...]
    at: datetime
    told_at: tuple[datetime, ...]
    index: IndexEntry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """What becomes of a memory when what had superseded it is retracted: current again, until something else ended it.

    Its `parts` may come back as memories of their own: of the time after that, or if it is not a `whole` any more.
    `rest` is the memory of its own that what had not ended became, and which the whole says too.
    """

    memory_id: UUID
    whole: bool = True
    until: Ending | None = None
    parts: Sequence[PreparedMemory] = ()
    rest: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work that outlives processes; `key` makes it one of its kind."""

    id: UUID
    kind: str
    key: str
    payload: Mapping[str, Any]
    state: str
    attempts: int
    run_at: datetime
    last_error: str | None
    created_at: datetime
    updated_at: datetime


class LifecycleRepo(MemoryRepo, Protocol):
    """A repository that also decides nothing, but writes down what the lifecycle decided, each call whole."""

    async def admit(
        self,
        prepared: Sequence[PreparedMemory],
        over: Sequence[UUID],
        *,
        parted: Mapping[UUID, UUID],
        version: int | None,
        valid_from: datetime,
        reason: str,
        now: datetime,
    ) -> Stored | None:
        """Store memories, and let the first of them supersede `over` from `valid_from` on; return the first.

        What ends each of them itself is true from then on. Of what is `parted` the time up to `valid_from` becomes a
        memory of its own (its id is the value), which the first supersedes too.

        None, and nothing done, if the scope is not at `version` any more (None: whatever it is).
        """

    async def merge(
        self, merge: Merge, *, version: int | None, actor: str, reason: str, now: datetime
    ) -> Memory | None:
        """Write the merged memory. None, and nothing done, as in `admit`, or if the target has ended meanwhile."""

    async def retract(
        self,
        memory_id: UUID,
        *,
        user_id: str | None,
        agent_id: str | None,
        actor: str | None,
        reason: str | None,
        returns: Sequence[Return],
        version: int | None,
        now: datetime,
    ) -> Memory | None:
        """Bury a memory and keep its claim from coming back; what it superseded returns as said, or goes to its heir.

        None, and nothing done, as in `admit`.

        A deleted summary of it is purged, as in `purge`.

        Raises:
            Archived: it is condensed into a summary.
        """

    async def overtaken(self, memory_id: UUID) -> Sequence[Memory]:
        """Return what a memory has superseded."""

    async def same(self, new: NewMemory) -> Sequence[Memory]:
        """Return every memory that is the same as a new one would be, current or not."""

    async def unretract(self, memory_id: UUID, *, user_id: str | None, agent_id: str | None) -> bool:
        """Let the claim come back; return whether there was a retraction."""

    async def superseded_by_retracted(self, memory_id: UUID) -> Sequence[UUID] | None:
        """Return what a memory had superseded when it was retracted; None if it is not retracted."""

    async def restore(
        self,
        memory: Memory,
        index: IndexEntry,
        *,
        actor: str | None,
        version: int | None,
        now: datetime,
    ) -> Memory | None:
        """Bring a tombstone back, whose content the index belongs to, or what is over and has no successor any more.

        A current memory is returned as it is. What a retracted one had superseded ends again. None, and nothing
        done, as in `admit`.

        Raises:
            Conflict: it has a successor, the same text was stored again meanwhile, or it holds another text by now.
        """

    async def retractions(self, user_id: str) -> Sequence[Retraction]:
        """Return the user's retractions, newest first (the newest thousands of them)."""

    async def crowded(self, threshold: int) -> Sequence[Scope]:
        """Return scopes with more than `threshold` memories that can be condensed."""

    async def condensable_agents(self, user_id: str) -> Sequence[str]:
        """Return the user's agents with memories that can be condensed."""

    async def condensable_count(self, user_id: str, agent_id: str) -> int:
        """Return how many memories of the scope can be condensed."""

    async def oldest(self, user_id: str, agent_id: str, limit: int) -> Sequence[Memory]:
        """Return the oldest memories of the scope that can be condensed, oldest first."""

    async def condense(self, sources: Sequence[Memory], summary: PreparedMemory, *, now: datetime) -> Memory | None:
        """Store the summary and archive its sources. None, and nothing done, if another does so or one changed."""

    async def sources(self, summary_id: UUID, *, user_id: str | None, agent_id: str | None) -> Sequence[Memory]:
        """Return the archived sources of a live summary, oldest first. Raises NotFound if it is none."""

    async def nearest_written(
        self, summary_id: UUID, sources: Sequence[Memory], vectors: Sequence[FloatArray], limit: int
    ) -> Sequence[Sequence[Neighbour]]:
        """Return for each source what of its scope was written since it was condensed, nearest to its vector first."""

    async def release(
        self,
        summary_id: UUID,
        sources: Mapping[UUID, tuple[str, IndexEntry]],
        over: Mapping[UUID, Ending],
        *,
        user_id: str,
        version: int | None,
        keep_apart: bool,
        actor: str | None,
        now: datetime,
    ) -> bool:
        """Bring the sources (id: text, index) back and erase the summary; of all memories those that are `over` end.

        False, and nothing done, if they changed meanwhile, or as in `admit`.
        """

    async def kept(self, user_id: str, agent_id: str | None) -> Sequence[Kept]:
        """Return the current memories of a scope as forgetting looks at them."""

    async def users(self, after: str, limit: int) -> Sequence[str]:
        """Return users with memories, in order, from the one after `after` on."""

    async def forget(self, user_id: str, reasons: Mapping[UUID, tuple[datetime, str]], *, now: datetime) -> int:
        """Bury memories that were not changed since they were looked at (id: updated_at, reason); return how many."""


class JobQueue(Protocol):
    """Jobs in the store: done at least once, one process at a time, again after a failure, later and later."""

    async def enqueue(self, kind: str, key: str, payload: Mapping[str, Any], *, now: datetime) -> bool:
        """Add a job unless one of this kind and key is there; return whether it was added."""

    async def claim(self, kinds: Sequence[str], *, now: datetime) -> Job | None:
        """Take a due job, for the time of a lease."""

    async def done(self, job: Job) -> None:
        """Remove a job that was carried out."""

    async def failed(self, job: Job, error: str, *, now: datetime) -> str:
        """Put a job back for later, or among the dead after too many attempts; return its state."""

    async def hand_back(self, job: Job, *, now: datetime) -> None:
        """Put a job back as it was, for whoever comes next."""

    async def jobs(self, state: str | None, limit: int) -> Sequence[Job]:
        """Return jobs, oldest first."""

    async def revive(self, job_id: UUID, *, now: datetime) -> Job:
        """Let a dead job be tried again from the start. Raises NotFound."""


class Condenser(Protocol):
    """A language model that rates and shortens candidates for memory; it may be slow or down."""

    @property
    def deadline_s(self) -> float:
        """How long a candidate may wait for it in all."""

    async def load(self) -> None:
        """Prepare what the first call would have to wait for. Raises SetupError."""

    async def rate(self, text: str) -> float:
        """Return a rating of 1 to 10. Raises Unavailable."""

    async def condense(self, text: str) -> str:
        """Return one reusable sentence in the language of the text. Raises Unavailable."""

    async def close(self) -> None:
        """Release connections. Safe to call twice."""


class UpkeepObserver(Protocol):
    """Is told what consolidation does; must not block."""

    def consolidated(self, outcome: str, memories: int, duration_s: float) -> None:
        """One run over one scope ended so; `memories` of them were condensed."""
