"""Tells a person once that something is wrong, and once that it is well again. Never raises."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

__all__ = ["Notifier"]


class Notifier:
    """One warning for each kind of trouble until it is over; `callback` shows it in the host, if it has a place."""

    def __init__(self, log: logging.Logger, callback: Callable[[str], object] | None = None) -> None:
        self._log = log
        self._callback = callback
        self._troubles: set[str] = set()
        self._lock = threading.Lock()

    def trouble(self, kind: str, message: str) -> None:
        """Warn, unless this kind of trouble is known already."""
        with self._lock:
            new = kind not in self._troubles
            self._troubles.add(kind)
        if not new:
            self._log.debug("memex: %s", message)
            return
        self._log.warning("memex: %s", message)
        if self._callback is not None:
            try:
                self._callback(f"memex: {message}")
            except Exception:  # noqa: BLE001 - whatever the host's callback raises
                self._log.debug("memex: the host could not show a warning", exc_info=True)

    def well(self, kind: str) -> None:
        """Say that a trouble is over, if there was one."""
        with self._lock:
            known = kind in self._troubles
            self._troubles.discard(kind)
        if known:
            self._log.info("memex: %s works again", kind)
