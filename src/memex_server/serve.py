"""`memex serve`: REST on one socket and MCP on another, by one or several worker processes."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from memex import __version__
from memex.protocol.errors import MemexError, SetupError

from .access import Access, is_loopback
from .late import LateMcp, loaded
from .logs import configure_logging
from .metrics import MULTIPROC_ENV, Metrics, forget_worker, prepare_multiprocess
from .prepare import open_embedder, prepare
from .settings import Settings, from_env

__all__ = ["application", "serve"]

_LOG = logging.getLogger(__name__)
_KEEP_ALIVE_S = 75  # longer than clients keep an idle connection, or one is closed just as it is used again
_GRACE_S = 6  # requests in flight may finish; with the database's stop the whole stays below 10 s
_END_S = 9.5  # a worker that has not ended by then is killed
_START_S = 120
_WATCH_S = 0.2
_RESTART_S = 1.0

_MALFORMED = {
    "type": "about:blank",
    "title": "Bad Request",
    "status": 400,
    "detail": "no request of HTTP/1.1: an unknown method, an address beyond 64 KB, or a malformed line or header",
    "code": "http_error",
}

_Sockets = tuple[socket.socket, socket.socket]  # of REST and of MCP


def serve(settings: Settings) -> int:
    """Serve until SIGINT or SIGTERM; return the exit status.

    Raises:
        SetupError: the service cannot start as configured.
    """
    server = settings.server
    configure_logging(server.log_level, server.log_format)
    if not server.api_token and not is_loopback(server.host):
        raise SetupError(
            f"MEMEX_HOST={server.host} lets other machines in, and MEMEX_API_TOKEN is not set: set it to a long random "
            "text that clients send as `Authorization: Bearer …`, or listen on 127.0.0.1"
        )
    prepare(settings)
    rest = _bind(server.host, server.port, "MEMEX_PORT")
    mcp = _bind(server.host, server.mcp_port, "MEMEX_MCP_PORT")
    port = rest.getsockname()[1]
    workers = server.workers
    if workers > 1:
        prepare_multiprocess(settings.data_path / "metrics" / str(port), os.environ)
    ready = threading.Event()
    threading.Thread(target=_announce, args=(_url(rest), _url(mcp), ready), daemon=True).start()
    sockets = (rest, mcp)
    return _Workers(workers, sockets, ready).run() if workers > 1 else _serve_here(sockets)


def _url(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _config(mcp_port: int) -> uvicorn.Config:
    return uvicorn.Config(
        partial(application, mcp_port),
        factory=True,
        loop="uvloop",
        http=_Protocol,
        lifespan="on",
        access_log=False,
        log_config=None,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        backlog=4096,
    )


class _Protocol(HttpToolsProtocol):
    """uvicorn's reader of HTTP, which answers what is no HTTP as everything else is answered."""

    def send_400_response(self, msg: str) -> None:
        """Answer with a problem document, and close."""
        del msg  # says no more than that it is invalid
        body = json.dumps(_MALFORMED).encode()
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


class _Server(uvicorn.Server):
    """uvicorn's server, ended by any of its signals in one way: requests finish, the database stops."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin the end. A second signal changes nothing: it is over within seconds anyway."""
        del sig, frame
        self.should_exit = True


def _on_end(handler: Callable[[int, FrameType | None], None]) -> None:
    """Let `handler` hear the signals that end the service, a closed terminal included (but not under nohup)."""
    signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGINT, handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, handler)


def _serve_here(sockets: _Sockets) -> int:
    """Serve in this process; return 0 after a signal, 1 if it did not start."""
    server = _Server(_config(sockets[1].getsockname()[1]))
    # uvicorn listens to signals by itself only while it runs, and not to a closed terminal.
    _on_end(server.handle_exit)
    try:
        server.run(sockets=list(sockets))
    except SystemExit:
        return 1  # `application` has said why
    return 0


def _work(sockets: _Sockets) -> None:
    """Serve as one of several worker processes, until a signal or the end of the parent."""
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - for the type checker

    def end_with_parent() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    # An orphan would keep the port, and nobody would know of it.
    threading.Thread(target=end_with_parent, daemon=True).start()
    sys.exit(_serve_here(sockets))


class _Workers:
    """Worker processes on the same sockets: one that dies is replaced, until a signal ends all of them."""

    def __init__(self, count: int, sockets: _Sockets, ready: threading.Event) -> None:
        self._spawn = multiprocessing.get_context("spawn")
        self._sockets = sockets
        self._ready = ready
        self._ending = False
        self._slots: list[tuple[SpawnProcess, float] | None] = [None] * count

    def run(self) -> int:
        """Return 0 after a signal, 1 if the first workers cannot start."""
        multiprocessing.allow_connection_pickling()
        _on_end(self._end)
        failed = False
        while not self._ending and not failed:
            failed = True in [self._look_after(slot) for slot in range(len(self._slots))]
            alive = [slot[0].sentinel for slot in self._slots if slot and slot[0].is_alive()]
            multiprocessing.connection.wait(alive, _WATCH_S)
        processes = [slot[0] for slot in self._slots if slot]
        for process in processes:
            process.terminate()
        deadline = time.monotonic() + _END_S
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
            process.kill()
        return int(failed)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self._ending = True

    def _look_after(self, slot: int) -> bool:
        """Start the worker of a slot if it does not run; return True if that is in vain."""
        now = time.monotonic()
        found = self._slots[slot]
        if found is not None:
            process, started = found
            # A worker that dies at once must not keep the machine busy with being started.
            if process.is_alive() or now - started < _RESTART_S:
                return False
            if process.exitcode == 1 and not self._ready.is_set():
                return True
            _LOG.warning("a worker died, another takes its place", extra={"action": "worker", "pid": process.pid})
        process = self._spawn.Process(target=_work, args=(self._sockets,))
        process.start()
        self._slots[slot] = (process, now)
        return False


class application:  # noqa: N801 - uvicorn calls it as a factory of the ASGI application
    """The ASGI application of one worker process: opens memex at start-up and serves it.

    Settings come from the environment, which is all that a worker process shares with its parent, beside the
    sockets. What arrives on `mcp_port` is MCP, all else REST.
    """

    def __init__(self, mcp_port: int) -> None:
        self._mcp_port = mcp_port
        self._settings = from_env(os.environ, warn=False)  # the command has warned already
        configure_logging(self._settings.server.log_level, self._settings.server.log_format)
        # What it tells at INFO is its own inner life, and a failed start is told below.
        uvicorn_log = logging.getLogger("uvicorn.error")
        uvicorn_log.setLevel(logging.WARNING)
        uvicorn_log.addFilter(lambda record: not record.getMessage().startswith("Application startup failed"))
        self._rest: Any = None
        self._mcp: LateMcp

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request, or the life of the process."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["server"][1] == self._mcp_port:
            await self._mcp(scope, receive, send)
        else:
            self._mcp.rest_called()
            await self._rest(scope, receive, send)

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        self._mcp = LateMcp()
        try:
            async with contextlib.AsyncExitStack() as stack:
                metrics = Metrics()
                _forget_dead_workers()
                # Half of a start is Python's imports, so the model begins to load before they do, and MCP's come
                # behind.
                embedder = open_embedder(self._settings, metrics)
                loading = asyncio.ensure_future(embedder.load())
                # its failure is told by `open_memex`, which waits for it too
                stack.push_async_callback(partial(asyncio.gather, loading, return_exceptions=True))
                wiring = await loaded("wiring")
                rest = asyncio.ensure_future(loaded("http.app"))
                memex = wiring.open_memex(self._settings, metrics=metrics, embedder=embedder)
                service = await stack.enter_async_context(memex)
                access = Access(self._settings.server.api_token)
                self._rest = (await rest).create_app(service, self._settings, metrics, access=access)
                await stack.enter_async_context(self._mcp.serving(service, self._settings, access))
                # What is there now stays; each look through it for garbage would hold up requests for 70 ms.
                gc.freeze()
                _LOG.info("ready", extra={"action": "ready", "pid": os.getpid()})
                await send({"type": "lifespan.startup.complete"})
                await receive()
            _LOG.info("stopped", extra={"action": "stopped", "pid": os.getpid()})
        except MemexError as e:
            # One line that says what to do. A driver's own words may hold a piece of the password, at any level.
            print(f"memex: cannot start: {e}", file=sys.stderr, flush=True)
            await send({"type": "lifespan.startup.failed"})
            return
        await send({"type": "lifespan.shutdown.complete"})


def _bind(host: str, port: int, setting: str) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, protocol)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(4096)
    except OSError as e:
        raise SetupError(
            f"cannot listen on {host}:{port}: {e.strerror or e}; set {setting} (or MEMEX_HOST) to one that is free"
        ) from e
    sock.set_inheritable(True)
    return sock


def _forget_dead_workers() -> None:
    directory = os.environ.get(MULTIPROC_ENV)
    for path in Path(directory).glob("gauge_live*_*.db") if directory else ():
        pid = int(path.stem.rsplit("_", 1)[1])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            forget_worker(pid, Path(str(directory)))


def _announce(url: str, mcp_url: str, ready: threading.Event) -> None:
    """Print where memex listens, once it answers, and set `ready`."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        try:
            with opener.open(f"{url}/health/ready", timeout=10):
                break
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    else:
        return
    ready.set()
    body = '{"agent_id": "me", "user_id": "me", "content": "I like green tea."}'
    print(
        f"memex {__version__} listens on {url} (documentation: {url}/docs), MCP on {mcp_url}/mcp/\n"
        f"try: curl {url}/v1/memories -H 'Content-Type: application/json' -d '{body}'",
        flush=True,
    )
