"""Conversations through REST: order of steps, the batch's answer, and the score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.harness.retrieval import Dataset, batch_ids, load_dataset, recall_at, steps


def memories(count: int) -> list[dict[str, Any]]:
    return [{"id": f"m{i}", "seq": i} for i in range(1, count + 1)]


def shown(batch_size: int, queries: list[dict[str, Any]], count: int = 5) -> list[tuple[list[int], list[str]]]:
    return [
        ([m["seq"] for m in step.memories], [q["id"] for q in step.queries])
        for step in steps(memories(count), queries, batch_size)
    ]


@pytest.mark.parametrize(
    ("batch_size", "queries", "expected"),
    [
        (100, [], [([1, 2, 3, 4, 5], [])]),
        (2, [{"id": "q"}], [([1, 2], []), ([3, 4], []), ([5], ["q"])]),
        (5, [{"id": "q"}], [([1, 2, 3, 4, 5], []), ([], ["q"])]),
        (
            100,
            [{"id": "b", "max_seq": 3}, {"id": "late"}, {"id": "a", "max_seq": 3}],
            [([1, 2, 3], ["b", "a"]), ([4, 5], ["late"])],
        ),
        (1, [{"id": "q", "max_seq": 1}], [([1], ["q"]), ([2], []), ([3], []), ([4], []), ([5], [])]),
        (100, [{"id": "never", "max_seq": 9}], [([1, 2, 3, 4, 5], ["never"])]),
    ],
)
def test_a_query_is_asked_when_just_the_memories_up_to_it_exist(
    batch_size: int, queries: list[dict[str, Any]], expected: list[tuple[list[int], list[str]]]
) -> None:
    assert shown(batch_size, queries) == expected


def test_recall_is_the_share_of_evidence_and_counts_repeats_once() -> None:
    dataset = Dataset(
        "any", {}, {"g": [{"id": "q1"}, {"id": "q2"}, {"id": "q3"}]},
        {"q1": frozenset({"a", "b"}), "q2": frozenset({"c"}), "q3": frozenset({"d"})},
    )  # fmt: skip
    rankings = {"q1": ["a", "a", "x", "b"], "q2": ["y", "y", "y", "c"]}
    assert recall_at(2, rankings, dataset) == pytest.approx(100 * (0.5 + 1 + 0) / 3)
    assert recall_at(1, rankings, dataset) == pytest.approx(100 * (0.5 + 0 + 0) / 3)


def test_a_set_leaves_out_queries_without_evidence_and_one_category_of_locomo(tmp_path: Path) -> None:
    def write(name: str, rows: list[dict[str, Any]]) -> None:
        (tmp_path / name).write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in rows), encoding="utf-8")

    write("memories.jsonl", [{"id": "b", "group": "g", "seq": 2}, {"id": "a", "group": "g", "seq": 1}])
    write("queries.jsonl", [{"id": q, "group": "g", "category": c} for q, c in
                            [("1", "temporal"), ("2", "adversarial"), ("3", "temporal"), ("4", "temporal")]])  # fmt: skip
    write("qrels.jsonl", [{"query_id": q, "memory_id": "a", "rel": r} for q, r in [("1", 1), ("2", 1), ("4", 0)]])
    asked = {name: [q["id"] for q in load_dataset(tmp_path, name).queries["g"]] for name in ("locomo", "other")}
    assert asked == {"locomo": ["1"], "other": ["1", "2"]}
    assert [m["id"] for m in load_dataset(tmp_path, "other").memories["g"]] == ["a", "b"]


@pytest.mark.parametrize(
    "results", [[{"id": "1"}], [{"id": "1"}, {"id": None, "detail": "too long"}], [{"id": "1"}, {"detail": "x"}]]
)
def test_a_batch_that_lost_an_item_is_an_error(results: list[dict[str, Any]]) -> None:
    with pytest.raises(RuntimeError, match="batch"):
        batch_ids({"results": results}, 2)


def test_a_whole_batch_gives_its_ids_in_order() -> None:
    assert list(batch_ids({"results": [{"id": "2"}, {"id": "1"}]}, 2)) == ["2", "1"]
