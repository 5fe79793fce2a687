"""`memex reembed`: moves the database to the embedding model that is set now."""

from __future__ import annotations

import asyncio
import sys
from functools import partial

from .indexing import index_texts
from .metrics import Metrics
from .postgres.reembed import reembed as move
from .prepare import open_embedder, prepare
from .settings import Settings
from .wiring import open_server

__all__ = ["reembed"]


def reembed(settings: Settings) -> int:
    """Embed all memories again; return how many. Raises SetupError, Unavailable."""
    prepare(settings)
    return asyncio.run(_reembed(settings))


async def _reembed(settings: Settings) -> int:
    embedder = open_embedder(settings, Metrics())
    try:
        await embedder.load()
        async with open_server(settings) as dsn:
            index = partial(index_texts, embedder)
            return await move(
                dsn,
                embedder.card,
                index,
                _progress,
                vector_index=settings.database.vector_index,
                large_from=settings.database.exact_scope_limit,
            )
    finally:
        await embedder.close()


def _progress(done: int, total: int) -> None:
    end = "\r" if sys.stderr.isatty() else "\n"
    sys.stderr.write(f"memex: embedded {done:,} of {total:,} memories{end}")
    sys.stderr.flush()
