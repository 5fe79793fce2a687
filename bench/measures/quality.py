"""Whether what was stored is found again: the README's five questions and the public conversations."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.environment import Environment, NotMeasurable
from bench.harness.http import call
from bench.harness.process import running
from bench.harness.report import Row, row
from bench.harness.retrieval import Dataset, answer_all, load_dataset, mean_reciprocal_rank, recall_at

__all__ = ["EXPECTED", "GOALS", "MODES", "five_questions", "retrieval", "retrieval_single"]

_FIVE = Path(__file__).resolve().parent.parent / "data" / "five.json"

MODES: Mapping[str, Mapping[str, Any]] = {
    "keyword": {"mode": "keyword"},
    "semantic": {"mode": "semantic", "alpha": 1.0},  # cosine alone, as in the figures to compare with
    "hybrid": {},
    "hybrid without recency": {"weights": {"similarity": 1}},
}

# R@10 of plain in-memory runs on the same sets: BM25, and cosine of multilingual-e5-small int8.
EXPECTED: Mapping[str, Mapping[str, float]] = {
    "locomo": {"keyword": 60.9, "semantic": 54.3},
    "beam-100k": {"keyword": 40.7, "semantic": 57.7},
    "realmem": {"keyword": 39.8, "semantic": 38.3},
    "memorybank-en": {"keyword": 86.8, "semantic": 92.1},
    "memorybank-zh": {"keyword": 85.2, "semantic": 99.4},
    "memorybank-q.zh-m.en": {"keyword": 1.9, "semantic": 94.7},
    "madial-zh": {"keyword": 58.8, "semantic": 67.4},
    "jsquad": {"keyword": 97.0, "semantic": 97.4},
}
# What the default ranking is to reach, R@10.
GOALS: Mapping[str, float] = {
    "locomo": 80, "beam-100k": 60, "realmem": 48, "memorybank-en": 95, "memorybank-zh": 95,
    "memorybank-q.zh-m.en": 93, "madial-zh": 68, "jsquad": 98,
}  # fmt: skip
_TOLERANCE = 2.0


async def five_questions(env: Environment) -> list[Row]:
    """Each of the README's five questions must bring its own memory first."""
    five = json.loads(_FIVE.read_text(encoding="utf-8"))
    scope = {"agent_id": five["agent_id"], "user_id": five["user_id"]}
    firsts = []
    async with running(env.memex("five")) as memex:
        ids = {}
        for memory in five["memories"]:
            body = {**scope, "content": memory["content"], "memory_type": memory["memory_type"]}
            answer = await call(memex.port, "POST", "/v1/memories", body)
            if answer.status not in {200, 201}:
                raise RuntimeError(f"store: HTTP {answer.status} {answer.body[:300]!r}")
            ids[answer.json()["id"]] = memory["key"]
        for question in five["questions"]:
            body = {**scope, "query": question["query"], "top_k": 5}
            answer = await call(memex.port, "POST", "/v1/memories/search", body)
            results = answer.json()["results"] if answer.status == 200 else []
            firsts.append((question, ids[results[0]["id"]] if results else f"HTTP {answer.status}"))
    wrong = [f"{q['query']!r}: {first} instead of {q['answer']}" for q, first in firsts if first != q["answer"]]
    right = len(firsts) - len(wrong)
    floor, detail = len(firsts), "; ".join(wrong)
    return [row("five_questions: answered first", right, f"of {len(firsts)}", floor=floor, detail=detail)]


async def retrieval(env: Environment, *, single: bool = False) -> list[Row]:
    """All development sets through REST: single modes against the in-memory figures, the default against its goals."""
    sets = _datasets(env.conversations, env.quick)
    rows = []
    regrets = {}
    async with running(env.memex("retrieval")) as memex:
        for dataset in sets:
            started = time.perf_counter()
            rankings = await answer_all(memex.port, dataset, MODES, single=single)
            took = f"{sum(map(len, dataset.memories.values()))} memories, {time.perf_counter() - started:.0f} s"
            reached = {mode: recall_at(10, rankings[mode], dataset) for mode in MODES}
            for mode, expected in EXPECTED[dataset.name].items():
                floor = round(expected - _TOLERANCE, 1)
                detail = f"in memory {expected}; {took}"
                rows.append(
                    row(f"retrieval {dataset.name} {mode}: R@10", reached[mode], "%", floor=floor, detail=detail)
                )
            goal = GOALS[dataset.name]
            rows.append(row(f"retrieval {dataset.name} hybrid: R@10", reached["hybrid"], "%", floor=goal, detail=took))
            regrets[dataset.name] = reached["hybrid"] - max(reached["keyword"], reached["semantic"])
            rows += _of_set(dataset, rankings, reached)
    worst = min(regrets, key=regrets.__getitem__)
    label = "retrieval: no regret, the worst set against its best single signal"
    return [*rows, row(label, regrets[worst], "points", floor=-0.5, detail=worst)]


def _of_set(
    dataset: Dataset, rankings: Mapping[str, Mapping[str, Sequence[str]]], reached: Mapping[str, float]
) -> list[Row]:
    gained = reached["hybrid"] - reached["hybrid without recency"]
    if dataset.name == "realmem":
        return [row("retrieval realmem: gained by recency", gained, "points", floor=2)]
    if dataset.name != "locomo":
        return []
    found = rankings["hybrid"]
    multi_hop = recall_at(10, found, dataset, category="multi-hop")
    return [
        row("retrieval locomo: lost by recency", -gained, "points", floor=0.5, sense="at most"),
        row("retrieval locomo hybrid: R@5", recall_at(5, found, dataset), "%", floor=70),
        row("retrieval locomo hybrid: MRR", mean_reciprocal_rank(found, dataset), "", floor=0.62),
        row("retrieval locomo hybrid: R@10 of multi-hop", multi_hop, "%", floor=55),
    ]


async def retrieval_single(env: Environment) -> list[Row]:
    """The same with one request per memory, as an agent writes."""
    rows = await retrieval(env, single=True)
    return [dataclasses.replace(r, name=r.name.replace("retrieval", "retrieval_single", 1)) for r in rows]


def _datasets(folder: Path, quick: bool) -> list[Dataset]:
    # Smallest first: a fault shows early.
    names = ["madial-zh", "memorybank-en", "memorybank-zh", "memorybank-q.zh-m.en"]
    if not quick:
        names += ["jsquad", "realmem", "locomo", "beam-100k"]
    missing = [name for name in names if not (folder / name / "dev" / "queries.jsonl").exists()]
    if missing:
        raise NotMeasurable(f"no data for {', '.join(missing)} in {folder}")
    return [load_dataset(folder / name / "dev", name) for name in names]
