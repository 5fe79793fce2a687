"""REST v1: what each call does when all is well, and what it says when the caller is wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest

from memex.core.memory import Filters, MemoryType, Recalls, SearchMode, Weights
from memex.protocol.errors import InvalidInput
from tests.faces.fake_service import FakeService

STORE = {
    "agent_id": "my-agent",
    "user_id": "user-123",
    "content": "User prefers concise responses and dislikes verbose explanations.",
    "memory_type": "semantic",
    "importance": 1.2,
}
SEARCH = {
    "agent_id": "my-agent",
    "user_id": "user-123",
    "query": "how does this user like to communicate",
    "top_k": 5,
    "alpha": 0.7,
}
NEVER_FOUND = {"recalled": 0, "last_recalled_at": None}
NOBODY = "00000000-0000-7000-8000-000000000000"
ONE = ("get", ""), ("patch", ""), ("delete", ""), ("post", "/restore"), ("get", "/history")


async def stored(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/v1/memories", json={**STORE, **fields})
    assert answer.status_code in {200, 201}, answer.text
    memory: dict[str, Any] = answer.json()
    return memory


def wrong_fields(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return [error["field"] for error in answer.json()["errors"]]


async def test_a_store_answers_201_with_the_whole_memory_and_where_it_is(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/memories", json=STORE)

    assert answer.status_code == 201
    memory = answer.json()
    assert {name: memory[name] for name in STORE} == STORE
    assert list(memory)[:8] == [
        "id", "agent_id", "user_id", "content", "importance", "memory_type", "created_at", "score",
    ]  # fmt: skip
    assert memory["score"] is None
    assert memory["created_at"] == "2026-05-26T10:30:01Z"
    assert (await client.get(answer.headers["location"])).json() == memory | NEVER_FOUND


async def test_a_memory_tells_how_often_and_when_it_was_found(client: httpx.AsyncClient, fake: FakeService) -> None:
    stored = (await client.post("/v1/memories", json=STORE)).json()
    fake.recalled[UUID(stored["id"])] = Recalls(3, datetime(2026, 5, 27, tzinfo=UTC))

    memory = (await client.get(f"/v1/memories/{stored['id']}")).json()

    assert (memory["recalled"], memory["last_recalled_at"]) == (3, "2026-05-27T00:00:00Z")


async def test_the_same_text_again_answers_200_with_the_memory_that_is_there(client: httpx.AsyncClient) -> None:
    first = await client.post("/v1/memories", json=STORE)
    again = await client.post("/v1/memories", json=STORE)

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["occurrences"] == 2
    assert again.headers["location"] == first.headers["location"]


async def test_every_optional_field_comes_back_as_it_was_given(client: httpx.AsyncClient) -> None:
    given = {
        "occurred_at": "2026-05-20T08:00:00.123456Z",
        "tags": ["a_b", "100%", "x,y", "标签"],
        "metadata": {"k": None, "n": 1.5, "deep": {"list": [1, "二", True, None]}},
        "source": "chat",
        "session_id": "session-7",
        "expires_at": "2027-01-01T00:00:00Z",
        "pinned": True,
    }

    memory = await stored(client, **given)

    assert {name: memory[name] for name in given} == given
    assert (await client.get(f"/v1/memories/{memory['id']}")).json() == memory | NEVER_FOUND


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-05-26T10:30:00", "2026-05-26T10:30:00Z"),  # naive: UTC
        ("2026-05-26T18:30:00+08:00", "2026-05-26T10:30:00Z"),
        ("2026-05-26 10:30:00Z", "2026-05-26T10:30:00Z"),
        ("2026-05-26", "2026-05-26T00:00:00Z"),
    ],
)
async def test_times_are_read_as_utc(client: httpx.AsyncClient, given: str, read: str) -> None:
    assert (await stored(client, occurred_at=given))["occurred_at"] == read


async def test_metadata_named_like_the_scope_changes_nothing(client: httpx.AsyncClient) -> None:
    metadata = {"user_id": "other", "tenant": "other", "id": NOBODY, "agent_id": "other", "deleted_at": "now"}

    memory = await stored(client, metadata=metadata)

    assert memory["metadata"] == metadata
    assert (memory["user_id"], memory["agent_id"], memory["deleted_at"]) == ("user-123", "my-agent", None)
    assert memory["id"] != NOBODY
    assert (await client.get("/v1/memories/count?user_id=other")).json()["count"] == 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"agent_id": ""}, "agent_id"),
        ({"user_id": "u" * 129}, "user_id"),
        ({"user_id": None}, "user_id"),
        ({"user_id": 5}, "user_id"),
        ({"content": ""}, "content"),
        ({"content": "字" * 65_537}, "content"),
        ({"importance": 2.1}, "importance"),
        ({"importance": -0.1}, "importance"),
        ({"importance": "1.2"}, "importance"),
        ({"importance": True}, "importance"),
        ({"memory_type": "dream"}, "memory_type"),
        ({"occurred_at": 1_700_000_000}, "occurred_at"),
        ({"occurred_at": "1700000000"}, "occurred_at"),
        ({"occurred_at": "yesterday"}, "occurred_at"),
        ({"occurred_at": "2026-02-30T00:00:00Z"}, "occurred_at"),
        ({"occurred_at": "0001-01-01T00:00:00+14:00"}, "occurred_at"),
        ({"expires_at": "9999-12-31T23:59:59-14:00"}, "expires_at"),
        ({"tags": "a,b"}, "tags"),
        ({"tags": ["a", ""]}, "tags.1"),
        ({"tags": ["t"] * 101}, "tags"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"n": 2**70}}, "metadata"),
        ({"metadata": {"long": "x" * 70_000}}, "metadata"),
        ({"source": ""}, "source"),
        ({"session_id": ""}, "session_id"),
        ({"pinned": "yes"}, "pinned"),
        ({"tenant": "other"}, "tenant"),
        ({"id": NOBODY}, "id"),
        ({"score": 1}, "score"),
    ],
)
async def test_a_field_that_does_not_fit_is_named(
    client: httpx.AsyncClient, fake: FakeService, change: dict[str, Any], field: str
) -> None:
    answer = await client.post("/v1/memories", json={**STORE, **change})

    assert wrong_fields(answer) == [field]
    assert answer.json()["detail"].startswith(field)
    assert fake.memories == {}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("place", ["importance", "metadata"])
async def test_numbers_that_json_does_not_have_are_refused(client: httpx.AsyncClient, number: str, place: str) -> None:
    value = number if place == "importance" else f'{{"k": [{number}]}}'
    body = f'{{"agent_id": "a", "user_id": "u", "content": "c", "{place}": {value}}}'

    answer = await client.post("/v1/memories", content=body, headers={"content-type": "application/json"})

    assert wrong_fields(answer) == [place]


async def test_a_missing_field_and_all_other_faults_are_told_at_once(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/memories", json={"user_id": "", "importance": 9})

    assert set(wrong_fields(answer)) == {"agent_id", "user_id", "content", "importance"}


async def test_a_retry_with_its_key_is_stored_once_and_another_body_is_409(client: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "key 1"}
    first = await client.post("/v1/memories", json=STORE, headers=headers)
    again = await client.post("/v1/memories", json=STORE, headers=headers)
    other = await client.post("/v1/memories", json={**STORE, "content": "another"}, headers=headers)

    assert first.json() == again.json()
    assert other.status_code == 409
    assert other.json()["code"] == "conflict"
    assert other.json()["existing_id"] == first.json()["id"]


@pytest.mark.parametrize("key", [b"", b"k" * 256, "ключ".encode(), b"tab\there"])
async def test_a_key_that_is_not_printable_ascii_is_refused(client: httpx.AsyncClient, key: bytes) -> None:
    answer = await client.post("/v1/memories", json=STORE, headers=[(b"idempotency-key", key)])

    assert wrong_fields(answer) == ["idempotency-key"]


async def test_an_invalid_item_of_a_batch_leaves_the_others_stored(client: httpx.AsyncClient) -> None:
    items = [STORE, {**STORE, "user_id": ""}, STORE, {**STORE, "content": "周五部署"}, "no object"]

    answer = await client.post("/v1/memories/batch", json={"memories": items})

    assert answer.status_code == 200
    told = answer.json()
    assert [(item["index"], item["status"]) for item in told["results"]] == [
        (0, 201), (1, 422), (2, 200), (3, 201), (4, 422),
    ]  # fmt: skip
    assert (told["stored"], told["duplicates"], told["failed"]) == (2, 1, 2)
    assert told["results"][1]["errors"] == [{"field": "user_id", "message": "String should have at least 1 character"}]
    assert told["results"][0]["id"] == told["results"][2]["id"]
    assert (await client.get("/v1/memories/count?user_id=user-123")).json()["count"] == 2


async def test_an_item_with_half_a_character_leaves_the_others_stored(client: httpx.AsyncClient) -> None:
    body = (
        '{"memories": [{"agent_id": "a", "user_id": "u", "content": "\\ud800"},'
        ' {"agent_id": "a", "user_id": "u", "content": "東京", "occurred_at": "2026-05-26T10:30:00"}]}'
    )

    answer = await client.post("/v1/memories/batch", content=body, headers={"content-type": "application/json"})

    assert [item["status"] for item in answer.json()["results"]] == [422, 201]


async def test_a_batch_of_one_thousand_is_taken_and_one_more_is_refused(client: httpx.AsyncClient) -> None:
    items = [{"agent_id": "a", "user_id": "u", "content": f"fact {n}"} for n in range(1001)]

    taken = await client.post("/v1/memories/batch", json={"memories": items[:1000]})
    refused = await client.post("/v1/memories/batch", json={"memories": items})

    assert taken.json()["stored"] == 1000
    assert wrong_fields(refused) == ["memories"]


@pytest.mark.parametrize("body", [[STORE], {"memories": STORE}, {"memories": []}, {}, {"memories": [], "x": 1}])
async def test_a_batch_that_is_no_batch_is_refused_whole(client: httpx.AsyncClient, body: Any) -> None:
    assert wrong_fields(await client.post("/v1/memories/batch", json=body))


async def test_a_search_answers_as_the_contract_says(client: httpx.AsyncClient) -> None:
    memory = await stored(client)

    answer = await client.post("/v1/memories/search", json=SEARCH)

    assert answer.status_code == 200
    found = answer.json()
    assert (found["query"], found["total"]) == (SEARCH["query"], 1)
    assert found["results"] == [{**memory, "score": pytest.approx(1 / 7), "highlight": None}]


async def test_every_search_parameter_reaches_the_service(client: httpx.AsyncClient, fake: FakeService) -> None:
    body = {
        "user_id": "u",
        "query": "周五",
        "agent_id": "a",
        "top_k": 50,
        "weights": {"similarity": 3, "recency": 0.5},
        "mode": "keyword",
        "memory_type": "procedural",
        "tags": ["x"],
        "metadata": {"turn": {"$gte": 9}},
        "time_from": "2026-01-01T00:00:00",
        "time_to": "2026-01-01T09:00:00+09:00",
        "as_of": "2026-03-01T00:00:00Z",
        "now": "2026-04-01T00:00:00Z",
        "explain": True,
        "half_life_days": 7,
    }

    assert (await client.post("/v1/memories/search", json=body)).status_code == 200

    (asked,) = fake.searches
    assert (asked.user_id, asked.query, asked.top_k, asked.explain, asked.half_life_days) == ("u", "周五", 50, True, 7)
    assert (asked.mode, asked.alpha, asked.weights) == (SearchMode.KEYWORD, None, Weights(similarity=3, recency=0.5))
    filters = asked.filters
    assert isinstance(filters, Filters)
    assert (filters.agent_id, filters.memory_type, filters.tags) == ("a", MemoryType.PROCEDURAL, ("x",))
    assert filters.metadata == {"turn": {"$gte": 9}}
    assert [str(time) for time in (filters.time_from, filters.time_to, filters.as_of, asked.now)] == [
        "2026-01-01 00:00:00+00:00",
        "2026-01-01 00:00:00+00:00",
        "2026-03-01 00:00:00+00:00",
        "2026-04-01 00:00:00+00:00",
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "q" * 8_193}, "query"),
        ({"user_id": ""}, "user_id"),
        ({"agent_id": ""}, "agent_id"),
        ({"top_k": 0}, "top_k"),
        ({"top_k": 51}, "top_k"),
        ({"top_k": 1.5}, "top_k"),
        ({"top_k": "5"}, "top_k"),
        ({"top_k": True}, "top_k"),
        ({"top_k": None}, "top_k"),
        ({"alpha": 1.01}, "alpha"),
        ({"weights": {"similarity": 1}}, "alpha"),  # beside alpha
        ({"alpha": None, "weights": {"similarity": -1}}, "weights.similarity"),
        ({"alpha": None, "weights": {"magic": 1}}, "weights.magic"),
        ({"mode": "psychic"}, "mode"),
        ({"tags": [""]}, "tags.0"),
        ({"metadata": {"price": {"$near": 1}}}, "metadata"),
        ({"time_from": "2026-01-02T00:00:00", "time_to": "2026-01-01T23:59:59Z"}, "time_to"),
        ({"half_life_days": 0}, "half_life_days"),
        ({"filters": {"tags": ["x"]}}, "filters"),
        ({"limit": 5}, "limit"),
    ],
)
async def test_a_search_that_cannot_be_meant_is_refused(
    client: httpx.AsyncClient, fake: FakeService, change: dict[str, Any], field: str
) -> None:
    answer = await client.post("/v1/memories/search", json={**SEARCH, **change})

    assert field in wrong_fields(answer)
    assert fake.searches == []


async def test_explanations_come_only_when_asked_for(client: httpx.AsyncClient) -> None:
    await stored(client)

    silent = await client.post("/v1/memories/search", json=SEARCH)
    told = await client.post("/v1/memories/search", json={**SEARCH, "explain": True})

    assert "explanation" not in silent.json()["results"][0]
    assert told.json()["results"][0]["explanation"] == {"overlap": pytest.approx(1 / 7)}


async def test_a_listing_pages_through_everything_once(client: httpx.AsyncClient) -> None:
    ids = [(await stored(client, content=f"第{n}件"))["id"] for n in range(7)]
    seen: list[str] = []
    query: dict[str, Any] = {"user_id": "user-123", "limit": 3}
    for _ in range(3):
        page = (await client.get("/v1/memories", params=query)).json()
        seen += [memory["id"] for memory in page["memories"]]
        query["cursor"] = page["next_cursor"]

    assert seen == ids[::-1]
    assert query["cursor"] is None


async def test_a_listing_filters_by_all_it_is_given(client: httpx.AsyncClient) -> None:
    kept = await stored(client, content="a", tags=["x,y", "z"])
    await stored(client, content="b", tags=["x,y"])
    await stored(client, content="c", tags=["x,y", "z"], memory_type="episodic")
    gone = await stored(client, content="d", tags=["x,y", "z"])
    await client.delete(f"/v1/memories/{gone['id']}")
    query = {"user_id": "user-123", "agent_id": "my-agent", "memory_type": "semantic", "tags": ["x,y", "z"]}

    async def ids(**more: str) -> list[str]:
        page = (await client.get("/v1/memories", params={**query, **more})).json()
        return [memory["id"] for memory in page["memories"]]

    assert await ids() == [kept["id"]]
    assert await ids(state="deleted") == [gone["id"]]
    assert await ids(state="all") == [gone["id"], kept["id"]]
    assert await ids(agent_id="other") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "user_id"),
        ("user_id=", "user_id"),
        ("user_id=u&agent_id=", "agent_id"),
        ("user_id=u&user_id=v", "user_id"),
        ("user_id=u&limit=0", "limit"),
        ("user_id=u&limit=201", "limit"),
        ("user_id=u&limit=1.0", "limit"),
        ("user_id=u&limit=", "limit"),
        ("user_id=u&state=dead", "state"),
        ("user_id=u&tags=", "tags.0"),
        ("user_id=u&tag=x", "tag"),
        ("user_id=u&cursor=nonsense", "cursor"),
        ("user_id=u&cursor=", "cursor"),
        ("user_id=%00", "user_id"),
        ("user_id=%ED%A0%80", ""),
        ("user_id=%FF", ""),
        ("user_id=u&" + "&".join(f"p{n}=1" for n in range(300)), ""),
    ],
)
async def test_a_query_that_does_not_fit_is_refused(client: httpx.AsyncClient, query: str, field: str) -> None:
    answer = await client.get(f"/v1/memories?{query}")

    assert wrong_fields(answer) == [field]


@pytest.mark.parametrize("path", ["/v1/memories/search?user_id=u", "/v1/memories?dry_run=true"])
async def test_parameters_that_a_call_does_not_have_are_refused(client: httpx.AsyncClient, path: str) -> None:
    assert len(wrong_fields(await client.post(path, json=STORE))) == 1


async def test_counts_are_of_one_agent_or_of_all(client: httpx.AsyncClient) -> None:
    await stored(client)
    await stored(client, agent_id="other")

    one = await client.get("/v1/memories/count", params={"user_id": "user-123", "agent_id": "my-agent"})
    every = await client.get("/v1/memories/count", params={"user_id": "user-123"})

    assert one.json() == {"agent_id": "my-agent", "user_id": "user-123", "count": 1}
    assert every.json() == {"agent_id": None, "user_id": "user-123", "count": 2}


async def test_a_patch_keeps_what_it_is_not_given(client: httpx.AsyncClient) -> None:
    before = await stored(client, tags=["t"], metadata={"k": None}, source="chat", session_id="s")

    after = (await client.patch(f"/v1/memories/{before['id']}", json={"content": "新しい", "source": None})).json()

    assert after == {**before, "content": "新しい", "source": None}
    assert (await client.patch(f"/v1/memories/{before['id']}", json={})).json() == after


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"content": None}, "content"),
        ({"content": ""}, "content"),
        ({"importance": None}, "importance"),
        ({"tags": None}, "tags"),
        ({"metadata": None}, "metadata"),
        ({"occurred_at": None}, "occurred_at"),
        ({"user_id": "other"}, "user_id"),
        ({"agent_id": "other"}, "agent_id"),
        ({"id": NOBODY}, "id"),
    ],
)
async def test_a_patch_that_cannot_be_meant_is_refused(
    client: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    memory = await stored(client)

    assert wrong_fields(await client.patch(f"/v1/memories/{memory['id']}", json=body)) == [field]
    assert (await client.get(f"/v1/memories/{memory['id']}")).json() == memory | NEVER_FOUND


async def test_a_deleted_memory_is_gone_until_it_is_restored(client: httpx.AsyncClient) -> None:
    memory = await stored(client)
    path = f"/v1/memories/{memory['id']}"

    gone = await client.delete(path, params={"agent_id": "my-agent", "user_id": "user-123"})

    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.get(path)).status_code == 404
    assert (await client.delete(path)).status_code == 404
    assert (await client.post(f"{path}/restore")).json() == memory
    assert (await client.get(path)).json() == memory | NEVER_FOUND
    actions = [step["action"] for step in (await client.get(f"{path}/history")).json()["versions"]]
    assert actions == ["store", "delete", "restore"]


async def test_a_purge_answers_with_a_receipt(client: httpx.AsyncClient) -> None:
    memory = await stored(client)

    answer = await client.delete(f"/v1/memories/{memory['id']}?purge=true")

    assert answer.status_code == 200
    assert answer.json()["id"] == memory["id"]
    assert len(answer.json()["content_sha256"]) == 64
    assert (await client.post(f"/v1/memories/{memory['id']}/restore")).status_code == 404


async def test_everything_of_a_user_goes_at_once_and_nothing_else(client: httpx.AsyncClient) -> None:
    for n in range(150):
        await stored(client, content=f"fact {n}")
    await stored(client, user_id="user-1234")

    answer = await client.delete("/v1/memories?user_id=user-123")

    assert answer.json() == {"deleted": 150}
    assert (await client.get("/v1/memories/count?user_id=user-1234")).json()["count"] == 1


@pytest.mark.parametrize(("method", "suffix"), ONE)
@pytest.mark.parametrize("scope", ["user_id=other", "agent_id=other", "agent_id=my-agent&user_id=other"])
async def test_a_memory_of_another_scope_is_unknown(
    client: httpx.AsyncClient, method: str, suffix: str, scope: str
) -> None:
    memory = await stored(client)
    body = {"json": {"importance": 0}} if method == "patch" else {}

    answer = await client.request(method, f"/v1/memories/{memory['id']}{suffix}?{scope}", **body)  # type: ignore[arg-type]

    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"
    assert (await client.get(f"/v1/memories/{memory['id']}")).json() == memory | NEVER_FOUND


@pytest.mark.parametrize(("method", "suffix"), ONE)
@pytest.mark.parametrize(
    ("memory_id", "status"),
    [(NOBODY, 404), ("x", 422), ("%00", 422), ("1" * 5000, 422), ("{" + NOBODY + "}", 422), (NOBODY[:-1] + "é", 422)],
)
async def test_an_unknown_id_is_404_and_no_id_is_422(
    client: httpx.AsyncClient, method: str, suffix: str, memory_id: str, status: int
) -> None:
    body = {"json": {"importance": 0}} if method == "patch" else {}

    answer = await client.request(method, f"/v1/memories/{memory_id}{suffix}", **body)  # type: ignore[arg-type]

    assert answer.status_code == status
    assert len(answer.json()["detail"]) < 200


async def test_an_id_is_read_in_either_case(client: httpx.AsyncClient, fake: FakeService) -> None:
    memory = await stored(client)
    big = UUID("abcdefab-0000-7000-8000-000000000000")
    fake.memories[big] = fake.memories[UUID(memory["id"])]

    assert (await client.get(f"/v1/memories/{str(big).upper()}")).status_code == 200


async def test_what_the_service_refuses_names_the_field(client: httpx.AsyncClient, fake: FakeService) -> None:
    fake.failure = InvalidInput("the query has too many words", field="query")

    answer = await client.post("/v1/memories/search", json=SEARCH)

    assert wrong_fields(answer) == ["query"]
    assert answer.json()["detail"] == "the query has too many words"
