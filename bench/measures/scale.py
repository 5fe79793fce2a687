"""One very large scope beside thousands of small ones: speed, recall against exact search, and isolation."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Sequence

import numpy as np

from bench.bulk import Scope, bulk_store
from bench.environment import Environment
from bench.harness.http import Connection, encode
from bench.harness.load import run_load, search_call
from bench.harness.process import Service, running
from bench.harness.report import Row, row
from bench.harness.texts import questions, sentences
from bench.model import PlainModel
from memex_server.ports import FloatArray

__all__ = ["big_scope", "million", "overlap"]

_BIG = "big"
_MIDDLE, _MIDDLE_SIZE = "middle", 5_000
_TOP_K = 10
# Vectors are kept in half precision, so two that differ by less are the same rank.
_TIE = 5e-4


async def big_scope(env: Environment) -> list[Row]:
    """100,000 memories in one scope, 5,000 in another, and 2,000 scopes of 50 beside them."""
    return await _measure(env, "big_scope", env.scale(100_000, 12_000), env.scale(2_000, 100))


async def million(env: Environment) -> list[Row]:
    """1,000,000 memories: 800,000 in one scope, and 4,000 scopes of 50."""
    return await _measure(env, "million", env.scale(800_000, 24_000), env.scale(4_000, 200))


async def _measure(env: Environment, name: str, big: int, small_scopes: int) -> list[Row]:
    model = PlainModel(env.model_dir(), threads=2)
    real = np.stack([model.embed_one(t, "passage") for t in itertools.islice(sentences(5), env.scale(600, 100))])
    sizes = [(_BIG, big), (_MIDDLE, _MIDDLE_SIZE)] + [(f"small-{i}", 50) for i in range(small_scopes)]
    memex = env.memex(name)
    started = time.perf_counter()
    scopes = await bulk_store(env.data_dir(memex), sizes, real, env.seed + 50)
    loaded_s = time.perf_counter() - started
    large, small = scopes[0], scopes[2:]
    rows = [
        row(f"{name}: rows loaded", sum(size for _, size in sizes), "rows", detail=f"with index in {loaded_s:.0f} s")
    ]
    asked = list(itertools.islice(questions(61), env.scale(300, 60)))
    async with running(memex):
        port = memex.port
        warm = [search_call(_BIG, q) for q in itertools.islice(questions(62), 40)]
        await run_load(port, warm, clients=1, duration_s=120)
        # Each query is embedded (and cached) once, for a user who has nothing: what follows is the search alone.
        await run_load(port, [search_call("nobody", q) for q in asked], clients=1, duration_s=600)
        picked = random.Random(env.seed).sample(small, min(len(asked), len(small)))
        users = {
            "one large scope": (itertools.repeat(_BIG), 40),
            "a scope of 5,000": (itertools.repeat(_MIDDLE), 25),
            "small scopes": (itertools.cycle(s.user_id for s in picked), 40),
        }
        for kind, (owners, most_ms) in users.items():
            for mode, extra in (("hybrid", {}), ("semantic", {"mode": "semantic", "alpha": 1.0})):
                calls = [search_call(user, q, **extra) for user, q in zip(owners, asked, strict=False)]
                found = await run_load(port, calls, clients=1, duration_s=600)
                if found.errors:
                    raise RuntimeError(f"searches failed: {dict(found.errors)}")
                seen = found.latency("search")
                label = f"{name}: p95, {kind}, {mode}, queries embedded"
                rows.append(row(label, seen.p95_ms, "ms", floor=most_ms, sense="at most", detail=str(seen)))
        rows.append(await _recall(name, port, model, large, asked[: env.scale(200, 40)]))
        rows.append(await _isolation(name, port, picked[: env.scale(200, 30)]))
        rows.append(row(f"{name}: rss", _mib(memex), "MiB"))
    return rows


async def _recall(name: str, port: int, model: PlainModel, scope: Scope, asked: Sequence[str]) -> Row:
    connection = Connection(port)
    position = {memory_id: i for i, memory_id in enumerate(scope.ids)}
    shares = []
    try:
        for query in asked:
            body = {"user_id": scope.user_id, "query": query, "top_k": _TOP_K, "mode": "semantic", "alpha": 1.0}
            answer = await connection.request(encode("POST", "/v1/memories/search", body))
            found = [position[r["id"]] for r in answer.json()["results"]]
            shares.append(overlap(scope.vectors @ model.embed_one(query, "query"), found, _TOP_K))
    finally:
        connection.close()
    return row(
        f"{name}: recall at {_TOP_K} against exact search",
        sum(shares) / len(shares),
        "share",
        floor=0.98,
        detail=f"{len(shares)} queries, worst {min(shares):.2f}",
    )


def overlap(products: FloatArray, found: Sequence[int], top_k: int) -> float:
    """Return which share of the exact `top_k` was found; a row within rounding of the last place counts."""
    last = np.partition(products, -top_k)[-top_k]
    return sum(1 for i in set(found) if products[i] >= last - _TIE) / top_k


async def _isolation(name: str, port: int, scopes: Sequence[Scope]) -> Row:
    connection = Connection(port)
    wrong = []
    try:
        for i, scope in enumerate(scopes):
            # A constant query would be no test of what a scope lacks.
            query = next(questions(10_000 + i))
            body = {"user_id": scope.user_id, "query": query, "top_k": 50, "mode": "semantic", "alpha": 1.0}
            answer = await connection.request(encode("POST", "/v1/memories/search", body))
            if {r["id"] for r in answer.json()["results"]} != set(scope.ids):
                wrong.append(scope.user_id)
    finally:
        connection.close()
    detail = f"{len(scopes)} scopes asked for all 50; wrong: {wrong[:5]}"
    label = f"{name}: small scopes that got not exactly their own rows"
    return row(label, len(wrong), "scopes", floor=0, sense="at most", detail=detail)


def _mib(memex: Service) -> float:
    return memex.resident_bytes() / 2**20
