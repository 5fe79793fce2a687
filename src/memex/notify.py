"""Tells a person once that something is wrong, and once that it is well again. Never raises."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

__all__ = ["Notifier"]


class Notifier:
    """One warning for each kind of trouble until it is over; `callback` shows it in the host, if it has a place.

    A kind may show in several parts (an outage in reading and in writing): it is over when all of them are.
    """

    def __init__(self, log: logging.Logger, callback: Callable[[str], object] | None = None) -> None:
        self._log = log
        self._callback = callback
        self._troubles: dict[str, set[str]] = {}
        self._lock = threading.Lock()

    def trouble(self, kind: str, message: str, *, part: str = "") -> None:
        """Warn, unless this kind of trouble is known already."""
        with self._lock:
            new = kind not in self._troubles
            self._troubles.setdefault(kind, set()).add(part)
        if not new:
            self._log.debug("memex: %s", message)
            return
        self._log.warning("memex: %s", message)
        if self._callback is not None:
            try:
                self._callback(f"memex: {message}")
            except Exception:  # noqa: BLE001 - whatever the host's callback raises
                self._log.debug("memex: the host could not show a warning", exc_info=True)

    def well(self, kind: str, *, part: str = "") -> None:
        """Say that a trouble is over, if there was one and this was the last part of it."""
        with self._lock:
            parts = self._troubles.get(kind)
            if parts is None:
                return
            parts.discard(part)
            if parts:
                return
            del self._troubles[kind]
        self._log.info("memex: %s works again", kind)
