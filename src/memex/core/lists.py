"""What a statement says of several things at once, thing by thing: allergies, tastes, pets, languages, tools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .fold import canonical
from .patterns import lazy

__all__ = ["Listing", "listing"]

_MOST_WORDS = 5  # of one thing: "a cat named Tom"
_MOST_CHARS = 10
_KANA = lazy("[\u3041-\u30ff]")


def _rx(pattern: str) -> re.Pattern[str]:
    return lazy(canonical(pattern), re.IGNORECASE)


_EN = _rx(
    r"(?P<head>(?:(?:i|we|user|the user|(?:my|our) \w+|[a-z]+)(?:'m|'re|'s| am| are| is| also| now| both)* )"
    r"(?:allergic to|intolerant (?:to|of)|afraid of|fond of|fluent in|good at|interested in|into|learning|studying|"
    r"(?:can't|cannot|don't|doesn't|do not|does not) (?:eat|drink|like)|"
    r"(?:like|love|enjoy|speak|play|own|use|drink|eat|hate|dislike|prefer|know|learn|take|grow|keep|collect|avoid|need)s?|"
    r"stud(?:y|ies)|have|has|ha(?:ve|s) got) )"
    r"(?P<things>[^.;:!?]+?)(?P<tail>[.!]?)"
)
_ZH = _rx(
    r"(?P<head>(?:我们?|用户|主人|我[^,，。对]{1,3}?)?(?:也|还|都|现在)*"
    r"(?:对|喜欢[吃喝玩看听]?|爱[吃喝玩看听]?|讨厌|害怕|怕|会说|会弹|会|有|养了?|不?吃|不?喝|不用|用|玩|在?学|懂))"
    r"(?P<things>[^,，。;；!！?？]+?)(?P<tail>(?:都?(?:严重)?(?:过敏|不耐受|感兴趣))?[。!！]?)"
)
_JA = _rx(
    r"(?P<head>(?:[^、。はが]{1,8}は、?)?)(?P<things>[^。はがを]+?)"
    r"(?P<tail>(?:の?アレルギー|が(?:大?好き|大?嫌い|苦手|怖|でき|話せ|弾け|い|あ)|を(?:飼|話|使|飲|食|習|勉強|弾))[^、。]*。?)"
)
_SPLIT = {
    "en": lazy(r",? and |,? or |, ", re.IGNORECASE),
    "zh": lazy("、|和|与|與|以及|跟"),
    "ja": lazy("、|と|や"),
}
_JOINED = {"en": (", ", " and "), "zh": ("、", "和"), "ja": ("、", "と")}


@dataclass(frozen=True, slots=True)
class Listing:
    """A statement about several things."""

    language: str
    head: str
    things: Sequence[str]
    tail: str

    def of(self, things: Sequence[str]) -> str:
        """Return the statement about some of the things."""
        between, last = _JOINED[self.language]
        told = last.join(filter(None, (between.join(things[:-1]), things[-1])))
        return f"{self.head}{told}{self.tail}"


def listing(statement: str) -> Listing | None:
    """Return a statement as one about each of several things; None if it is no such one."""
    language, pattern = "ja", _JA
    if statement.isascii():
        language, pattern = "en", _EN
    elif not _KANA.search(statement):
        language, pattern = "zh", _ZH
    match = pattern.fullmatch(statement.strip())
    if match is None:
        return None
    things = [thing.strip() for thing in _SPLIT[language].split(match["things"])]
    short = all(
        0
        < (len(thing.split()) if language == "en" else len(thing))
        <= (_MOST_WORDS if language == "en" else _MOST_CHARS)
        for thing in things
    )
    return Listing(language, match["head"], things, match["tail"]) if short and len(things) > 1 else None
