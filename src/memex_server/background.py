"""Work that goes on beside requests: each piece is done now and then, and outlives its failures."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

from memex.protocol.errors import SetupError, Unavailable

__all__ = ["running"]

_LOG = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def running(action: str, work: Callable[[], Awaitable[object]], interval_s: float) -> AsyncIterator[None]:
    """Do `work` at once and every `interval_s` until the context ends."""
    task = asyncio.create_task(_repeat(action, work, interval_s))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _repeat(action: str, work: Callable[[], Awaitable[object]], interval_s: float) -> None:
    failing = False
    while True:
        try:
            await work()
            failing = False
        except (Unavailable, SetupError) as e:
            if not failing:  # once for each outage, not once for each try
                _LOG.warning("background work failed, will be tried again", extra={"action": action, "error": str(e)})
            failing = True
        except Exception:  # noqa: BLE001 - whatever it is, it is told and tried again; a task would end unseen
            _LOG.exception("background work failed", extra={"action": action})
        await asyncio.sleep(interval_s)
