"""What a text says is over: the thing beside a marker of ending or replacing, in English, Chinese and Japanese.

A marker stands before its thing ("we dropped Jenkins", 不再用) or after it ("Jenkins is gone", 卖掉了, をやめて).
A clause that asks, plans, supposes or says "not yet" ends nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .claims import units
from .fold import canonical
from .patterns import lazy
from .signs import Signs
from .subject import head, people

__all__ = ["Ended", "asserted", "ended", "sentences"]

_MAX_SENTENCE_CHARS = 200
_MAX_THING_CHARS = 40


def _rx(*patterns: str) -> re.Pattern[str]:
    return lazy("|".join(canonical(pattern) for pattern in patterns))


@dataclass(frozen=True, slots=True)
class Ended:
    """A thing that is over, who gave it up (nothing: the owner of the memory), and for what only.

    `departed`: it is somebody who left a place, which ends no more than what is told along with it.
    `gone`: the thing itself is no more, whosever it was.
    """

    thing: frozenset[str]
    subject: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    departed: bool = False
    gone: bool = False


# A clause with one of these says what may be, not what is.
_UNREAL = Signs(
    r"\?|\b(?:if|whether|might|may (?:be|not|have|need|want|switch|move|use|go|get|change|well|become|also)|maybe|perhaps|consider\w*|thinking (?:of|about)|plan(?:s|ning)? (?:to|on)|"
    r"wants? to|wanted to|would|hop(?:e|es|ing)|wish\w*|could|should|almost|nearly|someday|not sure|"
    r"going to|intends? to|unless|tempted|wonder\w*|debating|proposed?|suggest\w*)\b|"
    r"\byet\b|\bha(?:ve|s)(?:n't| not)\b(?! .*(?:any ?more|since))|\bnever\b",
    r"如果|要是|假如|可能|也许|或许|考虑|打算|计划[在把将要换迁搬改]|想(?:要|换|搬|改|把|试|去)|准备|还没|尚未|没有?(?:换|搬|改|迁)|是否|[吗么]$|"
    r"要不要|差点|希望(?:能|可以)|建议|会不会|不打算",
    r"もし|たら(?:どう|いい)|(?:れ|な)ば|かもしれ|検討|つもり|[るうくすつぬむぶぐ]予定|たい(?:です|と|なあ|$)|まだ|"
    r"(?:よ)?うと(?:思|考|し)|ますか|ですか|そうになっ|迷っ",
)

_CUT_EN = lazy(
    r" (?:since|because|after|before|as of|for|in|over|during|last|this|and|with|by|due|when|now|at|on|so|but|or|"
    r"from|any ?more|any longer|completely|entirely|altogether|years? ago|months? ago|weeks? ago|yesterday|today|"
    r"recently|ages|as|that|which|who|left|until|while|instead|except|though|thanks|these|then|already|back)\b"
)
_NARROWING = lazy(r"no longer|instead of|rather than|stopped|quit|gave up|n't|not ")
_OPEN = lazy(r"\w+(?:ing|ed|ble|ic|ful)")  # no thing without what comes after its preposition
_NARROWS = lazy(
    r"^ (?:for (?!good\b|now\b|ever\b|\w+ (?:reasons|years|months)\b|health\b)|on (?!mon|the first)|after \d|before |"
    r"during |except |when |while |in the (?:morning|evening|afternoon)|at (?:night|work|home|the)\b)([\w ]+)"
)
_TIMES_EN = lazy(
    r"\b(?:in|since|on|over|last|this|from|as of|for)? ?(?:the )?(?:last |past )?(?:january|february|march|april|may|june|"
    r"july|august|september|october|november|december|spring|summer|autumn|winter|weekend|week|month|year|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:19|20)\d\d)\b"
)
_TAKES = lazy(r"(?:took|taken|takes|inherited|picked|passed|handed|transferred)\b.* from")
_LEADING_EN = lazy(
    r"^(?:(?:using|to use|the|my|our|his|her|their|an?|any|all|old|working|work|works|live|lives|living|drinking|drink|drinks|"
    r"eating|eat|eats|playing|play|plays|going|go|goes|taking|take|takes|driving|drive|drives|like|likes|love|loves|"
    r"enjoy|enjoys|use|uses|have|has|own|owns|support|supports|want|wants|doing|do|does|being|"
    r"at|in|for|on|from|with|to|of|as|job|user's|supporting|writing|watching|reading|"
    r"running|run|runs|job at|keep|keeps|buy|buys|wear|wears|need|needs|prefer|prefers|use of|date|dating|see|"
    r"seeing|teach|teaches|attend|attends|rent|rents|ride|rides) )+"
)
_ENDS = (
    r"(?:no longer|stopped|quit|dropped|ditched|abandoned|deprecated|removed|deleted|sold|"
    r"uninstalled|cancell?ed|replaced|sunset|divorced|gave up on|gave up|given up on|given up|giving up|got rid of|"
    r"moved away from|moved off(?: of)?|moved on from|migrated off|migrated away from|phased out|parted with|broke up with|"
    r"split up with|unsubscribed from|swore off|sworn off|cut out|done with|through with|retired from|resigned from|"
    r"graduated from|got laid off from|laid off (?:from|by)|fired (?:from|by)|away from|instead of|rather than|"
    r"in place of|as opposed to|used to|scrapped|decommissioned|retired|shut down|closed|traded in|turned off|"
    r"switched off|cut back on|gave away|donated|went off|kicked|no more|stepped down as|swapped out|swapped|stepped down from|"
    r"(?:took over|taken over|takes over|inherited|picked up) .{2,40}? from)(?! to\b)"
)
_BEFORE_THING_EN = lazy(
    rf"\b(?:{_ENDS})\b (?P<thing>[^,;]+)"
    r"|(?:n't|\bnot) (?P<denied>[^,;]{2,40}?)"
    r" any ?(?:more|longer)\b"
    r"|(?:^|\band |\bbut )not (?!quite|really|sure|only|just|yet)(?P<other>[\w .#+-]{1,30})"
    r"|\b(?:i|i've|user|user has|we|we've|recently|just|have|has) left (?!my\b|the\b|for\b|it\b|out\b|early\b|a\b)(?P<left>[^,;]+)"
    r"|^no (?P<none>[\w.+#]+(?: \w+)?) (?:left|any ?more|any longer)"
    r"|\b(?:switched|moved|migrated|changed|converted|ported|transferred|passed|handed|relocated|upgraded|renamed|went|"
    r"transitioned)\b.{0,40}? from (?P<source>[^,;]{2,40}?) (?:on)?to\b"
)
_AFTER_THING_EN = lazy(
    r"^(?P<thing>[\w' .#+-]{2,40}?)(?:'s)? (?:(?:is|are|was|were|has been|have been|have|has|got|went|being|been) )?"
    r"(?:(?:all|now|finally|completely|already|just|long|officially|recently) )*"
    r"(?:gone\b|dead\b|history\b|retired\b|deprecated\b|decommissioned\b|discontinued\b|shut down\b|dropped\b|"
    r"off the table\b|no more\b|no longer (?:used|in use|valid|works?|supported|exists?|active|needed|around|in charge|with us|"
    r"maintained|available|apply|applies|leads?|owns?|responsible|runs)\b|obsolete\b|sold\b|cancell?ed\b|scrapped\b|ended\b|"
    r"died\b|passed away\b|closed\b|removed\b|replaced\b|uninstalled\b|switched off\b|turned off\b|phased out\b|"
    r"superseded\b|out of (?:use|service|date)\b|out$|left\b|resigned\b|stepped down\b|hand(?:ed|s)\b.{0,40}(?:over|off|to)\b|"
    r"broke up\b|split up\b|disbanded\b|moved out\b|moved away\b|folded\b|and i (?:broke up|split up|got divorced|are no longer|separated))"
)
_DEPARTED = _rx(
    r"\b(?:left|resigned|stepped down|hand(?:ed|s))\b", r"离职|辞职|调走|交给|交接|不再", r"異動|退職|退任|降り"
)
_PASSIVE = lazy(r"(?:\b(?:is|are|was|were|am|be|been|get|got|getting)|'m|'re) (?:\w+ )?$")

_SELF_CJK = _rx(
    r"^(?:其实|最近|因为|所以|现在|如今|目前|上个?[周月]|去年|今年|昨天|前[天阵]子?|终于|已经?|早就?|都|也|就|全|"
    r"我们|咱们|我|用户|主人|团队|项目|公司|家里|把|将|那个?|这个?|之前的?|以前的?|原来的?|老的?|旧的?|的|早上|"
    r"[^,。]{1,6}后(?!端)|全部|彻底|完全|正式|说|医生(?:让|叫|建议|说)?|\d+月份?|今天|从|后来|不过|但是?|而且|[一二三四五六七八九十]+月份?|从?下?个?月起?|以后|年初|年底|刚)+",
)
_VERB_ZH = canonical(
    r"(?:使用|用|放在|托管在|部署在|跑在|存在|存放在|写在|喝|吃|抽|玩|看|去|放在|托管在|部署在|跑在|存在|写在|住在|住|在|戴|穿|买|收|订阅|喜欢|爱|支持|做|当|开|养|学|打|练|订|跑|坐|骑|上|写|是|想|要|有|弹|依赖|走|由|归|负责|维护)"
)
_BEFORE_THING_ZH = _rx(
    rf"(?:再也|已经|早就|早|现在|以后|都|就)?不(?:再|用再|必再|需要再|用|想再|要再|会再|打算再)?{_VERB_ZH}(?P<thing>[^,。!]{{1,16}}?)了(?:$|[,。!])",
    rf"(?:再也不|不再|不要再|不想再){_VERB_ZH}?(?P<never>[^,。!]{{1,16}}?)(?:了|$|[,。!])",
    r"(?:戒|弃用|放弃|告别|卖掉|卸载|注销|删掉|删除|辞掉|辞去|退出|抛弃|淘汰|停用|停掉|下线|离开|退掉|扔掉|送走|"
    r"停止使用|去掉|移除|取消|退订|弃)了?(?:对)?(?P<dropped>[^,。!了掉]{1,16}?)(?:的(?:工作|使用|习惯))?(?:了|$|[,。!])",
    r"(?:戒|停|辞|卖|关|退)掉?了(?P<quit>[^,。!了掉]{1,12}?)(?:$|[,。!])",
    r"从(?P<source>[^,。]{1,15}?)(?:换|改|迁|搬|跳|切|转|挪|调|移|离职|辞职|毕业|退役)",
    r"(?:^|[,。])(?:已经)?(?:不是|并非|而不是)(?P<other>[^,。!]{2,12}?)了?(?:$|[,。!])",
    r"(?:而不是|代替|取代|替代|替换掉?|顶替)了?(?:原来的|之前的|以前的)?(?P<instead>[^,。!]{1,15}?)(?:了|$|[,。!])",
    r"不(?P<done>[^,。!了是得错见够行对再用]{2,16}?)了(?:$|[,。!])",
    r"(?:(?:以后|今后|从今)(?:就|都|请)?)?(?:别再?|不要再?|不用再?)叫我(?P<called>[^,。!了]{1,8})了?",
    r"没有?(?P<none>[^,。!]{1,8})了(?:$|[,。!])",
    r"(?:从|由)(?P<from_hand>[^,。]{1,8})(?:手里|手上|那里|那儿)?(?:接手|接管|接过)",
    r"[和跟与](?P<partner>[^,。]{1,8}?)(?:已经|[春夏秋冬]天|上个?[周月]|去年|今年|年初|[\d一二三四五六七八九十]+月份?)*(?:分手|离婚|分开|离了)",
)
_AFTER_THING_ZH = _rx(
    r"(?:戒了|戒掉|卖了|卖掉|卖给|出手了|删了|删掉|删光|卸载|卸了|停用|停掉|停服|下线|作废|废弃|废除|弃用|淘汰|取消了|没了|不在了|去世|"
    r"走了$|注销|关了|关掉|放弃了|退订|分手了|关停|关闭|退役|丢了|扔了|送人|不用了|不要了|退掉|报废|解散|不玩了|不干了|不做了|失效|停产|"
    r"用不了|已离职|离职|辞职|调走|不再负责|不再担任|不再使用|不再维护|拆了|拆掉|替换掉|交接给|交给|转交给|移交给|让位|换掉|下架|倒闭|不(?:支持|需要|喝|吃|戴|穿|买|写|练)了|搬走|搬出去|中断|"
    r"不抽了|不去了|不练了|不弹了|不学了|不打了|不跑了|不看了|不开了|不养了|不住了|停了|退了|都不用|早不用|换成|改成|改用|迁到|迁移到|换到)"
)
_OVER_JA = _rx(
    r"(?:をもって|は|を|が|も|とは|に|の(?:使用|利用|仕事|契約|運用|サポート)[はをが]?)?(?:もう|既に|すでに|完全に|先月|先週|去年|昨年|今年|全部|ついに|"
    r"きっぱり|きれいに|いったん|今月|正式に|最近|やっと|二度と|一切|とっくに|ほとんど|[一二三四五六七八九十\d]+月[にで]?|)*"
    r"(?:やめ(?!な)|止め(?!な)|辞め(?!な)|退職し|退社し|退学し|手放し|手放す|売っ|売り|売却|卒業|廃止|廃棄|捨て|解約し|削除し|アンインストール|引退|断っ|断ち|"
    r"なくな|無くな|亡くな|使わな[いく]|使えな[いく]|使いませ|使えませ|使ってな[いく]|使っていな[いく]|使っていませ|利用していな[いく]|"
    r"利用していませ|残っていな|残っていませ|いなくな|別れ[たまて]|離婚|退会|撤去|撤退し|卒園|離れ[たまて]|譲っ|譲り|譲渡|脱却|終了し|"
    r"打ち切|停止し|閉め[たまて]|閉店|退任し|諦め|断念|解除|解消|無効に|中止し|不要になっ|不要になり|必要なくな|必要がなくな|解散|出てい[きっ]|引っ越して出|引き払|乗り換え|飲まな[いく]|飲みませ|飲んでいな|食べな[いく]|食べませ|吸わな[いく]|吸っていな|吸いませ|"
    r"行かな[いく]|行っていな|通っていな|住んでいな|住んでいませ|働いていな|働いていませ|していな[いく]|していませ|"
    r"好きで[はも]?な[いく]|好きじゃな[いく]|好きではありません|好まな[いく]|しな[いく](?:こと)|お役御免|外れ[たまて]|外し[たまて]|"
    r"担当していな|降り[たまて]|閉鎖|閉じ[たまて]|異動し)"
    r"|を(?=[^、。はを]{1,12}に(?:引き継|譲[っり]|渡し|任せ|交代))"
    r"|(?:では|じゃ)(?:なく|ない|ありません)|の(?:代わり|かわり)に|に(?:代|替|変)わ[っりる](?:て)?、|から(?=[^、。は]{1,24}(?:に|へ)(?:、|全面|完全|正式)?(?:移行|移転|異動|転勤|変更|切り替|変え|変わ|"
    r"乗り換|交代|移っ|移し|転職|引き継|引き渡|引っ越|バトン|改め|置き換|転校|転科|転向|更新|アップ))"
    r"|から(?=(?:[^、。は]{0,12}が)?引き継)",
)
_CLAUSES = lazy(r"[,;:、] ?| and (?=\w+ (?:is|are|has|have|was|were|got)\b)| but ")
_TRIM_ZH = _rx(
    r"(?:已经?|早就?|都|也|全|我们?|用户|给|被|的代码|就|上个?[周月]|去年|今年|昨[天晚]|(?:去年|今年)?[春夏秋冬]天|今天|彻底|全部|正式|的)+ ?$"
)
_REPLACED_ZH = _rx(r"换成|改成|改用|迁到|迁移到|换到")
_WHEN_JA = _rx(r"(?:前|月|年|週|春|夏|秋|冬|日)(?:から|に|で)?$|[にで]$|くて$|ので$|ため$")
_BY_WAY_JA = lazy(r"^.{1,6}?[でに](?=..)")
_STILL_THING_JA = lazy(r"もう([^、]{1,16}?)(?:[をがは]|で[はも]|に[はも])")
# Without these a thing is what one was a member of.
_BELONGING = _rx(
    r" (?:membership|subscription|account|contract|plan|pass|season ticket|habit|license|licence)$",
    "(?<=[跑散])步$|(?<=.)(?:会员|年卡|月卡|卡|账号|账户|套餐|订阅|合同)$",
    "(?<=.)(?:の?会員|の?契約|の?アカウント|の?サブスク|の?習慣|の?定期)$",
)
_STOPPED_JA = _rx(r"もう([\u3400-\u9fff]{1,3})[\u3041-\u309f]{0,2}[てで]い?(?:ない|ません)")
_GONE_JA = _rx("亡くな|別れ|離婚|いなくな|無くな|出てい|引っ越して出|解散|異動|閉鎖")
_SELF_JA = _rx(r"私たち|私|僕|俺|ユーザー|うち|チーム|プロジェクト|今後|今|これから|もう|実|最近|この")
_OVER_STILL_JA = _rx(r"もう[^、。]{0,24}?(?:ない|なく|ません|おらず)")
_TRIM_JA = _rx(
    r"^(?:以前の|これまでの|前の|古い|旧|今まで(?:の)?|ずっと|毎[朝日晩週]|実は|先月|先週|去年|昨年|今年|もう|今は|"
    r"この(?:春|秋|夏|冬|たび)(?:で|に)?|[一二三四五六七八九十\d]+月(?:で|に|末で)|[春夏秋冬]に|正月に|年末に|最近|健康のため|持って|飼って|使って|長年|乗って)+|"
    r"(?:での(?:仕事|勤務)|への|という|などは?|との|での|という名前|で働くの|で働いて|に住むの|を(?:飲む|食べる|吸う|使う|する)の|に通うの|の仕事|[はをがもにと])+$"
)
# Giving something up by one word that does not name it.
_BY_ONE_WORD = (
    (_rx("禁煙", "タバコを卒業"), ("タバコ", "喫煙", "煙草", "たばこ")),
    (_rx("禁酒|断酒"), ("酒", "ビール", "ワイン", "日本酒")),
    (_rx("戒烟"), ("烟",)),
    (_rx("毕业"), ("学生", "研究生", "大学生", "在读")),
    (_rx("卒業し|卒業でき"), ("学生", "大学生", "大学院生")),
    (_rx(r"\bgraduated\b"), ("student",)),
    (_rx("戒酒"), ("酒",)),
    (
        _rx(r"\b(?:quit|stopped|gave up|given up|no longer) smok(?:ing|es?)\b|\bnon-?smoker\b|\bsmoke-free\b"),
        ("smoke", "cigarettes"),
    ),
    (
        _rx(r"\b(?:sober|teetotal\w*|(?:quit|stopped|gave up|given up) (?:drinking(?! \w)|alcohol)|alcohol-free)\b"),
        ("alcohol", "wine", "beer", "whisky"),
    ),
)


def sentences(said: str) -> list[str]:
    """Return the sentences of a folded text."""
    return [part.strip() for part in re.split(r"(?<=\?)|[!\n;。]+|[.](?=\s|$)", said) if part.strip()]


def asserted(sentence: str) -> bool:
    """Whether a sentence says what is so: no question, plan, supposition or "not yet"."""
    return _UNREAL.search(sentence) is None


def ended(said: str) -> list[Ended]:
    """Return what a folded text says is over."""
    found: list[Ended] = []
    for whole in sentences(said):
        sentence = whole[:_MAX_SENTENCE_CHARS]
        if not asserted(sentence):
            continue
        for clause in _CLAUSES.split(sentence):
            if clause.isascii():
                found += _english(clause)
            elif re.search(r"[\u3041-\u30ff]", clause):
                found += _japanese(clause)
            else:
                found += _chinese(clause)
            for word, things in _BY_ONE_WORD:
                if word.search(clause):
                    who = frozenset(units(" ".join(people(clause)))) | head(clause)
                    found += [Ended(frozenset(units(thing)), who) for thing in things]
    return [one for one in found if one.thing]


def _english(clause: str) -> list[Ended]:
    found = []
    for match in _BEFORE_THING_EN.finditer(clause):
        spelled = next(value for value in match.groupdict().values() if value)
        if match.group().startswith("used to") and _PASSIVE.search(clause[: match.start()]):
            continue
        cut = _CUT_EN.search(spelled, 2)
        if (
            cut
            and _OPEN.fullmatch(spelled[: cut.start()])
            and cut.group() in {" in", " for", " with", " on", " at", " from"}
        ):
            cut = _CUT_EN.search(spelled, cut.end())
        rest = _TIMES_EN.sub("", spelled[cut.start() :]) if cut else ""
        narrows = _NARROWS.match(rest) if _NARROWING.match(match.group()) else None
        thing = _LEADING_EN.sub("", (spelled[: cut.start()] if cut else spelled)[:_MAX_THING_CHARS].strip() + " ")
        thing = _BELONGING.sub("", thing.strip())
        taken = _TAKES.match(match.group()) is not None  # X took over Y from Z: of Z
        subject = frozenset() if taken else head(clause)
        who = people(clause) - units(thing)
        only = frozenset(units(narrows[1])) if narrows else frozenset()
        found.append(Ended(frozenset(units(thing)), subject | who, only))
    if (after := _AFTER_THING_EN.match(clause)) is not None:
        match = after
        thing = _LEADING_EN.sub("", match["thing"].strip() + " ")
        found.append(
            Ended(
                frozenset(units(thing)),
                departed=_DEPARTED.search(match.group()) is not None or (bool(people(clause)) and "moved" in clause),
                gone=True,
            )
        )
    return found


def _chinese(clause: str) -> list[Ended]:
    found = []
    for match in _BEFORE_THING_ZH.finditer(clause):
        spelled = next((value for value in match.groupdict().values() if value), "")
        before = _TRIM_ZH.sub("", _SELF_CJK.sub("", clause[: match.start()]))
        thing = frozenset(units(spelled))
        found.append(Ended(thing, frozenset(units(before)) - thing, gone=bool(match["partner"])))
    if (after := _AFTER_THING_ZH.search(clause)) is not None:
        match = after
        before = clause[: match.start()].strip()
        handled = canonical("把") in before
        before = re.split(canonical("把|将"), before)[-1] if not _DEPARTED.search(match.group()) else before
        spelled = _BELONGING.sub("", _SELF_CJK.sub("", _TRIM_ZH.sub("", before)))
        if handled or not _REPLACED_ZH.match(match.group()):
            departed = _DEPARTED.search(match.group()) is not None and not handled
            found.append(Ended(frozenset(units(spelled)), departed=departed, gone=True))
    return found


def _japanese(clause: str) -> list[Ended]:
    found = []
    spans = [(match.start(), match.group()) for match in _OVER_JA.finditer(clause)]
    if (still := _OVER_STILL_JA.search(clause)) is not None:
        match = still
        before = clause[: match.start()]
        inner = _STILL_THING_JA.search(match.group())
        if inner and units(inner[1]):
            spans.append((match.start() + inner.end(1), match.group()))
        elif before and before[-1] in "はがをも":
            spans.append((len(before), match.group()))
    if (stopped := _STOPPED_JA.search(clause)) and not _SELF_JA.sub("", clause[: stopped.start()]).strip("はがも"):
        found.append(Ended(frozenset(units(stopped[1]))))
    for end, marker in spans:
        parts = [part for part in re.split(r"[はが、]", clause[:end]) if part]
        known = len(parts)
        while len(parts) > 1 and _WHEN_JA.search(parts[-1]):
            parts.pop()
        if not parts:
            continue
        if 1 < len(parts) < known and "は" in clause[:end] and "を" not in clause[:end]:
            parts = [clause[:end].split("は", maxsplit=1)[0]]  # a clause of reason stands between topic and verb
        spelled = _BELONGING.sub("", _BY_WAY_JA.sub("", _TRIM_JA.sub("", parts[-1])))
        thing = frozenset(units(spelled))
        owners = _SELF_JA.sub("", "".join(parts[:-1]))
        subject = frozenset(units(owners)) - thing
        found.append(
            Ended(
                thing,
                subject,
                departed=_DEPARTED.search(marker) is not None and marker[0] in "がは",
                gone=_GONE_JA.search(marker) is not None,
            )
        )
    return found
