"""Ranks candidates: pure functions over columns, from signals to an order with its explanation.

The formula's components come from `memex.core.scoring`, which computes on arrays as on numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memex.core.memory import SearchMode, Weights
from memex.core.scoring import bm25, combine, idf, importance_component, normalise_weights, recency

from .ports import Candidates

__all__ = ["FUSION", "Column", "Plan", "Ranked", "plan_weights", "rank", "standardised"]

Column = NDArray[np.float64]
_DAY_S = 86_400.0

# How much one standard deviation of each signal counts in `hybrid`.
FUSION: Mapping[str, float] = {"words": 1.0, "meaning": 1.0}
# Relevance decides; recency and importance only part what is about equally relevant.
_HYBRID_WEIGHTS = Weights(similarity=0.94, recency=0.04, importance=0.02)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one search ranks: its mode, its weights (sum 1) and the half-life of recency."""

    mode: SearchMode
    weights: Mapping[str, float]
    half_life_days: float
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The best candidates, best first: rows of the candidates, scores, and every column behind them."""

    rows: NDArray[np.int64]
    scores: Column
    components: Mapping[str, Column]
    signals: Mapping[str, Column]


def plan_weights(
    mode: SearchMode | None, alpha: float | None, weights: Weights | None, default_alpha: float
) -> tuple[SearchMode, dict[str, float]]:
    """Return the mode and weights that a request means.

    `alpha` alone asks for the plain formula on cosines: (alpha, 1 - alpha, 0, 0).

    Raises:
        ValueError: a weight is negative, or all are 0.
    """
    chosen = mode or (SearchMode.HYBRID if alpha is None else SearchMode.SEMANTIC)
    if weights is None:
        if alpha is None and chosen is SearchMode.SEMANTIC:
            alpha = default_alpha
        if alpha is not None:
            weights = Weights(similarity=alpha, recency=1 - alpha)
        else:
            weights = _HYBRID_WEIGHTS if chosen is SearchMode.HYBRID else Weights(similarity=1)
    return chosen, normalise_weights(
        {
            "similarity": weights.similarity,
            "recency": weights.recency,
            "importance": weights.importance,
            "graph": weights.graph,
        }
    )


def rank(candidates: Candidates, plan: Plan, top_k: int) -> Ranked:
    """Return the `top_k` best candidates. Ties: later event first, then the id."""
    n = len(candidates.occurred_at_s)
    signals = _signals(candidates, plan.mode)
    age_days = (plan.now.timestamp() - candidates.occurred_at_s) / _DAY_S
    components: dict[str, Column] = {
        "similarity": _similarity(signals, plan.mode, candidates),
        "recency": recency(age_days, plan.half_life_days),
        "importance": importance_component(candidates.importance.astype(np.float64)),
        "graph": np.zeros(n),
    }
    scores = combine(plan.weights, components) + np.zeros(n)
    eligible = np.flatnonzero(signals["words"] > 0) if plan.mode is SearchMode.KEYWORD else np.arange(n)
    ids = np.asarray(candidates.ids)[eligible]
    order = np.lexsort((ids.view("S16"), -candidates.occurred_at_s[eligible], -scores[eligible]))
    rows = eligible[order[:top_k]]
    return Ranked(rows=rows, scores=scores[rows], components=components, signals=signals)


def _signals(c: Candidates, mode: SearchMode) -> dict[str, Column]:
    signals: dict[str, Column] = {}
    if mode is not SearchMode.SEMANTIC:
        signals["words"] = _words(c)
    if mode is not SearchMode.KEYWORD:
        signals["meaning"] = np.nan_to_num(c.cosine.astype(np.float64), nan=-1.0)
    return signals


def _words(c: Candidates) -> Column:
    """BM25 of each candidate: 0 where no term of the query occurs."""
    n = len(c.length)
    total = np.zeros(n)
    if len(c.post_row) == 0:
        return total
    average = float(c.length.mean()) or 1.0
    lengths = c.length.astype(np.float64)
    for term, df in enumerate(c.df):
        of_term = c.post_term == term
        rows = c.post_row[of_term]
        total[rows] += bm25(c.post_tf[of_term], float(df), c.n_docs, lengths[rows], average)
    return total


def _similarity(signals: Mapping[str, Column], mode: SearchMode, c: Candidates) -> Column:
    if mode is SearchMode.SEMANTIC:
        return np.clip(signals["meaning"], -1.0, 1.0)
    if mode is SearchMode.KEYWORD:
        most = sum(idf(float(df), c.n_docs) * 2.2 for df in c.df if df > 0)
        return signals["words"] / most if most else signals["words"]
    fused = sum((FUSION[name] * standardised(column) for name, column in signals.items()), np.zeros(len(c.length)))
    return _spread(fused)


def standardised(column: Column) -> Column:
    """Return the column with mean 0 and deviation 1; a column that tells nothing becomes 0."""
    deviation = column.std() if len(column) else 0.0
    return (column - column.mean()) / deviation if deviation > 1e-9 else np.zeros(len(column))


def _spread(column: Column) -> Column:
    """Return the column moved and scaled to [0, 1]."""
    if len(column) == 0:
        return column
    least, most = column.min(), column.max()
    return (column - least) / (most - least) if most - least > 1e-9 else np.ones(len(column))
