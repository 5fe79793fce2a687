"""Corrections in time: told in any order, of what was corrected already, and brought back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memex.core.memory import MemoryType
from memex.protocol.errors import Conflict
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import all_listed, found, make_service, memory, orphans
from tests.integration.test_remember import real, say

__all__ = ["real"]


@pytest.mark.parametrize(
    "told",
    [
        ("I live in Toronto.", "I live in Rome.", "I live in Oslo."),
        ("我住在成都。", "我住在重庆。", "我住在苏州。"),
        ("福岡に住んでいます。", "札幌に住んでいます。", "広島に住んでいます。"),
    ],
)
async def test_in_whatever_order_it_is_told_each_is_true_in_its_time_and_the_last_is_current(
    real: MemoryService, dsn: str, told: tuple[str, str, str]
) -> None:
    times = [datetime(2024, month, 1, tzinfo=UTC) for month in (1, 4, 7)]
    for order in [(2, 1, 0), (0, 2, 1), (1, 0, 2)]:
        user, ids = f"ann {order}", dict[int, Any]()
        for n in (*order, order[0], order[-1]):  # two of them are told again, which changes nothing
            answer = await say(real, told[n], user_id=user, occurred_at=times[n])
            assert ids.setdefault(n, answer.id) == answer.id
            assert (answer.superseded_by is None) == (n == max(ids)), answer.reason
        assert await all_listed(real, user_id=user) == [told[2]]
        kept = [await real.get(ids[n]) for n in range(3)]
        assert [(m.valid_to, m.superseded_by) for m in kept] == [(times[1], ids[1]), (times[2], ids[2]), (None, None)]
        for n, at in enumerate(times):
            assert await found(real, told[0], user_id=user, as_of=at) == [told[n]]
        assert (await real.history(ids[0]))[-1].action in {"superseded", "merged"}
    assert set((await orphans(dsn)).values()) == {0}


async def test_of_what_was_over_when_it_was_told_the_other_statements_are_current(
    real: MemoryService, clock: FrozenClock
) -> None:
    for later, earlier, stays in [
        ("I live in Madrid now.", "I live in Porto. My sister Inês is a judge.", "My sister Inês is a judge."),
        ("我现在住在大连。", "我住在青岛。我妹妹叫李静，是法官。", "我妹妹叫李静，是法官。"),
        ("今は広島に住んでいます。", "福岡に住んでいます。妹の名前は恵です。", "妹の名前は恵です。"),
    ]:
        await say(real, later, user_id=stays)
        answer = await say(real, earlier, user_id=stays, occurred_at=clock() - timedelta(days=400))
        assert (answer.outcome, answer.superseded_by is None) == ("stored", False)
        assert sorted(await all_listed(real, user_id=stays)) == sorted([later, stays])


async def test_an_event_of_another_time_is_another_event(real: MemoryService) -> None:
    days = [datetime(2024, 5, day, tzinfo=UTC) for day in (1, 2)]
    for user, text in [("en", "I ran a marathon."), ("zh", "我跑了一次马拉松。"), ("ja", "マラソンを走りました。")]:
        event = {"user_id": user, "memory_type": "episodic", "threshold": 1}
        told = [await say(real, text, **event, occurred_at=day) for day in (*days, *days)]
        assert [one.outcome for one in told] == ["stored", "stored", "merged", "merged"]
        assert [one.id for one in told[:2]] == [one.id for one in told[2:]]
        fact = await say(real, text, threshold=1, user_id=user)
        assert (fact.outcome, await real.count(user_id=user)) == ("merged", 2)


async def test_what_corrects_something_that_is_over_takes_the_place_of_its_successor(real: MemoryService) -> None:
    texts = [f"The garage code is {code}." for code in (2291, 2292, 2293, 2294)]
    first = await say(real, texts[0], threshold=1)
    for text in texts[1:]:
        assert (await say(real, text, threshold=1, supersedes=first.id)).outcome == "superseded"
    assert await all_listed(real) == texts[-1:]


async def test_only_a_retraction_is_undone_as_one(real: MemoryService) -> None:
    first = await say(real, "I like green tea.")
    assert first.id is not None
    with pytest.raises(Conflict, match="not retracted; it is there"):
        await real.undo_retraction(first.id)
    await real.delete(first.id)
    with pytest.raises(Conflict, match="not retracted; it was deleted: restore it"):
        await real.undo_retraction(first.id)
    await real.retract(first.id)
    await real.undo_retraction(first.id)
    with pytest.raises(Conflict, match="not retracted"):
        await real.undo_retraction(first.id)


async def chain(database: Database, clock: FrozenClock) -> tuple[MemoryService, list[UUID]]:
    """Three memories, each superseded by the next."""
    service, ids = make_service(database, clock), list[UUID]()
    for text in ("I live in Tampere.", "I live in Turku now.", "I live in Oulu now."):
        answer = await say(service, text)
        assert answer.id is not None
        ids.append(answer.id)
        clock.advance(days=1)
    return service, ids


async def test_what_a_purged_memory_had_superseded_is_superseded_by_its_successor(
    database: Database, clock: FrozenClock
) -> None:
    service, (first, second, third) = await chain(database, clock)
    ended = (await service.get(first)).valid_to
    receipt = await service.delete(second, purge=True, actor="eraser")
    assert receipt is not None
    assert receipt.purged_by == "eraser"
    old = await service.get(first)
    assert (old.superseded_by, old.valid_to) == (third, ended)
    step = (await service.history(first))[-1]
    assert (step.action, step.actor, step.reason) == (
        "superseded", "eraser", "what it was superseded by was purged"
    )  # fmt: skip
    with pytest.raises(Conflict, match=str(third)):
        await service.restore(first)
    assert await all_listed(service) == ["I live in Oulu now."]


@pytest.mark.parametrize("how", ["purge", "delete", "expire"])
async def test_what_is_over_can_be_restored_once_its_successor_is_gone(
    database: Database, clock: FrozenClock, how: str
) -> None:
    service, (first, second, third) = await chain(database, clock)
    await service.retract(third)  # the second is current again
    with pytest.raises(Conflict, match=str(second)) as refused:
        await service.restore(first)
    assert refused.value.existing_id == str(second)
    await service.delete(second, purge=how == "purge")
    if how == "expire":
        clock.advance(days=31)
        await service.tidy(tombstone_days=30)
    assert await all_listed(service) == []  # it is no truer than before
    over = await service.get(first)
    assert (over.superseded_by is None) == (how != "delete")
    assert over.valid_to is not None
    back = await service.restore(first, actor="ann")
    assert (back.valid_to, back.superseded_by) == (None, None)
    assert await all_listed(service) == ["I live in Tampere."] == await found(service, "where do I live")
    assert [(v.action, v.actor) for v in await service.history(first)][-1] == ("restored", "ann")
    if how == "delete":
        with pytest.raises(Conflict, match=str(first)):
            await service.restore(second)
    await service.retract(first)
    assert (await say(service, "I live in Vaasa.")).outcome == "stored"


async def test_a_text_is_stored_again_when_it_is_over_without_a_successor(
    database: Database, clock: FrozenClock
) -> None:
    service, ids = await chain(database, clock)
    for memory_id in ids[1:]:
        await service.delete(memory_id, purge=True)
    again = await service.store(memory("I live in Tampere.", memory_type=MemoryType.SEMANTIC))
    assert (again.created, await all_listed(service)) == (True, ["I live in Tampere."])
    with pytest.raises(Conflict, match=str(again.memory.id)):
        await service.restore(ids[0])


@pytest.mark.parametrize("purge", [False, True])
async def test_what_is_withdrawn_before_its_day_ends_nothing(
    database: Database, clock: FrozenClock, purge: bool
) -> None:
    service, days = make_service(database, clock), [clock() + timedelta(days=n) for n in (10, 20)]
    ids = list[Any]()
    for place, at in [("Tampere", None), ("Turku", days[0]), ("Oulu", days[1])]:
        ids.append((await say(service, f"I live in {place}.", occurred_at=at)).id)
    for memory_id, expected in zip(ids[1:], [(ids[2], days[1]), (None, None)], strict=True):
        await service.delete(memory_id, purge=purge)
        left = await service.get(ids[0])
        assert (left.superseded_by, left.valid_to) == expected
    clock.advance(days=40)
    assert await all_listed(service) == ["I live in Tampere."]


async def test_a_retracted_memory_is_brought_back_by_undoing_the_retraction_alone(
    database: Database, clock: FrozenClock
) -> None:
    service, ids = await chain(database, clock)
    await service.retract(ids[2])
    with pytest.raises(Conflict, match="was retracted, not just deleted: undo the retraction") as refused:
        await service.restore(ids[2])
    assert refused.value.existing_id == str(ids[2])
    await service.undo_retraction(ids[2])
    assert await all_listed(service) == ["I live in Oulu now."]


@pytest.mark.parametrize("how", ["delete", "retract"])
async def test_a_correction_does_not_come_back_after_what_says_otherwise_since(
    real: MemoryService, clock: FrozenClock, how: str
) -> None:
    for old, new in [
        ("I live in Oslo.", "I live in Bergen now."),
        ("我住在北京", "我现在住在上海"),
        ("東京に住んでいます", "今は札幌に住んでいます"),
    ]:
        told = [(await say(real, text, user_id=new)).id for text in (old, new)]
        correction = told[1]
        assert correction is not None
        await (real.delete if how == "delete" else real.retract)(correction)
        clock.advance(days=1)
        again = await say(real, old, user_id=new, occurred_at=clock())
        with pytest.raises(Conflict, match=str(again.id)) as refused:
            await (real.restore if how == "delete" else real.undo_retraction)(correction)
        assert refused.value.existing_id == str(again.id)
        assert await all_listed(real, user_id=new) == [old]


@pytest.mark.parametrize("how", ["delete", "retract"])
async def test_of_two_that_contradict_each_other_one_comes_back_in_whatever_order(
    real: MemoryService, clock: FrozenClock, how: str
) -> None:
    take, bring = (real.delete, real.restore) if how == "delete" else (real.retract, real.undo_retraction)
    texts = ("I live in Tampere.", "I live in Turku now.")
    for order in [(0, 1), (1, 0), None]:
        user, ids = f"ann {order}", list[Any]()
        for text in texts:
            ids.append((await say(real, text, user_id=user)).id)
            clock.advance(days=1)
            await take(ids[-1])
        tries = [bring(memory_id) for memory_id in ids]
        if order is None:
            done = await asyncio.gather(*tries, return_exceptions=True)
        else:
            done = [None, None]
            done[order[0]] = await tries[order[0]]
            with pytest.raises(Conflict) as refused:
                await tries[order[1]]
            done[order[1]] = refused.value
        [(there, error)] = [(ids[1 - n], one) for n, one in enumerate(done) if isinstance(one, Conflict)]
        assert error.existing_id == str(there)
        assert [len(await all_listed(real, user_id=user)), (await real.get(there)).deleted_at] == [1, None]


async def test_of_two_retracted_corrections_of_one_memory_one_comes_back(
    real: MemoryService, clock: FrozenClock
) -> None:
    first = await say(real, "I live in Tampere.")
    assert first.id is not None
    ids: list[Any] = []
    for text in ("I live in Turku now.", "I live in Oulu now."):
        clock.advance(days=1)
        answer = await say(real, text)
        assert answer.outcome == "superseded"
        assert answer.id is not None
        ids.append(answer.id)
        await real.retract(answer.id)
    await real.undo_retraction(ids[0])
    with pytest.raises(Conflict, match=str(ids[0])):
        await real.undo_retraction(ids[1])
    assert await all_listed(real) == ["I live in Turku now."]
    await real.retract(ids[0], actor="memex-cli")
    step = (await real.history(first.id))[-1]
    assert (step.action, step.actor) == ("reinstated", "memex-cli")
    await real.undo_retraction(ids[1])
    assert await all_listed(real) == ["I live in Oulu now."]


async def told(service: MemoryService, text: str, user_id: str = "ann") -> UUID:
    """Say something that is kept; return the memory that holds it."""
    done = await say(service, text, user_id=user_id, threshold=1)
    assert done.id is not None
    return done.id


TWO_FACTS = [
    ("I live in Lier and my vet is Dr. Sims.", "My vet is Dr. Osei now.", "I moved to Bruges.",
     "My vet is Dr. Sims.", "I live in Lier."),
    ("我住在常州，我的牙医是韩医生。", "我的牙医现在是李医生。", "我搬到无锡了。", "我的牙医是韩医生。", "我住在常州。"),
    ("上司は大野さんです。歯医者は本田先生です。", "歯医者は今は森先生です。", "上司は今は菊地さんです。",
     "歯医者は本田先生です。", "上司は大野さんです。"),
]  # fmt: skip


@pytest.mark.parametrize("texts", TWO_FACTS)
async def test_of_what_a_retracted_correction_had_ended_only_what_nothing_else_ended_comes_back(
    real: MemoryService, clock: FrozenClock, texts: tuple[str, str, str, str, str]
) -> None:
    both, vet, home, old_vet, old_home = texts

    async def all_told(user: str, *texts: str) -> list[Any]:
        ids = []
        for text in texts:
            clock.advance(days=1)
            ids.append((await say(real, text, user_id=user, threshold=1)).id)
        return ids

    async def current(user: str) -> set[str]:
        listed = await all_listed(real, user_id=user)
        assert len(set(listed)) == len(listed)
        return set(listed)

    _, first, second = await all_told("vet first", both, vet, home)
    await real.retract(first)
    assert await current("vet first") == {home, old_vet}
    await real.undo_retraction(first)
    assert await current("vet first") == {home, vet}
    await real.retract(second)
    assert await current("vet first") == {vet, old_home}

    _, first, second = await all_told("home first", both, home, vet)
    await real.retract(first)
    assert await current("home first") == {vet, old_home}

    whole, correction = await all_told("whole", both, home)
    assert await current("whole") == {home, old_vet}
    rest = next(m for m in (await real.list(user_id="whole")).memories if m.content == old_vet)
    assert (await real.history(rest.id))[0].reason == f"the rest of {whole}"
    await real.retract(correction)
    assert await current("whole") == {both}
    await real.undo_retraction(correction)
    assert await current("whole") == {home, old_vet}
    await real.retract(rest.id)
    await real.retract(correction)
    assert await current("whole") == {old_home}

    await all_told("again", both, home, both, home.replace("Bruges", "Ghent"))
    assert old_vet in await current("again")


async def test_of_several_facts_only_the_one_whose_claim_was_retracted_stays_out(
    real: MemoryService, clock: FrozenClock
) -> None:
    for boss, allergy in [
        ("My boss is Ann.", "I am allergic to penicillin."),
        ("我的老板是安娜。", "我对青霉素过敏。"),
        ("上司は大野さんです。", "ペニシリンのアレルギーがあります。"),
    ]:
        await real.retract(await told(real, boss, boss))
        assert (await say(real, boss, user_id=boss, threshold=1)).outcome == "skipped"
        await say(real, f"{allergy} {boss}", user_id=boss, threshold=1)
        assert [text.strip() for text in await all_listed(real, user_id=boss)] == [allergy]


async def test_corrections_of_one_chain_are_undone_one_after_the_other(real: MemoryService, clock: FrozenClock) -> None:
    ids = []
    for town in ("Oslo", "Rome", "Bern"):
        clock.advance(days=20)
        ids.append(await told(real, f"I live in {town}."))
    await real.retract(ids[1])
    await real.retract(ids[2])
    assert await all_listed(real) == ["I live in Oslo."]
    await real.undo_retraction(ids[1])
    await real.undo_retraction(ids[2])
    assert await all_listed(real) == ["I live in Bern."]


@pytest.mark.parametrize("texts", TWO_FACTS)
async def test_what_had_stayed_of_a_whole_ends_when_that_is_restored(
    real: MemoryService, clock: FrozenClock, texts: tuple[str, str, str, str, str]
) -> None:
    both, vet, *_ = texts
    whole = await told(real, both)
    clock.advance(days=1)
    correction = await told(real, vet)
    assert len(await all_listed(real)) == 2
    await real.delete(correction)
    clock.advance(days=1)
    await real.restore(whole)
    assert await all_listed(real) == [both]


async def test_what_stayed_of_an_earlier_correction_is_corrected_by_itself(
    real: MemoryService, clock: FrozenClock
) -> None:
    for day, text in [
        (10, "My landlord is Ms. Tanner now and my yoga class is on Sunday."),
        (90, "My landlord is now Mr. Sousa."),
        (30, "My landlord is Mrs. Reis."),
        (60, "My yoga class is on Monday."),
    ]:
        await say(real, text, threshold=1, occurred_at=clock() - timedelta(days=200 - day))
    assert sorted(await all_listed(real)) == ["My landlord is now Mr. Sousa.", "My yoga class is on Monday."]


async def test_what_stays_of_a_memory_and_of_its_rest_is_one(real: MemoryService, clock: FrozenClock) -> None:
    for day, text in [
        (10, "我的新老板是刘洋，我的牙医是吴医生，我的房东现在是钱先生。"),
        (90, "我的牙医是陈医生。"),
        (30, "我的牙医现在是李医生，我的新老板是王强。"),
    ]:
        await say(real, text, threshold=1, occurred_at=clock() - timedelta(days=200 - day))
    assert sorted(await all_listed(real)) == sorted(
        ["我的新老板是王强。", "我的牙医是陈医生。", "我的房东现在是钱先生。"]
    )
