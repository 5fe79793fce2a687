"""Statements of different times, told in every order: the answers for every time are the same."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from memex.core.lifecycle import Candidate
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import all_listed, found, make_service, orphans, query
from tests.integration.test_remember import real

__all__ = ["real"]

PLACES = [
    ("I live in Lima.", "I live in Quito.", "I live in Cusco."),
    ("我住在成都。", "我住在重庆。", "我住在苏州。"),
    ("福岡に住んでいます。", "札幌に住んでいます。", "広島に住んでいます。"),
]
# Which place is told of which day.
STORIES = [
    ((0, 1), (1, 5), (0, 9)),
    ((0, 1), (0, 3), (1, 5), (0, 9)),
    ((0, 1), (1, 3), (0, 5), (1, 7)),
    ((0, 1), (1, 3), (2, 5), (0, 7)),
]


def day(number: float) -> datetime:
    return datetime(2024, 3, 1, tzinfo=UTC) + timedelta(days=number - 1)


async def tell(service: MemoryService, text: str, *, user_id: str, at: float | None = None) -> Any:
    when = None if at is None else day(at)
    return await service.remember(
        Candidate(user_id=user_id, agent_id="scout", text=text, threshold=1, occurred_at=when)
    )


async def no_live_duplicates(dsn: str) -> None:
    twice = await query(
        dsn,
        """SELECT user_id, content FROM memories WHERE deleted_at IS NULL AND valid_to IS NULL
           GROUP BY user_id, content HAVING count(*) > 1""",
    )
    assert twice == []
    assert set((await orphans(dsn)).values()) == {0}


async def test_every_order_of_telling_leads_to_the_same_answers(
    database: Database, clock: FrozenClock, dsn: str
) -> None:
    told = [(PLACES[0], story) for story in STORIES] + [(places, STORIES[0]) for places in PLACES[1:]]
    await asyncio.gather(*(told_in_orders(make_service(database, clock), *one) for one in told))
    await no_live_duplicates(dsn)


async def told_in_orders(service: MemoryService, places: Sequence[str], story: Sequence[tuple[int, int]]) -> None:
    orders = list(itertools.permutations(story))
    for order in orders[:: 1 if len(orders) < 7 else 7]:  # of the longer ones some
        user = f"ann {places[0]} {order}"
        for place, when in order:
            await tell(service, places[place], user_id=user, at=when)
        assert await all_listed(service, user_id=user) == [places[story[-1][0]]], order
        assert await found(service, places[0], user_id=user) == [places[story[-1][0]]]
        for (place, start), (_, end) in itertools.pairwise([*story, (0, 11)]):
            for at in (float(start), end - 0.5):
                assert await found(service, places[0], user_id=user, as_of=day(at)) == [places[place]], (order, at)
        assert await found(service, places[0], user_id=user, as_of=day(0.5)) == []


async def test_until_the_day_of_what_is_told_of_the_future_the_other_is_current_and_then_it(
    database: Database, clock: FrozenClock
) -> None:
    service, then = make_service(database, clock), clock() + timedelta(days=10)
    told = {f"ann {p[0]} {order}": (p, order) for p in PLACES for order in [(1, 0), (0, 1), (1, 0, 0), (0, 0, 1)]}
    for user, (places, order) in told.items():
        for place in order:
            when, text = then if place == 1 else None, places[place]
            await service.remember(Candidate(user_id=user, agent_id="scout", text=text, threshold=1, occurred_at=when))

    async def all_agree(expected: int) -> None:
        for user, (places, _) in told.items():
            assert await all_listed(service, user_id=user) == [places[expected]]
            assert await service.count(user_id=user) == 1
            times = [(None, expected), (clock(), expected), (then - timedelta(seconds=1), 0), (then, 1)]
            for as_of, place in times:
                assert await found(service, places[0], user_id=user, as_of=as_of) == [places[place]], user

    await all_agree(0)
    clock.now = then
    await all_agree(1)


async def test_what_is_current_until_a_known_day_is_corrected_as_what_is_current(
    database: Database, clock: FrozenClock
) -> None:
    service = make_service(database, clock)
    here, there, other = PLACES[0]
    for order in itertools.permutations([(here, 0), (other, 1), (there, 10)]):
        if order.index((here, 0)) > order.index((other, 1)):
            continue
        user, start = f"ann {order}", clock()
        ids: dict[str, UUID | None] = {}
        for text, days in order:
            when = start + timedelta(days=days) if days == 10 else None
            clock.now = max(clock(), start + timedelta(days=0 if days == 10 else days))
            done = await service.remember(
                Candidate(
                    user_id=user, agent_id="scout", text=text, threshold=1, occurred_at=when,
                    supersedes=ids.get(here) if text == other else None,
                )
            )  # fmt: skip
            ids[text] = done.id
        assert await all_listed(service, user_id=user) == [other], order
        for offset, expected in [(0.0, here), (0.5, here), (1, other), (9, other), (10, there), (40, there)]:
            assert await found(service, here, user_id=user, as_of=start + timedelta(days=offset)) == [expected], order
        clock.now = start + timedelta(days=30)


async def test_that_something_is_so_again_says_no_more_than_that_it_is_so(
    real: MemoryService, clock: FrozenClock
) -> None:
    for home, away, again in [
        ("I live in Lima.", "I live in Quito now.", "I live in Lima again."),
        ("我住在成都。", "我现在住在重庆。", "我又住在成都。"),
        ("福岡に住んでいます。", "今は札幌に住んでいます。", "再び福岡に住んでいます。"),
        ("私は福岡に住んでいます。", "私は今は札幌に住んでいます。", "私はまた福岡に住んでいます。"),
    ]:
        for told in (home, again):
            await tell(real, told, user_id=home)
        assert await all_listed(real, user_id=home) == [home]
        for told, outcome in [(away, "superseded"), (again, "superseded"), (home, "merged"), (again, "merged")]:
            clock.advance(days=1)
            assert (await tell(real, told, user_id=home)).outcome == outcome
        assert await all_listed(real, user_id=home) == [again]


async def test_what_happens_again_has_happened_twice(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock)
    for text in ("The disk of runner 3 was full.", "The disk of runner 3 was full again."):
        event = Candidate(user_id="ann", agent_id="scout", text=text, threshold=1, memory_type="episodic")
        assert (await service.remember(event)).outcome == "stored"
