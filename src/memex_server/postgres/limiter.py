"""The rate limiter on PostgreSQL: a true sliding minute, shared by all processes."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from memex.core.identity import shard_key
from memex.protocol.errors import RateLimited

from ..ports import Clock
from .pool import Database
from .queries import load

__all__ = ["PostgresRateLimiter"]

_WINDOW = timedelta(seconds=60)


class PostgresRateLimiter:
    """Implements `memex_server.ports.RateLimiter`; a limit of 0 means none and costs nothing."""

    def __init__(self, database: Database, clock: Clock, *, writes_per_minute: int, searches_per_minute: int) -> None:
        self._db = database
        self._clock = clock
        self._limits = {"write": writes_per_minute, "search": searches_per_minute}
        self._sql = load("memories")["hit"]

    async def check(self, agent_key: str, operation: Literal["write", "search"]) -> None:
        """See the port."""
        limit = self._limits[operation]
        if limit == 0:
            return
        now = self._clock()
        tenant = self._db.tenant_id
        async with self._db.connection() as connection:
            row = await connection.fetchrow(
                self._sql, shard_key(tenant, agent_key), agent_key, operation, tenant, now, limit
            )
        if not row["allowed"]:
            wait_s = max(0.001, (row["oldest"] + _WINDOW - now).total_seconds())
            raise RateLimited(
                f"more than {limit} calls ({operation}) by this agent within 60 s: wait {wait_s:.1f} s",
                limit=limit,
                remaining=0,
                retry_after_s=wait_s,
            )
