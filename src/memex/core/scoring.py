"""The ranking formula: components in [0, 1], weighted and added.

    score = w_sim * similarity + w_rec * recency + w_imp * importance + w_graph * graph

Written with operators only, so that the same function takes one number or an array of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar, cast

__all__ = [
    "BM25_B",
    "BM25_K1",
    "Arithmetic",
    "bm25",
    "combine",
    "graph_component",
    "idf",
    "importance_component",
    "normalise_weights",
    "positive_part",
    "recency",
    "saturated",
]

# Values of the literature (Robertson and Zaragoza 2009) within their flat optimum.
BM25_K1 = 1.2
BM25_B = 0.75


class Arithmetic(Protocol):
    """A number, or an array of numbers that computes element by element."""

    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __rpow__(self, other: Any, /) -> Any: ...
    def __neg__(self, /) -> Any: ...
    def __abs__(self, /) -> Any: ...


N = TypeVar("N", bound=Arithmetic)


def positive_part(value: N) -> N:
    """Return max(value, 0)."""
    return cast(N, (value + abs(value)) / 2)


def recency(age_days: N, half_life_days: float) -> N:
    """Return 2 ** (-age / half_life): 1 now, 1/2 after one half-life; what lies in the future counts as now.

    Raises:
        ValueError: `half_life_days` is not above 0.
    """
    if not half_life_days > 0:
        raise ValueError(f"half_life_days={half_life_days} must be above 0")
    return cast(N, 2.0 ** (-positive_part(age_days) / half_life_days))


def importance_component(importance: N) -> N:
    """Return importance on the REST scale 0..2 as 0..1."""
    return cast(N, importance / 2)


def graph_component(hops: N) -> N:
    """Return 1 / (1 + hops): 1 for the entity itself; infinitely many hops (no path) give 0."""
    return cast(N, 1 / (1 + hops))


def normalise_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return `weights` scaled to the sum 1.

    Raises:
        ValueError: a weight is negative or not finite, or all are 0.
    """
    for name, weight in weights.items():
        if not (0 <= weight < math.inf):
            raise ValueError(f"weight {name}={weight} must be a finite number >= 0")
    largest = max(weights.values(), default=0.0)
    if largest == 0:
        raise ValueError("at least one weight must be above 0")
    # Scaled by the largest first, because the plain sum of huge weights overflows.
    total = math.fsum(weight / largest for weight in weights.values())
    return {name: weight / largest / total for name, weight in weights.items()}


def combine(weights: Mapping[str, float], components: Mapping[str, N]) -> N:
    """Return the sum of each component times its weight; a component without a weight counts nothing.

    Raises:
        ValueError: there are no components, or a weight above 0 has none.
    """
    missing = sorted(name for name, weight in weights.items() if weight and name not in components)
    if missing or not components:
        raise ValueError(f"no component for weight {', '.join(missing)}" if missing else "no components")
    total: Any = 0.0
    for name, component in components.items():
        total = total + weights.get(name, 0.0) * component
    return cast(N, total)


def idf(df: float, n_docs: float) -> float:
    """Return how much a term tells that stands in `df` of `n_docs` documents; above 0 also for df = n_docs."""
    return math.log1p((max(n_docs, df) - df + 0.5) / (df + 0.5))


def saturated(tf: N, length: N, avg_length: float, *, k1: float = BM25_K1, b: float = BM25_B) -> N:
    """Return the part of BM25 that tells how much of a term is there: 0 to k1 + 1, less in longer documents."""
    relative: Any = length / avg_length if avg_length > 0 else 1.0
    return cast(N, (k1 + 1) * tf / (tf + k1 * (1 - b + b * relative)))


def bm25(tf: N, df: float, n_docs: float, length: N, avg_length: float, *, k1: float = BM25_K1, b: float = BM25_B) -> N:
    """Return the BM25 score of one term for documents of `length` terms that hold it `tf` times; 0 for tf = 0."""
    return cast(N, idf(df, n_docs) * saturated(tf, length, avg_length, k1=k1, b=b))
