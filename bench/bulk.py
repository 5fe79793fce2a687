"""Fills memex with many memories fast: through its own service and repository, with vectors made up beforehand.

To embed 200,000 different texts takes tens of minutes; only the embedder is replaced, all else is as in
`memex serve`. The vectors are mixtures of real ones, so they cluster and lie where real questions do.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench.harness.load import AGENT
from bench.harness.texts import sentences
from memex.core.memory import NewMemory
from memex_server.embedding.cards import bundled_model
from memex_server.ids import IdSource
from memex_server.ports import FloatArray, ModelCard, Role
from memex_server.postgres.embedded import EmbeddedServer
from memex_server.postgres.migrate import prepare_database
from memex_server.postgres.pool import open_database
from memex_server.postgres.repo import PostgresRepo
from memex_server.postgres.vector_index import ensure_vector_index
from memex_server.service import MemoryService
from memex_server.wiring import system_clock

__all__ = ["Scope", "bulk_store", "mixtures"]

_BATCH = 1_000
_PARALLEL = 2  # one batch is prepared in Python while PostgreSQL writes the other
_SPREAD = 0.35  # neighbours of a real vector come out at cosines like those of real texts on one subject


@dataclass(frozen=True, slots=True)
class Scope:
    """What was stored for one user: ids and vectors, row by row."""

    user_id: str
    ids: Sequence[str]
    vectors: FloatArray


def mixtures(real: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Return `count` unit vectors near the rows of `real`, moved along differences of other rows."""
    rows = rng.integers(0, len(real), (3, count))
    moved = real[rows[0]] + _SPREAD * (real[rows[1]] - real[rows[2]])
    unit: FloatArray = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
    return unit


class _Given:
    """An embedder that answers with the vectors that were set for these texts."""

    def __init__(self, card: ModelCard) -> None:
        self._card = card
        self.known: dict[str, NDArray[np.float32]] = {}

    @property
    def card(self) -> ModelCard:
        return self._card

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        del role
        return np.stack([self.known.pop(text) for text in texts])

    async def close(self) -> None:
        self.known.clear()


class _NoLimit:
    async def check(self, agent_key: str, operation: Literal["write", "search"]) -> None:
        del agent_key, operation


class _Deaf:
    def operation(self, operation: str, outcome: str, count: int = 1) -> None:
        del operation, outcome, count

    def rate_limited(self, operation: Literal["write", "search"]) -> None:
        del operation

    def search_stage(self, stage: str, duration_s: float) -> None:
        del stage, duration_s


async def bulk_store(data_dir: Path, sizes: Sequence[tuple[str, int]], real: FloatArray, seed: int) -> list[Scope]:
    """Store `sizes` (user, memories) into the embedded database of `data_dir`, build the index, analyse.

    Nobody else may use the data directory meanwhile.
    """
    rng = np.random.default_rng(seed)
    texts = sentences(seed)
    async with _service(data_dir) as (service, embedder):
        scopes = []
        # Many small scopes share a batch.
        for group in _groups(sizes):
            vectors = [mixtures(real, count, rng) for _, count in group]
            rows = [(user, i, j) for i, (user, count) in enumerate(group) for j in range(count)]
            ids: list[list[str]] = [[""] * count for _, count in group]
            gate = asyncio.Semaphore(_PARALLEL)

            async def store(
                batch: list[tuple[str, int, int]],
                ids: list[list[str]] = ids,
                vectors: list[FloatArray] = vectors,
                gate: asyncio.Semaphore = gate,
            ) -> None:
                async with gate:
                    contents = list(itertools.islice(texts, len(batch)))
                    embedder.known.update((t, vectors[i][j]) for t, (_, i, j) in zip(contents, batch, strict=True))
                    news = [
                        NewMemory(agent_id=AGENT, user_id=user, content=content)
                        for content, (user, _, _) in zip(contents, batch, strict=True)
                    ]
                    for (_, i, j), item in zip(batch, await service.store_batch(news), strict=True):
                        if item.stored is None or not item.stored.created:
                            raise RuntimeError(f"bulk: item not stored: {item.error}")
                        ids[i][j] = str(item.stored.memory.id)

            await asyncio.gather(*(store(rows[at : at + _BATCH]) for at in range(0, len(rows), _BATCH)))
            scopes += [Scope(user, ids[i], vectors[i]) for i, (user, _) in enumerate(group)]
    return scopes


@asynccontextmanager
async def _service(data_dir: Path) -> AsyncIterator[tuple[MemoryService, _Given]]:
    card = bundled_model("multilingual-e5-small").card
    embedder = _Given(card)
    server = EmbeddedServer(data_dir)
    await asyncio.to_thread(server.acquire)
    try:
        facts = await prepare_database(server.dsn, card)
        database = await open_database(
            server.dsn,
            tenant_id="default",
            min_size=2,
            max_size=4,
            acquire_timeout_s=600,
            statement_timeout_s=600,
            facts=facts,
        )
        try:
            yield (
                MemoryService(
                    repo=PostgresRepo(database, exact_scope_limit=10_000),
                    embedder=embedder,
                    limiter=_NoLimit(),
                    clock=system_clock,
                    ids=IdSource(),
                    default_alpha=0.7,
                    half_life_days=30.0,
                    observer=_Deaf(),
                ),
                embedder,
            )
        finally:
            await database.close()
        await ensure_vector_index(server.dsn, "hnsw", card=card, search_path=facts.search_path)
        await _analyse(server.dsn)
    finally:
        await asyncio.to_thread(server.release)


async def _analyse(dsn: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("VACUUM ANALYZE", timeout=3600)
    finally:
        await connection.close()


def _groups(sizes: Sequence[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    group: list[tuple[str, int]] = []
    total = 0
    for one in sizes:
        group.append(one)
        total += one[1]
        if total >= 20 * _BATCH:
            yield group
            group, total = [], 0
    if group:
        yield group
