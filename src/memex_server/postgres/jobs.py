"""The job queue on PostgreSQL: rows that are claimed with SKIP LOCKED and leased, so a killed worker loses none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memex.core.identity import shard_key
from memex.core.memory import utc
from memex.protocol.errors import NotFound

from ..ids import IdSource
from ..lifecycle_ports import Job
from .pool import Database
from .queries import load

__all__ = ["PostgresJobs", "backoff_s"]

_LEASE = timedelta(minutes=2)
_MAX_ATTEMPTS = 6
_FIRST_BACKOFF_S = 10.0
_MAX_BACKOFF_S = 3600.0
_MAX_ERROR_CHARS = 500


def backoff_s(attempts: int) -> float:
    """Return the seconds to wait after so many failed attempts: 10, 20, 40 ... up to an hour."""
    return float(min(_FIRST_BACKOFF_S * 2 ** (attempts - 1), _MAX_BACKOFF_S))


class PostgresJobs:
    """Implements `memex_server.lifecycle_ports.JobQueue`."""

    def __init__(self, database: Database, ids: IdSource) -> None:
        self._db = database
        self._tenant = database.tenant_id
        self._ids = ids
        self._sql = load("jobs")

    async def enqueue(self, kind: str, key: str, payload: Mapping[str, Any], *, now: datetime) -> bool:
        """See the port."""
        shard = shard_key(self._tenant, f"{kind} {key}")
        async with self._db.connection() as connection:
            added = await connection.fetchval(
                self._sql["enqueue"], shard, self._ids(now), self._tenant, kind, key, dict(payload), now
            )
        return added is not None

    async def claim(self, kinds: Sequence[str], *, now: datetime) -> Job | None:
        """See the port."""
        async with self._db.connection() as connection:
            row = await connection.fetchrow(self._sql["claim"], self._tenant, list(kinds), now, now + _LEASE)
        return None if row is None else _job(row)

    async def done(self, job: Job) -> None:
        """See the port."""
        async with self._db.connection() as connection:
            await connection.execute(self._sql["done"], job.id, job.updated_at)

    async def failed(self, job: Job, error: str, *, now: datetime) -> str:
        """See the port."""
        state = "dead" if job.attempts >= _MAX_ATTEMPTS else "pending"
        again = now + timedelta(seconds=backoff_s(job.attempts))
        async with self._db.connection() as connection:
            await connection.execute(
                self._sql["failed"], job.id, job.updated_at, state, again, error[:_MAX_ERROR_CHARS], now
            )
        return state

    async def hand_back(self, job: Job, *, now: datetime) -> None:
        """See the port."""
        async with self._db.connection() as connection:
            await connection.execute(self._sql["hand_back"], job.id, job.updated_at, now)

    async def jobs(self, state: str | None, limit: int) -> Sequence[Job]:
        """See the port."""
        async with self._db.connection() as connection:
            return [_job(row) for row in await connection.fetch(self._sql["list"], self._tenant, state, limit)]

    async def revive(self, job_id: UUID, *, now: datetime) -> Job:
        """See the port."""
        async with self._db.connection() as connection:
            row = await connection.fetchrow(self._sql["revive"], job_id, now)
        if row is None:
            raise NotFound(f"no dead job {job_id}")
        return _job(row)


def _job(row: Mapping[str, Any]) -> Job:
    return Job(
        id=UUID(bytes=row["id"].bytes),
        kind=row["kind"],
        key=row["key"],
        payload=row["payload"],
        state=row["state"],
        attempts=row["attempts"],
        run_at=utc(row["run_at"]),
        last_error=row["last_error"],
        created_at=utc(row["created_at"]),
        updated_at=utc(row["updated_at"]),
    )
