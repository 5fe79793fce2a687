"""Whether a text makes a claim again that was taken back: in its words, or with the same value of the same matter."""

from __future__ import annotations

from .claims import MAX_COMPARED_CHARS, compared, units_of
from .contradiction import contradicts
from .facts import Fact
from .reading import Statement
from .text import content_hash
from .wording import DENIES

__all__ = ["reclaims"]

# How long it has been so is no part of what is so; and words by which a kind of person or a use is named.
_IDLE = frozenset("year month week dai long time while alreadi still 年 月 周 日 多 久 还 已 者 主 义 使 用".split())


def reclaims(now: Statement, was: Statement) -> bool:
    """Whether the first makes the claim of the second (again), perhaps among others."""
    if max(len(now.text), len(was.text)) > MAX_COMPARED_CHARS:
        return content_hash(now.text) == content_hash(was.text)
    if compared(now.text, was.text, now.claims, was.claims) in {"equal", "contains"}:
        return True
    if not (now.loose_facts or now.values) or not now.real or now.people != was.people:
        return False
    return (_same_fact(now, was) or _same_values(now, was)) and contradicts(now, was.text) is None


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
    if DENIES.search(rest):
        return False
    return now.without(now.values) - _IDLE == was.without(was.values) - _IDLE
