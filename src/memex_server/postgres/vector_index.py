"""The index over the vectors of large scopes: which one there is, what is in it, and changing it during searches.

Small scopes are compared exactly, so their vectors would only make the index slow: it holds those that
are marked, and a write marks none. What grew is marked here, now and then; searches compare the rest of
a large scope exactly, so nothing waits for it to be found.
"""

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
_WORTH_IT = 1_000  # so many of a scope can be compared in a millisecond
_TAKEN_AT_ONCE = 500  # a delete that meets one of them waits for so many at most


def ivfflat_lists(rows: int) -> int:
    """Return the number of lists for a table of `rows`; rows / 1000, above a million its root (pgvector's advice)."""
    return max(10, rows // 1000) if rows <= 1_000_000 else math.isqrt(rows)


async def ensure_vector_index(dsn: str, kind: str, *, card: ModelCard, search_path: str, large_from: int) -> str:
    """Make the index `kind` ("hnsw", "ivfflat", "none") and drop another; return what was done.

    Scopes of more than `large_from` memories go into it. Runs beside reads and writes; only one process
    at a time does it, others return "busy".

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
            await connection.execute(setup["all_tenants"])
            await connection.execute(setup["no_wait_for_disk"])  # a mark that a crash undoes is made again
            return await build_index(connection, kind, vector_space(card.id, card.dim), large_from)
        finally:
            await connection.close(timeout=5)


async def build_index(connection: asyncpg.Connection, kind: str, schema: str, large_from: int) -> str:
    """Do the work of `ensure_vector_index` for all tenants, where the search path finds the vectors of `schema`."""
    vectors = load("vectors")
    concurrently = "CONCURRENTLY" if await connection.fetchval(vectors["any_rows"]) else ""
    done = "kept"
    for other in {"hnsw", "ivfflat"} - {kind}:
        if await connection.fetchval(vectors["index_valid"], schema, f"memory_vectors_{other}") is not None:
            await connection.execute(vectors[f"drop_{other}"].format(concurrently=concurrently, schema=schema))
            _LOG.info("vector index dropped", extra={"action": "vector_index", "kind": other})
            done = "dropped"
    if kind == "none":
        while await connection.fetchval(vectors["take_out"], _TAKEN_AT_ONCE):
            pass
        return done
    await _take_in(connection, large_from)
    name = f"memory_vectors_{kind}"
    valid = await connection.fetchval(vectors["index_valid"], schema, name)
    if valid:
        return done
    if valid is False:  # left by a build that was interrupted
        await connection.execute(vectors[f"drop_{kind}"].format(concurrently="CONCURRENTLY", schema=schema))
    rows = await connection.fetchval(vectors["count_indexed"], _COUNT_CAP)
    if kind == "ivfflat" and rows < IVFFLAT_LEAST_ROWS:
        return "waiting for rows"
    await connection.execute(
        vectors[f"create_{kind}"].format(concurrently=concurrently, lists=ivfflat_lists(rows)), timeout=6 * 3600
    )
    _LOG.info("vector index built", extra={"action": "vector_index", "kind": kind, "rows": rows})
    return "built"


async def _take_in(connection: asyncpg.Connection, large_from: int) -> None:
    vectors = load("vectors")
    for scope in await connection.fetch(vectors["left_out"], large_from, min(large_from, _WORTH_IT)):
        while await connection.fetchval(vectors["take_in"], scope["shard"], _TAKEN_AT_ONCE):
            pass
