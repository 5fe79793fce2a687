"""When a call is tried again: a pure schedule, and the loop that keeps to it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..protocol.errors import MemexError, RateLimited, Unavailable

__all__ = ["NO_RETRY", "Retry", "delay_s", "retrying"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Up to `attempts` tries; pauses grow from `first_s` by two, up to `most_s`, within `budget_s` in all."""

    attempts: int = 3
    first_s: float = 0.25
    most_s: float = 8.0
    budget_s: float = 30.0


NO_RETRY = Retry(attempts=1)


def delay_s(retry: Retry, attempt: int, error: MemexError, *, elapsed_s: float, chance: float) -> float | None:
    """Return the pause after failed try number `attempt` (from 1), or None to give up.

    Only an outage or a rate limit passes by waiting. `chance` in [0, 1) spreads the pauses of many
    clients over the upper half of the range; what the service asked for (Retry-After) is the least.
    """
    if attempt >= retry.attempts or not isinstance(error, Unavailable | RateLimited):
        return None
    pause = min(retry.most_s, retry.first_s * 2 ** (attempt - 1)) * (1 + chance) / 2
    if isinstance(error, RateLimited):
        pause = max(pause, error.retry_after_s)
    return pause if elapsed_s + pause <= retry.budget_s else None


def retrying(
    call: Callable[[], T],
    retry: Retry,
    *,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    chance: Callable[[], float] = random.random,
) -> T:
    """Return what `call` returns, tried again as `retry` says. Raises the last error."""
    started = now()
    attempt = 1
    while True:
        try:
            return call()
        except (Unavailable, RateLimited) as e:
            pause = delay_s(retry, attempt, e, elapsed_s=now() - started, chance=chance())
            if pause is None:
                raise
        sleep(pause)
        attempt += 1
