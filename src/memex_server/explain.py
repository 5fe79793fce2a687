"""Says how a score came about: every component and signal, its weight and its share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from memex.core.memory import SearchMode

from .ports import Candidates
from .ranking import Plan, Ranked
from .signals import Column

__all__ = ["explained"]


def explained(c: Candidates, ranked: Ranked, at: int, plan: Plan, terms: Sequence[str]) -> dict[str, Any]:
    """Return the explanation of the hit at rank `at`; the components' shares add up to its score."""
    row = int(ranked.rows[at])
    fused = plan.mode is SearchMode.HYBRID
    return {
        "mode": plan.mode.value,
        "components": _parts(ranked.components, plan.weights, row),
        "signals": _parts(ranked.signals, plan.fusion.weights if fused else {}, row),
        "arms": _arms(c, row),
        "terms": list(terms),
        "cosine": None if np.isnan(c.cosine[row]) else round(float(c.cosine[row]), 6),
        "half_life_days": plan.half_life_days,
        "now": plan.now.isoformat(),
    }


def _parts(columns: Mapping[str, Column], weights: Mapping[str, float], row: int) -> dict[str, dict[str, float]]:
    parts = {}
    for name, column in columns.items():
        value, weight = float(column[row]), weights.get(name, 1.0)
        parts[name] = {"value": value, "weight": weight, "share": value * weight}
    return parts


def _arms(c: Candidates, row: int) -> list[str]:
    """Which ways led to this memory: its meaning, its words, or only what stands beside it."""
    arms = []
    if not np.isnan(c.cosine[row]):
        arms.append("semantic")
    if bool((c.post_row == row).any()):
        arms.append("keyword")
    return arms
