"""The lifecycle in real processes: the gate over REST, a worker alone, and kill -9 while memories are condensed."""

from __future__ import annotations

import random
import signal
import subprocess
import time

import pytest

from tests.acceptance.served import MEMEX, Served, Services, call, everything_of, until

pytestmark = pytest.mark.timeout(400)

_KILLS = 2
_BUSY = {
    "SUMMARIZATION_THRESHOLD": "20",
    "SUMMARIZATION_BATCH_SIZE": "10",
    "SUMMARIZATION_INTERVAL_SECONDS": "0.1",
}


def texts(first: int, count: int) -> list[str]:
    kinds = ("Ann walked to lake number {} with her dog", "小安走到了第{}个湖边", "安は{}番目の湖まで歩いた")
    return [kinds[n % 3].format(n) for n in range(first, first + count)]


def fill(served: Served, wanted: list[str], user: str = "u") -> None:
    body = {"memories": [{"agent_id": "a", "user_id": user, "content": text} for text in wanted]}
    assert call(served.port, "POST", "/v1/memories/batch", body).json()["stored"] == len(wanted)


def lost_or_doubled(served: Served, wanted: set[str], user: str = "u") -> list[str]:
    """What is not there exactly once: live, or archived under a live summary."""
    listed = everything_of(served.port, f"{user}&state=all")
    live = {m["id"] for m in listed if m["deleted_at"] is None and m["condensed_into"] is None}
    places: dict[str, int] = {}
    for m in listed:
        if m["content"] in wanted and m["deleted_at"] is None:
            places[m["content"]] = places.get(m["content"], 0) + 1
            if m["condensed_into"] is not None and m["condensed_into"] not in live:
                return [f"{m['content']} is archived under nothing"]
    return [text for text in wanted if places.get(text) != 1]


def test_the_gate_answers_over_rest(plain: Served) -> None:
    outcomes = []
    for text in ("用户偏好 Go，明确不要 Java 方案", "谢谢，辛苦了", "用户喜欢用 Go 语言"):
        answer = call(plain.port, "POST", "/v1/memories/remember", {"user_id": "gate", "text": text})
        outcomes.append((answer.status, answer.json()["outcome"]))
    assert outcomes == [(201, "stored"), (200, "skipped"), (200, "merged")]
    context = call(
        plain.port, "POST", "/v1/context", {"user_id": "gate", "query": "用什么语言？", "token_budget": 200}
    ).json()
    assert "用户偏好 Go" in context["context"]
    again = call(plain.port, "POST", "/v1/memories/remember", {"user_id": "gate", "text": context["context"]}).json()
    assert (again["outcome"], again["id"]) == ("skipped", None)


def test_kill_9_while_condensing_loses_nothing_and_doubles_nothing(services: Services) -> None:
    rng = random.Random(4)
    with services.running(_BUSY) as served:
        for kill in range(_KILLS):
            # A user for each kill: the job of the one before stays leased to the dead process for a while.
            user, wanted = f"kill{kill}", texts(0, 150)
            fill(served, wanted, user)
            until("condensing begins", lambda user=user: _count(served, user) < 150)  # type: ignore[misc]
            time.sleep(rng.uniform(0, 0.3))  # the moment of the kill is the matter of this test
            served.kill()
            served.start()
            assert lost_or_doubled(served, set(wanted), user) == []


def test_a_worker_alone_condenses_what_a_service_leaves_to_it(services: Services) -> None:
    with services.running({**_BUSY, "SUMMARIZATION_ENABLED": "false"}) as served:
        fill(served, texts(0, 60))
        assert _count(served) == 60
        env = {**served.env, **_BUSY}
        worker = subprocess.Popen([MEMEX, "worker"], env=env, cwd="/", stdin=subprocess.DEVNULL)
        try:
            until("the worker condenses", lambda: _count(served) < 30)
            assert lost_or_doubled(served, set(texts(0, 60))) == []
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(15) == 0
        finally:
            worker.kill()
            worker.wait(15)


def _count(served: Served, user: str = "u") -> int:
    return int(call(served.port, "GET", f"/v1/memories/count?user_id={user}").json()["count"])
