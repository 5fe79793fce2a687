"""A clock for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["FrozenClock"]


class FrozenClock:
    """A clock that moves only when it is told to."""

    def __init__(self, now: datetime = datetime(2026, 6, 1, 12, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the time it stands at, aware, in UTC."""
        return self.now

    def advance(self, *, days: float = 0, seconds: float = 0) -> None:
        """Move on."""
        self.now += timedelta(days=days, seconds=seconds)
