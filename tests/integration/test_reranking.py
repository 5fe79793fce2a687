"""Searches with a reranker, on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from memex.core.memory import SearchMode, SearchRequest, Weights
from memex.protocol.errors import Unavailable
from memex.testing import FrozenClock
from memex_server.metrics import Metrics
from memex_server.postgres.pool import Database
from memex_server.reranked import Reranking
from memex_server.service import MemoryService
from memex_server.settings import from_env
from memex_server.testing import OverlapReranker
from memex_server.wiring import open_memex
from tests.integration.support import Template, found, make_service, memory, run, store_all, with_database
from tests.reranker_model import write_cross_encoder

TEXTS = [
    "the green tea is in the kitchen",
    "we had coffee in the garden",
    "我喜欢喝普洱茶",
    "我不喝咖啡",
    "お茶が好きです",
    "猫はソファで寝ている",
]


class ShortestFirst(OverlapReranker):
    """Prefers the shorter text, which no signal of the fusion does; may be silent or down."""

    def __init__(self) -> None:
        super().__init__()
        self.state: Literal["up", "silent", "down"] = "up"
        self.seen: list[list[str]] = []

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.seen.append(list(texts))
        if self.state == "silent":
            await asyncio.Event().wait()
        if self.state == "down":
            raise Unavailable("down")
        return [1 / (1 + len(text)) for text in texts]


@pytest.fixture
def reranker() -> ShortestFirst:
    return ShortestFirst()


@pytest.fixture
def plain(database: Database, clock: FrozenClock) -> MemoryService:
    return make_service(database, clock)


@pytest.fixture
def reranked(database: Database, clock: FrozenClock, reranker: ShortestFirst) -> MemoryService:
    reranking = Reranking(reranker, candidates=30, deadline_s=0.2, observer=Metrics())
    return make_service(database, clock, answer_bytes=100_000, reranking=reranking)


@pytest.mark.parametrize("query", ["Where is the tea?", "喜欢喝什么茶？", "お茶は好きですか"])
async def test_hits_come_in_the_order_of_the_reranker_with_its_scores(
    plain: MemoryService, reranked: MemoryService, query: str
) -> None:
    await store_all(reranked, [memory(text) for text in TEXTS])
    everything = await found(plain, query)
    assert sorted(everything) == sorted(TEXTS)
    shortest = sorted(everything, key=len)  # equally long ones as they were
    assert await found(reranked, query) == shortest
    two = await reranked.search(SearchRequest(user_id="ann", query=query, top_k=2, explain=True))
    assert [hit.memory.content for hit in two.hits] == shortest[:2]
    for hit in two.hits:
        assert hit.score == pytest.approx(1 / (1 + len(hit.memory.content)))
        told = _told(hit.explanation)
        assert told["outcome"] == "scored"
        assert told["score"] == hit.score
        assert everything[told["fused_rank"] - 1] == hit.memory.content
        assert hit.explanation is not None
        shares = sum(part["share"] for part in hit.explanation["components"].values())
        assert told["fused_score"] == pytest.approx(shares)


async def test_of_a_long_memory_the_best_passage_is_judged(reranked: MemoryService, reranker: ShortestFirst) -> None:
    filler = "今日の会議では重要でないことがたくさん話されました。" * 80
    await reranked.store(memory(f"{filler}\n金庫の暗証番号は四七一一です。"))
    result = await reranked.search(SearchRequest(user_id="ann", query="金庫の暗証番号は？"))
    assert reranker.seen == [[result.hits[0].highlight]]
    assert "四七一一" in reranker.seen[0][0]
    assert len(reranker.seen[0][0]) < len(filler)


@pytest.mark.parametrize(("state", "outcome"), [("silent", "late"), ("down", "failed")])
async def test_without_its_answer_the_fused_order_stands_and_is_not_held(
    plain: MemoryService,
    reranked: MemoryService,
    reranker: ShortestFirst,
    state: Literal["silent", "down"],
    outcome: str,
) -> None:
    await store_all(reranked, [memory(text) for text in TEXTS])
    request = SearchRequest(user_id="ann", query="喝茶 tea お茶", top_k=3)
    expected = await plain.search(request)
    reranker.state = state
    async with asyncio.timeout(20):
        assert (await reranked.health())["status"] == "ok"
        assert await reranked.search(request) == expected
        health = await reranked.health()
        assert (health["status"], health["reranker"]) == ("degraded", {"status": "degraded"})
        explained = await reranked.search(replace(request, explain=True))
    assert {_told(hit.explanation)["outcome"] for hit in explained.hits} == {outcome}
    reranker.state = "up"
    first = await reranked.search(request)
    assert [hit.memory.content for hit in first.hits] == sorted((await found(plain, request.query)), key=len)[:3]
    health = await reranked.health()
    assert (health["status"], health["reranker"], "llm" in health) == ("ok", {"status": "ok"}, False)
    asked = len(reranker.seen)
    reranker.state = state
    assert await reranked.search(request) == first  # that one was scored, so it is held
    assert len(reranker.seen) == asked


async def test_a_search_with_a_formula_of_its_own_or_without_hits_asks_no_reranker(
    plain: MemoryService, reranked: MemoryService, reranker: ShortestFirst
) -> None:
    base = SearchRequest(user_id="ann", query="tea お茶")
    assert (await reranked.search(base)).hits == []
    await store_all(reranked, [memory(text) for text in TEXTS])
    for request in (
        replace(base, alpha=0.7),
        replace(base, weights=Weights(similarity=1, recency=1)),
        replace(base, mode=SearchMode.SEMANTIC),
        replace(base, mode=SearchMode.KEYWORD),
    ):
        assert await reranked.search(request) == await plain.search(request)
    assert reranker.seen == []


async def test_a_cross_encoder_in_a_folder_is_used_by_setting(
    template: Template, model_folder: Path, tmp_path: Path
) -> None:
    name = "memex_test_reranker"
    await run(template.dsn, f"CREATE DATABASE {name}")
    env = {
        "MEMEX_RERANKER_DIR": str(write_cross_encoder(tmp_path, [*TEXTS, "where"])),
        "MEMEX_RERANKER_DEADLINE_S": "20",
        "MEMEX_DATA_DIR": str(model_folder.parents[1]),
        "DATABASE_URL": with_database(template.dsn, name),
        "DB_MIN_POOL_SIZE": "1",
    }
    try:
        async with open_memex(from_env(env)) as service:
            await store_all(service, [memory(text) for text in TEXTS])
            result = await service.search(SearchRequest(user_id="ann", query="お茶が好き", explain=True))
        assert result.hits[0].memory.content == "お茶が好きです"
        assert result.hits[0].score == pytest.approx(0.982014, abs=1e-5)  # all its words: logit 4
        assert _told(result.hits[0].explanation)["outcome"] == "scored"
    finally:
        await run(template.dsn, f"DROP DATABASE {name} WITH (FORCE)")


def _told(explanation: Mapping[str, Any] | None) -> dict[str, Any]:
    assert explanation is not None
    told: dict[str, Any] = explanation["reranker"]
    return told
