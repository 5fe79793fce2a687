"""Public conversations through REST: memories in, questions asked, evidence counted.

A folder holds memories.jsonl, queries.jsonl and qrels.jsonl. One group is one user. A query with `max_seq`
is asked when only the memories up to it exist, as in real use.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.harness.http import Connection, encode

__all__ = ["Dataset", "Step", "answer_all", "batch_ids", "load_dataset", "mean_reciprocal_rank", "recall_at", "steps"]

# LoCoMo's fifth category asks for what was never said; the published figures leave it out.
_LOCOMO_CATEGORIES = frozenset({"multi-hop", "temporal", "open-domain", "single-hop"})
_TOP_K = 50


@dataclass(frozen=True, slots=True)
class Dataset:
    """One set: memories by group in order, queries by group, evidence by query."""

    name: str
    memories: Mapping[str, Sequence[Mapping[str, Any]]]
    queries: Mapping[str, Sequence[Mapping[str, Any]]]
    evidence: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Step:
    """Memories to store (together), and then the queries to ask before the next step."""

    memories: Sequence[Mapping[str, Any]]
    queries: Sequence[Mapping[str, Any]]


def load_dataset(folder: Path, name: str) -> Dataset:
    """Read a set; queries without evidence (and categories that the published figures leave out) are not asked."""
    memories: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for memory in _lines(folder / "memories.jsonl"):
        memories[memory["group"]].append(memory)
    for group in memories.values():
        group.sort(key=lambda m: m["seq"])
    evidence: dict[str, set[str]] = defaultdict(set)
    for qrel in _lines(folder / "qrels.jsonl"):
        if qrel["rel"] > 0:
            evidence[qrel["query_id"]].add(qrel["memory_id"])
    queries: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for query in _lines(folder / "queries.jsonl"):
        left_out = name == "locomo" and query["category"] not in _LOCOMO_CATEGORIES
        if query["id"] in evidence and not left_out:
            queries[query["group"]].append(query)
    return Dataset(name, memories, queries, {q: frozenset(ids) for q, ids in evidence.items()})


def steps(
    memories: Sequence[Mapping[str, Any]], queries: Sequence[Mapping[str, Any]], batch_size: int
) -> Iterator[Step]:
    """Cut one group into steps: a step ends at a full batch or where a query must be asked."""
    early: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    late = []
    for query in queries:
        if "max_seq" in query:
            early[query["max_seq"]].append(query)
        else:
            late.append(query)
    waiting: list[Mapping[str, Any]] = []
    for memory in memories:
        waiting.append(memory)
        due = early.pop(memory["seq"], [])
        if due or len(waiting) >= batch_size:
            yield Step(waiting, due)
            waiting = []
    rest = [query for group in early.values() for query in group] + late
    if waiting or rest:
        yield Step(waiting, rest)


async def answer_all(
    port: int, dataset: Dataset, modes: Mapping[str, Mapping[str, Any]], *, batch_size: int = 100, single: bool = False
) -> dict[str, dict[str, list[str]]]:
    """Store the whole set and ask every query in every mode; return mode -> query id -> ranking of memory ids.

    `modes` names extra fields of the search body. With `single` each memory is its own request.

    Raises:
        RuntimeError: an answer was not 2xx, or an item of a batch was refused.
    """
    connection = Connection(port)
    rankings: dict[str, dict[str, list[str]]] = {mode: {} for mode in modes}
    try:
        for group, memories in dataset.memories.items():
            user = f"{dataset.name}:{group}"
            by_id: dict[str, str] = {}
            for step in steps(memories, dataset.queries.get(group, ()), 1 if single else batch_size):
                await _store(connection, user, step.memories, by_id, single)
                for query in step.queries:
                    for mode, extra in modes.items():
                        body = {"user_id": user, "query": query["text"], "top_k": _TOP_K, "now": query["now"], **extra}
                        answer = await _post(connection, "/v1/memories/search", body)
                        found = [by_id[r["id"]] for r in answer["results"]]
                        rankings[mode][query["id"]] = found
    finally:
        connection.close()
    return rankings


def recall_at(k: int, rankings: Mapping[str, Sequence[str]], dataset: Dataset, *, category: str | None = None) -> float:
    """Return the mean share of each query's evidence in its first `k` distinct results, in percent."""
    shares = []
    for query_id in _asked(dataset, category):
        top = list(dict.fromkeys(rankings.get(query_id, ())))[:k]
        evidence = dataset.evidence[query_id]
        shares.append(len(evidence.intersection(top)) / len(evidence))
    return 100 * sum(shares) / len(shares)


def mean_reciprocal_rank(rankings: Mapping[str, Sequence[str]], dataset: Dataset) -> float:
    """Return the mean of 1 / rank of each query's first evidence, 0 where none was found."""
    total = 0.0
    asked = _asked(dataset, None)
    for query_id in asked:
        found = dict.fromkeys(rankings.get(query_id, ()))
        ranks = (rank for rank, one in enumerate(found, 1) if one in dataset.evidence[query_id])
        total += 1 / next(ranks, float("inf"))
    return total / len(asked)


def _asked(dataset: Dataset, category: str | None) -> list[str]:
    queries = (query for group in dataset.queries.values() for query in group)
    return [query["id"] for query in queries if category in {None, query.get("category")}]


async def _store(
    connection: Connection, user: str, memories: Sequence[Mapping[str, Any]], by_id: dict[str, str], single: bool
) -> None:
    if not memories:
        return
    bodies = [
        {
            "agent_id": "bench",
            "user_id": user,
            "content": m["text"],
            "occurred_at": m["ts"],
            "session_id": m["session"],
        }
        for m in memories
    ]
    if single:
        ids = [(await _post(connection, "/v1/memories", body))["id"] for body in bodies]
    else:
        answer = await _post(connection, "/v1/memories/batch", {"memories": bodies})
        ids = list(batch_ids(answer, len(bodies)))
    by_id.update(zip(ids, (m["id"] for m in memories), strict=True))


def batch_ids(answer: Any, expected: int) -> Iterable[str]:
    """Return the id of each item of a batch's answer, in order.

    Raises:
        RuntimeError: an item was refused or is missing.
    """
    items = answer["results"]
    ids = [item.get("id") for item in items]
    if len(ids) != expected or not all(ids):
        refused = next((item for item in items if not item.get("id")), None)
        raise RuntimeError(f"batch: {len(ids)} of {expected} items, first refused: {refused}")
    return ids


async def _post(connection: Connection, path: str, body: object) -> Any:
    response = await connection.request(encode("POST", path, body), timeout_s=300)
    if not 200 <= response.status < 300:
        raise RuntimeError(f"{path}: HTTP {response.status} {response.body[:300]!r}")
    return response.json()


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
