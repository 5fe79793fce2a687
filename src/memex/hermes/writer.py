"""The one background thread that works the queue off while the agent runs."""

from __future__ import annotations

import contextvars
import logging
import math
import threading
import time
from collections.abc import Callable

from . import host

__all__ = ["Writer"]

_LOG = logging.getLogger(__name__)
_RETRY_S = 30.0  # after a pass that left work behind
_IDLE_S = 600.0  # a look now and then: what another process queued, what has rested


class Writer:
    """Calls `work(stop)` when woken, and again while it says that work is left.

    The thread starts with the first `wake` and is a daemon: what it does not finish stays in the queue.
    """

    def __init__(self, work: Callable[[Callable[[], bool]], bool], *, retry_s: float = _RETRY_S) -> None:
        self._work = work
        self._retry_s = retry_s
        self._wanted = threading.Condition()
        self._asked = self._served = 0
        self._closing = False
        self._leave_at = math.inf  # of the clock `monotonic`
        self._thread: threading.Thread | None = None
        self._context = contextvars.copy_context()

    def wake(self) -> None:
        """Have the queue worked on soon, seeing the caller's context variables (profile, live model)."""
        with self._wanted:
            if self._closing:
                return
            self._asked += 1
            self._context = contextvars.copy_context()
            if self._thread is None:
                self._thread = host.in_context(self._run, "memex-writer")
            self._wanted.notify_all()

    def settle(self, timeout_s: float) -> bool:
        """Wait until what was asked for so far has had its pass; return whether it had within the time."""
        deadline = time.monotonic() + timeout_s
        with self._wanted:
            asked = self._asked
            while self._served < asked:
                left = deadline - time.monotonic()
                if left <= 0 or not self._wanted.wait(left):
                    return self._served >= asked
            return self._served >= asked

    @property
    def closing(self) -> bool:
        """Whether the process is about to end: no time for long work."""
        return self._closing

    def close(self, timeout_s: float) -> None:
        """Let what was asked for have its pass, within `timeout_s`; then leave. Safe to call twice."""
        with self._wanted:
            self._leave_at = min(self._leave_at, time.monotonic() + timeout_s)
            self._closing = True
            self._wanted.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(max(0.0, self._leave_at - time.monotonic()))

    def _run(self) -> None:
        pause_s = 0.0
        while True:
            with self._wanted:
                if pause_s and self._asked == self._served:
                    self._wanted.wait_for(lambda: self._closing or self._asked > self._served, pause_s)
                if self._closing and (self._asked == self._served or self._must_leave()):
                    return
                asked, context = self._asked, self._context
            try:
                left = context.copy().run(self._work, self._must_leave)
            except Exception:  # noqa: BLE001 - the thread outlives any one pass
                _LOG.exception("memex: the queue could not be worked on")
                left = True
            pause_s = self._retry_s if left else _IDLE_S
            with self._wanted:
                self._served = asked
                self._wanted.notify_all()

    def _must_leave(self) -> bool:
        return time.monotonic() >= self._leave_at
