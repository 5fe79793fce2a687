"""What the lifecycle writes, on PostgreSQL: each call is one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
from pgvector import HalfVector

from memex.core.forgetting import Kept
from memex.core.identity import same_key, shard_key
from memex.core.lifecycle import Ending, Neighbour
from memex.core.memory import Memory, Stored, utc
from memex.protocol.errors import Conflict, NotFound

from ..lifecycle_ports import Merge, Scope
from ..ports import FloatArray, IndexEntry, PreparedMemory
from .retractions import PostgresRetractions
from .rows import to_memory
from .transactions import found, retried

__all__ = ["PostgresLifecycleRepo"]

_MAX_CROWDED = 100
_FORGETTING = "memex:forgetting"


class PostgresLifecycleRepo(PostgresRetractions):
    """Implements `memex_server.lifecycle_ports.LifecycleRepo`."""

    # -- the gate ------------------------------------------------------------------------------

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
        """See the port."""
        new = prepared[0].new
        shard = shard_key(self._tenant, new.user_id)

        async def run() -> Stored | None:
            async with self._db.transaction() as connection:
                if not await self._pass(connection, shard, version):
                    return None
                stored, *_ = all_stored = await self.store_within(connection, prepared, now)
                await self._note_rests(connection, shard, prepared, all_stored)
                new_id = stored.memory.id
                for old_id, part_id in parted.items():
                    ending = Ending(valid_from, new_id)
                    await self._part(connection, shard, old_id, part_id, ending, now=now, actor=new.agent_id)
                by_it = Ending(valid_from, new_id)
                if over:
                    await self._end(connection, shard, list(over), by_it, now=now, actor=new.agent_id, reason=reason)
                await self._end_each(
                    connection, shard, prepared, all_stored, now=now, actor=new.agent_id, reason=reason
                )
                changed = bool(over) or prepared[0].until is not None
                return Stored(await self._read(connection, new_id), stored.created) if changed else stored

        return await retried(run)

    async def _part(
        self, connection: Any, shard: int, old_id: UUID, part_id: UUID, ending: Ending, *, now: datetime, actor: str
    ) -> None:
        """Make the time of a memory before its `ending` a memory of its own; it is true again when it was told next.

        The rest of another one may have begun only after the ending, which that told; then it begins later still.
        """
        row = await connection.fetchrow(self._sql["lock"], old_id, None, None, False)  # noqa: FBT003
        if row is None or row["condensed_into"] is not None:
            return
        tellings = to_memory(row).tellings
        before, after = [t for t in tellings if t <= ending.at], [t for t in tellings if t > ending.at]
        before = before or [utc(t) for t in (row["valid_from"],) if t is not None and utc(t) <= ending.at]
        if not after:
            return
        resumes = f"from {after[0].isoformat()} on"
        await connection.execute(self._sql["first_versions"], shard, [old_id])
        if before:
            await connection.execute(self._cycle["part_before"], shard, old_id, part_id, ending.at)
            await connection.execute(
                self._cycle["part"], shard, old_id, part_id, before[-1], before, ending.at, ending.by, now
            )
            await connection.execute(self._sql["index_terms"], shard, part_id)
            await connection.execute(self._cycle["part_vectors"], shard, old_id, part_id)
            await connection.execute(self._sql["first_versions"], shard, [part_id])
            why = f"by {ending.by}; {old_id} tells it again of {after[0].isoformat()}"
            await connection.execute(self._sql["next_versions"], shard, [part_id], "superseded", now, actor, why)
            resumes += f"; of before {part_id} tells, and {ending.by} of between"
        await connection.execute(self._cycle["begin"], shard, ending.by, ending.at)
        await connection.execute(self._cycle["part_after"], shard, old_id, after[0], after, now, len(before))
        await connection.execute(self._sql["next_versions"], shard, [old_id], "resumed", now, actor, resumes)

    async def merge(
        self, merge: Merge, *, version: int | None, actor: str, reason: str, now: datetime
    ) -> Memory | None:
        """See the port."""
        target = merge.target
        shard = shard_key(self._tenant, target.user_id)

        async def run() -> Memory | None:
            async with self._db.transaction() as connection:
                if not await self._pass(connection, shard, version):
                    return None
                row = await connection.fetchrow(self._sql["lock"], target.id, None, None, False)  # noqa: FBT003
                seen = (None, target.superseded_by, target.content)
                if row is None or (row["condensed_into"], row["superseded_by"], row["content"]) != seen:
                    return None
                await connection.execute(self._sql["first_versions"], shard, [target.id])
                index = merge.index
                try:
                    async with connection.transaction():
                        await self._update(connection, row, merge, merge.new.content, now)
                except asyncpg.UniqueViolationError:
                    # The better text is another memory's already: this one keeps its own.
                    index = None
                    await self._update(connection, row, merge, target.content, now)
                await connection.execute(
                    self._cycle["merge"], shard, target.id, list(merge.sources), list(merge.told_at), merge.at
                )
                if index is not None:
                    await self._unindex(connection, shard, [target.id])
                    await self._index(connection, shard, target.id, index)
                await connection.execute(self._sql["next_versions"], shard, [target.id], "merged", now, actor, reason)
                return await self._read(connection, target.id)

        return await retried(run)

    async def _update(self, connection: Any, row: Any, merge: Merge, content: str, now: datetime) -> None:
        new = replace(merge.new, content=content)
        key = same_key(self._tenant, replace(new, occurred_at=row["given_at"]))
        await connection.fetchrow(
            self._sql["update"], row["shard"], row["id"], content, key, new.importance, new.memory_type,
            list(new.tags), dict(new.metadata), new.source, new.session_id, row["given_at"],
            new.occurred_at, new.expires_at, new.pinned, now,
        )  # fmt: skip

    # -- consolidation -------------------------------------------------------------------------

    async def crowded(self, threshold: int) -> Sequence[Scope]:
        """See the port."""
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._cycle["crowded"], threshold, _MAX_CROWDED)
        return [Scope(row["user_id"], row["agent_id"], row["n"]) for row in rows]

    async def condensable_agents(self, user_id: str) -> Sequence[str]:
        """See the port."""
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._cycle["agents"], shard_key(self._tenant, user_id), user_id)
        return [row["agent_id"] for row in rows]

    async def condensable_count(self, user_id: str, agent_id: str) -> int:
        """See the port."""
        shard = shard_key(self._tenant, user_id)
        async with self._db.connection() as connection:
            return int(await connection.fetchval(self._cycle["condensable_count"], shard, user_id, agent_id))

    async def oldest(self, user_id: str, agent_id: str, limit: int) -> Sequence[Memory]:
        """See the port."""
        shard = shard_key(self._tenant, user_id)
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._cycle["oldest"], shard, user_id, agent_id, limit)
            return await self._read_many(connection, [row["id"] for row in rows])

    async def condense(self, sources: Sequence[Memory], summary: PreparedMemory, *, now: datetime) -> Memory | None:
        """See the port."""
        shard = shard_key(self._tenant, summary.new.user_id)
        seen = {memory.id: memory.updated_at for memory in sources}
        ids = list(seen)

        async def run() -> Memory | None:
            async with self._db.transaction() as connection:
                if not await connection.fetchval(self._cycle["try_gate"], shard):
                    return None
                rows = await connection.fetch(self._cycle["lock_batch"], shard, ids)
                if {row["id"]: utc(row["updated_at"]) for row in rows} != seen:
                    return None
                [stored] = await self.store_within(connection, [summary], now)
                # The same events, stored again after they were condensed, go into the summary that is there.
                if not stored.created and stored.memory.source != summary.new.source:
                    raise Conflict(f"{stored.memory.id} is somebody's own and reads like the summary would")
                await connection.execute(self._sql["first_versions"], shard, ids)
                await connection.execute(self._cycle["archive"], shard, ids, stored.memory.id, now)
                await self._unindex(connection, shard, ids)
                reason = f"into {stored.memory.id}"
                await connection.execute(
                    self._sql["next_versions"], shard, ids, "condensed", now, summary.new.source, reason
                )
                return stored.memory

        return await retried(run)

    async def sources(self, summary_id: UUID, *, user_id: str | None, agent_id: str | None) -> Sequence[Memory]:
        """See the port."""
        async with self._db.connection() as connection:
            row = await connection.fetchrow(self._sql["get"], summary_id, user_id, agent_id, False)  # noqa: FBT003
            row = found(row, summary_id)
            rows = await connection.fetch(self._cycle["sources"], row["shard"], summary_id, False)  # noqa: FBT003
            if not rows:
                raise NotFound(f"memory {summary_id} is no summary")
            return await self._read_many(connection, [row["id"] for row in rows])

    async def nearest_written(
        self, summary_id: UUID, sources: Sequence[Memory], vectors: Sequence[FloatArray], limit: int
    ) -> list[list[Neighbour]]:
        """See the port."""
        one = sources[0]
        shard = shard_key(self._tenant, one.user_id)
        wanted = [HalfVector(vector) for vector in vectors]
        async with self._db.connection() as connection:
            rows = await connection.fetch(
                self._cycle["nearest_written"], shard, one.user_id, one.agent_id, summary_id, wanted, limit
            )
            read = await self._read_many(connection, list({row["id"] for row in rows}))
        memories = {memory.id: memory for memory in read}
        near: list[list[Neighbour]] = [[] for _ in sources]
        for row in rows:
            if row["id"] in memories:
                near[row["place"] - 1].append(Neighbour(memories[row["id"]], row["similarity"]))
        return near

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
        """See the port."""
        shard = shard_key(self._tenant, user_id)

        async def run() -> bool:
            async with self._db.transaction() as connection:
                if not await self._pass(connection, shard, version):
                    return False
                await self._lock(connection, summary_id, None, None, deleted=False)
                rows = await connection.fetch(self._cycle["lock_sources"], shard, summary_id)
                if {row["id"]: row["content"] for row in rows} != {i: text for i, (text, _) in sources.items()}:
                    return False
                for source_id, (_, index) in sources.items():
                    await self._unarchive(connection, shard, source_id, index, keep=keep_apart, now=now, actor=actor)
                for ended_id, ending in over.items():
                    why = "it was told otherwise while one of the two was condensed"
                    await self._end(connection, shard, [ended_id], ending, now=now, actor=actor, reason=why)
                # It is made of its sources alone, so nothing is lost with it, and no copy of their text stays.
                await self._purge(connection, shard, [summary_id], now, actor=actor)
                return True

        return await retried(run)

    async def _unarchive(
        self, connection: Any, shard: int, source_id: UUID, index: IndexEntry, *, keep: bool, now: datetime, actor: Any
    ) -> None:
        try:
            async with connection.transaction():
                await connection.execute(self._cycle["unarchive"], shard, source_id, keep, now)
        except asyncpg.UniqueViolationError:
            # The same text was stored again meanwhile: that one counts it, and this one is a tombstone.
            memory = await self._read(connection, source_id)
            twin = await connection.fetchrow(self._cycle["twin"], shard, source_id)
            await connection.execute(self._cycle["repeat"], shard, twin["id"], memory.occurrences, now)
            await connection.execute(self._cycle["give_way"], shard, source_id, now)
            reason = f"the same as {twin['id']}"
            await connection.execute(self._sql["next_versions"], shard, [source_id], "deleted", now, actor, reason)
            return
        await self._index(connection, shard, source_id, index)
        await connection.execute(self._sql["next_versions"], shard, [source_id], "released", now, actor, None)

    # -- forgetting ----------------------------------------------------------------------------

    async def kept(self, user_id: str, agent_id: str | None) -> Sequence[Kept]:
        """See the port."""
        shard = shard_key(self._tenant, user_id)
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._cycle["kept"], shard, user_id, agent_id)
        return [
            Kept(
                id=UUID(bytes=row["id"].bytes),
                content=row["content"],
                importance=row["importance"],
                occurred_at=utc(row["occurred_at"]),
                updated_at=utc(row["updated_at"]),
                used_at=utc(row["used_at"]),
                pinned=row["pinned"],
                expires_at=None if row["expires_at"] is None else utc(row["expires_at"]),
            )
            for row in rows
        ]

    async def users(self, after: str, limit: int) -> Sequence[str]:
        """See the port."""
        async with self._db.connection() as connection:
            return [row["user_id"] for row in await connection.fetch(self._cycle["users"], after, limit)]

    async def forget(self, user_id: str, reasons: Mapping[UUID, tuple[datetime, str]], *, now: datetime) -> int:
        """See the port."""
        shard = shard_key(self._tenant, user_id)

        async def run() -> int:
            async with self._db.transaction() as connection:
                rows = await connection.fetch(self._cycle["lock_many"], shard, list(reasons), now)
                due: dict[str, list[UUID]] = {}
                for row in rows:
                    seen_at, reason = reasons[row["id"]]
                    if utc(row["updated_at"]) == seen_at:
                        due.setdefault(reason, []).append(row["id"])
                for reason, ids in due.items():
                    sources = [
                        source["id"]
                        for memory_id in ids
                        for source in await connection.fetch(self._sql["lock_sources"], shard, memory_id, None)
                    ]
                    await self._bury(
                        connection, shard, [*ids, *sources], "forgotten", now, actor=_FORGETTING, reason=reason
                    )
                return sum(map(len, due.values()))

        return await retried(run)
