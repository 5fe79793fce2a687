"""Percentiles and ratios."""

from __future__ import annotations

import pytest

from bench.harness.stats import latency, median_ratio, percentile


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([7.0], 0.5, 7.0),
        ([1.0, 2.0], 0.5, 1.0),
        ([1.0, 2.0, 3.0], 0.5, 2.0),
        (list(map(float, range(1, 101))), 0.95, 95.0),
        (list(map(float, range(1, 101))), 0.99, 99.0),
        ([1.0, 2.0, 3.0], 0.0, 1.0),
        ([1.0, 2.0, 3.0], 1.0, 3.0),
    ],
)
def test_percentile_is_the_nearest_rank(values: list[float], share: float, expected: float) -> None:
    assert percentile(values, share) == expected


@pytest.mark.parametrize(("values", "share"), [([], 0.5), ([1.0], 1.1), ([1.0], -0.1)])
def test_percentile_refuses_what_has_no_answer(values: list[float], share: float) -> None:
    with pytest.raises(ValueError, match=r"no values|outside"):
        percentile(values, share)


def test_latency_is_in_milliseconds_whatever_the_order() -> None:
    found = latency([0.003, 0.001, 0.002])
    assert found.count == 3
    assert [found.p50_ms, found.max_ms] == pytest.approx([2, 3])


def test_median_ratio_pairs_neighbours() -> None:
    # One disturbed round does not decide.
    assert median_ratio([300, 300, 30], [100, 100, 100]) == 3


def test_median_ratio_refuses_rounds_without_partner() -> None:
    with pytest.raises(ValueError, match="zip"):
        median_ratio([1.0, 2.0], [1.0])
