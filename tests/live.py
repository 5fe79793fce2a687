"""The real service in a thread of its own, reached in-process (ASGI) or over a socket, for synchronous tests."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import socket
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from datetime import datetime
from typing import Any, TypeVar

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from memex.protocol.errors import Unavailable
from memex.protocol.wire import Request, Response
from memex.testing import FrozenClock
from memex_server.http.app import create_app
from memex_server.metrics import Metrics
from memex_server.service import MemoryService
from memex_server.settings import Settings
from tests.integration.support import Template, make_service, opened, run, with_database

__all__ = ["AsgiTransport", "Live", "live", "live_service"]

T = TypeVar("T")
_WAIT_S = 60
_NUMBERS = itertools.count()


class Live:
    """The service, its application and address; `do` runs a coroutine beside it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.clock = FrozenClock()
        self.service: MemoryService
        self.app: FastAPI
        self.url = ""

    def now(self) -> datetime:
        """The service's time: that of the clock that a test has put in."""
        return self.clock()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run in the service's loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_WAIT_S)

    def begin(self, clock: FrozenClock) -> None:
        """Forget everything, and go by `clock` from now on."""
        self.clock = clock
        self.do(self.service.delete_scope(user_id="ann", purge=True))


class AsgiTransport:
    """Implements `memex.transport.http.Transport` by calling the application, without a network."""

    def __init__(self, live: Live, *, token: str = "") -> None:
        self._live = live
        self._headers = {"authorization": f"Bearer {token}"} if token else {}

    def send(self, request: Request, *, timeout_s: float) -> Response:
        return self._live.do(self._send(request, timeout_s))

    async def _send(self, request: Request, timeout_s: float) -> Response:
        transport = httpx.ASGITransport(app=self._live.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            try:
                async with asyncio.timeout(timeout_s):
                    answer = await http.request(
                        request.method, request.path, content=request.body, headers={**self._headers, **request.headers}
                    )
            except TimeoutError as e:
                raise Unavailable("too late") from e
        return Response(status=answer.status_code, headers=dict(answer.headers), body=answer.content)


@contextlib.contextmanager
def live(template: Template, settings: Settings | None = None, **options: Any) -> Iterator[Live]:
    """Run the service on a database of its own until the context ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    found = Live(loop)
    stack = contextlib.AsyncExitStack()
    try:
        found.do(stack.enter_async_context(_serving(found, template, settings or Settings(), options)))
        yield found
    finally:
        found.do(stack.aclose())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_WAIT_S)
        loop.close()


@pytest.fixture(scope="session")
def live_service(template: Template) -> Iterator[Live]:
    """The real service, which a test begins with an empty memory."""
    with live(template) as opened:
        yield opened


@contextlib.asynccontextmanager
async def _serving(live: Live, template: Template, settings: Settings, options: dict[str, Any]) -> AsyncIterator[None]:
    name = f"memex_live_{os.getpid()}_{next(_NUMBERS)}"
    await run(template.dsn, f"CREATE DATABASE {name} TEMPLATE {template.name} STRATEGY file_copy")
    try:
        async with opened(with_database(template.dsn, name), template.facts) as database:
            live.service = make_service(database, live.now, **options)
            live.app = create_app(live.service, settings, Metrics())
            async with _listening(live.app) as live.url:
                yield
    finally:
        await run(template.dsn, f"DROP DATABASE {name} WITH (FORCE)")


class _Server(uvicorn.Server):
    """Tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@contextlib.asynccontextmanager
async def _listening(app: FastAPI) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        server = _Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off"))
        task = asyncio.create_task(server.serve(sockets=[sock]))
        async with asyncio.timeout(_WAIT_S):
            await server.listens.wait()
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
        server.should_exit = True
        await task
