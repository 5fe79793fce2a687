"""The REST application around a service in memory, called without a network."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from memex_server.http.app import create_app
from memex_server.metrics import Metrics
from memex_server.settings import ServerSettings, Settings
from tests.faces.fake_service import FakeService

MAX_BODY_BYTES = 2_000_000


@pytest.fixture
def fake() -> FakeService:
    return FakeService()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def app(fake: FakeService, metrics: Metrics) -> FastAPI:
    return create_app(fake, Settings(server=ServerSettings(max_body_bytes=MAX_BODY_BYTES)), metrics)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://memex") as http:
        yield http
