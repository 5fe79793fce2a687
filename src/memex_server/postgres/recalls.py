"""Counts of recalls on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from memex.core.identity import shard_key
from memex.core.memory import Recalls

from .pool import Database
from .queries import load

__all__ = ["PostgresRecallLog"]


class PostgresRecallLog:
    """Implements `memex_server.ports.RecallLog`."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._sql = load("recalls")

    async def add(self, counts: Mapping[tuple[str, UUID], Recalls]) -> None:
        """See the port."""
        rows = sorted(
            (shard_key(self._db.tenant_id, user_id), memory_id, found.times, found.last_at)
            for (user_id, memory_id), found in counts.items()
        )
        async with self._db.connection() as connection:
            await connection.execute(self._sql["add"], *map(list, zip(*rows, strict=True)))

    async def get(self, user_id: str, memory_id: UUID) -> Recalls:
        """See the port."""
        async with self._db.connection() as connection:
            row = await connection.fetchrow(self._sql["get"], shard_key(self._db.tenant_id, user_id), memory_id)
        return Recalls() if row is None else Recalls(row["times"], row["last_at"])
