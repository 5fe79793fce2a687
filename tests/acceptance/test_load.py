"""More clients than connections, slow clients, large bodies, and limits."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from functools import partial

import pytest

from memex.backend.remote import RemoteBackend
from memex.protocol.errors import RateLimited
from memex.protocol.models import RecallRequest
from memex.transport.http import HttpTransport
from memex.transport.retry import NO_RETRY
from tests.acceptance.served import Answer, Served, Services, call, everything_of, remember, tell, together, until

pytestmark = pytest.mark.timeout(240)

_CLIENTS = 120
_MAX_BODY_BYTES = 200_000


@pytest.fixture(scope="module")
def served(services: Services) -> Iterator[Served]:
    env = {"DB_MAX_POOL_SIZE": "4", "DB_MIN_POOL_SIZE": "1", "MEMEX_MAX_BODY_BYTES": str(_MAX_BODY_BYTES)}
    with services.running(env) as served:
        yield served


def test_120_clients_on_four_connections_are_all_served(served: Served) -> None:
    def client(number: int) -> Answer:
        stored = remember(served.port, f"client {number} 客户 クライアント", f"load-{number % 7}")
        if stored.status != 201:
            return stored
        body = {"user_id": f"load-{number % 7}", "query": f"client {number}", "top_k": 50}
        found = call(served.port, "POST", "/v1/memories/search", body)
        if found.status == 200:
            assert stored.json()["id"] in {hit["id"] for hit in found.json()["results"]}, "stored and not found"
        return found

    started = time.monotonic()
    answers = together([partial(client, number) for number in range(_CLIENTS)])
    tell(f"{_CLIENTS} clients, store and search each: {time.monotonic() - started:.1f} s")
    assert {answer.status for answer in answers} == {200}
    assert sum(len(everything_of(served.port, f"load-{user}")) for user in range(7)) == _CLIENTS


def test_clients_that_send_half_a_body_do_not_hold_up_the_others(served: Served) -> None:
    head = b"POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
    waiting = [socket.create_connection(("127.0.0.1", served.port), timeout=30) for _ in range(50)]
    try:
        for connection in waiting:
            connection.sendall(head + b'{"agent_id": "a", ')
        until(
            "all of them are in flight",
            lambda: b"http_requests_inprogress 51.0" in served.call("GET", "/metrics").body,
        )
        answers = together([partial(remember, served.port, f"quick {i}", "quick") for i in range(10)])
        assert [answer.status for answer in answers] == [201] * 10
    finally:
        for connection in waiting:
            connection.close()
    until("they are forgotten", lambda: b"http_requests_inprogress 1.0" in served.call("GET", "/metrics").body)


@pytest.mark.parametrize("declared", [True, False], ids=["by its length", "in chunks"])
def test_a_body_over_the_limit_is_413_and_stores_nothing(served: Served, declared: bool) -> None:
    user = f"large-{declared}"
    text = f'{{"agent_id": "a", "user_id": "{user}", "content": "x", "metadata": {{"k": "{"x" * _MAX_BODY_BYTES}"}}}}'
    payload = text.encode()
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        framing = f"Content-Length: {len(payload)}" if declared else "Transfer-Encoding: chunked"
        head = f"POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{framing}\r\n\r\n"
        chunks = payload if declared else b"%x\r\n%b\r\n0\r\n\r\n" % (len(payload), payload)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it need not read all of it
            connection.sendall(head.encode() + chunks)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert everything_of(served.port, user) == []
    assert served.remember("and the next one is fine", user).status == 201


@pytest.fixture(scope="module")
def limited(services: Services) -> Iterator[Served]:
    with services.running({"RATE_LIMIT_WRITES_PER_MINUTE": "3", "RATE_LIMIT_SEARCHES_PER_MINUTE": "2"}) as served:
        yield served


def test_the_fourth_write_of_a_minute_is_429_and_a_forwarded_address_changes_nothing(limited: Served) -> None:
    statuses = []
    for number in range(6):
        headers = {"X-Forwarded-For": f"10.0.0.{number}", "X-Real-IP": f"10.0.1.{number}"}
        answer = limited.remember(f"write {number}", headers=headers)
        statuses.append(answer.status)
        if answer.status == 429:
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            assert answer.headers["content-type"].startswith("application/problem+json")
    assert statuses == [201] * 3 + [429] * 3
    assert len(everything_of(limited.port, "u")) == 3

    body = {"user_id": "u", "agent_id": "a", "query": "write"}
    searches = [
        limited.call("POST", "/v1/memories/search", body, headers={"Forwarded": f"for=10.1.1.{i}"}).status
        for i in range(4)
    ]
    assert searches == [200, 200, 429, 429]
    other = {"agent_id": "another", "user_id": "u", "content": "of another agent"}
    assert limited.call("POST", "/v1/memories", other).status == 201


def test_too_many_calls_of_the_protocol_are_429_with_the_time_to_come_back(limited: Served) -> None:
    remote = RemoteBackend(HttpTransport(f"http://127.0.0.1:{limited.port}"), timeout_s=60, retry=NO_RETRY)
    for _ in range(2):
        remote.recall(RecallRequest(keywords=["周五"]))
    with pytest.raises(RateLimited) as caught:
        remote.recall(RecallRequest(keywords=["周五"]))
    assert 0 < caught.value.retry_after_s <= 60
