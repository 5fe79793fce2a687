"""The lifecycle over REST: statuses and documents of what the service decided."""

from __future__ import annotations

from uuid import UUID, uuid4

import httpx
import pytest

from tests.faces.fake_service import JOB, FakeService


async def remember(client: httpx.AsyncClient, text: str = "I like green tea.") -> httpx.Response:
    return await client.post("/v1/memories/remember", json={"user_id": "ann", "text": text, "agent_id": "scout"})


async def test_remembering_answers_201_for_what_is_new_and_200_for_the_rest(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    first, again, skipped = await remember(client), await remember(client), await remember(client, "Thank you")
    assert [(r.status_code, r.json()["outcome"]) for r in (first, again, skipped)] == [
        (201, "stored"),
        (200, "merged"),
        (200, "skipped"),
    ]
    assert first.json() == {
        "outcome": "stored",
        "id": again.json()["id"],
        "importance": 7.0,
        "similarity": 0.5,
        "reason": "preference; it is new",
        "superseded": [],
        "scored_by": "rules",
        "superseded_by": None,
    }
    assert skipped.json()["id"] is None


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/memories/remember", {"user_id": "ann"}, "text"),
        ("/v1/memories/remember", {"user_id": "ann", "text": "x", "threshold": "high"}, "threshold"),
        ("/v1/memories/remember", {"user_id": "ann", "text": "x", "threshold": 0}, "threshold"),
        ("/v1/memories/remember", {"user_id": "ann", "text": "x", "threshold": 11}, "threshold"),
        ("/v1/memories/remember", {"user_id": "ann", "text": "x", "dedup_similarity": 2}, "dedup_similarity"),
        ("/v1/memories/remember", {"user_id": "ann", "text": "a\u0000b"}, "text"),
        ("/v1/context", {"user_id": "ann", "query": "x", "token_budget": 5}, "token_budget"),
        ("/v1/forget", {"user_id": "ann", "max_age_days": -1}, "max_age_days"),
        ("/v1/consolidations", {"dry_run": True}, "user_id"),
    ],
)
async def test_what_does_not_fit_is_refused_by_name(
    client: httpx.AsyncClient, fake: FakeService, path: str, body: dict[str, object], field: str
) -> None:
    answer = await client.post(path, json=body)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]


async def test_a_claim_is_retracted_and_that_is_undone(client: httpx.AsyncClient, fake: FakeService) -> None:
    memory_id = (await remember(client)).json()["id"]
    gone = await client.post(f"/v1/memories/{memory_id}/retract", json={"reason": "a misunderstanding"})
    assert (gone.status_code, gone.json()["id"]) == (200, memory_id)
    assert gone.json()["deleted_at"] is not None
    back = await client.post(f"/v1/memories/{memory_id}/retract/undo")
    assert (back.status_code, back.json()["memory"]["deleted_at"]) == (200, None)
    assert (await client.post(f"/v1/memories/{uuid4()}/retract", json={})).status_code == 404


@pytest.mark.parametrize(("query", "who"), [("", "rest"), ("?agent_id={}", "{}"), ("?agent_id={}&actor=小明", "小明")])
async def test_who_retracts_is_whom_the_caller_names(
    client: httpx.AsyncClient, fake: FakeService, query: str, who: str
) -> None:
    memory_id = (await remember(client)).json()["id"]
    agent = fake.memories[UUID(memory_id)].agent_id
    query, who = query.format(agent), who.format(agent)
    for path in ("retract", "retract/undo"):
        answer = await client.post(f"/v1/memories/{memory_id}/{path}{query}", json={} if path == "retract" else None)
        assert answer.status_code == 200, answer.text
        assert fake.versions[UUID(memory_id)][-1].actor == who


async def test_consolidation_forgetting_context_and_jobs_answer(client: httpx.AsyncClient, fake: FakeService) -> None:
    memory_id = (await remember(client)).json()["id"]
    shown = (await client.post("/v1/consolidations", json={"user_id": "ann", "dry_run": True})).json()
    assert (shown["dry_run"], shown["consolidations"][0]["id"]) == (True, None)
    assert (await client.post(f"/v1/consolidations/{memory_id}/undo")).json() == {"restored": [memory_id]}
    told = await client.post("/v1/forget?dry_run=true", json={"user_id": "ann", "max_memories": 0})
    assert told.json() == {"memories": [], "forgotten": 0, "dry_run": True}
    context = (await client.post("/v1/context", json={"user_id": "ann", "query": "green tea."})).json()
    assert context["ids"] == [memory_id]
    assert context["context"].startswith("<memex-memory>")
    assert [job["id"] for job in (await client.get("/v1/jobs?state=dead")).json()["jobs"]] == [str(JOB.id)]
    assert (await client.post(f"/v1/jobs/{JOB.id}/retry")).json()["state"] == "pending"
    assert (await client.post(f"/v1/jobs/{UUID(int=1)}/retry")).status_code == 404
