"""Facts by rules, without a model: sentences of the user that carry a signal, in English, Chinese and Japanese.

A signal is a word that people use when they say what will still hold next week: a preference, who
they are, a standing instruction, a decision, a plan. Questions and one-time orders carry none.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from ..core.fold import canonical
from ..core.names import names
from ..core.text import content_hash, sentences, terms
from .types import FactDraft, Said

__all__ = ["Rules", "entity_words", "topic_of"]

_MIN_CHARS, _MAX_CHARS = 4, 300
_MAX_FACTS = 8
_MAX_KEYWORDS = 6

_QUESTION = re.compile(r"[?？]\s*[\"'”’」』)）]*\s*\Z|(?:吗|呢|么|か|かな|の)[。.!！]*\Z")
# An order to do something now; "please always ..." is caught as an instruction before.
_ORDER = re.compile(
    r"\A\s*(?:(?:please|pls|can you|could you|would you|will you|help me|write|show|tell|give|fix|explain|translate"
    r"|summari[sz]e|list|find|search|check|run|open|make|create|generate|add|update|delete|remove|look)\b"
    r"|请?(?:帮|给)我|请(?!记住|以后|务必|叫我)|麻烦|翻译|写一|看一下"
    r"|.*(?:してください|して下さい|教えて|お願いします|ちょうだい)[。!！]?\Z)",
    re.IGNORECASE,
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = re.compile(r"[「『“\"《](?P<name>[^」』”\"》\n]{2,24})[」』”\"》]")
_IDENTIFIER = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:[._\-/+#][A-Za-z0-9]+)+|[A-Za-z]+[a-z][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z0-9]*|[A-Za-z]+\d+[A-Za-z0-9]*"
)
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_TIME_WORD = re.compile(
    r"(?:下|上|这|本|每|毎|来|先|今)?(?:周|星期|礼拜|週)[一二三四五六日天末](?:[早晚]上)?|[月火水木金土日]曜日?|凌晨|早上|上午|中午|下午|晚上|夜里|明天|后天"
    r"|朝|昼|夕方|夜|明日|来週|来月|\d{1,4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?|\d{1,2}月(?:\d{1,2}[日号])?|[一二三四五六七八九十]{1,3}月"
)
_KATAKANA = re.compile(r"[ァ-ヺー]{2,}")
# What stands between the words that carry a Chinese or Japanese sentence.
_BETWEEN = re.compile(
    r"不喜欢|喜欢|喜爱|偏好|偏爱|讨厌|习惯|记住|记得|以后|从现在开始|总是|一律|务必|必须|不要|需要|想要|打算|计划|决定|约定|改用|换成|采用|统一用"
    r"|因为|所以|但是|如果|或者|而且|并且|还是|就是|只在|只有|只用|已经|可以|应该|我们|你们|他们|她们|这个|那个|这些|那些|什么|怎么|一下|时候"
    r"|[我你您他她它的了着过是在有和与或也都就很最更再又还把被给对从到向跟比为以之其这那个些吗呢吧啊呀嘛不没别请让叫要会能去来说住用吃喝做]"
    r"|[ぁ-ゟ]+|[、。，；：！？,.;:!?\s（）()「」『』“”\"'《》【】…—~～·・]+"
)
_HAN = re.compile(r"[々〆\u3400-\u9fff]{2,6}")


class Rules:
    """The executor without a model; the same conversation always gives the same facts."""

    name = "rules"

    def extract(self, said: Sequence[Said]) -> list[FactDraft]:
        """Return up to eight sentences of the user that carry a signal, with words to find them by."""
        found: dict[bytes, FactDraft] = {}
        for sentence in _candidates(said):
            topic = topic_of(sentence)
            if topic:
                draft = FactDraft(content=sentence, keywords=entity_words(sentence), topic=topic)
                found.setdefault(content_hash(sentence), draft)
        return list(found.values())[:_MAX_FACTS]


def topic_of(sentence: str) -> str:
    """Return which signal a sentence carries, or "": it is a question, an order, or small talk."""
    if _QUESTION.search(sentence):
        return ""
    plain = canonical(sentence)  # traditional Chinese; Japanese kanji are tried as they are
    topic = next((topic for topic, pattern in _signals() if pattern.search(sentence) or pattern.search(plain)), "")
    return "" if topic != "instruction" and (_ORDER.match(sentence) or _ORDER.match(plain)) else topic


def entity_words(sentence: str) -> tuple[str, ...]:
    """Return up to six words that name what a sentence is about, in its order, each as it stands there."""
    text = unicodedata.normalize("NFKC", sentence)
    plain = canonical(text)
    plain = plain if len(plain) == len(text) else text  # looked at in one spelling, taken out in the writer's
    at: dict[str, int] = {}
    spans: list[tuple[int, int]] = []

    def keep(start: int, end: int) -> None:
        if not any(first < end and start < last for first, last in spans):
            at.setdefault(text[start:end], start)
            spans.append((start, end))

    for match in _QUOTED.finditer(plain):
        keep(*match.span("name"))
    for pattern in (_IDENTIFIER, _TIME_WORD, _KATAKANA):
        for match in pattern.finditer(plain):
            keep(*match.span())
    for name in names(text):
        start = text.find(name)
        keep(start, start + len(name))
    for start, end in _han_words(plain, spans):
        keep(start, end)
    least = 2 if _HAN.search(plain) or _KATAKANA.search(plain) else 4  # a Latin word among others is a name
    for match in _LATIN.finditer(plain):
        word = match.group()
        if len(word) >= least and word.lower() not in _WEAK and terms(word):
            keep(*match.span())
    return tuple(sorted(at, key=lambda word: at[word])[:_MAX_KEYWORDS])


@cache
def _signals() -> tuple[tuple[str, re.Pattern[str]], ...]:
    data = json.loads(Path(__file__).with_name("signals.json").read_text(encoding="utf-8"))
    del data["what"]
    return tuple(
        (topic, re.compile("|".join(p for patterns in by_language.values() for p in patterns), re.IGNORECASE))
        for topic, by_language in data.items()
    )


def _candidates(said: Sequence[Said]) -> Iterator[str]:
    for one in said:
        if one.role != "user":
            continue
        text = _CODE.sub(" ", one.text)
        for part in sentences(text):
            for line in part.splitlines():
                sentence = line.strip(" \t-*#>•·")
                if _MIN_CHARS <= len(sentence) <= _MAX_CHARS:
                    yield sentence


def _han_words(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield runs of Han characters between function words and what was found already."""
    covered = list(text)
    for first, last in spans:
        covered[first:last] = " " * (last - first)
    for match in _HAN.finditer(_BETWEEN.sub(lambda m: " " * len(m.group()), "".join(covered))):
        yield match.span()


_WEAK = frozenset(
    "like likes love loves prefer prefers hate hates dislike enjoy enjoys really also much still always never remember"
    " please sure keep mind future from want need going plan will have decided agreed work works live lives every only"
    " make called name this with when user because very after before over under think should would could there".split()
)
