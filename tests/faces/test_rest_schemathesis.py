"""Generated requests, right and wrong ones, get only answers that the OpenAPI document announces."""

from __future__ import annotations

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.specs.openapi.checks import positive_data_acceptance, use_after_free

from memex_server.http.app import create_app
from memex_server.metrics import Metrics
from memex_server.settings import ServerSettings, Settings
from tests.faces.fake_service import FakeService


@pytest.fixture(scope="module")
def rest() -> FastAPI:
    return create_app(FakeService(), Settings(server=ServerSettings(max_body_bytes=1_000_000)), Metrics())


@pytest.fixture(scope="module")
def api_schema(rest: FastAPI) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_asgi("/openapi.json", rest)


schema = schemathesis.pytest.from_fixture("api_schema")


@schema.parametrize()
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_generated_requests_get_documented_answers(case: schemathesis.Case) -> None:
    case.call_and_validate()
