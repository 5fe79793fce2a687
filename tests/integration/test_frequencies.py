"""What searches of a large scope go by is counted beside them, and again when the scope has changed."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from memex.core.identity import shard_key
from memex.core.memory import SearchRequest
from memex.core.text import term_hash
from memex.testing import FrozenClock
from memex_server.ids import IdSource
from memex_server.ports import IndexEntry, PreparedMemory
from memex_server.postgres import search
from memex_server.postgres.frequencies import TermCounts
from memex_server.postgres.pool import Database
from memex_server.postgres.repo import PostgresRepo
from memex_server.postgres.search import Searcher
from memex_server.testing import HashingEmbedder
from tests.integration.support import make_service, memory, store_all

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
COMMON, RARE = term_hash("部署"), term_hash("寿司")
NO_DATABASE = None  # nothing may be asked of it


async def fill(database: Database, first: int, count: int) -> None:
    ids, dim = IdSource(), HashingEmbedder().card.dim
    vector = np.ones((1, dim), np.float32) / np.sqrt(dim)
    await PostgresRepo(database, exact_scope_limit=10_000).store(
        [
            PreparedMemory(ids(NOW), memory(f"row {n}"), IndexEntry([(0, 5)], vector, [(COMMON, 0, 1)], 1, 0))
            for n in range(first, first + count)
        ],
        now=NOW,
    )


@pytest.fixture
def shard(database: Database) -> int:
    return shard_key(database.tenant_id, "ann")


async def test_what_was_counted_beside_is_not_counted_by_a_search(database: Database, shard: int) -> None:
    await fill(database, 0, 250)
    counts = TermCounts(database)
    async with database.connection() as connection:
        assert await counts.of(connection, shard, [COMMON, RARE], 250) == {COMMON: 250, RARE: 0}

    await counts.count_due()

    assert await counts.of(NO_DATABASE, shard, [COMMON], 250) == {COMMON: 250}


async def test_a_scope_that_has_changed_is_counted_again(database: Database, shard: int) -> None:
    await fill(database, 0, 250)
    counts = TermCounts(database)
    async with database.connection() as connection:
        await counts.of(connection, shard, [COMMON], 250)
    await counts.count_due()
    await fill(database, 250, 50)

    await counts.of(NO_DATABASE, shard, [COMMON], 250)  # nobody knows yet that it has changed
    await counts.count_due()
    assert await counts.of(NO_DATABASE, shard, [COMMON], 250) == {COMMON: 250}

    await counts.of(NO_DATABASE, shard, [COMMON], 300)
    await counts.count_due()
    assert await counts.of(NO_DATABASE, shard, [COMMON], 300) == {COMMON: 300}


async def test_more_scopes_than_are_remembered_are_counted_still(database: Database) -> None:
    counts = TermCounts(database)
    async with database.connection() as connection:
        for shard in range(120):
            assert await counts.of(connection, shard, [RARE], 20_000) == {RARE: 0}

    await counts.count_due()

    async with database.connection() as connection:
        assert await counts.of(connection, 0, [RARE], 20_000) == {RARE: 0}


async def test_the_same_is_found_before_and_after_counting(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock, exact_scope_limit=-1)
    await store_all(service, [memory(text) for text in ("部署 on Friday", "寿司 in 東京", "green tea")])
    request = SearchRequest(user_id="ann", query="部署 東京 tea")
    before = await service.search(request)
    await service._repo.recount()  # type: ignore[attr-defined]

    assert [(hit.memory.id, hit.score) for hit in (await service.search(request)).hits] == [
        (hit.memory.id, hit.score) for hit in before.hits
    ]


async def test_the_size_of_a_large_scope_is_counted_again_beside_its_searches(
    database: Database, clock: FrozenClock, shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_LARGE_LIFE_S", -1.0)
    searcher = Searcher(database, exact_scope_limit=10, snapshot_bytes=0)
    await fill(database, 0, 30)
    assert await searcher._size(shard) == 30
    await fill(database, 30, 10)

    assert await searcher._size(shard) == 30
    await searcher.recount()
    assert await searcher._size(shard) == 40
