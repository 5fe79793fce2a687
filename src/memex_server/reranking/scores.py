"""From what a reranker puts out to scores between 0 and 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["sigmoid"]

_FAR = 700.0  # beyond, exp overflows


def sigmoid(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logistic function of each, which keeps the order: 0.5 for 0, nearly 1 from 10 on."""
    return 1.0 / (1.0 + np.exp(-np.clip(logits, -_FAR, _FAR)))
