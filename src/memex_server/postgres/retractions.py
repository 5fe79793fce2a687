"""Retracting and bringing back, on PostgreSQL: each call is one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from memex.core.identity import same_key, shard_key
from memex.core.lifecycle import Ending
from memex.core.memory import Memory, NewMemory, Stored, as_new, utc
from memex.protocol.errors import Conflict

from ..lifecycle_ports import Retraction, Return
from ..ports import IndexEntry, PreparedMemory
from .pool import Database
from .queries import load
from .repo import PostgresRepo
from .rows import to_memory
from .transactions import apart, found, retried

__all__ = ["PostgresRetractions"]

_MAX_RETRACTIONS = 5_000


class PostgresRetractions(PostgresRepo):
    """The part of `memex_server.lifecycle_ports.LifecycleRepo` that takes back and brings back."""

    def __init__(self, database: Database, *, exact_scope_limit: int, snapshot_bytes: int = 0) -> None:
        super().__init__(database, exact_scope_limit=exact_scope_limit, snapshot_bytes=snapshot_bytes)
        self._cycle = load("lifecycle")

    # -- retraction ----------------------------------------------------------------------------

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
        """See the port."""

        async def run() -> Memory | None:
            async with self._db.transaction() as connection:
                row = found(await connection.fetchrow(self._sql["get"], memory_id, user_id, agent_id, True), memory_id)  # noqa: FBT003
                if not await self._pass(connection, row["shard"], version):
                    return None
                row = await self._lock(connection, memory_id, user_id, agent_id, deleted=True)
                shard = row["shard"]
                if row["deleted_at"] is None:
                    apart(row)
                    sources = await connection.fetch(self._sql["lock_sources"], shard, memory_id, None)
                    ids = [memory_id, *(source["id"] for source in sources)]
                    await self._bury(connection, shard, ids, "retracted", now, actor=actor, reason=reason)
                elif row["condensed_into"] is not None:  # a deleted summary must not come back with the claim
                    summary = [row["condensed_into"]]
                    await self._purge(connection, shard, summary, now, actor=actor)
                    await connection.execute(self._sql["purge_retractions"], shard, summary)
                over = [old["id"] for old in await connection.fetch(self._cycle["overtaken_by"], shard, memory_id)]
                why, heir = f"{memory_id} was retracted", row["superseded_by"]
                added: list[UUID] = []
                for one in returns if heir is None else ():
                    if one.memory_id in over:
                        added += await self._return(connection, shard, one, why=why, now=now, actor=actor)
                await connection.execute(
                    self._cycle["retract"], shard, memory_id, self._tenant, row["user_id"], row["agent_id"],
                    row["content"], reason, actor, now, [*over, *added],
                )  # fmt: skip
                if heir is not None and over:
                    await connection.execute(self._cycle["hand_over"], shard, over, heir, row["valid_to"], now)
                    await connection.execute(
                        self._sql["next_versions"], shard, over, "superseded", now, actor, f"{why}: by {heir}"
                    )
                return await self._read(connection, memory_id)

        return await retried(run)

    async def _return(
        self, connection: Any, shard: int, one: Return, *, why: str, now: datetime, actor: str | None
    ) -> list[UUID]:
        """Bring back what was superseded, as far as is said; return what else came of it."""
        old, until, changed = one.memory_id, one.until, list[UUID]()
        if one.rest is not None:
            await self._absorb(connection, shard, one.rest, old, why=why, now=now, actor=actor)
            changed.append(one.rest)
        if until is not None:
            await connection.execute(self._cycle["hand_over"], shard, [old], until.by, until.at, now)
            reason = f"{why}: by {until.by}"
            await connection.execute(self._sql["next_versions"], shard, [old], "superseded", now, actor, reason)
        elif one.whole:
            await self._reinstate(connection, shard, old, reason=why, now=now, actor=actor)
        if one.parts:
            stored = await self.store_within(connection, one.parts, now)
            await self._note_rests(connection, shard, one.parts, stored)
            await self._end_each(connection, shard, one.parts, stored, now=now, actor=actor, reason=why)
            changed += [each.memory.id for each in stored if each.created]
        return changed

    async def _end_each(
        self,
        connection: Any,
        shard: int,
        prepared: Sequence[PreparedMemory],
        stored: Sequence[Stored],
        *,
        now: datetime,
        actor: str | None,
        reason: str,
    ) -> None:
        """Let what was stored end as it is known to."""
        for one, done in zip(prepared, stored, strict=True):
            if one.until is not None:
                await self._end(connection, shard, [done.memory.id], one.until, now=now, actor=actor, reason=reason)

    async def _end(
        self,
        connection: Any,
        shard: int,
        ids: list[UUID],
        ending: Ending,
        *,
        now: datetime,
        actor: str | None,
        reason: str,
    ) -> None:
        await connection.execute(self._sql["first_versions"], shard, ids)
        rows = await connection.fetch(self._cycle["supersede"], shard, ids, ending.by, ending.at, now)
        ended, why = [row["id"] for row in rows], f"{reason}: by {ending.by}"
        await connection.execute(self._sql["next_versions"], shard, ended, "superseded", now, actor, why)
        if ended:
            await connection.execute(self._cycle["begin"], shard, ending.by, ending.at)

    async def _absorb(
        self, connection: Any, shard: int, rest: UUID, whole: UUID, *, why: str, now: datetime, actor: str | None
    ) -> None:
        await connection.execute(self._sql["first_versions"], shard, [rest])
        await connection.execute(self._cycle["absorb"], shard, rest, whole, now)
        reason = f"{why}: {whole} says it too"
        await connection.execute(self._sql["next_versions"], shard, [rest], "superseded", now, actor, reason)

    async def _note_rests(
        self, connection: Any, shard: int, prepared: Sequence[PreparedMemory], stored: Sequence[Stored]
    ) -> None:
        """Write down of which memories others are the rest."""
        for one, done in zip(prepared, stored, strict=True):
            if one.rest_of is not None and done.created:
                await connection.execute(self._sql["first_versions"], shard, [one.id])
                await connection.execute(self._cycle["note_rest"], shard, one.id, _rest_of(one.rest_of))

    async def _reinstate(
        self, connection: Any, shard: int, memory_id: UUID, *, reason: str, now: datetime, actor: str | None
    ) -> None:
        try:
            async with connection.transaction():
                await connection.execute(self._cycle["reinstate"], shard, memory_id, now)
        except asyncpg.UniqueViolationError:
            return  # it was said again meanwhile, and is current in another row
        await connection.execute(self._sql["next_versions"], shard, [memory_id], "reinstated", now, actor, reason)

    async def overtaken(self, memory_id: UUID) -> Sequence[Memory]:
        """See the port."""
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._cycle["overtaken"], memory_id)
        return [to_memory(row) for row in rows]

    async def same(self, new: NewMemory) -> Sequence[Memory]:
        """See the port."""
        shard, key = shard_key(self._tenant, new.user_id), same_key(self._tenant, new)
        async with self._db.connection() as connection:
            return [to_memory(row) for row in await connection.fetch(self._cycle["same"], shard, key)]

    async def unretract(self, memory_id: UUID, *, user_id: str | None, agent_id: str | None) -> bool:
        """See the port."""
        async with self._db.connection() as connection:
            gone = await connection.fetchval(self._cycle["unretract"], memory_id, user_id, agent_id)
        return gone is not None

    async def superseded_by_retracted(self, memory_id: UUID) -> Sequence[UUID] | None:
        """See the port."""
        async with self._db.connection() as connection:
            over = await connection.fetchval(self._cycle["over"], memory_id)
        return None if over is None else [UUID(bytes=one.bytes) for one in over]

    async def retractions(self, user_id: str) -> Sequence[Retraction]:
        """See the port."""
        shard = shard_key(self._tenant, user_id)
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._cycle["retractions"], shard, user_id, _MAX_RETRACTIONS)
        return [Retraction(UUID(bytes=r["memory_id"].bytes), r["content"], r["reason"], utc(r["at"])) for r in rows]

    async def restore(
        self,
        memory: Memory,
        index: IndexEntry,
        *,
        actor: str | None,
        version: int | None,
        now: datetime,
    ) -> Memory | None:
        """See the port."""
        memory_id = memory.id

        async def run() -> Memory | None:
            async with self._db.transaction() as connection:
                if not await self._pass(connection, shard_key(self._tenant, memory.user_id), version):
                    return None
                row = await self._lock(connection, memory_id, None, None, deleted=True)
                if row["deleted_at"] is None:
                    return await self._renew(connection, row, now, actor)
                if row["content"] != memory.content:
                    raise Conflict(f"memory {memory_id} was changed and deleted meanwhile: try again")
                shard = row["shard"]
                if row["condensed_into"] is not None:
                    summary = row["condensed_into"]
                    raise Conflict(f"it was deleted with its summary: restore {summary}", existing_id=str(summary))
                sources = await connection.fetch(self._sql["lock_sources"], shard, memory_id, row["deleted_at"])
                source_ids = [source["id"] for source in sources]
                try:
                    async with connection.transaction():
                        live = await connection.fetchrow(self._sql["unbury"], shard, memory_id, now)
                except asyncpg.UniqueViolationError as e:
                    key = same_key(self._tenant, as_new(to_memory(row), row["given_at"]))
                    raise await self._same(connection, shard, key) from e
                await self._index(connection, shard, memory_id, index)
                await connection.execute(self._sql["unbury_many"], shard, source_ids, now)
                undone = await connection.fetch(self._sql["purge_retractions"], shard, [memory_id])
                ids = [memory_id, *source_ids]
                await connection.execute(self._sql["next_versions"], shard, ids, "restored", now, actor, None)
                for over in [row["over"] for row in undone]:
                    until = live["valid_from"] or live["occurred_at"]
                    rows = await connection.fetch(self._sql["end_again"], shard, over, memory_id, until, now)
                    ended, why = [row["id"] for row in rows], f"by {memory_id}"
                    await connection.execute(self._sql["next_versions"], shard, ended, "superseded", now, actor, why)
                    for rest in await connection.fetch(self._cycle["absorbed"], shard, over, ended):
                        await self._reinstate(connection, shard, rest["id"], reason=why, now=now, actor=actor)
                return to_memory(live)

        return await retried(run)

    async def _renew(self, connection: Any, row: Any, now: datetime, actor: str | None) -> Memory:
        """Make a live memory that is over current again. Raises Conflict if it has a live successor."""
        shard, memory_id, heir = row["shard"], row["id"], row["superseded_by"]
        if row["condensed_into"] is not None or row["valid_to"] is None or row["valid_to"] > now:
            return to_memory(row)
        if heir is not None and await connection.fetchrow(self._sql["get"], heir, None, None, False):  # noqa: FBT003
            raise Conflict(
                f"{memory_id} is superseded by {heir}: retract or delete that before it is restored",
                existing_id=str(heir),
            )
        await connection.execute(self._sql["first_versions"], shard, [memory_id])
        try:
            async with connection.transaction():
                await connection.execute(self._cycle["reinstate"], shard, memory_id, now)
        except asyncpg.UniqueViolationError as e:
            key = same_key(self._tenant, as_new(to_memory(row), row["given_at"]))
            raise await self._same(connection, shard, key) from e
        await connection.execute(self._sql["next_versions"], shard, [memory_id], "restored", now, actor, None)
        for rest in await connection.fetch(self._cycle["rests"], shard, memory_id, _rest_of(memory_id)):
            await self._absorb(connection, shard, rest["id"], memory_id, why="restored", now=now, actor=actor)
        return await self._read(connection, memory_id)

    # -- parts ---------------------------------------------------------------------------------

    async def _pass(self, connection: Any, shard: int, version: int | None) -> bool:
        """Wait for the scope's gate; return whether the scope is still at `version`."""
        await connection.execute(self._cycle["gate"], shard)
        return version is None or await self._version(connection, shard) == version

    async def _version(self, connection: Any, shard: int) -> int:
        return int(await connection.fetchval(self._cycle["version"], shard) or 0)

    async def _read(self, connection: Any, memory_id: UUID) -> Memory:
        [memory] = await self._read_many(connection, [memory_id])
        return memory

    async def _read_many(self, connection: Any, ids: Sequence[UUID]) -> list[Memory]:
        rows = {row["id"]: row for row in await connection.fetch(self._sql["get_many"], list(ids))}
        return [to_memory(rows[memory_id]) for memory_id in ids if memory_id in rows]


def _rest_of(memory_id: UUID) -> str:
    return f"the rest of {memory_id}"
