"""What the running agent's breakers do, left in a file for `memex status`, which is another process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..backend.breaker import BreakerState

__all__ = ["Noted", "read"]

_FILE = "memex-breakers.json"


class Noted:
    """Writes the file of one Hermes folder when a breaker opens, and takes it away when none is open any more."""

    def __init__(self, home: Path) -> None:
        self._path = home / _FILE
        self._open: set[str] | None = None  # unknown: an agent that was killed may have left its own

    def note(self, states: Mapping[str, BreakerState], now: datetime) -> None:
        """Write down what is open until when, if that has changed. Raises OSError."""
        until = {
            name: (now + timedelta(seconds=state.retry_in_s)).isoformat()
            for name, state in states.items()
            if state.state == "open"
        }
        if set(until) == self._open:
            return
        if until:
            self._path.write_text(json.dumps(until), encoding="utf-8")
        else:
            self._path.unlink(missing_ok=True)
        self._open = set(until)


def read(home: Path, now: datetime) -> dict[str, str]:
    """Return what an agent left: the state of the breakers of reads and writes. Never raises."""
    try:
        found = json.loads((home / _FILE).read_text(encoding="utf-8"))
        until = {name: datetime.fromisoformat(found[name]) for name in ("reads", "writes") if name in found}
        left_s = {name: (at.astimezone(UTC) - now).total_seconds() for name, at in until.items()}
    except (OSError, ValueError, TypeError):
        left_s = {}
    return {
        name: "closed" if (left := left_s.get(name)) is None else f"open for {left:.0f} s" if left > 0 else "half open"
        for name in ("reads", "writes")
    }
