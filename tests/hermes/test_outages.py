"""A backend that is down, slow or broken costs a turn the prefetch wait at most, and no memory."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytest

from memex.config import load
from memex.hermes.status import report
from memex.provider import MemexProvider
from tests.hermes.support import Service, memory, provider, wait_for

_WAIT_S = 0.3
_SLACK_S = 0.5  # of a machine that does other things too


@pytest.fixture
def remote(tmp_path: Path, service: Service) -> MemexProvider:
    (tmp_path / ".env").write_text(f"MEMORY_API_TOKEN={service.token}\n", encoding="utf-8")
    return provider(tmp_path, settings={**service.settings, "prefetch_wait_s": _WAIT_S, "api_timeout_s": 2})


def quick_writer(made: MemexProvider) -> None:
    """Try again at once where a person would wait half a minute."""
    memory(made)._writer._retry_s = 0.05


def close_breakers(made: MemexProvider) -> None:
    """Let the pause of an open breaker be over."""
    for breaker in memory(made)._parts.backend._breakers.values():
        breaker.succeeded()


def turn(made: MemexProvider, number: int) -> float:
    """One turn as the host drives it; return the seconds that the conversation waited."""
    started = time.monotonic()
    made.on_turn_start(number, f"what do you know about project {number}?")
    made.prefetch(f"what do you know about project {number}?")
    waited = time.monotonic() - started
    made.sync_turn(f"Project {number} is due in week {number}.", f"Noted, week {number}.", session_id="s1")
    return waited


def break_it(service: Service, how: str) -> None:
    if how == "down":
        service.down()
    else:
        service.mode = how


def mend(service: Service, how: str) -> None:
    service.released.set()
    service.mode = ""
    if how == "down":
        service.up()


@pytest.mark.parametrize("how", ["down", "slow", "garbage", "401", "429", "500"])
def test_an_outage_delays_turns_by_the_wait_at_most_and_loses_nothing(
    remote: MemexProvider, service: Service, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    quick_writer(remote)
    break_it(service, how)
    with caplog.at_level(logging.INFO, logger="memex"):
        waits = [turn(remote, number) for number in range(1, 5)]
        wait_for(lambda: any("waits to be stored" in r.message for r in caplog.records))
    assert max(waits) < _WAIT_S + _SLACK_S
    assert service.texts() == []

    mend(service, how)
    close_breakers(remote)
    remote.sync_turn("The service is back, I said.", "Good.", session_id="s1")
    wanted = {f"Project {n} is due in week {n}." for n in range(1, 5)} | {"The service is back, I said."}
    wait_for(lambda: wanted <= set(service.texts()), 20)
    wait_for(lambda: memory(remote)._parts.queue.stats()["open"] == 0)
    remote.shutdown()

    (warning,) = [r.message for r in caplog.records if r.levelno >= logging.WARNING]
    assert "what is said waits to be stored" in warning
    assert ("MEMORY_API_TOKEN" in warning) == (how == "401")


def agents_breakers(home: Path) -> Any:
    """What `memex status`, another process, says of them."""
    return report(load(home, {}))["backend"]["breakers"]


def test_the_breaker_opens_and_closes_again(remote: MemexProvider, service: Service, tmp_path: Path) -> None:
    backend: Any = memory(remote)._parts.backend
    clock = [1_000.0]
    backend._now = lambda: clock[0]
    service.mode = "500"
    for number in range(5):
        remote.on_turn_start(number, f"question number {number} about sushi")
        remote.prefetch(f"question number {number} about sushi")
    assert backend.breakers()["reads"].state == "open"
    wait_for(lambda: agents_breakers(tmp_path)["reads"].startswith("open for 1"))
    assert agents_breakers(tmp_path)["writes"] == "closed"
    calls = len(service.calls)
    remote.on_turn_start(9, "one more question about ramen")
    assert remote.prefetch("one more question about ramen") == ""
    assert len(service.calls) == calls  # nobody is asked while it is open
    service.mode = ""
    clock[0] += 121
    assert backend.breakers()["reads"].state == "half_open"
    remote.on_turn_start(10, "and now, what about tea?")
    remote.prefetch("and now, what about tea?")
    assert backend.breakers()["reads"].state == "closed"
    wait_for(lambda: agents_breakers(tmp_path)["reads"] == "closed")
    service.mode = "401"
    remote.prefetch("and what about coffee?")
    wait_for(lambda: agents_breakers(tmp_path)["reads"].startswith("open"))
    remote.shutdown()
    assert agents_breakers(tmp_path)["reads"] == "closed"  # it has gone with its agent


def test_what_one_process_could_not_deliver_the_next_one_does(tmp_path: Path, service: Service) -> None:
    (tmp_path / ".env").write_text(f"MEMORY_API_TOKEN={service.token}\n", encoding="utf-8")
    service.down()
    first = provider(tmp_path, settings={**service.settings, "prefetch_wait_s": 0.1})
    first.sync_turn("娘のさくらはピーナッツアレルギーです。", "気をつけます。", session_id="s1")
    first.shutdown()
    service.up()
    second = provider(tmp_path, "s2")
    wait_for(lambda: "娘のさくらはピーナッツアレルギーです。" in service.texts())
    second.shutdown()
    assert service.texts().count("娘のさくらはピーナッツアレルギーです。") == 1


def test_shutdown_does_not_wait_for_a_dead_service(remote: MemexProvider, service: Service) -> None:
    service.mode = "slow"
    memory(remote)._parts.backend._timeout_s = 20
    turn(remote, 1)
    started = time.monotonic()
    remote.shutdown()
    remote.shutdown()
    assert time.monotonic() - started < 4
    assert memory(remote)._parts.queue.stats()["open"] == 1
    service.released.set()


def test_a_missing_token_is_told_once_and_memory_is_off(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = provider(tmp_path, settings={"backend_kind": "remote", "api_url": "http://127.0.0.1:9"})
    assert made.prefetch("what do I like?") == ""
    made.sync_turn("I like tea very much.", "ok", session_id="s1")
    made.on_session_end([{"role": "user", "content": "I like tea."}])
    assert "MEMORY_API_TOKEN is not set" in made.handle_tool_call("memory_search", {"query": "tea"})
    made.shutdown()
    # A writer of a provider that was shut down before may still tell what it left waiting.
    told = [r.message for r in caplog.records if "waits to be stored" not in r.message]
    assert told == ["memex: no memory backend: MEMORY_API_TOKEN is not set"]
    assert not (tmp_path / "memex-pending.jsonl").exists()
