"""When a failed call is tried again, as a table and as the loop that keeps to it."""

from __future__ import annotations

import pytest

from memex.protocol.errors import InvalidInput, MemexError, NotFound, RateLimited, Unauthorized, Unavailable
from memex.transport.retry import NO_RETRY, Retry, delay_s, retrying

OUT = Unavailable("down", retry_after_s=1)
SLOW_DOWN = RateLimited("wait", limit=1, remaining=0, retry_after_s=5)
RETRY = Retry(attempts=4, first_s=1, most_s=3, budget_s=20)


@pytest.mark.parametrize(
    ("attempt", "error", "elapsed_s", "chance", "pause"),
    [
        (1, OUT, 0, 0.0, 0.5),
        (1, OUT, 0, 1.0, 1.0),
        (2, OUT, 0, 1.0, 2.0),
        (3, OUT, 0, 1.0, 3.0),  # never more than most_s
        (4, OUT, 0, 1.0, None),  # no attempt left
        (1, OUT, 19.5, 1.0, None),  # no time left
        (1, SLOW_DOWN, 0, 0.0, 5.0),  # as long as it was asked to
        (1, SLOW_DOWN, 16, 0.0, None),
        (1, InvalidInput("x"), 0, 0.0, None),
        (1, NotFound("x"), 0, 0.0, None),
        (1, Unauthorized("x"), 0, 0.0, None),
    ],
)
def test_the_pause_before_the_next_try(
    attempt: int, error: MemexError, elapsed_s: float, chance: float, pause: float | None
) -> None:
    assert delay_s(RETRY, attempt, error, elapsed_s=elapsed_s, chance=chance) == pause


class Time:
    """A clock that sleeping moves."""

    def __init__(self) -> None:
        self.s = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.s += seconds


class Flaky:
    def __init__(self, *outcomes: Exception | str) -> None:
        self.outcomes = list(outcomes)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def run(call: Flaky, retry: Retry, time: Time) -> str:
    return retrying(call, retry, now=time.now, sleep=time.sleep, chance=lambda: 1.0)


def test_a_call_is_tried_until_it_works() -> None:
    time, call = Time(), Flaky(OUT, SLOW_DOWN, "done")
    assert run(call, RETRY, time) == "done"
    assert time.slept == [1.0, 5.0]


def test_the_last_error_is_raised_when_attempts_are_used_up() -> None:
    time, call = Time(), Flaky(OUT, OUT, OUT, Unavailable("last"))
    with pytest.raises(Unavailable, match="last"):
        run(call, RETRY, time)
    assert (call.calls, len(time.slept)) == (4, 3)


def test_the_budget_ends_it_before_the_attempts_do() -> None:
    time, call = Time(), Flaky(*[SLOW_DOWN] * 9)
    with pytest.raises(RateLimited):
        run(call, Retry(attempts=9, budget_s=12), time)
    assert (call.calls, time.s) == (3, 10)


@pytest.mark.parametrize("error", [InvalidInput("x"), NotFound("x"), Unauthorized("x"), ValueError("x")])
def test_what_waiting_cannot_mend_is_not_tried_again(error: Exception) -> None:
    call = Flaky(error, "never")
    with pytest.raises(type(error)):
        run(call, RETRY, Time())
    assert call.calls == 1


def test_without_retry_there_is_one_try() -> None:
    call = Flaky(OUT, "never")
    with pytest.raises(Unavailable):
        run(call, NO_RETRY, Time())
    assert call.calls == 1
