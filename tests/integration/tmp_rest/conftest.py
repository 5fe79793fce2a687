from collections.abc import AsyncIterator
import httpx, pytest
from fastapi import FastAPI
from memex_server.http.app import create_app
from memex_server.metrics import Metrics
from memex_server.settings import ServerSettings, Settings
from tests.faces.fake_service import FakeService
@pytest.fixture
def fake(): return FakeService()
@pytest.fixture
def service(database, clock):
    from tests.integration.support import make_service
    return make_service(database, clock, exact_scope_limit=10_000)
@pytest.fixture(scope="session")
def holder():
    f=FakeService(); app=create_app(f, Settings(server=ServerSettings(max_body_bytes=2_000_000)), Metrics()); return app
@pytest.fixture
async def client(service):
    app=create_app(service, Settings(server=ServerSettings(max_body_bytes=2_000_000)), Metrics())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://memex") as c: yield c
