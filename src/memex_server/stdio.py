"""`memex mcp`: MCP over standard input and output for one client, with database and model in this process."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import getpass
import importlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from memex.protocol.errors import MemexError

from .mcp.catalogue import Profile
from .mcp.front import Lines, serve_lines
from .settings import Settings

if TYPE_CHECKING:
    from .service import MemoryService

__all__ = ["mcp"]

_LOG = logging.getLogger(__name__)


def mcp(settings: Settings, profile: Profile) -> NoReturn:
    """Serve one client until it closes its end or a signal comes, then end the process."""
    incoming, outgoing = _claim_streams()
    status = asyncio.Runner().run(_serve(settings, profile, incoming, outgoing))
    # The service is closed and nothing is left to lose. A thread may still be making the model, and closing the
    # runner would wait for it, while the client has long lost its patience.
    sys.stderr.flush()
    os._exit(status)


async def _serve(settings: Settings, profile: Profile, incoming: int, outgoing: int) -> int:
    loop = asyncio.get_running_loop()
    lines: Lines = asyncio.Queue()
    threading.Thread(target=_read, args=(incoming, loop, lines), daemon=True).start()
    opening = _Opening(_for_one_client(settings))

    async def server() -> Any:
        build = (await asyncio.to_thread(_load, "mcp.server")).build
        await asyncio.to_thread(_load_logs, settings)
        opening.start()
        user_id = settings.server.user_id
        return build(
            opening.service,
            user_id=user_id or getpass.getuser(),
            agent_id=settings.server.agent_id,
            bound=bool(user_id),
            profile=profile,
        )

    def write(text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(outgoing, data) :]

    serving = asyncio.ensure_future(serve_lines(lines, write, profile=profile, server=server()))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, serving.cancel)
    try:
        # A client that is gone without closing its end first breaks the pipe, which is an end as good as any.
        with contextlib.suppress(asyncio.CancelledError, BrokenPipeError, BaseExceptionGroup):
            await serving
    finally:
        await opening.close()
    return 0


def _for_one_client(settings: Settings) -> Settings:
    """Return the settings with a pool for one client: several such processes share one database."""
    database = dataclasses.replace(settings.database, db_min_pool_size=1, db_max_pool_size=4)
    return dataclasses.replace(settings, database=database)


class _Opening:
    """Opens the service behind the protocol; after a failure, the next call tries again."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: asyncio.Future[MemoryService] | None = None
        self._life: asyncio.Task[None] | None = None
        self._end = asyncio.Event()

    def start(self) -> asyncio.Future[MemoryService]:
        """Begin to open, unless it is open or being opened."""
        if self._opened is None or (self._opened.done() and self._opened.exception() is not None):
            self._opened = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live(self._opened))
        return self._opened

    async def service(self) -> MemoryService:
        """Wait until the service is open. Raises what kept it from opening."""
        return await asyncio.shield(self.start())

    async def close(self) -> None:
        """Close the service; one that is still being opened is given up."""
        self._end.set()
        if self._life is not None:
            if self._opened is not None and not self._opened.done():
                self._life.cancel()
            await asyncio.wait({self._life})

    async def _live(self, opened: asyncio.Future[MemoryService]) -> None:
        try:
            prepare = await asyncio.to_thread(_load, "prepare")
            wiring = await asyncio.to_thread(_load, "wiring")
            await asyncio.to_thread(prepare.prepare, self._settings)
            async with wiring.open_memex(self._settings) as service:
                opened.set_result(service)
                await self._end.wait()
        except Exception as e:  # noqa: BLE001 - whoever waits for the service gets it, whatever it is
            _LOG.error(
                "cannot open", extra={"action": "mcp.open", "error": str(e)}, exc_info=not isinstance(e, MemexError)
            )
            if not opened.done():
                opened.set_exception(e)
                opened.exception()  # looked at: it may be that nobody ever asks for it


def _load(name: str) -> Any:
    return importlib.import_module(f"memex_server.{name}")


def _load_logs(settings: Settings) -> None:
    # To standard error; at INFO a client's log would fill with what only the service's owner wants.
    level = "WARNING" if settings.server.log_level == "INFO" else settings.server.log_level
    _load("logs").configure_logging(level, settings.server.log_format)


def _claim_streams() -> tuple[int, int]:
    """Return descriptors of the line to the client; whatever else writes to standard output lands in standard error."""
    incoming, outgoing = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - descriptors are what this is about
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return incoming, outgoing


def _read(incoming: int, loop: asyncio.AbstractEventLoop, lines: Lines) -> None:
    put: Callable[[str | None], Any] = lambda line: loop.call_soon_threadsafe(lines.put_nowait, line)  # noqa: E731
    with contextlib.suppress(RuntimeError), os.fdopen(incoming, "r", encoding="utf-8-sig", errors="replace") as stream:
        for line in stream:
            put(line)
        put(None)
