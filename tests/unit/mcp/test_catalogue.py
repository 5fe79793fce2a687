"""What agents are shown: small tools that say when to use them and when not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from memex_server.mcp.catalogue import PROFILES, ToolSpec, tools_of

_ALL = tools_of("full")


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from _schemas(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _schemas(value)


def test_all_tools_of_the_contract_are_there() -> None:
    assert {tool.name for tool in _ALL} == {
        "store_memory", "search_memories", "delete_memory", "count_memories", "save_memory", "search_memory",
        "get_memory", "update_memory", "retract_memory",
    }  # fmt: skip


def test_the_coding_profile_shows_three() -> None:
    assert [tool.name for tool in tools_of("coding")] == ["save_memory", "search_memory", "retract_memory"]
    assert set(PROFILES) == {"full", "coding"}


@pytest.mark.parametrize("tool", _ALL, ids=lambda tool: tool.name)
def test_a_tool_is_small_and_says_when_to_use_it(tool: ToolSpec) -> None:
    assert len(tool.properties) <= 8
    assert set(tool.required) <= set(tool.properties)
    assert "Use " in tool.description or "use " in tool.description
    assert 80 < len(tool.description) < 500
    assert all(schema.get("description") for schema in tool.properties.values())
    hints = tool.definition()["annotations"]
    assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(hints)
    assert not (hints["readOnlyHint"] and hints["destructiveHint"])


@pytest.mark.parametrize("tool", _ALL, ids=lambda tool: tool.name)
def test_the_schemas_are_valid_and_every_array_says_what_it_holds(tool: ToolSpec) -> None:
    definition = tool.definition()
    for side in ("inputSchema", "outputSchema"):
        assert definition[side]["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(definition[side])
        for schema in _schemas(definition[side]):
            if schema.get("type") == "array":
                assert schema["items"]["type"]


def test_the_coding_profile_costs_an_agent_few_tokens() -> None:
    shown = json.dumps([tool.definition() for tool in tools_of("coding")])
    assert len(shown) < 8_000, "about 2,000 tokens of every conversation"
