"""When a new statement makes an old one untrue: by rules for English, Chinese and Japanese.

The signs: the same words with the other sign; a fact with one object at a time, with another object; another
value of a kind of which one holds at a time; a thing that is said to be over; the same matter, said to have changed.
"""

from __future__ import annotations

import re
from functools import cached_property

from .cessation import Ended, asserted, ended, sentences
from .claims import MAX_COMPARED_CHARS, Clause, Relation, clauses, compared, said, units, units_of
from .dimensions import Rule, Value, about_answers, values
from .facts import CHANGED, STATES, USED_FOR, Fact, facts
from .fold import canonical, fold
from .signs import Signs
from .subject import GENERIC, head, people

__all__ = ["Statement", "contradicts", "retired"]

_LEAST_BESIDE = 4.0  # words: a text that says no more beside the thing that is over is about that thing
_MAX_READ_CHARS = 400
_MARK_CHARS = 16  # "Correction:" looks like a speaker
_LEAST_OVERLAP = 0.33  # of a plain correction ("actually, ...") with what it corrects


def _rx(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(canonical(pattern) for pattern in patterns))


# A name and its version; parts of a series (phase 1, phase 2) are different things.
_VERSION = re.compile(
    r"(?<![\w.])(?!(?:phase|step|part|worker|server|node(?! ?(?:1[2-9]|2\d)\b)|room|team|group|sprint|week|day|number|no|issue|ticket|pr|"
    r"level|line|page|port|"
    r"chapter|section|floor|unit|building|gate|channel|slot|at|on|in|to|of|by|is|the|under|over|about|after|before|"
    r"until|from|for|and|or|age|aged|within|every|about|around|than|only|least|most|per|size|"
    r"jan|january|feb|february|mar|march|apr|april|may|june|july|aug|august|sept?|september|oct|october|nov|november|"
    r"dec|december)\b)"
    r"([a-z][a-z+#.-]*)(?: ?(?:was |were )?(?:升级到了?|更新到了?|upgraded to|updated to|"
    r"moved to))? ?v?(\d+(?:\.\d+)*)(?![\w.]*\w)",
    re.ASCII,
)
_CORRECTING = Signs(
    r"^(?:actually|correction|sorry)\b|\b(?:has changed|changed to|is now|now uses?|now|these days|nowadays|"
    r"switched (?:\w+ )?to|moved to|rewrote|upgraded to|i meant|slipped to|pushed to|postponed to|rescheduled|instead of)\b",
    r"^更正|^纠正|^说错|^打错|^其实|记错|改为|改成|改用|改到|换成|换了|现在(?!正)|如今|升级到|推迟到|改名",
    r"^訂正|^すみません|^実は|に変更|に変わ|に変え|今は|になった|になりま|アップグレード|アップデート|に更新|に上げ|"
    r"書き換え|に移し|に移行|延び",
)
# Words of change; weaker ones, that need more beside them.
_CHANGE = Signs(
    r"\b(?:now|these days|nowadays|lately|any ?more|any longer|no longer|from now on|going forward|as of|switched|moved|migrated|"
    r"migrating|chang\w+|replac\w+|instead|tak(?:en|es) over|took over|hand(?:ed|s) over|handed|rewritten|rewrote|ported|upgraded|"
    r"downgraded|bumped|slipped|postponed|pushed|delayed|rescheduled|brought forward|renamed|actually|correction|new|became|"
    r"become|turned|gone|again|sold|quit|dropped|ditched|retired|gave up|back to|swapped|traded|converted|settled on|joined|"
    r"started|starts|graduated|finally|since|after all|i meant|bought|took up|laid off|lost|went (?:vegan|vegetarian|remote|"
    r"freelance|back)|got|moving to|transitioned|shifted|extended|raised|lowered|increased|went up|dropped to|went down|"
    r"cancell?ed|scrapped|relocated|cut|halved|doubled|shortened|trimmed|deleted|moved in|^after|reduced|grew|goes by|only|turning|has been|have been|adopted|standardi[sz]ed on|consolidated)\b",
    r"现在|如今|目前|改[成为用到叫在由学喝吃去坐走写]|换|已经?|不再|不用|迁|搬|升级|推迟|延[期后到]|提前|调整|变[成为更]|取代|代替|更正|其实|说错|记错|作废|停用|"
    r"以后|今后|从今|开始|新(?:的|手机|号|邮|地址|公司|工作|岗位)|重写|接手|接管|交接|转[给到由岗行成用]|跳槽|离职|了$|了[,。]|起|终于|重新|恢复|之后|只剩|提高|提升|加到|延误|缩短|增加|减|提到|刚满|"
    r"开荤|毕业|最近|切换|切到|之前|以前|涨|降|调到|更新|领证|挪",
    r"今は|現在|今後|これから|もう|変わ|変え|変更|になっ|になり|に決ま|移行|移[しっ管]|切り替|乗り換|引き継|交代|延期|延び|延ば|短縮|増え|増や|減っ|減ら|遅れ|始め|済み|前倒|書き直|書き換|更新|上げ|上が|"
    r"下げ|下が|アップグレード|バージョンアップ|やめ|辞め|ではなく|じゃなく|に代わ|新しい|新しく|訂正|実は|正しくは|以前の|ことにし|ことにな|ように(?:し|な)|再び|また|"
    r"始め|転職|入社|卒業|買い替え|置き換|早ま|ずれ|ずら|最近|入学|進学|就職|独立|引退|退職|結婚し|離婚し|に戻|からは",
)
_ALSO = Signs(
    r"\b(?:also|too|as well|another(?! (?:team|company|department|job|role))|in addition|additionally|besides|alongside|both|second|other)\b",
    r"也|还(?!是)|另外|此外|同时|另一",
    r"(?<!と)も(?:[、う]|使|好|飼|持|や[っり]|始め|話|飲|食)|も$|他に|ほかに|別の|加えて|もう一[つ人匹台]",
)
# What happened stays so, whatever came later.
_EVENT = Signs(
    r"\b(?:bought|visited|met|saw|went|was born|grew up|graduated|attended|won|gave|told|asked|said|read|wrote|heard|tried|"
    r"broke|lost|found|learned|travelled|traveled|used to|lived|worked|studied|as a child|back in|had|was|were)\b",
    r"出生|去过|玩过|买了|小时候|以前|曾经?|当年|毕业于|旅[游行]|那年|参加了",
    r"生まれ|子供の頃|子どもの頃|昔|以前は|行きました|行った|旅行|出身|買いました|買った|ことがある",
)
_DENIES = Signs(
    r"\b(?:not|no longer|never|stopped|quit|gave up|isn't|aren't|wasn't|doesn't|don't|hasn't|without|instead of|rather than|from)\b|n't\b",
    r"不再|不是|不要|不用|没有?|别|而不是|代替",
    r"ではな|じゃな|ない|ません|やめ|辞め|の代わり",
)
_QUALIFIERS = _rx(
    r"\b(?:work|office|home|private|personal|emergency|backup|secondary|landline|fax|second|business|school|staging|production|"
    r"prod|dev|test|admin|internal|external|metrics|return|back from|way back|web|ios|android|mobile app|backend|frontend)\b",
    r"回程|返程|公司|办公|单位|家里|紧急|备用|座机|测试|生产|预发|工作(?:邮|手|电)|私人|个人|安卓|苹果|鸿蒙",
    r"帰りの|復路|会社|職場|自宅|緊急|予備|仕事用|個人|検証|本番|開発用|開発環境|管理画面|管理者",
)
_LIKED = Signs(r"\b(?:prefer|like|love|want|wants|enjoy)s?\b", r"喜欢|偏好|爱|希望|想要|要求", r"好き|好み|好む|好んで|希望|望ん|ほしい")
# What somebody or something does, in classes that mean about the same.
_DOINGS = tuple(
    Signs(*patterns)
    for patterns in (
        (
            r"\b(?:owns?|leads?|maintain\w*|in charge|responsible|t(?:ook|aken|akes) over|managed?|manages|looks after|hand(?:ed|s)|runs|heads|"
            r"supervises?|coordinates?|contact for|lead is|owner)\b",
            r"负责|归|接手|接管|主管|交接|对接人|牵头|管理|带队|维护|管",
            r"担当|引き継|責任者|受け持|リーダー|窓口|管理",
        ),
        (r"\b(?:live|lives|living|moved|based|relocated|located|hosted)\b", r"住|搬|定居|位于|(?<![现正实还])在|迁", r"住|引っ越|転居|在住|ある|あり|移[しっ]|移転"),
        (
            r"\b(?:drinks?|drinking|eats?|eating|takes? (?:my|his|her|their)|has (?:his|her|their)|have my|order)\b",
            r"喝|吃",
            r"飲|食べ",
        ),
        (r"\b(?:commut\w+|drives?|rides?|cycles?|get(?:s)? (?:to work|around)|bikes?|takes? the)\b", r"通勤|开(?!始|会|发|放|心|源|店|学|启)|骑|坐|乘", r"通勤|乗|通って"),
        (r"\b(?:goes to|attends?|studies|started at|enrolled|majors?|transferred)\b", r"就读|在读|上(?:小学|初中|高中|大学|班)|专业", r"通って|通い|入学|専攻|在学"),
        (
            r"\b(?:costs?|price|rent|pays?|salary|fee|earns?|budget|charges?)\b",
            r"月租|价格|工资|房租|租金|预算|月薪|薪水|费",
            r"家賃|値段|料金|給料|月給|価格|予算|いくら",
        ),
        (r"\b(?:sleeps?|wakes?|gets? up|goes to bed|bedtime|up at)\b", r"起床|睡", r"起き|寝|就寝"),
        (
            r"\b(?:uses?|using|written in|built (?:in|with|on)|rewr\w+|migrat\w+|ported|hosted|hosts|based on|stored? in|deploy\w*|"
            r"runs on|host\w*|switched|go(?:es)? through|powered)\b",
            r"用(?!户)|跑在|部署|托管|迁|重写|换成|切到|放在|存",
            r"使[っいう]|利用|動い|書[いかき]|移行|移し|移っ|切り替|変え|乗り換|保存|置い|で管理",
        ),
        (r"\b(?:meets?|held|takes place|happens)\b", r"办|举行|开会|碰头", r"開[いかき]|開催|行って|行われ|集ま"),
        (r"\b(?:called|named?|goes by|nickname|renamed)\b", r"叫|名", r"名前|呼[ばびぶん]"),
        (
            r"\b(?:releases?|ships?|meets?|takes place|happens?|due|deadline|expires?|lasts?|every|per|once|twice|weekly|"
            r"monthly|daily|biweekly)\b",
            r"每|发布|上线|截止|过期|到期",
            r"毎|おき|リリース|締め切り|期限|ごと|週[一二三四五\d]",
        ),
    )
)
_NEWNESS = frozenset(canonical("new old current number one contact").split()) | frozenset(canonical("新旧番号码"))
_COUNTS = frozenset("一二三四五六七八九十每个只")
_DOING_WORDS = frozenset(
    """own lead maintain charg respons take taken took over manag live move base reloc drink eat drive ride commut switch
    migrat deploi written write rewrit built build host like want prefer schedul plan start begin set number address
    contact current new old number phone mobil cell email mail e-mail port valu date day time go goe held hold keep kept store retain everi each sinc becaus took need requir onli about last turn just leav depart arriv chang renam updat delay cut rais go""".split()
) | frozenset(canonical("开会住搬喝吃开用写管归负责定改换为到从把将由放部署书动担当话番号连络先现在已经新旧码手机电话邮箱件址名前呼每有剩普段希望要求期地点间起飞成理済做着过以后每天早上晚日月端口"))


class Statement:
    """One text, read as far as a rule asks for it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.said = said(text)
        self.short = self.said[:_MAX_READ_CHARS]

    @cached_property
    def claims(self) -> list[Clause]:
        return clauses(self.said)

    @cached_property
    def units(self) -> frozenset[str]:
        return frozenset(units_of(self.claims))

    @cached_property
    def facts(self) -> list[Fact]:
        return facts("\n".join(sentence for sentence in sentences(self.said) if asserted(sentence)))

    @cached_property
    def ended(self) -> list[Ended]:
        return ended(self.said)

    @cached_property
    def people(self) -> frozenset[str]:
        return people(self.short)

    @cached_property
    def values(self) -> list[Value]:
        return values(self.short)

    @cached_property
    def clauses(self) -> list[frozenset[str]]:
        parts = (part for whole in sentences(self.short) for part in re.split("[,、;:] ?", whole))
        return [frozenset(units(part)) for part in parts]

    def framing(self, other: frozenset[str]) -> set[str]:
        """Return the prepositions before what another text does not have; "to" stands before anything that changed."""
        found = {m[1] for m in _FRAME.finditer(_NO_FRAME.sub(" ", self.short)) if units(m[2]) - other}
        return {"in", "at", "on", "with", "for", "by", "from", "as", "about"} if "to" in found else found

    @cached_property
    def heads(self) -> list[frozenset[str]]:
        clauses = (clause for whole in sentences(self.short) for clause in re.split("[,、;:] ?", whole))
        return [head(clause) for clause in clauses]

    @cached_property
    def head(self) -> frozenset[str]:
        return self.heads[0] if self.heads else frozenset()

    @cached_property
    def corrects(self) -> bool:
        """Whether it says of itself that it corrects something."""
        return _CORRECTING.search(self.said) is not None or _CORRECTING.search(fold(self.text[:_MARK_CHARS])) is not None

    @cached_property
    def adds(self) -> bool:
        """Whether it says that something is so beside something else."""
        return _ALSO.search(self.short) is not None

    @cached_property
    def changes(self) -> bool:
        """Whether it says that something is so since a while, and not beside something else."""
        return _CHANGE.search(self.short) is not None and self.real and not self.adds

    @cached_property
    def real(self) -> bool:
        return any(asserted(sentence) for sentence in sentences(self.short)) and asserted(self.short)

    def without(self, found: list[Value]) -> frozenset[str]:
        """Return what it says beside values."""
        rest = self.said
        for value in sorted(found, key=lambda v: -v.span[0]):
            rest = f"{rest[: value.span[0]]} {rest[value.span[1] :]}"
        return frozenset(units(rest)) - GENERIC - _DOING_WORDS

    def holds(self, value: Value) -> bool:
        """Whether a value is said to be so: not denied in its clause, and not what is over."""
        start = max(self.said.rfind(mark, 0, value.span[0]) for mark in ",;.、。:")
        before = self.said[start + 1 : value.span[0]]
        after = re.split("[,;、。]", self.said[value.span[1] :], maxsplit=1)[0]
        denied = _DENIES.search(before[-24:]) if before.isascii() else _DENIES.search(before[-6:] + "\n")
        if denied and not re.search(r"\bto\b", before[denied.start() :]):
            return False
        named = frozenset(units(self.said[value.span[0] : value.span[1]]))
        if any(named and named <= end.thing for end in self.ended):
            return False
        return not (after and not after.isascii() and re.match(_DENIED_AFTER, after))


_DENIED_AFTER = canonical(r"[^、。]{0,8}(?:ではな|じゃな|ではあり|をやめ|はやめ|は使わ|不再|作废|停用)")


def retired(text: str) -> list[set[str]]:
    """Return the units of each thing of which the text says that it is over."""
    return [set(end.thing) for end in Statement(text).ended]


def contradicts(new: str | Statement, old: str) -> str | None:
    """Return why `old` is no longer true if `new` is, or None. Both are about like matters (by their cosine)."""
    now, was = new if isinstance(new, Statement) else Statement(new), Statement(old)
    if max(len(now.text), len(was.text)) > MAX_COMPARED_CHARS:
        related: Relation = "other"
    else:
        related = compared(now.text, was.text, now.claims, was.claims)
    if related == "negates":
        return "it says the opposite"
    same = _same_facts(now, was)
    for fact, other in same:
        if fact.subject == other.subject and not fact.agrees(other) and (fact.predicate != USED_FOR or now.corrects):
            return f"the same subject {fact.predicate} something else"
    if _another_version(now, was):
        return "another version of the same"
    if _ends(now, was):
        return "it is said to be over"
    if kind := _other_value(now, was):
        return f"another {kind}"
    # Who is told of has to be the same where both texts say it.
    apart = any(a.predicate == b.predicate and a.subject != b.subject for a, b in same)
    if related != "other" or apart or not (now.corrects or now.changes) or now.adds or not now.real:
        return None
    if now.corrects and _overlap(now.units - _DOING_WORDS, was.units - _DOING_WORDS) >= _LEAST_OVERLAP and _of_the_same(now, was):
        return "it is corrected"
    if now.changes and (_done_otherwise(now, was) or _other_of_its_kind(now, was)):
        return "it is done otherwise now"
    return None


def _same_facts(now: Statement, was: Statement) -> list[tuple[Fact, Fact]]:
    """Return the pairs of facts of both texts with one predicate."""
    return [
        (fact, other)
        for fact in now.facts
        for other in was.facts
        if fact.predicate == other.predicate or (fact.predicate == CHANGED and other.predicate in STATES)
    ]


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


_DIGIT_OR_COUNT = re.compile(r"\d|[一二三四五六七八九十百千两]")
_DIGIT = re.compile(r"\d")


def _another_version(now: Statement, was: Statement) -> bool:
    """Whether both name one thing with another version of it, and the old text says little else."""
    if not _DIGIT.search(now.said) or not _DIGIT.search(was.said):
        return False
    olds, news = dict(_VERSION.findall(was.said)), dict(_VERSION.findall(now.said))
    if _weight(frozenset(unit for unit in was.head - now.units if not _DIGIT.search(unit))) > 1:
        return False
    moved = {name for name in olds.keys() & news.keys() if olds[name] != news[name]}
    if not moved or not now.real:
        return False
    one, other = units(_VERSION.sub(r"\1", was.said)) - GENERIC, units(_VERSION.sub(r"\1", now.said)) - GENERIC
    return one <= other or _weight(frozenset((one - other) | (other - one))) <= 1 + 2 * now.changes


def _ends(now: Statement, was: Statement) -> bool:
    """Whether the old text speaks of a thing that is over, and little beside, or of what the new one speaks of too."""
    if not now.ended or _EVENT.search(was.short):
        return False
    gone = [end.thing for end in was.ended] + [frozenset(" ".join(c.units).split()) for c in was.claims if c.negated]
    for end in now.ended:
        # One that denies the thing already is no victim, nor is what somebody else holds on to.
        if not end.thing <= was.units or any(end.thing <= thing for thing in gone) or end.subject - GENERIC - was.units:
            continue
        rest = was.units - end.thing - GENERIC
        others = was.people - now.people
        if others and not end.gone:
            continue
        if end.only and not end.only & was.units:
            continue
        shared = rest & now.units if len(rest & now.units) * 3 >= len(rest) else frozenset()
        most = 1 if _WHEN.fullmatch(" ".join(sorted(end.thing))) else _LEAST_BESIDE
        if (not end.departed and _weight(rest) <= most) or shared:
            return True
    return False


_WHEN = _rx(r"(?:\w+day|\d+|am|pm|o'clock|at|on| |[一二三四五六七八九十周月曜日点时])+")


def _weight(found: frozenset[str]) -> float:
    """Return how many words they are; two Han characters make one."""
    return sum(0.5 if len(unit) == 1 and not unit.isascii() else 1.0 for unit in found)


def _other_value(now: Statement, was: Statement) -> str | None:
    """Return the kind of which the new text says another value than the old one, about the same."""
    if not now.values or not now.real or now.adds or not was.values or now.people != was.people:
        return None
    for kind in dict.fromkeys(value.kind for value in was.values):
        olds = [value for value in was.values if value.kind == kind]
        news = [value for value in now.values if value.kind == kind and now.holds(value)]
        if not news or {v.value for v in news} & {v.value for v in olds} or not all(was.holds(v) for v in olds):
            continue
        if _ends_value(now, was, kind, olds[0], news[0]):
            return kind
    return None


def _ends_value(now: Statement, was: Statement, kind: str, one: Value, other: Value) -> bool:
    """Whether a value of a kind takes the place of another one, by the rule of the kind."""
    if one.rule is Rule.STATE:
        alike = was.head <= now.units if was.head else not now.head or bool(now.people)
        return (alike or not now.head) and not _EVENT.search(was.short)
    rest, told = was.without(was.values), now.without(now.values)
    if one.rule is Rule.MANNER:
        if kind in {"length", "tone", "language of answers"} and not (about_answers(was.said) and about_answers(now.said)):
            return False
        if _EVENT.search(was.short):
            return False
        if kind == "occupation" and {one.value, other.value} == {"student", "employed"} and not _GRADUATED.search(now.said):
            return False
        if now.changes:
            return was.head <= now.units or not now.head
        return _LIKED.search(was.said) is not None and _LIKED.search(now.said) is not None and (rest <= told or told <= rest)
    if not now.changes or _EVENT.search(was.short):
        return False
    if one.rule is Rule.SHAPE:
        if _scopes(now) != _scopes(was):
            return False
        if not any(_weight(h - _NEWNESS - GENERIC - was.units) <= (1.0 if was.head and was.head <= h or not now.said.isascii() else 0.0) for h in now.heads):
            return False
        if kind == "amount" and not rest:
            rest = was.units - now.units - {unit for unit in was.units if _DIGIT_OR_COUNT.search(unit)} - _DOING_WORDS
            return not rest and bool(was.units & now.units)
        return rest <= now.units if rest else kind in {"mail", "phone", "url"}
    if now.head and was.head and not (was.head <= now.units or now.head <= was.units):
        return False
    return rest <= now.units or not told


_GRADUATED = Signs(r"graduat|full[- ]time|dropped out", "毕业|全职", "卒業し|就職|正社員")


def _scopes(reading: Statement) -> set[str]:
    return {match.group() for match in _QUALIFIERS.finditer(reading.said)}


def _of_the_same(now: Statement, was: Statement) -> bool:
    """Whether a correction is about what the old text is about, and says the like of it."""
    if was.head and not was.head <= now.units and not (now.head and now.head <= was.head):
        return False
    if not was.head and not _about(now, was):
        return False
    beyond = was.units & now.units - was.head
    return (_weight(beyond - GENERIC - _DOING_WORDS) >= 1 or bool(_IS.search(was.short) and _BECOMES.search(now.short))) and _alike_framed(now, was)


def _about(now: Statement, was: Statement) -> bool:
    """Whether a clause of the new text is about something that the old one speaks of (or about nobody else)."""
    some = 0.0 if now.said.isascii() else 1.0
    return any(_weight(subject - _NEWNESS - GENERIC - was.units) <= some for subject in now.heads)


def _alike_framed(now: Statement, was: Statement) -> bool:
    """Whether what is new stands after the same prepositions as what it takes the place of, if after any."""
    if not was.short.isascii():
        return True
    lost, gained = was.framing(now.units), now.framing(was.units)
    return not lost or not gained or bool(lost & gained)


def _done_otherwise(now: Statement, was: Statement) -> bool:
    """Whether the new text tells the same doing about the same, with something else in one place."""
    doings = [pattern for pattern in _DOINGS if pattern.search(was.short)]
    if now.people != was.people or _EVENT.search(was.short):
        return False
    told = was.units - _DOING_WORDS - _COUNTS - GENERIC
    clause = max(now.clauses, key=lambda c: len(c & told), default=frozenset())
    if not any(p.search(now.short) for p in doings):
        return False
    told |= was.head
    lost, gained = (told | was.units & _COUNTS) - clause, clause - was.units - _DOING_WORDS
    common = told & clause
    if not lost or not gained or not common or len(told) > 12 or not _alike_framed(now, was):
        return False
    if not was.head and not _about(now, was):
        return False
    if was.head and not was.head <= now.units:
        # Who has something in hand may change; of what, may not.
        return doings[0] is _DOINGS[0] and bool(told - was.head) and told - was.head <= clause
    return _weight(common) * 2 >= _weight(told)


def _other_of_its_kind(now: Statement, was: Statement) -> bool:
    """Whether something turned into an X of a kind, of which the old text has a Y: night shift, day shift."""
    if now.people != was.people or _EVENT.search(was.short) or _weight(was.units) > 5:
        return False
    if was.head and not was.head <= now.units:
        return False
    match = _TURNED.search(now.short)
    thing = next((value for value in match.groupdict().values() if value), "").strip() if match else ""
    if thing.isascii():
        words = thing.split()
        if len(words) < 2:
            return False
        kind = re.escape(words[-1].removesuffix("s"))
        return re.search(rf"\b(?!{re.escape(words[-2])}\b)[a-z]+ {kind}s?\b", was.said) is not None
    kind = _KIND_CJK.search(thing)
    if kind is None or kind.start() == 0 or thing in was.said:
        return False
    return re.search(rf"[\u3400-\u9fff]{re.escape(kind.group())}", was.said) is not None


_TURNED = _rx(
    r"\b(?:switched|moved|changed|downgraded|upgraded|went|converted|transferred|swapped)(?: \w+)? (?:over |back )?to (?:the |an? )?"
    r"(?P<a>[\w-]+ \w+)(?= (?:in|since|last|this|yesterday|for|from|as|on|after|because|at|now)\b|$|[,.;])",
    r"(?:改[成为上用]?|换[成到]?|降[到为成]|升[到为成级]到?|转[到为成]|调[到成])了?(?P<b>[^,。了]{2,8})",
    r"(?P<c>[^、。はがをら]{2,10}?)[にへ](?:変更|変わ|変え|切り替|移|転|下げ|上げ|乗り換|なっ|なり)",
)
_KIND_CJK = re.compile(r"[\u30a1-\u30ff]+$|[\u3400-\u9fff]$")
_IS = Signs(r"\b(?:is|are|'s|'re|called|named)\b", r"是|叫|为", r"です|だ|である|は")
_BECOMES = Signs(r"\b(?:is|are|was|to|called|named)\b", r"是|叫|为|成|换|改|到|变", r"です|だ$|である|なっ|なり|[にへ]変|切り|移")
_FRAME = re.compile(r"\b(at|in|on|for|with|from|by|as|about|to)\b((?: (?!(?:at|in|on|for|with|from|by|as|about|to)\b)[\w.'/-]+){1,4})")
_NO_FRAME = re.compile(r"\bfrom now on\b|\bas of\b|\bin (?:january|february|march|april|may|june|july|august|september|october|november|december)\b")
