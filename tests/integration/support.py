"""What integration tests share beside fixtures."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg
import numpy as np

from memex.core.memory import Filters, NewMemory, SearchMode, SearchRequest
from memex_server.ids import IdSource
from memex_server.metrics import Metrics
from memex_server.ports import Clock, Embedder, FloatArray, Role
from memex_server.postgres.jobs import PostgresJobs
from memex_server.postgres.lifecycle import PostgresLifecycleRepo
from memex_server.postgres.limiter import PostgresRateLimiter
from memex_server.postgres.pool import Database, DatabaseFacts, open_database, vector_space
from memex_server.postgres.recalls import PostgresRecallLog
from memex_server.postgres.records import PostgresRecords
from memex_server.ranking import load_fusion
from memex_server.record_ports import FactExtractor
from memex_server.records import Owner, RecordParts
from memex_server.reranked import Reranking
from memex_server.service import MemoryService
from memex_server.testing import HashingEmbedder, SentenceExtractor
from memex_server.worth import load_worth

# Where memory_vectors of the tests' model is.
_PATH = f"memex, {vector_space(HashingEmbedder().card.id, HashingEmbedder().card.dim)}, public"
TABLES = ("memories", "memory_terms", "memory_vectors", "memory_versions", "recalls")


@dataclass(frozen=True)
class Template:
    """The server, and the name of a database in it that is migrated already."""

    dsn: str
    name: str
    facts: DatabaseFacts


class GatedEmbedder(HashingEmbedder):
    """An embedder that tells when it was called and then waits until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        self.entered.set()
        async with asyncio.timeout(20):
            await self.gate.wait()
        return await super().embed(texts, role)

    def hold(self) -> None:
        """Make the next call wait."""
        self.entered.clear()
        self.gate.clear()


@functools.cache
def _rotation(dim: int) -> FloatArray:
    rotation: FloatArray = np.linalg.qr(np.random.default_rng(5).normal(size=(dim, dim)))[0]
    return rotation


class DenseEmbedder(HashingEmbedder):
    """The same cosines from vectors without zeros, whose rounding in the store averages out as a real model's does."""

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        rotated: FloatArray = (await super().embed(texts, role) @ _rotation(self.card.dim)).astype(np.float32)
        return rotated


def with_database(dsn: str, name: str) -> str:
    return dsn.replace("/postgres?", f"/{name}?", 1)


@contextlib.asynccontextmanager
async def opened(
    dsn: str, facts: DatabaseFacts, *, tenant_id: str = "default", max_size: int = 10, acquire_timeout_s: float = 20
) -> AsyncIterator[Database]:
    db = await open_database(
        dsn,
        tenant_id=tenant_id,
        min_size=1,
        max_size=max_size,
        acquire_timeout_s=acquire_timeout_s,
        statement_timeout_s=30,
        facts=facts,
    )
    try:
        yield db
    finally:
        await db.close()


def make_service(
    database: Database,
    clock: Clock,
    *,
    exact_scope_limit: int = 10_000,
    snapshot_bytes: int = 0,
    answer_bytes: int = 0,
    embedder: Embedder | None = None,
    writes_per_minute: int = 0,
    searches_per_minute: int = 0,
    reranking: Reranking | None = None,
    extractor: FactExtractor | None = None,
    **options: Any,
) -> MemoryService:
    repo = PostgresLifecycleRepo(database, exact_scope_limit=exact_scope_limit, snapshot_bytes=snapshot_bytes)
    embedder = embedder or HashingEmbedder()
    return MemoryService(
        repo=repo,
        embedder=embedder,
        limiter=PostgresRateLimiter(
            database, clock, writes_per_minute=writes_per_minute, searches_per_minute=searches_per_minute
        ),
        clock=clock,
        ids=IdSource(),
        default_alpha=0.7,
        half_life_days=30,
        observer=Metrics(),
        fusion=load_fusion(),
        answer_bytes=answer_bytes,
        recall_log=PostgresRecallLog(database),
        reranking=reranking,
        worth=load_worth(embedder.card.id),
        jobs=PostgresJobs(database, IdSource()),
        records=RecordParts(PostgresRecords(database, repo), extractor or SentenceExtractor(), Owner("ann", "scout")),
        **options,
    )


def memory(content: str, **fields: Any) -> NewMemory:
    """A new memory of user "ann" by agent "scout", unless `fields` say otherwise."""
    return NewMemory(**({"agent_id": "scout", "user_id": "ann", "content": content} | fields))


async def store_all(service: MemoryService, news: Sequence[NewMemory], *, batch: int = 500) -> list[Any]:
    """Store many, none of which may be refused, and return what became of each."""
    stored = []
    for start in range(0, len(news), batch):
        for item in await service.store_batch(news[start : start + batch]):
            assert item.stored is not None, item.error
            stored.append(item.stored)
    return stored


async def found(
    service: MemoryService,
    query: str,
    *,
    user_id: str = "ann",
    mode: SearchMode | None = None,
    top_k: int = 50,
    **filters: Any,
) -> list[str]:
    """The contents that a search brings, best first."""
    request = SearchRequest(user_id=user_id, query=query, top_k=top_k, mode=mode, filters=Filters(**filters))
    return [hit.memory.content for hit in (await service.search(request)).hits]


async def all_listed(service: MemoryService, *, user_id: str = "ann", page: int = 200, **filters: Any) -> list[str]:
    """The contents of all pages of a listing."""
    contents: list[str] = []
    cursor = None
    for _ in range(1000):
        shown = await service.list(user_id=user_id, limit=page, cursor=cursor, **filters)
        contents += [m.content for m in shown.memories]
        cursor = shown.next_cursor
        if cursor is None:
            return contents
    raise AssertionError("the listing does not end")


async def run(dsn: str, statement: str, *arguments: Any) -> None:
    """Run a statement as the owner of everything, who sees all tenants."""
    await query(dsn, statement, *arguments)


async def query(dsn: str, statement: str, *arguments: Any) -> list[Any]:
    """Return the rows of a statement run as the owner of everything, who sees all tenants."""
    connection = await asyncpg.connect(dsn, timeout=20, server_settings={"search_path": _PATH})
    try:
        if not arguments and not statement.lstrip().upper().startswith(("SELECT", "WITH", "SHOW")):
            await connection.execute(statement)  # DDL, maybe several statements
            return []
        return await connection.fetch(statement, *arguments)
    finally:
        await connection.close(timeout=5)


async def value(dsn: str, statement: str, *arguments: Any) -> Any:
    """Return the one value of a statement run as the owner of everything."""
    return (await query(dsn, statement, *arguments))[0][0]


async def rows_of(dsn: str, ids: Sequence[Any]) -> dict[str, int]:
    """How many rows every table holds of these memories."""
    counts = {}
    for table in TABLES:
        key = "id" if table == "memories" else "memory_id"
        counts[table] = await value(dsn, f"SELECT count(*) FROM {table} WHERE {key} = ANY ($1::uuid[])", ids)
    return counts


async def orphans(dsn: str) -> dict[str, int]:
    """How many rows of vectors and terms belong to no live memory; none should."""
    counts = {}
    for table in ("memory_terms", "memory_vectors"):
        counts[table] = await value(
            dsn,
            f"""SELECT count(*) FROM {table} x WHERE NOT EXISTS (
                SELECT FROM memories m WHERE m.shard = x.shard AND m.id = x.memory_id AND m.deleted_at IS NULL)""",
        )
    return counts
