"""Every implementation of `Backend`, opened the same way, for the contract suite."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from memex.backend.local import LocalBackend
from memex.backend.remote import RemoteBackend
from memex.protocol.backend import Backend
from memex.testing import FakeBackend, FrozenClock
from memex.transport.http import HttpTransport
from memex.transport.retry import NO_RETRY
from tests.live import AsgiTransport, Live

__all__ = ["OPENERS", "Opener"]

# Opens an empty backend that goes by the clock; what it needs beside, it asks the fixtures for.
Opener = Callable[[FrozenClock, pytest.FixtureRequest], AbstractContextManager[Backend]]


@contextlib.contextmanager
def _fake(clock: FrozenClock, request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield FakeBackend(clock)


@contextlib.contextmanager
def _local(clock: FrozenClock, request: pytest.FixtureRequest) -> Iterator[Backend]:
    backend = LocalBackend(request.getfixturevalue("tmp_path") / "memex.db", clock=clock)
    yield backend
    backend.close()


@contextlib.contextmanager
def _over_asgi(clock: FrozenClock, request: pytest.FixtureRequest) -> Iterator[Backend]:
    live: Live = request.getfixturevalue("live_service")
    live.begin(clock)
    yield RemoteBackend(AsgiTransport(live), timeout_s=30, retry=NO_RETRY)


@contextlib.contextmanager
def _over_http(clock: FrozenClock, request: pytest.FixtureRequest) -> Iterator[Backend]:
    live: Live = request.getfixturevalue("live_service")
    live.begin(clock)
    yield RemoteBackend(HttpTransport(live.url), timeout_s=30, retry=NO_RETRY)


OPENERS: dict[str, Opener] = {"fake": _fake, "local": _local, "remote-asgi": _over_asgi, "remote-http": _over_http}
