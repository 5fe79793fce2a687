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


@pytest.fixture(scope="session")
def shared() -> tuple[FastAPI, FakeService]:
    """One application for all tests, since making one takes longer than most of them."""
    service = FakeService()
    settings = Settings(server=ServerSettings(max_body_bytes=MAX_BODY_BYTES))
    return create_app(service.as_service(), settings, Metrics()), service


@pytest.fixture
def fake(shared: tuple[FastAPI, FakeService]) -> FakeService:
    service = shared[1]
    service.reset()
    return service


@pytest.fixture
def app(shared: tuple[FastAPI, FakeService], fake: FakeService) -> FastAPI:
    return shared[0]


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://memex") as http:
        yield http
