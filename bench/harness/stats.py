"""Percentiles, medians and ratios of measured samples."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Latency", "latency", "median_ratio", "percentile"]


def percentile(sorted_values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile of values already in ascending order.

    Raises:
        ValueError: there are no values, or `share` is outside 0..1.
    """
    if not sorted_values:
        raise ValueError("no values")
    if not 0 <= share <= 1:
        raise ValueError(f"share {share} is outside 0..1")
    rank = max(1, -(-len(sorted_values) * share // 1))  # ceil without a float step
    return sorted_values[int(rank) - 1]


@dataclass(frozen=True, slots=True)
class Latency:
    """A summary of one kind of call, in milliseconds."""

    count: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float

    def __str__(self) -> str:
        shares = f"p50 {self.p50_ms:.1f} p95 {self.p95_ms:.1f} p99 {self.p99_ms:.1f}"
        return f"{shares} max {self.max_ms:.1f} ms (n={self.count})"


def latency(samples_s: Sequence[float]) -> Latency:
    """Summarise latencies given in seconds."""
    ordered = sorted(samples_s)
    p50, p95, p99 = (percentile(ordered, share) * 1000 for share in (0.50, 0.95, 0.99))
    return Latency(len(ordered), p50, p95, p99, ordered[-1] * 1000)


def median_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """Return the median of the pairwise ratios; pairs were measured one after the other."""
    return statistics.median(n / d for n, d in zip(numerators, denominators, strict=True))
