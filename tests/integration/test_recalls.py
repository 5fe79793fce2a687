"""How often and when memories were found: counted by every search, written down, gone with the memory."""

from __future__ import annotations

import asyncio

import pytest

from memex.core.memory import Recalls
from memex.protocol.errors import Unavailable
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.postgres.recalls import PostgresRecallLog
from memex_server.service import MemoryService
from tests.integration.support import found, make_service, memory, value


@pytest.fixture
def counted(database: Database, clock: FrozenClock) -> MemoryService:
    return make_service(database, clock, answer_bytes=100_000)


async def test_each_search_counts_what_it_found_at_once_and_after_it_was_written(
    counted: MemoryService, database: Database, clock: FrozenClock
) -> None:
    tea = (await counted.store(memory("お茶 green tea"))).memory
    assert await counted.recalls(tea) == Recalls()
    for _ in range(3):  # the last ones from what is held
        await found(counted, "tea")
    assert await counted.recalls(tea) == Recalls(3, clock())
    await counted.flush_recalls()
    clock.advance(days=1)
    await found(counted, "お茶")
    assert await counted.recalls(tea) == Recalls(4, clock())
    await counted.flush_recalls()
    assert await make_service(database, clock).recalls(tea) == Recalls(4, clock())


async def test_two_processes_count_together(database: Database, clock: FrozenClock) -> None:
    services = [make_service(database, clock) for _ in range(2)]
    memories = [(await services[0].store(memory(f"普洱 tea {n}"))).memory for n in range(20)]
    for _ in range(3):
        await asyncio.gather(*(found(service, "tea") for service in services))
        await asyncio.gather(*(service.flush_recalls() for service in services))
    assert {await services[0].recalls(one) for one in memories} == {Recalls(6, clock())}


async def test_counting_changes_nothing_of_the_memory(counted: MemoryService) -> None:
    tea = (await counted.store(memory("green tea"))).memory
    await found(counted, "tea")
    await counted.flush_recalls()
    assert await counted.get(tea.id) == tea
    assert len(await counted.history(tea.id)) == 1


async def test_the_counts_of_a_purged_memory_are_gone_and_late_ones_are_left_out(
    counted: MemoryService, dsn: str
) -> None:
    kept, purged = [(await counted.store(memory(text))).memory for text in ("green tea", "black tea")]
    await found(counted, "tea")
    await counted.flush_recalls()
    await found(counted, "tea")
    await counted.delete(purged.id, purge=True)
    await counted.flush_recalls()
    assert (await counted.recalls(kept)).times == 2
    assert await value(dsn, "SELECT count(*) FROM recalls") == 1


async def test_counts_outlive_an_outage(
    counted: MemoryService, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tea = (await counted.store(memory("green tea"))).memory
    await found(counted, "tea")

    async def down(self: PostgresRecallLog, counts: object) -> None:
        raise Unavailable("down")

    with monkeypatch.context() as broken:
        broken.setattr(PostgresRecallLog, "add", down)
        with pytest.raises(Unavailable):
            await counted.flush_recalls()
    await counted.flush_recalls()
    assert await counted.recalls(tea) == Recalls(1, clock())
