"""Health, metrics, logs and documentation of the REST face."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from memex_server.http.app import create_app
from memex_server.logs import configure_logging
from memex_server.metrics import Metrics
from memex_server.settings import Settings
from tests.faces.fake_service import FakeService
from tests.faces.operations import OPERATIONS

STORE = {"agent_id": "a", "user_id": "user-123", "content": "secret 秘密"}


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def app(fake: FakeService, metrics: Metrics) -> FastAPI:
    """An application of its own, whose counts begin at zero."""
    return create_app(fake.as_service(), Settings(), metrics)


async def test_health_tells_the_state_of_every_part(client: httpx.AsyncClient) -> None:
    answer = await client.get("/health")

    assert answer.status_code == 200
    assert set(answer.json()) == {"status", "version", "database", "embedding"}


async def test_health_is_503_when_the_database_is_down_but_the_process_lives(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    fake.database = "down"
    fake.is_ready = False

    health, ready, live = [await client.get(f"/health{path}") for path in ("", "/ready", "/live")]

    assert (health.status_code, ready.status_code, live.status_code) == (503, 503, 200)
    assert health.json()["health"]["database"] == {"status": "down"}
    for answer in (health, ready):
        assert answer.headers["retry-after"] == "1"
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["instance"].endswith(answer.headers["x-request-id"])


def series(text: str, name: str) -> dict[str, float]:
    found = re.findall(rf"^{name}(\{{.*\}})? (\S+)$", text, re.MULTILINE)
    return {labels: float(value) for labels, value in found}


async def test_requests_are_counted_by_template_never_by_user(client: httpx.AsyncClient) -> None:
    memory = (await client.post("/v1/memories", json=STORE)).json()
    await client.get(f"/v1/memories/{memory['id']}?user_id=user-123")
    await client.get("/v1/memories/x")
    for n in range(5):
        await client.get(f"/nope/{n}")
    await client.request("BREW", "/v1/memories")
    await client.get("/docs")

    answer = await client.get("/metrics")

    assert answer.headers["content-type"].startswith("text/plain; version=")
    counted = series(answer.text, "http_requests_total")
    assert counted == {
        '{handler="/v1/memories",method="POST",status="2xx"}': 1,
        '{handler="/v1/memories/{memory_id}",method="GET",status="2xx"}': 1,
        '{handler="/v1/memories/{memory_id}",method="GET",status="4xx"}': 1,
        '{handler="none",method="GET",status="4xx"}': 5,
        '{handler="none",method="OTHER",status="4xx"}': 1,
        '{handler="/docs",method="GET",status="2xx"}': 1,
    }
    assert series(answer.text, "http_requests_inprogress") == {"": 1}  # the one that asks
    assert series(answer.text, "http_request_duration_seconds_count")['{handler="/v1/memories",method="POST"}'] == 1
    assert "user-123" not in answer.text


async def test_a_request_whose_client_left_is_no_longer_in_flight(app: FastAPI, metrics: Metrics) -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pytest.fail(f"nobody is there to read {message}")

    scope = {
        "type": "http", "method": "POST", "path": "/v1/memories", "raw_path": b"/v1/memories", "query_string": b"",
        "headers": [(b"content-type", b"application/json")], "root_path": "", "http_version": "1.1",
    }  # fmt: skip
    await app(scope, receive, send)

    text = metrics.render()[0].decode()
    assert series(text, "http_requests_inprogress") == {"": 0}
    assert series(text, "http_requests_total") == {'{handler="/v1/memories",method="POST",status="4xx"}': 1}


async def test_a_cancelled_request_is_no_longer_in_flight(
    client: httpx.AsyncClient, fake: FakeService, metrics: Metrics
) -> None:
    waiting = asyncio.Event()

    async def never() -> bool:
        waiting.set()
        await asyncio.Event().wait()
        return True

    fake.ready = never  # type: ignore[method-assign]
    request = asyncio.ensure_future(client.get("/health/ready"))
    await asyncio.wait_for(waiting.wait(), 5)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request

    assert series(metrics.render()[0].decode(), "http_requests_inprogress") == {"": 0}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    configure_logging("DEBUG", "json", stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


async def test_each_request_is_one_line_without_text_or_values(client: httpx.AsyncClient, log: io.StringIO) -> None:
    memory = (await client.post("/v1/memories", json=STORE, headers={"x-request-id": "r1"})).json()
    await client.get(f"/v1/memories/{memory['id']}?user_id=user-123", headers={"authorization": "Bearer s3cret"})
    await client.get("/nope?token=s3cret")

    written = [line for line in lines(log) if line.get("action") == "http.request"]

    assert [(line["method"], line["route"], line["status"]) for line in written] == [
        ("POST", "/v1/memories", 201),
        ("GET", "/v1/memories/{memory_id}", 200),
        ("GET", "none", 404),
    ]
    assert written[0]["request_id"] == "r1"
    assert all(line["duration_ms"] >= 0 for line in written)
    for value in ("secret", "秘密", "user-123", memory["id"], "s3cret", "nope"):
        assert value not in log.getvalue()


async def test_a_failure_is_logged_with_its_place_but_not_its_text(
    client: httpx.AsyncClient, fake: FakeService, log: io.StringIO
) -> None:
    logging.getLogger().setLevel("INFO")
    fake.failure = ValueError("invalid value: 'secret 秘密'")

    answer = await client.post("/v1/memories", json=STORE)

    assert answer.status_code == 500
    (failed,) = [line for line in lines(log) if line.get("action") == "http.failed"]
    assert failed["level"] == "ERROR"
    assert failed["request_id"] == answer.headers["x-request-id"]
    assert failed["error"] == "ValueError"
    assert "fake_service.py" in failed["stack"]
    assert "秘密" not in log.getvalue()


async def test_the_documentation_page_loads_nothing_from_elsewhere(client: httpx.AsyncClient) -> None:
    page = (await client.get("/docs")).text
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)

    assert len(sources) == 3
    for source in [*sources, "/openapi.json"]:
        assert source.startswith("/")
        assert (await client.get(source)).status_code == 200


async def test_the_openapi_document_is_complete(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    operations = {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }

    assert set(operations) == set(OPERATIONS)
    assert len({operation["operationId"] for operation in operations.values()}) == len(operations)
    for name, operation in operations.items():
        assert operation["summary"], name
        assert operation["description"], name
        assert operation["tags"], name
        for parameter in operation.get("parameters", []):
            assert parameter["description"], (name, parameter["name"])
        for status, answer in operation["responses"].items():
            assert answer["description"], (name, status)
            if status >= "400":
                kind = "application/json" if "/api/v1/memory/" in name else "application/problem+json"
                assert list(answer["content"]) == [kind], (name, status)
        if "requestBody" in operation:
            assert operation["requestBody"]["content"]["application/json"]["examples"], name
            assert {"413", "415", "422"} <= set(operation["responses"]), name
    for name, schema in document["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            assert "description" in described, (name, field)
