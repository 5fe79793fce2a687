"""An extractive summary of memories: whole sentences, chosen by what they state and by the frequency of their terms.

Sentences that repeat one another (Jaccard of their terms >= 0.7, the same numbers) are one; the best are kept in their
original order and language. What states a lasting fact (an allergy, a preference, a decision, a name) is always among
them, and so are the few that are like nothing else, if the others are alike. Deterministic; some 2 ms for 50
memories of a sentence or two.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from .passages import sentences
from .patterns import lazy

__all__ = ["DEFAULT_MAX_CHARS", "SAME_JACCARD", "summarize", "told_terms"]

DEFAULT_MAX_CHARS = 4_000
SAME_JACCARD = 0.7

_LEAST_TERMS = 3  # of what states nothing that lasts: "Yes." and "Thanks!" tell nothing out of their place
_SHARE = 0.5  # of the different sentences, as long as they fit
_LEAST_SENTENCES = 3
_END = lazy(r"[.!?。！？｡…\n]")
_TRAILING = " .!?。！？｡…\"'”’」』)）\n"
_WORD = lazy(r"\d+|[^\W\d\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]{3,}|[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_STOP = frozenset(
    """the and for are was were you your with that this have has had not but they she her his him its our from what when
    will would can could there here just like get got about all out one been did does don""".split()
)

# One of these terms (words, or pairs of letters in Chinese and Japanese) and a sentence states what lasts.
_LASTING = frozenset(
    """allergic allergy allergies intolerant vegetarian vegan diabetic asthma prefer prefers preferred preference
    favorite favourite likes hates dislikes decided decision policy named birthday born live lives works married
    divorced moved hired retired deadline
    过敏 素食 喜欢 偏好 讨厌 最爱 决定 选定 约定 商定 名叫 叫做 生日 出生 结婚 离婚 住在 搬到 入职 退休 糖尿 哮喘 截止
    ルギ 好き 好む 嫌い 苦手 菜食 決め 決ま 決定 方針 名前 誕生 生ま 結婚 離婚 住ん 転職 入社 退職 糖尿 喘息 締切
    """.split()
)
# So does what says who or what somebody's is, in however few words.
_IS_OURS = lazy(
    r"(?:my|our|(?:the )?user's) [\w' -]{2,30}? (?:is|are) (?:called |named )?(?-i:[A-Z\d])|"
    r"(?:我们?|咱们?|用户)(?:家|公司)?的?[^,，。\s]{1,8}?(?:是|叫)(?!不|因为|为了|想|说|在)|"
    r"(?:私の|うちの|僕の|ユーザーの)?[^、。はがをに\s]{1,10}は[^、。\s]{1,12}(?:さん|先生|氏|番|号)(?:です|だ|。|\Z)",
    re.IGNORECASE,
)
_UNLIKE = 0.5  # more of the words of a sentence are in no other one: it is like nothing else
_FEW = 0.2  # of the sentences: of more, none is an exception


def summarize(texts: Sequence[str], *, max_chars: int = DEFAULT_MAX_CHARS, without: Sequence[str] = ()) -> str:
    """Return the sentences of `texts` (in their order) that tell the most, one line for each text.

    `without` holds sentences, as `sentences` cuts them, that must not be in the summary. Empty if
    nothing tells anything.
    """
    left_out = set(without)
    found: list[tuple[int, str, frozenset[str]]] = []
    for number, text in enumerate(texts):
        # Most memories are one sentence, and to look for its end costs less than to split it.
        for sentence in sentences(text) if _END.search(text.rstrip(_TRAILING)) else [text.strip()]:
            terms = told_terms(sentence)
            if (len(terms) >= _LEAST_TERMS or _lasts(sentence, terms)) and sentence not in left_out:
                found.append((number, sentence, terms))
    found = _different(found)
    if not found:
        return ""
    frequency = Counter(chain.from_iterable([terms for _, _, terms in found]))
    # Mean frequency by the square root of the length: neither the longest nor the shortest wins by that alone.
    scores = [sum(map(frequency.__getitem__, terms)) / math.sqrt(len(terms)) for _, _, terms in found]
    best = sorted(range(len(found)), key=lambda at: (-scores[at], at))
    kept = [at for at in best if _lasts(*found[at][1:])]
    unlike = [at for at in best if _alone(found[at][2], frequency)]
    if len(unlike) <= _FEW * len(found):
        kept += unlike
    wanted = max(_LEAST_SENTENCES, math.ceil(len(found) * _SHARE))
    order = list(dict.fromkeys([*kept, *best[:wanted]]))
    chosen: list[int] = []
    used = 0
    for at in order:
        size = len(found[at][1]) + 1
        if used + size <= max_chars:
            chosen.append(at)
            used += size
    if not chosen:  # one sentence longer than the whole budget
        return found[order[0]][1][:max_chars]
    lines: dict[int, list[str]] = {}
    for at in sorted(chosen):
        lines.setdefault(found[at][0], []).append(found[at][1])
    return "\n".join(" ".join(parts) for parts in lines.values())


def told_terms(sentence: str) -> frozenset[str]:
    """Return the words that tell something, of Chinese and Japanese pairs of characters."""
    terms = set()
    for word in _WORD.findall(sentence.lower()):
        if word[0] < "\u3041" or len(word) == 1:
            terms.add(word)
        else:
            terms.update([word[i : i + 2] for i in range(len(word) - 1)])
    return frozenset(terms - _STOP)


def _lasts(sentence: str, terms: frozenset[str]) -> bool:
    return not terms.isdisjoint(_LASTING) or _IS_OURS.match(sentence) is not None


def _alone(terms: frozenset[str], frequency: Counter[str]) -> bool:
    words = [term for term in terms if not term.isdigit()]
    return [frequency[word] for word in words].count(1) > len(words) * _UNLIKE


def _different(found: list[tuple[int, str, frozenset[str]]]) -> list[tuple[int, str, frozenset[str]]]:
    """Return the sentences without those that repeat an earlier one."""
    frequency = Counter(chain.from_iterable([terms for _, _, terms in found]))
    # One order for all sets (rarest first), and the same in every process.
    rank = {term: at for at, (term, _) in enumerate(sorted(frequency.items(), key=lambda item: (item[1], item[0])))}
    kept: list[tuple[int, str, frozenset[str]]] = []
    holders: dict[tuple[frozenset[str], str], list[int]] = {}
    for item in found:
        terms = item[2]
        # Two sets that share so much share one of their rarest terms, so only those are looked up.
        rarest = sorted(terms, key=rank.__getitem__)
        rarest = rarest[: len(terms) - math.ceil(SAME_JACCARD * len(terms)) + 1]
        numbers = frozenset(filter(str.isdigit, terms))
        near = {at for term in rarest for at in holders.get((numbers, term), ())}
        if any(_jaccard(terms, kept[at][2]) >= SAME_JACCARD for at in near):
            continue
        for term in rarest:
            holders.setdefault((numbers, term), []).append(len(kept))
        kept.append(item)
    return kept


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)
