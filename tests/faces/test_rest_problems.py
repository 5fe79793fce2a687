"""Every refusal of REST is a problem document that says what to do, and nothing of the inside."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from urllib.parse import unquote

import httpx
import pytest

from memex.protocol.errors import (
    Conflict,
    InvalidInput,
    MemexError,
    NotFound,
    RateLimited,
    SetupError,
    TooLarge,
    Unavailable,
)
from tests.faces.conftest import MAX_BODY_BYTES
from tests.faces.fake_service import FakeService

STORE = {"agent_id": "a", "user_id": "u", "content": "c"}
ONE = "/v1/memories/00000000-0000-7000-8000-000000000000"


def checked(answer: httpx.Response, status: int, code: str) -> dict[str, object]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, object] = answer.json()
    assert document["status"] == status
    assert document["code"] == code
    assert document["type"] == "about:blank"
    assert document["title"]
    assert document["detail"]
    assert document["instance"] == f"urn:memex:request:{answer.headers['x-request-id']}"
    return document


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (InvalidInput("no", field="query"), 422, "invalid_input"),
        (NotFound("no"), 404, "not_found"),
        (Conflict("no", existing_id="7"), 409, "conflict"),
        (TooLarge("no"), 413, "too_large"),
        (RateLimited("no", limit=60, remaining=0, retry_after_s=12.2), 429, "rate_limited"),
        (Unavailable("no", retry_after_s=0.2), 503, "unavailable"),
        (SetupError("secret"), 500, "setup"),
        (MemexError("secret"), 500, "internal"),
        (RuntimeError("secret of the inside"), 500, "internal"),
        (ConnectionResetError("secret"), 500, "internal"),
    ],
)
async def test_every_error_of_the_service_has_its_status(
    client: httpx.AsyncClient, fake: FakeService, error: Exception, status: int, code: str
) -> None:
    fake.failure = error
    calls = [
        client.post("/v1/memories", json=STORE),
        client.post("/v1/memories/batch", json={"memories": [STORE]}),
        client.post("/v1/memories/search", json={"user_id": "u", "query": "q"}),
        client.get("/v1/memories?user_id=u"),
        client.get("/v1/memories/count?user_id=u"),
        client.delete("/v1/memories?user_id=u"),
        client.get(ONE),
        client.patch(ONE, json={}),
        client.delete(ONE),
        client.post(f"{ONE}/restore"),
        client.get(f"{ONE}/history"),
    ]
    for call in calls:
        answer = await call
        checked(answer, status, code)
        assert "secret" not in answer.text


async def test_a_rate_limit_says_when_to_come_back(client: httpx.AsyncClient, fake: FakeService) -> None:
    fake.failure = RateLimited("60 writes a minute", limit=60, remaining=0, retry_after_s=12.2)

    headers = (await client.post("/v1/memories", json=STORE)).headers

    assert headers["retry-after"] == "13"
    for prefix in ("ratelimit", "x-ratelimit"):
        assert [headers[f"{prefix}-{name}"] for name in ("limit", "remaining", "reset")] == ["60", "0", "13"]


async def test_an_outage_says_when_to_come_back(client: httpx.AsyncClient, fake: FakeService) -> None:
    fake.failure = Unavailable("the database does not answer", retry_after_s=0.2)

    answer = await client.post("/v1/memories", json=STORE)

    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("path", ["/", "/nope", "/v1", "/v1/memories/", "/v1/memories/a/b/c", "/V1/memories", "/%00"])
async def test_an_unknown_path_is_404(client: httpx.AsyncClient, path: str) -> None:
    problem = checked(await client.get(path), 404, "not_found")
    assert unquote(path) in str(problem["detail"])


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/memories", "DELETE, GET, HEAD, POST"),
        ("GET", "/v1/memories/search", "POST"),
        ("DELETE", "/v1/memories/batch", "POST"),
        ("POST", "/v1/memories/count", "GET, HEAD"),
        ("POST", ONE, "DELETE, GET, HEAD, PATCH"),
        ("GET", f"{ONE}/restore", "POST"),
        ("POST", "/health", "GET, HEAD"),
        ("BREW", "/metrics", "GET, HEAD"),
    ],
)
async def test_a_wrong_method_is_405_and_says_which_are_right(
    client: httpx.AsyncClient, method: str, path: str, allowed: str
) -> None:
    answer = await client.request(method, path)

    checked(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/memories/batch", "/v1/memories/search"])
@pytest.mark.parametrize(
    "media_type",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application/json; charset=gbk"],
)
async def test_a_body_that_is_not_declared_as_json_is_415(
    client: httpx.AsyncClient, path: str, media_type: str | None
) -> None:
    headers = {} if media_type is None else {"content-type": media_type}

    answer = await client.post(path, content=b'{"agent_id": "a", "user_id": "u", "content": "c"}', headers=headers)

    checked(answer, 415, "unsupported_media_type")
    assert answer.headers["accept"] == "application/json"


@pytest.mark.parametrize(
    "media_type",
    ["application/json", "Application/JSON", 'application/json;charset="UTF-8"', "application/merge-patch+json"],
)
async def test_every_way_to_write_json_is_taken(client: httpx.AsyncClient, media_type: str) -> None:
    answer = await client.post(
        "/v1/memories",
        content=b'{"agent_id": "a", "user_id": "u", "content": "c"}',
        headers={"content-type": media_type},
    )

    assert answer.status_code == 201


async def test_a_body_whose_length_is_too_large_is_refused_unread(client: httpx.AsyncClient) -> None:
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        read += 1
        yield b"{"

    headers = {"content-type": "application/json", "content-length": str(MAX_BODY_BYTES + 1)}

    answer = await client.post("/v1/memories", content=body(), headers=headers)

    checked(answer, 413, "too_large")
    assert answer.headers["connection"] == "close"
    assert read == 0


async def test_a_chunked_body_is_read_no_further_than_the_limit(client: httpx.AsyncClient) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in itertools.count():
            read += 1
            yield b" " * 100_000

    answer = await client.post("/v1/memories", content=endless(), headers={"content-type": "application/json"})

    checked(answer, 413, "too_large")
    assert read <= MAX_BODY_BYTES // 100_000 + 1


async def test_a_chunked_body_within_the_limit_is_taken(client: httpx.AsyncClient) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for part in (
            b'{"agent_id": "a", "us',
            b'er_id": "u", "content": "',
            "東京".encode()[:4],
            "東京".encode()[4:],
            b'"}',
        ):
            yield part

    answer = await client.post("/v1/memories", content=chunks(), headers={"content-type": "application/json"})

    assert answer.status_code == 201
    assert answer.json()["content"] == "東京"


async def test_a_long_value_is_not_echoed(client: httpx.AsyncClient) -> None:
    secret = "密" * 5_000
    answers = [
        await client.post("/v1/memories", json={**STORE, secret: 1}),
        await client.post("/v1/memories", json={**STORE, "memory_type": secret}),
        await client.post("/v1/memories", json={**STORE, "content": [secret]}),
        await client.post("/v1/memories", json={**STORE, "importance": secret}),
        await client.get(f"/v1/memories/{secret}"),
        await client.get("/v1/memories", params={"user_id": "u", "state": secret}),
    ]
    for answer in answers:
        assert answer.status_code == 422
        assert answer.text.count("密") <= 3 * 80


async def test_at_most_twenty_faults_are_listed(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/memories", json={**STORE, "tags": [1] * 90})

    assert len(checked(answer, 422, "invalid_input")["errors"]) == 20  # type: ignore[arg-type]
    assert "89 more" in answer.json()["detail"]


@pytest.mark.parametrize("given", ["abc-1", "A.b_c:d/e+f=g@h", "x" * 128])
async def test_a_request_id_of_the_client_comes_back(client: httpx.AsyncClient, given: str) -> None:
    for path in ("/health/live", "/nope", "/docs", "/v1/memories"):
        assert (await client.get(path, headers={"x-request-id": given})).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "x" * 129, "a b", 'a"b', "é", "a\tb"])
async def test_an_unsafe_request_id_is_replaced(client: httpx.AsyncClient, given: str) -> None:
    answer = await client.get("/health/live", headers=[(b"x-request-id", given.encode())])

    assert answer.headers["x-request-id"] != given
    assert len(answer.headers["x-request-id"]) == 32


async def test_request_ids_of_parallel_requests_do_not_mix(client: httpx.AsyncClient, fake: FakeService) -> None:
    gate = asyncio.Event()

    async def slow() -> bool:
        await gate.wait()
        return False

    fake.ready = slow  # type: ignore[method-assign]

    async def one(n: int) -> None:
        answer = await client.get("/health/ready", headers={"x-request-id": f"r{n}"})
        assert answer.headers["x-request-id"] == f"r{n}"
        assert answer.json()["instance"] == f"urn:memex:request:r{n}"

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        for n in range(200):
            group.create_task(one(n))
        asyncio.get_running_loop().call_soon(gate.set)


async def test_head_answers_like_get(client: httpx.AsyncClient) -> None:
    assert (await client.head("/health/live")).status_code == 200
    assert (await client.head(ONE)).status_code == 404
