"""The remote backend around a transport that fails as it is told to."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memex.backend.remote import RemoteBackend
from memex.protocol.errors import MemexError, NotFound, RateLimited, Unauthorized, Unavailable
from memex.protocol.models import ExtractRequest, LinkRequest, RecallRequest, StoreRequest
from memex.protocol.wire import Request, Response
from memex.transport.retry import NO_RETRY, Retry

STORE = StoreRequest(content="主人偏好周五晚上部署", occurred_at=datetime(2026, 9, 28, tzinfo=UTC))
RECALL = RecallRequest(keywords=["周五"])


def ok(data: Any) -> Response:
    return Response(status=200, body=json.dumps({"success": True, "data": data}).encode())


def status(code: int, **headers: str) -> Response:
    return Response(status=code, headers={k.replace("_", "-"): v for k, v in headers.items()})


class Script:
    """Answers by path; what it was asked is in `asked`."""

    def __init__(self) -> None:
        self.answers: dict[str, Response | Exception] = {
            "health": ok({"status": "ok"}),
            "store": ok({"memory_id": "m"}),
            "recall": ok({"items": []}),
            "get": ok({"memory_id": "m", "content": "x"}),
            "link": ok({"link_id": "l"}),
            "extract": ok({"claimed": 0}),
        }
        self.asked: list[str] = []
        self.timeouts: set[float] = set()

    def send(self, request: Request, *, timeout_s: float) -> Response:
        self.asked.append(request.operation)
        self.timeouts.add(timeout_s)
        answer = self.answers[request.operation]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Time:
    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s

    def sleep(self, seconds: float) -> None:
        self.s += seconds


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def time() -> Time:
    return Time()


def backend(script: Script, time: Time, retry: Retry = NO_RETRY) -> RemoteBackend:
    return RemoteBackend(
        script, timeout_s=2, retry=retry, threshold=3, open_s=60, now=time, sleep=time.sleep, chance=lambda: 1.0
    )


CALLS: dict[str, Callable[[RemoteBackend], object]] = {
    "store": lambda b: b.store(STORE),
    "recall": lambda b: b.recall(RECALL),
    "get": lambda b: b.get("m"),
    "link": lambda b: b.link(LinkRequest(from_id="a", to_id="b")),
    "extract": lambda b: b.extract(ExtractRequest()),
}


def fail(remote: RemoteBackend, call: str, times: int, kind: type[MemexError] = Unavailable) -> None:
    for _ in range(times):
        with pytest.raises(kind):
            CALLS[call](remote)


@pytest.mark.parametrize("call", CALLS)
def test_every_call_goes_to_its_endpoint_within_its_timeout(script: Script, time: Time, call: str) -> None:
    CALLS[call](backend(script, time))
    assert (script.asked, script.timeouts) == ([call], {2})


def test_an_empty_recall_is_answered_without_asking(script: Script, time: Time) -> None:
    assert backend(script, time).recall(RecallRequest(keywords=[" "])).records == ()
    assert script.asked == []


def test_an_outage_is_tried_again(script: Script, time: Time) -> None:
    script.answers["store"] = Unavailable("down")
    fail(backend(script, time, Retry(attempts=3, first_s=1)), "store", 1)
    assert (script.asked, time.s) == (["store"] * 3, 3.0)


def test_writes_that_fail_leave_reads_open_and_the_reverse(script: Script, time: Time) -> None:
    remote = backend(script, time)
    script.answers["store"] = status(500)
    fail(remote, "store", 3)

    remote.recall(RECALL)
    for call in ("store", "link", "extract"):
        asked = len(script.asked)
        with pytest.raises(Unavailable, match="asked again in 60 s"):
            CALLS[call](remote)
        assert len(script.asked) == asked  # refused here, not there
    assert {name: state.state for name, state in remote.breakers().items()} == {"reads": "closed", "writes": "open"}


def test_it_closes_again_once_the_service_is_back(script: Script, time: Time) -> None:
    remote = backend(script, time)
    script.answers["recall"] = Unavailable("down")
    fail(remote, "recall", 3)
    time.s += 60
    fail(remote, "recall", 1)  # half open: one try, which fails
    fail(remote, "recall", 1)
    assert script.asked.count("recall") == 4

    script.answers["recall"] = ok([])
    time.s += 60
    remote.recall(RECALL)
    assert remote.breakers()["reads"].state == "closed"


@pytest.mark.parametrize("code", [400, 404, 409, 413, 422])
def test_a_callers_own_mistakes_never_open_it(script: Script, time: Time, code: int) -> None:
    remote = backend(script, time)
    script.answers["get"] = status(code)
    fail(remote, "get", 20, MemexError)
    assert len(script.asked) == 20
    assert remote.breakers()["reads"].failures == 0


def test_a_refused_token_opens_it_at_once_and_is_not_tried_again(script: Script, time: Time) -> None:
    remote = backend(script, time, Retry(attempts=3))
    script.answers["store"] = status(401)
    fail(remote, "store", 1, Unauthorized)
    fail(remote, "store", 1)
    assert script.asked == ["store"]


def test_a_rate_limit_is_waited_for_and_then_kept(script: Script, time: Time) -> None:
    remote = backend(script, time, Retry(attempts=2, budget_s=100))
    script.answers["store"] = status(429, retry_after="30")
    fail(remote, "store", 1, RateLimited)
    assert (script.asked, time.s) == (["store"] * 2, 30)

    with pytest.raises(Unavailable) as caught:
        remote.store(STORE)
    assert caught.value.retry_after_s == 30
    time.s += 30
    script.answers["store"] = ok({"memory_id": "m"})
    assert remote.store(STORE).memory_id == "m"


@pytest.mark.parametrize("garbage", [b"<html>", b"", b'{"success": true, "data": {}}'])
def test_garbage_counts_as_an_outage(script: Script, time: Time, garbage: bytes) -> None:
    remote = backend(script, time)
    script.answers["store"] = Response(status=200, body=garbage)
    fail(remote, "store", 3)
    assert remote.breakers()["writes"].state == "open"


def test_health_is_asked_whatever_the_breakers_say(script: Script, time: Time) -> None:
    remote = backend(script, time)
    script.answers["recall"] = script.answers["store"] = Unavailable("down")
    fail(remote, "recall", 3)
    fail(remote, "store", 3)
    assert remote.health().ok
    script.answers["get"] = status(404)
    time.s += 60
    with pytest.raises(NotFound):
        remote.get("m")
    assert remote.breakers()["reads"].state == "closed"  # it answered, so it lives
