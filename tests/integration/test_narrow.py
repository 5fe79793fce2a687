"""Filters that leave few memories of a large scope: each of them is looked at, as in a small scope."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memex.core.memory import Filters, MemoryType, SearchMode, SearchRequest
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.postgres.queries import load, with_filters
from tests.integration.support import make_service, memory, store_all

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
# Of some words and of hundreds (which are not read in the same way), and of none.
TEXTS = [
    "Ana moved the 部署 to Friday",
    "下周五的部署由小王负责，备份任务改到夜里。",
    "金曜日のデプロイは田中さんの担当です。",
    "!!!",
    "The minutes of the meeting. " + "Somebody talked about the budget, the deploy and the backup of item {n}. " * 30,
    "会议记录。" + "大家讨论了第{n}项的预算、部署和备份任务。" * 40,
    "議事録。" + "予算とデプロイとバックアップの第{n}項について話しました。" * 30,
]
QUESTIONS = ["who moved the deploy to Friday?", "谁负责部署和备份", "デプロイの担当は誰ですか", "budget 预算 予算"]
FILTERS: list[dict[str, Any]] = [
    {"agent_id": "other"},
    {"memory_type": MemoryType.SEMANTIC},
    {"tags": ("work",)},
    {"metadata": {"n": {"$lt": 7}}},
    {"time_from": NOW - timedelta(days=9)},
    {"time_to": NOW - timedelta(days=90)},
    {"time_from": NOW - timedelta(days=9), "agent_id": "other", "tags": ("work",)},
]


@pytest.mark.parametrize("mode", list(SearchMode))
async def test_the_same_is_found_as_by_exact_search(database: Database, clock: FrozenClock, mode: SearchMode) -> None:
    exact = make_service(database, clock)
    narrow = make_service(database, clock, exact_scope_limit=20)
    few = {"tags": ("work",), "agent_id": "other", "memory_type": MemoryType.SEMANTIC}
    for n in range(49):
        fields = {**(few if n < 14 else {}), "metadata": {"n": n}}
        age = timedelta(days=n % 7 if n < 14 else 100 if n < 28 else 50)
        text = f"{n}: {TEXTS[n % 7]}".replace("{n}", str(n)) if n % 7 != 3 else "!" * (n + 1)
        await store_all(exact, [memory(text, occurred_at=NOW - age, **fields)])
    for filters in FILTERS:
        for question in QUESTIONS:
            request = SearchRequest(user_id="ann", query=question, mode=mode, top_k=14, filters=Filters(**filters))
            expected, got = [
                {hit.memory.id: hit.score for hit in (await service.search(request)).hits}
                for service in (exact, narrow)
            ]
            assert got == pytest.approx(expected, abs=1e-9), (filters, question)
            assert expected or mode is SearchMode.KEYWORD
    everything = SearchRequest(user_id="ann", query=QUESTIONS[3], mode=mode, top_k=14)
    assert (await narrow.search(everything)).hits


def test_filters_that_are_given_become_conditions_of_their_own() -> None:
    statement = load("search")["matching_ids"]
    arguments: list[Any] = [0, "default", "ann", *[None] * 11]
    assert with_filters(statement, arguments) == statement
    arguments[3], arguments[9] = "agent", NOW
    given = with_filters(statement, arguments)
    assert "\nAND m.agent_id = $4\n" in given
    assert "\nAND m.occurred_at >= $10\n" in given
    assert "($5::text IS NULL OR m.memory_type = $5)" in given
