"""The backend that is somewhere else: the unified protocol over HTTP."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from ..protocol import ops
from ..protocol.backend import Backend
from ..protocol.errors import Forbidden, MemexError, RateLimited, Unauthorized, Unavailable
from ..protocol.models import (
    ExtractRequest,
    ExtractResult,
    Health,
    LinkRequest,
    LinkResult,
    RecallRequest,
    RecallResult,
    Record,
    StoreRequest,
    StoreResult,
)
from ..protocol.wire import Request, Response
from ..transport.http import Transport
from ..transport.retry import Retry, retrying
from .breaker import Breaker, BreakerState

__all__ = ["RemoteBackend"]

T = TypeVar("T")


class RemoteBackend(Backend):
    """Speaks to a service that implements the protocol.

    Reads and writes have a breaker each: a service that cannot write may still answer. A caller's own
    mistakes do not count against the service. A refused token opens the breaker at once.
    """

    name = "remote"

    def __init__(
        self,
        transport: Transport,
        *,
        credential: str = "the token",
        timeout_s: float = 10.0,
        retry: Retry = Retry(),  # noqa: B008 - frozen
        threshold: int = 5,
        open_s: float = 120.0,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`timeout_s` is for one attempt, `retry.budget_s` for all; `now`, `sleep` and `chance` are for tests.

        `credential` names the setting that a refused token comes from.
        """
        self._transport = transport
        self._credential = credential
        self._timeout_s = timeout_s
        self._retry = retry
        self._now, self._sleep, self._chance = now, sleep, chance
        self._breakers = {reads: Breaker(threshold=threshold, open_s=open_s) for reads in (True, False)}

    def breakers(self) -> Mapping[str, BreakerState]:
        """Return the states of the breakers of `reads` and `writes`."""
        now = self._now()
        return {"reads": self._breakers[True].state(now), "writes": self._breakers[False].state(now)}

    def health(self) -> Health:
        """See `Backend`. Asked once, whatever the breakers say."""
        return self._once(ops.health(), ops.parse_health)

    def store(self, request: StoreRequest) -> StoreResult:
        """See `Backend`."""
        return self._call(ops.store(request), ops.parse_store)

    def _recall(self, request: RecallRequest) -> RecallResult:
        return self._call(ops.recall(request), ops.parse_recall)

    def get(self, memory_id: str) -> Record:
        """See `Backend`."""
        return self._call(ops.get(memory_id), ops.parse_get)

    def link(self, request: LinkRequest) -> LinkResult:
        """See `Backend`."""
        return self._call(ops.link(request), ops.parse_link)

    def extract(self, request: ExtractRequest) -> ExtractResult:
        """See `Backend`."""
        return self._call(ops.extract(request), ops.parse_extract)

    def _call(self, request: Request, parse: Callable[[Response], T]) -> T:
        breaker = self._breakers[request.reads]
        wait_s = breaker.wait_s(self._now())
        if wait_s > 0:
            raise Unavailable(
                f"the memory service failed or asked for a pause; it is asked again in {wait_s:.0f} s",
                retry_after_s=wait_s,
            )
        try:
            answer = retrying(
                lambda: self._once(request, parse),
                self._retry,
                now=self._now,
                sleep=self._sleep,
                chance=self._chance,
            )
        except RateLimited as e:
            breaker.rest(self._now(), e.retry_after_s)
            raise
        except (Unavailable, Unauthorized, Forbidden) as e:
            breaker.failed(self._now(), at_once=not isinstance(e, Unavailable))
            raise
        except MemexError:  # the caller's mistake, seen by a service that works
            breaker.succeeded()
            raise
        breaker.succeeded()
        return answer

    def _once(self, request: Request, parse: Callable[[Response], T]) -> T:
        try:
            return parse(self._transport.send(request, timeout_s=self._timeout_s))
        except Unauthorized as e:
            raise Unauthorized(f"the memory service refuses {self._credential}: {e}") from e
