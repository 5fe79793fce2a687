"""Taking a claim back, undoing it, and bringing back what was deleted."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memex.core.lifecycle import decide
from memex.core.memory import Memory, MemoryType, as_new
from memex.protocol.errors import Conflict, NotFound, Unavailable

from .checks import check_reason, check_scope
from .gate import ATTEMPTS
from .indexing import index_texts
from .ports import IndexEntry
from .release import Releasing

__all__ = ["Retracting"]


class Retracting(Releasing):
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

        async def run() -> Memory:
            return await self._repo.retract(
                memory_id,
                user_id=user_id,
                agent_id=agent_id,
                actor=actor or agent_id,
                reason=reason,
                now=self._clock(),
            )

        memory = await self._apart(run, actor or agent_id)
        self._observer.operation("retract", "retracted")
        return memory

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
        """Bring a deleted memory back, unless something that was not current before it was deleted says otherwise.

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
        for attempt in range(ATTEMPTS):
            version = (await self._repo.scope(memory.user_id)).version
            now = self._clock()
            await self._check_undisputed(memory, index, version, now)
            checked = version if attempt < ATTEMPTS - 1 else None
            restored = await self._repo.restore(memory, index, actor=actor, version=checked, now=now)
            if restored is not None:
                return restored
        raise Unavailable("the memories of this user change too fast to decide upon", retry_after_s=1)

    async def _check_undisputed(self, memory: Memory, index: IndexEntry, version: int, now: datetime) -> None:
        """Raise Conflict if what has become current since it was deleted (or is, if it is over) says otherwise."""
        ended = memory.valid_to is not None and memory.valid_to <= now
        if ended is (memory.deleted_at is not None):
            return  # it is current, or will be over as it was
        if memory.memory_type is MemoryType.EPISODIC and memory.valid_from is None:
            return  # what happened stays so, whatever is true now
        near = [
            neighbour
            for neighbour in await self._nearest(as_new(memory, memory.occurred_at), index, version, now)
            if memory.deleted_at is None or neighbour.memory.updated_at >= memory.deleted_at
        ]
        same = self._embedder.card.duplicate_threshold
        decision = decide(memory.content, near, floor=self._familiar, same=same, at=memory.occurred_at, now=now)
        ends_again = await self._repo.superseded_by_retracted(memory.id) or ()
        until, over = decision.until, [other.id for other in decision.over if other.id not in ends_again]
        if until is not None:
            since, by = f" since {until.at.isoformat(timespec='seconds')}", until.by
        elif over:
            since, by = "", over[0]
        else:
            return
        raise Conflict(
            f"{by} says otherwise{since}: delete or retract it before {memory.id} is restored", existing_id=str(by)
        )
