"""The order of a reranker, and what holds when it does not answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest

from memex.core.memory import Hit, Memory, MemoryType, SearchMode, SearchRequest, Weights
from memex.protocol.errors import Unavailable
from memex_server.metrics import Metrics
from memex_server.ports import Reranker, RerankOutcome
from memex_server.reranked import Reranking, reordered, reranks

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Scripted:
    """Gives each text its score; None: never answers; an error: raises it."""

    def __init__(self, *script: dict[str, float] | Exception | None) -> None:
        self._script = list(script)
        self.seen: list[tuple[str, list[str]]] = []
        self.cancelled = 0

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.seen.append((query, list(texts)))
        step = self._script.pop(0)
        if isinstance(step, Exception):
            raise step
        if step is None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            raise AssertionError("the wait has no end")
        return [step[text] for text in texts]

    async def close(self) -> None:
        """Nothing to release."""


def hit(content: str, score: float, *, highlight: str | None = None, explained: bool = True) -> Hit:
    memory = Memory(
        id=UUID(int=0),
        agent_id="a",
        user_id="u",
        content=content,
        importance=1,
        memory_type=MemoryType.EPISODIC,
        tags=(),
        metadata={},
        source=None,
        session_id=None,
        occurred_at=NOW,
        created_at=NOW,
        updated_at=NOW,
        expires_at=None,
        pinned=False,
        occurrences=1,
        valid_from=None,
        valid_to=None,
        superseded_by=None,
        condensed_into=None,
        deleted_at=None,
    )
    return Hit(memory, score, highlight, {"mode": "hybrid"} if explained else None)


HITS = [hit("green tea", 0.6), hit("我喜欢普洱茶", 0.55), hit("お茶が好きです", 0.5)]
SCORES = {"green tea": 0.2, "我喜欢普洱茶": 0.9, "お茶が好きです": 0.4}


def reranking(reranker: Reranker, metrics: Metrics | None = None, *, deadline_s: float = 20.0) -> Reranking:
    return Reranking(reranker, candidates=3, deadline_s=deadline_s, observer=metrics or Metrics())


def contents(hits: Sequence[Hit]) -> list[str]:
    return [one.memory.content for one in hits]


def test_hits_take_the_order_and_the_scores_of_the_reranker() -> None:
    assert [(one.memory.content, one.score) for one in reordered(HITS, list(SCORES.values()), "scored")] == [
        ("我喜欢普洱茶", 0.9),
        ("お茶が好きです", 0.4),
        ("green tea", 0.2),
    ]


def test_equal_scores_keep_the_order_before() -> None:
    assert contents(reordered(HITS, [0.5, 0.7, 0.5], "scored")) == ["我喜欢普洱茶", "green tea", "お茶が好きです"]
    assert contents(reordered(HITS, [0.5, 0.5, 0.5], "scored")) == contents(HITS)


@pytest.mark.parametrize("outcome", ["late", "failed"])
def test_without_scores_all_stays_as_it_is_and_the_explanation_says_so(outcome: RerankOutcome) -> None:
    kept = reordered(HITS, None, outcome)
    assert [(one.memory.content, one.score) for one in kept] == [(one.memory.content, one.score) for one in HITS]
    assert kept[1].explanation == {
        "mode": "hybrid",
        "reranker": {"outcome": outcome, "score": None, "fused_score": 0.55, "fused_rank": 2},
    }


def test_an_explanation_tells_both_scores_and_is_not_made_unasked() -> None:
    best, *_ = reordered(HITS, list(SCORES.values()), "scored")
    assert best.explanation == {
        "mode": "hybrid",
        "reranker": {"outcome": "scored", "score": 0.9, "fused_score": 0.55, "fused_rank": 2},
    }
    assert reordered([hit("tea", 0.5, explained=False)], [0.1], "scored")[0].explanation is None


async def test_the_best_passage_is_judged_where_there_is_one() -> None:
    reranker = Scripted({"the passage": 0.9, "green tea": 0.1})
    await reranking(reranker).apply("tea?", [hit("a long text", 0.6, highlight="the passage"), HITS[0]], 2)
    assert reranker.seen == [("tea?", ["the passage", "green tea"])]


async def test_the_best_are_cut_after_reranking() -> None:
    best, settled = await reranking(Scripted(SCORES)).apply("茶", HITS, 1)
    assert contents(best) == ["我喜欢普洱茶"]
    assert settled
    assert reranking(Scripted()).depth(1) == 3
    assert reranking(Scripted()).depth(50) == 50


async def test_after_the_deadline_the_order_stands_and_the_work_is_cancelled() -> None:
    metrics, reranker = Metrics(), Scripted(None)
    async with asyncio.timeout(20):
        kept, settled = await reranking(reranker, metrics, deadline_s=0.01).apply("茶", HITS, 2)
    assert contents(kept) == contents(HITS)[:2]
    assert not settled
    assert reranker.cancelled == 1
    assert 'memex_rerankings_total{outcome="late"} 1.0' in metrics.render()[0].decode()


async def test_an_outage_keeps_the_order_and_is_told_once_until_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    metrics, down = Metrics(), Unavailable("the endpoint is down")
    made = reranking(Scripted(down, down, None, SCORES, SCORES, down), metrics, deadline_s=0.01)
    settled = []
    for _ in range(6):
        hits, whether = await made.apply("茶", HITS, 3)
        assert sorted(contents(hits)) == sorted(contents(HITS))
        settled.append(whether)
    assert settled == [False, False, False, True, True, False]
    actions = [record.__dict__["action"] for record in caplog.records]
    assert actions == ["reranker_down", "reranker_up", "reranker_down"]
    assert caplog.records[0].__dict__["reason"] == "the endpoint is down"
    shown = metrics.render()[0].decode()
    for outcome, count in (("scored", 2), ("late", 1), ("failed", 3)):
        assert f'memex_rerankings_total{{outcome="{outcome}"}} {count}.0' in shown


@pytest.mark.parametrize(
    ("request_", "mode", "whether"),
    [
        (SearchRequest(user_id="u", query="茶"), SearchMode.HYBRID, True),
        (SearchRequest(user_id="u", query="茶", half_life_days=3), SearchMode.HYBRID, True),
        (SearchRequest(user_id="u", query="茶"), SearchMode.SEMANTIC, False),
        (SearchRequest(user_id="u", query="茶"), SearchMode.KEYWORD, False),
        (SearchRequest(user_id="u", query="茶", alpha=0.7), SearchMode.HYBRID, False),
        (SearchRequest(user_id="u", query="茶", weights=Weights(similarity=1)), SearchMode.HYBRID, False),
    ],
)
def test_only_hybrid_searches_without_a_formula_of_their_own_are_reranked(
    request_: SearchRequest, mode: SearchMode, whether: bool
) -> None:
    assert reranks(request_, mode) is whether
