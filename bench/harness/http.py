"""An HTTP/1.1 client with as little work per request as will do, so that it never is the bottleneck.

One connection carries one request at a time and is kept alive. Requests are encoded before the clock
starts; of an answer only the status line and the framing are parsed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

__all__ = ["Connection", "Response", "call", "encode", "parse_response"]

_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Response:
    """Status and body of one answer."""

    status: int
    body: bytes

    def json(self) -> Any:
        """Return the parsed body (None when it is empty)."""
        return json.loads(self.body) if self.body else None


def encode(method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of one request; `body` is sent as JSON."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {_HOST}"]
    lines.extend(f"{name}: {value}" for name, value in (headers or {}).items())
    payload = b""
    if body is not None:
        payload = json.dumps(body, ensure_ascii=False).encode()
        lines.append("Content-Type: application/json")
    if payload or method in {"POST", "PATCH", "PUT"}:
        lines.append(f"Content-Length: {len(payload)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + payload


class Connection(asyncio.Protocol):
    """One keep-alive connection to a service on this machine; reconnects when the other side closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._waiter: asyncio.Future[Response] | None = None

    async def request(self, payload: bytes, timeout_s: float = 60.0) -> Response:
        """Send an encoded request and return its answer.

        Raises:
            OSError: the connection could not be made or was lost before the answer was complete.
            TimeoutError: no complete answer within `timeout_s`.
        """
        loop = asyncio.get_running_loop()
        if self._transport is None or self._transport.is_closing():
            async with asyncio.timeout(timeout_s):
                await loop.create_connection(lambda: self, _HOST, self._port)
        transport = self._transport
        assert transport is not None
        self._buffer.clear()
        waiter: asyncio.Future[Response] = loop.create_future()
        self._waiter = waiter
        timer = loop.call_later(timeout_s, self._expire, waiter)
        try:
            transport.write(payload)
            return await waiter
        finally:
            timer.cancel()
            self._waiter = None

    def close(self) -> None:
        """Close the connection; a later request opens it again."""
        if self._transport is not None:
            self._transport.close()
            self._transport = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport (called by asyncio)."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but ancestry
        self._buffer.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the request in flight (called by asyncio)."""
        self._transport = None
        if self._waiter is not None and not self._waiter.done():
            lost = exc if isinstance(exc, OSError) else ConnectionResetError("closed by the service")
            self._waiter.set_exception(lost)

    def data_received(self, data: bytes) -> None:
        """Collect bytes until the answer is whole (called by asyncio)."""
        self._buffer += data
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        try:
            answer = parse_response(self._buffer)
        except ValueError as e:
            waiter.set_exception(ConnectionAbortedError(f"not HTTP: {e}"))
            self.close()
            return
        if answer is None:
            return
        response, must_close = answer
        waiter.set_result(response)
        if must_close:
            self.close()

    def _expire(self, waiter: asyncio.Future[Response]) -> None:
        if not waiter.done():
            waiter.set_exception(TimeoutError("no answer in time"))
            self.close()  # a late answer must not be taken for the next one


def parse_response(buffer: bytes | bytearray) -> tuple[Response, bool] | None:
    """Return the answer and whether the connection ends with it, or None while it is incomplete.

    Raises:
        ValueError: the bytes are no HTTP/1.1 answer with a known length.
    """
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = bytes(buffer[:end])
    if not head.startswith(b"HTTP/1."):
        raise ValueError("bad status line")
    status = int(head[9:12])
    headers = head.lower()
    must_close = b"\r\nconnection: close" in headers
    body_at = end + 4
    if status in {204, 304} or status < 200:
        return Response(status, b""), must_close
    at = headers.find(b"\r\ncontent-length:")
    if at >= 0:
        length = int(headers[at + 17 :].split(b"\r\n", 1)[0])
        if len(buffer) < body_at + length:
            return None
        return Response(status, bytes(buffer[body_at : body_at + length])), must_close
    if b"\r\ntransfer-encoding: chunked" in headers:
        body = _dechunk(buffer, body_at)
        return None if body is None else (Response(status, body), must_close)
    raise ValueError("neither Content-Length nor chunked")


def _dechunk(buffer: bytes | bytearray, at: int) -> bytes | None:
    out = bytearray()
    while True:
        line_end = buffer.find(b"\r\n", at)
        if line_end < 0:
            return None
        size = int(bytes(buffer[at:line_end]).split(b";", 1)[0], 16)
        at = line_end + 2
        if len(buffer) < at + size + 2:
            return None
        if size == 0:
            return bytes(out)
        out += buffer[at : at + size]
        at += size + 2


async def call(
    port: int,
    method: str,
    path: str,
    body: object = None,
    *,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 60.0,
) -> Response:
    """Make one request on a connection of its own."""
    connection = Connection(port)
    try:
        return await connection.request(encode(method, path, body, headers), timeout_s)
    finally:
        connection.close()
