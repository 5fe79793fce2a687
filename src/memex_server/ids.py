"""Ids for new memories (version 7 UUIDs, in order of creation within one process), and what stands for a request."""

from __future__ import annotations

import dataclasses
import json
import secrets
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from memex.core.identity import fingerprint, uuid7_bytes
from memex.core.memory import NewMemory, utc

__all__ = ["IdSource", "request_fingerprint"]

_SEQUENCE_BITS = 12


class IdSource:
    """Makes ids; each sorts after the one before, also within a millisecond or if the clock steps back."""

    def __init__(self, random_bits: Callable[[int], int] = secrets.randbits) -> None:
        self._random_bits = random_bits
        self._last = 0
        self._lock = threading.Lock()

    def __call__(self, now: datetime) -> UUID:
        """Return the next id."""
        with self._lock:
            tick = int(now.timestamp() * 1000) << _SEQUENCE_BITS
            self._last = max(tick, self._last + 1)
            last = self._last
        unix_ms, sequence = divmod(last, 1 << _SEQUENCE_BITS)
        return UUID(bytes=uuid7_bytes(unix_ms, sequence, self._random_bits(62)))


def request_fingerprint(news: Sequence[NewMemory]) -> bytes:
    """Return what tells a retry of these stores from another request."""
    return fingerprint([json.dumps(dataclasses.asdict(new), sort_keys=True, default=_plain) for new in news])


def _plain(value: object) -> str:
    return utc(value).isoformat() if isinstance(value, datetime) else str(value)
