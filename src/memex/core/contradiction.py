"""When a new statement makes an old one untrue: by rules for English, Chinese and Japanese.

Three signs: the same words with the other sign; the same subject and a predicate that has one object
at a time, with another object; a phrase of correction ("no longer", 改用, ではなく) that names what is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .claims import MAX_COMPARED_CHARS, overlap, relation, units
from .fold import canonical, fold
from .traits import read_turn

__all__ = ["Fact", "contradicts", "facts", "is_correction", "retired"]

_MAX_SENTENCE_CHARS = 200
_LEAST_OVERLAP = 0.4  # of a plain correction ("actually, ...") with what it corrects


def _rx(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(canonical(pattern) for pattern in patterns))


@dataclass(frozen=True, slots=True)
class Fact:
    """Subject, predicate and object, as far as one object at a time can be true."""

    subject: frozenset[str]
    predicate: str
    object: frozenset[str]


_ATTRIBUTES = (
    r"favou?rite \w+|birthday|phone number|email(?: address)?|address|time ?zone|password|port|deadline|budget|job|"
    r"employer|boss|manager|doctor|dentist|database|backend|frontend|default branch|primary region|region|ci|hometown|"
    r"release date|username|version|order number|code|surname|nickname|team lead"
)
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day\w*|(?:the )?\d[\w:./ -]*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*)"
_WHO = r"(?P<s>\bi|\bwe|\buser|\bmy (?:\w+ )?\w+|\b(?:the|our) [\w ]{2,30}?|(?<=^)\w+)"
_ATTRIBUTE_ZH = "生日|电话|邮箱|地址|时区|密码|端口|版本|负责人|预算|截止日期|订单号|最喜欢的.{1,4}|数据库|后端|前端|主区域|职业|主治医生|昵称"
_ATTRIBUTE_JA = (
    "誕生日|電話番号|メールアドレス|住所|タイムゾーン|パスワード|ポート|バージョン|リーダー|担当|予算|締め切り|注文番号|"
    "一番好きな.{1,6}|データベース|職業|主治医|デフォルトブランチ"
)

# Predicate and pattern; s: subject (absent: the owner of the memory), o: object.
_PREDICATES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "lives",
        _rx(rf"{_WHO}(?: now| currently)? (?:live|lives|am living|'m living|moved|have moved) (?:in|to) (?P<o>[\w ]+)"),
    ),
    ("works", _rx(rf"{_WHO}(?: now)? works? as (?P<o>[\w ]+?)(?= (?:in|at|for)\b|$)")),
    ("works for", _rx(rf"{_WHO}(?: now)? works? (?:at|for) (?P<o>[\w ]+)")),
    ("is called", _rx(r"\b(?P<s>(?:my|our) (?:\w+ )?\w+?)(?:'s name)? is (?:called |named )(?P<o>[\w ]+)")),
    ("is called", _rx(r"\b(?P<s>(?:my|our) (?:\w+ )?\w+)'s name is (?P<o>[\w ]+)")),
    (
        "is",
        _rx(
            rf"\b(?:my|our|the|user's|his|her) (?P<s>(?:\w+ )?(?:{_ATTRIBUTES}))(?: for [\w ]+?)? is (?:now )?(?!not\b)(?P<o>[^,;!?]+)"
        ),
    ),
    ("is on", _rx(rf"{_WHO} (?:is|takes place|starts|was moved|moved|happens?)(?: now)? (?:on|at|to) (?P<o>{_DAY})")),
    ("does on", _rx(rf"\b(?:we|i) (?P<s>\w+)(?: only)? on (?P<o>{_DAY})")),
    ("written in", _rx(r"(?P<s>[\w ]+?) (?:is|are)(?: now)? (?:written|built) (?:in|with) (?P<o>[\w .#+]+)")),
    ("runs on", _rx(r"(?P<s>[\w ]+?) (?:runs?|is hosted|is deployed) (?:on|to) (?P<o>[\w .#+-]+)")),
)
_PREDICATES_CJK: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "lives",
        _rx(
            r"(?:^|[,。 ])(?P<s>我[^,。住搬]{0,4}|用户|主人)?(?:现在|目前)?(?:住在|搬到了?|搬去了?)(?P<o>[^,。!]{1,10})"
        ),
    ),
    ("works", _rx(r"(?P<s>我[^,。在]{0,4}|用户|主人)在[^,。当]{1,12}当(?P<o>[^,。]{1,8})")),
    ("is called", _rx(r"(?P<s>我[^,。叫名]{1,5})(?:名字)?叫(?P<o>[^,。]{1,10})")),
    ("is", _rx(rf"(?P<s>[^,。]{{0,6}}?(?:{_ATTRIBUTE_ZH}))(?:现在)?(?:是|为|用)(?P<o>[^,。]{{1,20}})")),
    (
        "is on",
        _rx(
            r"(?P<s>[^,。]{1,8}?)(?:只|改)?(?:定在|定于|改到|改在|在|是)(?P<o>(?:每?周|星期|礼拜)[一二三四五六日天][^,。]{0,6}|\d+[月日号点][^,。]{0,6})"
        ),
    ),
    ("runs on", _rx(r"(?P<s>[^,。]{1,10}?)跑在(?P<o>[^,。]{1,14}?)(?:上|$|[,。])")),
    ("written in", _rx(r"(?P<s>[^,。]{1,6}?端)是?用(?P<o>[^,。]{1,12}?)写")),
    (
        "lives",
        _rx(
            r"(?:^|[、。 ])(?:今は)?(?:(?P<s>[^、。]{1,6}?)[はが])?(?P<o>[^、。はが]{1,10})(?:に住んで|へ引っ越し|に引っ越し)"
        ),
    ),
    ("works", _rx(r"(?:(?P<s>[^、。]{1,6}?)は)?[^、。は]{1,8}で(?P<o>[^、。]{1,8})(?:として働|をして)")),
    ("is called", _rx(r"(?P<s>[^、。]{1,8}?)の名前は(?P<o>[^、。]{1,10}?)(?:です|だ|といい|$|。)")),
    ("is", _rx(rf"(?P<s>[^、。]{{0,8}}?(?:{_ATTRIBUTE_JA}))は(?P<o>[^、。]{{1,20}}?)(?:です|だ|$|。)")),
    (
        "is on",
        _rx(
            r"(?P<s>[^、。]{1,8}?)は(?P<o>[月火水木金土日]曜[^、。]{0,8}?|\d+[月日時][^、。]{0,6}?)(?:です|だ|に|$|。)"
        ),
    ),
    ("runs on", _rx(r"(?P<s>[^、。]{1,12}?)は(?P<o>[^、。]{1,24}?)で動い")),
    ("written in", _rx(r"(?P<s>[^、。]{1,12}?)は(?P<o>[^、。]{1,12}?)で書")),
)

# A phrase of correction; o: what is over.
_RETIRED = _rx(
    r"\bno longer (?:(?:use|uses|using|like|likes|work|works|live|lives|support|supports)(?: (?:at|in|for|on))? )?(?P<o1>[\w .#+-]{2,30}?)(?=[,;.!?]|$| for\b| in\b)",
    r"\b(?:instead of|rather than) (?P<o2>[\w #+-]{2,30}?)(?=[,;.!?]|$| for\b| in\b)",
    r"\b(?:switched|moved|migrated|changed)(?: \w+)? from (?P<o3>[\w .#+-]{2,30}?) to\b",
    r"\b(?:stopped using|gave up on|gave up|replaced|dropped) (?P<o4>[\w .#+-]{2,30}?)(?=[,;.!?]|$| and\b| with\b| by\b)",
    r"\b(?:,|and|,? but) not (?:on |in |at )?(?P<o5>[\w .#+-]{1,30}?)(?=[,;.!?]|$)",
    r"\b(?:don't|do not|doesn't) use (?P<o6>[\w .#+-]{2,30}?) any ?more\b",
    r"不再(?:使?用|喝|吃|支持|住在|喜欢)?(?P<p1>[^,。!]{1,15}?)(?:了|$|[,。!])",
    r"(?:代替|取代|而不是|放弃了?|弃用了?)(?P<p2>[^,。!]{1,15}?)(?:了|$|[,。!])",
    r"从(?P<p3>[^,。]{1,15}?)(?:换成|改成|改用|迁移到|换到|切换到)",
    r"(?:[,。]|^)不是(?P<p4>[^,。!]{1,12}?)了?(?:$|[,。!])",
    r"(?P<q1>[^、。は]{1,15}?)(?:は|を)もう[^、。]{0,10}(?:ない|ません)",
    r"(?P<q2>[^、。はが]{1,15}?)(?:ではなく|じゃなく)",
    r"(?P<q3>[^、。はが]{1,15}?)(?:をやめ|は諦め|を廃止)",
    r"(?P<q4>[^、。はが]{1,15}?)から[^、。]{1,20}(?:に移行|に変更|に切り替|に変え)",
)
_CORRECTING = _rx(
    r"^(?:actually|correction)\b|\b(?:has changed|changed to|is now|now uses?)\b",
    r"^更正|^纠正|改为|改成|改用|改到|换成",
    r"^訂正|に変更|に変わ|に変えた",
)


def facts(text: str) -> list[Fact]:
    """Return the facts of a text whose predicate has one object at a time."""
    said = _said(text)
    table = _PREDICATES if said.isascii() or not re.search(r"[\u3041-\u9fff]", said) else _PREDICATES_CJK
    found = []
    for whole in re.split(r"[!?\n;]|[.](?=\s|$)", said):
        sentence = whole[:_MAX_SENTENCE_CHARS]
        for predicate, pattern in table:
            match = pattern.search(sentence)
            if match is None:
                continue
            subject = frozenset(units(match["s"] or ""))
            thing = frozenset(units(match["o"]))
            if thing:
                found.append(Fact(subject, predicate, thing))
    return found


def retired(text: str) -> list[set[str]]:
    """Return the units of each thing of which the text says that it is over."""
    found = []
    for match in _RETIRED.finditer(_said(text)):
        thing = next((value for value in match.groupdict().values() if value), "")
        if over := units(thing):
            found.append(over)
    return found


def is_correction(text: str) -> bool:
    """Whether the text says of itself that it corrects something."""
    return _CORRECTING.search(_said(text)) is not None


def contradicts(new: str, old: str) -> str | None:
    """Return why `old` is no longer true if `new` is, or None. Both are about like matters (by their cosine)."""
    if relation(new, old) == "negates":
        return "it says the opposite"
    known = facts(old)
    for fact in facts(new):
        for other in known:
            same = fact.subject == other.subject and fact.predicate == other.predicate
            if same and not (fact.object <= other.object or other.object <= fact.object):
                return f"the same subject {fact.predicate} something else"
    if not _shares(retired(new), new, old):
        if is_correction(new) and overlap(new, old) >= _LEAST_OVERLAP and relation(new, old) == "other":
            return "it is corrected"
        return None
    return "it is said to be over"


def _shares(over: Iterable[set[str]], new: str, old: str) -> bool:
    """Whether `old` speaks of a thing that is over, and beside it of something that `new` speaks of, or of nothing."""
    held, told = units(old), units(new)
    for thing in over:
        # One that denies the thing already, or that is over itself, is no victim.
        if thing <= held and thing not in retired(old) and (len(held - thing) <= 2 or (held - thing) & (told - thing)):
            return True
    return False


def _said(text: str) -> str:
    return fold(read_turn(text).said[:MAX_COMPARED_CHARS]).replace("\u2019", "'")
