from __future__ import annotations

import math
from typing import Any

import pytest

from memex.core.filters import MetadataQuery, compile_metadata, invalid_metadata_reason


def _deep(levels: int, leaf: Any = 1) -> dict[str, Any]:
    value: Any = leaf
    for _ in range(levels):
        value = {"k": value}
    result: dict[str, Any] = value
    return result


def test_no_filter_compiles_to_nothing() -> None:
    assert compile_metadata({}) == MetadataQuery({}, None, {})


def test_plain_values_become_containment() -> None:
    query = compile_metadata({"city": "京都", "n": 9, "ok": None, "tags": ["a"], "author": {"name": "Li"}})
    assert query == MetadataQuery({"city": "京都", "n": 9, "ok": None, "tags": ["a"], "author": {"name": "Li"}})


def test_operators_become_predicates_whose_values_are_variables() -> None:
    query = compile_metadata({"price": {"$gte": 9, "$lt": 10}, "lang": "ja"})
    assert query.contains == {"lang": "ja"}
    assert query.path == 'exists($."price" ? (@ >= $v0)) && exists($."price" ? (@ < $v1))'
    assert query.vars == {"v0": 9, "v1": 10}


def test_operators_within_an_object_follow_its_path() -> None:
    query = compile_metadata({"author": {"name": {"$ne": "Li"}, "city": "東京"}})
    assert query.contains == {"author": {"city": "東京"}}
    assert query.path == '!exists($."author"."name" ? (@ == $v0))'


def test_no_value_ever_stands_in_the_path() -> None:
    evil = '") || true || ("'
    query = compile_metadata({"a": {"$in": [evil, "x"]}, "b": {"$ne": evil}, evil: {"$exists": True}})
    assert query.path is not None
    assert query.path.count(evil) == 0
    assert r"\") || true || (\"" in query.path


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"a": {"$regex": "x"}}, "unknown operator '\\$regex'"),
        ({"a": {}}, "empty object"),
        ({"a": {"$gt": 1, "b": 2}}, "mixed"),
        ({"$gt": 1}, "stands below a key"),
        ({"a": {"$gt": None}}, "number or a text"),
        ({"a": {"$gt": True}}, "number or a text"),
        ({"a": {"$gt": [1]}}, "number or a text"),
        ({"a": {"$in": "abc"}}, "takes a list"),
        ({"a": {"$in": [[1]]}}, "single values"),
        ({"a": {"$eq": {"b": 1}}}, "single values"),
        ({"a": {"$in": list(range(257))}}, "at most 256"),
        ({"a": {"$exists": 1}}, "true or false"),
        ({str(i): i for i in range(33)}, "more than 32 conditions"),
        (_deep(10), "nested deeper than 8"),
        (_deep(10, {"$gt": 1}), "nested deeper than 8"),
        (_deep(40), "nested deeper than 16"),
        ({"a\x00": 1}, "NUL"),
        ({"a": "\ud800"}, "surrogate"),
        ({"a": {"$eq": "\x00"}}, "NUL"),
        ({"a": {"$lt": math.inf}}, "not finite"),
    ],
)
def test_what_cannot_be_compiled_is_refused_with_the_reason(filters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile_metadata(filters)


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"k": None},
        {"健身": ["ジム", 1, 1.5, True, {"深": []}]},
        {"": ""},
        {"n": 2**64 - 1},
        _deep(16),
        {"k": (1, 2)},
    ],
)
def test_json_metadata_is_valid(metadata: dict[str, Any]) -> None:
    assert invalid_metadata_reason(metadata) is None


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (_deep(17), "deeper than 16"),
        (_deep(5_000), "deeper than 16"),
        ({"k": "x" * 65_536}, "bytes"),
        ({"k": "猫" * 22_000}, "bytes"),
        ({"k": ["a", {"b": "\x00"}]}, "NUL"),
        ({"a": {"\udc00": 1}}, "surrogate"),
        ({"k": math.nan}, "finite"),
        ({"k": [-math.inf]}, "finite"),
        ({"k": 2**64}, "64 bits"),
        ({"k": -(2**63) - 1}, "64 bits"),
        ({"k": 10**5_000}, "64 bits"),
        ({"k": {1: 2}}, "not a string"),
        ({"k": {1, 2}}, "not JSON: set"),
        ({"k": b"x"}, "not JSON: bytes"),
    ],
)
def test_what_jsonb_cannot_hold_is_refused_with_the_reason(metadata: dict[str, Any], message: str) -> None:
    reason = invalid_metadata_reason(metadata)
    assert reason is not None
    assert message in reason


def test_a_cycle_is_refused() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    assert invalid_metadata_reason(cycle) is not None
