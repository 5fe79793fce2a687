"""What of a text that is known ends with a new one, and what stays of it or comes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice

from .contradiction import Statement, contradicts
from .fold import canonical
from .lists import listing
from .parts import Part, parts_of, rejoined
from .passages import sentences
from .patterns import lazy
from .small_talk import without_small_talk
from .summarize import told_terms
from .traits import ROLES, read_turn

__all__ = [
    "end_the_same",
    "of_others",
    "parts_beside",
    "readings",
    "what_is_wanted",
    "what_returns",
    "what_stays",
    "why_over",
]

_MOST_ALONE = 4  # statements of a new text that are looked at one by one
_MOST_PARTS = 8  # statements of an old one, or of a line of it; a longer text tells a story
_MOST_LINES = 10  # of an old one with many
# What speaks of something that was told before is no statement by itself.
_BACK = lazy(
    canonical(
        r"\b(?:he|she|they|it|its|it's|his|her|their|him|them|this|that|these|those|there|one)\b|[他她它]|^[这那]|彼|それ|その|そこ|これ"
    )
)
# Who speaks of himself says so; a Japanese sentence without a topic is about its speaker.
_OF_SELF = lazy(
    r"\b(?:i|i'm|my|me|mine|myself)\b|我|咱|私|僕|俺|わたし|ぼく|自分|저는|나는|\A(?=.*[\u3041-\u309f])(?!.*は)",
    re.IGNORECASE | re.DOTALL,
)


def readings(text: str) -> list[Statement]:
    """Return a text as a statement, and the statements that it joins as others, if each may be taken by itself."""
    whole = Statement(text)
    said = read_turn(whole.text).said
    parts = parts_of(said)
    alone = dict.fromkeys([*sentences(said), *(rejoined([(0, part)]) for part in parts)])
    if len(parts) < 2 or len(parts) > _MOST_ALONE or whole.adds:
        return [whole]
    return [whole, *(one for one in map(Statement, alone) if one.real and not _BACK.search(one.said))]


def why_over(told: Sequence[Statement], old: str, *, alike: bool) -> str | None:
    """Return why an old text, or one of the statements that it joins, is no longer true."""
    said = read_turn(old).said
    if (why := _why_part(told, old, alike=alike)) or "\n" not in said:
        parts = [] if why else parts_of(said)
        olds = (rejoined([(0, part)]) for part in parts if 1 < len(parts) <= _MOST_PARTS)
        return why or next((why for one in olds if (why := _why_part(told, one, alike=alike))), None)
    # A summary has a line for each memory; only those that have a word in common are looked at, as there are many.
    about = frozenset().union(*(told_terms(one.said) for one in told))
    near = (line for line in said.splitlines() if not about.isdisjoint(told_terms(line.casefold())))
    lines = islice(near, _MOST_LINES)
    return next((why for line in lines if (why := why_over(told, line, alike=alike))), None)


def _why_part(told: Sequence[Statement], old: str, *, alike: bool = True) -> str | None:
    was = Statement(old)
    return next((why for one in told if (why := contradicts(one, was, alike=alike))), None)


def of_others(one: str, other: str) -> bool:
    """Whether two turns are of two people of whom one at least speaks of himself: what is true of each stays."""
    turns = [read_turn(one), read_turn(other)]
    speakers = {turn.speaker.casefold() for turn in turns if turn.speaker}
    return len(speakers - ROLES) > 1 and any(_OF_SELF.search(turn.said) for turn in turns)


def what_stays(new: str, old: str) -> str | None:
    """Return the statements of `old` that `new` does not end, as one text; None if it ends all, or none by itself.

    What is told in a clause before ("I play the piano and my teacher is ...") may say what one is about: then it ends
    those whose subject it speaks of.
    """
    told = readings(new)
    stays = what_is_wanted(old, lambda part: _why_part(told, part) is None)
    if stays == old and why_over(told, old, alike=True):
        stays = what_is_wanted(old, lambda part: not (head := Statement(part).head) or not head <= told[0].units)
    return None if stays == old else stays


def parts_beside(part: str, whole: str) -> bool:
    """Whether a text has more statements than what is a part of it."""
    return len(_parts(whole)) > len(_parts(part))


def end_the_same(one: str, other: str, old: str) -> bool:
    """Whether two texts end the same statement of an old one, or one of them none by itself but the whole."""
    parts = [rejoined([(0, part)]) for part in _parts(old)]
    ended = [{part for part in parts if _why_part(told, part)} for told in map(readings, (one, other))]
    return not all(ended) or not ended[0].isdisjoint(ended[1])


def what_returns(gone: str, old: str, against: Sequence[str], retracted: Callable[[str], bool]) -> str | None:
    """Return the statements of `old` that `gone` had ended, which nothing in `against` ends and none is `retracted`.

    It is the whole of `old` if `gone` had ended no statement of it by itself.
    """
    ended, others = readings(gone), [readings(text) for text in against]
    had = what_is_wanted(old, lambda part: _why_part(ended, part) is not None)
    return what_is_wanted(
        old if had is None else had,
        lambda part: not retracted(part) and not any(_why_part(other, part) for other in others),
    )


def what_is_wanted(text: str, wanted: Callable[[str], bool]) -> str | None:
    """Return the statements of a text that are wanted, as one text: itself if all are, None if none is.

    Of a statement about several things it may be wanted about some.
    """
    parts = _parts(text)
    those = [(place, some) for place, part in enumerate(parts) if (some := _some(part, wanted)) is not None]
    if [part for _, part in those] == parts:
        return text
    speaker = read_turn(text).speaker
    return ("" if speaker is None else f"{speaker}: ") + rejoined(those) if those else None


def _some(part: Part, wanted: Callable[[str], bool]) -> Part | None:
    said = rejoined([(0, part)])
    if wanted(said):
        return part
    told = listing(said)
    things = [thing for thing in told.things if wanted(told.of([thing]))] if told else []
    if told is None or not things or len(things) == len(told.things):
        return None
    return Part(told.of(things), part.joint)


def _parts(text: str) -> list[Part]:
    said = read_turn(text).said
    return parts_of(without_small_talk(said) or said)
