"""The rate limit is a true sliding minute, exact under concurrency, shared by all who count."""

from __future__ import annotations

import asyncio

import pytest

from memex.core.memory import SearchRequest
from memex.protocol.errors import RateLimited
from memex.testing import FrozenClock
from memex_server.postgres.limiter import PostgresRateLimiter
from memex_server.postgres.pool import Database
from tests.integration.support import Template, make_service, memory, opened, value


def limiter(database: Database, clock: FrozenClock, *, writes: int = 60, searches: int = 120) -> PostgresRateLimiter:
    return PostgresRateLimiter(database, clock, writes_per_minute=writes, searches_per_minute=searches)


async def allowed(limits: PostgresRateLimiter, agent: str = "scout", calls: int = 1) -> int:
    """How many of so many calls at once are let through."""
    answers = await asyncio.gather(*(limits.check(agent, "write") for _ in range(calls)), return_exceptions=True)
    assert all(answer is None or isinstance(answer, RateLimited) for answer in answers)
    return answers.count(None)


async def test_the_window_slides(database: Database, clock: FrozenClock) -> None:
    limits = limiter(database, clock)
    for n in range(60):
        await limits.check("scout", "write")
        clock.advance(seconds=1 / 60 if n < 59 else 0)
    clock.advance(seconds=59.9 - 59 / 60)
    with pytest.raises(RateLimited) as caught:
        await limits.check("scout", "write")
    assert (caught.value.limit, caught.value.remaining) == (60, 0)
    assert caught.value.retry_after_s == pytest.approx(0.1, abs=1e-3)
    clock.advance(seconds=0.2)  # 60.1 s after the first: 7 calls of the first 0.1 s have left the window
    assert await allowed(limits, calls=20) == 7
    clock.advance(seconds=0.9)
    assert await allowed(limits, calls=100) == 53


@pytest.mark.parametrize(("seconds", "through"), [(59.999, 0), (60, 3), (600, 3)])
async def test_a_call_counts_for_sixty_seconds(
    database: Database, clock: FrozenClock, seconds: float, through: int
) -> None:
    limits = limiter(database, clock, writes=3)
    assert await allowed(limits, calls=3) == 3
    clock.advance(seconds=seconds)
    assert await allowed(limits, calls=5) == through


async def test_no_burst_of_two_windows_passes_at_their_border(database: Database, clock: FrozenClock) -> None:
    limits = limiter(database, clock, writes=10)
    for _ in range(40):
        await allowed(limits, calls=3)
        clock.advance(seconds=7)
        hits = await value_of_hits(database, clock)
        assert hits <= 10


async def value_of_hits(database: Database, clock: FrozenClock) -> int:
    async with database.connection() as connection:
        return int(
            await connection.fetchval(
                "SELECT count(*) FROM rate_limits, unnest(hits) h WHERE h > $1::timestamptz - interval '60 s'",
                clock.now,
            )
        )


async def test_concurrent_calls_are_counted_exactly_by_all_processes(
    database: Database, dsn: str, template: Template, clock: FrozenClock
) -> None:
    async with opened(dsn, template.facts) as other:
        both = [limiter(database, clock), limiter(other, clock)]
        through = await asyncio.gather(*(allowed(limits, calls=60) for limits in both))
    assert sum(through) == 60


async def test_a_refused_call_is_not_counted(database: Database, clock: FrozenClock) -> None:
    limits = limiter(database, clock, writes=2)
    assert await allowed(limits, calls=2) == 2
    for _ in range(50):
        clock.advance(seconds=1)
        assert await allowed(limits) == 0
    clock.advance(seconds=10)
    assert await allowed(limits, calls=3) == 2


@pytest.mark.parametrize("agent", ["scout-2", "Scout", "scout ", "s%", "偵察", "user scout"])
async def test_agents_and_operations_count_apart(database: Database, clock: FrozenClock, agent: str) -> None:
    limits = limiter(database, clock, writes=1, searches=2)
    assert await allowed(limits, calls=2) == 1
    assert await allowed(limits, agent, calls=2) == 1
    await limits.check("scout", "search")
    await limits.check("scout", "search")
    with pytest.raises(RateLimited):
        await limits.check("scout", "search")


async def test_zero_is_no_limit_and_keeps_no_counter(database: Database, clock: FrozenClock, dsn: str) -> None:
    assert await allowed(limiter(database, clock, writes=0), calls=300) == 300
    assert await value(dsn, "SELECT count(*) FROM rate_limits") == 0


async def test_counters_hold_no_more_than_the_limit_and_old_ones_go(
    database: Database, clock: FrozenClock, dsn: str
) -> None:
    service = make_service(database, clock, writes_per_minute=5)
    limits = limiter(database, clock, writes=5)
    for n in range(40):
        await allowed(limits, f"agent {n % 4}", calls=3)
        clock.advance(seconds=3)
    assert await value(dsn, "SELECT max(cardinality(hits)) FROM rate_limits") <= 5
    assert await value(dsn, "SELECT count(*) FROM rate_limits") == 4
    assert (await service.tidy(tombstone_days=30))["counters"] == 0
    clock.advance(seconds=130)
    await limits.check("agent 0", "write")
    assert (await service.tidy(tombstone_days=30))["counters"] == 3
    assert await value(dsn, "SELECT count(*) FROM rate_limits") == 1


async def test_the_service_refuses_before_it_works(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock, writes_per_minute=2, searches_per_minute=1)
    await service.store(memory("one"))
    await service.store_batch([memory("two"), memory("three")])
    for refused in (service.store(memory("four")), service.store_batch([memory("five")])):
        with pytest.raises(RateLimited):
            await refused
    assert await service.count(user_id="ann") == 3
    await service.search(SearchRequest(user_id="ann", query="one"))
    with pytest.raises(RateLimited):
        await service.search(SearchRequest(user_id="ann", query="one"))
    await service.search(SearchRequest(user_id="bob", query="one"))
    clock.advance(seconds=60)
    await service.store(memory("six"))
