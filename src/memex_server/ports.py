"""What the service calls, as structural types. Adapters implement them; `memex.testing` ships fakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Clock", "Embedder", "FloatArray", "ModelCard", "RateLimiter", "Role", "VectorCache"]

FloatArray = NDArray[np.float32]
Role = Literal["query", "passage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What a database pins: two vectors compare only if they come from the same `id` and `dim`.

    `similarity_floor` and `similarity_ceiling` are the cosines of unrelated and of equal meaning
    for this model; `duplicate_threshold` is the cosine from which two texts say the same.
    """

    id: str
    dim: int
    max_tokens: int
    languages: str
    similarity_floor: float
    similarity_ceiling: float
    duplicate_threshold: float


class Embedder(Protocol):
    """Turns texts into vectors; a wrapper of this port may batch or cache."""

    @property
    def card(self) -> ModelCard:
        """The model's card; known before the model is loaded."""

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        """Return float32 vectors of shape (len(texts), dim), L2-normalised, in the order of `texts`.

        A text longer than the model's window is embedded whole (windows are pooled), never cut.

        Raises:
            Unavailable: the model or its endpoint cannot answer now.
        """

    async def close(self) -> None:
        """Release threads and memory; further calls are an error. Safe to call twice."""


class VectorCache(Protocol):
    """Vectors by key (model, role, text hash). A cache may forget at any time."""

    async def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the stored value or None for each key."""

    async def set_many(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Store all items."""

    async def close(self) -> None:
        """Release connections. Safe to call twice."""


class RateLimiter(Protocol):
    """Counts calls per agent and operation in a sliding minute."""

    async def check(self, agent_key: str, operation: Literal["write", "search"]) -> None:
        """Count one call.

        Raises:
            RateLimited: the window is full; nothing was counted.
        """


class Clock(Protocol):
    """The time of day, injected so that tests can freeze it."""

    def __call__(self) -> datetime:
        """Return the current time, aware, in UTC."""
