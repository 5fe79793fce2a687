"""Whether what was stored is found again: the README's five questions and the public conversations."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.environment import Environment, NotMeasurable
from bench.harness.http import call
from bench.harness.process import running
from bench.harness.report import Row, row
from bench.harness.retrieval import Dataset, answer_all, load_dataset, recall_at

__all__ = ["EXPECTED", "MODES", "five_questions", "retrieval", "retrieval_single"]

_FIVE = Path(__file__).resolve().parent.parent / "data" / "five.json"

MODES: Mapping[str, Mapping[str, Any]] = {
    "keyword": {"mode": "keyword"},
    "semantic": {"mode": "semantic", "alpha": 1.0},  # cosine alone, as in the figures to compare with
    "hybrid": {"mode": "hybrid"},
}

# R@10 of plain in-memory runs on the same sets: BM25, cosine of multilingual-e5-small int8, and their RRF.
EXPECTED: Mapping[str, Mapping[str, float]] = {
    "locomo": {"keyword": 60.9, "semantic": 54.3, "hybrid": 61.6},
    "beam-100k": {"keyword": 40.7, "semantic": 57.7, "hybrid": 50.4},
    "realmem": {"keyword": 39.8, "semantic": 38.3, "hybrid": 44.7},
    "memorybank-en": {"keyword": 86.8, "semantic": 92.1, "hybrid": 91.2},
    "memorybank-zh": {"keyword": 85.2, "semantic": 99.4, "hybrid": 94.4},
    "memorybank-q.zh-m.en": {"keyword": 1.9, "semantic": 94.7, "hybrid": 94.7},
    "madial-zh": {"keyword": 58.8, "semantic": 67.4, "hybrid": 67.6},
    "jsquad": {"keyword": 97.0, "semantic": 97.4, "hybrid": 98.1},
}
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
    """All development sets through REST; R@10 of each mode against the in-memory figures less two points."""
    sets = _datasets(env.conversations, env.quick)
    rows = []
    async with running(env.memex("retrieval")) as memex:
        for dataset in sets:
            started = time.perf_counter()
            rankings = await answer_all(memex.port, dataset, MODES, single=single)
            took = f"{sum(map(len, dataset.memories.values()))} memories, {time.perf_counter() - started:.0f} s"
            for mode in MODES:
                reached = recall_at(10, rankings[mode], dataset)
                expected = EXPECTED[dataset.name][mode]
                detail = f"in memory {expected}; {took}"
                name = f"retrieval {dataset.name} {mode}: R@10"
                rows.append(row(name, reached, "%", floor=round(expected - _TOLERANCE, 1), detail=detail))
    return rows


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
