"""Any interleaving of storing, remembering, changing, deleting, retracting, condensing and forgetting keeps the invariants."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memex.core.forgetting import Policy
from memex.core.lifecycle import Candidate
from memex.core.memory import MemoryType, Patch
from memex.protocol.errors import Conflict, NotFound
from memex.testing import FrozenClock
from memex_server.parts import LifecycleRules
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import Template, make_service, memory, opened, query
from tests.integration.test_deletes_model import Background

TEXTS = [
    "I live in Toronto.", "I live in Oslo now.", "I like green tea.", "I really like green tea!", "I no longer like tea.",
    "我喜欢健身", "我喜欢普洱茶", "我不喜欢普洱茶", "東京に住んでいます。", "今は大阪に住んでいます。", "The order is 4711.",
]  # fmt: skip
RULES = LifecycleRules(summarization_threshold=4, summarization_batch_size=3)
OPS = ["store", "store", "remember", "remember", "patch", "delete", "purge", "restore", "retract", "unretract",
       "consolidate", "undo", "forget"]  # fmt: skip
_NUMBERS = itertools.count()

steps = st.lists(st.tuples(st.sampled_from(OPS), st.sampled_from(TEXTS), st.integers(0, 30)), min_size=6, max_size=24)


class Story:
    """One series of operations of one user, each of which may be refused but never breaks anything."""

    def __init__(self, service: MemoryService, user: str) -> None:
        self.service = service
        self.user = user
        self.ids: list[UUID] = []

    async def step(self, op: str, text: str, number: int) -> None:
        if op in {"store", "remember", "consolidate", "forget"}:
            with contextlib.suppress(NotFound):  # what a candidate would supersede
                await getattr(self, op)(text, number)
        elif self.ids:
            with contextlib.suppress(NotFound, Conflict):
                await self.by_id(op, self.ids[number % len(self.ids)], text)

    async def store(self, text: str, number: int) -> None:
        kind = MemoryType.SEMANTIC if number % 3 == 0 else MemoryType.EPISODIC
        new = memory(f"{text} {number % 9}" if number % 2 else text, user_id=self.user, memory_type=kind)
        self.ids.append((await self.service.store(new)).memory.id)

    async def remember(self, text: str, number: int) -> None:
        kind = "episodic" if number % 2 else "semantic"
        then = FrozenClock().now + timedelta(days=number - 20) if number % 3 == 0 else None  # the future too
        done = await self.service.remember(
            Candidate(
                user_id=self.user, agent_id="scout", text=text, memory_type=kind, threshold=1, occurred_at=then,
                supersedes=self.ids[number % len(self.ids)] if self.ids and number % 7 == 6 else None,
            )
        )  # fmt: skip
        assert (done.id is None) == (done.outcome == "skipped")
        self.ids += [done.id] if done.id is not None else []

    async def consolidate(self, text: str, number: int) -> None:
        made = await self.service.consolidate(user_id=self.user)
        self.ids += [summary.id for summary in made if summary.id is not None]

    async def forget(self, text: str, number: int) -> None:
        policy = Policy(max_memories=6, importance_floor=3)
        await self.service.forget(user_id=self.user, policy=policy, dry_run=number % 4 != 0)

    async def by_id(self, op: str, memory_id: UUID, text: str) -> None:
        calls: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
            "patch": lambda: self.service.patch(memory_id, Patch(content=text)),
            "delete": lambda: self.service.delete(memory_id),
            "purge": lambda: self.service.delete(memory_id, purge=True),
            "restore": lambda: self.service.restore(memory_id),
            "retract": lambda: self.service.retract(memory_id),
            "unretract": lambda: self.service.undo_retraction(memory_id),
            "undo": lambda: self.undo(memory_id),
        }
        await calls[op]()

    async def undo(self, memory_id: UUID) -> None:
        before = await self.listed() - {memory_id}
        back = await self.service.undo_consolidation(memory_id)
        after = await self.listed()
        # What is not current again was corrected meanwhile, or was stored again.
        gone = [await self.service.history(one) for one in {*before, *back} - after]
        assert {versions[-1].action for versions in gone} <= {"superseded", "deleted"}
        assert after <= {*before, *back}

    async def listed(self) -> set[UUID]:
        return {one.id for one in (await self.service.list(user_id=self.user, limit=200)).memories}


async def check(service: MemoryService, dsn: str, user: str) -> None:
    """The invariants, seen from the tables."""
    rows = await query(dsn, "SELECT * FROM memories WHERE user_id = $1", user)
    by_id = {row["id"]: row for row in rows}
    now = FrozenClock().now
    kept = [r for r in rows if not (r["deleted_at"] or r["condensed_into"])]
    lasting = [row["same_key"] for row in kept if row["valid_to"] is None]
    assert len(set(lasting)) == len(lasting), "a live duplicate"
    current = [r for r in kept if (r["valid_from"] or now) <= now and (r["valid_to"] is None or r["valid_to"] > now)]
    assert await service.count(user_id=user) == len(current)
    listed = await service.list(user_id=user, limit=200)
    assert {m.id for m in listed.memories} == {row["id"] for row in current}
    for row in rows:
        if row["condensed_into"] is not None:
            summary = by_id[row["condensed_into"]]  # it is there
            assert summary["condensed_into"] is None
            assert (summary["deleted_at"] is None) == (row["deleted_at"] is None), "archived under a tombstone"
        if row["superseded_by"] is not None:
            assert row["valid_to"] is not None
            assert row["valid_from"] is None or row["valid_from"] <= row["valid_to"]
            assert row["superseded_by"] != row["id"]
            assert row["superseded_by"] in by_id, "superseded by what is gone"
    indexed = {row["memory_id"] for row in await query(dsn, "SELECT DISTINCT memory_id FROM memory_vectors")}
    findable = {r["id"] for r in rows if not (r["deleted_at"] or r["condensed_into"])}
    assert indexed & set(by_id) == findable
    gaps = await query(
        dsn,
        """SELECT memory_id FROM memory_versions v JOIN memories m ON m.id = v.memory_id AND m.user_id = $1
           GROUP BY memory_id HAVING max(version) <> count(*)""",
        user,
    )
    assert gaps == []


@pytest.mark.timeout(300)
def test_any_series_keeps_the_invariants(dsn: str, template: Template) -> None:
    background = Background()

    async def prepare(stack: contextlib.AsyncExitStack) -> MemoryService:
        database: Database = await stack.enter_async_context(opened(dsn, template.facts))
        return make_service(database, FrozenClock(), rules=RULES)

    stack = contextlib.AsyncExitStack()
    try:
        service = background.wait(prepare(stack))

        @settings(
            max_examples=25, deadline=None, derandomize=True, database=None, phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(steps)
        def tell(series: list[tuple[str, str, int]]) -> None:
            async def run() -> None:
                story = Story(service, f"ann {next(_NUMBERS)}")
                for op, text, number in series:
                    await story.step(op, text, number)
                await check(service, dsn, story.user)

            background.wait(run())

        @settings(max_examples=8, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
                  suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(st.lists(steps, min_size=3, max_size=4))
        def tell_at_once(many: list[list[tuple[str, str, int]]]) -> None:
            async def run() -> None:
                story = Story(service, f"bob {next(_NUMBERS)}")

                async def one(series: list[tuple[str, str, int]]) -> None:
                    for op, text, number in series:
                        if op != "undo":  # it compares counts, which others change here
                            await story.step(op, text, number)

                await asyncio.gather(*map(one, many))
                await check(service, dsn, story.user)

            background.wait(run())

        tell()
        tell_at_once()
    finally:
        background.wait(stack.aclose())
        background.close()
