"""Speed as ratios in one run: memex, the reference design and raw ONNX Runtime take turns."""

from __future__ import annotations

import itertools
import statistics
import zlib
from collections.abc import Callable, Sequence

from bench.environment import Environment
from bench.harness.load import Call, LoadResult, run_load, search_call
from bench.harness.process import running
from bench.harness.report import Row, row
from bench.harness.stats import latency, median_ratio
from bench.harness.texts import questions, sentences
from bench.raw_onnx import RawRate, RawRunner
from bench.workload import (
    USERS,
    batch_calls,
    fill_by_batch,
    fill_one_by_one,
    fill_texts,
    mixed,
    repeated_searches,
    stores,
)

__all__ = [
    "batch_writes",
    "searches_repeated",
    "single_search_latency",
    "single_writes",
    "throughput_repeated",
    "throughput_unique",
]

_CLIENTS = 50
_SCOPE = 600
_DISTINCT = 200
# More than any service here can use up in one phase.
_CALLS_PER_S = 4_000


async def throughput_unique(env: Environment) -> list[Row]:
    """50 clients, 75 % searches, no text twice."""
    return await _compared(
        env,
        "throughput_unique",
        mixed,
        calls_per_s=1_500,
        floors=(3.0, 0.5),
    )


async def throughput_repeated(env: Environment) -> list[Row]:
    """50 clients, 75 % searches with 200 queries that repeat; the writes are all different."""
    return await _compared(
        env,
        "throughput_repeated",
        lambda seed, count: mixed(seed, count, distinct_queries=_DISTINCT),
        calls_per_s=_CALLS_PER_S,
        floors=(8.0, None),
        seen_before=repeated_searches(_DISTINCT),
    )


async def searches_repeated(env: Environment) -> list[Row]:
    """The same without writes: 50 clients, 200 queries that repeat."""
    return await _compared(
        env,
        "searches_repeated",
        lambda seed, count: mixed(seed, count, search_share=1.0, distinct_queries=_DISTINCT),
        calls_per_s=_CALLS_PER_S,
        floors=(8.0, None),
        seen_before=repeated_searches(_DISTINCT),
    )


async def _compared(
    env: Environment,
    name: str,
    make_calls: Callable[[int, int], list[Call]],
    *,
    calls_per_s: int,
    floors: tuple[float | None, float | None],
    seen_before: Sequence[Call] = (),
) -> list[Row]:
    rounds, seconds, filled = env.scale(3, 1), env.scale(15, 5), env.scale(1000, 200)
    runner = RawRunner(env.model_dir())
    ours, theirs, raws = [], [], []
    async with running(env.memex(name)) as memex, env.reference() as reference:
        await fill_by_batch(memex.port, fill_texts(filled))
        await fill_one_by_one(reference.port, filled)
        for port in (memex.port, reference.port):
            await run_load(port, seen_before, clients=_CLIENTS, duration_s=120)
        way: RawRate | None = None
        for i in range(rounds + 1):
            # The first round warms up and is not counted.
            calls = make_calls(phase_seed(name, i), calls_per_s * (seconds if i else 2))
            ours.append(await run_load(memex.port, calls, clients=_CLIENTS, duration_s=seconds if i else 2))
            theirs.append(await run_load(reference.port, calls, clients=_CLIENTS, duration_s=seconds if i else 2))
            texts = _sample(ours[-1].texts, env.scale(800, 200))
            way = way or runner.tune(_sample(texts, env.scale(256, 64)))
            raws.append(runner.again(texts, way))
    ours, theirs, raws = ours[1:], theirs[1:], raws[1:]
    rates, their_rates, raw_rates = [r.rate for r in ours], [r.rate for r in theirs], [r.texts_per_s for r in raws]
    errors = sum(sum(r.errors.values()) for r in (*ours, *theirs))
    return [
        row(
            f"{name}: memex / reference design",
            median_ratio(rates, their_rates),
            "x",
            floor=floors[0],
            detail=f"memex {_rates(ours)}; reference {_rates(theirs)}; memex last round: {ours[-1]}",
        ),
        row(
            f"{name}: memex / raw ONNX Runtime",
            median_ratio(rates, raw_rates),
            "x",
            floor=floors[1],
            detail=f"raw {raws[-1]}; reference last round: {theirs[-1]}",
        ),
        row(f"{name}: memex", statistics.median(rates), "calls/s"),
        row(f"{name}: errors", errors, "calls", floor=0, sense="at most"),
    ]


async def single_writes(env: Environment) -> list[Row]:
    """50 clients store one memory per request, all texts different."""
    return await _writes(env, "single_writes", 0.6, clients=_CLIENTS, make=stores, per_call=1)


async def batch_writes(env: Environment) -> list[Row]:
    """Two clients store 100 memories per request, all texts different."""

    def make(seed: int, count: int) -> list[Call]:
        return list(batch_calls(list(itertools.islice(sentences(seed), count)), USERS))

    return await _writes(env, "batch_writes", 0.85, clients=2, make=make, per_call=100)


async def _writes(
    env: Environment, name: str, floor: float, *, clients: int, make: Callable[[int, int], list[Call]], per_call: int
) -> list[Row]:
    rounds, texts_per_round = env.scale(5, 2), env.scale(2000, 400)
    runner = RawRunner(env.model_dir())
    done: list[LoadResult] = []
    raws = []
    async with running(env.memex(name)) as memex:
        await run_load(memex.port, make(phase_seed(name, 0), 200), clients=clients, duration_s=60)
        way: RawRate | None = None
        for i in range(1, rounds + 1):
            seed = phase_seed(name, i)
            done.append(await run_load(memex.port, make(seed, texts_per_round), clients=clients, duration_s=300))
            texts = list(itertools.islice(sentences(seed), texts_per_round))
            way = way or runner.tune(_sample(texts, env.scale(256, 64)))
            raws.append(runner.again(_sample(texts, env.scale(800, 200)), way))
    rates = [r.rate * per_call for r in done]
    return [
        row(
            f"{name}: memex / raw ONNX Runtime",
            median_ratio(rates, [r.texts_per_s for r in raws]),
            "x",
            floor=floor,
            detail=f"memex {', '.join(f'{r:.0f}' for r in rates)} texts/s; raw {raws[-1]}; last round: {done[-1]}",
        ),
        row(f"{name}: memex", statistics.median(rates), "texts/s"),
        row(f"{name}: errors", sum(sum(r.errors.values()) for r in done), "calls", floor=0, sense="at most"),
    ]


async def single_search_latency(env: Environment) -> list[Row]:
    """One client searches a scope of 600 memories; every query is new."""
    rounds, asked = 4, env.scale(100, 30)
    runner = RawRunner(env.model_dir())
    samples_s: list[float] = []
    gaps_ms = []
    raw_p50s_ms = []
    async with running(env.memex("latency")) as memex:
        await fill_by_batch(memex.port, list(itertools.islice(sentences(600), _SCOPE)), ["latency"])
        for i in range(rounds + 1):
            queries = list(itertools.islice(questions(phase_seed("latency", i)), asked))
            calls = [search_call("latency", query) for query in queries]
            result = await run_load(memex.port, calls, clients=1, duration_s=300)
            if result.errors:
                raise RuntimeError(f"searches failed: {dict(result.errors)}")
            raw = runner.one_by_one(queries)
            if i:  # the first round warms up
                samples_s += result.samples_s["search"]
                gaps_ms.append(result.latency("search").p50_ms - raw.p50_ms)
                raw_p50s_ms.append(raw.p50_ms)
    found = latency(samples_s)
    return [
        row("single_search: p50", found.p50_ms, "ms", floor=8, sense="at most", detail=str(found)),
        row("single_search: p95", found.p95_ms, "ms", floor=15, sense="at most"),
        row(
            "single_search: p50 over raw embedding",
            statistics.median(gaps_ms),
            "ms",
            floor=4,
            sense="at most",
            detail=f"raw embedding one by one: p50 {statistics.median(raw_p50s_ms):.1f} ms",
        ),
    ]


def phase_seed(name: str, number: int) -> int:
    """Return a seed that no other phase has, the same in every run."""
    return zlib.crc32(name.encode()) * 1_000 + number


def _sample(texts: Sequence[str], count: int) -> list[str]:
    # Evenly over the run, so that the mix of lengths is that of the run.
    step = max(1, len(texts) // count)
    return list(texts[::step][:count])


def _rates(results: Sequence[LoadResult]) -> str:
    return ", ".join(f"{r.rate:.0f}" for r in results) + " calls/s"
