"""Forgetting by policy on a real database: told before it is done, with a reason, and restorable."""

from __future__ import annotations

from datetime import timedelta

from memex.core.forgetting import Policy
from memex.core.memory import MemoryType
from memex.testing import FrozenClock
from memex_server.parts import LifecycleRules
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import all_listed, make_service, memory, orphans


async def test_a_dry_run_tells_what_would_go_and_nothing_goes(database: Database, clock: FrozenClock, dsn: str) -> None:
    service = make_service(database, clock)
    old = (await service.store(memory("我们吃了面条。"))).memory
    await service.store(memory("Pinned.", pinned=True))
    await service.store(memory("Important.", importance=1.8))
    clock.advance(days=40)
    await service.store(memory("New."))
    policy = Policy(max_age_days=30)
    told = await service.forget(user_id="ann", policy=policy, dry_run=True)
    assert [(one.memory.id, one.reason) for one in told.fading] == [(old.id, "older than 30 days")]
    assert told.count == 0
    assert len(await all_listed(service)) == 4
    assert (await service.forget(user_id="ann", policy=policy)).count == 1
    assert sorted(await all_listed(service)) == ["Important.", "New.", "Pinned."]
    step = (await service.history(old.id))[-1]
    assert (step.action, step.actor, step.reason) == ("forgotten", "memex:forgetting", "older than 30 days")
    await service.restore(old.id)
    assert len(await all_listed(service)) == 4
    assert set((await orphans(dsn)).values()) == {0}


async def test_a_pinned_memory_goes_when_its_own_time_is_over(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock)
    await service.store(memory("Pinned.", pinned=True, expires_at=clock() + timedelta(days=1)))
    assert (await service.forget(user_id="ann", policy=Policy(max_age_days=0.001))).count == 0
    clock.advance(days=1)
    gone = await service.forget(user_id="ann")
    assert ([one.reason for one in gone.fading], gone.count) == (["it expired"], 1)


async def test_nothing_is_forgotten_unless_it_is_asked_for(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock)
    await service.store(memory("Old."))
    clock.advance(days=10_000)
    assert await service.forget_by_policy() == 0
    assert (await service.forget(user_id="ann")).fading == []


async def test_the_services_policy_goes_over_all_users(database: Database, clock: FrozenClock) -> None:
    service: MemoryService = make_service(database, clock, rules=LifecycleRules(policy=Policy(max_memories=2)))
    for user in ("ann", "bob", "eve"):
        for n in range(3):
            await service.store(memory(f"{user} saw bird {n}", user_id=user))
    assert await service.forget_by_policy() == 3
    assert await service.count(user_id="bob") == 2


async def test_a_forgotten_summary_takes_its_sources_with_it(database: Database, clock: FrozenClock) -> None:
    rules = LifecycleRules(summarization_threshold=4, summarization_batch_size=4)
    service = make_service(database, clock, rules=rules)
    for n in range(5):
        await service.store(memory(f"Ann saw bird number {n} in the garden."))
    [summary] = await service.consolidate(user_id="ann")
    clock.advance(days=40)
    assert (await service.forget(user_id="ann", policy=Policy(max_age_days=30))).count == 2
    assert await all_listed(service) == []
    assert summary.id is not None
    await service.restore(summary.id)
    assert len(await service.undo_consolidation(summary.id)) == 4
    assert len(await all_listed(service, memory_type=MemoryType.EPISODIC)) == 4
