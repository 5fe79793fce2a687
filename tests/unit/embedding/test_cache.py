from __future__ import annotations

import asyncio
import dataclasses

import numpy as np
import pytest

from memex.protocol.errors import InvalidInput, Unavailable
from memex_server.embedding.cache import CachingEmbedder, MemoryVectorCache, TieredVectorCache, vector_key
from memex_server.embedding.callbacks import Callbacks
from memex_server.testing import HashingEmbedder

from .support import BOUND_S, SteeredEmbedder


@pytest.fixture
async def inner() -> SteeredEmbedder:
    return SteeredEmbedder()


async def test_a_known_text_is_not_computed_again_and_its_vector_is_the_same_to_the_bit(inner: SteeredEmbedder) -> None:
    embedder = CachingEmbedder(inner, MemoryVectorCache(10))
    texts = ["tea", "普洱茶", "緑茶"]
    first = await embedder.embed(texts, "passage")
    second = await embedder.embed(texts[::-1], "passage")
    assert len(inner.runs) == 1
    np.testing.assert_array_equal(first, second[::-1])
    np.testing.assert_array_equal(first, await HashingEmbedder(8).embed(texts, "passage"))


async def test_fifty_callers_of_one_text_compute_it_once(inner: SteeredEmbedder) -> None:
    embedder = CachingEmbedder(inner, MemoryVectorCache(10))
    inner.gate.clear()
    calls = [asyncio.create_task(embedder.embed(["same 文", f"own {n % 5}"], "query")) for n in range(50)]
    await asyncio.wait_for(inner.started.wait(), BOUND_S)
    inner.gate.set()
    answers = await asyncio.wait_for(asyncio.gather(*calls), BOUND_S)
    assert sorted(text for run in inner.runs for text in run) == [
        "own 0",
        "own 1",
        "own 2",
        "own 3",
        "own 4",
        "same 文",
    ]
    assert len({answer[0].tobytes() for answer in answers}) == 1


async def test_a_caller_that_goes_away_does_not_stop_it_for_others(inner: SteeredEmbedder) -> None:
    embedder = CachingEmbedder(inner, MemoryVectorCache(10))
    inner.gate.clear()
    leader = asyncio.create_task(embedder.embed(["same"], "query"))
    await asyncio.wait_for(inner.started.wait(), BOUND_S)
    follower = asyncio.create_task(embedder.embed(["same"], "query"))
    await asyncio.sleep(0)
    leader.cancel()
    inner.gate.set()
    assert (await asyncio.wait_for(follower, BOUND_S)).shape == (1, 8)
    assert len(inner.runs) == 1


async def test_a_text_that_rode_in_a_failing_batch_is_tried_again_by_its_own_caller(inner: SteeredEmbedder) -> None:
    embedder = CachingEmbedder(inner, MemoryVectorCache(10))
    inner.gate.clear()
    leader = asyncio.create_task(embedder.embed(["good", "bad"], "query"))
    await asyncio.wait_for(inner.started.wait(), BOUND_S)
    follower = asyncio.create_task(embedder.embed(["good"], "query"))
    await asyncio.sleep(0)
    inner.gate.set()
    with pytest.raises(InvalidInput):
        await asyncio.wait_for(leader, BOUND_S)
    assert (await asyncio.wait_for(follower, BOUND_S)).shape == (1, 8)


async def test_a_failure_is_not_remembered() -> None:
    inner = SteeredEmbedder(error=Unavailable("down"))
    embedder = CachingEmbedder(inner, MemoryVectorCache(10))
    with pytest.raises(Unavailable):
        await embedder.embed(["bad"], "query")
    with pytest.raises(Unavailable):
        await embedder.embed(["bad"], "query")
    assert len(inner.runs) == 2


async def test_look_ups_are_reported_with_repeats_as_hits(inner: SteeredEmbedder) -> None:
    seen: list[tuple[int, int]] = []
    embedder = CachingEmbedder(
        inner, MemoryVectorCache(10), callbacks=Callbacks(on_lookup=lambda *row: seen.append(row))
    )
    await embedder.embed(["a", "b", "a"], "query")
    await embedder.embed(["a", "c"], "query")
    assert (sum(hits for hits, _ in seen), sum(misses for _, misses in seen)) == (2, 3)


async def test_a_value_of_the_wrong_size_is_a_miss(inner: SteeredEmbedder) -> None:
    cache = MemoryVectorCache(10)
    await cache.set_many([(vector_key(inner.card, "query", "a"), b"short")])
    assert (await CachingEmbedder(inner, cache).embed(["a"], "query")).shape == (1, 8)
    assert len(inner.runs) == 1


async def test_a_closed_embedder_lets_nobody_wait(inner: SteeredEmbedder) -> None:
    embedder = CachingEmbedder(inner, MemoryVectorCache(10))
    inner.gate.clear()
    waiting = asyncio.create_task(embedder.embed(["a"], "query"))
    await asyncio.wait_for(inner.started.wait(), BOUND_S)
    await asyncio.wait_for(embedder.close(), BOUND_S)
    with pytest.raises(Unavailable):
        await asyncio.wait_for(waiting, BOUND_S)


def test_keys_differ_by_model_dimension_role_and_text() -> None:
    card = HashingEmbedder().card
    keys = {
        vector_key(card, "query", "a"),
        vector_key(card, "passage", "a"),
        vector_key(card, "query", "b"),
        vector_key(dataclasses.replace(card, id="other"), "query", "a"),
        vector_key(dataclasses.replace(card, dim=8), "query", "a"),
        vector_key(card, "query", "文"),
        vector_key(card, "query", "\ud83d"),
    }
    assert len(keys) == 7


async def test_the_longest_unused_makes_room() -> None:
    cache = MemoryVectorCache(2)
    await cache.set_many([(b"a", b"1"), (b"b", b"2")])
    await cache.get_many([b"a"])
    await cache.set_many([(b"c", b"3")])
    assert await cache.get_many([b"a", b"b", b"c"]) == [b"1", None, b"3"]
    assert len(cache) == 2


async def test_what_only_the_far_tier_has_is_copied_to_the_near_one() -> None:
    near, far = MemoryVectorCache(10), MemoryVectorCache(10)
    tiers = TieredVectorCache([near, far])
    await near.set_many([(b"a", b"1")])
    await far.set_many([(b"b", b"2")])
    assert await tiers.get_many([b"a", b"b", b"c"]) == [b"1", b"2", None]
    assert await near.get_many([b"b"]) == [b"2"]
    await tiers.set_many([(b"c", b"3")])
    assert await far.get_many([b"c"]) == [b"3"]
