"""A server that answers everything at once with the same bytes, to find the load generator's own limit."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import cast

__all__ = ["trivial_command"]

_ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"status":"ok"}'


def trivial_command(port: int) -> list[str]:
    """Return the command that serves on `port`."""
    return [sys.executable, str(Path(__file__).resolve()), str(port)]


class _Answers(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        # The generator waits for each answer and its requests are small, so one read is one request.
        self._transport.write(_ANSWER)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Answers, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    import signal

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    asyncio.run(_serve(int(sys.argv[1])))
