"""Every implementation of `Backend`, opened the same way, for the contract suite."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from memex.protocol.backend import Backend
from memex.testing import FakeBackend, FrozenClock

__all__ = ["OPENERS", "Opener"]

# Opens an empty backend that goes by the clock; what it needs beside, it asks the fixtures for.
Opener = Callable[[FrozenClock, pytest.FixtureRequest], AbstractContextManager[Backend]]


@contextlib.contextmanager
def _fake(clock: FrozenClock, request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield FakeBackend(clock)


OPENERS: dict[str, Opener] = {"fake": _fake}
