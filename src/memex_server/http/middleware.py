"""The shell around every request: its id, its log line, its metrics, the body limit, the errors."""

from __future__ import annotations

import logging
import os
import re
import traceback
from collections.abc import Collection
from time import perf_counter

from starlette._utils import get_route_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memex.protocol.errors import TooLarge, Unavailable
from memex_server.access import Access
from memex_server.http.answer import Answer
from memex_server.http.errors import answer_of
from memex_server.http.routing import Disconnected, RouteTable
from memex_server.logs import log_access, request_id
from memex_server.metrics import NO_HANDLER, Metrics

__all__ = ["Shell"]

_LOG = logging.getLogger("memex_server.http")
_ACCESS = logging.getLogger("memex_server.http.access")
_SAFE_ID = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}")
_CLIENT_GONE = 499  # never sent; what logs and metrics say of a request whose client left
# Asked every few seconds by machines; their lines would drown the others.
_QUIET = frozenset({"/health", "/health/live", "/health/ready", "/metrics"})


class Shell:
    """Serves the routes of a table directly and hands all other paths to `fallback`.

    `fallback_paths` are those that `fallback` surely knows; only they become names in logs and metrics.
    """

    def __init__(
        self,
        fallback: ASGIApp,
        table: RouteTable,
        metrics: Metrics,
        *,
        access: Access | None = None,
        max_body_bytes: int,
        fallback_paths: Collection[str] = (),
    ) -> None:
        self._fallback = fallback
        self._fallback_paths = frozenset(fallback_paths)
        self._table = table
        self._metrics = metrics
        self._access = access
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection (ASGI)."""
        if scope["type"] != "http":
            await self._fallback(scope, receive, send)
            return
        started = perf_counter()
        rid = _request_id(scope)
        token = request_id.set(rid)
        self._metrics.request_started()
        # Stays so when the task is cancelled, which is how some servers tell that the client left.
        status, handler = _CLIENT_GONE, NO_HANDLER
        try:
            try:
                self._admit(scope)
                found = self._table.find(scope["method"], get_route_path(scope))
                if found is not None:
                    route, values = found
                    handler = route.path
                    answer = await route.respond(scope, receive, values, self._max_body_bytes)
                    await _send(answer, rid, send)
                    status = answer.status
                    return
            except Disconnected:
                return
            except Exception as e:  # noqa: BLE001 - the outermost frame: whatever it is becomes a problem document
                answer = _refusal(e, get_route_path(scope))
                await _send(answer, rid, send)
                status = answer.status
                return
            status, handler = await self._fall_back(scope, receive, send, rid)
        finally:
            seconds = perf_counter() - started
            method = scope["method"] if scope["method"] in _METHODS else "OTHER"
            self._metrics.request_finished(method, handler, status, seconds)
            _log(method, handler, status, seconds)
            request_id.reset(token)

    def _admit(self, scope: Scope) -> None:
        refusal = self._access.refusal(scope["path"], scope["headers"]) if self._access else None
        if refusal is not None:
            raise refusal

    async def _fall_back(self, scope: Scope, receive: Receive, send: Send, rid: str) -> tuple[int, str]:
        """Run the ordinary stack; return the status and the handler's name."""
        status = 0
        size = 0

        async def limited_receive() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._max_body_bytes:
                raise TooLarge(f"the body is larger than {self._max_body_bytes} bytes")
            return message

        async def marked_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), (b"x-request-id", rid.encode())]}
            await send(message)

        try:
            await self._fallback(scope, limited_receive, marked_send)
        except Exception as e:  # noqa: BLE001 - as above, for the ordinary stack
            answer = _refusal(e, get_route_path(scope))
            if not status:
                await _send(answer, rid, send)
                status = answer.status
        path = get_route_path(scope)
        known = path if path in self._fallback_paths else NO_HANDLER
        return status or _CLIENT_GONE, getattr(scope.get("route"), "path", known)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            if _SAFE_ID.fullmatch(value):
                given: str = value.decode()
                return given
            break
    return os.urandom(16).hex()


def _refusal(error: Exception, path: str) -> Answer:
    answer = answer_of(error, path)
    if answer.status >= 500 and not isinstance(error, Unavailable):
        # The text of a driver's error may hold a memory; the stack and the classes are enough to find the fault.
        _LOG.error(
            "request failed",
            extra={
                "action": "http.failed",
                "error": _class_chain(error),
                "stack": "".join(traceback.format_tb(error.__traceback__)),
            },
        )
        _LOG.debug("request failed, in full", exc_info=error)
    elif isinstance(error, Unavailable):
        _LOG.warning("unavailable", extra={"action": "http.unavailable", "error": _class_chain(error)})
    return answer


def _class_chain(error: BaseException) -> str:
    names = [type(error).__name__]
    while (cause := error.__cause__) is not None and len(names) < 5:
        names.append(type(cause).__name__)
        error = cause
    return " <- ".join(names)


async def _send(answer: Answer, rid: str, send: Send) -> None:
    headers = [(b"x-request-id", rid.encode()), *answer.headers]
    if answer.status != 204:
        headers += [(b"content-type", answer.media_type), (b"content-length", str(len(answer.body)).encode())]
    if answer.status == 413:
        headers.append((b"connection", b"close"))  # the rest of the body is not read, so the connection cannot go on
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def _log(method: str, handler: str, status: int, seconds: float) -> None:
    level = logging.DEBUG if handler in _QUIET and status < 400 else logging.INFO
    if _ACCESS.isEnabledFor(level):
        log_access(
            _ACCESS,
            level,
            {"method": method, "route": handler, "status": status, "duration_ms": round(seconds * 1000, 2)},
        )
