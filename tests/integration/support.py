"""What integration tests share beside fixtures."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import asyncpg

from memex_server.metrics import Metrics
from memex_server.ids import IdSource
from memex_server.ports import Clock
from memex_server.postgres.limiter import PostgresRateLimiter
from memex_server.postgres.migrate import DatabaseFacts
from memex_server.postgres.pool import Database, open_database
from memex_server.postgres.repo import PostgresRepo
from memex_server.service import MemoryService
from memex_server.testing import HashingEmbedder


@dataclass(frozen=True)
class Template:
    """The server, and the name of a database in it that is migrated already."""

    dsn: str
    name: str
    facts: DatabaseFacts


def with_database(dsn: str, name: str) -> str:
    return dsn.replace("/postgres?", f"/{name}?", 1)


@contextlib.asynccontextmanager
async def opened(
    dsn: str, facts: DatabaseFacts, *, tenant_id: str = "default", max_size: int = 10
) -> AsyncIterator[Database]:
    db = await open_database(
        dsn,
        tenant_id=tenant_id,
        min_size=1,
        max_size=max_size,
        acquire_timeout_s=20,
        statement_timeout_s=30,
        use_service_role=facts.bypasses_rls,
        vector_schema=facts.vector_schema,
    )
    try:
        yield db
    finally:
        await db.close()


def make_service(database: Database, clock: Clock, *, exact_scope_limit: int = 10_000) -> MemoryService:
    return MemoryService(
        repo=PostgresRepo(database, exact_scope_limit=exact_scope_limit),
        embedder=HashingEmbedder(),
        limiter=PostgresRateLimiter(database, clock, writes_per_minute=0, searches_per_minute=0),
        clock=clock,
        ids=IdSource(),
        default_alpha=0.7,
        half_life_days=30,
        observer=Metrics(),
    )


async def run(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
