"""Fills memex with many memories fast: by its own indexing and repository, with vectors made up beforehand.

To embed 200,000 different texts takes tens of minutes; only the embedder is replaced, all else is as in
`memex serve`. The vectors are mixtures of real ones, so they cluster and lie where real questions do.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.harness.load import AGENT
from bench.harness.texts import sentences
from memex.core.memory import NewMemory
from memex_server.embedding.cards import bundled_model
from memex_server.ids import IdSource
from memex_server.indexing import index_texts
from memex_server.ports import FloatArray, ModelCard, PreparedMemory, Role
from memex_server.postgres.embedded import EmbeddedServer
from memex_server.postgres.migrate import prepare_database
from memex_server.postgres.pool import open_database
from memex_server.postgres.repo import PostgresRepo
from memex_server.postgres.vector_index import ensure_vector_index

__all__ = ["Scope", "bulk_store", "mixtures"]

_BATCH = 1_000
_LARGE_FROM = 10_000  # as `memex serve` has it
_PARALLEL = 2  # one batch is prepared in Python while PostgreSQL writes the other
_SPREAD = 0.35  # neighbours of a real vector come out at cosines like those of real texts on one subject


@dataclass(frozen=True, slots=True)
class Scope:
    """What was stored for one user: ids and vectors, row by row."""

    user_id: str
    ids: list[str]
    vectors: FloatArray


@dataclass(frozen=True, slots=True)
class _Slot:
    scope: Scope
    row: int


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


async def bulk_store(data_dir: Path, sizes: Sequence[tuple[str, int]], real: FloatArray, seed: int) -> list[Scope]:
    """Store `sizes` (user, memories) into the embedded database of `data_dir`, build the index, analyse.

    Nobody else may use the data directory meanwhile.
    """
    card = bundled_model("multilingual-e5-small").card
    rng = np.random.default_rng(seed)
    texts = sentences(seed)
    embedder = _Given(card)
    new_id = IdSource()
    gate = asyncio.Semaphore(_PARALLEL)
    scopes: list[Scope] = []

    async with _database(data_dir, card) as repo:

        async def store(batch: Sequence[_Slot]) -> None:
            async with gate:
                news = [
                    NewMemory(agent_id=AGENT, user_id=slot.scope.user_id, content=content)
                    for slot, content in zip(batch, texts, strict=False)
                ]
                embedder.known.update(
                    (new.content, slot.scope.vectors[slot.row]) for new, slot in zip(news, batch, strict=True)
                )
                indexes = await index_texts(embedder, [new.content for new in news])
                now = datetime.now(UTC)
                prepared = [PreparedMemory(new_id(now), n, index) for n, index in zip(news, indexes, strict=True)]
                for slot, stored in zip(batch, await repo.store(prepared, now=now), strict=True):
                    if not stored.created:
                        raise RuntimeError(f"bulk: {stored.memory.content!r} was there already")
                    slot.scope.ids[slot.row] = str(stored.memory.id)

        for group in _groups(sizes):  # many small scopes share a batch
            made = [Scope(user_id, [""] * count, mixtures(real, count, rng)) for user_id, count in group]
            slots = [_Slot(scope, row) for scope in made for row in range(len(scope.ids))]
            await asyncio.gather(*(store(slots[at : at + _BATCH]) for at in range(0, len(slots), _BATCH)))
            scopes += made
    return scopes


@asynccontextmanager
async def _database(data_dir: Path, card: ModelCard) -> AsyncIterator[PostgresRepo]:
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
            yield PostgresRepo(database, exact_scope_limit=_LARGE_FROM)
        finally:
            await database.close()
        await ensure_vector_index(server.dsn, "hnsw", card=card, search_path=facts.search_path, large_from=_LARGE_FROM)
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
