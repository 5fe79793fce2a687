"""`memex serve`: REST on one socket, by one or several worker processes."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from memex import __version__
from memex.protocol.errors import MemexError, SetupError

from .http.app import create_app
from .logs import configure_logging
from .metrics import MULTIPROC_ENV, Metrics, forget_worker, prepare_multiprocess
from .prepare import prepare
from .settings import Settings, from_env
from .wiring import open_memex

__all__ = ["application", "serve"]

_LOG = logging.getLogger(__name__)
_GRACE_S = 7  # requests in flight may finish; with the database's stop the whole stays below 10 s
_START_S = 120


def serve(settings: Settings) -> int:
    """Serve until SIGINT or SIGTERM; return the exit status.

    Raises:
        SetupError: the service cannot start as configured.
    """
    configure_logging(settings.server.log_level, settings.server.log_format)
    prepare(settings)
    sock = _bind(settings.server.host, settings.server.port)
    host, port = sock.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    workers = settings.server.workers
    if workers > 1:
        prepare_multiprocess(settings.data_path / "metrics" / str(port), os.environ)
    config = uvicorn.Config(
        f"{__name__}:application",
        factory=True,
        workers=workers,
        loop="uvloop",
        http="httptools",
        lifespan="on",
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_worker_healthcheck=30,
        backlog=4096,
    )
    threading.Thread(target=_announce, args=(url,), daemon=True).start()
    # uvicorn raises the signal once more when all is closed; by then there is nothing left to end.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with contextlib.suppress(KeyboardInterrupt):
        if workers > 1:
            Multiprocess(config, sockets=[sock]).run()
            return 0
        server = uvicorn.Server(config)
        server.run(sockets=[sock])
        return 0 if server.started else 1
    return 0


class application:  # noqa: N801 - uvicorn calls it as a factory of the ASGI application
    """The ASGI application of one worker process: opens memex at start-up and serves it.

    Settings come from the environment, which is all that a worker process shares with its parent.
    """

    def __init__(self) -> None:
        self._settings = from_env(os.environ)
        configure_logging(self._settings.server.log_level, self._settings.server.log_format)
        self._app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request, or the life of the process."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._app(scope, receive, send)

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        try:
            async with contextlib.AsyncExitStack() as stack:
                metrics = Metrics()
                _forget_dead_workers()
                service = await stack.enter_async_context(open_memex(self._settings, metrics=metrics))
                self._app = create_app(service, self._settings, metrics)
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except MemexError as e:
            # One line that says what to do; the traceback is for the curious.
            _LOG.debug("start-up failed", exc_info=True)
            await send({"type": "lifespan.startup.failed", "message": f"memex cannot start: {e}"})
            return
        await send({"type": "lifespan.shutdown.complete"})


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, protocol)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(4096)
    except OSError as e:
        raise SetupError(
            f"cannot listen on {host}:{port}: {e.strerror or e}; set MEMEX_PORT (or MEMEX_HOST) to one that is free"
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


def _announce(url: str) -> None:
    """Print where memex listens, once it answers."""
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
    body = '{"agent_id": "me", "user_id": "me", "content": "I like green tea."}'
    print(
        f"memex {__version__} listens on {url} (documentation: {url}/docs)\n"
        f"try: curl {url}/v1/memories -H 'Content-Type: application/json' -d '{body}'",
        flush=True,
    )
