"""Whether a text makes a claim again that was taken back: in its words, or with the same value of the same matter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from .claims import MAX_COMPARED_CHARS, compared, units_of
from .contradiction import contradicts
from .facts import Fact
from .fold import canonical
from .reading import Statement
from .roles import turned_round
from .text import content_hash
from .wording import DENIES

__all__ = ["reclaims", "reclaims_any"]

# How long it has been so is no part of what is so; and words by which a kind of person or a use is named.
_IDLE = frozenset("year month week dai long time while alreadi still 年 月 周 日 多 久 还 已 者 主 义 使 用".split())
# What joins the others to a sentence, in one wording or another.
_JOINING = frozenset("when where who which what that thing get suffer from".split()) | frozenset(
    canonical("有会让使令对于患症者之类性得")
)
_MOST_CHARS = 100  # a longer text says more than one thing
_LEAST_CHARS = 4  # of words in common
_DOERS = ("er", "or", "ee")  # who does it is another than what is done
_LEAST_STEM, _ENDING = 5, 2  # characters: words that share so many, and differ in no more at their ends, are one word


def reclaims(now: Statement, was: Statement) -> bool:
    """Whether the first makes the claim of the second (again), perhaps among others."""
    if max(len(now.text), len(was.text)) > MAX_COMPARED_CHARS:
        return content_hash(now.text) == content_hash(was.text)
    if compared(now.text, was.text, now.claims, was.claims) in {"equal", "contains"}:
        return True
    if not now.real or now.people != was.people:
        return False
    same = (_same_fact(now, was) or _same_values(now, was)) if now.loose_facts or now.values else False
    return (same or _same_words(now, was)) and contradicts(now, was.text) is None


def reclaims_any(text: str, claims: Sequence[Statement]) -> bool:
    """Whether a text makes one of the claims (again)."""
    told = Statement(text)
    return any(reclaims(told, claim) for claim in claims)


def _same_words(now: Statement, was: Statement) -> bool:
    """Whether both are of the same words in whatever form and order, none is left over, and none has another role."""
    if any(clause.negated for clause in (*now.claims, *was.claims)) or now.ended or turned_round(now.said, was.said):
        return False
    told, claimed = now.units - _JOINING, was.units - _JOINING
    if max(map(len, (now.said, was.said))) > _MOST_CHARS or sum(map(len, claimed)) < _LEAST_CHARS or len(claimed) < 2:
        return False
    return all(_among(unit, claimed) for unit in told) and all(_among(unit, told) for unit in claimed)


def _among(unit: str, units: frozenset[str]) -> bool:
    """Whether a unit is among others: in another form (allergic, allergy), or joined with them or parted (Japanese)."""
    if unit in units:
        return True
    if unit.isascii():
        return any(
            _LEAST_STEM <= _shared(unit, other) >= max(len(unit), len(other)) - _ENDING
            and unit.endswith(_DOERS) is other.endswith(_DOERS)
            for other in units
        )
    left = unit
    for other in sorted((u for u in units if len(u) > 1), key=len, reverse=True):
        if len(unit) > 2 and unit in other:
            return True
        left = left.replace(other, "")
    return not left


def _shared(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _same_fact(now: Statement, was: Statement) -> bool:
    """Whether both have a fact in common, it is not denied, and they tell no different value of one kind."""
    told, claimed = ({(v.kind, v.value) for v in side.values} for side in (now, was))
    if {kind for kind, _ in told - claimed} & {kind for kind, _ in claimed - told}:
        return False
    return any(
        a.predicate == b.predicate and a.subject == b.subject and a.agrees(b) and not _denied(now, a)
        for a in now.loose_facts
        for b in was.loose_facts
    )


def _denied(now: Statement, fact: Fact) -> bool:
    return any(clause.negated and fact.object & units_of([clause]) for clause in now.claims)


def _same_values(now: Statement, was: Statement) -> bool:
    """Whether both tell the same values, of the same, and nothing else."""
    if not now.values or {(v.kind, v.value) for v in now.values} != {(v.kind, v.value) for v in was.values}:
        return False
    rest = now.said
    for value in sorted(now.values, key=lambda v: -v.span[0]):
        rest = f"{rest[: value.span[0]]} {rest[value.span[1] :]}"
    if DENIES.search(rest) or turned_round(now.said, was.said):
        return False
    return now.without(now.values) - _IDLE == was.without(was.values) - _IDLE
