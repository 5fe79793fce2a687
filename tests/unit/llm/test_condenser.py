"""The language model is asked over HTTP, within a deadline, and its answers are read with care."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from memex.protocol.errors import Unavailable
from memex_server.llm.condenser import OpenAICondenser, parse_rating


class Endpoint:
    """An OpenAI-compatible endpoint that answers with `answers` in turn: a text, a status, or seconds to be slow."""

    def __init__(self) -> None:
        self.answers: list[str | int | float | None] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                endpoint.requests.append(json.loads(body))
                endpoint.keys.append(self.headers["Authorization"])
                answer = endpoint.answers.pop(0) if len(endpoint.answers) > 1 else endpoint.answers[0]
                if isinstance(answer, float):
                    endpoint.released.wait(answer)
                    answer = "8"
                status = answer if isinstance(answer, int) else 200
                message = {"role": "assistant", "content": answer}
                choices = [] if answer is None else [{"index": 0, "finish_reason": "stop", "message": message}]
                document = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}
                payload = json.dumps(document if status == 200 else {"error": {"message": "secret detail"}}).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(payload)))
                    self.end_headers()
                    self.wfile.write(payload)
                except OSError:
                    return  # the client did not wait

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.close()


async def test_the_time_to_import_the_client_counts(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    condenser = OpenAICondenser(base_url=endpoint.url, api_key="k-1", model="m", deadline_s=0.1)
    open_client, imported = condenser._open, threading.Event()

    def slowly() -> Any:
        assert imported.wait(20)
        return open_client()

    monkeypatch.setattr(condenser, "_open", slowly)
    with pytest.raises(Unavailable, match=r"within 0\.1 s"):
        await condenser.rate("I like tea.")
    imported.set()
    await condenser.load()
    assert endpoint.requests == []
    await condenser.close()


async def ask(endpoint: Endpoint, text: str = "I like tea.", *, deadline_s: float = 20.0) -> tuple[float, str]:
    condenser = OpenAICondenser(base_url=endpoint.url, api_key="k-1", model="m", deadline_s=deadline_s)
    try:
        return await condenser.rate(text), await condenser.condense(text)
    finally:
        await condenser.close()
        await condenser.close()


async def test_it_rates_and_condenses(endpoint: Endpoint) -> None:
    endpoint.answers = ["8", "The user\nlikes tea."]
    assert await ask(endpoint) == (8.0, "The user likes tea.")
    assert endpoint.requests[0]["model"] == "m"
    assert endpoint.requests[0]["messages"][1]["content"] == "I like tea."
    assert endpoint.keys[0] == "Bearer k-1"


@pytest.mark.parametrize("failure", [500, 503, 429])
async def test_a_passing_failure_is_tried_again(endpoint: Endpoint, failure: int) -> None:
    endpoint.answers = [failure, "9", "ok"]
    assert (await ask(endpoint))[0] == 9
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("failure", [400, 401, 404])
async def test_a_refusal_is_not_tried_again_and_its_text_is_not_told(endpoint: Endpoint, failure: int) -> None:
    endpoint.answers = [failure]
    with pytest.raises(Unavailable) as refused:
        await ask(endpoint)
    assert len(endpoint.requests) == 1
    assert "secret" not in str(refused.value)


async def test_a_slow_model_is_given_up_at_the_deadline(endpoint: Endpoint) -> None:
    endpoint.answers = [30.0]
    started = time.monotonic()
    with pytest.raises(Unavailable, match=r"within 0\.5 s"):
        await ask(endpoint, deadline_s=0.5)
    assert time.monotonic() - started < 5


async def test_a_model_that_is_down_is_unavailable() -> None:
    condenser = OpenAICondenser(base_url="http://127.0.0.1:9/v1", api_key="", model="m", deadline_s=15)
    async with asyncio.timeout(30):
        with pytest.raises(Unavailable):
            await condenser.rate("x")
    await condenser.close()


async def test_an_answer_without_text_is_rated_five(endpoint: Endpoint) -> None:
    endpoint.answers = [None]
    assert await ask(endpoint) == (5.0, "")


@pytest.mark.parametrize(
    ("answer", "rating"),
    [("8", 8), ("7.5", 7.5), ("10", 10), ("Rating: 9/10", 9), ("I would say 3.", 3), ("", 5), ("none", 5), ("11", 5),
     ("0", 5), ("100", 5), ("nan", 5), ("-3", 3), ("评分：8分", 8), ("1.5", 1.5)],
)  # fmt: skip
def test_a_rating_is_read_or_is_five(answer: str, rating: float) -> None:
    assert parse_rating(answer) == rating
