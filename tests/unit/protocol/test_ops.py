"""Requests as the protocol writes them, and answers in every shape that implementations give."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memex.protocol import ops
from memex.protocol.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    MemexError,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthorized,
    Unavailable,
)
from memex.protocol.models import (
    ExtractRequest,
    Level,
    LinkRequest,
    PreExtracted,
    RecallMode,
    RecallRequest,
    StoreRequest,
)
from memex.protocol.wire import Request, Response

AT = datetime(2026, 9, 28, 10, tzinfo=UTC)
ITEM = {"memory_id": "m1", "content": "主人偏好周五晚上部署", "score": 0.9, "level": "fact"}
OTHER = {"memory_id": "m2", "content": "東京で会いましょう", "score": 0.4}


def answer(body: Any, status: int = 200, **headers: str) -> Response:
    raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return Response(status=status, headers={k.replace("_", "-"): v for k, v in headers.items()}, body=raw)


def body(request: Request) -> Any:
    assert request.body is not None
    return json.loads(request.body)


def test_store_writes_the_contract_of_direct_facts() -> None:
    request = ops.store(
        StoreRequest(
            content="主人偏好周五晚上部署",
            occurred_at=datetime(2026, 9, 28, 10),  # noqa: DTZ001 - naive on purpose: it is read as UTC
            source_type="manual",
            level=Level.FACT,
            pre_extracted=PreExtracted(
                content="主人偏好周五晚上部署", keywords=["周五", " 部署 ", "周五"], topic="部署习惯"
            ),
            lm_policy="skip",  # type: ignore[arg-type]
            payload={"trigger": "manual"},
        )
    )

    assert (request.method, request.path, request.reads) == ("POST", "/api/v1/memory/store", False)
    assert body(request) == {
        "content": "主人偏好周五晚上部署",
        "source_type": "manual",
        "occurred_at": "2026-09-28T10:00:00Z",
        "level": "fact",
        "lm_policy": "skip",
        "tags": [],
        "payload": {"trigger": "manual"},
        "pre_extracted": {"content": "主人偏好周五晚上部署", "keywords": ["周五", "部署"], "topic": "部署习惯"},
    }


def test_the_other_requests_say_what_they_ask_for() -> None:
    recall = RecallRequest(keywords=["周五"], query="何時", top_k=3, mode=RecallMode.CLUSTER, time_from=AT)
    assert (ops.health().method, ops.health().path) == ("GET", "/api/v1/memory/health")
    assert body(ops.recall(recall)) == {
        "keywords": ["周五"],
        "query": "何時",
        "top_k": 3,
        "mode": "cluster",
        "dimensions": [],
        "time_from": "2026-09-28T10:00:00Z",
    }
    assert body(ops.get("m1")) == {"memory_id": "m1"}
    assert body(ops.link(LinkRequest(from_id="a", to_id="b", relation="mentions", weight=0.5))) == {
        "from_id": "a",
        "to_id": "b",
        "relation": "mentions",
        "weight": 0.5,
    }
    assert body(ops.extract(ExtractRequest(limit=3))) == {"limit": 3, "lm_policy": "auto"}
    assert [ops.recall(recall).reads, ops.get("m").reads, ops.extract(ExtractRequest()).reads] == [True, True, False]


@pytest.mark.parametrize(
    "document",
    [
        {"success": True, "data": {"items": [ITEM, OTHER]}, "message": ""},
        {"code": 0, "data": {"items": [ITEM, OTHER]}},
        {"code": 200, "msg": "ok", "data": [ITEM, OTHER]},
        {"data": {"results": [ITEM, OTHER]}},
        {"items": [ITEM, OTHER]},
        [ITEM, OTHER],
        {"success": True, "data": {"groups": [{"key": "a", "items": [ITEM]}, {"topic": "b", "items": [OTHER]}]}},
        {"success": True, "data": {"groups": [{"key": "a", "items": [ITEM]}, {"key": "b", "items": [ITEM, OTHER]}]}},
        {"success": True, "data": {"groups": {"a": [ITEM], "b": [OTHER]}}},
        {"data": {"clusters": [{"name": "a", "records": [ITEM, OTHER]}]}},
        {"data": [{"memory": ITEM}, {"record": OTHER, "score": 0.4}]},
    ],
    ids=range(11),
)
def test_recalled_records_are_read_from_every_shape_once_and_in_order(document: Any) -> None:
    found = ops.parse_recall(answer(document))
    assert [(r.memory_id, r.content) for r in found.records] == [
        ("m1", ITEM["content"]),
        ("m2", OTHER["content"]),
    ]


@pytest.mark.parametrize("document", [{"success": True, "data": None}, {"data": []}, [], {}, {"data": {"items": []}}])
def test_nothing_recalled_is_nothing_and_no_error(document: Any) -> None:
    assert ops.parse_recall(answer(document)).records == ()


def test_groups_keep_their_names() -> None:
    groups = ops.parse_recall(
        answer({"data": {"groups": [{"topic": "部署", "items": [ITEM]}, {"items": [OTHER]}]}})
    ).groups
    assert [(group.key, len(group.records)) for group in groups] == [("部署", 1), ("", 1)]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"id": 7, "text": "x"}, {"memory_id": "7", "content": "x", "level": Level.RAW}),
        ({"payload": {"memory_id": "p1"}, "content": "x"}, {"memory_id": "p1", "payload": {"memory_id": "p1"}}),
        ({"memory_id": "m", "content": "x", "level": "L2"}, {"level": Level.FACT}),
        ({"memory_id": "m", "content": "x", "level": 3}, {"level": Level.SUMMARY}),
        ({"memory_id": "m", "content": "x", "level": "unheard of"}, {"level": Level.RAW}),
        ({"memory_id": "m", "content": "x", "keywords": "周五，部署, 上线"}, {"keywords": ("周五", "部署", "上线")}),
        ({"memory_id": "m", "content": "x", "occurred_at": "2026-09-28 18:00:00+08:00"}, {"occurred_at": AT}),
        ({"memory_id": "m", "content": "x", "occurred_at": AT.timestamp()}, {"occurred_at": AT}),
        ({"memory_id": "m", "content": "x", "created_at": AT.timestamp() * 1000}, {"created_at": AT}),
        ({"memory_id": "m", "content": "x", "created_at": "yesterday", "score": "high"}, {"created_at": None, "score": None}),
        ({"memory_id": "m", "content": "x", "metadata": {"a": 1}, "source": "chat"}, {"payload": {"a": 1}, "source_type": "chat"}),
    ],
)  # fmt: skip
def test_an_item_is_read_by_whatever_names_it_has(item: dict[str, Any], expected: dict[str, Any]) -> None:
    record = ops.parse_get(answer({"success": True, "data": item}))
    assert {name: getattr(record, name) for name in expected} == expected


@pytest.mark.parametrize("data", [None, [], {}, {"memory_id": "m"}, {"memory_id": "m", "content": " "}])
def test_a_record_without_a_text_is_not_found(data: Any) -> None:
    with pytest.raises(NotFound):
        ops.parse_get(answer({"success": True, "data": data}))


@pytest.mark.parametrize(
    ("data", "memory_id", "level", "repeated"),
    [
        ({"memory_id": "m1", "level": "fact", "deduplicated": True}, "m1", Level.FACT, True),
        ({"id": 12}, "12", Level.RAW, False),
        ("m1", "m1", Level.RAW, False),
        ({"memory": {"id": "m1"}}, "m1", Level.RAW, False),
    ],
)
def test_the_id_of_a_stored_record_is_read_from_every_shape(
    data: Any, memory_id: str, level: Level, repeated: bool
) -> None:
    stored = ops.parse_store(answer({"success": True, "data": data}))
    assert (stored.memory_id, stored.level, stored.deduplicated) == (memory_id, level, repeated)


@pytest.mark.parametrize("data", [None, {}, [], True])
def test_a_store_that_answers_without_an_id_is_none(data: Any) -> None:
    with pytest.raises(Unavailable, match="memory_id"):
        ops.parse_store(answer({"success": True, "data": data}))


@pytest.mark.parametrize(
    "response",
    [
        answer({"success": True, "data": {"status": "unavailable"}}),
        answer({"success": True, "data": None, "message": "需接入 LM 后启用"}),
        answer({"success": True, "data": "需接入 LM 后启用"}),
        answer({"success": False, "error": {"code": "not_implemented"}}, 501),
    ],
)
def test_a_backend_that_cannot_extract_is_no_failure(response: Response) -> None:
    assert ops.parse_extract(response).status == "unavailable"


def test_extraction_link_and_health_are_read_whole() -> None:
    done = ops.parse_extract(
        answer({"data": {"claimed": 3, "extracted": 2, "failed": 1, "facts": ["a", {"memory_id": "b"}]}})
    )
    assert (done.claimed, done.extracted, done.failed, done.facts, done.status) == (3, 2, 1, ("a", "b"), "ok")
    link = ops.parse_link(answer({"data": {"link_id": 4, "created": False}}))
    assert (link.link_id, link.created) == ("4", False)
    health = ops.parse_health(
        answer({"data": {"status": "ok", "version": "9", "capabilities": {"lm": True, "levels": ["L1", "fact"]}}})
    )
    assert (health.ok, health.version, health.lm, health.levels) == (True, "9", True, (Level.RAW, Level.FACT))
    assert ops.parse_health(answer({"status": "down"})).ok is False
    assert ops.parse_health(answer({"success": True, "data": "ok"})).ok is True


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidInput), (401, Unauthorized), (403, Forbidden), (404, NotFound), (405, InvalidInput),
        (408, Unavailable), (409, Conflict), (413, TooLarge), (422, InvalidInput), (429, RateLimited),
        (500, Unavailable), (502, Unavailable), (503, Unavailable), (307, Unavailable),
    ],
)  # fmt: skip
def test_every_status_is_one_error_of_the_tree(status: int, kind: type[MemexError]) -> None:
    for shape in (b"", b"<html>", {"success": False, "error": {"code": "x", "message": "why 因为"}}):
        with pytest.raises(kind) as caught:
            ops.parse_recall(answer(shape, status))
        assert type(caught.value) is kind
        assert str(caught.value)


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"success": False, "error": {"code": "not_found", "message": "没有"}}, NotFound),
        ({"success": False, "error": {"code": "INVALID_INPUT", "message": "没有"}}, InvalidInput),
        ({"success": False, "message": "没有"}, Unavailable),
        ({"code": 404, "message": "没有", "data": None}, NotFound),
        ({"code": 50001, "msg": "没有"}, Unavailable),
        ({"error": "没有"}, Unavailable),
    ],
)
def test_a_refusal_inside_a_success_status_is_seen(document: Any, kind: type[MemexError]) -> None:
    with pytest.raises(kind, match="没有"):
        ops.parse_recall(answer(document))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"success": False, "error": {"code": "x", "message": "m1"}}, "m1"),
        ({"title": "Unprocessable", "detail": "m2", "errors": [{"field": "content", "message": "blank"}]}, "m2"),
        ({"detail": [{"loc": ["body"]}]}, "status 422"),
        ({"error": "m3"}, "m3"),
        ({"msg": "m4"}, "m4"),
        (b"\xff\xfe", "status 422"),
    ],
)
def test_the_reason_of_a_refusal_is_found_wherever_it_stands(document: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        ops.parse_recall(answer(document, 422))
    assert caught.value.field == ("content" if message == "m2" else None)


@pytest.mark.parametrize("garbage", [b"", b"<html>login</html>", b"\xff\xfe\x00", b"[" * 100_000, b"nul"])
def test_garbage_under_a_success_status_is_an_outage_and_says_so(garbage: bytes) -> None:
    for parse in (
        ops.parse_health,
        ops.parse_store,
        ops.parse_recall,
        ops.parse_get,
        ops.parse_link,
        ops.parse_extract,
    ):
        with pytest.raises(Unavailable, match="not JSON"):
            parse(answer(garbage))


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": "Mon, 28 Sep 2026 10:00:30 GMT", "date": "Mon, 28 Sep 2026 10:00:00 GMT"}, 30),
        ({"retry_after": "Mon, 28 Sep 2026 10:00:00 GMT", "date": "Mon, 28 Sep 2026 10:00:30 GMT"}, 0),
        ({"retry_after": "Mon, 28 Sep 2026 10:00:30 GMT"}, 1),
        ({"retry_after": "soon"}, 1),
        ({}, 1),
    ],
)
def test_retry_after_is_understood_in_both_forms(headers: dict[str, str], expected: float) -> None:
    for status, kind in ((429, RateLimited), (503, Unavailable)):
        with pytest.raises(kind) as caught:
            ops.parse_recall(answer({}, status, **headers))
        assert caught.value.retry_after_s == expected  # type: ignore[attr-defined]


def test_what_json_cannot_hold_is_refused_before_it_is_sent() -> None:
    for payload in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises(InvalidInput, match="JSON"):
            ops.store(StoreRequest(content="x", occurred_at=AT, payload=payload))
    with pytest.raises(InvalidInput, match="JSON"):
        ops.store(StoreRequest(content="\ud800", occurred_at=AT))
