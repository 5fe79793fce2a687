"""What two short texts claim about the same thing: by their words, in English, Chinese and Japanese.

Cosines cannot tell "red tea" from "green tea", or a meeting at ten from one at eleven. So texts are
taken apart in clauses, clauses in units (stems, numbers, single CJK characters) without the words
that carry no claim, with one name for all ways to like and a sign for negation; then compared exactly.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from .fold import canonical, fold
from .patterns import lazy
from .roles import turned_round
from .stem import stem
from .text import content_hash
from .traits import read_turn

__all__ = [
    "MAX_COMPARED_CHARS",
    "NAMED_A",
    "Clause",
    "Relation",
    "clauses",
    "compared",
    "overlap",
    "relation",
    "said",
    "units",
    "units_of",
]

MAX_COMPARED_CHARS = 2_000  # a longer text is more than a claim

Relation = Literal["equal", "contains", "within", "negates", "extends", "other"]

_LIKE = "\x01"
_NOT = "\x02"


def _rx(*patterns: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of all languages as one, and before it those of English, the only ones an ASCII text may match."""
    spelled = [canonical(pattern) for pattern in patterns]
    return lazy("|".join(filter(str.isascii, spelled)) or "(?!)"), lazy("|".join(spelled))


_LIKED = _rx(
    r"\b(?:(?:really |also |always |much |would )*(?:prefers?|preferred|likes?|loves?|enjoys?|"
    r"wants?))\b(?: to(?: (?:use|have))?\b)?"
    r"(?: using\b)?",
    r"(?:很|更|最|比较|一直|特别)?(?:偏好|喜欢|喜爱|热爱|爱)(?:使?用)?",
    r"(?:を使うの)?[がをは]?(?:とても|大|一番)?(?:好き(?:です|だ|で|な)?|好み(?:です|、)?|好む|好んで(?:いる|います)?)",
)
_DISLIKED = _rx(
    r"\b(?:(?:really |strongly )*(?:dislikes?|hates?|detests?|avoids?)|(?:(?:explicitly|clearly) )?(?:does|"
    r"do) not (?:like|want)|"
    r"(?:doesn't|don't|no longer) (?:like|want)s?)\b",
    r"(?:明确|很|更|最|特别|非常|真的?)?(?:讨厌|厌恶|不(?:要|想要?|喜欢|爱))",
    r"[がをは]?(?:大?嫌い(?:です|だ|になりました|になった)?|好き(?:では|じゃ)な(?:い(?:です)?|くな(?:った|りました))|"
    r"苦手(?:です|だ)?|不要(?:です|だ|と明言した)?)",
)
_NEGATIONS = _rx(
    r"\b(?:not|no|never|cannot|nobody|without|neither|nor)\b|n't\b",
    r"不|没有?|别|勿",
    r"(?:は)?(?:ありません|ません|なく|ない)",
)
# Words without which a claim is the same claim.
_FILLER = _rx(
    r"\b(?:at the moment|right now|these days)\b",
    r"请|麻烦|如今|其实|的|了|很|都|也|就|是|在|我们|咱们|我|用户|主人|现在|目前|一直|使用|用|进行|名字|叫|语言|方案|明确|"
    r"写|说|目录下?|一般|通常",
    r"ユーザー(?:は|が)?|私(?:は|たちは)?|うち[のは]|今は|もう|いつも|必ず|とても|言語|の案は?|明言",
    r"(?<=[a-z\d/]) ?[上下](?=$|[ ,。])",
)
_FILLER_WORDS = frozenset(
    """i we my our me us user users user's the a an to of is are am be was were been do does did will would i'm we're i've
    in on at for with by from as that this it its really very please always just also so happen happens named called name
    use uses used using language explicitly clearly currently now there have has own folder live lives living deployed
    run runs running anymore""".split()
)
# No article stands before these: it is a name, as in "server A is slow"; in Chinese and Japanese it always is.
NAMED_A = lazy(
    r"\ba(?=\s*$|'s\b|[,.;:!?)]| (?:is|are|was|were|has|have|had|does|did|do|will|can|must|should|would|may|now|and|or|to|in|on|at|for|"
    r"with|from|by|of|not|no longer|also|uses?|runs?|costs?|needs?|calls?|takes?|gets?|starts?|ends?|opens?|closes?|works?|belongs?|"
    r"supports?|listens?|owns?|stands?|lives?|meets?|leads?)\b)"
)
_NAMED_A_CJK = lazy(r"(?<![a-z\d])a(?![a-z\d])")
# Around these words the order says who is which.
_ORDERED = _rx(
    r"\b(?:than|over|before|after|instead|rather|from|to)\b|\b(?:is|are|was) \w+'s\b",
    r"比|胜过|超过|先于|之前|之后|是(?![我用在])[^,。]{1,8}的(?=[^,。 ])",
    r"より|から|まで|前に|後に|は(?!私)[^、。]{1,8}の(?:上司|部下|先生|親|父|母|子|兄|姉|弟|妹|夫|妻)"
    r"|(?<!ユーザー)(?<!私)(?<!今)は[^、。]{1,8}(?:[がに]|\x01)",
)
_BREAK = lazy(r"[,;:。、!?\n]+|\.(?=\s|$)|\b(?:and|but|while|because|so that)\b|而且|但是?|并且|因为")
_TITLE = lazy(r"\b(dr|mr|mrs|ms|prof)\.(?= ?\w)")  # its full stop ends no sentence
_TOKEN = lazy(
    r"[\x01\x02]|[〇一二三四五六七八九十百千万两]{2,}|[\u30a1-\u30ff]+|[\u3400-\u9fff\uac00-\ud7a3]|[\u3041-\u309f]+"
    r"|[^\W\u3041-\u9fff\uac00-\ud7a3]+(?:[./\-'][^\W\u3041-\u9fff\uac00-\ud7a3]+)*"
)
_SCRIPTS = (
    ("kana", lazy(r"[\u3041-\u30fa]")),
    ("hangul", lazy(r"[\uac00-\ud7a3]")),
    ("han", lazy(r"[\u3400-\u9fff]")),
)
_KANA = lazy(r"[\u3041-\u309f]+\Z")
_WHOSE = lazy(
    r"(?P<who>\w+)(?=['\u2019]s (?P<what>\w+))|(?P<whom>[\u3400-\u9fff]{2})(?=[的の](?P<which>[\u3400-\u9fff]{1,2}))"
)
_PARTICLE = "はがをにでのとへやも"
_ENDING = lazy(
    r"(?:です|でした|だ|だった|である|ます|ました|する|します|した|して(?:いる|います)?|て(?:いる|います|ある|"
    r"あります|ください)|で(?:す)?|"
    r"いる|います|ある|あります|といいます|という|ください|だけ|こと|の|は|が|を|に)+\Z"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One part of a text: its units as a sorted tuple (so repeats count), whether it denies them, in order, and as written."""

    units: tuple[str, ...]
    negated: bool
    ordered: tuple[str, ...] = field(compare=False)
    written: str = field(compare=False)


def said(text: str) -> str:
    """Return what a text says, as it is compared: folded, without its speaker, and no more than a claim."""
    return _TITLE.sub(r"\1", fold(read_turn(text).said[:MAX_COMPARED_CHARS]).replace("\u2019", "'"))


def clauses(told: str) -> list[Clause]:
    """Return the clauses of what is `said` that claim anything."""
    language = 0 if told.isascii() else 1
    found = []
    for written in _BREAK.split(told):
        part = _LIKED[language].sub(f" {_LIKE} ", _DISLIKED[language].sub(f" {_NOT} {_LIKE} ", written))
        part = _NEGATIONS[language].sub(f" {_NOT} ", part)
        part = NAMED_A.sub("a_", part) if language == 0 else _NAMED_A_CJK.sub("a_", part)
        tokens = _tokens(_FILLER[language].sub(" ", part), part)
        negated = sum(token == _NOT for token in tokens) % 2 == 1
        kept = [token for token in tokens if token != _NOT]
        if not kept:
            continue
        if _ORDERED[language].search(part):
            kept = [" ".join(kept)]
        found.append(Clause(tuple(sorted(kept)), negated, tuple(kept), written))
    return found


def units(told: str) -> set[str]:
    """Return the different units of what is `said`, whatever its clauses."""
    return units_of(clauses(told))


def units_of(found: Iterable[Clause]) -> set[str]:
    """Return the different units of clauses."""
    return {unit for clause in found for joined in clause.units for unit in joined.split(" ")} - {_LIKE}


def overlap(a: str, b: str) -> float:
    """Return the share of common units (Jaccard), 0 to 1."""
    one, other = units(said(a)), units(said(b))
    return len(one & other) / len(one | other) if one and other else 0.0


def relation(new: str, old: str, *, near: bool = False) -> Relation:
    """Return how the claims of `new` stand to those of `old`.

    equal: the same clauses. within: `old` says all of it, and more. contains: the other way round.
    negates: a clause with the same units and the other sign. extends (only if `near`, which a very
    high cosine grants): one text has a few words more than the other, and none is replaced.
    Texts in different scripts are other ones, and so are long ones that are not the same to the letter.
    """
    if max(len(new), len(old)) > MAX_COMPARED_CHARS:
        return "equal" if content_hash(new) == content_hash(old) else "other"
    return compared(new, old, clauses(said(new)), clauses(said(old)), near=near)


def compared(new: str, old: str, a: list[Clause], b: list[Clause], *, near: bool = False) -> Relation:
    """Return the relation of two texts, no longer than a claim, whose clauses are known."""
    if not a or not b or _script(new) != _script(old):
        return "other"
    first, second = set(a), set(b)
    written = {c.units: c.written for c in second}
    if any(c.units in written and turned_round(c.written, written[c.units]) for c in first):
        return "other"
    if {(c.units, not c.negated) for c in first} & {(c.units, c.negated) for c in second}:
        return "negates"
    if first == second:
        return "equal"
    if first < second:
        return "within"
    if first > second:
        return "contains"
    # The same units, cut in clauses in another way.
    signs = [{c.negated for c in found} for found in (a, b)]
    if signs[0] == signs[1] == {False}:
        more, less = (Counter(u for c in found for u in c.ordered) for found in (a, b))
        if turned_round(*(" ".join(c.written for c in found) for found in (a, b))):
            return "other"
        if more == less:
            return "equal"
        if near and _few_more(more, less) and not _owned(new, old):
            return "extends"
    return "other"


def _script(text: str) -> str:
    """Return which of the scripts a text is in that tell its language; each language keeps its own wording."""
    return next((name for name, pattern in _SCRIPTS if pattern.search(text)), "")


def _few_more(a: Counter[str], b: Counter[str]) -> bool:
    extra, missing = a - b, b - a
    if extra and missing:
        return False  # something stands in the place of something else
    added = extra or missing
    if any(re.search(r"\d|[〇一二三四五六七八九十百千万两]", unit) for unit in added):
        return False
    return sum(added.values()) * 4 <= sum((a | b).values())


def _owned(one: str, other: str) -> bool:
    """Whether one text speaks of somebody, and the other of who or what is his or hers: my son, my son's teacher."""
    sides = ((one.casefold(), other.casefold()), (other.casefold(), one.casefold()))
    return any(
        (m["who"] or m["whom"]) in b and (m["what"] or m["which"]) not in b
        for a, b in sides
        for m in _WHOSE.finditer(a)
    )


def _tokens(text: str, original: str) -> list[str]:
    found: list[str] = []
    previous_end = -1
    japanese = re.search(r"[\u3041-\u309f]", original) is not None
    for match in _TOKEN.finditer(text):
        token = match.group()
        if _KANA.match(token):
            beside = previous_end == match.start()
            token = _content(token, after_word=beside) if japanese else token
            previous_end = match.end()
            if token:
                found.append(token)
            continue
        previous_end = match.end()
        if token.isascii() and token[0] not in "\x01\x02":
            if token in _FILLER_WORDS:
                continue
            token = stem(token.removesuffix("'s"))
        found.append(token)
    return found


def _content(run: str, *, after_word: bool) -> str:
    """Return what a run of hiragana holds beside particles, endings and okurigana."""
    if _ENDING.fullmatch(run):
        return ""
    if after_word:
        if run[0] not in _PARTICLE:
            return ""
        run = run[1:]
    return _ENDING.sub("", run)
