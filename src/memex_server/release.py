"""Taking a summary apart: its sources are current again, unless what was told meanwhile says otherwise."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from memex.core.lifecycle import Decision, Ending, Neighbour, decide
from memex.core.memory import Memory
from memex.protocol.errors import Conflict, NotFound, Unavailable

from .checks import check_scope
from .consolidation import Consolidation
from .indexing import index_texts
from .ports import Archived, IndexEntry

__all__ = ["Releasing"]

T = TypeVar("T")
_Case = tuple[UUID, tuple[tuple[UUID, datetime], ...]]  # a source and its neighbours as they are
_NEIGHBOURS = 4  # of each source, of what was written since: each takes milliseconds to compare
_LEAST_FAMILIAR = 0.5  # between the cosines of unrelated and of equal texts: from here on words are compared
_DECISIONS = 20  # upon a scope that others change meanwhile; the last one is not checked again
_ATTEMPTS = 5  # the last one is written whatever else the scope has become meanwhile


class Releasing(Consolidation):
    """Undoing a consolidation, by wish or because a source is to be changed."""

    async def undo_consolidation(
        self,
        summary_id: UUID,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        actor: str | None = None,
        keep_apart: bool = True,
    ) -> list[UUID]:
        """Bring the sources of a summary back and drop the summary; return the sources.

        Those that were corrected since they were condensed come back as superseded, the others as current.
        With `keep_apart` they are not condensed again. Raises InvalidInput, NotFound, Conflict, Unavailable.
        """
        check_scope(user_id, agent_id)
        known: dict[str, IndexEntry] = {}
        decided: dict[_Case, Decision] = {}
        for attempt in range(_ATTEMPTS):
            sources = await self._repo.sources(summary_id, user_id=user_id, agent_id=agent_id)
            missing = [memory.content for memory in sources if memory.content not in known]
            known |= zip(missing, await index_texts(self._embedder, missing), strict=True)
            version = (await self._repo.scope(sources[0].user_id)).version
            released = await self._repo.release(
                summary_id,
                {memory.id: (memory.content, known[memory.content]) for memory in sources},
                await self._corrected(summary_id, sources, known, decided),
                user_id=sources[0].user_id,
                version=version if attempt < _ATTEMPTS - 1 else None,
                keep_apart=keep_apart,
                actor=actor or agent_id,
                now=self._clock(),
            )
            if released:
                self._observer.operation("consolidate", "undone")
                return [memory.id for memory in sources]
        raise Conflict(f"the sources of {summary_id} change too fast: try again")

    async def _settled(self, user_id: str, run: Callable[[int, int | None], Awaitable[T | None]]) -> T:
        """Decide and write until nothing of the scope has changed in between; None says that something has.

        `run` gets the version that it decides upon, and the one at which it may write (None: whatever it is by then).
        """
        for attempt in range(_DECISIONS):
            version = (await self._repo.scope(user_id)).version
            done = await run(version, version if attempt < _DECISIONS - 1 else None)
            if done is not None:
                return done
        raise Unavailable("the memories of this user change too fast to decide upon", retry_after_s=1)

    @property
    def _familiar(self) -> float:
        card = self._embedder.card
        return card.similarity_floor + _LEAST_FAMILIAR * (card.similarity_ceiling - card.similarity_floor)

    def _decision(
        self,
        text: str,
        near: Sequence[Neighbour],
        at: datetime,
        *,
        now: datetime,
        event: bool = False,
        similarity: float | None = None,
        supersedes: UUID | None = None,
    ) -> Decision:
        """Decide as the embedding model asks for, or from the caller's `similarity` on."""
        return decide(
            text,
            near,
            floor=self._familiar if similarity is None else similarity,
            same=self._embedder.card.duplicate_threshold if similarity is None else similarity,
            at=at,
            now=now,
            event=event,
            supersedes=supersedes,
        )

    async def _taken_apart(self, memories: Sequence[Memory], actor: str | None) -> bool:
        """Take apart the summaries among some memories; whether there were any."""
        apart = False
        for memory in memories:
            with contextlib.suppress(NotFound):  # it is no summary
                await self.undo_consolidation(memory.id, actor=actor, keep_apart=False)
                apart = True
        return apart

    async def _corrected(
        self,
        summary_id: UUID,
        sources: Sequence[Memory],
        indexes: Mapping[str, IndexEntry],
        decided: dict[_Case, Decision],
    ) -> dict[UUID, Ending]:
        """Return what ends of the sources, and of what was written since they were condensed.

        As the gate decides: what was told later ends what was told before; of one time, what was not condensed.
        What is `decided` already, of the same neighbours, is not decided again.
        """
        now = self._clock()
        vectors = [indexes[source.content].vectors[0] for source in sources]
        written = await self._repo.nearest_written(summary_id, sources, vectors, _NEIGHBOURS)
        found: dict[UUID, Ending] = {}
        for source, near in zip(sources, written, strict=True):
            case = (source.id, tuple((n.memory.id, n.memory.updated_at) for n in near))
            if case not in decided:
                await asyncio.sleep(0)  # so that others get on between
                decided[case] = self._decision(source.content, near, source.occurred_at, now=now)
            decision = decided[case]
            if decision.until is not None:
                found[source.id] = decision.until
            for other in decision.over:
                if other.occurred_at < source.occurred_at:
                    found.setdefault(other.id, Ending(source.occurred_at, source.id))
                else:
                    found.setdefault(source.id, Ending(other.occurred_at, other.id))
        return found

    async def _apart(self, run: Callable[[], Awaitable[T]], actor: str | None) -> T:
        """Do something with a memory, after taking it out of its summary if it stands in one."""
        for _ in range(_ATTEMPTS):
            try:
                return await run()
            except Archived as e:
                try:
                    await self.undo_consolidation(e.summary_id, actor=actor, keep_apart=False)
                except NotFound:
                    continue  # somebody else has taken it apart
        raise Unavailable("the memory is condensed again and again", retry_after_s=1)
