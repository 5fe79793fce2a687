"""Taking a claim back, undoing it, and bringing back what was deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from memex.core.coexistence import stood_beside
from memex.core.ending import what_returns, what_stays
from memex.core.lifecycle import Ending, Neighbour, starts
from memex.core.memory import Memory, MemoryType, as_new
from memex.core.reading import Statement
from memex.core.reclaiming import reclaims_any
from memex.core.rests import rests
from memex.core.text import content_hash
from memex.protocol.errors import Conflict, NotFound

from .checks import check_reason, check_scope
from .gate import Gate
from .indexing import index_texts
from .lifecycle_ports import Return
from .ports import IndexEntry, PreparedMemory

__all__ = ["Retracting"]


class Retracting(Gate):
    """Retracting and bringing back; `actor` (else the agent) is who does it."""

    async def retract(
        self,
        memory_id: UUID,
        *,
        reason: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        actor: str | None = None,
    ) -> Memory:
        """Take a claim back: its memory is deleted, and neither the gate nor a summary brings it back.

        What it had superseded is current again. Raises InvalidInput, NotFound, Unavailable.
        """
        check_scope(user_id, agent_id)
        check_reason(reason)

        async def retracted() -> Memory:
            known = await self._repo.get(memory_id, user_id=user_id, agent_id=agent_id, deleted=True)
            return await self._settled(known.user_id, run)

        async def run(version: int, checked: int | None) -> Memory | None:
            memory = await self._repo.get(memory_id, user_id=user_id, agent_id=agent_id, deleted=True)
            return await self._repo.retract(
                memory_id,
                user_id=user_id,
                agent_id=agent_id,
                actor=actor or agent_id,
                reason=reason,
                returns=await self._returns(memory, version),
                version=checked,
                now=self._clock(),
            )

        memory = await self._apart(retracted, actor or agent_id)
        self._observer.operation("retract", "retracted")
        return memory

    async def _returns(self, gone: Memory, version: int) -> list[Return]:
        """Return what becomes of what a memory has superseded when it is taken back."""
        if gone.superseded_by is not None:
            return []  # it stays over, by the successor
        # What had ended before it was told came to it from something that was purged.
        olds = [m for m in await self._repo.overtaken(gone.id) if m.valid_to is None or m.valid_to >= starts(gone)]
        claims = [self._reading(r.content) for r in await self._repo.retractions(gone.user_id)] if olds else []
        return [
            Return(memory_id=old.id) if old.deleted_at else await self._return(old, gone, claims, version)
            for old in olds
        ]

    async def _return(self, old: Memory, gone: Memory, claims: Sequence[Statement], version: int) -> Return:
        now, since = self._clock(), starts(old)
        [index] = await index_texts(self._embedder, [old.content])
        near = [
            one
            for one in await self._nearest(as_new(old, old.occurred_at), index, version, since)
            if one.memory.id not in {old.id, gone.id}
        ]
        decision = self._decision(old.content, near, since, now=now)
        against = {m.id: m.content for m in (*decision.over, *decision.parted)}
        if decision.until is not None and decision.until.at <= now:
            against |= {n.memory.id: n.memory.content for n in near if since < starts(n.memory) <= now}
        comes = what_returns(gone.content, old.content, [*against.values()], lambda part: reclaims_any(part, claims))
        parted = what_stays(gone.content, old.content)
        same = [] if parted is None else await self._repo.same(as_new(old, old.occurred_at, content=parted))
        current = [
            m
            for m in same
            if not m.deleted_at and not m.condensed_into and (m.valid_to is None or m.valid_to > starts(m))
        ]
        ended = what_returns(gone.content, old.content, [], lambda _: False)
        if comes == ended and (current or not same):
            decide_on = partial(self._decision, now=now)
            later = [r for r in rests(old.content, decision, near, at=since, decide_on=decide_on) if r.of is None]
            parts = [await self._part(old, rest.content, rest.since, rest.until) for rest in later]
            rest_id = current[0].id if current else None
            return Return(memory_id=old.id, until=decision.until, rest=rest_id, parts=parts)
        until = decision.until if against else None
        if comes is None or comes == old.content:
            return Return(memory_id=old.id, whole=False, until=until)
        part = await self._part(old, comes, old.valid_to, None)
        return Return(memory_id=old.id, whole=False, until=until, parts=[part])

    async def _part(self, old: Memory, content: str, since: datetime | None, until: Ending | None) -> PreparedMemory:
        [index] = await index_texts(self._embedder, [content])
        new = as_new(old, old.occurred_at, content=content)
        return PreparedMemory(self._ids(self._clock()), new, index, since, until, rest_of=old.id)

    async def undo_retraction(
        self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None, actor: str | None = None
    ) -> Memory | None:
        """Undo a retraction: the claim may come back, and its memory is current again (None if purged meanwhile).

        Raises:
            InvalidInput, NotFound, Conflict (it is not retracted, or see `restore`), Unavailable.
        """
        check_scope(user_id, agent_id)
        try:
            memory = await self._repo.get(memory_id, user_id=user_id, agent_id=agent_id, deleted=True)
        except NotFound:
            if await self._repo.unretract(memory_id, user_id=user_id, agent_id=agent_id):
                return None
            raise
        if await self._repo.superseded_by_retracted(memory_id) is None:
            how = "it was deleted: restore it" if memory.deleted_at else "it is there"
            raise Conflict(f"memory {memory_id} is not retracted; {how}", existing_id=str(memory_id))
        restored = await self._bring_back(memory, actor or agent_id)
        self._observer.operation("retract", "undone")
        return restored

    async def restore(
        self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None, actor: str | None = None
    ) -> Memory:
        """Bring a deleted memory back, unless something that was not there beside it says otherwise.

        What is over, as something that is gone by now had superseded it, is current again in the same way.

        Raises:
            InvalidInput, NotFound, Conflict (the same or the contrary is there, or it was retracted), Unavailable.
        """
        check_scope(user_id, agent_id)
        memory = await self._repo.get(memory_id, user_id=user_id, agent_id=agent_id, deleted=True)
        if await self._repo.superseded_by_retracted(memory_id) is not None:
            raise Conflict(
                f"memory {memory_id} was retracted, not just deleted: undo the retraction", existing_id=str(memory_id)
            )
        memory = await self._bring_back(memory, actor or agent_id)
        self._observer.operation("restore", "restored")
        return memory

    async def _bring_back(self, memory: Memory, actor: str | None) -> Memory:
        [index] = await index_texts(self._embedder, [memory.content])

        async def run(version: int, checked: int | None) -> Memory | None:
            now = self._clock()
            await self._check_undisputed(memory, index, version, now)
            return await self._repo.restore(memory, index, actor=actor, version=checked, now=now)

        return await self._settled(memory.user_id, run)

    async def _check_undisputed(self, memory: Memory, index: IndexEntry, version: int, now: datetime) -> None:
        """Raise Conflict if, in its time, what has been told since it was deleted says the same or otherwise."""
        ended = memory.valid_to is not None and memory.valid_to <= now
        if memory.deleted_at is None and not ended:
            return  # it is current
        if memory.memory_type is MemoryType.EPISODIC and memory.valid_from is None:
            return  # what happened stays so, whatever is true now
        since, to = starts(memory), None if memory.deleted_at is None else memory.valid_to
        ends_again = await self._repo.superseded_by_retracted(memory.id) or ()
        near = [
            one
            for one in await self._nearest(as_new(memory, memory.occurred_at), index, version, since)
            if one.memory.id != memory.id
            and (to is None or starts(one.memory) < to)
            and (one.memory.id not in ends_again or one.memory.occurred_at > since)  # else it ends with this again
        ]
        for other in (one.memory for one in near):
            if other.memory_type is memory.memory_type and content_hash(other.content) == content_hash(memory.content):
                raise Conflict(
                    f"memory {other.id} holds the same text in this scope already", existing_id=str(other.id)
                )
        near = [one for one in near if memory.deleted_at is None or one.memory.updated_at >= memory.deleted_at]
        while dispute := self._dispute(memory, near, since, to, now):
            by, at = dispute
            if not await self._stood_beside(memory, by):
                raise Conflict(
                    f"{by} says otherwise{at}: delete or retract it before {memory.id} is restored",
                    existing_id=str(by),
                )
            near = [one for one in near if one.memory.id != by]

    def _dispute(
        self, memory: Memory, near: Sequence[Neighbour], since: datetime, to: datetime | None, now: datetime
    ) -> tuple[UUID, str] | None:
        """Return which of `near` says otherwise in the memory's time, and since when, in words."""
        decision = self._decision(memory.content, near, since, now=now)
        over = [*decision.over, *decision.parted]
        if decision.until is not None and (to is None or decision.until.at < to):
            return decision.until.by, f" since {decision.until.at.isoformat(timespec='seconds')}"
        return (over[0].id, "") if over else None

    async def _stood_beside(self, memory: Memory, other: UUID) -> bool:
        """Whether a deleted memory and another were there together, so that both may be there again."""
        if memory.deleted_at is None:
            return False
        mine, its = [await self._repo.history(i, user_id=None, agent_id=None) for i in (memory.id, other)]
        return stood_beside(mine, its)
