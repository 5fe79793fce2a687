"""A linear ranker: weights that put the evidence of a question before its other candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence

import numpy as np
from numpy.typing import NDArray

from .pool import Question

__all__ = ["fit", "folds", "polish", "recall", "reciprocal_rank"]

Weights = NDArray[np.float64]
_CANDIDATES = 96  # per question: the likely ones and some of the others
_STEPS = 400
_DECAY = 1e-3
_ROUNDS = ((0.5, 0.7, 1.4, 2.0), (0.6, 0.8, 1.25, 1.6), (0.85, 1.18))
_LEAST_GAIN = 3e-4


def fit(questions: Sequence[Question], start: Weights, *, most: int = 150) -> Weights:
    """Fit weights by the softmax loss over the candidates of each question; all sets weigh the same.

    The weight of recency stays as it is: it is a choice between kinds of questions, not a fact about
    texts. At most `most` questions of a set are used, evenly spread over it.
    """
    chosen = _chosen(questions, most)
    per_set = Counter(q.dataset for q in chosen)
    x, mask, target = _tensors(chosen, start)
    share = np.array([1 / per_set[q.dataset] for q in chosen])[:, None] / len(per_set)
    held = [i for i, name in enumerate(questions[0].names) if name == "recency"]
    weights = start.copy()
    momentum, scale = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        scores = np.where(mask, x @ weights, -np.inf)
        scores -= scores.max(1, keepdims=True)
        p = np.exp(scores)
        p /= p.sum(1, keepdims=True)
        gradient = np.einsum("qc,qcf->f", (p - target) * share, x) + 2 * _DECAY * weights
        gradient[held] = 0.0
        momentum = 0.9 * momentum + 0.1 * gradient  # Adam
        scale = 0.99 * scale + 0.01 * gradient**2
        rate = 0.05 * (1 - step / _STEPS) + 0.001
        weights -= rate * (momentum / (1 - 0.9**step)) / (np.sqrt(scale / (1 - 0.99**step)) + 1e-9)
    return weights


def polish(weights: Weights, worth: Callable[[Weights], float], fixed: Container[int]) -> Weights:
    """Change one weight at a time while that raises `worth` (what is wanted itself, which has no gradient).

    The steps get smaller from round to round; a gain below 0.0003 is noise and is not taken.
    """
    best, most = weights, worth(weights)
    for factors in _ROUNDS:
        for i in range(len(weights)):
            for factor in () if i in fixed else factors:
                tried = best.copy()
                tried[i] *= factor
                value = worth(tried)
                if value > most + _LEAST_GAIN:
                    best, most = tried, value
    return best


def folds(questions: Sequence[Question], k: int = 5) -> NDArray[np.int64]:
    """Return the fold of each question: whole groups together; sets of one group by question."""
    groups: dict[str, dict[str, int]] = {}
    for q in questions:
        of_set = groups.setdefault(q.dataset, {})
        of_set.setdefault(q.group, len(of_set))
    seen: Counter[str] = Counter()
    out = []
    for q in questions:
        of_set = groups[q.dataset]
        seen[q.dataset] += 1
        out.append((seen[q.dataset] if len(of_set) < k else of_set[q.group]) % k)
    return np.array(out)


def recall(question: Question, scores: NDArray[np.floating], k: int = 10) -> float:
    """Return the share of the evidence among the `k` best."""
    best = np.argsort(-scores, kind="stable")[:k]
    return float(question.evidence[best].sum() / question.n_evidence)


def reciprocal_rank(question: Question, scores: NDArray[np.floating]) -> float:
    """Return 1 / rank of the first evidence within 50, else 0."""
    hits = np.flatnonzero(question.evidence[np.argsort(-scores, kind="stable")[:50]])
    return float(1 / (1 + hits[0])) if len(hits) else 0.0


def _chosen(questions: Sequence[Question], most: int) -> list[Question]:
    by_set: dict[str, list[Question]] = {}
    for q in questions:
        if q.evidence.any():
            by_set.setdefault(q.dataset, []).append(q)
    chosen = []
    for of_set in by_set.values():
        at = np.unique(np.linspace(0, len(of_set) - 1, min(most, len(of_set))).astype(int))
        chosen += [of_set[i] for i in at]
    return chosen


def _tensors(
    questions: Sequence[Question], start: Weights
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.float64]]:
    n_signals = questions[0].signals.shape[1]
    x = np.zeros((len(questions), _CANDIDATES, n_signals), np.float32)
    mask = np.zeros((len(questions), _CANDIDATES), bool)
    target = np.zeros((len(questions), _CANDIDATES))
    random = np.random.default_rng(7)
    for i, q in enumerate(questions):
        rows = _likely(q, start, random)
        x[i, : len(rows)] = q.signals[rows]
        mask[i, : len(rows)] = True
        target[i, : len(rows)] = q.evidence[rows]
    return x, mask, target / np.maximum(target.sum(1, keepdims=True), 1)


def _likely(q: Question, start: Weights, random: np.random.Generator) -> NDArray[np.int64]:
    order = np.argsort(-(q.signals @ start) - 1e6 * q.evidence, kind="stable")
    near = order[: _CANDIDATES * 3 // 4]
    rest = order[_CANDIDATES * 3 // 4 :]
    extra = random.permutation(rest)[: _CANDIDATES - len(near)]
    return np.concatenate([near, extra])
