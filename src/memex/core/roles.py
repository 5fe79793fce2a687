"""Whether two clauses of the same words say who does it to whom, or from where to where, the other way round.

In English and Chinese the order tells, in Japanese the particle after each name; "from" and "to" tell in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .fold import canonical
from .patterns import lazy
from .stem import stem

__all__ = ["turned_round"]

_ME = "\x03"
_TURNED = 3  # places: what only moves to the front or the end, or swaps with its neighbour, makes no longer fall
# Words that join, and adverbs: they stand anywhere. Verbs of little weight ("uses", "has") part who from whom.
_LOOSE_EN = frozenset(
    """the an my our your his her their its user's am is are was were be been being do does did will would shall
    of in on at for with by from to into onto as that this which who when it very really so just also always now then
    there still already usually often never not no don't doesn't didn't isn't aren't please and but or""".split()
)
_SELF_EN = frozenset({"i", "me", "we", "us", "user", "i'm", "i've", "we're", "we've", "i'll", "i'd"})
_FROM, _TO = frozenset({"from", "by", "off"}), frozenset({"to", "for", "into", "onto", "toward", "towards"})
_WORD_EN = lazy(r"[^\W_]+(?:[.'/-][^\W_]+)*")
_LETTER = lazy(r"\b(?:(\w+) )?[b-hj-z]\b(?!')")
_TOKEN_ZH = lazy(
    rf"(?P<me>{canonical('我们?|咱们?|用户|主人')})|(?P<loose>{canonical('[是的了在就都也很]')})|"
    r"(?P<twice>[\u3400-\u9fff])(?P=twice)|[\u3400-\u9fff]|[^\W\u3400-\u9fff]+"
)
_NAMED_JA = lazy(
    r"(?P<noun>[\u3400-\u9fff\u30a1-\u30fca-z\d]+|いとこ|おじ|おば)(?:さん|くん|ちゃん|さま)?"
    r"(?P<particle>から|まで|[がをにへとでの])?(?P<topic>[はも])?(?P<end>)"
)
_JAPANESE = lazy(r"[\u3041-\u309f]")


def turned_round(one: str, other: str) -> bool:
    """Whether two folded clauses, whose words are the same, give them other roles."""
    if one == other:
        return False
    if _JAPANESE.search(one):
        return _exchanged(_particles(one), _particles(other))
    if one.isascii():
        whose = [{word for word in _WORD_EN.findall(side) if word.endswith("'s")} for side in (one, other)]
        if all(whose) and whose[0] != whose[1]:
            return True
        first, second = _english(one), _english(other)
        return _falls(first[0], second[0]) or any(
            first[1][noun] != second[1][noun] for noun in first[1].keys() & second[1].keys()
        )
    return _falls(_chinese(one), _chinese(other))


def _falls(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether something stands before and after another thing the other way round: a falling sequence of places."""
    counts = Counter(one), Counter(other)
    place = {unit: at for at, unit in enumerate(one) if counts[0][unit] == counts[1][unit] == 1}
    falling: list[tuple[int, int]] = []  # places in the order of `other`, and the length of the fall that ends there
    for unit in other:
        if unit in place:
            at = place[unit]
            length = 1 + max((n for before, n in falling if before > at), default=0)
            if length == _TURNED:
                return True
            falling.append((at, length))
    return False


def _english(clause: str) -> tuple[list[str], dict[str, bool]]:
    """Return the words in order, and of those after "from" or "to" whether it is "to"."""
    lettered = {match[1] for match in _LETTER.finditer(clause)}  # service b: then "service a" is no article
    found: list[str] = []
    ways: dict[str, bool] = {}
    before, way = "", None
    for match in _WORD_EN.finditer(clause):
        word = match.group()
        if word in _FROM or word in _TO:
            way = word in _TO
        elif word in _SELF_EN:
            found.append(_ME)
            way = None
        elif (word == "a" and (before or None) not in lettered) or word in _LOOSE_EN or word.endswith("ly"):
            pass
        else:
            unit = stem(word.removesuffix("'s"))
            found.append(unit)
            if way is not None:
                ways[unit] = way
            way = None
        before = word
    return found, ways


def _chinese(clause: str) -> list[str]:
    return [_ME if m["me"] else m["twice"] or m.group() for m in _TOKEN_ZH.finditer(clause) if not m["loose"]]


def _particles(clause: str) -> dict[str, str]:
    return {m["noun"]: m["particle"] or m["topic"] or "" for m in _NAMED_JA.finditer(clause)}


def _exchanged(one: dict[str, str], other: dict[str, str]) -> bool:
    moved = [(one[noun], other[noun]) for noun in one.keys() & other.keys() if one[noun] and other[noun] != one[noun]]
    pairs = {(a, b) for a, b in moved if b}
    return any((b, a) in pairs or {a, b} in ({"から", "に"}, {"から", "へ"}, {"から", "まで"}) for a, b in pairs)
