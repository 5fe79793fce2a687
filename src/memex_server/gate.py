"""The gate: what is worth remembering goes in once, takes the place of what it corrects, or stays out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import numpy as np

from memex.core.ending import what_is_wanted
from memex.core.importance import Rating
from memex.core.lifecycle import (
    Candidate,
    Decision,
    Neighbour,
    Outcome,
    Remembered,
    admit,
    merged,
    starts,
    stored_importance,
)
from memex.core.memory import Filters, Memory, MemoryType, NewMemory, as_new, utc
from memex.core.reading import Statement
from memex.core.reclaiming import reclaims, reclaims_any
from memex.core.redact import REDACTED, redact
from memex.core.render import is_rendered
from memex.core.rests import rests
from memex.protocol.errors import NotFound, Unavailable

from .checks import check_candidate, check_new
from .indexing import index_texts
from .lifecycle_ports import Merge, Retraction
from .ports import Candidates, IndexEntry, PreparedMemory, Query
from .release import Releasing
from .worth import rated

__all__ = ["Gate", "holds"]

_NEIGHBOURS = 24  # nearest by cosine; what says the same or is contradicted is among them
_WORDED = 4  # and those with the rarest words in common: a summary of many things is near to none
_MOST_TERMS = 64


@dataclass(frozen=True, slots=True)
class _Judged:
    """An admitted candidate: its text as it would be kept, its rating, who rated it, and why it is too low, if it is.

    What corrects a memory is kept however low it is rated: to leave it out would leave what is untrue.
    """

    text: str
    rating: Rating
    by: str
    too_low: str | None = None


class Gate(Releasing):
    """Remembering."""

    async def remember(self, candidate: Candidate) -> Remembered:
        """Let a candidate pass the gate; the answer says what became of it.

        Raises:
            InvalidInput, NotFound (of `supersedes`), RateLimited, Unavailable.
        """
        check_candidate(candidate)
        await self._limit(f"agent {candidate.agent_id}", "write")
        remembered = await self._remember(candidate)
        self._observer.operation("remember", remembered.outcome.value)
        return remembered

    async def _remember(self, candidate: Candidate) -> Remembered:
        text, nothing = admit(redact(candidate.text)[0])
        if nothing is not None:
            return Remembered(Outcome.SKIPPED, None, 1.0, None, nothing)
        threshold = self._rules.remember_threshold if candidate.threshold is None else candidate.threshold
        judged = await self._judge(text, threshold)
        rating = judged.rating
        if candidate.supersedes is None and rating.value < threshold:
            judged = replace(judged, too_low=f"{rating.reason}: rated {rating.value:g}, below {threshold:g}")
        new = _new_memory(candidate, judged)
        check_new(new, self._clock())
        [index] = await index_texts(self._embedder, [new.content])
        prepared = PreparedMemory(self._ids(self._clock()), new, index)
        if candidate.supersedes is None and (back := await self._retracted(candidate.user_id, new.content)):
            claims = [self._reading(claim.content) for claim in back]
            rest = what_is_wanted(new.content, lambda part: not reclaims_any(part, claims))
            if rest is not None and rest != new.content:
                return await self._remember(replace(candidate, text=rest))  # the claim alone stays out
            reason = f"the claim was retracted ({back[0].memory_id}); retraction can be undone"
            return Remembered(Outcome.SKIPPED, None, rating.value, None, reason, scored_by=judged.by)
        # One after the other for each user: decisions of this process need not be made twice, and two that
        # contradict each other see each other. Other processes are seen by the scope's version. Judging is done
        # by now: nobody waits here for the language model of somebody else.
        async with self._turns.setdefault(candidate.user_id, asyncio.Lock()):
            return await self._decided(prepared, judged, candidate)

    async def _decided(self, prepared: PreparedMemory, judged: _Judged, candidate: Candidate) -> Remembered:
        async def run(version: int, checked: int | None) -> Remembered | None:
            explicit, asked = None, candidate
            if candidate.supersedes is not None:
                explicit = await self._current(candidate.supersedes, candidate.user_id)
                asked = replace(candidate, supersedes=explicit.id)
            near = await self._neighbours(prepared.new, prepared.index, explicit, version)
            return await self._carry_out(prepared, near, judged, asked, checked)

        return await self._settled(candidate.user_id, run)

    async def _judge(self, text: str, threshold: float) -> _Judged:
        ruled = await rated(text, self._embedder, self._worth)
        if self._condenser is None:
            return _Judged(text, ruled, "rules")
        shorter = ""
        try:
            async with asyncio.timeout(self._condenser.deadline_s):
                value = await self._condenser.rate(text)
                if value >= threshold:
                    shorter = (await self._condenser.condense(text)).strip()
        except (Unavailable, TimeoutError) as e:
            self._condenser_down = True
            self._observer.operation("remember", "llm_failed")
            why = str(e) or f"the language model did not answer within {self._condenser.deadline_s:g} s"
            return _Judged(text, replace(ruled, reason=f"{ruled.reason} (by rules: {why})"), "rules")
        self._condenser_down = False
        # A model that answers with a memory block, or with nothing, has not condensed.
        if shorter and not is_rendered(shorter):
            text = redact(shorter)[0]
        return _Judged(text, Rating(value, "rated by the language model"), "llm")

    async def _retracted(self, user_id: str, text: str) -> list[Retraction]:
        """Return the retractions whose claim the text makes again."""
        told = Statement(text)
        retractions = await self._repo.retractions(user_id)
        return [one for one in retractions if reclaims(told, self._reading(one.content))]

    async def _current(self, memory_id: UUID, user_id: str) -> Memory:
        """Return what a candidate corrects: the memory itself, or what has taken its place since. Raises NotFound."""
        memory = last = await self._repo.get(memory_id, user_id=user_id, agent_id=None)
        seen = set()
        now = self._clock()
        while last.superseded_by is not None and last.superseded_by not in seen and not holds(last, now):
            seen.add(last.superseded_by)
            try:
                last = await self._repo.get(last.superseded_by, user_id=user_id, agent_id=None, deleted=True)
            except NotFound:
                break  # it was purged just now
            memory = memory if last.deleted_at else last
        return memory

    async def _neighbours(
        self, new: NewMemory, index: IndexEntry, explicit: Memory | None, version: int
    ) -> list[Neighbour]:
        """Return the memories nearest to a new one that hold when it happened or later, and what these are ended by."""
        at = self._clock() if new.occurred_at is None else utc(new.occurred_at)
        near = {n.memory.id: n for n in await self._nearest(new, index, version, at)}
        if explicit is not None:
            near.setdefault(explicit.id, Neighbour(explicit, 0.0))
        for heir in {n.memory.superseded_by for n in near.values()} - near.keys():
            if heir is None:
                continue
            with contextlib.suppress(NotFound):  # it was deleted: nothing is over by it from then on
                memory = await self._repo.get(heir, user_id=new.user_id, agent_id=None)
                near[memory.id] = Neighbour(memory, 0.0)
        return list(near.values())

    async def _nearest(self, new: NewMemory, index: IndexEntry, version: int, at: datetime) -> list[Neighbour]:
        words = list(dict.fromkeys(term for term, _, _ in index.postings))[:_MOST_TERMS]
        query = Query(
            user_id=new.user_id,
            filters=Filters(agent_id=new.agent_id),
            valid_at=at,
            valid_until=datetime.max.replace(tzinfo=UTC),
            vector=index.vectors[0],
            terms=words,
            repeats=[1] * len(words),
            wanted=_NEIGHBOURS,
            version=version,
        )
        candidates = await self._repo.candidates(query)
        nearest = candidates.cosine.argsort()[::-1][:_NEIGHBOURS]
        order = np.array(list(dict.fromkeys([*nearest.tolist(), *_worded(candidates)])), int)
        ids = [UUID(bytes=bytes(candidates.ids[row])) for row in order]
        passages = candidates.passage[order].tolist()
        found = await self._repo.fetch(query, ids, passages) if ids else {}
        cosines = dict(zip(ids, map(float, candidates.cosine[order]), strict=True))
        near = [Neighbour(found[i].memory, cosines[i]) for i in ids if i in found and cosines[i] == cosines[i]]
        return [n for n in near if n.memory.valid_to is None or starts(n.memory) < n.memory.valid_to]

    async def _carry_out(
        self,
        prepared: PreparedMemory,
        near: Sequence[Neighbour],
        judged: _Judged,
        candidate: Candidate,
        version: int | None,
    ) -> Remembered | None:
        """Decide and write. None if the scope changed meanwhile."""
        new = prepared.new
        now = self._clock()
        at = now if new.occurred_at is None else utc(new.occurred_at)
        event = candidate.occurred_at is not None and new.memory_type is MemoryType.EPISODIC
        decide_on = partial(self._decision, now=now, event=event, similarity=candidate.similarity)
        decision = decide_on(new.content, near, at, supersedes=candidate.supersedes)
        corrects = decision.outcome is Outcome.SUPERSEDED and (decision.until is None or decision.until.at > now)
        if judged.too_low is not None and not corrects:
            return Remembered(Outcome.SKIPPED, None, judged.rating.value, None, judged.too_low, scored_by=judged.by)
        if decision.target is not None:
            return await self._merge(decision, decision.target, prepared, judged, version)
        corrected = [m for m in (*decision.over, *decision.parted) if m.id != candidate.supersedes]
        if await self._taken_apart(corrected, new.agent_id):
            return None  # what a summary told is corrected where it was told
        over = [memory.id for memory in decision.over]
        parted = {memory.id: self._ids(now) for memory in decision.parted}
        told = [replace(prepared, until=decision.until)]
        stays = [
            rest
            for rest in rests(new.content, decision, near, at=at, decide_on=decide_on)
            if rest.of is None or rest.of.id != candidate.supersedes
        ]
        indexes = await index_texts(self._embedder, [rest.content for rest in stays]) if stays else []
        for rest, index in zip(stays, indexes, strict=True):
            old = rest.of
            part = replace(new, content=rest.content)
            if old is not None:
                part = as_new(old, old.occurred_at, content=rest.content)
            told.append(
                PreparedMemory(
                    self._ids(now), part, index, rest.since, rest.until, rest_of=prepared.id if old is None else old.id
                )
            )
        stored = await self._repo.admit(
            told, over, parted=parted, version=version, valid_from=at, reason=decision.reason, now=now
        )
        if stored is None:
            return None
        outcome = decision.outcome if stored.created or over or parted else Outcome.MERGED
        return Remembered(
            outcome,
            stored.memory.id,
            judged.rating.value,
            decision.similarity,
            f"{judged.rating.reason}; {decision.reason}",
            (*over, *(parted[memory.id] for memory in decision.parted if starts(memory) <= at)),
            judged.by,
            stored.memory.superseded_by,
        )

    async def _merge(
        self,
        decision: Decision,
        target: Memory,
        prepared: PreparedMemory,
        judged: _Judged,
        version: int | None,
    ) -> Remembered | None:
        new = prepared.new
        now = self._clock()
        at = now if new.occurred_at is None else utc(new.occurred_at)
        result, sources, told_at = merged(target, new, at)
        changed = result.content != target.content
        memory = await self._repo.merge(
            Merge(target, result, sources, at, told_at, prepared.index if changed else None),
            version=version,
            actor=new.agent_id,
            reason=f"{decision.reason}: {new.content}",
            now=now,
        )
        if memory is None:
            return None
        reason = f"{judged.rating.reason}; {decision.reason}"
        return Remembered(
            Outcome.MERGED,
            memory.id,
            judged.rating.value,
            decision.similarity,
            reason,
            scored_by=judged.by,
            superseded_by=memory.superseded_by,
        )


def _worded(candidates: Candidates) -> list[int]:
    """Return the rows of the candidates with the rarest words in common with what is told."""
    n_terms = len(candidates.df)
    if not n_terms:
        return []
    pairs = np.unique(candidates.post_row * n_terms + candidates.post_term)
    weights = np.log1p(candidates.n_docs / (candidates.df + 0.5))
    held = np.bincount(pairs // n_terms, weights=weights[pairs % n_terms], minlength=len(candidates.ids))
    return [row for row in held.argsort()[::-1][:_WORDED].tolist() if held[row]]


def holds(memory: Memory, now: datetime) -> bool:
    """Whether a memory has not ended."""
    return memory.valid_to is None or memory.valid_to > now


def _new_memory(candidate: Candidate, judged: _Judged) -> NewMemory:
    occurred_at: datetime | None = candidate.occurred_at
    return NewMemory(
        agent_id=candidate.agent_id,
        user_id=candidate.user_id,
        content=judged.text,
        # What was important about a text with a secret was, as a rule, the secret, which is not in it any more.
        importance=stored_importance(min(judged.rating.value, 5.0) if REDACTED in judged.text else judged.rating.value),
        memory_type=MemoryType(candidate.memory_type or MemoryType.SEMANTIC),
        occurred_at=occurred_at,
        tags=candidate.tags,
        source=candidate.source,
        session_id=candidate.session_id,
    )
