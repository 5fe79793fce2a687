"""A statement, read as far as a rule asks for it: its claims, facts and values, what it ends, whom it is about."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from .asides import without_asides
from .cessation import Ended, asserted, ended, sentences
from .claims import NAMED_A, Clause, clauses, said, units, units_of
from .dimensions import Value, values
from .facts import Fact, facts
from .fold import canonical, fold
from .frames import owned
from .patterns import lazy
from .small_talk import without_small_talk
from .subject import GENERIC, head, labels, people
from .traits import read_turn
from .wording import ALSO, CHANGE, CORRECTING, DENIES, DOING_WORDS

__all__ = ["Statement"]

_MAX_READ_CHARS = 400
_MARK_CHARS = 16  # "Correction:" looks like a speaker
_FRAME = lazy(
    r"\b(at|in|on|for|with|from|by|as|about|to)\b((?: (?!(?:at|in|on|for|with|from|by|as|about|to)\b)[\w.'/-]+){1,4})"
)
_NO_FRAME = lazy(
    r"\bfrom now on\b|\bas of\b|\bin (?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
)
_DENIED_AFTER = canonical(r"[^、。]{0,8}(?:ではな|じゃな|ではあり|をやめ|はやめ|は使わ|不再|作废|停用)")


class Statement:
    """One text, read as far as a rule asks for it."""

    def __init__(self, text: str) -> None:
        turn = read_turn(text)
        told = without_small_talk(turn.said) or turn.said
        self.text = told if turn.speaker is None else f"{turn.speaker}: {told}"
        self.said = owned(without_asides(said(self.text)))
        self.short = self.said[:_MAX_READ_CHARS]

    @cached_property
    def claims(self) -> list[Clause]:
        """Its clauses, compared exactly."""
        return clauses(self.said)

    @cached_property
    def units(self) -> frozenset[str]:
        """Its units."""
        return frozenset(units_of(self.claims))

    @cached_property
    def words(self) -> Counter[str]:
        """Its units, each as often as it is said."""
        return Counter(word for clause in self.claims for unit in clause.units for word in unit.split(" "))

    @cached_property
    def facts(self) -> list[Fact]:
        """Facts that it states."""
        return facts("\n".join(sentence for sentence in sentences(self.said) if asserted(sentence)))

    @cached_property
    def loose_facts(self) -> list[Fact]:
        """Facts that it states, also in words that may mean something else."""
        return facts(self.said, loosely=True)

    @cached_property
    def ended(self) -> list[Ended]:
        """What it says is over."""
        return ended(self.said)

    @cached_property
    def people(self) -> frozenset[str]:
        """Whom it is about."""
        return people(self.short)

    @cached_property
    def values(self) -> list[Value]:
        """Values of which one holds at a time."""
        return values(self.short)

    @cached_property
    def clauses(self) -> list[frozenset[str]]:
        """The units of each clause."""
        parts = (part for whole in sentences(self.short) for part in re.split("[,、;:] ?", whole))
        return [frozenset(units(part)) for part in parts]

    def framing(self, other: frozenset[str]) -> set[str]:
        """Return the prepositions before what another text does not have; "to" stands before anything that changed."""
        found = {m[1] for m in _FRAME.finditer(_NO_FRAME.sub(" ", self.short)) if units(m[2]) - other}
        return {"in", "at", "on", "with", "for", "by", "from", "as", "about"} if "to" in found else found

    @cached_property
    def heads(self) -> list[frozenset[str]]:
        """What each clause is about."""
        clauses = (clause for whole in sentences(self.short) for clause in re.split("[,、;:] ?", whole))
        return [head(clause) for clause in clauses]

    @cached_property
    def head(self) -> frozenset[str]:
        """What the first clause is about."""
        return self.heads[0] if self.heads else frozenset()

    @cached_property
    def labels(self) -> frozenset[tuple[int, str]]:
        """What tells the things that it is about from others of their kind: door 1, server B, the Monday meeting."""
        told = NAMED_A.sub("a_", self.short) if self.short.isascii() else self.short
        parts = (part for whole in sentences(told) for part in re.split("[,、;:] ?", whole))
        return frozenset(label for part in parts for label in labels(part))

    @cached_property
    def corrects(self) -> bool:
        """Whether it says of itself that it corrects something."""
        return CORRECTING.search(self.said) is not None or CORRECTING.search(fold(self.text[:_MARK_CHARS])) is not None

    @cached_property
    def adds(self) -> bool:
        """Whether it says that something is so beside something else."""
        return ALSO.search(self.short) is not None

    @cached_property
    def changes(self) -> bool:
        """Whether it says that something is so since a while, and not beside something else."""
        return CHANGE.search(self.short) is not None and self.real and not self.adds

    @cached_property
    def real(self) -> bool:
        """Whether all of it is said to be so."""
        return any(asserted(sentence) for sentence in sentences(self.short)) and asserted(self.short)

    def without(self, found: list[Value]) -> frozenset[str]:
        """Return what it says beside values."""
        rest = self.said
        for value in sorted(found, key=lambda v: -v.span[0]):
            rest = f"{rest[: value.span[0]]} {rest[value.span[1] :]}"
        return self.units & units(rest) - GENERIC - DOING_WORDS

    def holds(self, value: Value) -> bool:
        """Whether a value is said to be so: not denied in its clause, and not what is over."""
        start = max(self.said.rfind(mark, 0, value.span[0]) for mark in ",;.、。:")
        before = self.said[start + 1 : value.span[0]]
        after = re.split("[,;、。]", self.said[value.span[1] :], maxsplit=1)[0]
        denied = DENIES.search(before[-24:]) if before.isascii() else DENIES.search(before[-6:] + "\n")
        if denied and not re.search(r"\bto\b", before[denied.start() :]):
            return False
        named = frozenset(units(self.said[value.span[0] : value.span[1]]))
        if any(named and named <= end.thing for end in self.ended):
            return False
        return not (after and not after.isascii() and re.match(_DENIED_AFTER, after))
