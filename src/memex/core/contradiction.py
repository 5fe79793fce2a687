"""When a new statement makes an old one untrue: by rules for English, Chinese and Japanese.

The signs: the same words with the other sign; a fact with one object at a time, with another object; another
value of a kind of which one holds at a time; a thing that is said to be over; the same matter, said to have changed.
"""

from __future__ import annotations

import re

from .apart import of_another
from .claims import MAX_COMPARED_CHARS, Relation, compared, units
from .dimensions import Rule, Value
from .facts import CHANGED, STATES, USED_FOR, Fact
from .fold import canonical
from .frames import both_hold, refilled
from .kinds import about_answers, named
from .patterns import lazy
from .reading import Statement
from .states import unlike
from .subject import GENERIC
from .wording import (
    BECOMES,
    COUNTS,
    DOING_WORDS,
    DOINGS,
    EVENT,
    GRADUATED,
    HAPPENED,
    IS,
    LIKED,
    NEWNESS,
    ON_A_DAY,
    QUALIFIERS,
    TURNED,
    WHEN,
)

__all__ = ["Statement", "contradicts"]

_LEAST_BESIDE = 4.0  # words: a text that says no more beside the thing that is over is about that thing
_LEAST_OVERLAP = 0.33  # of a plain correction ("actually, ...") with what it corrects


# A name and its version; parts of a series (phase 1, phase 2) are different things.
_VERSION = lazy(
    r"(?<![\w.])(?!(?:node(?! ?(?:1[2-9]|2\d)\b)|sprint|week|day|number|no|pr|level|line|page|port|at|on|in|to|of|by|is|the|under|over|about|after|before|"
    r"until|from|for|and|or|age|aged|within|every|about|around|than|only|least|most|per|size|"
    r"jan|january|feb|february|mar|march|apr|april|may|june|july|aug|august|sept?|september|oct|october|nov|november|"
    r"dec|december)\b)"
    r"([a-z][a-z+#.-]*)(?: ?(?:was |were )?(?:升级到了?|更新到了?|upgraded to|updated to|"
    r"moved to))? ?v?(\d+(?:\.\d+)*)(?![\w.]*\w)",
    re.ASCII,
)

# Things of which there are many have numbers (door 1, locker 8); a product, written as a name, has
# versions, and somebody has a number of something.
_PROPER = lazy(r"(?<![A-Za-z])(?<!^)(?<![.!?\n] )[A-Za-z]*[A-Z][A-Za-z+#.-]*")
_NAME_AT_END = lazy(r" [A-Z][\w'-]*\W*(?: now\W*)?$")
_PRODUCTS = frozenset({"node", "version", "release", "jdk", "has", "have"})


def contradicts(new: str | Statement, old: str | Statement, *, alike: bool = True) -> str | None:
    """Return why `old` is no longer true if `new` is, or None.

    Both are about like matters (by their cosine); if not `alike`, only another object of one fact tells.
    """
    now, was = (side if isinstance(side, Statement) else Statement(side) for side in (new, old))
    same = _same_facts(now, was)
    if (not same and not alike) or _labelled_otherwise(now, was) or of_another(now.said, was.said):
        return None  # door 1 is not door 2, whatever is said of them
    if _on_days(now, was, same):
        return None
    if not alike:
        return _another_object(now, same)
    if max(len(now.text), len(was.text)) > MAX_COMPARED_CHARS:
        related: Relation = "other"
    else:
        related = compared(now.text, was.text, now.claims, was.claims)
    if related == "negates":
        return "it says the opposite"
    if related == "equal":
        return None
    if why := _another_object(now, same):
        return why
    if _another_version(now, was):
        return "another version of the same"
    denied = any(clause.negated for clause in now.claims) and not any(clause.negated for clause in was.claims)
    if (now.words != was.words or denied) and _ends(now, was):  # the same words in other roles end nothing
        return "it is said to be over"
    if kind := _other_value(now, was):
        return f"another {kind}"
    # Who is told of has to be the same where both texts say it, and what is told of him something else.
    apart = any(a.predicate == b.predicate and (a.subject != b.subject or a.object == b.object) for a, b in same)
    if related != "other" or apart or both_hold(now.said, was.said):
        return None
    return _told_otherwise(now, was) or _refilled(now, was)


def _on_days(now: Statement, was: Statement, same: list[tuple[Fact, Fact]]) -> bool:
    """Whether both tell what was so on a day, and not since: each has its day, unless one corrects the other."""
    if now.corrects or any(fact.predicate != "is" for fact, _ in same):
        return False
    return ON_A_DAY.search(was.short) is not None and ON_A_DAY.search(now.short) is not None


def _labelled_otherwise(now: Statement, was: Statement) -> bool:
    kinds = {kind for kind, _ in now.labels} & {kind for kind, _ in was.labels}
    return any(not {name for name in now.labels & was.labels if name[0] == kind} for kind in kinds)


def _refilled(now: Statement, was: Statement) -> str | None:
    """Return that something else stands in one place of the old text now, if it does."""
    if now.adds or was.adds or not now.real or not was.real or now.people != was.people or EVENT.search(was.short):
        return None
    if any(clause.negated for clause in (*now.claims, *was.claims)):
        return None
    named = all(_NAME_AT_END.search(side.text) for side in (now, was))
    return "it is something else now" if refilled(now.said, was.said, named=named) else None


def _told_otherwise(now: Statement, was: Statement) -> str | None:
    """Return why the new text, which says that it corrects or that something changed, is about what the old one is."""
    if not (now.corrects or now.changes) or now.adds or not now.real:
        return None
    if (
        now.corrects
        and _overlap(now.units - DOING_WORDS, was.units - DOING_WORDS) >= _LEAST_OVERLAP
        and _of_the_same(now, was)
    ):
        return "it is corrected"
    if now.changes and (_done_otherwise(now, was) or _other_of_its_kind(now, was)):
        return "it is done otherwise now"
    return None


def _same_facts(now: Statement, was: Statement) -> list[tuple[Fact, Fact]]:
    """Return the pairs of facts of both texts with one predicate."""
    return [
        (fact, other)
        for fact in now.facts
        for other in was.facts
        if fact.predicate == other.predicate
        or (CHANGED in {fact.predicate, other.predicate} and {fact.predicate, other.predicate} <= STATES)
    ]


def _another_object(now: Statement, same: list[tuple[Fact, Fact]]) -> str | None:
    for fact, other in same:
        if fact.predicate == "is" and unlike(fact.spelled, other.spelled) and not fact.subject & _COLOURS:
            continue
        if fact.subject == other.subject and not fact.agrees(other) and (fact.predicate != USED_FOR or now.corrects):
            return f"the same subject {fact.predicate} something else"
    return None


_COLOURS = frozenset(canonical("colour color 颜 色").split())


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


_KIND_CJK = lazy(r"[\u30a1-\u30ff]+$|(?![家个年些种样次位月天])[\u3400-\u9fff]$")
_OF_ANSWERS = frozenset({"length", "tone", "language of answers"})
_DIGIT_OR_COUNT = lazy(r"\d|[一二三四五六七八九十百千两]")
_DIGIT = lazy(r"\d")


def _another_version(now: Statement, was: Statement) -> bool:
    """Whether both name one thing with another version of it, and the old text says little else."""
    if not _DIGIT.search(now.said) or not _DIGIT.search(was.said):
        return False
    if HAPPENED.search(now.short) and HAPPENED.search(was.short):
        return False  # a visit about parcel 3, a visit about parcel 4
    olds, news = dict(_VERSION.findall(was.said)), dict(_VERSION.findall(now.said))
    if _weight(frozenset(unit for unit in was.head - now.units if not _DIGIT.search(unit))) > 1:
        return False
    moved = {name for name in olds.keys() & news.keys() if olds[name] != news[name]}
    products = _PRODUCTS | {name for _, name, _ in named(was.said)} | {m.casefold() for m in _PROPER.findall(was.text)}
    if not any("." in olds[name] or name in products for name in moved) or not now.real:
        return False
    one, other = units(_VERSION.sub(r"\1", was.said)) - GENERIC, units(_VERSION.sub(r"\1", now.said)) - GENERIC
    return one <= other or _weight(frozenset((one - other) | (other - one))) <= 1 + 2 * now.changes


def _ends(now: Statement, was: Statement) -> bool:
    """Whether the old text speaks of a thing that is over, and little beside, or of what the new one speaks of too."""
    if not now.ended or EVENT.search(was.short):
        return False
    gone = [end.thing for end in was.ended] + [frozenset(" ".join(c.units).split()) for c in was.claims if c.negated]
    for end in now.ended:
        # One that denies the thing already is no victim, nor is what somebody else holds on to.
        if not end.thing <= was.units or any(end.thing <= thing for thing in gone) or end.subject - GENERIC - was.units:
            continue
        rest = was.units - end.thing - GENERIC
        others = was.people - now.people
        if others and not end.gone:
            continue
        if end.only and not end.only & was.units:
            continue
        shared = rest & now.units if len(rest & now.units) * 3 >= len(rest) else frozenset()
        most = 1 if WHEN.fullmatch(" ".join(sorted(end.thing))) else _LEAST_BESIDE
        if (not end.departed and _weight(rest) <= most) or shared:
            return True
    return False


def _weight(found: frozenset[str]) -> float:
    """Return how many words they are; two Han characters make one."""
    return sum(0.5 if len(unit) == 1 and not unit.isascii() else 1.0 for unit in found)


def _other_value(now: Statement, was: Statement) -> str | None:
    """Return the kind of which the new text says another value than the old one, about the same."""
    telling = [value for value in now.values if now.changes or value.rule in {Rule.STATE, Rule.MANNER}]
    if not telling or not now.real or now.adds or not was.values or now.people != was.people:
        return None
    for kind in dict.fromkeys(value.kind for value in was.values):
        olds = [value for value in was.values if value.kind == kind]
        news = [value for value in telling if value.kind == kind and now.holds(value)]
        if olds[0].rule is Rule.TOOL and both_hold(now.said, was.said):
            continue
        if not news or {v.value for v in news} & {v.value for v in olds} or not all(was.holds(v) for v in olds):
            continue
        if _ends_value(now, was, olds[0], news[0]):
            return kind
    return None


def _ends_value(now: Statement, was: Statement, one: Value, other: Value) -> bool:
    """Whether a value of a kind takes the place of another one, by the rule of the kind."""
    if EVENT.search(was.short):
        return False
    if one.rule is Rule.STATE:
        return (was.head <= now.units if was.head else bool(now.people)) or not now.head
    rest, told = (side.without([v for v in side.values if v.rule is one.rule]) for side in (was, now))
    if one.rule is Rule.MANNER:
        return _another_manner(now, was, one, other, wished=rest <= told or told <= rest)
    if not now.changes:
        return False
    if one.rule is Rule.SHAPE:
        return _another_shape(now, was, one, rest)
    if now.head and was.head and not (was.head <= now.units or now.head <= was.units):
        return False
    return rest <= now.units or not told


def _another_manner(now: Statement, was: Statement, one: Value, other: Value, *, wished: bool) -> bool:
    if one.kind in _OF_ANSWERS and not (about_answers(was.said) and about_answers(now.said)):
        return False
    if {one.value, other.value} == {"student", "employed"} and not GRADUATED.search(now.said):
        return False
    if now.changes:
        # In Japanese what is liked stands where the subject does.
        value = units(was.said[slice(*one.span)]) if LIKED.search(was.said) and LIKED.search(now.said) else set()
        return was.head - value <= now.units or not now.head
    return wished and LIKED.search(was.said) is not None and LIKED.search(now.said) is not None


def _another_shape(now: Statement, was: Statement, value: Value, rest: frozenset[str]) -> bool:
    most = 0.0 if now.said.isascii() else 1.0
    about = any(
        _weight(subject - NEWNESS - GENERIC - was.units) <= (1.0 if was.head and was.head <= subject else most)
        for subject in now.heads
    )
    if not about or _scopes(now) != _scopes(was):
        return False
    if value.kind == "time" and not rest:
        doing = was.units - units(was.said[slice(*value.span)])
        return bool(doing) and doing <= now.units
    if value.kind == "amount" and not rest:
        uncounted = {unit for unit in was.units if not _DIGIT_OR_COUNT.search(unit)}
        return uncounted <= now.units | DOING_WORDS and bool(was.units & now.units)
    return rest <= now.units if rest else value.kind in {"mail", "phone", "url"}


def _scopes(reading: Statement) -> set[str]:
    return {match.group() for match in QUALIFIERS.finditer(reading.said)}


def _of_the_same(now: Statement, was: Statement) -> bool:
    """Whether a correction is about what the old text is about, and says the like of it."""
    if was.head and not was.head <= now.units and not (now.head and now.head <= was.head):
        return False
    if not was.head and not _about(now, was):
        return False
    beyond = was.units & now.units - was.head
    return (
        _weight(beyond - GENERIC - DOING_WORDS) >= 1 or bool(IS.search(was.short) and BECOMES.search(now.short))
    ) and _alike_framed(now, was)


def _about(now: Statement, was: Statement) -> bool:
    """Whether a clause of the new text is about something that the old one speaks of (or about nobody else)."""
    some = 0.0 if now.said.isascii() else 0.5
    return any(_weight(subject - NEWNESS - GENERIC - was.units) <= some for subject in now.heads)


def _alike_framed(now: Statement, was: Statement) -> bool:
    """Whether what is new stands after the same prepositions as what it takes the place of, if after any."""
    if not was.short.isascii():
        return True
    lost, gained = was.framing(now.units), now.framing(was.units)
    return not lost or not gained or bool(lost & gained)


def _done_otherwise(now: Statement, was: Statement) -> bool:
    """Whether the new text tells the same doing about the same, with something else in one place."""
    doings = [pattern for pattern in DOINGS if (match := pattern.search(was.short)) and not _names(match, was)]
    if now.people != was.people or EVENT.search(was.short):
        return False
    told = was.units - DOING_WORDS - COUNTS - GENERIC
    clause = max(now.clauses, key=lambda c: len(c & told), default=frozenset())
    if not any(p.search(now.short) for p in doings):
        return False
    told |= was.head
    lost, gained = (told | was.units & COUNTS) - clause, clause - was.units - DOING_WORDS
    common = told & clause
    if not lost or not gained or not common or len(told) > 12 or not _alike_framed(now, was):
        return False
    if not was.head and not _about(now, was):
        return False
    if was.head and not was.head <= now.units:
        # Who has something in hand may change; of what, may not.
        return doings[0] is DOINGS[0] and bool(told - was.head) and told - was.head <= clause
    return _weight(common) * 2 >= _weight(told)


def _names(doing: re.Match[str], was: Statement) -> bool:
    """Whether a word for a doing is a part of the name of what is spoken of: my bike."""
    word = frozenset(units(doing.group()))
    return bool(word) and doing.group().isascii() and word <= was.head


def _other_of_its_kind(now: Statement, was: Statement) -> bool:
    """Whether something turned into an X of a kind, of which the old text has a Y: night shift, day shift."""
    if now.people != was.people or EVENT.search(was.short) or _weight(was.units) > 5 or _weight(now.units) > 10:
        return False
    if was.head and not was.head <= now.units:
        return False
    match = TURNED.search(now.short)
    thing = next((value for value in match.groupdict().values() if value), "").strip() if match else ""
    if thing.isascii():
        words = thing.split()
        if len(words) < 2:
            return False
        last = re.escape(words[-1].removesuffix("s"))
        return re.search(rf"\b(?!{re.escape(words[-2])}\b)[a-z]+ {last}s?\b", was.said) is not None
    kind = _KIND_CJK.search(thing)
    if kind is None or kind.start() == 0 or thing in was.said:
        return False
    return re.search(rf"[\u3400-\u9fff]{re.escape(kind.group())}", was.said) is not None
