"""Arguments are read as leniently as agents write them, and refused with what would be right."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from memex.protocol.errors import InvalidInput
from memex_server.mcp.arguments import read_arguments
from memex_server.mcp.catalogue import tools_of

_TOOLS = {tool.name: tool for tool in tools_of("full")}
_ID = "01a22959-2eaf-7000-abd0-61d29793f5ad"


@pytest.mark.parametrize(
    ("tool", "given", "name", "read"),
    [
        ("store_memory", {"content": "x", "tags": ["a", "中文"]}, "tags", ("a", "中文")),
        ("store_memory", {"content": "x", "tags": '["a", "中文"]'}, "tags", ("a", "中文")),
        ("store_memory", {"content": "x", "tags": "[]"}, "tags", ()),
        ("store_memory", {"content": "x", "metadata": '{"k": null}'}, "metadata", {"k": None}),
        ("store_memory", {"content": "x", "importance": "1.5"}, "importance", 1.5),
        ("store_memory", {"content": "x", "importance": 2}, "importance", 2.0),
        ("store_memory", {"content": "x", "importance": None}, "importance", 1.0),
        ("store_memory", {"content": "[1]"}, "content", "[1]"),
        ("store_memory", {"content": "x"}, "memory_type", "episodic"),
        ("save_memory", {"text": "x"}, "kind", "semantic"),
        ("search_memory", {"query": "x", "k": "3"}, "k", 3),
        ("search_memory", {"query": "x", "k": 3.0}, "k", 3),
        ("search_memory", {"query": "x"}, "k", 5),
        ("search_memories", {"query": "x", "time_from": "2026-05-26T10:30:00Z"}, "time_from",
         datetime(2026, 5, 26, 10, 30, tzinfo=UTC)),
        ("get_memory", {"memory_id": _ID}, "memory_id", UUID(_ID)),
        ("update_memory", {"memory_id": _ID, "pinned": "true"}, "pinned", True),
    ],
)  # fmt: skip
def test_what_can_be_meant_is_read(tool: str, given: dict[str, Any], name: str, read: Any) -> None:
    assert read_arguments(_TOOLS[tool], given)[name] == read


@pytest.mark.parametrize(
    ("tool", "given", "message"),
    [
        ("store_memory", {}, "content: is required"),
        ("store_memory", {"content": None}, "content: is required"),
        ("store_memory", {"content": 7}, "content: must be a string, not a number"),
        ("store_memory", {"content": ["x"]}, "content: must be a string, not a list"),
        ("store_memory", {"content": ""}, "content: must have 1 to 65,536 characters, not 0"),
        ("store_memory", {"content": "x", "tags": "a"}, 'tags: must be JSON like ["one", "two"]'),
        ("store_memory", {"content": "x", "tags": {"a": 1}}, 'tags: must be a list like ["one", "two"], not an object'),
        ("store_memory", {"content": "x", "tags": ["a"] * 101}, "tags: at most 100, not 101"),
        ("store_memory", {"content": "x", "tags": [1]}, "tags: must be a string, not a number"),
        ("store_memory", {"content": "x", "metadata": "[]"}, "metadata: must be a JSON object, not a list"),
        ("store_memory", {"content": "x", "memory_type": "dream"}, "memory_type: must be one of episodic, semantic, procedural"),
        ("store_memory", {"content": "x", "importance": True}, "importance: must be a number, not true or false"),
        ("store_memory", {"content": "x", "importance": "nan"}, "importance: must be 0 to 2, not nan"),
        ("store_memory", {"content": "x", "userid": "u"}, "userid: store_memory has no such argument; did you mean user_id?"),
        ("search_memory", {"query": "x", "k": 2.5}, "k: must be a whole number, not 2.5"),
        ("search_memory", {"query": "x", "k": "many"}, "k: must be a number"),
        ("search_memories", {"query": "x", "time_from": "yesterday"}, "time_from: must be a time in ISO 8601, like 2026-05-26T10:30:00Z"),
        ("get_memory", {"memory_id": "1"}, "memory_id: must be a UUID, as storing and searching return it"),
        ("update_memory", {"memory_id": _ID, "pinned": "maybe"}, "pinned: must be true or false"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_named(tool: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_arguments(_TOOLS[tool], given)
    assert str(caught.value) == message
    assert caught.value.field == message.split(":", 1)[0]
