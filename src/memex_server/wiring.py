"""The composition root: builds the service from settings, and takes it apart again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

from memex.protocol.errors import MemexError, SetupError, Unavailable

from .embedding import build_embedder
from .ids import IdSource
from .metrics import Metrics
from .ports import Clock
from .postgres.embedded import EmbeddedServer
from .postgres.limiter import PostgresRateLimiter
from .postgres.migrate import prepare_database
from .postgres.pool import Database, open_database
from .postgres.repo import PostgresRepo
from .postgres.vector_index import ensure_vector_index
from .service import MemoryService
from .settings import Settings

__all__ = ["open_memex", "system_clock"]

_LOG = logging.getLogger(__name__)
_WATCH_S = 0.5
_TIDY_S = 60.0
_INDEX_S = 300.0
_POOL_S = 5.0


def system_clock() -> datetime:
    """Return the time of day in UTC."""
    return datetime.now(UTC)


@contextlib.asynccontextmanager
async def open_memex(
    settings: Settings, *, metrics: Metrics | None = None, clock: Clock = system_clock
) -> AsyncIterator[MemoryService]:
    """Open the service: database, model, background work; close everything at the end.

    Raises:
        SetupError: it cannot run as configured.
        Unavailable: the database does not answer.
    """
    metrics = metrics or Metrics()
    database = settings.database
    async with contextlib.AsyncExitStack() as stack:
        embedder = build_embedder(
            settings.embedding,
            data_path=settings.data_path,
            threads=settings.embedding_threads,
            callbacks=None,
        )
        stack.push_async_callback(embedder.close)
        # The model loads in its own thread while the database starts.
        warm = asyncio.create_task(embedder.embed(["warm up"], "query"))
        stack.push_async_callback(_end, warm)

        server = None
        dsn = database.database_url
        if not dsn:
            server = EmbeddedServer(settings.data_path)
            await asyncio.to_thread(server.acquire)
            stack.push_async_callback(asyncio.to_thread, server.release)
            dsn = server.dsn
        facts = await prepare_database(dsn, embedder.card)
        pool = await open_database(
            dsn,
            tenant_id=settings.server.tenant,
            min_size=database.db_min_pool_size,
            max_size=database.db_max_pool_size,
            acquire_timeout_s=database.db_acquire_timeout_s,
            statement_timeout_s=database.db_statement_timeout_s,
            use_service_role=facts.bypasses_rls,
            vector_schema=facts.vector_schema,
        )
        stack.push_async_callback(pool.close)
        service = MemoryService(
            repo=PostgresRepo(pool, exact_scope_limit=database.exact_scope_limit),
            embedder=embedder,
            limiter=PostgresRateLimiter(
                pool,
                clock,
                writes_per_minute=settings.rate_limit.rate_limit_writes_per_minute,
                searches_per_minute=settings.rate_limit.rate_limit_searches_per_minute,
            ),
            clock=clock,
            ids=IdSource(),
            default_alpha=settings.ranking.default_alpha,
            half_life_days=settings.ranking.recency_decay_days,
            observe=metrics.operation,
        )
        await warm
        for work in _background(settings, service, server, pool, metrics, dsn, facts.vector_schema):
            stack.push_async_callback(_end, asyncio.create_task(work))
        yield service


def _background(
    settings: Settings,
    service: MemoryService,
    server: EmbeddedServer | None,
    pool: Database,
    metrics: Metrics,
    dsn: str,
    vector_schema: str,
) -> list[Awaitable[None]]:
    async def tidy() -> None:
        await service.tidy(tombstone_days=settings.database.tombstone_days)

    async def index() -> None:
        await ensure_vector_index(dsn, settings.database.vector_index, vector_schema=vector_schema)

    async def gauge() -> None:
        active, idle = pool.usage()
        metrics.pool(active=active, idle=idle)

    loops = [_repeat("tidy", tidy, _TIDY_S), _repeat("vector_index", index, _INDEX_S), _repeat("gauge", gauge, _POOL_S)]
    if server is not None:
        running = server

        async def watch() -> None:
            await asyncio.to_thread(running.ensure_running)

        loops.append(_repeat("watch", watch, _WATCH_S))
    return loops


async def _repeat(action: str, work: Callable[[], Awaitable[None]], interval_s: float) -> None:
    """Do `work` now and every `interval_s`; a failure is logged once until it succeeds again."""
    failing = False
    while True:
        try:
            await work()
            failing = False
        except (Unavailable, SetupError) as e:
            if not failing:
                _LOG.warning("background work failed; it is tried again", extra={"action": action, "error": str(e)})
            failing = True
        except MemexError:
            _LOG.exception("background work failed", extra={"action": action})
        await asyncio.sleep(interval_s)


async def _end(task: asyncio.Task[object]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, MemexError):
        await task
