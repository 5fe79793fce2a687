"""Whether two statements of one frame are about different things: another subject, and something else said of it.

"Server A has 64 GB", "server B has 128 GB now"; "Ann reviews Ben's code", "Ben reviews Ann's code now". Who corrects
changes one place of what was said: where the subject is another one and so is the rest, both statements may be true.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from .claims import NAMED_A
from .fold import canonical
from .frames import NOW_EN, NOW_JA, NOW_ZH, TOKEN_CJK, TOKEN_EN
from .patterns import lazy
from .stem import stem
from .subject import is_verb, people

__all__ = ["of_another"]

_MAX_CHARS = 100  # a longer text says more than one thing
_MOST_WORDS = 7  # of a subject in English
_KANA = lazy("[\u3041-\u30fa]")
_SENTENCE_END = lazy(r"[!?;。\n]+|\.(?=\s|$)")
_PRONOUNS = frozenset(
    "i i'm i've we we're we've user you he she they it it's that this there he's she's they're what who".split()
)
_DETERMINERS = frozenset("the a an my our user's new current old this that's of".split())
_ADVERBS = frozenset(
    "actually correction already just only also still usually always often mostly recently lately today".split()
)
_BE = frozenset("is are was were am".split())
_NO_NOUN = frozenset("in on at for with from by to and or but because since if when as than not no".split())
_SELF_ZH = lazy(canonical("^(?:我们|咱们|我|用户|主人|咱)"))
_OWN_ZH = lazy(canonical("^(?:其实|实际上|更正:?)?,?(?:我们|咱们|我|用户|主人|咱)?的?"))
# What tells that a subject is over, whatever the verb is; and words of change, which stand for another verb.
_VERB_ZH = lazy(canonical("[是在有用由改换搬到去叫说归跑住做开换迁变为从被把将给向和跟不没了着过]"))
_IDLE_ZH = lazy(canonical("^[都也就还仍又的已]+"))
_BY_ZH = lazy(canonical("[由被归]"))
_BE_ZH = lazy(canonical("^[是在有为叫]"))
_SELF_JA = lazy(canonical("^(?:私たち|私|僕|俺|うち|ユーザー)(?:の|、|$)"))
_SUBJECT_JA = lazy(
    canonical(
        "^(?P<noun>[^は、]{1,24}?)は、?(?P<rest>[^、]+)$|^(?P<actor>[^はが、]{1,24})が(?P<doing>[^は、]+)$|"
        "^(?P<thing>[^はがを、]{1,24}の[^はがを、]{1,12})を(?P<done>[^は、]+)$"
    )
)
# With or for whom something is done; when it is, or for how much; and in which respect somebody is compared.
_PARTNER = lazy(
    canonical(
        r"\b(?:i|we)(?: \w+ly| always| often)? (?:meet|see|call|coach|train|tutor) (?:with )?"
        r"(?!(?:on|at|in|every|each|the|a|an)\b)([a-z]+)\b|"
        r"\bwith (?!(?:the|a|an|no|my|our)\b)([a-z]+)\b|\b(?:pay|owe|give|charge|lend|bill)s? (?!(?:the|a|an)\b)"
        r"([a-z]+)(?= [$€£]?\d)|"
        r"(?:给|付|付给|欠|借给)([\u3400-\u9fff]{1,4}?)(?=(?:每|一)(?:个?小时|天|个?月|周|次|节课?)|\d+[块元])|"
        r"(?:和|跟|与)([\u3400-\u9fff]{1,4}?)(?=开会|见面|吃饭|打|跑|上课|练|学|碰|聊|通话|一起|约|踢|下棋|爬|游)|"
        r"(?:^|[にはで、])([^、。はにがで]{1,8}?)と(?=会|話|打ち合わせ|食事|練習|走|勉強|テニス|一緒|電話|出かけ|泳)"
    )
)
_WHEN_OR_SUM = lazy(
    canonical(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b\d[\d:.,]*(?: ?[ap]m)?\b|"
        r"(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜|[\d一二三四五六七八九十两]+(?:点半?|时|時半?|块|元|円)"
    )
)
_COMPARED = lazy(
    canonical(
        r"\bis (?:now )?((?:more |less )?\w+)(?: now)? than \w+|[^、。はが]{1,12}[はが][^、。はが]{1,12}より、?"
        r"((?:[^、。はが]{1,8}が)?[^、。はが]{1,8}?)(?:です|。|$)|"
        r"[^,。]{1,8}比[\u3400-\u9fff]{1,4}?((?:跑得|吃得|起得|做得|学得)?[高矮快慢大小早晚强弱胖瘦重轻贵近远]|年[长轻]|便宜)"
    )
)
_WHEN_JA = lazy(
    canonical("^(?:(?:実|最近|以前|これから|今後|もう|毎[朝日週月晩]|普段|いつも|平日|休日|通常)(?:は|の|、)*)+")
)
_END_JA = lazy(canonical("(?:です|だ|である|でした|だった)$"))


def of_another(new: str, old: str) -> bool:
    """Whether the folded `new` says of another thing or person what `old` says of one, with something else said."""
    sides = [_SENTENCE_END.split(side.strip(" .!?。\n")) for side in (new, old)]
    if max(map(len, (new, old))) > _MAX_CHARS or any(len(side) > 1 for side in sides):
        return False
    one, other = (side[0].strip() for side in sides)
    if _with_another(one, other) or _compared_otherwise(one, other):
        return True
    if one.isascii() and other.isascii():
        return _english(*(list(TOKEN_EN.findall(NAMED_A.sub("a_", NOW_EN.sub("", side)))) for side in (one, other)))
    if _KANA.search(one) or _KANA.search(other):
        return _japanese(*(_SELF_JA.sub("", _WHEN_JA.sub("", NOW_JA.sub("", side))) for side in (one, other)))
    return _chinese(one, other)


def _with_another(new: str, old: str) -> bool:
    """Whether something is done with, or for, another person at another time, or for another sum: both may be so."""
    pairs = [(_PARTNER.search(side), {match.group() for match in _WHEN_OR_SUM.finditer(side)}) for side in (new, old)]
    (partner, told), (other, was) = pairs
    if partner is None or other is None or not told or not was or told & was:
        return False
    names: list[str] = [next(filter(None, match.groups())).strip() for match in (partner, other)]
    return names[0] != names[1]


def _compared_otherwise(new: str, old: str) -> bool:
    """Whether two of the same kind are compared in another respect: who is taller may be the slower one."""
    ways: list[str] = [next(filter(None, m.groups())) if (m := _COMPARED.search(side)) else "" for side in (new, old)]
    return "" not in ways and ways[0] != ways[1] and not (ways[0] in ways[1] or ways[1] in ways[0])


def _english(new: Sequence[str], old: Sequence[str]) -> bool:
    one, other = ([word for word in side if word not in _ADVERBS] for side in (new, old))
    if not one or not other or {one[0], other[0]} & _PRONOUNS:
        return False
    at = next(
        ((i, other.index(w, 1)) for i, w in enumerate(one) if 0 < i <= _MOST_WORDS and _is_verb(w) and w in other[1:]),
        None,
    )
    if at is None or at[1] > _MOST_WORDS:
        return False
    (subject, rest), (was, was_rest) = (one[: at[0]], one[at[0] + 1 :]), (other[: at[1]], other[at[1] + 1 :])
    if any(word in _NO_NOUN or word in _BE for word in (subject[-1], was[-1])) or _BE & {*subject, *was}:
        return False
    labels, olds = _nouns(subject), _nouns(was)
    if labels == olds or not labels or not olds:
        return False
    longer, shorter = max(subject, was, key=len), min(subject, was, key=len)
    if labels < olds or olds < labels:
        return f"{shorter[-1]}'s" in longer and (
            one[at[0]] not in _BE or people(" ".join(subject)) != people(" ".join(was))
        )
    if one[at[0]] in _BE and (olds == _nouns(rest) or labels == _nouns(was_rest)):
        return False  # "Oslo is my home", "my home is Rome"
    said, before = _nouns(rest), _nouns(was_rest)
    return not said <= before and not before <= said


def _is_verb(word: str) -> bool:
    return is_verb(word) or (len(word) > 4 and word.endswith("ed"))


def _nouns(words: Sequence[str]) -> set[str]:
    """Return the words of a phrase without its determiners."""
    return {stem(word.removesuffix("'s")) for word in words if word not in _DETERMINERS}


def _chinese(new: str, old: str) -> bool:
    marked = NOW_ZH.search(new)
    told, was = (NOW_ZH.sub("", side) for side in (new, old))
    at = marked.start() if marked else 0
    for side in (told, was):
        own = _SELF_ZH.match(side)
        if own and not people(side[own.end() : own.end() + 4]) and canonical("的") != side[own.end() : own.end() + 1]:
            return False  # it is about the owner of the memory
    subject, doing = told[:at], _IDLE_ZH.sub("", told[at:])
    start = was.find(doing[0], 1) if subject and doing and not doing[0].isdigit() else -1
    if start > 0 and _BY_ZH.search(was[:start]):
        return False  # "the app is made by Wang", "Li makes the app now"
    if start > 0:
        subject, before = (_OWN_ZH.sub("", part) for part in (subject, was[:start]))
        return _other_subject(subject, before, doing[1:], was[start + 1 :], be=_BE_ZH.match(doing) is not None)
    one, other = (TOKEN_CJK.findall(_OWN_ZH.sub("", side)) for side in (told, was))
    if sorted(one) == sorted(other):
        return bool(one[0] != other[0])  # the same words, and somebody else does it
    steps = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    if len(changed) < 2 or changed[0][0] != "replace" or all(step[0] != "replace" for step in changed[1:]):
        return False
    _, first, end, start, was_end = changed[0]
    # What is replaced is the subject: then what is said of it may be longer or shorter, too.
    if any(step[0] != "replace" for step in changed) and (
        first or start or end > len(TOKEN_CJK.findall(_OWN_ZH.sub("", told[:at])))
    ):
        return False
    return _VERB_ZH.search("".join([*one[:end], *other[start:was_end]])) is None


def _other_subject(subject: str, before: str, rest: str, was_rest: str, *, be: bool) -> bool:
    """Whether two subjects in Chinese or Japanese are different ones, and what is said of each is something else."""
    if not subject or not before or subject == before or rest == was_rest:
        return False
    shorter, longer = sorted((subject, before), key=len)
    if shorter in longer:
        owned = longer.startswith((shorter + canonical("的"), shorter + "の"))
        return owned and (not be or people(subject) != people(before))
    # "Rome is my home", "my home is Oslo" are about one thing.
    return not (be and (subject == _END_JA.sub("", was_rest) or before == _END_JA.sub("", rest)))


def _japanese(new: str, old: str) -> bool:
    one, other = _SUBJECT_JA.match(new), _SUBJECT_JA.match(old)
    if one is None or other is None:
        return False
    (subject, rest), (before, was_rest) = ([part for part in match.groups() if part] for match in (one, other))
    be = [_END_JA.search(side) is not None for side in (rest, was_rest)]
    if be[0] != be[1] or ("が" in rest) != ("が" in was_rest) or (not be[0] and rest[-3:] != was_rest[-3:]):
        return False
    return _other_subject(subject, before, rest, was_rest, be=be[0])
