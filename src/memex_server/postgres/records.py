"""Records of the unified protocol on PostgreSQL: levels, the keyword registry, links, pending extraction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memex.core.identity import same_key, shard_key
from memex.core.memory import Memory, NewMemory, Stored
from memex.protocol.errors import Conflict, NotFound
from memex.protocol.models import SUPERSEDES, Level, Link, LinkResult

from ..ports import Query
from ..record_ports import Claimed, Description, Edge, NewRecord
from .pool import Database
from .queries import load
from .repo import PostgresRepo
from .transactions import retried

__all__ = ["PostgresRecords"]


class PostgresRecords:
    """Implements `memex_server.record_ports.RecordRepo` beside the repository of the memories."""

    def __init__(self, database: Database, memories: PostgresRepo) -> None:
        self._db = database
        self._tenant = database.tenant_id
        self._memories = memories
        self._sql = load("records")
        self._memory_sql = load("memories")
        self._lifecycle_sql = load("lifecycle")

    async def store(self, records: Sequence[NewRecord], *, now: datetime) -> list[tuple[Stored, Description]]:
        """See the port."""

        async def run() -> list[tuple[Stored, Description]]:
            async with self._db.transaction() as connection:
                stored = await self._memories.store_within(connection, [record.prepared for record in records], now)
                return [
                    (one, await self._put(connection, record, one.memory, now))
                    for record, one in zip(records, stored, strict=True)
                ]

        return await retried(run)

    async def _put(self, connection: Any, record: NewRecord, memory: Memory, now: datetime) -> Description:
        shard, described = self._shard(memory.user_id), record.description
        row = await connection.fetchrow(
            self._sql["put"], shard, memory.id, self._tenant, described.level.value, described.topic,
            list(described.keywords), now if record.waits else None,
        )  # fmt: skip
        if record.keys:
            await connection.execute(self._sql["register"], shard, memory.id, self._tenant, list(record.keys))
        return _description(row)

    async def registered(self, query: Query, keys: Sequence[str], limit: int) -> list[tuple[Memory, frozenset[str]]]:
        """See the port."""
        found = await self._memories.registered(query, keys, limit)
        ids = [memory_id for memory_id, _ in found]
        whole = await self._memories.fetch(query, ids, [0] * len(ids)) if ids else {}
        return [(whole[memory_id].memory, under) for memory_id, under in found if memory_id in whole]

    async def describe(self, user_id: str, ids: Sequence[UUID]) -> Mapping[UUID, Description]:
        """See the port."""
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._sql["describe"], self._shard(user_id), list(ids))
        return {_uuid(row["memory_id"]): _description(row) for row in rows}

    async def find(self, user_id: str, own_id: str) -> UUID | None:
        """See the port."""
        async with self._db.connection() as connection:
            found = await connection.fetchval(self._sql["own_id"], self._shard(user_id), user_id, own_id)
        return None if found is None else _uuid(found)

    async def links(self, user_id: str, memory_id: UUID) -> Sequence[Link]:
        """See the port."""
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._sql["links"], self._shard(user_id), memory_id)
        return [
            Link(
                link_id=str(row["id"]),
                from_id=str(row["from_id"]),
                to_id=str(row["to_id"]),
                relation=row["relation"],
                weight=row["weight"],
            )
            for row in rows
        ]

    async def link(self, user_id: str, edge: Edge, *, link_id: UUID, now: datetime) -> LinkResult:
        """See the port."""
        shard, ends = self._shard(user_id), [edge.from_id, edge.to_id]

        async def run() -> LinkResult:
            async with self._db.transaction() as connection:
                rows = await connection.fetch(self._sql["lock_ends"], shard, user_id, ends)
                missing = set(ends) - {_uuid(row["id"]) for row in rows}
                if missing:
                    raise NotFound(f"there is no record {missing.pop()}, so it cannot be linked")
                if edge.relation == SUPERSEDES and await connection.fetchval(self._sql["is_before"], shard, *ends):
                    raise Conflict(f"{edge.from_id} is superseded by {edge.to_id}: a link back leaves neither")
                made = await connection.fetchval(
                    self._sql["link"], shard, *ends, edge.relation, self._tenant, link_id, edge.weight, now
                )
                if edge.relation == SUPERSEDES:
                    await self._supersede(connection, shard, edge, now)
                return LinkResult(link_id=str(made), created=_uuid(made) == link_id)

        return await retried(run)

    async def _supersede(self, connection: Any, shard: int, edge: Edge, now: datetime) -> None:
        await connection.execute(self._memory_sql["first_versions"], shard, [edge.to_id])
        ended = await connection.fetch(self._lifecycle_sql["supersede"], shard, [edge.to_id], edge.from_id, now, now)
        if ended:
            await connection.execute(
                self._memory_sql["next_versions"], shard, [edge.to_id], "superseded", now, None, f"by {edge.from_id}"
            )

    async def claim(self, *, limit: int, user_id: str | None, now: datetime, until: datetime) -> list[Claimed]:
        """See the port."""
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._sql["claim"], now, limit, until, user_id)
        return [Claimed(_uuid(row["memory_id"]), row["user_id"], row["attempts"]) for row in rows]

    async def claim_these(self, user_id: str, ids: Sequence[UUID], *, until: datetime) -> list[Claimed]:
        """See the port."""
        async with self._db.transaction() as connection:
            rows = await connection.fetch(self._sql["claim_these"], self._shard(user_id), user_id, list(ids), until)
            claimed = {_uuid(row["memory_id"]): row["attempts"] for row in rows}
            for memory_id in ids:
                if memory_id not in claimed:
                    raise NotFound(f"there is no record {memory_id}")
        return [Claimed(memory_id, user_id, claimed[memory_id]) for memory_id in dict.fromkeys(ids)]

    async def settle(self, claimed: Claimed, *, retry_at: datetime | None, error: str | None) -> None:
        """See the port."""
        async with self._db.connection() as connection:
            await connection.execute(
                self._sql["settle"], self._shard(claimed.user_id), claimed.memory_id, retry_at, error
            )

    async def buried(self, news: Sequence[NewMemory]) -> list[bool]:
        """See the port."""
        keys = [same_key(self._tenant, new) for new in news]
        gone: set[bytes] = set()
        async with self._db.connection() as connection:
            for user_id in {new.user_id for new in news}:
                rows = await connection.fetch(self._sql["buried"], self._shard(user_id), keys)
                gone.update(row["same_key"] for row in rows)
        return [key in gone for key in keys]

    def _shard(self, user_id: str) -> int:
        return shard_key(self._tenant, user_id)


def _description(row: Mapping[str, Any]) -> Description:
    return Description(level=Level(row["level"]), topic=row["topic"], keywords=tuple(row["keywords"]))


def _uuid(value: UUID) -> UUID:
    return UUID(bytes=value.bytes)  # the driver has a subclass of its own
