"""Logs hold no memory, no query and no secret, even at the finest level and when requests fail."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import asyncpg
import pytest

from tests.acceptance.served import Served, Services, free_port, until

pytestmark = pytest.mark.timeout(180)

_TEXT = "plugh xyzzy 普洱茶密语 ひみつの合言葉"
_TOKEN = "sk-live-4242deadbeef4242"
_WORDS = ("plugh", "xyzzy", "普洱茶密语", "ひみつの合言葉", _TOKEN, "hunter2", "frobozz")


def _leaks(text: str) -> list[str]:
    return [word for word in _WORDS if word in text]


@pytest.fixture(scope="module", params=["json", "text"])
def served(request: pytest.FixtureRequest, services: Services) -> Iterator[Served]:
    with services.running({"MEMEX_LOG_LEVEL": "DEBUG", "MEMEX_LOG_FORMAT": request.param}) as served:
        yield served


def _everything_that_can_be_asked(served: Served) -> list[int]:
    auth = {"Authorization": f"Bearer {_TOKEN}", "X-Api-Key": _TOKEN, "Idempotency-Key": "k"}
    body = {
        "agent_id": "a",
        "user_id": "u",
        "content": f"{_TEXT} 密钥{_TOKEN}",
        "tags": ["frobozz"],
        "metadata": {"frobozz": _TOKEN},
    }
    path = "/v1/memories"
    stored = served.call("POST", path, body, headers=auth)
    one = f"{path}/{stored.json()['id']}"
    answers = [
        stored,
        served.call("POST", path, body | {"content": "plugh"}, headers=auth),  # same key, another body
        served.call("POST", path, body | {"importance": _TEXT}, headers=auth),
        served.call("POST", path, body | {_TEXT: 1}),
        served.call("POST", f"{path}/batch", {"memories": [body, body | {"importance": 9}]}),
        served.call("POST", f"{path}/search", {"user_id": "u", "query": _TEXT, "explain": True}, headers=auth),
        served.call("POST", f"{path}/search", {"user_id": "u", "query": _TEXT, "mode": _TOKEN}),
        served.call("POST", f"{path}/search", {"user_id": "u", "query": f"{_TEXT} \udcff \0".encode("utf-8", "replace").decode()}),
        served.call("PATCH", one, {"content": f"new {_TEXT}", "tags": ["frobozz"]}),
        served.call("GET", f"{one}?user_id={_TOKEN}"),
        served.call("GET", f"/{_TOKEN}/frobozz?xyzzy={_TOKEN}"),
        served.call("GET", f"{path}?user_id=u&tags=frobozz&cursor={_TOKEN}"),
        served.call("DELETE", f"{one}?purge=true"),
    ]  # fmt: skip
    return [answer.status for answer in answers]


def test_no_text_query_or_token_is_logged_at_debug(served: Served) -> None:
    statuses = _everything_that_can_be_asked(served)
    assert statuses[0] == 201
    assert {status // 100 for status in statuses} == {2, 4}, statuses
    assert _leaks(served.output()) == []

    # An outage in the middle of it.
    server = served.postmaster()
    assert server is not None
    os.kill(server, signal.SIGKILL)
    statuses = [served.remember(f"{_TEXT} {i}", headers={"Authorization": f"Bearer {_TOKEN}"}).status for i in range(5)]
    assert set(statuses) <= {201, 503}
    until("another server runs", lambda: served.postmaster() not in {None, server})
    served.wait_ready()
    assert "http.request" in served.stderr() or "/v1/memories" in served.stderr(), "nothing was logged at all"
    assert _leaks(served.output()) == []
    assert served.database_log().count("database system is ready") == 2
    assert _leaks(served.database_log()) == []


async def test_not_even_a_row_that_the_database_refuses_is_logged(served: Served) -> None:
    connection = await asyncpg.connect(user="postgres", database="postgres", host=str(served.data_dir / "postgres"))
    try:
        # PostgreSQL names the whole row in the detail of such an error.
        await connection.execute("ALTER TABLE memex.memories ADD CHECK (content NOT LIKE '%plugh%') NOT VALID")
    finally:
        await connection.close()
    answer = served.remember(_TEXT)
    assert answer.status >= 400
    assert _leaks(answer.body.decode()) == []
    assert served.stop()[0] == 0
    assert "CheckViolation" in served.stderr()
    assert _leaks(served.output()) == []
    assert _leaks(served.database_log()) == []


@pytest.mark.parametrize(
    "url", ["postgresql://me:hunter2@127.0.0.1:{}/d", "postgresql://me:hunter2@127.0.0.1:{}x/d?sslmode=require"]
)
def test_the_password_of_a_database_that_cannot_be_reached_is_not_logged_at_debug(services: Services, url: str) -> None:
    served = services.new({"DATABASE_URL": url.format(free_port()), "MEMEX_LOG_LEVEL": "DEBUG"})
    served.start(wait=False)
    assert served.wait_end() == 1
    assert "memex: cannot start" in served.stderr()
    assert _leaks(served.output()) == []
