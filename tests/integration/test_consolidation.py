"""Consolidation on a real database: nothing is lost, nothing is done twice, everything can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from memex.core.lifecycle import Candidate
from memex.core.memory import MemoryType, Patch
from memex.protocol.errors import Conflict, NotFound, Unavailable
from memex.testing import FrozenClock
from memex_server import consolidation
from memex_server.metrics import Metrics
from memex_server.parts import LifecycleRules
from memex_server.ports import FloatArray, Role
from memex_server.postgres.jobs import backoff_s
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from memex_server.testing import HashingEmbedder
from tests.integration.support import (
    GatedEmbedder,
    all_listed,
    found,
    make_service,
    memory,
    orphans,
    query,
    store_all,
)

RULES = LifecycleRules(summarization_threshold=10, summarization_batch_size=5)
TEXTS = {
    "en": [f"Ann walked to lake number {n} with her brown dog." for n in range(12)],
    "zh": [f"小安带着棕色的狗走到了第{n}个湖边散步。" for n in range(12)],
    "ja": [f"安は茶色の犬と{n}番目の湖まで歩きました。" for n in range(12)],
}


@pytest.fixture
def service(database: Database, clock: FrozenClock) -> MemoryService:
    return make_service(database, clock, rules=RULES)


def candidate(text: str, **fields: Any) -> Candidate:
    return Candidate(user_id="ann", agent_id="scout", text=text, **{"threshold": 1, **fields})


async def fill(service: MemoryService, texts: Sequence[str] = TEXTS["en"], **fields: Any) -> list[Any]:
    made = []
    for text in texts:
        made.append((await service.store(memory(text, **fields))).memory)
    return made


@pytest.mark.parametrize("language", TEXTS)
async def test_the_oldest_become_one_summary_in_their_language(
    service: MemoryService, clock: FrozenClock, dsn: str, language: str
) -> None:
    made = []
    for text in TEXTS[language]:
        clock.advance(seconds=60)
        made.append((await service.store(memory(text))).memory)
    [summary] = await service.consolidate(user_id="ann")
    assert list(summary.sources) == [m.id for m in made[:5]]
    assert set(" ".join(summary.content.split("\n"))) <= set(" ".join(TEXTS[language]))
    assert summary.id is not None
    kept = await service.get(summary.id)
    assert (kept.memory_type, kept.occurred_at) == (MemoryType.SEMANTIC, made[4].occurred_at)
    assert sorted(await all_listed(service)) == sorted([summary.content, *TEXTS[language][5:]])
    assert await service.count(user_id="ann") == 8
    source = await service.get(made[0].id)
    assert source.condensed_into == summary.id
    assert (await service.history(source.id))[-1].action == "condensed"
    assert TEXTS[language][0] not in await found(service, TEXTS[language][0])
    assert set((await orphans(dsn)).values()) == {0}
    assert await service.consolidate(user_id="ann") == []


async def test_a_dry_run_shows_what_the_run_then_writes(service: MemoryService) -> None:
    await fill(service)
    [shown] = await service.consolidate(user_id="ann", dry_run=True)
    assert shown.id is None
    assert len(await all_listed(service)) == 12
    [done] = await service.consolidate(user_id="ann")
    assert (done.content, done.sources) == (shown.content, shown.sources)


async def test_undoing_restores_what_was_and_it_is_not_condensed_again(service: MemoryService, dsn: str) -> None:
    await fill(service)
    before = sorted(await all_listed(service))
    [summary] = await service.consolidate(user_id="ann")
    assert summary.id is not None
    with pytest.raises(NotFound):
        await service.undo_consolidation(summary.id, user_id="bob")
    assert await service.undo_consolidation(summary.id) == list(summary.sources)
    assert sorted(await all_listed(service)) == before
    assert TEXTS["en"][0] in await found(service, TEXTS["en"][0])
    assert await service.consolidate(user_id="ann") == []
    assert set((await orphans(dsn)).values()) == {0}
    with pytest.raises(NotFound):
        await service.undo_consolidation(summary.id)


async def test_what_is_pinned_or_expires_or_is_a_fact_is_left_alone(service: MemoryService, clock: FrozenClock) -> None:
    await fill(service, TEXTS["en"], pinned=True)
    await fill(service, TEXTS["zh"], memory_type=MemoryType.SEMANTIC)
    await fill(service, TEXTS["ja"], expires_at=clock().replace(year=2100))
    assert await service.consolidate(user_id="ann") == []


async def test_scopes_are_condensed_apart(service: MemoryService) -> None:
    for agent in ("a", "b"):
        await fill(service, TEXTS["en"], agent_id=agent)
    await fill(service, TEXTS["en"], user_id="bob", agent_id="a")
    made = await service.consolidate(user_id="ann")
    assert [summary.agent_id for summary in made] == ["a", "b"]
    assert await service.count(user_id="bob") == 12
    assert await service.consolidate_due() == 1
    assert await service.count(user_id="bob") == 8


@pytest.mark.parametrize("how", ["delete", "purge", "patch", "retract"])
async def test_a_condensed_memory_is_taken_out_before_it_is_changed(service: MemoryService, dsn: str, how: str) -> None:
    made = await fill(service)
    [summary] = await service.consolidate(user_id="ann")
    victim = made[2]
    if how == "patch":
        await service.patch(victim.id, Patch(content="Ann stayed at home."))
    elif how == "retract":
        await service.retract(victim.id)
    else:
        await service.delete(victim.id, purge=how == "purge")
    listed = await all_listed(service)
    assert len(listed) == (12 if how == "patch" else 11)
    assert victim.content not in listed
    everything = await query(dsn, "SELECT content FROM memories UNION ALL SELECT content FROM memory_versions")
    if how == "purge":  # nor in what was derived from it
        assert not [row for row in everything if victim.content in row["content"]]
    assert not any(victim.content in text for text in await found(service, victim.content))
    assert set((await orphans(dsn)).values()) == {0}
    assert summary.id is not None
    with pytest.raises(NotFound):
        await service.get(summary.id)


async def test_deleting_a_summary_deletes_what_it_stands_for_and_restoring_brings_both_back(
    service: MemoryService,
) -> None:
    made = await fill(service)
    [summary] = await service.consolidate(user_id="ann")
    assert summary.id is not None
    await service.delete(summary.id)
    assert len(await all_listed(service)) == 7
    with pytest.raises(Conflict):
        await service.restore(made[0].id)
    await service.restore(summary.id)
    assert await service.undo_consolidation(summary.id) == list(summary.sources)
    assert len(await all_listed(service)) == 12


@pytest.mark.parametrize("how", ["deleted", "retracted"])
@pytest.mark.parametrize("what", ["purge", "retract"])
async def test_a_source_can_go_from_a_summary_that_is_gone_and_its_siblings_still_come_back(
    service: MemoryService, dsn: str, how: str, what: str
) -> None:
    await fill(service)
    [summary] = await service.consolidate(user_id="ann")
    assert summary.id is not None
    await (service.delete(summary.id) if how == "deleted" else service.retract(summary.id))
    victim, *siblings = summary.sources
    for refused in (service.patch(victim, Patch(tags=("x",))), service.delete(victim)):
        with pytest.raises(NotFound):
            await refused
    with pytest.raises(NotFound):
        await service.undo_consolidation(summary.id)
    with pytest.raises(Conflict):
        await service.restore(victim)
    await (service.retract(victim) if what == "retract" else service.delete(victim, purge=True))
    with pytest.raises(NotFound):
        await service.restore(summary.id)
    for sibling in siblings:
        if how == "retracted":
            text = (await service.history(sibling))[0].content
            assert (await service.remember(candidate(text))).outcome == "skipped"
            back = await service.undo_retraction(sibling)
        else:
            back = await service.restore(sibling)
        assert back is not None
        assert back.condensed_into is None
    assert len(await all_listed(service)) == 11
    if what == "retract":
        await service.undo_retraction(victim)
        assert sorted(await all_listed(service)) == sorted(TEXTS["en"])
    assert set((await orphans(dsn)).values()) == {0}


async def test_a_summary_expires_with_its_sources(service: MemoryService, clock: FrozenClock) -> None:
    await fill(service)
    [summary] = await service.consolidate(user_id="ann")
    assert summary.id is not None
    await service.patch(summary.id, Patch(expires_at=clock() + timedelta(days=1)))
    clock.advance(days=2)
    await service.tidy(tombstone_days=30)
    await service.retract(summary.sources[0])
    await service.restore(summary.sources[1])
    assert len(await all_listed(service)) == 8


MOVES = {
    "en": ("I live in Ghent.", "I live in Lier now."),
    "zh": ("我住在根特。", "我现在住在利尔。"),
    "ja": ("ヘントに住んでいます。", "今はリールに住んでいます。"),
}


def told_shortly(texts: Sequence[str], **_: Any) -> str:
    """A summary without the claim: the gate meets it in none of the current memories."""
    return f"Walks, {len(texts)} of them."


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
async def test_a_correction_of_what_a_summary_tells_takes_it_apart(
    service: MemoryService, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    was, now = MOVES[language]
    monkeypatch.setattr(consolidation, "summarize", lambda texts, **_: " ".join(texts))
    old, sibling, *_ = await fill(service, [was, *TEXTS[language]])
    clock.advance(days=1)
    [summary] = await service.consolidate(user_id="ann")
    assert summary.id is not None
    clock.advance(days=1)
    new = await service.remember(candidate(now))
    assert new.superseded == (old.id,)
    with pytest.raises(NotFound):
        await service.get(summary.id)
    assert sorted(await all_listed(service)) == sorted([now, *TEXTS[language]])
    await service.delete(sibling.id, purge=True)
    assert sibling.content not in " ".join(await all_listed(service))


@pytest.mark.parametrize(("language", "how"), [("en", "undo"), ("zh", "delete"), ("ja", "patch")])
async def test_what_was_corrected_while_it_was_condensed_comes_back_as_over(
    service: MemoryService, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, language: str, how: str
) -> None:
    was, now = MOVES[language]
    monkeypatch.setattr(consolidation, "summarize", told_shortly)
    old, liked, sibling, *_ = await fill(service, [was, "I live with Bea.", *TEXTS[language]])
    clock.advance(days=1)
    [summary] = await service.consolidate(user_id="ann")
    assert summary.id is not None
    clock.advance(days=1)
    told_at, new = clock(), await service.remember(candidate(now))
    assert new.superseded == ()
    clock.advance(days=1)
    if how == "undo":
        await service.delete(summary.id)
        clock.advance(days=1)
        await service.restore(summary.id)
        await service.undo_consolidation(summary.id, actor="eve")
    elif how == "delete":
        await service.delete(sibling.id, actor="eve")
    else:
        await service.patch(sibling.id, Patch(tags=("x",)), actor="eve")
    over = await service.get(old.id)
    assert (over.superseded_by, over.valid_to, over.condensed_into) == (new.id, told_at, None)
    assert (await service.get(liked.id)).valid_to is None
    last = (await service.history(old.id))[-1]
    assert (last.action, last.actor, str(new.id) in (last.reason or "")) == ("superseded", "eve", True)
    listed = await all_listed(service)
    assert (was in listed, now in listed, len(listed)) == (False, True, 13 if how == "delete" else 14)


@pytest.mark.parametrize(
    ("language", "near"),
    [("en", "Lier now, Lier now {}."), ("zh", "利尔现在利尔{}。"), ("ja", "今日もリールへ、今日もリールへ、{}回。")],
)
async def test_a_summary_that_many_are_nearer_than_is_taken_apart_by_a_correction_of_what_it_tells(
    service: MemoryService, clock: FrozenClock, language: str, near: str
) -> None:
    was, now = MOVES[language]
    old, *_ = await fill(service, [was, *TEXTS[language]])
    [summary, *_] = await service.consolidate(user_id="ann")
    assert was in summary.content
    await fill(service, [near.format(n) for n in range(30)], memory_type=MemoryType.SEMANTIC)
    clock.advance(days=1)
    assert (await service.remember(candidate(now))).superseded == (old.id,)
    assert not any(was in text for text in await all_listed(service))


async def test_what_was_told_of_an_earlier_time_is_over_when_what_came_after_it_is_back(
    service: MemoryService, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    was, now = MOVES["en"]
    monkeypatch.setattr(consolidation, "summarize", told_shortly)
    later, *_ = await fill(service, [now, *TEXTS["en"]])
    [summary] = await service.consolidate(user_id="ann")
    assert summary.id is not None
    clock.advance(days=1)
    earlier = await service.remember(candidate(was, occurred_at=clock() - timedelta(days=9)))
    assert earlier.id is not None
    assert earlier.superseded_by is None
    await service.undo_consolidation(summary.id)
    assert (await service.get(earlier.id)).superseded_by == later.id
    assert was not in await all_listed(service)


async def test_a_retracted_claim_is_not_told_by_a_summary(service: MemoryService) -> None:
    wrong = (await service.store(memory("Ann likes green tea.", memory_type=MemoryType.SEMANTIC))).memory
    await service.retract(wrong.id)
    texts = [f"{text} Ann likes green tea." for text in TEXTS["en"]]
    await fill(service, texts)
    [summary] = await service.consolidate(user_id="ann")
    assert "green tea" not in summary.content


async def test_adding_patching_and_deleting_while_it_runs_loses_nothing(database: Database, clock: FrozenClock) -> None:
    embedder = GatedEmbedder()
    slow = make_service(database, clock, rules=RULES, embedder=embedder)
    service = make_service(database, clock, rules=RULES)
    made = await fill(service)
    embedder.hold()
    running = asyncio.create_task(slow.consolidate(user_id="ann"))
    async with asyncio.timeout(20):
        await embedder.entered.wait()
    await service.store(memory("A new one, meanwhile."))
    clock.advance(seconds=1)
    await service.patch(made[1].id, Patch(content="Ann changed her mind."))
    await service.delete(made[2].id)
    embedder.gate.set()
    assert await running == []  # its batch was changed, so it wrote nothing
    wanted = {"A new one, meanwhile.", "Ann changed her mind.", *TEXTS["en"]} - {TEXTS["en"][1], TEXTS["en"][2]}
    assert set(await all_listed(service)) == wanted
    [again] = await service.consolidate(user_id="ann")
    assert made[1].id in again.sources
    assert (await service.get(made[1].id)).content == "Ann changed her mind."


async def test_two_workers_never_condense_one_batch_twice(database: Database, clock: FrozenClock, dsn: str) -> None:
    workers = [make_service(database, clock, rules=RULES) for _ in range(4)]
    await fill(workers[0], [f"{text} {n}" for n in range(4) for text in TEXTS["en"]])
    await asyncio.gather(*(worker.consolidate(user_id="ann") for worker in workers))
    await workers[0].consolidate(user_id="ann")
    rows = await query(
        dsn,
        """SELECT count(*) AS n FROM memories s WHERE s.condensed_into IS NOT NULL
           AND NOT EXISTS (SELECT FROM memories m WHERE m.id = s.condensed_into AND m.memory_type = 'semantic')""",
    )
    assert rows[0]["n"] == 0
    summaries = await query(dsn, "SELECT id FROM memories WHERE memory_type = 'semantic'")
    condensed = await query(dsn, "SELECT count(*) AS n FROM memories WHERE condensed_into IS NOT NULL")
    assert condensed[0]["n"] == 5 * len(summaries) == 40


async def test_events_that_are_stored_again_after_they_were_condensed_go_into_their_summary(
    service: MemoryService, clock: FrozenClock
) -> None:
    at = clock()
    news = [memory(text, occurred_at=at.replace(minute=n)) for n, text in enumerate(TEXTS["en"])]
    await store_all(service, news)
    [summary] = await service.consolidate(user_id="ann")
    await store_all(service, [news[n] for n in range(12) if TEXTS["en"][n] not in await all_listed(service)])
    [again] = await service.consolidate(user_id="ann")
    assert again.id == summary.id
    assert again.id is not None
    await service.undo_consolidation(again.id)
    assert sorted(await all_listed(service)) == sorted(TEXTS["en"])


async def test_the_same_text_stored_meanwhile_takes_the_place_of_its_source(service: MemoryService, dsn: str) -> None:
    await fill(service)
    [summary] = await service.consolidate(user_id="ann")
    again = await service.store(memory(TEXTS["en"][0]))
    assert again.created
    assert summary.id is not None
    await service.undo_consolidation(summary.id)
    listed = await all_listed(service)
    assert sorted(listed) == sorted(TEXTS["en"])
    assert (await service.get(again.memory.id)).occurrences == 2
    assert set((await orphans(dsn)).values()) == {0}


class BrokenEmbedder(HashingEmbedder):
    """An embedder that is down when told so."""

    down = False

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        if self.down:
            raise Unavailable("the model is down")
        return await super().embed(texts, role)


async def test_a_failing_job_comes_back_later_and_later_and_is_dead_in_the_end(
    database: Database, clock: FrozenClock
) -> None:
    embedder = BrokenEmbedder()
    metrics = Metrics()
    service = make_service(database, clock, rules=RULES, embedder=embedder, upkeep=metrics)
    await fill(service)
    embedder.down = True
    await service.consolidate_due()
    [job] = await service.jobs()
    assert (job.state, job.attempts, job.last_error) == ("pending", 1, "the model is down")
    assert await service.work() == 0  # not before its time
    for attempt in range(1, 6):
        clock.advance(seconds=backoff_s(attempt) + 1)
        assert await service.work() == 1
    [job] = await service.jobs(state="dead")
    assert job.attempts == 6
    clock.advance(seconds=1_000_000)
    assert await service.work() == 0
    embedder.down = False
    await service.retry_job(job.id)
    assert await service.work() == 1
    assert await service.jobs() == []
    assert await service.count(user_id="ann") == 8
    with pytest.raises(NotFound):
        await service.retry_job(job.id)
    shown = metrics.render()[0].decode()
    assert 'memex_consolidation_runs_total{outcome="failed"} 6.0' in shown
    assert 'memex_consolidation_runs_total{outcome="condensed"} 1.0' in shown
    assert "memex_consolidated_memories_total 5.0" in shown
    assert "memex_consolidation_duration_seconds_count 7.0" in shown


async def test_who_is_stopped_while_a_job_is_claimed_or_settled_hands_it_back(
    database: Database, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = make_service(database, clock, rules=RULES)
    for call, left in [("claim", ["pending"]), ("done", [])]:
        await fill(service)
        await service.plan_consolidation()
        ran, release, original = asyncio.Event(), asyncio.Event(), getattr(service._jobs, call)

        async def held(
            *args: Any, ran: Any = ran, release: Any = release, original: Any = original, **given: Any
        ) -> Any:
            result = await original(*args, **given)
            ran.set()  # it is written down, and the answer is on its way
            async with asyncio.timeout(20):
                await release.wait()
            return result

        monkeypatch.setattr(service._jobs, call, held)
        running = asyncio.create_task(service.work())
        async with asyncio.timeout(20):
            await ran.wait()
        running.cancel()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert [job.state for job in await service.jobs()] == left
        monkeypatch.undo()


async def test_a_job_of_a_killed_worker_is_taken_over_and_one_that_is_stopped_hands_it_back(
    database: Database, clock: FrozenClock
) -> None:
    embedder = GatedEmbedder()
    service = make_service(database, clock, rules=RULES, embedder=embedder)
    await fill(service)
    await service.plan_consolidation()
    assert await service.plan_consolidation() == 0  # it is there already
    embedder.hold()
    running = asyncio.create_task(service.work())
    async with asyncio.timeout(20):
        await embedder.entered.wait()
    assert [job.state for job in await service.jobs()] == ["running"]
    assert await make_service(database, clock, rules=RULES).work() == 0
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [(job.state, job.attempts) for job in await service.jobs()] == [("pending", 0)]
    embedder.gate.set()
    # As a killed worker leaves it: claimed, and nobody there.
    assert await service._jobs.claim(["consolidate"], now=clock()) is not None
    assert await service.work() == 0
    clock.advance(seconds=121)
    assert await service.work() == 1
    assert await service.count(user_id="ann") == 8


async def test_many_batches_are_condensed_until_the_scope_is_below_the_threshold(service: MemoryService) -> None:
    await store_all(service, [memory(f"Ann saw bird number {n} in tree {n * 3}.") for n in range(103)])
    made = await service.consolidate(user_id="ann")
    assert len(made) == 19
    assert len(await all_listed(service, memory_type=MemoryType.EPISODIC)) == 8
