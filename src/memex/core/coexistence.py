"""Whether two memories stood beside each other, as their histories tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from .memory import Version

__all__ = ["stood_beside"]

_ENDS = frozenset({"deleted", "expired", "forgotten", "retracted", "superseded", "condensed"})
_STILL = datetime.max.replace(tzinfo=UTC)


def stood_beside(one: Sequence[Version], other: Sequence[Version]) -> bool:
    """Whether both were there at one time, each with the text of its last version; histories are oldest first."""
    return any(
        max(since, other_since) < min(until, other_until)
        for since, until in _times(one)
        for other_since, other_until in _times(other)
    )


def _times(history: Sequence[Version]) -> Iterator[tuple[datetime, datetime]]:
    since = None
    for version in history:
        there = version.action not in _ENDS and version.content == history[-1].content
        if there and since is None:
            since = version.at
        elif not there and since is not None:
            yield since, version.at
            since = None
    if since is not None:
        yield since, _STILL
