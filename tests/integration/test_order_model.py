"""Random series of telling, deleting, bringing back and taking back: at no time two statements hold that exclude each other."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memex.core.lifecycle import Candidate
from memex.core.memory import MemoryType
from memex.protocol.errors import Conflict, NotFound
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import all_listed, make_service, memory, query

PLACES = [
    ("I live in Ghent.", "I live in Antwerp.", "I live in Bruges."),
    ("我住在苏州。", "我住在无锡。", "我住在常州。"),
    ("上司は大野さんです。", "上司は菊地さんです。", "上司は沼田さんです。"),
]
# Two facts with two values each, told one by one or both in one sentence.
PAIRS = [
    (
        ("Ghent", "Antwerp"),
        ("Aster", "Birch"),
        "I live in {}.",
        "My boss is Dr. {}.",
        "I live in {} and my boss is Dr. {}.",
    ),
    (("苏州", "无锡"), ("陈", "何"), "我住在{}。", "我的牙医是{}医生。", "我住在{}，我的牙医是{}医生。"),
    (
        ("大野", "菊地"),
        ("本田", "沼田"),
        "上司は{}さんです。",
        "歯医者は{}先生です。",
        "上司は{}さんで、歯医者は{}先生です。",
    ),
]
DAYS = [None, None, None, -300, -250, -200, -150, -100, -50, 20, 40]
TAKING = ["delete", "delete", "purge", "retract", "retract", "restore", "undo", "undo"]
Step = tuple[str, int, int | None]


def series(number: int) -> list[Step]:
    """Some steps: what is told (which text, of which day), or what is done to which of the steps before."""
    r = random.Random(number)
    steps: list[Step] = []
    for _ in range(r.randrange(4, 9)):
        told = [n for n, (op, *_) in enumerate(steps) if op == "tell"]
        if len(told) < 2 or r.random() < 0.55:
            steps.append(("tell", r.randrange(3), r.choice(DAYS)))
        else:
            steps.append((r.choice(TAKING), r.choice(told), None))
    return steps


async def carry_out(service: MemoryService, clock: FrozenClock, user: str, texts: Sequence[str], steps: Any) -> None:
    ids: dict[int, UUID] = {}
    calls: dict[str, Any] = {"delete": service.delete, "retract": service.retract, "restore": service.restore,
             "undo": service.undo_retraction}  # fmt: skip
    for n, (op, which, days) in enumerate(steps):
        if op == "tell":
            when = None if days is None else clock() + timedelta(days=days)
            told = Candidate(user_id=user, agent_id="scout", text=texts[which], threshold=1, occurred_at=when)
            done = await service.remember(told)
            if done.id is not None:
                ids[n] = done.id
        elif which in ids:
            with contextlib.suppress(NotFound, Conflict):
                await (service.delete(ids[which], purge=True) if op == "purge" else calls[op](ids[which]))


def wrong(rows: Sequence[Any], now: datetime) -> list[str]:
    """What is wrong with the memories of one user: two of one text, or two contrary ones, at one time."""

    def since(row: Any) -> datetime:
        told: datetime = row["valid_from"] or min([row["occurred_at"], *row["told_at"]])
        return told

    found = []
    for n, one in enumerate(rows):
        for other in rows[n + 1 :]:
            begin = max(since(one), since(other))
            ends = [row["valid_to"] for row in (one, other) if row["valid_to"] is not None]
            if begin < min(ends, default=datetime.max.replace(tzinfo=now.tzinfo)):
                found.append(f"{one['content']} and {other['content']} from {begin:%Y-%m-%d} on")
    return found


async def all_right(service: MemoryService, clock: FrozenClock, dsn: str, numbers: Sequence[int]) -> list[Any]:
    """Return the series after which something was wrong, with what."""
    bad = []
    for part in (numbers[i : i + 20] for i in range(0, len(numbers), 20)):
        users = {f"ann {n}": n for n in part}
        await asyncio.gather(*(carry_out(service, clock, u, PLACES[n % 3], series(n)) for u, n in users.items()))
        rows = await query(
            dsn,
            "SELECT * FROM memories WHERE deleted_at IS NULL AND condensed_into IS NULL AND user_id = ANY ($1) ORDER BY id",
            list(users),
        )
        for user, n in users.items():
            faults = wrong([row for row in rows if row["user_id"] == user], clock())
            bad += [(n, series(n), faults)] if faults else []
    return bad


async def test_whatever_was_deleted_or_taken_back_between_each_statement_finds_its_place(
    database: Database, clock: FrozenClock, dsn: str
) -> None:
    assert await all_right(make_service(database, clock), clock, dsn, range(60)) == []


def told_facts(number: int) -> list[tuple[int, tuple[str | None, str | None], str]]:
    """Days in order, which values of two facts are told then, and in which words."""
    r = random.Random(number)
    places, persons, of_place, of_person, of_both = PAIRS[number % 3]
    told = []
    for day in sorted(r.sample([-300, -250, -200, -150, -100, -50, 0, 20, 40], r.randrange(3, 6))):
        place, person = r.choice(places), r.choice(persons)
        told.append(
            r.choice([
                (day, (place, None), of_place.format(place)),
                (day, (None, person), of_person.format(person)),
                (day, (place, person), of_both.format(place, person)),
            ])
        )  # fmt: skip
    return told


async def test_of_two_facts_told_as_time_goes_on_the_latest_values_are_what_is_found(
    database: Database, clock: FrozenClock, dsn: str
) -> None:
    service = make_service(database, clock)

    async def tell(number: int) -> None:
        for day, _, text in told_facts(number):
            when = clock() + timedelta(days=day)
            told = Candidate(user_id=f"ann {number}", agent_id="scout", text=text, threshold=1, occurred_at=when)
            await service.remember(told)

    await asyncio.gather(*map(tell, range(60)))
    rows = await query(dsn, "SELECT * FROM memories WHERE deleted_at IS NULL AND condensed_into IS NULL")
    for number in range(60):
        told, last = told_facts(number), clock() + timedelta(days=41)
        latest = {next((values[k] for _, values, _ in reversed(told) if values[k]), None) for k in (0, 1)}
        current = [
            row["content"]
            for row in rows
            if row["user_id"] == f"ann {number}"
            and (row["valid_from"] or last) <= last
            and (row["valid_to"] is None or row["valid_to"] > last)
        ]
        found = {value for values in PAIRS[number % 3][:2] for value in values if any(value in c for c in current)}
        assert found == latest - {None}, (told, current)
        assert len(set(current)) == len(current), (told, current)


async def test_what_is_there_again_is_not_brought_back_beside_it_and_an_event_of_another_day_is(
    database: Database, clock: FrozenClock
) -> None:
    service = make_service(database, clock)
    for texts in PLACES:

        async def tell(days: int, text: str = texts[0], kind: str | None = None) -> UUID:
            told = Candidate(
                user_id=f"{text} {kind}", agent_id="scout", text=text, threshold=1, memory_type=kind,
                occurred_at=clock() + timedelta(days=days),
            )  # fmt: skip
            done = await service.remember(told)
            assert done.id is not None
            return done.id

        first = await tell(-200)
        await service.delete(first)
        second = await tell(-50)
        with pytest.raises(Conflict, match=str(second)):
            await service.restore(first)
        await service.retract(first)
        with pytest.raises(Conflict, match=str(second)):
            await service.undo_retraction(first)
        assert await service.count(user_id=f"{texts[0]} None") == 1
        events = [await tell(days, texts[0], "episodic") for days in (-30, -20)]
        await service.delete(events[0])
        await service.restore(events[0])
        assert await service.count(user_id=f"{texts[0]} episodic") == 2


async def test_a_pinned_memory_is_superseded_as_any_other(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock)
    for old, new, _ in PLACES:
        pinned = await service.store(memory(old, user_id=old, memory_type=MemoryType.SEMANTIC, pinned=True))
        done = await service.remember(Candidate(user_id=old, agent_id="scout", text=new, threshold=1))
        assert (done.outcome, done.superseded) == ("superseded", (pinned.memory.id,))
        assert await all_listed(service, user_id=old) == [new]
