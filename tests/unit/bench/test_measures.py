"""The decisions inside the measurements, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.__main__ import main
from bench.bulk import mixtures
from bench.harness.retrieval import Dataset, mean_reciprocal_rank, recall_at
from bench.measures import MEASURES, OPTIONAL
from bench.measures.durability import Ledger, verdict
from bench.measures.quality import EXPECTED, GOALS, MODES
from bench.measures.scale import overlap
from bench.workload import mixed, stores

FIVE = Path(__file__).resolve().parents[3] / "bench" / "data" / "five.json"


def test_the_verdict_on_a_kill_tells_lost_doubled_and_renamed_writes() -> None:
    ledger = Ledger(acknowledged={"健身": "1", "茶": "2", "jazz": "3", "go": "4"})
    stored = [("1", "健身"), ("9", "茶"), ("3", "jazz"), ("5", "jazz2"), ("6", "jazz2")]
    assert verdict(ledger, stored) == {"lost": 1, "other_id": 1, "twice": 1}
    assert verdict(Ledger({"a": "1"}), [("1", "a"), ("2", "not acknowledged")]) == {
        "lost": 0,
        "other_id": 0,
        "twice": 0,
    }


def test_an_id_of_a_doubled_text_counts_only_as_twice() -> None:
    assert verdict(Ledger({"a": "1"}), [("2", "a"), ("1", "a")])["twice"] == 1


@pytest.mark.parametrize(
    ("found", "expected"), [([0, 1, 2], 1.0), ([0, 1, 3], 1.0), ([0, 1, 4], 2 / 3), ([0, 0, 0], 1 / 3), ([], 0.0)]
)
def test_overlap_counts_a_near_tie_for_the_last_place(found: list[int], expected: float) -> None:
    products = np.array([0.9, 0.8, 0.7, 0.6999, 0.5], np.float32)
    assert overlap(products, found, 3) == pytest.approx(expected)


def test_mixtures_are_unit_vectors_near_real_ones_and_all_different() -> None:
    rng = np.random.default_rng(1)
    real = rng.normal(size=(40, 16)).astype(np.float32) + 2
    real /= np.linalg.norm(real, axis=1, keepdims=True)
    made = mixtures(real, 500, rng)
    assert np.linalg.norm(made, axis=1) == pytest.approx(np.ones(500), abs=1e-5)
    assert len(np.unique(made.round(5), axis=0)) > 490
    assert ((made @ real.T).max(axis=1) > 0.85).all()


def test_a_mix_has_three_searches_to_a_write_and_no_text_twice() -> None:
    calls = mixed(3, 2_000)
    assert len({c.text for c in calls}) == 2_000
    searches = sum(c.kind == "search" for c in calls)
    assert 1_400 < searches < 1_600


def test_repeated_queries_repeat_with_their_user_and_writes_do_not() -> None:
    calls = mixed(3, 2_000, distinct_queries=20)
    searches = {c.payload for c in calls if c.kind == "search"}
    writes = [c.text for c in calls if c.kind == "store"]
    assert len(searches) == 20
    assert len(set(writes)) == len(writes) > 400
    assert {c.payload for c in mixed(4, 2_000, distinct_queries=20) if c.kind == "search"} == searches


def test_writes_are_the_same_for_the_same_seed() -> None:
    assert [c.payload for c in stores(5, 50)] == [c.payload for c in stores(5, 50)]


def test_five_questions_name_five_different_memories_in_three_languages() -> None:
    five = json.loads(FIVE.read_text(encoding="utf-8"))
    keys = [m["key"] for m in five["memories"]]
    assert len(set(keys)) == 5
    assert sorted(q["answer"] for q in five["questions"]) == sorted(keys)
    text = FIVE.read_text(encoding="utf-8")
    assert any("\u3040" <= c <= "\u30ff" for c in text)
    assert any("\u4e00" <= c <= "\u9fff" for c in text)


def test_every_set_has_a_goal_and_figures_for_the_single_modes() -> None:
    assert len(EXPECTED) == 8
    assert set(GOALS) == set(EXPECTED)
    assert all(set(figures) == {"keyword", "semantic"} < set(MODES) for figures in EXPECTED.values())


def test_the_reciprocal_rank_is_of_the_first_evidence_and_recall_of_a_category() -> None:
    queries = [{"id": "1", "category": "hop"}, {"id": "2"}, {"id": "3"}]
    evidence = {"1": frozenset("ab"), "2": frozenset("c"), "3": frozenset("d")}
    dataset = Dataset("t", {}, {"g": queries}, evidence)
    found = {"1": ["x", "b", "a"], "2": ["c"], "3": ["x"]}
    assert mean_reciprocal_rank(found, dataset) == pytest.approx((0.5 + 1 + 0) / 3)
    assert recall_at(2, found, dataset, category="hop") == pytest.approx(50)


def test_optional_measurements_exist_and_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(MEASURES) >= OPTIONAL
    assert main(["no_such_measurement"]) == 2
    assert "throughput_unique" in capsys.readouterr().err


def test_a_measurement_that_cannot_run_says_so_in_its_row(tmp_path: Path) -> None:
    where = ["--work-dir", str(tmp_path / "work"), "--results", str(tmp_path / "results")]
    assert main(["retrieval", "--quick", "--conversations", str(tmp_path / "none"), *where]) == 1
    report = next((tmp_path / "results").glob("*.json"))
    [found] = json.loads(report.read_text(encoding="utf-8"))["rows"]
    assert found["holds"] is False
    assert "no data for madial-zh" in found["detail"]
