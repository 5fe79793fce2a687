"""Consolidation: the oldest events of a crowded scope become one summary; `release` takes it apart."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memex.core.memory import Memory, MemoryType, NewMemory
from memex.core.passages import sentences
from memex.core.reclaiming import reclaims_any
from memex.core.summarize import summarize
from memex.protocol.errors import MemexError

from .checks import check_scope
from .indexing import index_texts
from .lifecycle_ports import Job, Scope
from .parts import Parts
from .ports import PreparedMemory

__all__ = ["CONSOLIDATE", "Consolidation", "Summary"]

CONSOLIDATE = "consolidate"
_SOURCE = "memex:consolidation"
_MOST_BATCHES = 200  # of one scope when somebody asks for it


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary and what it is made of; `id` None if it was only tried."""

    id: UUID | None
    agent_id: str
    content: str
    sources: Sequence[UUID]


class Consolidation(Parts):
    """Condensing, and the jobs that do it beside requests."""

    async def consolidate(self, *, user_id: str, agent_id: str | None = None, dry_run: bool = False) -> list[Summary]:
        """Condense what is over the threshold in a user's scopes now; with `dry_run` only show the next batch of each.

        Raises:
            InvalidInput, Unavailable.
        """
        check_scope(user_id, agent_id)
        agents = [agent_id] if agent_id is not None else await self._repo.condensable_agents(user_id)
        made: list[Summary] = []
        for agent in agents:
            if dry_run:
                if await self._repo.condensable_count(user_id, agent) > self._rules.summarization_threshold:
                    summary, _ = await self._draft(user_id, agent)
                    made += [summary] if summary is not None else []
            else:
                made += await self._consolidate_scope(Scope(user_id, agent, 0))
        return made

    # -- jobs ----------------------------------------------------------------------------------

    async def consolidate_due(self) -> int:
        """Plan and carry out what is due now; return how many jobs were carried out. Raises Unavailable."""
        await self.plan_consolidation()
        return await self.work()

    async def plan_consolidation(self) -> int:
        """Add a job for each crowded scope; return how many are new. Raises Unavailable."""
        added = 0
        for scope in await self._repo.crowded(self._rules.summarization_threshold):
            payload = {"user_id": scope.user_id, "agent_id": scope.agent_id}
            key = f"{len(scope.user_id)}:{scope.user_id}{scope.agent_id}"
            added += await self._jobs.enqueue(CONSOLIDATE, key, payload, now=self._clock())
        return added

    async def work(self, *, limit: int = 100) -> int:
        """Carry out up to `limit` due jobs; return how many. A failed one comes back later. Raises Unavailable.

        Each condenses one batch of its scope: what came in a burst stays word for word a while longer.
        """
        for done in range(limit):
            started = time.perf_counter()
            job = await self._claimed()
            if job is None:
                return done
            try:
                await self._carry_out_job(job)
            except BaseException:
                await self._jobs.hand_back(job, now=self._clock())
                raise
            # As long a rest as the work took: whoever searches meanwhile has at least half of the machine.
            await asyncio.sleep(time.perf_counter() - started)
        return limit

    async def _claimed(self) -> Job | None:
        """Claim a job. Who is stopped meanwhile hands it back: it may be written down that it runs."""
        claiming = asyncio.ensure_future(self._jobs.claim([CONSOLIDATE], now=self._clock()))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            job = await claiming
            if job is not None:
                await self._jobs.hand_back(job, now=self._clock())
            raise

    async def _carry_out_job(self, job: Job) -> None:
        try:
            await self._consolidate_scope(Scope(job.payload["user_id"], job.payload["agent_id"], 0), most=1)
        except MemexError as e:
            state = await self._jobs.failed(job, str(e), now=self._clock())
        else:
            state = "done"
            await self._jobs.done(job)
        self._observer.operation("job", state)

    async def jobs(self, *, state: str | None = None, limit: int = 100) -> Sequence[Job]:
        """Return jobs that wait, run or have failed for good, oldest first. Raises Unavailable."""
        return await self._jobs.jobs(state, limit)

    async def retry_job(self, job_id: UUID) -> Job:
        """Let a dead job be tried again. Raises NotFound, Unavailable."""
        return await self._jobs.revive(job_id, now=self._clock())

    # -- one scope -----------------------------------------------------------------------------

    async def _consolidate_scope(self, scope: Scope, *, most: int = _MOST_BATCHES) -> list[Summary]:
        made: list[Summary] = []
        for _ in range(most):
            started = time.perf_counter()
            count = await self._repo.condensable_count(scope.user_id, scope.agent_id)
            if count <= self._rules.summarization_threshold:
                break
            try:
                summary = await self._condense_next(scope)
            except MemexError:
                self._report("failed", 0, started)
                raise
            if summary is None:
                self._report("skipped", 0, started)
                break
            self._report("condensed", len(summary.sources), started)
            made.append(summary)
        return made

    async def _condense_next(self, scope: Scope) -> Summary | None:
        draft, sources = await self._draft(scope.user_id, scope.agent_id)
        if draft is None:
            return None
        new = NewMemory(
            agent_id=scope.agent_id,
            user_id=scope.user_id,
            content=draft.content,
            importance=max(memory.importance for memory in sources),
            memory_type=MemoryType.SEMANTIC,
            occurred_at=sources[-1].occurred_at,
            tags=tuple(dict.fromkeys(tag for memory in sources for tag in memory.tags))[:100],
            metadata=_span(sources),
            source=_SOURCE,
        )
        [index] = await index_texts(self._embedder, [new.content])
        now = self._clock()
        stored = await self._repo.condense(sources, PreparedMemory(self._ids(now), new, index), now=now)
        return None if stored is None else Summary(stored.id, scope.agent_id, stored.content, draft.sources)

    async def _draft(self, user_id: str, agent_id: str) -> tuple[Summary | None, Sequence[Memory]]:
        sources = await self._repo.oldest(user_id, agent_id, self._rules.summarization_batch_size)
        if len(sources) < 2:
            return None, sources
        texts = [memory.content for memory in sources]
        retracted = [self._reading(retraction.content) for retraction in await self._repo.retractions(user_id)]
        # A retracted claim stays where somebody told it, but a summary does not tell it again.
        without = [
            sentence
            for text in (texts if retracted else [])
            for sentence in sentences(text)
            if reclaims_any(sentence, retracted)
        ]
        content = summarize(texts, without=without)
        # Of batches in which nothing tells anything ("ok", "yes") something stands for them nevertheless.
        content = content or f"{len(sources)} short messages: {' / '.join(dict.fromkeys(texts))}"[:1000]
        return Summary(None, agent_id, content, [memory.id for memory in sources]), sources

    def _report(self, outcome: str, memories: int, started: float) -> None:
        if self._upkeep is not None:
            self._upkeep.consolidated(outcome, memories, time.perf_counter() - started)


def _span(sources: Sequence[Memory]) -> dict[str, Any]:
    return {
        "condensed": len(sources),
        "from": sources[0].occurred_at.isoformat(),
        "to": sources[-1].occurred_at.isoformat(),
    }
