"""Kill -9 under write load: what was acknowledged is there exactly once, and memex comes back by itself."""

from __future__ import annotations

import hashlib
import itertools
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest

from tests.acceptance.served import Answer, Served, Services, everything_of, tell, until

pytestmark = pytest.mark.timeout(400)

_WRITERS = 6
_ROUNDS = 2
_TEXTS = ("Ana moved house for the {}th time", "第{}次部署之前先备份数据库", "{}番目のお弁当にナッツは入れない")


class Load:
    """Writers that go on while the service dies, and remember what it acknowledged."""

    def __init__(self, served: Served, user: str) -> None:
        self._served = served
        self._user = user
        self._numbers = itertools.count()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self.acknowledged: dict[str, str] = {}
        self.in_doubt: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.without_retry_after = 0

    def begin(self) -> None:
        """Start the writers, and wait until some writes are through."""
        before = len(self.acknowledged)
        self._stop.clear()
        self._threads = [threading.Thread(target=self._write) for _ in range(_WRITERS)]
        for thread in self._threads:
            thread.start()
        until("writes go through", lambda: len(self.acknowledged) >= before + 2 * _WRITERS)

    def end(self) -> None:
        """Stop the writers."""
        self._stop.set()
        for thread in self._threads:
            thread.join(90)
            assert not thread.is_alive(), "a request was never answered"

    def _write(self) -> None:
        while not self._stop.is_set():
            number = next(self._numbers)
            text = _TEXTS[number % len(_TEXTS)].format(number)
            if not self.send(text):
                self.in_doubt.append(text)
                self._stop.wait(0.3)

    def send(self, text: str) -> bool:
        """Store a text under its own Idempotency-Key; return whether it was acknowledged."""
        key = hashlib.sha256(f"{self._user} {text}".encode()).hexdigest()
        try:
            answer: Answer = self._served.remember(text, self._user, {"Idempotency-Key": key})
        except OSError:
            return False
        self.statuses[answer.status] += 1
        if answer.status in {200, 201}:
            memory_id = answer.json()["id"]
            assert self.acknowledged.setdefault(text, memory_id) == memory_id
            return True
        self.without_retry_after += "retry-after" not in answer.headers
        return False

    def repeat(self) -> None:
        """Send again what was left in doubt, and some of what was acknowledged."""
        while self.in_doubt:
            assert self.send(self.in_doubt.pop())
        for text in list(self.acknowledged)[-5:]:
            assert self.send(text)

    def check(self) -> None:
        """Compare with what is stored."""
        stored = everything_of(self._served.port, self._user)
        assert {m["content"]: m["id"] for m in stored} == self.acknowledged
        assert len(stored) == len(self.acknowledged), "a memory is there twice"
        assert {m["occurrences"] for m in stored} == {1}, "a retry was counted as a repeat"
        assert set(self.statuses) <= {200, 201, 503}, self.statuses
        assert self.without_retry_after == 0
        tell(f"{len(stored)} memories, answers {dict(self.statuses)}")


@pytest.fixture(scope="module")
def served(services: Services) -> Iterator[Served]:
    with services.running() as served:
        yield served


def test_kill_9_of_the_service_loses_and_doubles_nothing(served: Served) -> None:
    load = Load(served, "service")
    for _ in range(_ROUNDS):
        load.begin()
        served.kill()
        load.end()
        back_s = served.start()
        tell(f"ready again after {back_s:.1f} s")
        load.repeat()
        load.check()


def test_a_server_process_that_dies_under_a_request_is_an_outage_not_an_error(served: Served) -> None:
    load = Load(served, "session")
    load.begin()
    server = served.postmaster()
    assert server is not None
    os.kill(server, signal.SIGQUIT)  # "immediate": every session is told that the server crashes
    until("another server runs", partial(_has_another_server, served, server))
    served.wait_ready()
    load.end()
    load.repeat()
    load.check()
    assert "request failed" not in served.stderr()


def test_kill_9_of_postgres_loses_and_doubles_nothing_and_needs_no_restart(served: Served) -> None:
    load = Load(served, "postgres")
    for _ in range(_ROUNDS):
        load.begin()
        server = served.postmaster()
        assert server is not None
        os.kill(server, signal.SIGKILL)
        until("another server runs", partial(_has_another_server, served, server))
        back_s = until("it stores again", partial(_has_more, load, len(load.acknowledged)))
        tell(f"stores again {back_s:.1f} s after the server is back")
        load.end()
        served.wait_ready()
        load.repeat()
        load.check()
    assert load.statuses[503] > 0, "the outage was never seen"
    assert served.call("GET", "/health").status == 200
    assert served.stop()[0] == 0
    assert served.postmaster() is None


def _has_another_server(served: Served, than: int) -> bool:
    return served.postmaster() not in {None, than}


def _has_more(load: Load, than: int) -> bool:
    return len(load.acknowledged) > than
