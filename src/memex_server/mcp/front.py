"""MCP over standard input and output, answered from the first moment on.

Importing the SDK alone takes longer than some clients wait. So the requests of the handshake, which need
nothing but `catalogue`, are answered from it at once. When the SDK is there, it is given what the front
kept, and takes over; its own answer to `initialize`, which the client has had, is left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

from memex._version import __version__

from .catalogue import INSTRUCTIONS, PROMPT, Profile, tools_of
from .messages import dumped, parsed, refusal_of

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["HANDSHAKE_VERSIONS", "Front", "Lines", "handshake", "serve_lines"]

# What the SDK speaks by handshake, newest last (a test compares); it is not imported here, which is the point.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
# Calls that are being carried out when the client closes its end may finish so long.
_LAST_CALLS_S = 60.0

Lines = asyncio.Queue[str | None]  # None: the client has closed its end


def handshake(method: object, params: Any, profile: Profile) -> dict[str, Any] | None:
    """Return the result of a request that needs neither SDK nor service, None for all others."""
    if method == "initialize" and isinstance(params, dict):
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": {
                "prompts": {"listChanged": False},
                "resources": {"subscribe": False, "listChanged": False},
                "tools": {"listChanged": False},
            },
            "serverInfo": {"name": "memex", "title": "memex", "version": __version__},
            "instructions": INSTRUCTIONS,
        }
    if method == "tools/list":
        return {"tools": [tool.definition() for tool in tools_of(profile)]}
    if method == "prompts/list":
        return {"prompts": [PROMPT]}
    return {} if method == "ping" else None


class Front:
    """The two ends of the line: what the client wrote, and what it is told."""

    def __init__(self, lines: Lines, write: Callable[[str], None], profile: Profile) -> None:
        self._lines = lines
        self._write = write
        self._profile = profile
        self._kept: list[str] = []
        self._answered: object = None  # the id of the `initialize` that was answered here
        self._pending: set[object] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    async def greet(self, until: asyncio.Future[Any]) -> None:
        """Answer the handshake until `until` is done, the client is gone, or something else is asked."""
        while True:
            coming = asyncio.ensure_future(self._lines.get())
            await asyncio.wait({coming, until}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                coming.cancel()
                return
            line = coming.result()
            if line is None:
                self._lines.put_nowait(None)
                return
            if self._refused(line):
                continue
            message = parsed(line)
            request_id, method = message.get("id"), message.get("method")
            result = handshake(method, message.get("params"), self._profile) if request_id is not None else None
            greeted = self._answered is not None or method == "initialize"
            if result is None or not greeted:
                self._kept.append(line)
                if request_id is not None:
                    return
                continue
            if method == "initialize":
                self._kept.append(line)  # the SDK has to see it as well
                self._answered = request_id
            self._write(dumped({"jsonrpc": "2.0", "id": request_id, "result": result}))

    # -- what the SDK takes for files ------------------------------------------------------------

    async def __aiter__(self) -> AsyncIterator[str]:
        for line in self._kept:
            yield self._noted(line)
        while (coming := await self._lines.get()) is not None:
            if not self._refused(coming):
                yield self._noted(coming)
        # A client may send its last calls and close its end; they are answered all the same.
        await asyncio.wait({asyncio.ensure_future(self._idle.wait())}, timeout=_LAST_CALLS_S)

    async def write(self, text: str) -> None:
        """Pass on one message of the SDK, unless the client has had it."""
        message = parsed(text)
        if "method" not in message:
            request_id = message.get("id")
            self._pending.discard(request_id)
            if not self._pending:
                self._idle.set()
            if self._answered is not None and request_id == self._answered:
                self._answered = None
                return
        self._write(text)

    async def flush(self) -> None:
        """Do nothing: `write` has written."""

    def _refused(self, line: str) -> bool:
        """Answer a line that is no message; an empty one is passed over."""
        refusal = refusal_of(line) if line.strip() else None
        if refusal is not None:
            self._write(dumped(refusal))
        return refusal is not None or not line.strip()

    def _noted(self, line: str) -> str:
        message = parsed(line)
        if "method" in message and message.get("id") is not None:
            self._pending.add(message["id"])
            self._idle.clear()
        return line


async def serve_lines(
    lines: Lines, write: Callable[[str], None], *, profile: Profile, server: Awaitable[Server[Any]]
) -> None:
    """Serve one client until it closes its end; `server` may take its time to be made."""
    front = Front(lines, write, profile)
    making = asyncio.ensure_future(server)
    await front.greet(making)
    made = await making
    from mcp.server.stdio import stdio_server

    ends = cast(Any, front)  # the SDK asks for anyio's files, and uses what is above
    async with stdio_server(ends, ends) as (incoming, outgoing):
        await made.run(incoming, outgoing, made.create_initialization_options())
