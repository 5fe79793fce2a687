"""A scope held in memory answers as the database would, and never with what was."""

from __future__ import annotations

import random
from uuid import UUID

import numpy as np
import pytest

from memex.core.memory import Filters, MemoryType, Patch, SearchMode, SearchRequest
from memex.testing import FrozenClock
from memex_server.indexing import embed_query
from memex_server.postgres.pool import Database
from memex_server.postgres.snapshot import SnapshotCache
from memex_server.service import MemoryService
from memex_server.testing import HashingEmbedder
from tests.integration.support import make_service, memory, store_all

HELD = 10_000_000


async def texts(service: MemoryService, query: str, mode: SearchMode | None = None, **filters: object) -> list[str]:
    request = SearchRequest(user_id="ann", query=query, mode=mode, top_k=50, filters=Filters(**filters))  # type: ignore[arg-type]
    return [hit.memory.content for hit in (await service.search(request)).hits]


@pytest.mark.parametrize("mode", list(SearchMode))
async def test_an_empty_scope_is_searched_again_and_again(
    database: Database, clock: FrozenClock, mode: SearchMode
) -> None:
    service = make_service(database, clock, snapshot_bytes=HELD)

    assert [await texts(service, "hello 你好", mode) for _ in range(4)] == [[]] * 4


async def test_a_scope_that_was_emptied_is_searched_again_and_again(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock, snapshot_bytes=HELD)
    await store_all(service, [memory("green tea")])
    assert [await texts(service, "tea") for _ in range(3)] == [["green tea"]] * 3
    await service.delete_scope(user_id="ann")

    assert [await texts(service, "tea") for _ in range(3)] == [[]] * 3


async def test_every_kind_of_change_is_seen_by_the_next_search(database: Database, clock: FrozenClock) -> None:
    reader = make_service(database, clock, snapshot_bytes=HELD)
    writer = make_service(database, clock)  # another process, as it were

    async def seen() -> list[str]:
        return (await texts(reader, "tea 茶"), await texts(reader, "tea 茶"), await texts(reader, "tea 茶"))[2]

    await store_all(writer, [memory("green tea"), memory("普洱茶")])
    assert sorted(await seen()) == ["green tea", "普洱茶"]
    stored = {m.content: m.id for m in (await writer.list(user_id="ann")).memories}
    await writer.patch(stored["green tea"], Patch(content="black tea"))
    assert sorted(await texts(reader, "tea 茶")) == ["black tea", "普洱茶"]
    await seen()
    await writer.delete(stored["普洱茶"])
    assert await texts(reader, "tea 茶") == ["black tea"]
    await seen()
    await writer.restore(stored["普洱茶"])
    assert sorted(await texts(reader, "tea 茶")) == ["black tea", "普洱茶"]
    await seen()
    await writer.delete(stored["普洱茶"], purge=True)
    assert await texts(reader, "tea 茶") == ["black tea"]


async def test_filters_and_scores_are_those_of_the_database(database: Database, clock: FrozenClock) -> None:
    plain, held = make_service(database, clock), make_service(database, clock, snapshot_bytes=HELD)
    long = "Ana: " + " ".join(f"word{n} about gardens." for n in range(900)) + " The key is under the blue pot."
    await store_all(
        plain,
        [
            memory(f"{who}: note {n} 笔记", agent_id=f"agent {n % 2}", session_id="s")
            for n in range(40)
            for who in ("Ana", "Bo")
        ]
        + [memory(long), memory("a fact", memory_type=MemoryType.SEMANTIC)],
    )
    for mode in SearchMode:
        for filters in (Filters(), Filters(agent_id="agent 1"), Filters(memory_type=MemoryType.SEMANTIC)):
            request = SearchRequest(user_id="ann", query="Ana note 7 blue pot", mode=mode, top_k=20, filters=filters)
            expected = (await plain.search(request)).hits
            for _ in range(3):
                hits = (await held.search(request)).hits
                # The processor adds the products of vectors in another order here than there, so what is
                # equally good to six digits may change places; nothing else may.
                assert [hit.memory for hit in hits[:1]] == [hit.memory for hit in expected[:1]]
                assert [hit.highlight for hit in hits[:1]] == [hit.highlight for hit in expected[:1]]
                assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=2e-4)


LONG = " ".join(f"Sentence {n} of a long page about gardens." for n in range(120))
TEXTS = [
    "green tea",
    "普洱茶 很好喝",
    "東京の寿司",
    "Ann: I moved to Lisbon",
    "Bo: where is Ann?",
    "deploys on Friday 部署",
    LONG,
]


async def answers(service: MemoryService, query: str) -> dict[UUID, tuple[float, str | None]]:
    found = await service.search(SearchRequest(user_id="ann", query=query, top_k=50))
    return {hit.memory.id: (hit.score, hit.highlight) for hit in found.hits}


@pytest.mark.parametrize("seed", range(2))
async def test_after_any_series_of_changes_it_answers_as_the_database_does(
    database: Database, clock: FrozenClock, seed: int
) -> None:
    plain, held = make_service(database, clock), make_service(database, clock, snapshot_bytes=HELD)
    rng = random.Random(seed)
    live: list[UUID] = []
    gone: list[UUID] = []
    for step in range(40):
        clock.advance(seconds=1)
        kind = rng.choice(["store", "store", "store", "patch", "delete", "restore", "purge", "batch"])
        if kind == "store" or not live:
            live.append((await plain.store(memory(f"{rng.choice(TEXTS)} {step}", session_id="s"))).memory.id)
        elif kind == "batch":
            items = await plain.store_batch([memory(f"{text} {step}") for text in TEXTS])
            live += [item.stored.memory.id for item in items if item.stored]
        elif kind == "patch":
            await plain.patch(rng.choice(live), Patch(content=f"{rng.choice(TEXTS)} again {step}"))
        elif kind == "restore" and gone:
            live.append(gone.pop())
            await plain.restore(live[-1])
        else:
            memory_id = live.pop(rng.randrange(len(live)))
            await plain.delete(memory_id, purge=kind == "purge")
            if kind != "purge":
                gone.append(memory_id)
        query = rng.choice(["tea 茶", "Ann Lisbon", "sentence 7 gardens", "東京"])
        for _ in range(rng.randrange(3)):  # it is held from the second search on
            await answers(held, query)
        expected, got = await answers(plain, query), await answers(held, query)
        assert got.keys() == expected.keys(), (step, kind)
        for memory_id, (score, highlight) in expected.items():
            assert got[memory_id][0] == pytest.approx(score, abs=2e-4), (step, kind)
            assert got[memory_id][1] == highlight, (step, kind)


async def test_what_has_no_room_is_let_go_and_found_still(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock, snapshot_bytes=1)
    for user in ("ann", "bo"):
        await store_all(service, [memory(f"tea of {user}", user_id=user)])
    for _ in range(4):
        for user in ("ann", "bo"):
            found = await service.search(SearchRequest(user_id=user, query="tea"))
            assert [hit.memory.content for hit in found.hits] == [f"tea of {user}"]


def test_a_cache_of_no_bytes_holds_nothing() -> None:
    cache = SnapshotCache(0)

    assert not cache.worth_it(1, 5)
    assert not cache.worth_it(1, 5)


async def test_a_very_long_query_is_embedded_by_its_ends_and_stays_a_unit_vector() -> None:
    calls: list[int] = []

    class Counting(HashingEmbedder):
        async def embed(self, texts: object, role: object) -> object:  # type: ignore[override]
            calls.append(len(texts))  # type: ignore[arg-type]
            return await super().embed(texts, role)  # type: ignore[arg-type]

    for query in ("short", "漢" * 8192, "words about tea. " * 480):
        vector = await embed_query(Counting(), query)  # type: ignore[arg-type]
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)

    assert calls == [1, 2, 2]
