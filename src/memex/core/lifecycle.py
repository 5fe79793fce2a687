"""The decisions about a candidate for memory: keep it, merge it, let it supersede, or leave it.

Pure functions: what is near in meaning comes in with its cosine, the time and the thresholds as arguments.
Importance is in `importance`, what two texts claim in `claims`, what no longer holds in `contradiction`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from .claims import relation
from .contradiction import Statement, contradicts
from .memory import MAX_TAGS, Memory, MemoryType, NewMemory
from .parts import parts_of, rejoined
from .passages import sentences
from .redact import REDACTED
from .render import is_rendered, without_rendered
from .small_talk import without_small_talk
from .text import content_hash, term_counts
from .traits import ROLES, read_turn

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
    "what_returns",
    "what_stays",
]

_MOST_SUPERSEDED = 5  # by one statement; more would be a sign of a rule gone wrong
_MOST_TELLINGS = 100  # kept of one memory, beside the latest
_BELOW_FLOOR = 1 / 3  # of the way to `same`: "I joined Ericsson" is less like "I work for Nokia" than a paraphrase is
_MOST_ALONE = 4  # sentences of a new text that are looked at one by one
_MOST_PARTS = 8  # statements of an old one; a longer text tells a story
_IMPORTANCE_PER_RATING = 5.0  # a rating of 5 is the importance of 1.0 that a plain memory has

_MERGED_BECAUSE = {
    "equal": "it says the same",
    "within": "it is part of what is known",
    "contains": "it says what is known, and more",
    "extends": "it says nearly the same",
}
# That something is so again says that it is so.
_AGAIN = re.compile(
    r"\A(?:once again|again),? |,? (?:once again|once more|again)\b|"
    r"(?<=[我他她们])(?:又|再次|重新)|\A又|(?:\A|(?<=は))また(?!は)、?|再び",
    re.IGNORECASE,
)
# Who speaks of himself says so; a Japanese sentence without a topic is about its speaker.
_OF_SELF = re.compile(
    r"\b(?:i|i'm|my|me|mine|myself)\b|我|咱|私|僕|俺|わたし|ぼく|自分|저는|나는|\A(?=.*[\u3041-\u309f])(?!.*は)",
    re.IGNORECASE | re.DOTALL,
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
        (n for n in neighbours if n.memory.id == supersedes or not _of_others(text, n.memory.content)),
        key=lambda n: -n.similarity,
    )
    statement, *alone = _readings(text)
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
        since = _told_after(memory, at)
        if since is not None and _why_over(_readings(memory.content), text, alike=alike):
            endings.append(Ending(since, memory.id))
        if since is not None and starts(memory) > at:
            continue
        why = _why_over([statement, *alone], memory.content, alike=alike)
        if why and len(over) + len(parted) < _MOST_SUPERSEDED:
            (over if since is None else parted).append(memory)
            reason = reason or why
    # What it ends may have been ended already, later: the candidate stands between the two.
    live = {n.memory.id for n in neighbours}
    endings += [
        Ending(m.valid_to, m.superseded_by) for m in over if m.valid_to and m.superseded_by in live and m.valid_to > at
    ]
    until = min(endings, key=lambda ending: (ending.at, ending.by), default=None)
    if over or parted:
        return Decision(Outcome.SUPERSEDED, reason, nearest, over=tuple(over), until=until, parted=tuple(parted))
    told = [n for n in near_first if n.similarity >= floor and not (event and n.memory.occurred_at != at)]
    known = _known(statement, told, same=same, at=at, until=until, now=now)
    if known is not None:
        return known
    if until is not None:
        when = until.at.isoformat(timespec="seconds")
        reason = f"it {'was' if until.at <= now else 'will be'} over by {when}: {until.by} says otherwise since"
        return Decision(Outcome.STORED, reason, nearest, until=until)
    return Decision(Outcome.STORED, "it is new", nearest)


def _known(
    statement: Statement, near: Sequence[Neighbour], *, same: float, at: datetime, until: Ending | None, now: datetime
) -> Decision | None:
    """Return the merging into what says the same, unless the contrary is known to hold (`until`) before that begins."""
    for one in sorted(near, key=lambda n: (starts(n.memory) > at, n.memory.valid_to is None)):
        if until is not None and starts(one.memory) >= until.at:
            continue
        ended = one.memory.valid_to is not None and one.memory.valid_to <= now
        text, known = statement.text, one.memory.content
        if one.memory.memory_type is not MemoryType.EPISODIC:  # what happens again is something else
            text, known = _AGAIN.sub("", text), _AGAIN.sub("", known)
        how = relation(text, known, near=one.similarity >= same)
        if how == "contains" and (statement.ended or ended):
            continue
        if how in _MERGED_BECAUSE:
            return Decision(Outcome.MERGED, _MERGED_BECAUSE[how], one.similarity, one.memory)
    return None


def starts(memory: Memory) -> datetime:
    """Return since when a memory is known to hold."""
    return memory.valid_from or min((memory.occurred_at, *memory.told_at))


def _told_after(memory: Memory, at: datetime) -> datetime | None:
    """Return since when a memory is known to hold after a time; None if it was not told of any time after it."""
    if memory.valid_from is not None and memory.valid_from > at:
        return memory.valid_from
    return min((t for t in memory.tellings if t > at), default=None)


def _readings(text: str) -> list[Statement]:
    """Return a text as a statement, and its sentences as others, if each may be taken by itself."""
    whole = Statement(text)
    alone = [Statement(sentence) for sentence in sentences(read_turn(whole.text).said)[: _MOST_ALONE + 1]]
    if not 1 < len(alone) <= _MOST_ALONE or whole.adds or any(one.people for one in alone):
        return [whole]
    return [whole, *(one for one in alone if one.real)]


def _why_over(readings: Sequence[Statement], old: str, *, alike: bool) -> str | None:
    """Return why an old text, or one of the statements that it joins, is no longer true."""
    parts = parts_of(read_turn(old).said)
    olds = [old, *(rejoined([(0, part)]) for part in parts if 1 < len(parts) <= _MOST_PARTS)]
    return next((why for one in olds if (why := _why_part(readings, one, alike=alike))), None)


def _why_part(readings: Sequence[Statement], old: str, *, alike: bool = True) -> str | None:
    return next((why for one in readings if (why := contradicts(one, old, alike=alike))), None)


def _of_others(one: str, other: str) -> bool:
    """Whether two turns are of two people of whom one at least speaks of himself: what is true of each stays."""
    turns = [read_turn(one), read_turn(other)]
    speakers = {turn.speaker.casefold() for turn in turns if turn.speaker}
    return len(speakers - ROLES) > 1 and any(_OF_SELF.search(turn.said) for turn in turns)


def what_stays(new: str, old: str) -> str | None:
    """Return the statements of `old` that `new` does not end, as one text; None if it ends all, or none by itself."""
    readings = _readings(new)
    stays = _those(old, lambda part: _why_part(readings, part) is None)
    return None if stays == old else stays


def what_returns(gone: str, old: str, against: Sequence[str], retracted: Callable[[str], bool]) -> str | None:
    """Return the statements of `old` that `gone` had ended, which nothing in `against` ends and none is `retracted`.

    It is the whole of `old` if `gone` had ended no statement of it by itself.
    """
    ended, others = _readings(gone), [_readings(text) for text in against]
    had = _those(old, lambda part: _why_part(ended, part) is not None)
    return _those(
        old if had is None else had,
        lambda part: not retracted(part) and not any(_why_part(other, part) for other in others),
    )


def _those(text: str, wanted: Callable[[str], bool]) -> str | None:
    """Return the statements of a text that are wanted, as one text: itself if all are, None if none is."""
    turn = read_turn(text)
    parts = parts_of(without_small_talk(turn.said) or turn.said)
    those = [(place, part) for place, part in enumerate(parts) if wanted(rejoined([(0, part)]))]
    if len(those) == len(parts):
        return text
    return ("" if turn.speaker is None else f"{turn.speaker}: ") + rejoined(those) if those else None


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
    told_at = sorted({*old.tellings, old.occurred_at} | (set() if stays else {at}))
    expiries = (old.expires_at, new.expires_at)
    result = replace(
        new,
        agent_id=old.agent_id,
        user_id=old.user_id,
        content=informative(new.content, old.content),
        importance=max(old.importance, new.importance),
        memory_type=old.memory_type,
        occurred_at=told_at[-1],
        tags=tuple(tags),
        metadata={**new.metadata, **old.metadata},
        source=old.source or new.source,
        session_id=old.session_id or new.session_id,
        expires_at=None if None in expiries else max(e for e in expiries if e is not None),
        pinned=old.pinned or new.pinned,
    )
    return result, tuple(sources), tuple(told_at[:_MOST_TELLINGS])
