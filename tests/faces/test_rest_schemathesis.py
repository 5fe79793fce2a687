"""Generated requests, right and wrong ones, get only answers that the OpenAPI document announces."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import positive_data_acceptance
from schemathesis.core.result import Ok

from memex_server.http.app import create_app
from memex_server.metrics import Metrics
from memex_server.settings import ServerSettings, Settings
from tests.faces.fake_service import FakeService
from tests.faces.operations import OPERATIONS

# The latter take no input; a batch answers 200 and says for each item what was wrong with it.
WITHOUT_WRONG_INPUT = {
    "POST /v1/memories/batch",
    "GET /api/v1/memory/health",
    "GET /health",
    "GET /health/live",
    "GET /health/ready",
    "GET /metrics",
}
# Two fields that contradict each other, metadata that jsonb cannot hold or a date of year 0 are
# refused with 422, which JSON Schema has no words for.
BEYOND_SCHEMA = [positive_data_acceptance]
# What generates texts turns "no NUL, at most 65,536 characters" into a machine of as many states, for seconds,
# and never gets near such a length; tests/faces/test_rest_memories.py tries the limits themselves.
LONG = 500
CASES = [
    (label, mode)
    for label in OPERATIONS
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or label not in WITHOUT_WRONG_INPUT
]


@pytest.fixture(scope="module")
def api() -> schemathesis.BaseSchema:
    app = create_app(FakeService().as_service(), Settings(server=ServerSettings(max_body_bytes=1_000_000)), Metrics())
    app.openapi_schema = _without_large_limits(app.openapi())
    return schemathesis.openapi.from_asgi("/openapi.json", app)


def _without_large_limits(document: Any) -> Any:
    if isinstance(document, dict):
        return {
            name: _without_large_limits(value)
            for name, value in document.items()
            if not (name == "maxLength" and isinstance(value, int) and value > LONG)
        }
    return [_without_large_limits(value) for value in document] if isinstance(document, list) else document


def test_every_operation_of_the_document_is_tried(api: schemathesis.BaseSchema) -> None:
    assert sorted(found.ok().label for found in api.get_all_operations() if isinstance(found, Ok)) == sorted(OPERATIONS)


@pytest.mark.parametrize(("label", "mode"), CASES)
def test_generated_requests_get_documented_answers(
    api: schemathesis.BaseSchema, label: str, mode: GenerationMode
) -> None:
    operation = api.find_operation_by_label(label)
    assert operation is not None

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=10 if mode is GenerationMode.POSITIVE and "/api/" not in label else 4,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def try_it(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(excluded_checks=BEYOND_SCHEMA)

    try_it()
