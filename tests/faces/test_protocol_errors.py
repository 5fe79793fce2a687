"""Refusals of the unified protocol: each in its envelope, with a stable code and what would be right."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from memex.protocol.errors import MemexError, RateLimited, Unavailable
from tests.faces.conftest import MAX_BODY_BYTES
from tests.faces.fake_service import FakeService

BASE = "/api/v1/memory"


def error(answer: httpx.Response) -> dict[str, Any]:
    """The error of an enveloped refusal."""
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert set(body) == {"success", "error"}
    assert body["success"] is False
    found: dict[str, Any] = body["error"]
    return found


@pytest.mark.parametrize(
    ("verb", "body", "field"),
    [
        ("store", {}, "content"),
        ("store", {"content": " \n"}, "content"),
        ("store", {"content": "x", "level": "L9"}, "level"),
        ("store", {"content": "x", "lm_policy": "maybe"}, "lm_policy"),
        ("store", {"content": "x", "occurred_at": "gestern"}, "occurred_at"),
        ("store", {"content": "a\u0000b"}, "content"),
        ("store", {"content": "x", "pre_extracted": {"keywords": "周五"}}, "pre_extracted.keywords"),
        ("store", {"content": "x", "pre_extracted": {"keywords": ["k"] * 65}}, "pre_extracted.keywords"),
        ("store", {"content": "x", "payload": [1]}, "payload"),
        ("recall", {"keywords": "周五"}, "keywords"),
        ("recall", {"keywords": ["x"], "top_k": 0}, "top_k"),
        ("recall", {"keywords": ["x"], "mode": "fuzzy"}, "mode"),
        ("recall", {"keywords": ["x"], "time_from": "2026-01-02", "time_to": "2026-01-01"}, "time_to"),
        ("get", {}, "memory_id"),
        ("link", {"from_id": "a"}, "to_id"),
        ("link", {"from_id": "a", "to_id": "a"}, "to_id"),
        ("extract", {"limit": 0}, "limit"),
        ("extract", {"limit": True}, "limit"),
    ],
)
async def test_a_message_that_does_not_fit_is_422_and_names_its_field(
    client: httpx.AsyncClient, verb: str, body: Any, field: str
) -> None:
    answer = await client.post(f"{BASE}/{verb}", json=body)
    found = error(answer)
    assert (answer.status_code, found["code"], found["field"]) == (422, "invalid_input", field)
    assert len(found["message"]) > 10


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b'"x"', b'{"content": "\\ud800"}'])
async def test_a_body_that_is_no_json_object_of_unicode_is_422(client: httpx.AsyncClient, raw: bytes) -> None:
    answer = await client.post(f"{BASE}/store", content=raw, headers={"content-type": "application/json"})
    assert (answer.status_code, error(answer)["code"]) == (422, "invalid_input")


async def test_a_body_that_is_not_declared_as_json_is_415(client: httpx.AsyncClient) -> None:
    answer = await client.post(f"{BASE}/store", content=b'{"content": "x"}', headers={"content-type": "text/plain"})
    assert (answer.status_code, error(answer)["code"]) == (415, "unsupported_media_type")


async def test_a_body_beyond_the_limit_is_413(client: httpx.AsyncClient) -> None:
    answer = await client.post(f"{BASE}/store", json={"content": "x" * MAX_BODY_BYTES})
    assert (answer.status_code, error(answer)["code"]) == (413, "too_large")


async def test_an_unknown_record_an_unknown_verb_and_a_wrong_method_are_told_apart(client: httpx.AsyncClient) -> None:
    record = await client.post(f"{BASE}/get", json={"memory_id": "不存在"})
    verb = await client.post(f"{BASE}/forget", json={})
    method = await client.put(f"{BASE}/store", json={})
    assert [(a.status_code, error(a)["code"]) for a in (record, verb, method)] == [
        (404, "not_found"),
        (404, "not_found"),
        (405, "method_not_allowed"),
    ]
    assert "不存在" in error(record)["message"]
    assert method.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (RateLimited("slow down", limit=5, remaining=0, retry_after_s=7.2), (429, "rate_limited", "8")),
        (Unavailable("the database is away", retry_after_s=1), (503, "unavailable", "1")),
        (MemexError("told to nobody: secret"), (500, "internal", None)),
        (ZeroDivisionError("told to nobody: secret"), (500, "internal", None)),
    ],
)
async def test_failures_of_the_service_keep_the_envelope(
    client: httpx.AsyncClient, fake: FakeService, failure: Exception, expected: tuple[int, str, str | None]
) -> None:
    fake.failure = failure
    answer = await client.post(f"{BASE}/recall", json={"keywords": ["x"]})
    assert (answer.status_code, error(answer)["code"], answer.headers.get("retry-after")) == expected
    assert "secret" not in answer.text


async def test_health_is_503_in_the_envelope_when_the_database_is_down(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    assert (await client.get(f"{BASE}/health?probe=1")).json()["data"]["capabilities"]["levels"] == [
        "raw", "fact", "summary", "meta",
    ]  # fmt: skip
    fake.database = "down"
    answer = await client.get(f"{BASE}/health")
    assert (answer.status_code, error(answer)["code"]) == (503, "unavailable")


async def test_callers_are_told_apart_by_their_token_which_is_not_kept(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    for token in ("s3cret-one", "s3cret-two", "s3cret-one"):
        await client.post(f"{BASE}/store", json={"content": token}, headers={"Authorization": f"Bearer {token}"})
    first, second, third = fake.kept.callers
    assert first == third != second
    assert "s3cret" not in first + second


async def test_fields_that_are_not_known_and_nulls_are_ignored(client: httpx.AsyncClient) -> None:
    body = {
        "content": "主人偏好周五晚上部署", "level": None, "lm_policy": None, "tags": None, "payload": None,
        "pre_extracted": None, "occurred_at": None, "source_type": None, "from_the_future": {"x": [1]},
    }  # fmt: skip
    answer = await client.post(f"{BASE}/store", json=body)
    assert answer.json() == {
        "success": True,
        "data": {"memory_id": "fake-0001", "level": "raw", "deduplicated": False},
        "message": "",
    }
