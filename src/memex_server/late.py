"""What comes behind REST, when it has nothing to do: MCP's library (a call has it loaded at once), and patterns."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import json
import logging
import threading
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

from memex.core.patterns import compile_all

from .access import Access
from .mcp.messages import INTERNAL_ERROR, error_message
from .settings import Settings

if TYPE_CHECKING:
    from .service import MemoryService

__all__ = ["LateMcp", "loaded"]

_LOG = logging.getLogger(__name__)
_QUIET_S = 5.0


class LateMcp:
    """The ASGI application of MCP: a call that is early begins to load the library, and waits for it.

    Its imports take more than a second of the process, in which each request of REST would take up to 200 ms; so
    without a call they wait until REST is quiet for a while.
    """

    def __init__(self) -> None:
        self._app: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._called = asyncio.Event()
        self._calls = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a call of MCP."""
        self._calls += 1
        self._called.set()
        await (await asyncio.shield(self._app))(scope, receive, send)

    def rest_called(self) -> None:
        """Hear of a request of REST."""
        self._calls += 1

    @contextlib.asynccontextmanager
    async def serving(self, service: MemoryService, settings: Settings, access: Access) -> AsyncIterator[None]:
        """Answer calls inside the context."""
        end = asyncio.Event()

        async def live() -> None:
            try:
                await self._quiet(self._called)
                mcp = await loaded("mcp.http")
                app = mcp.McpApp(mcp.build_for(service, settings), settings, access=access)
                async with app.running():
                    gc.freeze()  # as `serve` does with all that was there before
                    self._app.set_result(app)
                    await self._quiet(end)
                    if not end.is_set():  # or the first text that is judged waits for it
                        await asyncio.to_thread(compile_all)
                    await end.wait()
            except Exception as e:  # noqa: BLE001 - whatever it is, callers are told
                # REST goes on, and so does the process: one that ended would only be started again, in vain.
                _LOG.error("MCP cannot be served", extra={"action": "mcp.failed"}, exc_info=e)
                if not self._app.done():
                    self._app.set_result(partial(_unserved, f"{type(e).__name__}: {e}"))

        # In a task of its own: what the SDK enters has to be left by the same task.
        living = asyncio.create_task(live())
        try:
            yield
        finally:
            end.set()
            if not self._app.done():
                living.cancel()  # still being loaded, and nobody waits for it any more
            await asyncio.wait([living])

    async def _quiet(self, sooner: asyncio.Event) -> None:
        """Wait for a time without calls, but not beyond an event."""
        seen = -1
        while seen != self._calls and not sooner.is_set():
            seen = self._calls
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_QUIET_S):
                    await sooner.wait()


async def _unserved(reason: str, _scope: Any, _receive: Any, send: Any) -> None:
    """Answer a call of MCP, which could not be loaded."""
    message = f"MCP cannot be served: {reason}; install memex[server] again, `memex doctor` says more"
    body = json.dumps(error_message(INTERNAL_ERROR, message)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def loaded(face: str) -> Any:
    """Return a module of this package, imported beside the loop. Raises whatever the import raises."""
    loop = asyncio.get_running_loop()
    module: asyncio.Future[Any] = loop.create_future()

    def tell(result: Any, error: BaseException | None) -> None:
        if module.cancelled():
            return
        if error is None:
            module.set_result(result)
        else:
            module.set_exception(error)

    def load() -> None:
        result, error = None, None
        try:
            result = importlib.import_module(f"memex_server.{face}")
        except BaseException as e:  # noqa: BLE001 - whoever waits gets it
            error = e
        with contextlib.suppress(RuntimeError):  # the loop is closed: the service has ended meanwhile
            loop.call_soon_threadsafe(tell, result, error)

    # No thread of the loop's own, whose end would be waited for while the loop still closes things; and no daemon:
    # what is cut off within the import of a native library tells of a panic, below the line that says what is wrong.
    threading.Thread(target=load).start()
    return await module
