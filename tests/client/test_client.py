"""The Python client against the real service, over a socket."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

import memex
from memex import (
    Conflict,
    InvalidInput,
    Memex,
    NotFound,
    RateLimited,
    Retry,
    SetupError,
    TooLarge,
    Unauthorized,
    Unavailable,
    Weights,
)
from memex.core.memory import MemoryType
from memex.protocol.wire import Request, Response
from tests.live import Live

FRIDAY = "主人偏好周五晚上部署"
MISSING = UUID("00000000-0000-7000-8000-000000000000")


def test_a_stored_memory_comes_back_typed_and_whole(client: Memex) -> None:
    at = datetime(2026, 5, 26, 18, 30, tzinfo=UTC)
    stored = client.store(
        FRIDAY, memory_type="semantic", importance=1.5, occurred_at=at, tags=["ops"], metadata={"n": 1, "空": None},
        source="chat", session_id="s1", pinned=True,
    )  # fmt: skip

    assert stored.created
    memory = client.get(stored.memory.id)
    assert memory == stored.memory
    assert (memory.user_id, memory.agent_id, memory.content) == ("user-123", "my-agent", FRIDAY)
    assert (memory.memory_type, memory.importance, memory.occurred_at) == (MemoryType.SEMANTIC, 1.5, at)
    assert (memory.tags, memory.metadata, memory.session_id, memory.pinned) == (("ops",), {"n": 1, "空": None}, "s1", True)  # fmt: skip
    assert client.store(FRIDAY, memory_type="semantic", occurred_at=at).created is False


def test_a_search_brings_hits_with_scores_and_their_explanation(client: Memex) -> None:
    for text in (FRIDAY, "我不喝咖啡，下午最喜欢喝普洱茶。", "東京で会いましょう。"):
        client.store(text, memory_type="semantic")
    hits = client.search("周五部署", top_k=2, explain=True)
    assert hits[0].memory.content == FRIDAY
    assert len(hits) == 2
    assert 0 < hits[0].score <= 1
    assert hits[0].explanation is not None
    assert "similarity" in hits[0].explanation["components"]
    assert client.search("普洱茶", mode="keyword", memory_type="episodic") == []
    assert client.search("東京", weights=Weights(similarity=1))[0].memory.content == "東京で会いましょう。"


def test_a_batch_says_of_every_item_what_became_of_it(client: Memex) -> None:
    outcomes = client.store_batch(
        [{"content": "one"}, {"content": ""}, {"content": "one"}, {"content": "二", "user_id": "other"}]
    )
    assert [(o.id is not None, o.created) for o in outcomes] == [
        (True, True),
        (False, False),
        (True, False),
        (True, True),
    ]
    assert isinstance(outcomes[1].error, InvalidInput)
    assert outcomes[1].error.field == "content"
    assert client.count(user_id="other") == 1


def test_patch_delete_restore_and_history_follow_one_memory(client: Memex) -> None:
    memory = client.store("部署在周五").memory
    changed = client.patch(memory.id, content="部署改到周四", tags=["ops"], metadata={"why": "変更"})
    assert (changed.content, changed.tags, changed.importance) == ("部署改到周四", ("ops",), 1.0)

    assert client.delete(memory.id) is None
    with pytest.raises(NotFound):
        client.get(memory.id)
    assert client.restore(memory.id).content == "部署改到周四"
    assert [(v.version, v.action, v.content) for v in client.history(memory.id)] == [
        (1, "created", "部署在周五"),
        (2, "updated", "部署改到周四"),
        (3, "deleted", "部署改到周四"),
        (4, "restored", "部署改到周四"),
    ]
    assert {v.actor for v in client.history(memory.id)} == {memory.agent_id}
    receipt = client.delete(memory.id, purge=True)
    assert receipt is not None
    assert (receipt.id, len(receipt.content_sha256)) == (memory.id, 64)


def test_listing_goes_page_by_page_and_every_memory_comes_once(client: Memex) -> None:
    for n in range(7):
        client.store(f"memory {n}", tags=["even"] if n % 2 == 0 else [])
    first = client.list(limit=3)
    assert [m.content for m in first.memories] == ["memory 6", "memory 5", "memory 4"]
    assert first.next_cursor is not None
    assert [m.content for m in client.every(page=3)] == [f"memory {n}" for n in range(6, -1, -1)]
    assert [m.content for m in client.every(tags=["even"], page=2)] == [f"memory {n}" for n in (6, 4, 2, 0)]
    assert (client.count(), client.count(agent_id="nobody")) == (7, 0)
    assert client.delete_all() == 7
    assert client.count() == 0


def test_a_user_does_not_reach_anothers_memory_by_its_id(client: Memex, live: Live) -> None:
    theirs = Memex(live.url, user_id="other", agent_id="a").store("secret").memory.id
    for call in (client.get, client.delete, client.restore, client.history):
        with pytest.raises(NotFound):
            call(theirs)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda c: c.store(" "), InvalidInput),
        (lambda c: c.store("x", no_such_field=1), InvalidInput),
        (lambda c: c.search("x", top_k=51), InvalidInput),
        (lambda c: c.store("x", occurred_at="gestern"), InvalidInput),
        (lambda c: c.store("\ud800"), InvalidInput),
        (lambda c: c.get(MISSING), NotFound),
        (lambda c: c.get("not a uuid/../"), InvalidInput),
        (lambda c: c.patch(MISSING, content="x"), NotFound),
    ],
)
def test_refusals_are_the_errors_of_the_tree_with_a_reason(client: Memex, call: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        call(client)
    assert type(caught.value) is kind
    assert str(caught.value)


def test_a_conflict_names_the_memory_in_the_way(client: Memex) -> None:
    one, two = client.store("one").memory, client.store("two").memory
    with pytest.raises(Conflict) as caught:
        client.patch(two.id, content="one")
    assert caught.value.existing_id == str(one.id)


def test_whose_memory_it_is_must_be_said_somewhere(live: Live) -> None:
    nobody = Memex(live.url)
    for call in (lambda: nobody.store("x"), lambda: nobody.search("x"), nobody.count):
        with pytest.raises(InvalidInput, match="_id is needed"):
            call()
    assert nobody.store("x", user_id="other", agent_id="a").memory.user_id == "other"


class Scripted:
    """A transport that gives the answers it is told to, and keeps what it was asked."""

    def __init__(self, *answers: Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    def send(self, request: Request, *, timeout_s: float) -> Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def scripted(*answers: Response | Exception) -> tuple[Memex, Scripted]:
    transport = Scripted(*answers)
    return Memex(user_id="u", agent_id="a", transport=transport, retry=Retry(attempts=3, first_s=0.001)), transport


def reply(status: int, body: Any = None, **headers: str) -> Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status=status, headers={k.replace("_", "-"): v for k, v in headers.items()}, body=raw)


def test_a_store_is_tried_again_under_the_same_key_so_that_it_is_stored_once(client: Memex, live: Live) -> None:
    lost = Unavailable("the answer was lost")
    flaky = Memex(user_id="u", agent_id="a", transport=(transport := Scripted(lost, reply(503), reply(409, {"detail": "stop"}))))  # fmt: skip
    with pytest.raises(Conflict, match="stop"):
        flaky.store("x")
    keys = {request.headers["idempotency-key"] for request in transport.asked}
    assert (len(transport.asked), len(keys)) == (3, 1)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(401, {"detail": "token"}), Unauthorized),
        (reply(413, {"detail": "large"}), TooLarge),
        (reply(422, {"detail": "no"}), InvalidInput),
    ],
)
def test_what_waiting_cannot_mend_is_told_at_once(answer: Response, kind: type[Exception]) -> None:
    client, transport = scripted(answer)
    with pytest.raises(kind):
        client.search("x")
    assert len(transport.asked) == 1


def test_a_rate_limit_tells_when_to_come_back_if_waiting_takes_too_long() -> None:
    client, transport = scripted(reply(429, {"detail": "slow"}, retry_after="3600", ratelimit_limit="60"))
    with pytest.raises(RateLimited) as caught:
        client.search("x")
    assert (caught.value.retry_after_s, caught.value.limit, len(transport.asked)) == (3600, 60, 1)


@pytest.mark.parametrize("garbage", [b"<html>", b"[]", b"{}", b'{"results": [{"id": "x"}]}', b'{"results": 7}'])
def test_something_else_at_the_address_is_an_outage_not_a_crash(garbage: bytes) -> None:
    client, _ = scripted(*[reply(200, garbage)] * 3)
    with pytest.raises(Unavailable):
        client.search("x")


def test_the_gate_the_context_and_retraction_send_and_read_the_contract() -> None:
    client, transport = scripted(
        reply(200, {"outcome": "skipped", "id": None, "importance": 2.0, "reason": "thanks"}),
        reply(200, {"context": "1. …", "ids": [str(MISSING)], "tokens": 7}),
        reply(200, {"id": str(MISSING)}),
    )
    gate = client.remember("谢谢，辛苦了", kind="preference")
    context = client.context("部署", token_budget=100)
    client.retract(MISSING, "wrong")

    assert (gate.outcome, gate.id, gate.importance, gate.reason) == ("skipped", None, 2.0, "thanks")
    assert (context.text, context.ids, context.tokens) == ("1. …", (MISSING,), 7)
    asked = [(r.method, r.path, json.loads(r.body or b"{}")) for r in transport.asked]
    assert asked == [
        ("POST", "/v1/memories/remember", {"user_id": "u", "agent_id": "a", "text": "谢谢，辛苦了", "kind": "preference"}),
        ("POST", "/v1/context", {"user_id": "u", "query": "部署", "token_budget": 100}),
        ("POST", f"/v1/memories/{MISSING}/retract?user_id=u&actor=a", {"reason": "wrong"}),
    ]  # fmt: skip


def test_the_gate_keeps_what_lasts_and_retraction_takes_it_back(client: Memex) -> None:
    kept = client.remember("用户偏好 Go，明确不要 Java 方案")
    small_talk = client.remember("谢谢，辛苦了")
    assert (kept.outcome, small_talk.outcome, small_talk.id) == ("stored", "skipped", None)
    assert kept.id is not None
    block = client.context("用什么语言？", token_budget=500)
    assert (kept.id in block.ids, "Go" in block.text, 0 < block.tokens <= 500) == (True, True, True)
    client.retract(kept.id, "a misunderstanding")
    assert client.remember("用户偏好 Go，明确不要 Java 方案").outcome == "skipped"


def test_health_is_read_or_tells_why_not(client: Memex) -> None:
    assert client.health()["status"] == "ok"
    down, _ = scripted(*[reply(503, {"detail": "the database does not answer"})] * 3)
    with pytest.raises(Unavailable, match="the database does not answer"):
        down.health()


def test_an_address_or_token_that_cannot_be_used_is_refused_at_once() -> None:
    with pytest.raises(SetupError, match="url: expected an address"):
        Memex("localhost:8000")
    with pytest.raises(SetupError, match="token"):
        Memex(token="a b")


def test_every_public_name_is_there_and_importing_costs_nothing() -> None:
    assert all(getattr(memex, name) is not None for name in memex.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        memex.Nothing  # noqa: B018


def test_times_are_sent_with_their_zone_and_recency_goes_by_them(client: Memex, live: Live) -> None:
    naive = live.clock().replace(tzinfo=None) - timedelta(days=1)
    assert client.store("gestern 昨天", occurred_at=naive).memory.occurred_at == naive.replace(tzinfo=UTC)
