"""Vectors in Redis, shared by the processes of a service; without Redis everything works, only slower."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from memex.protocol.errors import SetupError

from .callbacks import Callbacks

__all__ = ["RedisVectorCache"]

_LOG = logging.getLogger(__name__)
_PREFIX = b"memex:vector:"
_KEEP_S = 30 * 86_400  # queries repeat within days; what is not asked for a month only fills the memory
_TIMEOUT_S = 0.05  # a short text is embedded in less, so a slower cache would be a loss
_CONNECT_TIMEOUT_S = 2.0
_PAUSE_S = 5.0


class RedisVectorCache:
    """A cache that may fail: an error is a miss, told once, and for a pause Redis is left alone.

    Connecting takes longer than an answer may, so it is done behind the callers' backs: until it
    has succeeded, everything is a miss. The URL may hold a password, so neither it nor the
    driver's message is logged.
    """

    def __init__(
        self,
        url: str,
        *,
        callbacks: Callbacks | None = None,
        timeout_s: float = _TIMEOUT_S,
        connect_timeout_s: float = _CONNECT_TIMEOUT_S,
        pause_s: float = _PAUSE_S,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = _client(url, connect_timeout_s)
        self._callbacks = callbacks or Callbacks()
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._pause_s = pause_s
        self._clock_s = clock_s
        self._up = False
        self._told = False
        self._resume_at_s = clock_s()
        self._connecting: asyncio.Task[bool] | None = None

    async def connect(self) -> bool:
        """Return whether Redis answers; a failure is reported, not raised."""
        answer = await self._try(self._client.ping, self._connect_timeout_s)
        if answer and self._told:
            _LOG.info("Redis answers again", extra={"action": "redis_cache_up"})
            self._told = False
        self._up = bool(answer)
        return self._up

    async def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the stored value or None for each key; all None when Redis does not answer in time."""
        nothing: list[bytes | None] = [None] * len(keys)
        if not keys or not self._usable():
            return nothing
        found = await self._try(lambda: self._client.mget([_PREFIX + key for key in keys]), self._timeout_s)
        return nothing if found is None else list(found)

    async def set_many(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Store all items, or none when Redis does not answer in time."""
        if not items or not self._usable():
            return
        pipeline = self._client.pipeline(transaction=False)
        for key, value in items:
            pipeline.set(_PREFIX + key, value, ex=_KEEP_S)
        await self._try(pipeline.execute, self._timeout_s)

    async def close(self) -> None:
        """Close the connections."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        await self._client.aclose()

    def _usable(self) -> bool:
        """Whether to ask Redis now; when it is time to connect, that is begun."""
        idle = self._connecting is None or self._connecting.done()
        if not self._up and idle and self._clock_s() >= self._resume_at_s:
            self._connecting = asyncio.create_task(self.connect())
        return self._up

    async def _try(self, call: Callable[[], Any], timeout_s: float) -> Any:
        """Return the answer of `call`, or None when it fails."""
        import redis.exceptions

        try:
            async with asyncio.timeout(timeout_s):
                return await call()
        except (redis.exceptions.RedisError, OSError, TimeoutError) as e:
            self._up = False
            self._resume_at_s = self._clock_s() + self._pause_s
            if not self._told:
                self._told = True
                _LOG.warning(
                    "Redis does not answer; vectors are cached in this process only",
                    extra={"action": "redis_cache_down", "kind": type(e).__name__},
                )
            self._callbacks.on_cache_failure(type(e).__name__)
            return None


def _client(url: str, timeout_s: float) -> Any:
    try:
        import redis.asyncio
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ImportError as e:
        raise SetupError("REDIS_URL is set, but the package redis is missing: pip install 'memex[server]'") from e
    try:
        return redis.asyncio.Redis.from_url(
            url,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),  # the driver's own retries would wait far beyond the timeout
        )
    except ValueError as e:
        raise SetupError("REDIS_URL is not a Redis URL; expected redis://[:password@]host:port/db") from e
