"""Times are moments: naive is UTC, periods are half-open, recency counts from the event."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from memex.core.memory import Filters, Memory, Patch, SearchMode, SearchRequest
from memex.protocol.errors import InvalidInput
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import found, make_service, memory, run, store_all

MODES = [SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.KEYWORD]
TOKYO = timezone(timedelta(hours=9))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SPELLINGS = [
    datetime(2026, 3, 1, 12),  # noqa: DTZ001 - naive on purpose
    datetime(2026, 3, 1, 12, tzinfo=UTC),
    datetime(2026, 3, 1, 21, tzinfo=TOKYO),
    datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=-10, minutes=-30))),
]


@pytest.fixture(autouse=True)
def _far_from_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process whose own zone is not UTC, so that nothing passes by luck."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def scores(
    service: MemoryService, query: str, *, now: datetime | None = None, alpha: float = 0.0
) -> dict[str, float]:
    result = await service.search(SearchRequest(user_id="ann", query=query, alpha=alpha, now=now))
    return {hit.memory.content: hit.score for hit in result.hits}


@pytest.mark.parametrize("given", SPELLINGS)
async def test_every_spelling_of_a_moment_is_that_moment(
    database: Database, clock: FrozenClock, given: datetime
) -> None:
    service = make_service(database, clock)
    stored = await service.store(memory("noon", occurred_at=given, expires_at=given + timedelta(days=365)))
    assert (stored.memory.occurred_at, stored.memory.expires_at) == (NOON, NOON + timedelta(days=365))
    assert stored.memory.occurred_at.tzinfo is not None
    for other in SPELLINGS:
        again = await service.store(memory("noon", occurred_at=other))
        assert (again.memory.id, again.created) == (stored.memory.id, False)
        assert await found(service, "noon", time_from=other, time_to=other + timedelta(seconds=1)) == ["noon"]
        assert await found(service, "noon", time_to=other) == []
        assert (await scores(service, "noon", now=other + timedelta(days=30)))["noon"] == pytest.approx(0.5)


@pytest.mark.parametrize("given", SPELLINGS)
async def test_a_patched_time_is_that_moment_too(database: Database, clock: FrozenClock, given: datetime) -> None:
    service = make_service(database, clock)
    stored = await service.store(memory("noon"))
    patched = await service.patch(stored.memory.id, Patch(occurred_at=given, expires_at=given + timedelta(days=365)))
    assert (patched.occurred_at, patched.expires_at) == (NOON, NOON + timedelta(days=365))
    assert (await service.store(memory("noon", occurred_at=NOON))).memory.id == stored.memory.id


async def set_valid(dsn: str, memory_id: UUID, start: datetime | None, end: datetime | None) -> None:
    await run(dsn, "UPDATE memories SET valid_from = $2, valid_to = $3 WHERE id = $1", memory_id, start, end)


@pytest.mark.parametrize(
    "facts",
    [
        ("Ann lives in Berlin", "Ann lives in Paris", "where Ann lives"),
        ("她住在北京", "她住在上海", "她住在哪里"),
        ("アンは大阪に住む", "アンは東京に住む", "アンはどこに住む"),
    ],
)
async def test_a_period_ends_just_before_the_next_begins(
    service: MemoryService, dsn: str, clock: FrozenClock, facts: tuple[str, str, str]
) -> None:
    old, new, query = facts
    change, tick = NOON, timedelta(microseconds=1)
    first, second = await store_all(service, [memory(old), memory(new)])
    await set_valid(dsn, first.memory.id, change - timedelta(days=100), change)
    await set_valid(dsn, second.memory.id, change, None)
    for mode in MODES:
        for as_of, expected in [
            (change - timedelta(days=100) - tick, []),
            (change - timedelta(days=100), [old]),
            (change - tick, [old]),
            (change, [new]),
            (change.astimezone(TOKYO), [new]),
            (change.replace(tzinfo=None), [new]),
            (change + tick, [new]),
            (datetime(9999, 12, 31, tzinfo=UTC), [new]),
            (datetime(1, 1, 1, tzinfo=UTC), []),
            (None, [new]),
        ]:
            assert await found(service, query, mode=mode, as_of=as_of) == expected, (mode, as_of)
    clock.now = change - tick
    assert await found(service, query) == [old]


async def test_event_time_bounds_are_from_inclusive_to_exclusive(service: MemoryService) -> None:
    days = [NOON + timedelta(days=n) for n in range(4)]
    await store_all(service, [memory(f"day {n}", occurred_at=day) for n, day in enumerate(days)])
    for mode in MODES:
        assert sorted(await found(service, "day", mode=mode, time_from=days[1], time_to=days[3])) == ["day 1", "day 2"]
        assert await found(service, "day", mode=mode, time_from=days[3]) == ["day 3"]
        assert await found(service, "day", mode=mode, time_to=days[1]) == ["day 0"]
        assert await found(service, "day", mode=mode, time_from=days[1], time_to=days[1]) == []


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (NOON, NOON - timedelta(microseconds=1)),
        (NOON, datetime(2026, 3, 1, 20, 59, tzinfo=TOKYO)),
        (NOON, datetime(2026, 3, 1, 11)),  # noqa: DTZ001 - naive on purpose
        (datetime(2026, 3, 1, 12), NOON - timedelta(seconds=1)),  # noqa: DTZ001 - naive on purpose
    ],
)
async def test_a_range_that_ends_before_it_begins_is_refused(
    database: Database, clock: FrozenClock, start: datetime, end: datetime
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await found(make_service(database, clock), "x", time_from=start, time_to=end)
    assert caught.value.field == "time_to"


@pytest.mark.parametrize("zone", [timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))])
async def test_moments_beyond_the_calendar_are_refused(database: Database, clock: FrozenClock, zone: timezone) -> None:
    service = make_service(database, clock)
    edges = datetime.min.replace(tzinfo=zone), datetime.max.replace(tzinfo=zone)
    beyond = edges[zone.utcoffset(None) < timedelta(0)]
    with pytest.raises(InvalidInput):
        await service.store(memory("x", occurred_at=beyond))
    with pytest.raises(InvalidInput):
        await service.store(memory("x", expires_at=beyond))
    with pytest.raises(InvalidInput):
        await found(service, "x", as_of=beyond)
    with pytest.raises(InvalidInput):
        await service.search(SearchRequest(user_id="ann", query="x", filters=Filters(time_from=beyond)))
    with pytest.raises(InvalidInput):
        await service.search(SearchRequest(user_id="ann", query="x", now=beyond))
    stored = await service.store(memory("x"))
    with pytest.raises(InvalidInput):
        await service.patch(stored.memory.id, Patch(occurred_at=beyond))


async def test_an_expiry_that_has_passed_is_refused_and_changes_nothing(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock)
    stored = await service.store(memory("kept", expires_at=clock.now + timedelta(seconds=1)))
    for past in (clock.now, clock.now - timedelta(days=400), clock.now.replace(tzinfo=None)):
        with pytest.raises(InvalidInput, match="expires_at must be in the future"):
            await service.store(memory("gone at once", expires_at=past))
        with pytest.raises(InvalidInput, match="expires_at must be in the future"):
            await service.patch(stored.memory.id, Patch(expires_at=past))
        [item] = await service.store_batch([memory("gone at once", expires_at=past)])
        assert isinstance(item.error, InvalidInput)
    assert await service.count(user_id="ann", agent_id=None) == 1


@pytest.mark.parametrize("edge", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
async def test_the_ends_of_the_calendar_are_kept_and_found(service: MemoryService, edge: datetime) -> None:
    stored = await service.store(memory("at the edge", occurred_at=edge))
    assert stored.memory.occurred_at == edge
    assert (await service.get(stored.memory.id)).occurred_at == edge
    for mode in MODES:
        assert await found(service, "edge", mode=mode) == ["at the edge"]


async def test_future_events_count_as_new_and_no_newer(service: MemoryService, clock: FrozenClock) -> None:
    await store_all(
        service,
        [memory(f"in {days} days", occurred_at=clock.now + timedelta(days=days)) for days in (0, 1, 400, -30)],
    )
    got = await scores(service, "days")
    assert got == pytest.approx({"in 0 days": 1, "in 1 days": 1, "in 400 days": 1, "in -30 days": 0.5})


async def test_recency_counts_from_the_event_not_from_the_import(service: MemoryService, clock: FrozenClock) -> None:
    await store_all(
        service, [memory("old event", occurred_at=clock.now - timedelta(days=60)), memory("event of today")]
    )
    clock.advance(days=30)
    await service.store(memory("imported late", occurred_at=clock.now - timedelta(days=90)))
    assert await scores(service, "event") == pytest.approx(
        {"old event": 0.125, "event of today": 0.5, "imported late": 0.125}
    )


async def test_recency_is_reckoned_from_the_now_that_is_given(service: MemoryService, clock: FrozenClock) -> None:
    await service.store(memory("event", occurred_at=clock.now))
    assert (await scores(service, "event", now=clock.now + timedelta(days=90)))["event"] == pytest.approx(0.125)
    assert (await scores(service, "event", now=clock.now - timedelta(days=90)))["event"] == pytest.approx(1)
    assert (await scores(service, "event"))["event"] == pytest.approx(1)


async def test_a_repeat_renews_the_event_time_unless_it_was_given(service: MemoryService, clock: FrozenClock) -> None:
    async def again(content: str, occurred_at: datetime | None) -> Memory:
        return (await service.store(memory(content, occurred_at=occurred_at))).memory

    first, given = await again("hello", None), await again("hi", NOON)
    clock.advance(days=1)
    assert (await again("hello", None)).occurred_at == clock.now > first.occurred_at
    assert (await again("hi", NOON)).occurred_at == given.occurred_at == NOON
