"""Moves a database to another embedding model while it is in use.

The new vectors grow in the new model's schema, beside the old ones that searches go on using; at
the end the pin is switched in one short transaction and the old schema is dropped. What a run has
done stays done: the next one goes on from there.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import asyncpg
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from memex.protocol.errors import SetupError

from ..ports import IndexEntry, ModelCard
from .migrate import create_vectors, grant_vectors, prepare_database
from .pool import DatabaseFacts, translated, vector_space
from .queries import load
from .vector_index import build_index

__all__ = ["Indexer", "Progress", "reembed"]

_LOCK = 7_365_109_883_414
_BATCH = 200
Indexer = Callable[[Sequence[str]], Awaitable[Sequence[IndexEntry]]]
Progress = Callable[[int, int], None]


async def reembed(
    dsn: str, card: ModelCard, index: Indexer, progress: Progress, *, vector_index: str, large_from: int
) -> int:
    """Give every live memory vectors of the model `card` and pin it; return how many were embedded.

    `index` works texts out with the new model; `progress(done, total)` is told after every batch.
    `vector_index` and `large_from` are as in `ensure_vector_index`.

    Raises:
        SetupError: the database cannot be used, or another process is doing this already.
        Unavailable: the database does not answer; what was done is kept.
    """
    facts = await prepare_database(dsn, card, pin=False)
    async with _session(dsn, facts) as connection:
        current, other = await _models(connection)
        if (card.id, card.dim) == current:
            return 0
        if other is not None and other != (card.id, card.dim):  # an older try with a third model
            await _drop(connection, *other)
        await create_vectors(connection, card)
        await connection.execute(load("reembed")["announce"], card.id, card.dim)
        schema = vector_space(card.id, card.dim)
        await connection.execute(load("reembed")["create_progress"].format(schema=schema))
        done = await _embed_all(connection, index, progress)
        await build_index(connection, vector_index, schema, large_from)
        done += await _switch(connection, card, index, facts)
        await _drop(connection, *current)
        return done


@contextlib.asynccontextmanager
async def _session(dsn: str, facts: DatabaseFacts) -> AsyncIterator[Any]:
    with translated():
        connection = await asyncpg.connect(dsn, timeout=10, server_settings={"search_path": facts.search_path})
        try:
            if not await connection.fetchval(load("setup")["try_lock"], _LOCK):
                raise SetupError("another `memex reembed` is running on this database")
            await connection.execute(load("setup")["all_tenants"])
            await register_vector(connection, schema=facts.extension_schema)
            yield connection
        finally:
            await connection.close(timeout=5)


async def _models(connection: Any) -> tuple[tuple[str, int], tuple[str, int] | None]:
    rows = await connection.fetch(load("reembed")["models"])
    models = {row["slot"]: (row["model_id"], row["dim"]) for row in rows}
    if "current" not in models:
        raise SetupError("this database holds no memories yet: there is nothing to embed again")
    return models["current"], models.get("next")


async def _embed_all(connection: Any, index: Indexer, progress: Progress) -> int:
    total = await connection.fetchval(load("reembed")["remaining"])
    done = 0
    while embedded := await _embed_batch(connection, index):
        done += embedded
        progress(done, max(total, done))
    return done


async def _embed_batch(connection: Any, index: Indexer) -> int:
    sql = load("reembed")
    rows = await connection.fetch(sql["pending"], _BATCH)
    if not rows:
        return 0
    entries = await index([row["content"] for row in rows])
    vectors = [
        (row["shard"], row["id"], passage, row["tenant_id"], start, end, HalfVector(vector))
        for row, entry in zip(rows, entries, strict=True)
        for passage, ((start, end), vector) in enumerate(zip(entry.spans, entry.vectors, strict=True))
    ]
    shards, ids = [row["shard"] for row in rows], [row["id"] for row in rows]
    async with connection.transaction():
        await connection.execute(sql["clear"], shards, ids)
        await connection.execute(sql["put"], *(list(column) for column in zip(*vectors, strict=True)))
        await connection.execute(sql["note"], shards, ids, [row["same_key"] for row in rows])
    return len(rows)


async def _switch(connection: Any, card: ModelCard, index: Indexer, facts: DatabaseFacts) -> int:
    """Embed what changed meanwhile with writers stopped, and make the new model the pinned one."""
    sql = load("reembed")
    done = 0
    async with connection.transaction():
        await connection.execute(sql["stop_writers"])
        while embedded := await _embed_batch(connection, index):
            done += embedded
        await connection.execute(sql["drop_gone"])
        await connection.execute(sql["drop_progress"].format(schema=vector_space(card.id, card.dim)))
        await connection.execute(sql["forget_next"])
        await connection.execute(sql["switch"], card.id, card.dim)
        if facts.bypasses_rls:
            await grant_vectors(connection, card)
    return done


async def _drop(connection: Any, model_id: str, dim: int) -> None:
    await connection.execute(load("vectors")["drop_schema"].format(schema=vector_space(model_id, dim)))
