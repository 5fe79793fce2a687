"""`memex worker`: the background work of memex alone, for a service whose processes leave it to somebody else."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
import signal

from .logs import configure_logging
from .settings import Settings
from .wiring import open_memex

__all__ = ["work"]

_LOG = logging.getLogger(__name__)


def work(settings: Settings) -> int:
    """Condense, forget and tidy until SIGINT or SIGTERM; return the exit status.

    Raises:
        SetupError, Unavailable: it cannot start.
    """
    configure_logging(settings.server.log_level, settings.server.log_format)
    # Whoever starts a worker wants it to work, whatever the service's processes were told.
    lifecycle = dataclasses.replace(settings.lifecycle, summarization_enabled=True)
    asyncio.run(_work(dataclasses.replace(settings, lifecycle=lifecycle)))
    return 0


async def _work(settings: Settings) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    async with open_memex(settings):
        _LOG.info("ready", extra={"action": "ready", "pid": os.getpid()})
        await ended.wait()
    _LOG.info("stopped", extra={"action": "stopped", "pid": os.getpid()})
