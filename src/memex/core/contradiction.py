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
_LEAST_BESIDE = 3  # units: a text that says no more beside the thing that is over is about that thing
_LEAST_OVERLAP = 0.33  # of a plain correction ("actually, ...") with what it corrects


def _rx(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(canonical(pattern) for pattern in patterns))


@dataclass(frozen=True, slots=True)
class Fact:
    """Subject, predicate and object, as far as one object at a time can be true."""

    subject: frozenset[str]
    predicate: str
    object: frozenset[str]
    spelled: str  # the object as it is written

    def agrees(self, other: Fact) -> bool:
        """Whether one object is the other with more or fewer words; single Han characters are no words (京都, 東京)."""
        if self.spelled.isascii() and other.spelled.isascii():
            return self.object <= other.object or other.object <= self.object
        return self.spelled in other.spelled or other.spelled in self.spelled or self.object == other.object


_ATTRIBUTES = (
    r"favou?rite \w+|birthday|phone number|email(?: address)?|address|time ?zone|password|port|deadline|budget|job|"
    r"employer|boss|manager|doctor|dentist|database|backend|frontend|default branch|primary region|region|ci|hometown|"
    r"release date|username|version|order number|code|surname|nickname|team lead|phone|e-mail(?: address)?|number|"
    r"car|major|girlfriend|boyfriend|"
    r"editor|company|title|salary|weight|mentor|therapist|landlord|minimum version|due date|start time|theme|handle|"
    r"home ?page|url"
)
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day\w*|(?:the )?\d[\w:./ -]*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*)"
_WHO = r"(?P<s>\bi|\bwe|\buser|\bmy (?:\w+ )?\w+|\b(?:the|our) [\w ]{2,30}?|(?<=^)\w+)"
_ATTRIBUTE_ZH = (
    "生日|电话|手机号?码?|邮箱|地址|时区|密码|端口|版本|负责人|预算|截止日期|订单号|最喜欢的.{1,4}|数据库|后端|前端|主区域|职业|主治医生|昵称|"
    "领导|上司|老板|公司|车|专业|默认分支|账号|微信号?|体重|身高|域名|编辑器|导师"
)
_ATTRIBUTE_JA = (
    "誕生日|電話番号|メールアドレス|住所|タイムゾーン|パスワード|ポート|バージョン|リーダー|担当|予算|締め切り|注文番号|"
    "(?:一番)?好きな.{1,6}|データベース|職業|主治医|デフォルトブランチ|メール|携帯|上司|会社|車|専攻|専門|納期|住まい|デプロイ先|エディタ|体重|身長|番号"
)

_CHANGED = "changed to"
_USED_FOR = "used for"  # several things may be; only a change from one to another tells that one is over
# What a change of the subject ends, whatever the predicate was.
_STATES = frozenset({"is", "is on", "is called", "runs on", "written in", "listens on", "deploys to", _CHANGED})
# Predicate and pattern; s: subject (absent: the owner of the memory), o: object.
_PREDICATES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "lives",
        _rx(
            rf"{_WHO}(?:'ve|'s)?(?: now| currently| just| recently| have| has)* (?:live|lives|am living|'m living|moved|relocated) (?:back )?(?:in|to) (?P<o>[\w ]+?)"
            rf"(?= (?:in|last|next|this|since|for|with|now)\b|$|[,;])"
        ),
    ),
    (
        "lives",
        _rx(
            r"(?P<s>\b(?:i|user))(?:'m| am| is)(?: now)? (?:based|living) in (?P<o>[\w ]+?)(?= (?:now|since|with)\b|$|[,;])"
        ),
    ),
    ("works", _rx(rf"{_WHO}(?: now)? works? as (?P<o>[\w ]+?)(?= (?:in|at|for)\b|$)")),
    (
        "works for",
        _rx(
            rf"{_WHO}(?: now| currently| just)* (?:works?|started(?: (?:working|a new job|a job))?|joined|got a (?:new )?job)(?: now)? ?(?:at|for|with)? (?P<o>(?!as\b|on\b|from\b|learning\b|the\b|a\b)[\w ]+?)"
            r"(?= (?:as|in|on|last|since|this|now)\b|$|[,;])"
        ),
    ),
    (
        "marital",
        _rx(
            r"(?P<s>\b(?:i|user)) ?(?:'m|am|is|got|are)(?: now| finally)? (?P<o>single|married|divorced|engaged|widowed)"
        ),
    ),
    (
        _USED_FOR,
        _rx(
            r"\b(?:we|i|user) (?:now |have )?(?:uses?|switched to|moved to|migrated to|changed to|"
            r"chose) (?P<o>[\w .#+-]+?)(?: now)? for (?P<s>[\w ]+)"
        ),
    ),
    (
        "studies",
        _rx(
            rf"{_WHO}(?: now)? (?:stud(?:y|ies)|majors? in|am studying|switched (?:my|his|her) major to) (?P<o>[\w ]+)"
        ),
    ),
    (
        "deploys to",
        _rx(r"\b(?P<s>(?:we|i|the [\w ]{1,20}?)) deploy(?:s|ed)?(?: now)? to (?P<o>[\w .-]+?)(?= now\b|$|[,;])"),
    ),
    ("listens on", _rx(r"(?P<s>[\w ]{1,30}?)(?: now)? (?:listens?|runs?) on port (?P<o>\d+)")),
    ("is called", _rx(r"\b(?P<s>(?:my|our) (?:\w+ )?\w+?)(?:'s name)? is (?:called |named )(?P<o>[\w ]+)")),
    ("is called", _rx(r"\b(?P<s>(?:my|our) (?:\w+ )?\w+)'s name is (?P<o>[\w ]+)")),
    (
        "is",
        _rx(
            rf"(?:\b(?:my|our|the|user's) |\b(?=(?:his|her|their) ))(?:(?:new|current) )?(?P<s>(?:[\w']+ )?(?:[\w']+ )?(?:{_ATTRIBUTES})(?: (?:for|of) [\w ]+?)?) is (?:now )?(?!not\b)(?P<o>[^,;!?]+)"
        ),
    ),
    ("is on", _rx(rf"{_WHO} (?:is|takes place|starts|was moved|moved|happens?)(?: now)? (?:on|at|to) (?P<o>{_DAY})")),
    ("does on", _rx(rf"\b(?:we|i) (?P<s>\w+)(?: only)? on (?P<o>{_DAY})")),
    ("written in", _rx(r"(?P<s>[\w ]+?) (?:is|are)(?: now)? (?:written|built) (?:in|with) (?P<o>[\w .#+]+)")),
    ("runs on", _rx(r"(?P<s>[\w ]+?) (?:runs?|is hosted|is deployed) (?:on|to) (?!port\b)(?P<o>[\w .#+-]+)")),
    (
        _CHANGED,
        _rx(
            r"^(?P<s>(?:(?:my|our|the) )?[\w' ]{2,30}?)(?: (?:has|have|was|is|been|got|just))*"
            r" (?:changed|moved|renamed|switched|upgraded|postponed|pushed|brought|migrated)(?: back|"
            r" forward)? to (?P<o>[\w .:@+#-]+)"
        ),
    ),
    (
        _CHANGED,
        _rx(
            r"\b(?:changed|moved|renamed|switched|migrated|ported|rewrote) (?P<s>(?:my|our|"
            r"the) [\w' -]{2,30}?) (?:in|into|to) (?P<o>[\w .:@+#-]+)"
        ),
    ),
)
_PREDICATES_CJK: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "lives",
        _rx(
            r"(?:^|[,。 ])(?:上个?[周月]|去年|今年|前年|最近|[^,。]{1,3}月份?|"
            r"[^,。]{1,4}年)?(?P<s>我[^,。住搬又已现刚最]{0,4}|用户|主人)?(?:现在|目前|又|已经|刚|最近|上个?[周月]|"
            r"去年|今年)*(?:住在|搬到了?|搬去了?|搬回了?|定居在?)(?P<o>[^,。!了]{1,10})"
        ),
    ),
    (
        "works for",
        _rx(
            r"(?P<s>我[^,。在跳入换现]{0,4}|用户|主人)(?:现在|目前|已经|刚|"
            r"最近)*(?:在(?P<o1>[^,。当做]{1,10}?)(?:上班|工作|任职)|(?:跳槽到|跳槽去|入职|加入|"
            r"换到)了?(?P<o2>[^,。了]{1,10}))"
        ),
    ),
    ("marital", _rx(r"(?P<s>我|用户)(?:现在|已经|还)*(?:是)?(?P<o>单身|结婚|离婚|已婚|订婚|未婚)")),
    ("studies", _rx(r"(?P<s>我|用户)(?:现在)?(?:学|读|转到|转去|改学|改读)的?(?:是)?(?P<o>[^,。]{1,8})专业")),
    ("drives", _rx(r"(?P<s>我|用户)(?:现在)?(?:开|换)的?(?:是)?了?(?:一辆|辆)(?P<o>[^,。了]{1,10})")),
    ("is deployed", _rx(r"(?P<s>[^,。]{0,8}?)(?:部署在|托管在|(?:迁移|迁|搬)到)了?(?P<o>[^,。了]{1,12})")),
    (
        _CHANGED,
        _rx(
            r"(?:^|[,。 ])(?:我们?(?:把|的)?)?(?P<s>[^,。 从]{1,10}?)(?:已经|现在|也|都)*(?:改成|改为|改用|改到|改叫|"
            r"换成|换到|推迟到|延期到|延到|提前到|挪到|调整[到为]|改名叫|改名为|更新为|变成|"
            r"变为)了?(?P<o>[^,。!]{1,24})"
        ),
    ),
    ("works", _rx(r"(?P<s>我[^,。在]{0,4}|用户|主人)在[^,。当]{1,12}当(?P<o>[^,。]{1,8})")),
    ("is called", _rx(r"(?P<s>我[^,。叫名改]{1,5})(?:的?名字)?(?:改名)?叫(?P<o>[^,。]{1,10})")),
    ("is", _rx(rf"(?P<s>[^,。]{{0,6}}?(?:{_ATTRIBUTE_ZH}))(?:现在)?(?:是|为|用)(?P<o>[^,。]{{1,20}})")),
    (
        "is on",
        _rx(
            r"(?P<s>[^,。]{1,8}?)(?:只|改)?(?:定在|定于|改到|改在|在|是)(?P<o>(?:每?周|星期|"
            r"礼拜)[一二三四五六日天][^,。]{0,6}|\d+[月日号点][^,。]{0,6})"
        ),
    ),
    ("runs on", _rx(r"(?P<s>[^,。]{1,10}?)跑在(?P<o>[^,。]{1,14}?)(?:上|$|[,。])")),
    ("written in", _rx(r"(?P<s>[^,。]{1,6}?端)是?用(?P<o>[^,。]{1,12}?)写")),
    (
        "lives",
        _rx(
            r"(?:^|[、。 ])(?:今は)?(?:また)?(?:(?P<s>[^、。]{1,6}?)[はが])?(?:今は|"
            r"また)?(?P<o>[^、。はが]{1,10}?)(?:に(?:戻って)?(?:住んで|引っ越し|転居|戻りまし)|へ引っ越し|在住)"
        ),
    ),
    (
        "works for",
        _rx(
            r"(?:^|[、。 ])(?:今は)?(?:(?P<s>[^、。]{1,6}?)は)?(?:今は)?(?P<o>[^、。は]{1,12}?)(?:で働い|に勤め|"
            r"に転職|に入社|に移籍)"
        ),
    ),
    ("is", _rx(r"(?P<o>[^、。はを]{1,8})を(?P<s>専攻|専門)")),
    ("marital", _rx(r"(?:(?P<s>私|ユーザー)は)?(?P<o>独身|結婚|離婚|既婚|婚約)(?:です|だ|し(?:た|まし|てい)|$|。)")),
    (
        _CHANGED,
        _rx(
            r"(?:^|[、。 ])(?P<s>[^、。はがを]{1,12}?)[がをは](?P<o>[^、。はが]{1,24}?)(?:に|へ)(?:変わ|変え|変更|"
            r"なっ|なり|延び|延期|移し|移行|移っ|切り替|書き換え|改名|繰り上|更新)"
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
    r"\bno longer (?:(?:use|uses|using|like|likes|work|works|live|lives|support|supports)(?: (?:at|in|for|"
    r"on))? )?(?P<o1>[\w .#+-]{2,30}?)(?=[,;.!?]|$| for\b| in\b)",
    r"\b(?:instead of|rather than) (?P<o2>[\w #+-]{2,30}?)(?=[,;.!?]|$| for\b| in\b)",
    r"\b(?:switched|moved|migrated|changed)(?: \w+)? from (?P<o3>[\w .#+-]{2,30}?) to\b",
    r"\b(?:stopped using|gave up on|gave up|replaced|dropped) (?P<o4>[\w .#+-]{2,30}?)(?=[,;.!?]|$| and\b| with\b|"
    r" by\b)",
    r"\b(?:,|and|,? but) not (?:on |in |at )?(?P<o5>[\w .#+-]{1,30}?)(?=[,;.!?]|$)",
    r"\b(?:don't|do not|doesn't) (?:use|have|own|drink|eat|drive|play|like|work at|live in) (?:an? |"
    r"the )?(?P<o6>[\w .#+-]{2,30}?) any ?more\b",
    r"\b(?:stopped|quit) (?!using)(?:\w+ing )?(?P<o7>[\w #+-]{2,30}?)(?=[,;.!?]|$| and\b| in\b| last\b)",
    r"(?P<o8>\b\w+) and i (?:broke up|split up|got divorced)",
    r"(?:戒|停)了?(?P<p5>[^,。!了掉]{1,8}?)了",
    r"(?:现在|已经|以后)不(?:再)?(?:吃|喝|用|抽|玩|看|去)(?P<p6>[^,。!]{1,10}?)了",
    r"(?P<q5>[^、。はがを]{1,12}?)[はを](?:もう)?(?:やめ(?:た|まし)|卒業し|手放し)",
    r"不再(?:使?用|喝|吃|支持|住在|喜欢)?(?P<p1>[^,。!]{1,15}?)(?:了|$|[,。!])",
    r"(?:代替|取代|而不是|放弃了?|弃用了?)(?P<p2>[^,。!]{1,15}?)(?:了|$|[,。!])",
    r"从(?P<p3>[^,。]{1,15}?)(?:换成|改成|改用|迁移到|换到|切换到)",
    r"(?:[,。]|^)不是(?P<p4>[^,。!]{1,12}?)了?(?:$|[,。!])",
    r"(?P<q1>[^、。は]{1,15}?)(?:は|を)もう[^、。]{0,10}(?:ない|ません)",
    r"(?P<q2>[^、。はが]{1,15}?)(?:ではなく|じゃなく)",
    r"(?P<q3>[^、。はが]{1,15}?)(?:をやめ|は諦め|を廃止)",
    r"(?P<q4>[^、。はが]{1,15}?)から[^、。]{1,20}(?:に移行|に変更|に切り替|に変え)",
)
# A name and its version; parts of a series (phase 1, phase 2) are different things.
_VERSION = re.compile(
    r"(?<![\w.])(?!(?:phase|step|part|worker|server|node|room|team|group|sprint|week|day|number|no|issue|ticket|pr|"
    r"level|line|page|port|"
    r"chapter|section|floor|unit|building|gate|channel|slot|at|on|in|to|of|by|is|the|under|over|about|after|before|"
    r"until|from|for|and|or|age|aged|"
    r"jan|january|feb|february|mar|march|apr|april|may|june|july|aug|august|sept?|september|oct|october|nov|november|"
    r"dec|december)\b)"
    r"([a-z][a-z+#.-]*)(?: ?(?:was |were )?(?:升级到了?|更新到了?|upgraded to|updated to|"
    r"moved to))? ?v?(\d+(?:\.\d+)*)(?![\w.]*\w)"
)
_CORRECTING = _rx(
    r"^(?:actually|correction|sorry)\b|\b(?:has changed|changed to|is now|now uses?|now|these days|"
    r"switched (?:\w+ )?to|moved to|rewrote|upgraded to|i meant)\b",
    r"^更正|^纠正|^说错|^打错|改为|改成|改用|改到|换成|换了|现在(?!正)|如今|升级到|推迟到|改名",
    r"^訂正|^すみません|に変更|に変わ|に変え|今は|になった|になりま|アップグレード|アップデート|に更新|に上げ|"
    r"書き換え|に移し|に移行|延び",
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
            parts = match.groupdict()
            spelled = next((value for name, value in parts.items() if name[0] == "o" and value), "").strip()
            thing = frozenset(units(spelled))
            if thing:
                found.append(Fact(subject, predicate, thing, spelled))
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
    known, told = facts(old), facts(new)
    for fact in told:
        for other in known:
            same = fact.predicate == other.predicate or (fact.predicate == _CHANGED and other.predicate in _STATES)
            if not same or fact.subject != other.subject:
                continue
            if not fact.agrees(other) and (fact.predicate != _USED_FOR or is_correction(new)):
                return f"the same subject {fact.predicate} something else"
    if _another_version(new, old):
        return "another version of the same"
    if _shares(retired(new), new, old):
        return "it is said to be over"
    # Who is told of has to be the same where both texts say it.
    apart = any(a.predicate == b.predicate and a.subject != b.subject for a in told for b in known)
    if not apart and is_correction(new) and overlap(new, old) >= _LEAST_OVERLAP and relation(new, old) == "other":
        return "it is corrected"
    return None


def _another_version(new: str, old: str) -> bool:
    """Whether both name one thing with another version of it, and `old` says little else."""
    was, now = (dict(_VERSION.findall(_said(text))) for text in (old, new))
    moved = {name for name in was.keys() & now.keys() if was[name] != now[name]}
    if not moved:
        return False
    one, other = units(_VERSION.sub(r"\1", _said(old))), units(_VERSION.sub(r"\1", _said(new)))
    return one <= other or len(one - other) + len(other - one) <= 1 + 2 * is_correction(new)


def _shares(over: Iterable[set[str]], new: str, old: str) -> bool:
    """Whether `old` speaks of a thing that is over, and beside it of something that `new` speaks of, or of nothing."""
    held, told = units(old), units(new)
    for thing in over:
        # One that denies the thing already, or that is over itself, is no victim.
        if (
            thing <= held
            and thing not in retired(old)
            and (len(held - thing) <= _LEAST_BESIDE or (held - thing) & (told - thing))
        ):
            return True
    return False


def _said(text: str) -> str:
    return fold(read_turn(text).said[:MAX_COMPARED_CHARS]).replace("\u2019", "'")
