from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memex.core import scoring

FINITE = st.floats(-1e6, 1e6)
POSITIVE = st.floats(0.01, 1e6)


@pytest.mark.parametrize(
    ("age_days", "half_life_days", "expected"),
    [
        (0, 30, 1.0),
        (30, 30, 0.5),
        (60, 30, 0.25),
        (-5, 30, 1.0),
        (15, 30, math.exp(-math.log(2) * 15 / 30)),
        (1, 1, 0.5),
    ],
)
def test_recency_halves_with_each_half_life(age_days: float, half_life_days: float, expected: float) -> None:
    assert scoring.recency(age_days, half_life_days) == pytest.approx(expected, abs=1e-12)


@given(FINITE, FINITE, POSITIVE)
def test_recency_is_within_0_and_1_and_never_grows_with_age(one: float, other: float, half_life: float) -> None:
    younger, older = sorted((one, other))
    assert 0 <= scoring.recency(older, half_life) <= scoring.recency(younger, half_life) <= 1


@pytest.mark.parametrize("half_life_days", [0, -1, math.nan])
def test_a_half_life_that_is_not_above_zero_is_refused(half_life_days: float) -> None:
    with pytest.raises(ValueError, match="half_life_days"):
        scoring.recency(1.0, half_life_days)


@pytest.mark.parametrize(("importance", "expected"), [(0, 0), (1, 0.5), (2, 1), (7 / 5, 0.7)])
def test_importance_is_half_of_its_scale(importance: float, expected: float) -> None:
    assert scoring.importance_component(importance) == pytest.approx(expected)


@pytest.mark.parametrize(("hops", "expected"), [(0, 1), (1, 0.5), (3, 0.25), (math.inf, 0)])
def test_graph_falls_with_each_hop(hops: float, expected: float) -> None:
    assert scoring.graph_component(hops) == expected


@given(st.integers(0, 50), st.integers(0, 500), st.integers(1, 500), st.integers(1, 1000), POSITIVE)
def test_bm25_is_not_negative_and_grows_with_frequency(tf: int, df: int, n: int, length: int, avg: float) -> None:
    score = scoring.bm25(float(tf), df, n, float(length), avg)
    assert score >= 0
    assert (score == 0) == (tf == 0)
    assert scoring.bm25(tf + 1.0, df, n, float(length), avg) > score


@given(st.integers(0, 400), st.integers(401, 1000))
def test_a_rare_term_tells_more(df: int, n: int) -> None:
    assert scoring.idf(df, n) > scoring.idf(df + 1, n) > 0


def test_bm25_equals_its_formula() -> None:
    expected = math.log(1 + (100 - 3 + 0.5) / (3 + 0.5)) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 20 / 10))
    assert scoring.bm25(2.0, 3, 100, 20.0, 10) == pytest.approx(expected, rel=1e-12)
    assert scoring.bm25(1.0, 1, 1, 5.0, 0.0) > 0  # an empty store has no average length


def test_arrays_give_what_numbers_give() -> None:
    ages = np.array([-3.0, 0.0, 12.0, 400.0])
    assert scoring.recency(ages, 30).tolist() == pytest.approx([scoring.recency(float(a), 30) for a in ages])
    assert scoring.graph_component(ages + 4).tolist() == pytest.approx([1 / (5 + float(a)) for a in ages])
    tf, length = np.array([0.0, 1.0, 4.0]), np.array([5.0, 8.0, 30.0])
    each = [scoring.bm25(float(t), 2, 10, float(n), 12) for t, n in zip(tf, length, strict=True)]
    assert scoring.bm25(tf, 2, 10, length, 12).tolist() == pytest.approx(each)
    mixed = scoring.combine({"a": 0.25, "b": 0.75}, {"a": tf, "b": length})
    assert mixed.tolist() == pytest.approx([3.75, 6.25, 23.5])


@given(st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1e300), min_size=1))
def test_normalised_weights_sum_to_one_and_keep_their_order(weights: dict[str, float]) -> None:
    if not any(weights.values()):
        return
    normal = scoring.normalise_weights(weights)
    assert math.fsum(normal.values()) == pytest.approx(1)
    assert all(0 <= weight <= 1 for weight in normal.values())
    assert max(weights, key=weights.__getitem__) == max(normal, key=normal.__getitem__)


@pytest.mark.parametrize("weights", [{}, {"a": 0.0}, {"a": -1.0, "b": 2.0}, {"a": math.nan}, {"a": math.inf}])
def test_weights_that_cannot_be_normalised_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="weight"):
        scoring.normalise_weights(weights)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_a_combination_of_components_within_0_and_1_is_within_0_and_1(raw: list[float], values: list[float]) -> None:
    names = ("similarity", "recency", "importance", "graph")
    weights = scoring.normalise_weights(dict(zip(names, [raw[0] + 0.1, *raw[1:]], strict=True)))
    assert -1e-12 <= scoring.combine(weights, dict(zip(names, values, strict=True))) <= 1 + 1e-12


def test_a_weight_without_its_component_is_an_error() -> None:
    with pytest.raises(ValueError, match="graph"):
        scoring.combine({"graph": 0.5}, {"similarity": 1.0})
    with pytest.raises(ValueError, match="no components"):
        scoring.combine({}, {})
    assert scoring.combine({"graph": 0.0, "similarity": 0.5}, {"similarity": 1.0, "recency": 1.0}) == 0.5
