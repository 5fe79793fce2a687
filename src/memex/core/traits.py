"""What a text is, beside what it says: a turn of a conversation, a question, a mention of a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntFlag

from .names import speaker
from .patterns import lazy

__all__ = ["ROLES", "Trait", "Turn", "asks_when", "read_turn", "unnamed"]


class Trait(IntFlag):
    """Facts about a memory that ranking uses; stored as one small number."""

    TURN = 1  # it has a speaker: "Name: text"
    ASSISTANT = 2  # the speaker is a program, not a person
    QUESTION = 4  # it ends with a question
    TIMED = 8  # it mentions a date or a time


@dataclass(frozen=True, slots=True)
class Turn:
    """A memory's text taken apart: who speaks (None if it is no turn), what is said, and its traits."""

    speaker: str | None
    said: str
    traits: Trait


_ASSISTANTS = frozenset({"assistant", "ai", "bot", "system", "model", "助手", "アシスタント"})
# Speakers who are only a side of a chat, not somebody.
ROLES = _ASSISTANTS | {"user", "human", "用户", "用戶", "ユーザー", "사용자"}
_LAST_MARK = lazy(r"[?？؟][\s\"'”’」』)）]{0,2}$")
_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
)
_TIMED = lazy(
    rf"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|weeks?|weekends?|months?|years?|{_MONTHS}|(?:19|20)\d\d)\b"
    r"|昨天|今天|明天|前天|后天|上周|下周|上个|下个|去年|今年|明年|昨日|今日|明日|先週|来週|先月|来月|昨年|年|月",
    re.IGNORECASE,
)
_WHEN = lazy(
    r"\b(?:when|what (?:date|day|year|month|time)|how (?:long|often)|how many (?:days|weeks|months|years))\b"
    r"|什么时候|什么时间|何时|哪天|哪年|几月|几号|多久|いつ|何年|何月|何日|どのくらい前|언제",
    re.IGNORECASE,
)


def read_turn(text: str) -> Turn:
    """Take a memory's text apart."""
    name, said = speaker(text)
    traits = Trait(0)
    if name is not None:
        traits |= Trait.TURN
        if name.casefold() in _ASSISTANTS:
            traits |= Trait.ASSISTANT
    if _LAST_MARK.search(said[-8:]):
        traits |= Trait.QUESTION
    if _TIMED.search(said):
        traits |= Trait.TIMED
    return Turn(name, said, traits)


def unnamed(text: str) -> str:
    """Return a text as it is embedded: a turn without the name of who speaks; a side of a chat is no name."""
    turn = read_turn(text)
    return text if turn.speaker is None or turn.speaker.casefold() in ROLES else turn.said


def asks_when(query: str) -> bool:
    """Whether a query asks for a date, a time or a duration."""
    return _WHEN.search(query) is not None
