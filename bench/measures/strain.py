"""Many clients on few connections, the memory that the service takes, and whether the load generator keeps up."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter

from bench.environment import Environment
from bench.harness.load import Call, run_load, store_call
from bench.harness.process import Service, free_port, running
from bench.harness.report import Row, row
from bench.harness.texts import sentences
from bench.harness.trivial import trivial_command
from bench.workload import USERS, fill_by_batch, fill_texts, mixed

__all__ = ["clients_250", "generator", "rss"]

_MIB = 2**20


async def generator(env: Environment) -> list[Row]:
    """The load generator alone, against a server that does nothing: it must not be what is measured."""
    calls = [store_call(USERS[0], text) for text in itertools.islice(sentences(2), 1_000)]
    port = free_port()
    service = Service("trivial", trivial_command(port), {}, port, env.work_dir / "trivial.log")
    async with running(service, timeout_s=20):
        found = await run_load(port, itertools.cycle(calls), clients=50, duration_s=env.scale(5, 2))
    return [row("generator: requests to a trivial server", found.rate, "calls/s", floor=5_000, detail=str(found))]


async def clients_250(env: Environment) -> list[Row]:
    """250 clients at once on a pool of 20 connections, 75 % searches: nothing may fail or hang."""
    seconds = env.scale(30, 8)
    settings = {"DB_MIN_POOL_SIZE": "5", "DB_MAX_POOL_SIZE": "20"}
    async with running(env.memex("clients", **settings)) as memex:
        await fill_by_batch(memex.port, fill_texts(200))
        calls = mixed(250, seconds * 2_000)
        # A call that hangs shows as a TimeoutError; the outer bound is for a load that never ends.
        async with asyncio.timeout(seconds + 180):
            found = await run_load(memex.port, calls, clients=250, duration_s=seconds, timeout_s=120)
    errors = sum(found.errors.values())
    return [
        row("clients_250: errors", errors, "calls", floor=0, sense="at most", detail=str(found)),
        row("clients_250: answered", found.completed, "calls", floor=250, detail="every client was served"),
    ]


async def rss(env: Environment) -> list[Row]:
    """Resident memory of `memex serve` and its workers without Postgres: at start, and after work of all kinds."""
    async with running(env.memex("rss")) as memex:
        fresh = memex.resident_bytes() / _MIB
        await fill_by_batch(memex.port, fill_texts(env.scale(2_000, 200)))
        long_texts = [" ".join(itertools.islice(sentences(i), 300)) for i in range(env.scale(20, 3))]
        long_calls: list[Call] = [store_call("long", text) for text in long_texts]
        peak = Counter(mib=0)
        sampler = asyncio.create_task(_sample(memex, peak))
        await run_load(memex.port, long_calls, clients=4, duration_s=120)
        await run_load(memex.port, mixed(77, env.scale(4_000, 300)), clients=50, duration_s=120)
        sampler.cancel()
        used = memex.resident_bytes() / _MIB
    return [
        row(
            "rss: after load",
            used,
            "MiB",
            floor=350,
            sense="at most",
            detail=f"fresh {fresh:.0f}, peak {peak['mib']} MiB",
        ),
        row("rss: fresh", fresh, "MiB", floor=350, sense="at most"),
    ]


async def _sample(service: Service, peak: Counter[str]) -> None:
    while service.alive:
        peak["mib"] = max(peak["mib"], service.resident_bytes() // _MIB)
        await asyncio.sleep(0.2)
