"""The index over all vectors: which one there is, and making or changing it while searches go on."""

from __future__ import annotations

import logging
import math

import asyncpg

from ..ports import ModelCard
from .pool import translated, vector_space
from .queries import load

__all__ = ["IVFFLAT_LEAST_ROWS", "build_index", "ensure_vector_index", "ivfflat_lists"]

_LOG = logging.getLogger(__name__)
_LOCK = 7_365_109_883_413
# An ivfflat index learns its lists from the rows that are there: below this it would learn noise.
IVFFLAT_LEAST_ROWS = 10_000
_COUNT_CAP = 100_000_000


def ivfflat_lists(rows: int) -> int:
    """Return the number of lists for a table of `rows`; rows / 1000, above a million its root (pgvector's advice)."""
    return max(10, rows // 1000) if rows <= 1_000_000 else math.isqrt(rows)


async def ensure_vector_index(dsn: str, kind: str, *, card: ModelCard, search_path: str) -> str:
    """Make the index `kind` ("hnsw", "ivfflat", "none") and drop another; return what was done.

    Runs beside reads and writes; only one process at a time does it, others return "busy".

    Raises:
        Unavailable: the database does not answer.
    """
    setup = load("setup")
    with translated():
        connection = await asyncpg.connect(dsn, timeout=10)
        try:
            if not await connection.fetchval(setup["try_lock"], _LOCK):
                return "busy"
            await connection.execute(setup["set_path"], search_path)
            return await build_index(connection, kind, vector_space(card.id, card.dim))
        finally:
            await connection.close(timeout=5)


async def build_index(connection: asyncpg.Connection, kind: str, schema: str) -> str:
    """Do the work of `ensure_vector_index` on a connection whose search path finds the vectors of `schema`."""
    vectors = load("vectors")
    rows = await connection.fetchval(vectors["count_rows"], _COUNT_CAP if kind == "ivfflat" else 1)
    concurrently = "CONCURRENTLY" if rows else ""
    done = "kept"
    for other in {"hnsw", "ivfflat"} - {kind}:
        if await connection.fetchval(vectors["index_valid"], schema, f"memory_vectors_{other}") is not None:
            await connection.execute(vectors[f"drop_{other}"].format(concurrently=concurrently, schema=schema))
            done = "dropped"
    if kind == "none":
        return done
    name = f"memory_vectors_{kind}"
    valid = await connection.fetchval(vectors["index_valid"], schema, name)
    if valid:
        return done
    if valid is False:  # left by a build that was interrupted
        await connection.execute(vectors[f"drop_{kind}"].format(concurrently="CONCURRENTLY", schema=schema))
    if kind == "ivfflat" and rows < IVFFLAT_LEAST_ROWS:
        return "waiting for rows"
    await connection.execute(
        vectors[f"create_{kind}"].format(concurrently=concurrently, lists=ivfflat_lists(rows)), timeout=6 * 3600
    )
    _LOG.info("vector index built", extra={"action": "vector_index", "kind": kind, "rows": rows})
    return "built"
