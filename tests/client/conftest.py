from __future__ import annotations

import pytest

from memex.client import Memex
from memex.testing import FrozenClock
from tests.live import Live


@pytest.fixture
def live(live_service: Live) -> Live:
    """The real service with nothing in it, for the users of these tests."""
    live_service.begin(FrozenClock())
    for user in ("user-123", "other"):
        live_service.do(live_service.service.delete_scope(user_id=user, purge=True))
    return live_service


@pytest.fixture
def client(live: Live) -> Memex:
    return Memex(live.url, user_id="user-123", agent_id="my-agent")
