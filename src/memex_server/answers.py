"""Answers of searches, held for some seconds while nothing in the scope has changed."""

from __future__ import annotations

import math
from datetime import datetime

from cachetools import TLRUCache

from memex.core.memory import SearchResult

from .ports import Clock

__all__ = ["Answers"]

_LIFE_S = 10.0  # so late, at most, appears what becomes valid by time alone
_DRIFT = 1e-5  # recency moves no score by more than this meanwhile
_HIT_BYTES = 1_000  # what Python needs for one hit beside its text, about
_DAY_S = 86_400.0


class Answers:
    """Answers by what was asked and version of the scope, the least lately used going first beyond `max_bytes`."""

    def __init__(self, clock: Clock, *, max_bytes: int) -> None:
        self._clock = clock
        self._held: TLRUCache[str, tuple[int, float, SearchResult]] = TLRUCache(
            maxsize=max_bytes,
            ttu=lambda _key, held, now_s: now_s + held[1],
            timer=lambda: clock().timestamp(),
            getsizeof=lambda held: _size(held[2]),
        )

    def get(self, asked: str, version: int) -> SearchResult | None:
        """Return the answer to the same request at the same version, unless time has changed it."""
        held = self._held.get(asked)
        if held is None or held[0] != version or not _valid(held[2], self._clock()):
            return None
        return held[2]

    def put(self, asked: str, version: int, half_life_days: float, result: SearchResult) -> None:
        """Hold an answer that was found at `version` or later."""
        life_s = min(_LIFE_S, half_life_days * _DAY_S * _DRIFT / math.log(2))
        if _size(result) <= self._held.maxsize:
            self._held[asked] = (version, life_s, result)


def _size(result: SearchResult) -> int:
    return sum(_HIT_BYTES + 2 * len(hit.memory.content) for hit in result.hits) + 4 * len(result.query)


def _valid(result: SearchResult, now: datetime) -> bool:
    ends = (end for hit in result.hits for end in (hit.memory.expires_at, hit.memory.valid_to))
    return all(end is None or end > now for end in ends)
