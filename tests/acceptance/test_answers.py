"""What the description of memex promises with its own words and bodies."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from tests.acceptance.served import Served

pytestmark = pytest.mark.timeout(180)

_STORE = """{
    "agent_id": "my-agent",
    "user_id": "user-123",
    "content": "User prefers concise responses and dislikes verbose explanations.",
    "memory_type": "semantic",
    "importance": 1.2
}"""
_SEARCH = """{
    "agent_id": "my-agent",
    "user_id": "user-123",
    "query": "how does this user like to communicate",
    "top_k": 5,
    "alpha": 0.7
}"""


def _is_recent(time: str) -> bool:
    assert time.endswith("Z")
    return abs((datetime.fromisoformat(time) - datetime.now(UTC)).total_seconds()) < 300


def test_the_first_example_bodies_give_the_first_example_answers(plain: Served) -> None:
    stored = plain.call("POST", "/v1/memories", json.loads(_STORE))
    assert stored.status == 201
    memory = stored.json()
    assert str(UUID(memory["id"])) == memory["id"]
    assert _is_recent(memory["created_at"])
    expected = {**json.loads(_STORE), "score": None}
    assert {name: memory[name] for name in expected} == expected

    found = plain.call("POST", "/v1/memories/search", json.loads(_SEARCH))
    assert found.status == 200
    answer = found.json()
    assert (answer["query"], answer["total"]) == ("how does this user like to communicate", 1)
    (hit,) = answer["results"]
    assert hit["id"] == memory["id"]
    assert hit["content"] == "User prefers concise responses and dislikes verbose explanations."
    assert hit["memory_type"] == "semantic"
    assert _is_recent(hit["created_at"])
    assert 0.7 * 0.7 < hit["score"] <= 1.0  # just stored: recency is 1, so at least 0.3 of it is that

    count = plain.call("GET", "/v1/memories/count?agent_id=my-agent&user_id=user-123")
    assert count.json() == {"agent_id": "my-agent", "user_id": "user-123", "count": 1}
    assert plain.call("DELETE", f"/v1/memories/{memory['id']}?agent_id=my-agent").status == 204
    count = plain.call("GET", "/v1/memories/count?agent_id=my-agent&user_id=user-123")
    assert count.json()["count"] == 0
    health = plain.call("GET", "/health").json()
    assert health["status"] == "ok"
    assert health["database"]["status"] == "ok"
    assert b"\nhttp_requests_total{" in plain.call("GET", "/metrics").body


def test_each_of_the_five_questions_is_answered_first_by_its_memory(plain: Served, checkout: Path) -> None:
    five = json.loads((checkout / "bench" / "data" / "five.json").read_text(encoding="utf-8"))
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    contents = {}
    for memory in five["memories"]:
        assert f"| {memory['content']} |" in readme
        contents[memory["key"]] = memory["content"]
        body = {name: memory[name] for name in ("content", "memory_type")}
        body |= {"agent_id": five["agent_id"], "user_id": five["user_id"]}
        assert plain.call("POST", "/v1/memories", body).status == 201
    first = {}
    for question in five["questions"]:
        assert f"| {question['query']} |" in readme
        first[question["query"]] = plain.search(question["query"], five["user_id"])[0]["content"]
    assert first == {question["query"]: contents[question["answer"]] for question in five["questions"]}
