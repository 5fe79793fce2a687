"""MCP over streamable HTTP: stateless, so any worker serves any request and a restart is not noticed."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from memex.protocol.errors import Unauthorized
from memex_server.access import Access
from memex_server.service import MemoryService
from memex_server.settings import Settings

from .messages import INVALID_REQUEST, error_message, refusal_of
from .server import build

__all__ = ["McpApp", "build_for"]

_PATHS = frozenset({"/mcp", "/mcp/"})


def build_for(service: MemoryService, settings: Settings) -> Server[Any]:
    """Return the server for clients over HTTP, whose calls are for the account it runs under unless they say."""
    user_id = settings.server.user_id
    return build(service, user_id=user_id or getpass.getuser(), agent_id=settings.server.agent_id, bound=bool(user_id))


class McpApp:
    """The ASGI application; serves only while `running` is entered, which can be once."""

    def __init__(self, server: Server[Any], settings: Settings, *, access: Access) -> None:
        self._access = access
        # The body comes as one message from it, or not at all.
        self._limited = RequestBodyLimitMiddleware(self._read, settings.server.max_body_bytes)
        self._manager = StreamableHTTPSessionManager(
            server,
            json_response=True,
            stateless=True,
            max_request_body_size=settings.server.max_body_bytes,
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """Serve meanwhile."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        refusal = self._access.refusal(scope["path"], scope["headers"])
        if refusal is not None:
            known = isinstance(refusal, Unauthorized)
            answer = _refused(401 if known else 403, str(refusal), {"WWW-Authenticate": "Bearer"} if known else {})
        elif scope["path"] not in _PATHS:
            answer = _refused(404, "MCP is served at /mcp/", {})
        elif scope["method"] not in {"POST", "OPTIONS"}:
            # Stateless: there is neither a stream to listen to nor a session to end.
            answer = _refused(405, "send a POST; this server keeps no session", {"Allow": "POST"})
        else:
            await self._limited(scope, receive, send)
            return
        await answer(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> None:
        first: Message | None = await receive()
        refusal = refusal_of(first.get("body", b"")) if first and scope["method"] == "POST" else None
        if refusal is not None:
            await JSONResponse(refusal, 400)(scope, receive, send)
            return

        async def again() -> Message:
            nonlocal first
            message, first = first, None
            return message or await receive()

        await self._manager.handle_request(scope, again, send)


def _refused(status: int, message: str, headers: Mapping[str, str]) -> JSONResponse:
    return JSONResponse(error_message(INVALID_REQUEST, message), status, headers)
