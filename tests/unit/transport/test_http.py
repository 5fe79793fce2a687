"""One request over a real socket, against servers that misbehave in every way a test can make."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from memex.protocol.errors import SetupError, Unavailable
from memex.protocol.wire import Request, Response
from memex.transport.http import HttpTransport, base_url_of

Serve = Callable[[Callable[[socket.socket], None]], str]
ASK = Request(
    operation="x", method="POST", path="/x", body='{"q": "周五"}'.encode(), headers={"content-type": "application/json"}
)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves each connection by one function, which gets the socket after the request was read."""
    listeners: list[socket.socket] = []

    def start(handler: Callable[[socket.socket], None]) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def loop() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(5)
                    try:
                        received(connection)
                        handler(connection)
                    except OSError:
                        continue  # the client has left, as it should

        threading.Thread(target=loop, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def received(connection: socket.socket) -> bytes:
    """Read the whole request, which ends with the body of `ASK`."""
    data = b""
    while not data.endswith(b"}"):
        chunk = connection.recv(65_536)
        if not chunk:
            raise ConnectionResetError
        data += chunk
    return data


def reply(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def send(url: str, timeout_s: float = 5, token: str = "") -> Response:
    return HttpTransport(url, token=token).send(ASK, timeout_s=timeout_s)


def test_a_request_arrives_whole_and_its_answer_comes_back(serve: Serve) -> None:
    got: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def once() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(5)
            got.append(received(connection))
            connection.sendall(reply("200 OK", '{"a": "東京"}'.encode(), "X-Thing: 7"))

    thread = threading.Thread(target=once)
    thread.start()
    response = send(f"http://127.0.0.1:{listener.getsockname()[1]}", token="s3cret")
    thread.join(5)
    listener.close()

    head, _, body = got[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /x HTTP/1.1\r\n")
    assert b"Authorization: Bearer s3cret" in head
    assert body == ASK.body
    assert (response.status, response.headers["x-thing"], response.body.decode()) == (200, "7", '{"a": "東京"}')


@pytest.mark.parametrize("status", ["404 Not Found", "422 X", "429 X", "500 X", "503 X"])
def test_every_status_is_an_answer(serve: Serve, status: str) -> None:
    url = serve(lambda connection: connection.sendall(reply(status, b"why", "Retry-After: 3")))
    response = send(url)
    assert (response.status, response.body, response.headers["retry-after"]) == (int(status[:3]), b"why", "3")


def test_a_redirect_is_not_followed_so_the_token_stays_here(serve: Serve) -> None:
    asked: list[str] = []

    def elsewhere(connection: socket.socket) -> None:
        asked.append("other")
        connection.sendall(reply("200 OK"))

    other = serve(elsewhere)
    url = serve(lambda connection: connection.sendall(reply("302 Found", b"", f"Location: {other}/")))
    response = send(url, token="s3cret")
    assert (response.status, response.headers["location"]) == (302, f"{other}/")
    assert asked == []


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        (lambda c: c.close(), "closed|reset|empty"),
        (lambda c: c.sendall(b"SSH-2.0-OpenSSH_9\r\n"), "SSH"),
        (lambda c: c.sendall(reply("200 OK", b"x" * 10).replace(b"10", b"99")), "IncompleteRead"),
        (lambda c: c.sendall(b"HTTP/1.1 abc\r\n\r\n"), "abc"),
    ],
    ids=["hangs up", "not http", "cut short", "no status"],
)
def test_a_broken_answer_is_an_outage_that_names_the_address(
    serve: Serve, handler: Callable[[socket.socket], None], reason: str
) -> None:
    url = serve(handler)
    with pytest.raises(Unavailable, match=f"(?i){url} does not answer: .*({reason})"):
        send(url)


def test_nobody_at_the_address_is_an_outage() -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        with pytest.raises(Unavailable, match="refused"):
            send(f"http://127.0.0.1:{port}")


def test_the_timeout_holds_for_a_silent_server_and_for_one_that_drips(serve: Serve) -> None:
    enough = threading.Event()

    def silent(connection: socket.socket) -> None:
        enough.wait(10)

    def drip(connection: socket.socket) -> None:
        connection.sendall(reply("200 OK", b"x" * 1000)[:-1000])
        while not enough.wait(0.02):
            connection.sendall(b"x")

    for handler in (silent, drip):
        url = serve(handler)
        started = time.monotonic()
        with pytest.raises(Unavailable, match=r"nothing within 0\.3 s"):
            send(url, timeout_s=0.3)
        assert time.monotonic() - started < 3
    enough.set()


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
        ("https://memex.example/api/v1/memory", "https://memex.example"),
        (" https://memex.example/base/ ", "https://memex.example/base"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_address_is_taken_without_what_belongs_to_its_paths(given: str, used: str) -> None:
    assert base_url_of(given, name="MEMORY_API_URL") == used


@pytest.mark.parametrize(
    "given", ["", "127.0.0.1:8000", "ftp://x", "http://", "http://x:port", "http://x y", "http://例え"]
)
def test_an_address_that_cannot_be_used_is_refused_by_the_name_of_its_setting(given: str) -> None:
    with pytest.raises(SetupError, match=r"MEMORY_API_URL.*http://127"):
        base_url_of(given, name="MEMORY_API_URL")


@pytest.mark.parametrize("token", ["a b", "a\nX-Evil: 1", "密码"])
def test_a_token_that_cannot_stand_in_a_header_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(SetupError) as caught:
        HttpTransport("http://127.0.0.1:1", token=token)
    assert token not in str(caught.value)
