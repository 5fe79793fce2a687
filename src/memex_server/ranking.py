"""Ranks candidates: pure functions over columns, from signals to an order with its explanation.

The formula's components come from `memex.core.scoring`, which computes on arrays as on numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from memex.core.dates import dates_named
from memex.core.memory import SearchMode, Weights
from memex.core.scoring import combine, idf, importance_component, normalise_weights, recency

from .ports import Candidates, ModelCard
from .signals import Column, Days, Usual, fair_cosine, relevance_signals, told_by, weighted, words

__all__ = ["Fusion", "Plan", "Ranked", "certainty", "load_fusion", "named_days", "plan_weights", "rank", "usual_cosine"]

_DAY_S = 86_400.0
# Fused relevance adds standardised signals: the best of a query reach 3 to 18. It is brought to 0..1 on a
# straight line up to +-20, so that recency weighs the same everywhere, and on a curve beyond, so that the order is
# kept and the ends are not cut.
_STRAIGHT = 20.0
_CURVED = 12.0
_FUSED_RANGE = 2 * (_STRAIGHT + _CURVED)
_CERTAIN_FROM = 4.0  # a fused sum that is as likely an answer as not


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """Weights of the signals of hybrid relevance, and of recency and importance beside them.

    They come from the command named in the data file; all are on the scale of the fused sum.
    """

    weights: Mapping[str, float]
    recency: float
    half_life_days: float
    importance: float

    @property
    def default(self) -> Weights:
        """The weights of the formula's components that mean the same as the fitted ones."""
        return Weights(similarity=1.0, recency=self.recency / _FUSED_RANGE, importance=self.importance / _FUSED_RANGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one search ranks: its mode, its weights (sum 1), the half-life of recency, and about the query."""

    mode: SearchMode
    weights: Mapping[str, float]
    half_life_days: float
    now: datetime
    fusion: Fusion
    usual_cosine: Usual
    asks_when: bool = False
    days: Sequence[Days] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The best candidates, best first: rows of the candidates, scores, and every column behind them."""

    rows: NDArray[np.int64]
    scores: Column
    components: Mapping[str, Column]
    signals: Mapping[str, Column]


def usual_cosine(card: ModelCard) -> Usual:
    """Return mean and deviation of the cosines of a query with unrelated texts, as the model's card implies."""
    return card.similarity_floor, (card.similarity_ceiling - card.similarity_floor) / 5


def load_fusion() -> Fusion:
    """Read the fitted weights that ship with memex."""
    data = json.loads(files(__package__).joinpath("fusion.json").read_text(encoding="utf-8"))
    return Fusion(
        weights=data["weights"],
        recency=data["recency"],
        half_life_days=data["half_life_days"],
        importance=data["importance"],
    )


def named_days(query: str, now: datetime) -> list[Days]:
    """Return the ranges of dates that a query names, as (first, last) in days since 1970."""
    epoch = date(1970, 1, 1)
    return [((named.start - epoch).days, (named.end - epoch).days) for named in dates_named(query, now)]


def plan_weights(
    mode: SearchMode | None, alpha: float | None, weights: Weights | None, *, default_alpha: float, fusion: Fusion
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
            weights = fusion.default if chosen is SearchMode.HYBRID else Weights(similarity=1)
    return chosen, normalise_weights(
        {
            "similarity": weights.similarity,
            "recency": weights.recency,
            "importance": weights.importance,
            "graph": weights.graph,
        }
    )


def certainty(similarity: float, best: float) -> float:
    """Return how likely a hybrid similarity means an answer, in [0, 1], beside the best one of its query.

    Logistic in the fused sum: on conversations of the development sets evidence lies at 3 to 8, and the tenth best
    of a scope without an answer below 4. In a scope of a few memories sums are small, so there the best counts.
    """
    fused, most = ((value - 0.5) * _FUSED_RANGE for value in (similarity, best))
    return 1 / (1 + math.exp(min(_CERTAIN_FROM, most - 1) - fused))


def rank(candidates: Candidates, plan: Plan, top_k: int) -> Ranked:
    """Return the `top_k` best candidates. Ties: later event first, then the id."""
    n = len(candidates.occurred_at_s)
    signals = _signals(candidates, plan)
    age_days = (plan.now.timestamp() - candidates.occurred_at_s) / _DAY_S
    components: dict[str, Column] = {
        "similarity": _similarity(signals, candidates, plan),
        "recency": recency(age_days, plan.half_life_days) * (told_by(n) if plan.mode is SearchMode.HYBRID else 1.0),
        "importance": importance_component(candidates.importance),
        "graph": np.zeros(n),
    }
    scores = combine(plan.weights, components) + np.zeros(n)
    eligible = np.flatnonzero(signals["words"] > 0) if plan.mode is SearchMode.KEYWORD else np.arange(n)
    if len(eligible) > top_k:  # leave the rest unsorted: only what reaches the k-th score can be among the best
        least = np.partition(scores[eligible], -top_k)[-top_k]
        eligible = eligible[scores[eligible] >= least]
    ids = candidates.ids[eligible].view("S16")
    order = np.lexsort((ids, -candidates.occurred_at_s[eligible], -scores[eligible]))
    rows = eligible[order[:top_k]]
    return Ranked(rows=rows, scores=scores[rows], components=components, signals=signals)


def _signals(c: Candidates, plan: Plan) -> dict[str, Column]:
    if plan.mode is SearchMode.SEMANTIC:
        cosine = fair_cosine(c, plan.usual_cosine)
        return {"meaning": np.where(np.isnan(cosine), -1.0, cosine)}
    if plan.mode is SearchMode.KEYWORD:
        return {"words": words(c)}
    return relevance_signals(c, usual_cosine=plan.usual_cosine, asks_when=plan.asks_when, days=plan.days)


def _similarity(signals: Mapping[str, Column], c: Candidates, plan: Plan) -> Column:
    if plan.mode is SearchMode.SEMANTIC:
        return np.clip(signals["meaning"], -1.0, 1.0)
    if plan.mode is SearchMode.KEYWORD:
        most = sum(idf(float(df), c.n_docs) * 2.2 * min(r, 3) for df, r in zip(c.df, c.repeats, strict=True) if df > 0)
        return signals["words"] / most if most else signals["words"]
    fused = weighted(signals, plan.fusion.weights, len(c.length))
    return _bounded(fused)


def _bounded(fused: Column) -> Column:
    size = np.abs(fused)
    beyond = np.maximum(size - _STRAIGHT, 0.0)
    bent = np.minimum(size, _STRAIGHT) + _CURVED * beyond / (_CURVED + beyond)
    bounded: Column = 0.5 + np.sign(fused) * bent / _FUSED_RANGE
    return bounded
