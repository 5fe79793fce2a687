"""The load generator's HTTP: framing, and a closed loop against a real socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from bench.harness.http import Connection, encode, parse_response
from bench.harness.load import run_load, search_call, store_call

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    ("answer", "status", "body", "must_close"),
    [
        (OK, 200, b"{}", False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", False),
        (b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nConnection: close\r\n\r\n", 503, b"", True),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
            200,
            b"abcde",
            False,
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n健身健".encode(), 200, "健身健".encode(), False),
    ],
)
def test_an_answer_is_found_only_when_it_is_whole(answer: bytes, status: int, body: bytes, must_close: bool) -> None:
    for end in range(len(answer)):
        assert parse_response(answer[:end]) is None
    parsed = parse_response(answer)
    assert parsed is not None
    assert (parsed[0].status, parsed[0].body, parsed[1]) == (status, body, must_close)


@pytest.mark.parametrize("junk", [b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"])
def test_what_is_no_answer_is_refused(junk: bytes) -> None:
    with pytest.raises(ValueError, match=r"status line|Content-Length"):
        parse_response(junk)


def test_a_request_carries_its_body_in_utf8_with_its_length() -> None:
    request = encode("POST", "/v1/memories", {"content": "東京で会いましょう"}, {"Idempotency-Key": "k"})
    head, _, body = request.partition(b"\r\n\r\n")
    assert json.loads(body) == {"content": "東京で会いましょう"}
    assert f"Content-Length: {len(body)}".encode() in head
    assert b"Idempotency-Key: k" in head


@asynccontextmanager
async def served(answer: Callable[[bytes], bytes | None]) -> AsyncIterator[int]:
    """Serve on a free port; None closes the connection without an answer."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0
                )
                reply = answer(head + await reader.readexactly(length))
                if reply is None:
                    return
                writer.write(reply)
        except asyncio.IncompleteReadError:
            return
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_load_sends_every_call_once_and_counts_by_kind() -> None:
    seen: list[str] = []

    def answer(request: bytes) -> bytes:
        body = json.loads(request.partition(b"\r\n\r\n")[2])
        seen.append(body.get("content") or body["query"])
        return OK

    calls = [store_call("u", f"记忆 {i}") for i in range(30)] + [search_call("u", f"質問 {i}") for i in range(70)]
    async with served(answer) as port:
        result = await run_load(port, calls, clients=7, duration_s=30)
    assert sorted(seen) == sorted(c.text for c in calls)
    assert sorted(result.texts) == sorted(seen)
    assert {kind: len(samples) for kind, samples in result.samples_s.items()} == {"store": 30, "search": 70}
    assert not result.errors
    assert result.rate > 0


async def test_refusals_and_lost_connections_are_errors_not_samples() -> None:
    replies = iter([OK, b"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n", None, OK])
    async with served(lambda _request: next(replies)) as port:
        result = await run_load(port, [store_call("u", str(i)) for i in range(4)], clients=1, duration_s=30)
    assert result.completed == 2
    assert dict(result.errors) == {"HTTP 429": 1, "ConnectionResetError": 1}


async def test_a_silent_service_is_a_timeout_and_its_late_answer_is_not_taken_for_the_next() -> None:
    replies = iter([b"", OK])
    async with served(lambda _request: next(replies)) as port:
        connection = Connection(port)
        with pytest.raises(TimeoutError):
            await connection.request(encode("GET", "/"), timeout_s=0.05)
        assert (await connection.request(encode("GET", "/"), timeout_s=5)).status == 200
        connection.close()


async def test_load_ends_at_its_time_bound() -> None:
    async with served(lambda _request: OK) as port:
        endless = (store_call("u", str(i)) for i in iter(int, 1))
        result = await run_load(port, endless, clients=3, duration_s=0.1)
    assert 0.1 <= result.elapsed_s < 5
    assert result.completed > 0
