"""What filters on metadata mean in a search is what their documentation says."""

from __future__ import annotations

from typing import Any

from memex.core.memory import SearchMode
from memex_server.service import MemoryService
from tests.integration.support import found, memory, store_all

NASTY = 'q"uo\\te $x ? (@) 健身'
ROWS: dict[str, dict[str, Any]] = {
    "nine": {"n": 9, "city": "京都", "tags": ["a", "b"]},
    "ten": {"n": 10, "city": "東京", "author": {"name": "Li", "age": 30}},
    "text": {"n": "9", "city": None},
    "big": {"n": 100.5, NASTY: "yes", "flag": True},
    "empty": {},
    "tab": {"line\nbreak\t\x01": 1, "day": "2024-03-15"},
}
CASES: list[tuple[dict[str, Any], set[str]]] = [
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
]


async def test_filters_select(service: MemoryService) -> None:
    await store_all(service, [memory(f"coffee {name}", metadata=metadata) for name, metadata in ROWS.items()])
    for filters, expected in CASES:
        for mode in SearchMode:
            got = await found(service, "coffee", mode=mode, top_k=10, metadata=filters)
            assert set(got) == {f"coffee {name}" for name in expected}, (filters, mode)
