"""Several worker processes are one service: one database, one count, and one that dies is replaced."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from functools import partial

import psutil
import pytest

from tests.acceptance.served import Served, Services, everything_of, remember, together, until

pytestmark = pytest.mark.timeout(240)

_FIRST = 24


@pytest.fixture(scope="module")
def served(services: Services) -> Iterator[Served]:
    """Two workers on an empty database; requests come as soon as the port is open."""
    served = services.new({"WORKERS": "2", "MEMEX_PROT": "8010"})
    try:
        served.start(wait=False)

        def is_open() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", served.port)) == 0

        until("the port is open", is_open)
        answers = together([partial(remember, served.port, f"first {i} 最初の記憶", "first") for i in range(_FIRST)])
        assert [answer.status for answer in answers] == [201] * _FIRST, served.output()
        until("both workers are there", lambda: len(served.workers()) == 2)
        yield served
    finally:
        served.clean_up()


def _count(served: Served, name: str) -> float:
    """Return the sum of a metric's samples whose line begins with `name`."""
    lines = served.call("GET", "/metrics").body.decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def test_first_requests_at_once_on_an_empty_database_are_all_stored(served: Served) -> None:
    assert len(everything_of(served.port, "first")) == _FIRST


def test_an_unknown_setting_is_warned_of_once_by_all_processes_with_the_nearest_name(served: Served) -> None:
    warnings = [line for line in served.stderr().splitlines() if "MEMEX_PROT" in line]
    assert len(warnings) == 1
    assert "MEMEX_PORT" in warnings[0]


def test_metrics_count_the_requests_of_all_workers_whichever_answers(served: Served) -> None:
    name = 'http_requests_total{handler="/v1/memories/count"'
    before = _count(served, name)
    asked = partial(served.call, "GET", "/v1/memories/count?user_id=u")
    assert {answer.status for answer in together([asked] * 40)} == {200}
    sums = {_count(served, name) for _ in range(20)}
    assert sums == {before + 40}
    stored = 'memex_operations_total{operation="create",outcome="created"}'
    assert {_count(served, stored) for _ in range(5)} == {_FIRST}


def test_both_workers_serve(served: Served) -> None:
    def busy_s() -> list[float]:
        return [sum(worker.cpu_times()[:2]) for worker in served.workers()]

    before = busy_s()
    for _ in range(10):
        together([partial(served.call, "GET", "/v1/memories?user_id=first")] * 20)
        if all(now > then for now, then in zip(busy_s(), before, strict=True)):
            break
    else:
        pytest.fail("one worker does nothing")
    # Each has its own connections to the database, so each has opened the service.
    assert all(len(worker.net_connections("unix")) > 2 for worker in served.workers())


def test_the_same_text_by_many_clients_over_both_workers_is_one_memory(served: Served) -> None:
    answers = together([partial(remember, served.port, "我喜欢健身", "same") for _ in range(20)])
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sorted(answer.status for answer in answers) == [200] * 19 + [201]
    assert everything_of(served.port, "same")[0]["occurrences"] == 20


def test_a_killed_worker_is_replaced_and_requests_go_on(served: Served) -> None:
    name = 'http_requests_total{handler="/v1/memories/count"'
    before = _count(served, name)
    victim = served.workers()[0]
    os.kill(victim.pid, signal.SIGKILL)
    for i in range(20):
        assert remember(served.port, f"meanwhile {i}", "meanwhile").status == 201
    until("another worker is there", lambda: len(served.workers()) == 2 and victim.pid not in _pids(served))
    newcomer = next(worker for worker in served.workers() if worker.create_time() > victim.create_time() + 0.5)
    until("it has opened the service", lambda: len(newcomer.net_connections("unix")) > 2)
    assert len(everything_of(served.port, "meanwhile")) == 20
    assert _count(served, name) == before, "the count of the dead is lost"
    assert _count(served, "http_requests_inprogress") == 1


def test_workers_do_not_outlive_their_killed_parent_and_the_next_start_has_the_port(services: Services) -> None:
    served = services.new({"WORKERS": "2"}, fresh=False)
    served.start()
    until("both workers are there", lambda: len(served.workers()) == 2)
    orphans = served.workers()
    assert served.remember("before the crash").status == 201
    os.kill(served.pid, signal.SIGKILL)
    served.wait_end(10)
    until("the orphans are gone", lambda: not [o for o in orphans if _lives(o)], 30)
    served.env["WORKERS"] = "1"
    served.start()
    assert len(everything_of(served.port, "u")) == 1
    status, took_s = served.stop()
    assert (status, served.postmaster()) == (0, None)
    assert took_s <= 10


def test_two_workers_end_within_ten_seconds(served: Served) -> None:
    status, took_s = served.stop()
    assert (status, served.postmaster()) == (0, None)
    assert took_s <= 10


def _pids(served: Served) -> set[int]:
    return {worker.pid for worker in served.workers()}


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
