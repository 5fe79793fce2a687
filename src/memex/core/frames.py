"""Whether a text says what another one says, but that something else stands in one place of it "now".

The same subject and the same doing with another object, whatever the verb is: "I drive a Saab", "I drive a Fiat now".
Of what somebody may have, like or do several at a time, a new one ends none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .fold import canonical
from .patterns import lazy
from .states import COLOUR, unlike
from .subject import head, is_verb

__all__ = ["NOW_EN", "NOW_JA", "NOW_ZH", "TOKEN_CJK", "TOKEN_EN", "both_hold", "owned", "refilled"]

_Parts = tuple[list[str], list[str], list[str], list[str]]

_MAX_CHARS = 100  # a longer text says more than one thing
_MOST_WORDS = 3  # in the place of what it was before, in English
_MOST_CHARS = 12  # the same in Chinese and Japanese

NOW_EN = lazy(r"\b(?:now|nowadays|these days|currently)\b,? ?")
NOW_ZH = lazy(canonical(r"现在|如今|目前|(?<=[我的])新的?(?=[\u3400-\u9fff])"))
NOW_JA = lazy(canonical(r"今(?![後日回度週月年朝夜晩期季春夏秋冬])(?:では|は|の)?、?|現在(?:は|の)?、?|新しい"))
_AN = lazy(r"\ban ")
_NEW_EN = lazy(r"\b((?:my|our|his|her|their|the)) (?:new|current) ")
TOKEN_EN = lazy(r"\w+(?:['./:-]\w+)*")
TOKEN_CJK = lazy(r"[a-z\d]+(?:[./:-][a-z\d]+)*|[\u3041-\u9fff\uac00-\ud7a3]|[,、]")
# Of these there may be several: what comes to one ends no other. Of "use" only for what it is used tells.
_SEVERAL_EN = lazy(
    r"\b(?:ha(?:ve|s)|got|own|like|love|enjoy|prefer|speak|know|play|read|want|need|see|watch|eat|collect|learn|stud(?:y|ie)|visit|follow|"
    r"support|offer|include|sell|hate|can|could|will|remember|mention|say|said|think|feel|tr(?:y|ied)|understand|cook|grow|keep)(?:s|es|ing|d)?\b"
)
_SEVERAL_ZH = lazy(canonical("[有会能爱看读玩听学吃想养说写买教种要做打认识]|喜欢|讨厌|支持|觉得"))
_SEVERAL_JA = lazy(
    canonical(
        "飼|[行来弾]|好[きみ]|嫌い|話[すせし]|持[っち]|読[んみむ]|食べ|見[てるた]|聞い|欲し|ほしい|でき|習[っい]|学[んび]|買[っい]|作[っる]|"
        "(?<!て)あ[りる]|(?<!て)い[るま]$"
    )
)
# Of these there are several for certain, whatever is told of them.
_MANY_EN = lazy(
    r"\b(?:(?:speak|know|like|love|enjoy|own|have|play|read|learn|collect|eat|cook|understand|hate|watch|sell|offer|support)(?:s|es|ing)?|has|got|"
    r"(?:fluent|interested) in|(?:good|bad) at|familiar with)(?: (?:a|the|some|my|our|how to|about))*$|"
    r"\b(?:have|has|owns?) a \w+ in$"
)
_MANY_ZH = lazy(canonical("(?:[会懂有爱学读养说]|会[写用做弹拉说打修画]|喜欢|认识|熟悉|擅长|精通)[小老阿]?$"))
_MANY_JA = lazy(
    canonical(
        "[^は、]{0,2}(?:[がも](?:好き|嫌い|でき|話せ|書け|弾け|使え|わか|得意|読め)|[をも](?:勉強|学[んび]|習[いっ]|話[しす]|飼)|に興味)"
    )
)
_COUNTS = frozenset("one two three four five six seven eight nine ten twelve weekly daily monthly".split())
_COUNT_ZH = lazy(canonical(r"\d|[一二三四五六七八九十百千万两]"))
# With its verb it makes another verb, or it tells where or how.
_OTHER_VERB_ZH = lazy(canonical("开[始心会玩放发学口店源工门花]|.[在到着过不得了]"))
_STATE_JA = lazy(canonical("(?:中|不在|休み|済み|前|後)$"))
_PERSON_JA = lazy(canonical("さん|くん|ちゃん|様|氏|先生"))  # before it stands a name: 田中さん
_USES = lazy(canonical(r"\bus(?:e|es|ing)$|用$"))
_IS_EN = lazy(r"\b(?:am|is|are|'m|'s|'re)$")
_SELF_IS = lazy(
    canonical(
        r"^(?:(?:i|we|he|she|they|user|it) (?:am|is|are)|i'm|we're|he's|she's|it's|"
        r"(?:我们?|用户|他|她|它)是?)$"
    )
)
_NICKNAME_ZH = canonical("小老阿")
_IS_ZH = lazy(canonical("[是叫为][小老阿]?$"))
_SELF_EN = lazy(r"(?:i|we|user) \w+")
_ADVERB_ZH = lazy(canonical("^(?:每[天周月年晚早]|经常|通常|一般|一直|都|也|很|还|就|在|的|是不是)*$"))
_ARTICLE = lazy(r" (?:a|the|my|our|dr|mr|mrs|ms|prof)$")
_JOINING_EN = frozenset("a an the to at in on for with from of by my our no not as and or".split())
_SELF_JA = lazy(canonical(r"^(?:私たち|私|僕|俺|うち|ユーザー)[のは]、?|^(?:担当|かかりつけ)の"))
_BECAME_JA = lazy(canonical(r"[にと]な(?:りました|った|っています|っている)$"))
_IS_JA = lazy(canonical(r"(?:です|だ|である)?$"))
# What one rides for a minute or a journey, not as one's way to go.
_PASSING = lazy(
    canonical(
        r"\b(?:elevator|escalator|lift|plane|airplane|ferris wheel|roller ?coaster)\b|电梯|扶梯|飞机|过山车|"
        "エレベーター|エスカレーター|飛行機|観覧車|コースター"
    )
)
# "I have a new dentist, Dr. Moreau" is of whom one has one.
_HAS_NEW_EN = lazy(
    r"^(?:i|we|user)(?:'ve| have| has)?(?: now)?(?: got| have| has| found| hired)? a new "
    r"(?!(?:\w+ )?(?:friend|cat|dog|pet|colleague|co-?worker|teammate|neighbou?r|client|customer|cousin|hobby|book|"
    r"song|game|project|task|brother|sister|child|son|daughter|nephew|niece|grand\w+|student|intern|employee)\b)"
    r"(\w+(?: \w+)?)"
    r"(?: now)?(?:[,:;]| -| called| named)(?: (?:his|her|its|their) name is| called| named)? "
)
_HAS_NEW_ZH = lazy(
    canonical(
        "^(?:我|我们|用户)(?:现在)?(?:有|换|找|来|请|雇)了?(?:一?[个位台辆])?新的?(?!(?:朋友|同事|猫|狗|宠物|邻居|客户|同学|学生|爱好|游戏))"
        "([\u3400-\u9fff]{1,5})[,:](?:他|她|它)?(?:叫|是)?"
    )
)
_SWITCHED_EN = lazy(
    r"^(?:i|we|user)(?:'ve| have| has)? (?:just |recently )?(?:switched|changed) "
    r"(?!(?:thing|mind|plan|side|place)s\b)(\w+?)(?:e?s)"
    r"(?: again)?"
    r"(?:[,:;.]| -| and)* (?:and )?(?:now )?(?:i'm|i am|we're|we are|it's|it is|i|we)(?: now)? "
    r"(?:with |bank with |go to |use )?(?!(?:happy|not|so|very|glad|at|in|on|going)\b)(?=[a-z])"
)
_SWITCHED_ZH = lazy(
    canonical(
        "^(?:我|我们)(?:刚|最近)?换了?(?!了)([\u3400-\u9fff]{2,4}?)了?,"
        "(?:现在|以后)(?:是|用的?是?|去的?是?|在)"
        "(?=[^,。]{1,8}[。.]?$)"
    )
)
_SWITCHED_JA = lazy(
    canonical(
        "^([\u3400-\u9fff\u30a1-\u30ff]{2,6})を(?:変え|替え|換え)(?:て|ました|た)[、。]? ?今は"
        "(?=[^、。はがを]{1,10}(?:です|だ)[。.]?$)"
    )
)
_OURS = lazy(r"^(?:our|user's|the user's) ")
_TOPIC = lazy("[はがもの、,]")
_KANA = lazy("[\u3041-\u30fa]")


def owned(told: str) -> str:
    """Return a folded text with "my new dentist is Dr. Moreau" for "I have a new dentist, Dr. Moreau".

    Likewise for "I switched banks, I'm with Calder now".
    """
    if told.isascii():
        return _SWITCHED_EN.sub(r"my new \1 is ", _HAS_NEW_EN.sub(r"my new \1 is ", told))
    if _KANA.search(told):
        return _SWITCHED_JA.sub(r"今の\1は", told)
    return _SWITCHED_ZH.sub(canonical(r"我的新\1是"), _HAS_NEW_ZH.sub(canonical(r"我的新\1是"), told))


def refilled(new: str, old: str, *, named: bool) -> bool:
    """Whether the folded `new` says of now what the folded `old` says, with something else in one place.

    `named`: what it is said to be is a name in both, so that it tells who or which, not how something is.
    """
    framed = _framed(new, old)
    if framed is None:
        return False
    language, parts, idle = framed
    if idle or len({_PASSING.search("".join(side)) is None for side in parts[1:3]}) > 1:
        return False
    if language == "en":
        return _english(*parts, named=named)
    return (_japanese if language == "ja" else _chinese)(*parts)


def both_hold(new: str, old: str) -> bool:
    """Whether the folded texts differ in one place, where the one thing does not exclude the other.

    Of what one knows, speaks, plays or owns there may be several; a colour is no fault.
    """
    framed = _framed(new, old)
    if framed is None:
        return False
    language, (before, one, other, after), _ = framed
    if not one or not other or (len(before) < 2 and language != "ja"):
        return False
    if language == "en":
        frame = " ".join(before)
        if _IS_EN.search(_ARTICLE.sub("", frame)):
            return not after and unlike(*(" ".join(side) for side in (one, other)))
        counted = any(word.isdigit() or word in _COUNTS for word in (*one, *other))
        return not counted and (not after or after[0] in _JOINING_EN) and _MANY_EN.search(frame) is not None
    rest = "".join(after)
    if language == "ja":
        how = unlike(*("".join([*side, *after]) for side in (one, other)))
        return (before[-1:] == ["は"] and how) or _MANY_JA.match(rest) is not None
    frame = "".join(before)
    if frame[-1] not in _NICKNAME_ZH and unlike(*("".join([*side, *after]) for side in (one, other))):
        return True
    counted = any(_COUNT_ZH.search(token) for token in (*one, *other))
    return not counted and len(rest) < 2 and _MANY_ZH.search(frame) is not None


def _framed(new: str, old: str) -> tuple[str, _Parts, bool] | None:
    """Return the language, how two texts are alike beside one place, and whether they tell no doing.

    None if the new one does not speak of now.
    """
    new, old = new.rstrip(" .!。"), old.rstrip(" .!。")
    if max(len(new), len(old)) > _MAX_CHARS:
        return None
    if new.isascii() and old.isascii():
        told = _NEW_EN.sub(r"\1 ", NOW_EN.sub("", new))
        if told == new:
            return None
        sides = (_OURS.sub("my ", _AN.sub("a ", side)) for side in (told, old))
        return "en", _parted(*(TOKEN_EN.findall(side) for side in sides)), False
    if _KANA.search(new) or _KANA.search(old):
        told = NOW_JA.sub("", new)
        if told == new:
            return None
        sides = (
            _IS_JA.sub("です", _BECAME_JA.sub("", _SELF_JA.sub("", side)), count=1)
            if _nominal(side)
            else _SELF_JA.sub("", side)
            for side in (told, old)
        )
        return "ja", _parted(*(TOKEN_CJK.findall(side) for side in sides)), False
    if (mark := NOW_ZH.search(new)) is None:
        return None
    told = NOW_ZH.sub("", new)
    parts = _parted(*(TOKEN_CJK.findall(side) for side in (told, old)))
    doing = "".join(parts[0])[len(new[: mark.start()].replace(" ", "")) :]  # both have it after "now"
    return "zh", parts, _ADVERB_ZH.match(doing) is not None


def _nominal(side: str) -> bool:
    return re.search(canonical("(?:です|だ|である|[にと]な(?:りました|った|っています|っている))$"), side) is not None


def _parted(new: Sequence[str], old: Sequence[str]) -> _Parts:
    """Return what both have before the place, what is in it now and was in it, and what both have after it."""
    most = min(len(new), len(old))
    start = next((at for at in range(most) if new[at] != old[at]), most)
    end = next((at for at in range(most - start) if new[-1 - at] != old[-1 - at]), most - start)
    return [*new[:start]], [*new[start : len(new) - end]], [*old[start : len(old) - end]], [*new[len(new) - end :]]


def _english(before: list[str], new: list[str], old: list[str], after: list[str], *, named: bool) -> bool:
    frame = _ARTICLE.sub("", " ".join(before))
    if not new or not old or len(before) < 2 or max(len(new), len(old)) > _MOST_WORDS:
        return False
    if _JOINING_EN & {*new, *old} or _SEVERAL_EN.search(frame) or (_USES.search(frame) and not after):
        return False
    if not _IS_EN.search(frame):
        verb = is_verb(before[-1]) and not is_verb(new[0]) and not is_verb(old[0])
        return verb or bool(_SELF_EN.match(frame) or head(f"{frame} "))
    both = [" ".join([*side, *after]) for side in (new, old)]
    parts = [set(re.split("[ -]", side)) for side in both]
    if parts[0] & parts[1] or all(COLOUR.fullmatch(side) for side in both):
        return True
    return named and not _SELF_IS.match(frame)


def _chinese(before: list[str], new: list[str], old: list[str], after: list[str]) -> bool:
    frame = "".join(before)
    if not new or not old or len(before) < 2 or max(len("".join(new)), len("".join(old))) > _MOST_CHARS:
        return False
    if "," in {*new, *old} or _SELF_IS.match(frame) or (_SEVERAL_ZH.search(frame) and not _IS_ZH.search(frame)):
        return False
    if any(_OTHER_VERB_ZH.match(before[-1] + side[0]) for side in (new, old)):
        return False
    return bool(after) or not _USES.search(frame)


def _japanese(before: list[str], new: list[str], old: list[str], after: list[str]) -> bool:
    frame, rest = "".join(before), "".join(after)
    if not new or not old or max(len("".join(new)), len("".join(old))) > _MOST_CHARS:
        return False
    if not _PERSON_JA.match(rest) and any(_STATE_JA.search("".join(side)) for side in (new, old)):
        return False
    if _TOPIC.search("".join([*new, *old])) or _SEVERAL_JA.search(rest):
        return False
    if all(COLOUR.fullmatch("".join(side)) for side in (new, old)):
        return frame.endswith("は")
    if rest.endswith("です"):
        return frame.endswith("は")
    return (
        len(rest) > 2
        and (not frame or _TOPIC.search(frame) is not None)
        and re.search("[にをでとへ]", rest) is not None
    )
