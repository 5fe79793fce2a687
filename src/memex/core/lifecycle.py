"""The decisions about a candidate for memory: keep it, merge it, let it supersede, or leave it.

Pure functions: what is near in meaning comes in with its cosine, the time and the thresholds as arguments.
Importance is in `importance`, what two texts claim in `claims`, what no longer holds in `contradiction`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from .claims import relation
from .ending import end_the_same, of_others, parts_beside, readings, why_over
from .memory import MAX_TAGS, Memory, MemoryType, NewMemory
from .patterns import lazy
from .reading import Statement
from .redact import REDACTED
from .render import is_rendered, without_rendered
from .text import content_hash, term_counts

__all__ = [
    "Candidate",
    "Decision",
    "Ending",
    "Neighbour",
    "Outcome",
    "Remembered",
    "admit",
    "decide",
    "informative",
    "merged",
    "rating_of",
    "starts",
    "stored_importance",
    "told_after",
]

_MOST_SUPERSEDED = 5  # by one statement; more would be a sign of a rule gone wrong
_MOST_TELLINGS = 100  # kept of one memory, beside the latest
_BELOW_FLOOR = 1 / 3  # of the way to `same`: "I joined Ericsson" is less like "I work for Nokia" than a paraphrase is
_IMPORTANCE_PER_RATING = 5.0  # a rating of 5 is the importance of 1.0 that a plain memory has

_MERGED_BECAUSE = {
    "equal": "it says the same",
    "within": "it is part of what is known",
    "contains": "it says what is known, and more",
    "extends": "it says nearly the same",
}
# That something is so again says that it is so.
_AGAIN = lazy(
    r"\A(?:once again|again),? |,? (?:once again|once more|again)\b|"
    r"(?<=[我他她们])(?:又|再次|重新)|\A又|(?:\A|(?<=は))また(?!は)、?|再び",
    re.IGNORECASE,
)


class Outcome(StrEnum):
    """What became of a candidate."""

    STORED = "stored"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What a caller offers for remembering. None: the service's own value.

    `threshold` is on the scale of ratings, 1 to 10; `similarity` a cosine from which two texts may be
    the same; `supersedes` names a memory that this one corrects.
    """

    user_id: str
    text: str
    agent_id: str
    memory_type: str | None = None
    source: str | None = None
    session_id: str | None = None
    occurred_at: datetime | None = None
    tags: tuple[str, ...] = ()
    threshold: float | None = None
    similarity: float | None = None
    supersedes: UUID | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a candidate: the memory that now holds it (None if skipped), its rating and why.

    `superseded_by`: this memory says otherwise of a later time, so it was over when it was told, or will be then.
    """

    outcome: Outcome
    id: UUID | None
    rating: float
    similarity: float | None
    reason: str
    superseded: tuple[UUID, ...] = ()
    scored_by: str = "rules"
    superseded_by: UUID | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near to the candidate that holds when that happened or later, and the cosine between the two."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True)
class Ending:
    """When something ceased to be true, and the memory that says what has been true since."""

    at: datetime
    by: UUID


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do: merge into `target`, or store, let it supersede `over`, and let it end where `until` says.

    What is `parted` was told before and after it: it supersedes that for the time between.
    """

    outcome: Outcome
    reason: str
    similarity: float | None = None
    target: Memory | None = None
    over: tuple[Memory, ...] = ()
    until: Ending | None = None
    parted: tuple[Memory, ...] = ()


def admit(text: str) -> tuple[str, str | None]:
    """Return what of `text` may be remembered, and why nothing may (None if something may).

    What memex rendered itself is taken out: a memory that comes back through a prompt is not news.
    """
    rest = without_rendered(text) if is_rendered(text) else text.strip()
    if not rest:
        return "", "it is what memory itself had shown"
    if not term_counts(rest.replace(REDACTED, ""))[0]:
        return "", "it says nothing that could be found again"
    return rest, None


def rating_of(importance: float) -> float:
    """Return the rating (1 to 10) that a stored importance (0 to 2) stands for."""
    return max(1.0, min(10.0, importance * _IMPORTANCE_PER_RATING))


def stored_importance(rating: float) -> float:
    """Return the importance (0 to 2) under which a memory of this rating is kept."""
    return max(0.0, min(2.0, rating / _IMPORTANCE_PER_RATING))


def decide(
    text: str,
    neighbours: Sequence[Neighbour],
    *,
    floor: float,
    same: float,
    at: datetime,
    now: datetime,
    event: bool = False,
    supersedes: UUID | None = None,
) -> Decision:
    """Return what to do with an admitted text, given the memories around it.

    From the cosine `floor` on two texts may be about the same, and their words decide; from `same` on
    a few words more or less do not matter. What ends a fact may be put in quite other words, so a
    contradiction is looked for from a little below `floor` on, and one of the same fact whatever the cosine.
    `at` is when the candidate happened: what was told of a later time is never superseded by it from then on, and
    ends it. An `event` is the same as another only if both happened at one time.
    """
    nearest = max((n.similarity for n in neighbours), default=None)
    near_first = sorted(
        (n for n in neighbours if n.memory.id == supersedes or not of_others(text, n.memory.content)),
        key=lambda n: -n.similarity,
    )
    statement, *alone = readings(text)
    explicit = next((n for n in near_first if n.memory.id == supersedes), None)
    if explicit is not None and content_hash(text) == content_hash(explicit.memory.content):
        return Decision(Outcome.MERGED, "it is what it would supersede", explicit.similarity, explicit.memory)
    over, reason = ([], "") if explicit is None else ([explicit.memory], "the caller says so")
    endings: list[Ending] = []
    parted: list[Memory] = []
    for near in near_first:
        memory = near.memory
        if near is explicit:
            continue
        alike = near.similarity >= floor - _BELOW_FLOOR * (same - floor)
        since = told_after(memory, at)
        if since is not None and why_over(readings(memory.content), text, alike=alike):
            endings.append(Ending(since, memory.id))
        if since is not None and _first_told(memory) > at:
            continue
        why = why_over([statement, *alone], memory.content, alike=alike)
        if why and len(over) + len(parted) < _MOST_SUPERSEDED:
            (over if since is None else parted).append(memory)
            reason = reason or why
    # What it ends may have been ended already, later: the candidate stands between the two.
    live = {n.memory.id: n.memory.content for n in neighbours if n.memory not in over}
    endings += [
        Ending(m.valid_to, m.superseded_by)
        for m in over
        if m.valid_to and m.valid_to > at and m.superseded_by in live
        if end_the_same(text, live[m.superseded_by], m.content)
        and relation(text, live[m.superseded_by], near=False) != "contains"
    ]
    if over or parted:  # what ends later says the same from then on
        endings += [
            Ending(starts(n.memory), n.memory.id)
            for n in near_first
            if n.memory.valid_to and starts(n.memory) > at and content_hash(text) == content_hash(n.memory.content)
        ]
    until = min(endings, key=lambda ending: (ending.at, ending.by), default=None)
    if over or parted:
        return Decision(Outcome.SUPERSEDED, reason, nearest, over=tuple(over), until=until, parted=tuple(parted))
    told = [n for n in near_first if n.similarity >= floor and not (event and n.memory.occurred_at != at)]
    known = _known(statement, told, same=same, at=at, until=until)
    if known is not None:
        return known
    if until is not None:
        when = until.at.isoformat(timespec="seconds")
        reason = f"it {'was' if until.at <= now else 'will be'} over by {when}: {until.by} says otherwise since"
        return Decision(Outcome.STORED, reason, nearest, until=until)
    return Decision(Outcome.STORED, "it is new", nearest)


def _known(
    statement: Statement, near: Sequence[Neighbour], *, same: float, at: datetime, until: Ending | None
) -> Decision | None:
    """Return the merging into what says the same, unless the contrary is known to hold (`until`) before that begins."""
    for one in sorted(near, key=lambda n: (starts(n.memory) > at, n.memory.valid_to is None)):
        if until is not None and starts(one.memory) >= until.at:
            continue
        text, known = statement.text, one.memory.content
        if one.memory.memory_type is not MemoryType.EPISODIC:  # what happens again is something else
            text, known = _AGAIN.sub("", text), _AGAIN.sub("", known)
        how = relation(text, known, near=one.similarity >= same)
        # What more it says may be over when the rest is not, or may not have been true as long.
        lasts = one.memory.valid_to is None and until is None and _first_told(one.memory) == starts(one.memory)
        if how == "contains" and (statement.ended or not lasts):
            continue
        if how == "within" and starts(one.memory) > at and parts_beside(text, known):
            # Of the time before nothing is told of the rest of it.
            ending = Ending(starts(one.memory), one.memory.id)
            return Decision(Outcome.STORED, "it is part of what is known since", one.similarity, until=ending)
        if how in _MERGED_BECAUSE:
            return Decision(Outcome.MERGED, _MERGED_BECAUSE[how], one.similarity, one.memory)
    return None


def starts(memory: Memory) -> datetime:
    """Return since when a memory is known to hold."""
    return memory.valid_from or memory.told[0]


def told_after(memory: Memory, at: datetime) -> datetime | None:
    """Return since when a memory is known to hold after a time; None if it was not told of any time after it."""
    told = next((t for t in memory.told if t > at), None)
    return told if told is None or memory.valid_from is None else max(told, memory.valid_from)


def _first_told(memory: Memory) -> datetime:
    """Return when a memory was first told, of a rest of another one also as a part of that."""
    since = starts(memory)
    return since if since in memory.told else min(since, memory.told[0])


def informative(new: str, old: str) -> str:
    """Return the text that tells more: the one with more different terms; of equals the old one."""
    told = [len(term_counts(_AGAIN.sub("", text))[0]) for text in (new, old)]
    return new if told[0] > told[1] else old


def merged(old: Memory, new: NewMemory, at: datetime) -> tuple[NewMemory, tuple[str, ...], tuple[datetime, ...]]:
    """Return `old` as it is after `new`, told of `at`, was merged into it, its sources and when it was told.

    The more informative text, the union of tags and metadata (the old one's values), the higher
    importance, the latest event time; the time of making is the old one's, as its row stays.
    An event is where it was when it is told of again without a time.
    """
    tags = [*old.tags, *(tag for tag in new.tags if tag not in old.tags)][:MAX_TAGS]
    sources = [*old.sources, *([new.source] if new.source and new.source not in old.sources else [])]
    stays = new.occurred_at is None and old.memory_type is MemoryType.EPISODIC
    part = parts_beside(new.content, old.content) and relation(new.content, old.content, near=False) == "within"
    told = {*old.told} if stays or part else {*old.told, at}  # who tells a part says nothing of the rest
    expiries = (old.expires_at, new.expires_at)
    result = replace(
        new,
        agent_id=old.agent_id,
        user_id=old.user_id,
        content=informative(new.content, old.content),
        importance=max(old.importance, new.importance),
        memory_type=old.memory_type,
        occurred_at=old.occurred_at if stays else max(old.occurred_at, at),
        tags=tuple(tags),
        metadata={**new.metadata, **old.metadata},
        source=old.source or new.source,
        session_id=old.session_id or new.session_id,
        expires_at=None if None in expiries else max(e for e in expiries if e is not None),
        pinned=old.pinned or new.pinned,
    )
    return result, tuple(sources), tuple(sorted(told))[:_MOST_TELLINGS]
