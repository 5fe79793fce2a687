from __future__ import annotations

import pytest

from memex.backend.breaker import Breaker


def failed(breaker: Breaker, times: int, now: float = 0.0) -> None:
    for _ in range(times):
        breaker.failed(now)


def test_it_stays_closed_below_the_threshold_and_a_success_starts_the_count_anew() -> None:
    breaker = Breaker(threshold=3, open_s=10)
    failed(breaker, 2)
    breaker.succeeded()
    failed(breaker, 2)
    assert breaker.wait_s(0) == 0
    assert breaker.state(0).state == "closed"


def test_it_opens_at_the_threshold_and_says_for_how_long() -> None:
    breaker = Breaker(threshold=3, open_s=10)
    failed(breaker, 3, now=5)
    assert breaker.wait_s(7) == 8
    state = breaker.state(7)
    assert (state.state, state.failures, state.retry_in_s) == ("open", 3, 8)


@pytest.mark.parametrize("works", [True, False])
def test_half_open_lets_one_try_and_its_outcome_decides(works: bool) -> None:
    breaker = Breaker(threshold=1, open_s=10)
    breaker.failed(0)
    assert breaker.state(10).state == "half_open"

    assert breaker.wait_s(10) == 0  # this one tries
    assert breaker.wait_s(10) > 0  # the others wait for it
    if works:
        breaker.succeeded()
        assert (breaker.wait_s(10), breaker.state(10).state) == (0, "closed")
    else:
        breaker.failed(12)
        assert breaker.wait_s(12) == 10


def test_a_try_whose_outcome_is_never_told_does_not_close_it_for_ever() -> None:
    breaker = Breaker(threshold=1, open_s=10)
    breaker.failed(0)
    assert breaker.wait_s(10) == 0
    assert breaker.wait_s(19) == 1
    assert breaker.wait_s(20) == 0


def test_it_opens_at_once_for_what_only_new_settings_can_mend() -> None:
    breaker = Breaker(threshold=5, open_s=10)
    breaker.failed(0, at_once=True)
    assert breaker.wait_s(0) == 10


def test_a_rest_that_was_asked_for_is_kept_and_counts_as_no_failure() -> None:
    breaker = Breaker(threshold=5, open_s=100)
    breaker.rest(0, 3)
    assert (breaker.wait_s(1), breaker.state(1).failures) == (2, 0)
    assert breaker.wait_s(3) == 0
    breaker.succeeded()
    assert breaker.state(3).state == "closed"
