"""Text of every kind through REST: accepted as it is, or refused with 422; never a 500."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.faces.texts import ACCEPTED, REFUSED

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
async def test_text_comes_back_as_it_was_given_wherever_it_stands(client: httpx.AsyncClient, text: str) -> None:
    given = {
        "agent_id": text,
        "user_id": text,
        "content": text,
        "tags": [text],
        "metadata": {text: [text, None]},
        "source": text,
        "session_id": text,
    }

    memory = (await client.post("/v1/memories", json=given)).json()
    found = await client.post("/v1/memories/search", json={"user_id": text, "agent_id": text, "query": text})
    listed = await client.get("/v1/memories", params={"user_id": text, "tags": text})
    counted = await client.get("/v1/memories/count", params={"user_id": text, "agent_id": text})

    assert {name: memory[name] for name in given} == given
    assert found.json()["results"][0]["content"] == found.json()["query"] == text
    assert listed.json()["memories"] == [memory]
    assert counted.json() == {"agent_id": text, "user_id": text, "count": 1}


STORE = {"agent_id": "a", "user_id": "u", "content": "c"}
PLACES = {
    "content": {**STORE, "content": "HERE"},
    "user_id": {**STORE, "user_id": "HERE"},
    "agent_id": {**STORE, "agent_id": "HERE"},
    "source": {**STORE, "source": "HERE"},
    "session_id": {**STORE, "session_id": "HERE"},
    "tags.1": {**STORE, "tags": ["fine", "HERE"]},
    "metadata": {**STORE, "metadata": {"k": ["HERE"]}},
    "metadata key": {**STORE, "metadata": {"a": {"HERE": 1}}},
    "unknown field": {**STORE, "HERE": 1},
}


@pytest.mark.parametrize("escape", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("place", PLACES)
async def test_text_that_no_database_holds_is_refused_where_it_stands(
    client: httpx.AsyncClient, place: str, escape: str
) -> None:
    body = json.dumps(PLACES[place]).replace("HERE", escape)

    stored = await client.post("/v1/memories", content=body, headers=JSON)
    batch = await client.post("/v1/memories/batch", content=f'{{"memories": [{body}]}}', headers=JSON)

    assert stored.status_code == 422, stored.text
    (error,) = stored.json()["errors"]
    if place != "unknown field":
        assert error["field"].startswith(place.split(maxsplit=1)[0])
    assert batch.json()["results"][0]["status"] == 422


@pytest.mark.parametrize("escape", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("place", ["user_id", "query", "agent_id", "tags", "metadata"])
async def test_a_search_for_such_text_is_refused(client: httpx.AsyncClient, place: str, escape: str) -> None:
    value = {"tags": f'["{escape}"]', "metadata": f'{{"{escape}": 1}}'}.get(place, f'"{escape}"')
    fields = {"user_id": '"u"', "query": '"q"', place: value}
    body = "{" + ", ".join(f'"{name}": {text}' for name, text in fields.items()) + "}"

    answer = await client.post("/v1/memories/search", content=body, headers=JSON)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].startswith(place)


@pytest.mark.parametrize(
    "query", ["???", "C:\\x\\y", "a|b", "don't", '"', "the of", "🍜", "<|endoftext|>", "word " * 1600, "' OR 1=1 --"]
)
async def test_any_query_gets_an_answer(client: httpx.AsyncClient, query: str) -> None:
    answer = await client.post("/v1/memories/search", json={"user_id": "u", "query": query})

    assert answer.status_code == 200
    assert answer.json() == {"results": [], "query": query, "total": 0}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe{}",
        b'{"agent_id": "a\x00"}',
        b'{"agent_id": "a\n"}',
        b"[" * 100_000,
        b'{"metadata": ' + b'{"k": ' * 500 + b"1" + b"}" * 500 + b"}",
        b'{"importance": ' + b"9" * 10_000 + b"}",
        b"{'agent_id': 'a'}",
        b'{"agent_id": "a"} trailing',
    ],
)
async def test_what_is_not_the_json_that_is_asked_for_is_refused(client: httpx.AsyncClient, body: bytes) -> None:
    for path in ("", "/batch", "/search"):
        answer = await client.post(f"/v1/memories{path}", content=body, headers=JSON)

        assert answer.status_code == 422
        assert answer.json()["errors"]
        assert len(answer.content) < 4_000
