"""The composition root: builds the service from settings, and takes it apart again."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from memex.core.forgetting import Policy
from memex.protocol.errors import SetupError, Unavailable

from .background import running
from .embedding import LoadableEmbedder
from .extractors import ServiceExtractor, model_at
from .footprint import give_back
from .ids import IdSource
from .lifecycle_ports import Condenser
from .llm.condenser import OpenAICondenser
from .metrics import Metrics
from .parts import LifecycleRules
from .ports import Clock
from .postgres.embedded import EmbeddedServer
from .postgres.jobs import PostgresJobs
from .postgres.lifecycle import PostgresLifecycleRepo
from .postgres.limiter import PostgresRateLimiter
from .postgres.migrate import prepare_database
from .postgres.pool import Database, DatabaseFacts, open_database, safe_dsn
from .postgres.recalls import PostgresRecallLog
from .postgres.records import PostgresRecords
from .postgres.vector_index import ensure_vector_index
from .prepare import open_embedder
from .ranking import Fusion, load_fusion
from .records import Owner, RecordParts
from .reranked import Reranking
from .reranking import build_reranker
from .service import MemoryService
from .settings import RankingSettings, RerankerSettings, ServerSettings, Settings
from .worth import load_worth

__all__ = ["open_memex", "open_server", "system_clock"]

_ANSWER_BYTES = 8_000_000
_WATCH_S = 0.5
_TIDY_S = 60.0
_INDEX_S = 60.0
_RECOUNT_S = 2.0
_GAUGE_S = 5.0
_GIVE_BACK_S = 30.0
_RECALLS_S = 5.0
_LAST_FLUSH_S = 2.0  # the end must not wait for a database that does not answer
_LOG = logging.getLogger(__name__)
_JOBS_S = 10.0
_FORGET_S = 3600.0
_EXTRACT_S = 15.0


def system_clock() -> datetime:
    """Return the time of day in UTC."""
    return datetime.now(UTC)


@contextlib.asynccontextmanager
async def open_memex(
    settings: Settings,
    *,
    metrics: Metrics | None = None,
    clock: Clock = system_clock,
    embedder: LoadableEmbedder | None = None,
) -> AsyncIterator[MemoryService]:
    """Open the service: database, model, background work; close everything, a given `embedder` too, at the end.

    Raises:
        SetupError: it cannot run as configured.
        Unavailable: the database does not answer.
    """
    metrics = metrics or Metrics()
    async with contextlib.AsyncExitStack() as stack:
        embedder = embedder or open_embedder(settings, metrics)
        stack.push_async_callback(embedder.close)
        # The model loads in its own thread while the database starts.
        loading = asyncio.create_task(embedder.load())
        stack.push_async_callback(_finished, loading)
        dsn = await stack.enter_async_context(open_server(settings))
        if settings.embedding.embedding_base_url:
            await loading  # an endpoint is asked for its dimension; a bundled model's card is known at once
        facts = await _prepared(dsn, embedder)
        pool = await _pool(settings, dsn, facts)
        stack.push_async_callback(pool.close)
        reranking = await stack.enter_async_context(
            _open_reranking(settings.reranker, threads=settings.embedding_threads, metrics=metrics)
        )
        rules = _rules(settings)
        condenser = _condenser(settings)
        if condenser is not None:
            stack.push_async_callback(condenser.close)
        repo = PostgresLifecycleRepo(
            pool,
            exact_scope_limit=settings.database.exact_scope_limit,
            snapshot_bytes=settings.database.scope_cache_mb * 1_000_000,
        )
        service = MemoryService(
            repo=repo,
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
            observer=metrics,
            fusion=_fusion(settings.ranking),
            recall_log=PostgresRecallLog(pool),
            answer_bytes=_ANSWER_BYTES if settings.database.scope_cache_mb else 0,
            reranking=reranking,
            jobs=PostgresJobs(pool, IdSource()),
            rules=rules,
            worth=load_worth(embedder.card.id),
            condenser=condenser,
            upkeep=metrics,
            records=RecordParts(PostgresRecords(pool, repo), _extractor(settings), _owner(settings.server)),
        )
        await loading
        if condenser is not None:  # behind the model, so that the start is no slower
            warming = asyncio.create_task(_warmed(condenser))
            stack.push_async_callback(_finished, warming)

        async def gauge() -> None:
            active, idle = pool.usage()
            metrics.pool(active=active, idle=idle)

        tidy = partial(service.tidy, tombstone_days=settings.database.tombstone_days)
        index = partial(
            ensure_vector_index,
            dsn,
            settings.database.vector_index,
            card=embedder.card,
            search_path=facts.search_path,
            large_from=settings.database.exact_scope_limit,
        )
        await stack.enter_async_context(running("tidy", tidy, _TIDY_S))
        await stack.enter_async_context(running("vector_index", index, _INDEX_S))
        await stack.enter_async_context(running("recount", repo.recount, _RECOUNT_S))
        await stack.enter_async_context(running("gauge", gauge, _GAUGE_S))
        await stack.enter_async_context(running("footprint", partial(asyncio.to_thread, give_back), _GIVE_BACK_S))
        await stack.enter_async_context(running("recalls", service.flush_recalls, _RECALLS_S))
        if settings.lifecycle.summarization_enabled:
            interval_s = settings.lifecycle.summarization_interval_seconds
            await stack.enter_async_context(running("consolidation", service.consolidate_due, interval_s))
            await stack.enter_async_context(running("jobs", service.work, min(_JOBS_S, interval_s)))
        if rules.policy.active:
            await stack.enter_async_context(running("forgetting", service.forget_by_policy, _FORGET_S))
        await stack.enter_async_context(running("extract", partial(_extract, service), _EXTRACT_S))
        yield service
        try:
            async with asyncio.timeout(_LAST_FLUSH_S):
                await service.flush_recalls()
        except (Unavailable, TimeoutError) as e:
            _LOG.warning("the last counts of recalls are lost", extra={"action": "recalls", "error": str(e)})


def _owner(settings: ServerSettings) -> Owner:
    return Owner(settings.user_id or getpass.getuser(), settings.agent_id or "memex")


async def _extract(service: MemoryService) -> None:
    done = await service.records.extract_due()
    if done.failed:
        _LOG.warning(
            "facts could not be extracted", extra={"action": "extract", "failed": done.failed, "error": done.message}
        )


def _fusion(settings: RankingSettings) -> Fusion:
    shipped = load_fusion()
    return replace(
        shipped,
        half_life_days=settings.hybrid_half_life_days,
        recency=shipped.recency * settings.recency_factor,
        importance=shipped.importance * settings.importance_factor,
    )


@contextlib.asynccontextmanager
async def _open_reranking(
    settings: RerankerSettings, *, threads: int, metrics: Metrics
) -> AsyncIterator[Reranking | None]:
    reranker = await asyncio.to_thread(build_reranker, settings, threads=threads)
    if reranker is None:
        yield None
        return
    try:
        yield Reranking(
            reranker,
            candidates=settings.reranker_candidates,
            deadline_s=settings.reranker_deadline_s,
            observer=metrics,
        )
    finally:
        await reranker.close()


def _rules(settings: Settings) -> LifecycleRules:
    lifecycle = settings.lifecycle
    return LifecycleRules(
        remember_threshold=lifecycle.remember_threshold,
        summarization_threshold=lifecycle.summarization_threshold,
        summarization_batch_size=lifecycle.summarization_batch_size,
        policy=Policy(
            max_age_days=lifecycle.forget_after_days,
            max_idle_days=lifecycle.forget_idle_days,
            max_memories=lifecycle.forget_over_memories,
            importance_floor=lifecycle.forget_importance_floor,
            half_life_days=settings.ranking.recency_decay_days,
        ),
    )


def _condenser(settings: Settings) -> Condenser | None:
    llm = settings.llm
    if not llm.llm_base_url:
        return None
    return OpenAICondenser(
        base_url=llm.llm_base_url, api_key=llm.llm_api_key, model=llm.llm_model, deadline_s=llm.llm_deadline_s
    )


async def _warmed(condenser: Condenser) -> None:
    try:
        await condenser.load()
    except SetupError as e:
        _LOG.warning("the language model cannot be asked", extra={"action": "llm", "error": str(e)})


def _extractor(settings: Settings) -> ServiceExtractor:
    llm = settings.llm
    if not llm.llm_base_url:
        return ServiceExtractor()
    return ServiceExtractor(
        model_at(llm.llm_base_url, api_key=llm.llm_api_key, model=llm.llm_model, deadline_s=llm.llm_deadline_s)
    )


@contextlib.asynccontextmanager
async def open_server(settings: Settings) -> AsyncIterator[str]:
    """Yield the DSN of the user's database, or of the embedded one, which is kept running meanwhile."""
    if settings.database.database_url:
        yield settings.database.database_url
        return
    server = EmbeddedServer(settings.data_path)
    acquiring = asyncio.ensure_future(asyncio.to_thread(server.acquire))
    try:
        await asyncio.shield(acquiring)
        async with running("postgres", partial(asyncio.to_thread, server.ensure_running), _WATCH_S):
            yield server.dsn
    finally:
        # The thread cannot be cancelled, and a server that it started must not be left without a user.
        await asyncio.wait({acquiring})
        await asyncio.to_thread(server.release)


async def _prepared(dsn: str, embedder: LoadableEmbedder) -> DatabaseFacts:
    try:
        return await prepare_database(dsn, embedder.card)
    except Unavailable as e:
        # At start the question is which database; later it is known.
        raise Unavailable(f"{e} ({safe_dsn(dsn)})", retry_after_s=e.retry_after_s) from e


async def _pool(settings: Settings, dsn: str, facts: DatabaseFacts) -> Database:
    database = settings.database
    return await open_database(
        dsn,
        tenant_id=settings.server.tenant,
        min_size=database.db_min_pool_size,
        max_size=database.db_max_pool_size,
        acquire_timeout_s=database.db_acquire_timeout_s,
        statement_timeout_s=database.db_statement_timeout_s,
        facts=facts,
    )


async def _finished(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
