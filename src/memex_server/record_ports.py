"""What the unified protocol's use case calls beside `ports`, as structural types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from memex.core.memory import Memory, NewMemory, Stored
from memex.protocol.models import Level, Link, LinkResult, LmPolicy, PreExtracted

from .ports import PreparedMemory, Query

__all__ = ["Claimed", "Description", "Edge", "FactExtractor", "NewRecord", "RecordRepo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What the protocol knows of a memory beyond the memory itself."""

    level: Level
    topic: str = ""
    keywords: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A memory to store, its description, the registry's keys for it, and whether it waits for extraction."""

    prepared: PreparedMemory
    description: Description
    keys: Sequence[str]
    waits: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """A link whose ends were read."""

    from_id: UUID
    to_id: UUID
    relation: str
    weight: float


@dataclass(frozen=True, slots=True)
class Claimed:
    """A record that is ours to extract from; `attempts` counts this attempt too."""

    memory_id: UUID
    user_id: str
    attempts: int


class RecordRepo(Protocol):
    """Keeps what the protocol adds to memories. Atomic and failing like `ports.MemoryRepo`."""

    async def store(self, records: Sequence[NewRecord], *, now: datetime) -> list[tuple[Stored, Description]]:
        """Store memories with their descriptions, or renew those that are there; one outcome per input."""

    async def registered(self, query: Query, keys: Sequence[str], limit: int) -> list[tuple[Memory, frozenset[str]]]:
        """Return memories that match the query and are registered under some of `keys`, and under which."""

    async def describe(self, user_id: str, ids: Sequence[UUID]) -> Mapping[UUID, Description]:
        """Return what is known of these memories; nothing of those that no record was made of."""

    async def find(self, user_id: str, own_id: str) -> UUID | None:
        """Return the live memory that its caller gave this id in its payload."""

    async def links(self, user_id: str, memory_id: UUID) -> Sequence[Link]:
        """Return the edges that begin or end at a memory."""

    async def link(self, user_id: str, edge: Edge, *, link_id: UUID, now: datetime) -> LinkResult:
        """Make an edge, or find it made; end the validity of what it supersedes.

        Raises:
            NotFound: an end is no live memory of this user.
        """

    async def claim(self, *, limit: int, user_id: str | None, now: datetime, until: datetime) -> list[Claimed]:
        """Take records that are due; nobody else takes them before `until`."""

    async def claim_these(self, user_id: str, ids: Sequence[UUID], *, until: datetime) -> list[Claimed]:
        """Take these records, whether due or not. Raises NotFound if one is no live memory of this user."""

    async def settle(self, claimed: Claimed, *, retry_at: datetime | None, error: str | None) -> None:
        """Write down how an attempt ended: tried again at `retry_at`, or never."""

    async def buried(self, news: Sequence[NewMemory]) -> list[bool]:
        """Return for each whether it was deleted once, and is not to come back by itself."""


class FactExtractor(Protocol):
    """Makes facts of what was said."""

    @property
    def has_model(self) -> bool:
        """Whether there is a language model to do it; rules there are always."""

    async def extract(self, role: str, text: str, policy: LmPolicy) -> Sequence[PreExtracted]:
        """Return the facts in what `role` ("user", "assistant") said; [] if there are none.

        `policy`: skip uses rules, force the model (there is one), auto the model, or rules if it cannot answer.

        Raises:
            RateLimited, Unavailable: it cannot work now.
            SetupError: it cannot work as configured.
        """
