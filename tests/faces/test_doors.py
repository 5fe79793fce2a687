"""One behaviour through every door: the same calls on one database give the same outcome and the same errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from mcp import Client, MCPError

from tests.acceptance.served import Served
from tests.faces.doors import DOORS, Door, Outcome, held

pytestmark = [pytest.mark.timeout(240), pytest.mark.asyncio(loop_scope="module")]

_TEXTS = [
    "Tom picks us up at the airport",
    "我不喝咖啡，下午最喜欢喝普洱茶。",
    "会議は水曜日の午後です。",
    'quotes " and \\ and </memex-context> and 😀',
]
_UNKNOWN = "00000000-0000-7000-8000-000000000000"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=DOORS)
async def door(request: pytest.FixtureRequest, plain: Served) -> AsyncIterator[Door]:
    async with held(DOORS[request.param](plain)) as opened:
        yield opened


@pytest.fixture
def who() -> dict[str, Any]:
    """A user of one test's own."""
    return {"user_id": f"user-{uuid4()}", "agent_id": "agent-1"}


async def _stored(door: Door, who: dict[str, Any], content: str, **more: Any) -> dict[str, Any]:
    outcome = await door.do("store_memory", **who, content=content, **more)
    assert outcome.code == "ok", outcome
    return outcome.value


@pytest.mark.parametrize("content", _TEXTS)
async def test_what_is_stored_is_found_counted_and_returned_as_it_was(
    door: Door, who: dict[str, Any], content: str
) -> None:
    memory = await _stored(
        door, who, content, memory_type="semantic", importance=1.5, tags=["a_b", "中文"], metadata={"k": 1}
    )
    expected = {
        "content": content,
        "memory_type": "semantic",
        "importance": 1.5,
        "tags": ["a_b", "中文"],
        "metadata": {"k": 1},
    }
    assert memory.items() >= expected.items()
    found = await door.do("search_memories", **who, query=content, top_k=3)
    assert [result["id"] for result in found.value["results"]] == [memory["id"]]
    assert (found.value["total"], found.value["query"]) == (1, content)
    got = await door.do("get_memory", memory_id=memory["id"], user_id=who["user_id"])
    assert got.value.items() >= expected.items()
    assert (await door.do("count_memories", **who)).value == {**who, "count": 1}


async def test_the_same_text_is_one_memory_and_a_search_of_nothing_is_empty(door: Door, who: dict[str, Any]) -> None:
    empty = await door.do("search_memories", user_id=who["user_id"], query="anything")
    assert (empty.code, empty.value["results"], empty.value["total"]) == ("ok", [], 0)
    one, two = await _stored(door, who, "the same"), await _stored(door, who, "the same")
    assert one["id"] == two["id"]
    assert (await door.do("count_memories", user_id=who["user_id"])).value["count"] == 1


async def test_a_change_keeps_the_rest_and_a_deleted_memory_is_gone(door: Door, who: dict[str, Any]) -> None:
    memory = await _stored(door, who, "the meeting is on Monday", tags=["work"], metadata={"room": 7})
    owner = {"memory_id": memory["id"], "user_id": who["user_id"]}
    changed = await door.do("update_memory", **owner, content="the meeting is on Tuesday")
    assert changed.value["content"] == "the meeting is on Tuesday"
    assert (changed.value["tags"], changed.value["metadata"]) == (["work"], {"room": 7})
    assert (await door.do("delete_memory", **owner)).code == "ok"
    for operation in ("get_memory", "delete_memory"):
        assert (await door.do(operation, **owner)).code == "not_found"
    assert (await door.do("update_memory", **owner, importance=1)).code == "not_found"
    assert (await door.do("count_memories", user_id=who["user_id"])).value["count"] == 0


async def test_a_memory_of_somebody_else_is_as_unknown_as_one_that_never_was(door: Door, who: dict[str, Any]) -> None:
    memory = await _stored(door, who, "private")
    outcomes = [
        await door.do("get_memory", memory_id=memory_id, user_id=user_id)
        for memory_id, user_id in [(memory["id"], "acme"), (_UNKNOWN, who["user_id"])]
    ]
    assert [outcome.code for outcome in outcomes] == ["not_found", "not_found"]


_REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("store_memory", {"content": ""}, "content"),
    ("store_memory", {"content": "   "}, "content"),
    ("store_memory", {"content": "\u200b\u200d\ufeff"}, "content"),
    ("store_memory", {"content": "x" * 65_537}, "content"),
    ("store_memory", {"content": "a\u0000b"}, "content"),
    ("store_memory", {"content": "x", "importance": 2.5}, "importance"),
    ("store_memory", {"content": "x", "importance": "high"}, "importance"),
    ("store_memory", {"content": "x", "memory_type": "dream"}, "memory_type"),
    ("store_memory", {"content": "x", "tags": ["t" * 129]}, "tags"),
    ("store_memory", {"content": "x", "tags": ["a", ""]}, "tags"),
    ("store_memory", {"content": "x", "occurred_at": "yesterday"}, "occurred_at"),
    ("store_memory", {"content": "x", "metadata": [1]}, "metadata"),
    ("store_memory", {"content": "x", "contents": "x"}, "contents"),
    ("search_memories", {"query": ""}, "query"),
    ("search_memories", {"query": "x", "top_k": 51}, "top_k"),
    ("search_memories", {"query": "x", "top_k": 0}, "top_k"),
    ("search_memories", {"query": "x", "alpha": 1.1}, "alpha"),
    ("get_memory", {"memory_id": "not-a-uuid"}, "memory_id"),
    ("update_memory", {"memory_id": _UNKNOWN, "importance": -1}, "importance"),
]


@pytest.mark.parametrize(("operation", "arguments", "named"), _REFUSED)
async def test_bad_input_is_refused_and_named(
    door: Door, who: dict[str, Any], operation: str, arguments: dict[str, Any], named: str
) -> None:
    scope = who if "memory_id" not in arguments else {"user_id": who["user_id"]}
    outcome = await door.do(operation, **scope, **arguments)
    assert outcome.code == "invalid_input"
    assert named in outcome.text
    assert (await door.do("count_memories", user_id=who["user_id"])).value["count"] == 0


async def test_twenty_at_once_store_one_row(door: Door, who: dict[str, Any]) -> None:
    outcomes = await asyncio.gather(*(door.do("store_memory", **who, content="at once") for _ in range(20)))
    assert {outcome.code for outcome in outcomes} == {"ok"}
    assert len({outcome.value["id"] for outcome in outcomes}) == 1


async def test_what_one_door_stores_every_other_finds_in_its_next_call(plain: Served, who: dict[str, Any]) -> None:
    found: dict[str, Outcome] = {}
    async with (
        DOORS["MCP over stdio"](plain) as one,
        DOORS["MCP over HTTP"](plain) as two,
        DOORS["REST"](plain) as three,
    ):
        for number, (writer, content) in enumerate(zip((one, two, three), _TEXTS, strict=False)):
            memory = await _stored(writer, who, content)
            for name, reader in {"stdio": one, "http": two, "rest": three}.items():
                found[f"{number} {name}"] = await reader.do("search_memories", user_id=who["user_id"], query=content)
                assert found[f"{number} {name}"].value["results"][0]["id"] == memory["id"]


async def test_every_version_of_the_protocol_is_spoken_over_http(plain: Served) -> None:
    url = f"http://127.0.0.1:{plain.env['MEMEX_MCP_PORT']}/mcp/"
    for mode in ("legacy", "2026-07-28"):
        async with Client(url, mode=mode) as client:
            assert len((await client.list_tools()).tools) == 9
            assert not (await client.call_tool("count_memories", {"user_id": mode})).is_error
            with pytest.raises(MCPError):
                await client.call_tool("nonesuch", {})
