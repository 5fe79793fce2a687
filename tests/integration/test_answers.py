"""Answers that are held: the same while nothing changes, never older than the scope or than their time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from memex.core.memory import Filters, Patch, SearchRequest
from memex.testing import FrozenClock
from memex_server.ports import FloatArray, Role
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from memex_server.testing import HashingEmbedder
from tests.integration.support import found, make_service, memory, store_all


class CountingEmbedder(HashingEmbedder):
    """Counts the calls, so that a test sees whether a search was worked out or taken from what is held."""

    calls = 0

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        self.calls += 1
        return await super().embed(texts, role)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def held(database: Database, clock: FrozenClock, embedder: CountingEmbedder) -> MemoryService:
    return make_service(database, clock, answer_bytes=100_000, embedder=embedder)


ASKED = SearchRequest(user_id="ann", query="お茶 tea 普洱")


async def test_the_same_search_is_answered_from_what_is_held_until_the_scope_changes(
    held: MemoryService, embedder: CountingEmbedder
) -> None:
    await store_all(held, [memory("green tea"), memory("我喜欢普洱茶"), memory("お茶が好きです")])
    first = await held.search(ASKED)
    calls = embedder.calls
    assert await held.search(ASKED) == first
    assert embedder.calls == calls
    stored = await held.store(memory("more tea"))
    assert len((await held.search(ASKED)).hits) == 4
    await held.patch(stored.memory.id, Patch(content="more 普洱 tea"))
    assert "more 普洱 tea" in await found(held, ASKED.query)
    await held.delete(stored.memory.id)
    assert await held.search(ASKED) == first


async def test_another_search_is_not_answered_by_what_is_held(held: MemoryService) -> None:
    await store_all(held, [memory("green tea"), memory("我喜欢普洱茶")])
    await held.store(memory("tea of bob", user_id="bob"))
    assert len((await held.search(ASKED)).hits) == 2
    others = [
        replace(ASKED, user_id="bob"),
        replace(ASKED, top_k=1),
        replace(ASKED, filters=Filters(metadata={"k": 1})),
        replace(ASKED, filters=Filters(tags=("t",))),
    ]
    assert [len((await held.search(other)).hits) for other in others] == [1, 1, 0, 0]
    explained = await held.search(replace(ASKED, explain=True))
    assert all(hit.explanation for hit in explained.hits)


async def test_an_answer_is_held_for_seconds_and_for_less_where_recency_falls_fast(
    held: MemoryService, clock: FrozenClock, embedder: CountingEmbedder
) -> None:
    await store_all(held, [memory("green tea")])
    for half_life_days, life_s in ((None, 10.0), (0.1, 0.124)):
        request = replace(ASKED, half_life_days=half_life_days)
        await held.search(request)
        calls = embedder.calls
        clock.advance(seconds=life_s * 0.9)
        await held.search(request)
        assert embedder.calls == calls
        clock.advance(seconds=life_s * 0.2)
        await held.search(request)
        assert embedder.calls == calls + 1


async def test_what_expires_is_gone_from_the_answer_at_that_moment(held: MemoryService, clock: FrozenClock) -> None:
    await held.store(memory("green tea", expires_at=clock() + timedelta(seconds=5)))
    assert len((await held.search(ASKED)).hits) == 1
    clock.advance(seconds=5)
    assert (await held.search(ASKED)).hits == []


async def test_an_answer_larger_than_the_space_is_given_and_not_held(
    held: MemoryService, embedder: CountingEmbedder
) -> None:
    await held.store(memory("tea " * 15_000))
    for _ in range(2):
        assert len((await held.search(ASKED)).hits) == 1
    assert embedder.calls >= 3
