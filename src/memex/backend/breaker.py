"""A circuit breaker: after several failures in a row a backend is left alone for a while."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

__all__ = ["Breaker", "BreakerState"]


@dataclass(frozen=True, slots=True)
class BreakerState:
    """What a breaker does now; `retry_in_s` is 0 unless it is open."""

    state: Literal["closed", "open", "half_open"]
    failures: int
    retry_in_s: float


class Breaker:
    """Closed until `threshold` failures in a row, then open for `open_s`, then half open: one call may try.

    Times are seconds of any clock that only goes forward. Safe to use from several threads.
    """

    def __init__(self, *, threshold: int = 5, open_s: float = 120.0) -> None:
        self._threshold = threshold
        self._open_s = open_s
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._probe_until = 0.0

    def wait_s(self, now: float) -> float:
        """Return 0 if a call may be made now, and then its outcome must be told; else the seconds to wait."""
        with self._lock:
            if self._open_until is None:
                return 0.0
            blocked_until = max(self._open_until, self._probe_until)
            if now < blocked_until:
                return blocked_until - now
            # Nobody else tries while this one does; unless its outcome is never told.
            self._probe_until = now + self._open_s
            return 0.0

    def succeeded(self) -> None:
        """The backend answered: close."""
        with self._lock:
            self._failures, self._open_until, self._probe_until = 0, None, 0.0

    def failed(self, now: float, *, at_once: bool = False) -> None:
        """A call failed; `at_once` opens without counting, for what only a change of settings can mend."""
        with self._lock:
            self._failures += 1
            if at_once or self._failures >= self._threshold or self._open_until is not None:
                self._open_until, self._probe_until = now + self._open_s, 0.0

    def rest(self, now: float, seconds: float) -> None:
        """Open for as long as the backend asked for, without counting it a failure."""
        with self._lock:
            self._open_until, self._probe_until = now + seconds, 0.0

    def state(self, now: float) -> BreakerState:
        """Return what it does now; asking changes nothing."""
        with self._lock:
            if self._open_until is None:
                return BreakerState("closed", self._failures, 0.0)
            if now < self._open_until:
                return BreakerState("open", self._failures, self._open_until - now)
            return BreakerState("half_open", self._failures, 0.0)
