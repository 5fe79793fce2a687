"""Stand-ins for tests, yours as well as ours: shipped code that keeps the contracts of what it stands in for."""

from __future__ import annotations

from .backend import FakeBackend
from .clock import FrozenClock

__all__ = ["FakeBackend", "FrozenClock"]
