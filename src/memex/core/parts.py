"""The statements that a text joins: its sentences, cut where a clause with a subject of its own begins; in three languages.

A list, a reason, a relative clause and what has no subject of its own belong to the statement beside them. What has
none, but is a fact by itself ("..., and work as a nurse"), is a statement with the subject of the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from .facts import facts
from .fold import canonical, fold
from .passages import sentences
from .patterns import lazy
from .signs import Signs
from .subject import people

__all__ = ["Part", "parts_of", "rejoined"]

_MOST_CHARS = 600  # a longer sentence stays whole
_MOST_JOINTS = 24  # what has more is a list
_KANA = lazy("[\u3041-\u30ff]")
_HAN = lazy("[\u3400-\u9fff]")


def _rx(*patterns: str) -> re.Pattern[str]:
    return lazy("|".join(canonical(pattern) for pattern in patterns), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """A statement as it is written, what joins it to the one before in its sentence, and what it shares with others."""

    written: str
    joint: str = ""
    subject: str = ""
    verb: str = ""  # that it shares with the part after it

    @property
    def said(self) -> str:
        """The statement by itself."""
        return f"{self.subject}{self.written}{self.verb}"


def parts_of(text: str) -> list[Part]:
    """Return the statements of a text, in order."""
    return [part for sentence in sentences(text) for part in _cut(sentence)]


def rejoined(parts: Iterable[tuple[int, Part]]) -> str:
    """Return some of the parts of a text, with their places in it, as one text."""
    text, last, verb = "", -2, ""
    for place, part in parts:
        if text and place == last + 1 and part.joint:
            text += f"{part.joint}{part.written}"
        else:
            text = f"{_finished(text + verb)}{_capital(part.subject + part.written)}"
        last, verb = place, part.verb
    return _finished(text + verb).rstrip()


def _capital(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}"


def _finished(said: str) -> str:
    """Return a statement that went on in its sentence, as one that ends with it; and room for another one."""
    said = said.rstrip()
    if not said or not re.search(r"\w$", said):
        return f"{said} " if said.isascii() and said else said
    if _KANA.search(said):
        for pattern, ending in _UNFINISHED_JA:
            said = pattern.sub(ending, said)
        return f"{said}。"
    return f"{said}。" if _HAN.search(said) else f"{said}. "


_UNFINISHED_JA = (
    (lazy("(?<=[てで])(?:いて|おり)$"), "います"),
    (lazy("(?<=[すただるい])(?:が|けど|けれども?|し)$"), ""),
    (lazy("くて$"), "いです"),
    (lazy("(?<=[がもはに])あって$"), "あります"),
    (lazy("(?:(?<=さん)|(?<=くん)|(?<=ちゃん)|(?<=きれい)|(?<=嫌い)|(?<![んい]))で$"), "です"),
    (lazy("(?<=ん)で$"), "でいます"),
    (lazy("(?<=[っえけせてねべめれげみしじき\u3400-\u9fff])て$"), "ています"),
    (lazy("(?<=[がもはに])あり$"), "あります"),
    (lazy("(?<=[がもはに])いて$"), "います"),
)


def _cut(sentence: str) -> list[Part]:
    if len(sentence) > _MOST_CHARS:
        return [Part(sentence)]
    joints, ends, begins = (
        (_JOINT_JA, _ends_ja, _begins_ja)
        if _KANA.search(sentence)
        else (_JOINT_ZH, _ends_zh, _begins_zh)
        if _HAN.search(sentence)
        else (_JOINT_EN, _ends_en, _begins_en)
    )
    found, start, joint, subject = [], 0, "", ""
    for cut in islice(joints.finditer(sentence), _MOST_JOINTS):
        written, rest = sentence[start : cut.start()], sentence[cut.end() :]
        before, after = (_plain(side) for side in (written, rest))
        verb = _verb_after(written, rest)
        if not after or not (verb or ends(before, cut.group())):
            continue
        shared = "" if verb or _somebody(before, rest) else begins(f"{_plain(subject)}{before}", after, cut.group())
        if shared is None and _STOP.search(cut.group()) and _tells(after):
            shared = ""
        if shared is None:
            continue
        found.append(Part(written, joint, subject, verb))
        # What is shared stands at the beginning of the part before, where it is spelled as its writer does.
        head = f"{subject}{sentence[start : start + len(shared)]}"[: len(shared)]
        start, joint, subject = cut.end(), cut.group(), head if shared else ""
    return [*found, Part(sentence[start:], joint, subject)]


# After a semicolon stands a statement of its own; a list, the more so without a verb, has commas or is one.
_STOP = lazy("[;\uff1b]")


def _tells(said: str) -> bool:
    """Whether what is folded, and stands after a semicolon, is more than an item of a list or an addition."""
    first = re.split("[,;、]", said)[0]
    if first.isascii():
        return len(first.split()) > 2 and not re.match(rf"(?:{_LESS_EN})\b", first)
    return len(first) > 4


def _verb_after(before: str, after: str) -> str:
    """Return the verb that a Japanese clause without one shares with the next, of the same form: AがBを、CがDを担当する."""
    shared = _GAPPED_JA.fullmatch(after.rstrip(" 。.!！")) if _GAP_JA.fullmatch(before) else None
    return shared["verb"] if shared else ""


_GAP_JA = lazy("[^、。はがを]{1,16}[はが][^、。はがを]{1,20}を")
_GAPPED_JA = lazy("[^、。はがを]{1,16}[はが][^、。はがを]{1,20}を(?P<verb>[^、。はがを]{2,16})")
# Somebody by name, whose verb is told by what follows; where things are listed, names of things, too, stand before nouns.
_BY_NAME = lazy(
    r"(?!(?:I|It|He|She|They|That|This|These|Those|There|Here|Which|Who|So|Then|And|But|Or)\b)[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2} "
    r"(?!\w*(?:ss|us|is) )(?:[a-z]{2,}(?:s|ed)|led|ran|took|gave|made|wrote|chose)(?= (?P<object>it|them|him|her|me|us|the|an?|my|our|"
    r"your|his|their|this|every|each)\b| (?:up|off|out|away|down|over|first|last|next|then|there|too|on|at|in|to|for|with|from|by|"
    r"until|after|before|about|as)\b|[.!]?$)"
)
_LISTS_EN = lazy(
    r"\b(?:lik|lov|enjoy|prefer|hat|us|ha|own|play|speak|read|eat|sell|know|collect|watch|learn|stud|need|want|drink|grow|"
    r"keep|buy|offer|support|visit|cook)(?:e|es|s|ve|y|ies|ing|ed)?\b(?!.*\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?$)"
)
_SURNAMES = (
    "[王李张刘陈杨赵吴徐孙胡朱郭罗宋郑韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎潘杜戴夏汪姜范石姚谭廖邹熊陆郝孔崔康邱秦史顾侯邵孟钱汤尹乔贺赖龚葛柳邢]|"
    "欧阳|司马|上官|诸葛"
)
_BY_NAME_ZH = lazy(
    canonical(
        f"(?:[小老阿](?![时学区组心吃狗猫孩说数型朋事年家板公婆师百城房屋车店工费商程人姨]|[^的]的)[\u3400-\u9fff]|"
        f"(?!程序|许多|石头|石油|夏[天季]|唐代|宋代|汤[里水]|钱[包都不也在放是]|孔[子雀]|康复|杜绝|戴[着上]|叶子|张[嘴开贴]|陈[旧列述]|罗列|曾经|史上|顾客|侯[车机]|"
        f"熊猫|沈阳|郑州|苏州|徐州|石家庄|韩[国语]|唐山|秦皇|胡[说萝]|孟买|杨梅|李子|柳[树州])(?:(?:{_SURNAMES})[\u3400-\u9fff]{{1,2}}?|[\u3400-\u9fff]{{1,2}}(?:老师|经理|医生|教授|先生|女士|师傅)))"
        "(?:每|都|也|第[一二三四五六七八九十]|先|后|最后|负责|主[持讲演管]|上[场台]|出[场席]|登台|开[场车]|发[言布]|演[讲奏示唱]|讲|介绍|报告|汇报|签|审|批|记录|做|写|带|来|去|"
        "接|送|唱|弹|拉|跳|教|管|买|订|付|请|值班|参加|翻译|陪|压轴|收尾|致辞|领|排|帮|用|是|在|住)"
    )
)
_BY_NAME_JA = lazy(
    canonical(
        "(?:[\u3400-\u9fff]{2,4}|[\u30a1-\u30ff]{2,8}|[^、。はがを]{1,8}(?:さん|くん|君|ちゃん|先生|氏))が(?:[^、。はが]{1,16}[をにでと])?"
        "(?:話|説明|発表|司会|担当|進行|進め|運転|作|書|歌|弾|教|準備|案内|通訳|報告|登壇|出|行|来|迎え|払|決め|まとめ|承認|確認|署名|締め|踊|演奏|料理|手伝|見|持|主催)"
    )
)


def _somebody(before: str, after: str) -> bool:
    """Whether a clause begins with somebody by name who does something."""
    if match := _BY_NAME.match(after):
        return match["object"] is not None or _LISTS_EN.search(before) is None
    said = _plain(after)
    return (_BY_NAME_JA if _KANA.search(said) else _BY_NAME_ZH).match(said) is not None


def _plain(said: str) -> str:
    return fold(said).replace("\u2019", "'").rstrip(" .!。")


# English: a subject, then a verb that is finite by its form, or by a list.
_BE_EN = (
    r"(?:am|is|are|was|were|has|have|had|will|would|can|could|should|must|may|might|does|do|did|isn't|aren't|wasn't|weren't|"
    r"hasn't|haven't|won't|can't|doesn't|don't|didn't|cannot|never|always|usually|also|now|no longer|got|went|came|took|"
    r"bought|sold|left|made|began|became|lost|won|met|taught|wrote|built|ran|gave|grew|broke)"
)
_DO_EN = (
    r"(?:live|work|run|use|go|start|begin|end|open|close|take|keep|need|like|love|hate|prefer|enjoy|drive|play|speak|teach|study|"
    r"stud|own|cost|meet|sit|stand|come|want|make|sell|eat|drink|sleep|bark|sing|expire|belong|happen|move|become|stay|help|know|"
    r"lead|manage|report|pay|build|deploy|ship|write|read|send|store|handle|listen|turn|visit|attend|commute|wake|leave|arrive|"
    r"rotate|wear|collect|grow|cook|train|coach|support|respond|answer|fit|sound|smell|look|feel|host|join)(?:s|es|ies|ed|d)?"
)
_FINITE_EN = rf"(?:{_BE_EN}|{_DO_EN}|[a-z]{{2,}}(?:s|ed)(?= (?:an?|the|my|our|at|in|on|to|for|with|from|by|as|about|every|until|\d+)\b))\b"
_BACK_EN = r"he|she|it|its|his|her|hers|their|they|them|this|that|these|those|there|here|which|who|whose|whom|where|what|one|ones|so|then|"
_LESS_EN = (
    r"on|in|at|to|for|with|from|by|under|over|about|of|as|into|near|not|or|nor|if|when|because|since|until|unless|although|though|"
    r"even|just|only|mostly|mainly|especially|particularly|including|except|like|than|too|rather|instead|after|before|while|"
    r"and|but|me|us|you|him"
)
# These tell of what was spoken of just before: "I live in Oslo, the rent is 900".
_OF_IT = r"(?:the )?(?:name|rent|price|colou?r|reason|size|place|location|view|address|house|flat|apartment|floor|idea|latter|former|other|rest)\b"
_NO_NP = r"that|which|who|whose|where|because|since|if|when|to|and|or|than|but"
_OWN_EN = lazy(
    rf"(?:(?:now|currently|nowadays|these days|today|this year|last year|in (?:19|20)\d\d),? )?"
    rf"(?:(?:i|we)(?:'(?:m|ve|re|ll|d))? (?!and\b|or\b)\w|"
    rf"(?!(?:{_BACK_EN}{_LESS_EN})\b|{_OF_IT})(?:(?!(?:{_NO_NP})\b)[\w.'/+#&-]+ ){{1,7}}?{_FINITE_EN}|"
    rf"(?:my|our|the) (?:(?!(?:{_NO_NP})\b)[\w.-]+ ){{1,3}}?[a-z]{{2,}}[^\Ws]s (?!(?:{_NO_NP})\b|of\b)[a-z]{{2,}}|"
    rf"(?:my|our|the) (?:[\w-]+ )?[\w-]+'s (?:an?|the|in|at|on|called|named|not|from|my|our|\d|\w+ing)\b|user(?: \w+ly)? \w+s\b)"
)
_CLAUSE_EN = lazy(
    rf"(?:^|(?<= )){_FINITE_EN}(?= |$)|^(?:i|we)\b. ?\w+ \w|^(?:he|she|it|they)'|^(?:please|always|never|use|call|answer)\b|\w'(?:s|re) \w"
)
_JOINT_EN = lazy(
    r"\s*(?:[,;\u2013\u2014]|\s-(?=\s))\s*(?:(?:and|but|while|whereas|plus|yet)\b,?\s*)?(?:also\s+)?|"
    r"\s+(?:and|but|while|whereas)\s+(?:also\s+)?",
    re.IGNORECASE,
)
_JOINS_EN = lazy(r"[a-z]")
_INTRO_EN = lazy(
    r"(?:in|on|at|after|before|since|when|while|if|as|because|although|though|unless|until|once|whenever|for|from|by|with|during|"
    r"to|despite|given|according|besides|apart|unlike|under|over|between|among|due|where|even|so|whether)\b"
)
_UNDER_EN = lazy(
    r"\b(?:because|since (?!\d|january|february|march|april|may|june|july|august|september|october|november|december|last|the\b)|so that|if|"
    r"when|unless|although|though|that|which|who|whose|where|until (?!\d)|whether|in case|as long as|so)\b"
)
_OPEN_EN = lazy(
    r"\b(?:think|guess|believe|mean|know|suppose|hear|heard|said|says|hope|told \w+|that|if|because|and|or|than|as|to|for|between|both)$"
)
# What somebody or something does or is for long, whatever else is said of them.
_STATES_EN = r"(?:costs|weighs|sleeps|seats|plays|speaks|studies|teaches|attends|goes to|drives|owns|wears|works|lives|opens|closes|belongs)"
_SHARED_EN = lazy(rf"((?:i|we|(?:the )?user|(?:my|our|the) \w+(?: \w+)?) )(?:{_FINITE_EN}|{_STATES_EN}) ")


def _ends_en(before: str, joint: str) -> bool:
    """Whether a clause ends where it is joined to what comes after."""
    last = re.split("[,;] ?", before)[-1]
    joins = _JOINS_EN.search(joint) is not None
    paused = re.search("[,;\u2013\u2014-]", joint) is not None
    if not _CLAUSE_EN.search(before) or _OPEN_EN.search(before):
        return False
    if ";" in joint:
        return True
    if _INTRO_EN.match(before) and "," not in before:
        return joins and paused
    return not _UNDER_EN.search(last) or (joins and paused)


def _begins_en(before: str, after: str, _joint: str) -> str | None:
    """Return the subject that a clause shares with the one before, "" if it has its own; None if it is no clause."""
    if _OWN_EN.match(after):
        return ""
    shared = _SHARED_EN.match(before)
    if shared and not re.search(r"\bto \w+$", before) and _alone(f"{shared[1]}{after}"):
        return shared[1]
    return None


def _alone(said: str) -> bool:
    """Whether a clause with the subject before it is a fact by itself."""
    first = re.split("[,;、。]", said)[0]
    return bool(facts(first)) or _LASTS.search(first) is not None


# How somebody is for years: an illness, an allergy, what is not eaten; and what somebody does, in the third person.
_LASTS = Signs(
    r"\b(?:am|is|are|have|has|'m|suffers?|got|live with) (?:\w+ ){0,3}?(?:allerg\w+|intoleran\w+|diabet\w+|asthma\w*|epilep\w+|migraines?|"
    r"coeliac|celiac|h(?:a|ae)mophili\w+|arthritis|hypertension|high blood pressure|depression|adhd|autis\w+|dyslexi\w+|insomnia|cancer|"
    r"an? \w+ (?:condition|disorder|allergy)|pregnant|vegan|vegetarian|pescatarian|colou?r[- ]?blind|deaf|blind|left[- ]handed)\b|"
    r"\b(?:can't|cannot|can not|don't|do not|doesn't|does not|never) (?:eat|drink|tolerate|digest)s?\b|"
    rf"^(?:my|our|the) [\w ]+? {_STATES_EN} (?!it\b|too\b)\w",
    "过敏|不耐受|有.{0,6}(?:病|症|炎|哮喘|高血压|癫痫|过敏)|[患得]有|糖尿病|哮喘|怀孕|色盲|左撇子|[吃是]全?素|不能?[吃喝碰沾]|忌口",
    "アレルギー|不耐症|糖尿病|喘息|持病|高血圧|てんかん|妊娠|左利き|色盲|ヴィーガン|ベジタリアン|菜食|(?:食べ|飲)(?:られ|め|ま|な|みま)(?:ない|ません|せん|い)",
)


# Chinese: no form tells a verb, so what stands before one must not be a word that begins a clause without a subject.
_ALSO_ZH = "而且|并且|並且|另外|此外|同时|同時|还有|還有"
_BUT_ZH = "但是|不过|不過"
_JOINT_ZH = lazy(
    rf"\s*[,;\uff0c\uff1b]\s*(?:(?:{_ALSO_ZH}|{_BUT_ZH}|但|然后|然後|而|并|並|且|可是|只是|至于|至於|再说|再說|对了|對了)[,\uff0c]?)?|"
    rf"\s*(?:{_ALSO_ZH}|{_BUT_ZH})(?=我)"
)
_ADDS_ZH = lazy(_ALSO_ZH)
_SELF_ZH = _rx("(?:我们?|咱们?|用户|主人|俺)")
_TIME_ZH = _rx("(?:现在|目前|最近|如今|今年|去年|平时)+")
_BACK_ZH = r"[他她它其该这那此]|对方|里面|上面|附近|旁边|周围|名字|名称|房租|租金|价格|颜色|户型|面积|楼层|位置|地址|环境|原因|理由|房子|公寓|小区"
_LESS_ZH = (
    r"[在从到把被给对跟和与向往为由按因所如虽即尤每都也还就才又再最很太有是叫会能可要想不没别请住用做当开养喝吃玩看听读写学教跑骑坐打弹喜爱讨"
    r"擅属专离靠近以但而并且或只仅刚正曾共约让使等比除一两几第]|主要|特别|非常|大概|平时|经常|偶尔|现在|目前|去年|今年|明年|上个|下个|一般|已经|负责|毕业|来自|"
    r"例如|包括|周[末一二三四五六日天]|早上|晚上|下午|上午|中午|白天|平常|之[前后]|大部分|几乎|完全|大约|总共|分别|尽量|记得|希望|觉得|认为|打算|计划|准备|"
    r"无论|导致|方便|跟着|顺便|直接|通过|位于|常常|通常|从小"
)
_VERB_ZH = (
    r"(?:是|叫|在|有|住|用|放|归|由|为|定|要|会|能|需|靠|属|当|做|跑|喜欢|爱|讨厌|姓|改|换|每[天周月年晚早]|去|来|读|上[小初高大中班]|教|养|学|开|"
    r"不|很|也|都|已|今[年晚天早]|[早晚]上|[上下]午|中午|周[末一二三四五六日天]|星期|刚|怕|吃|喝|过敏|对|从|关|收|卖|买|写|打|弹|唱|跳舞|带|穿|戴|坐|骑|飞|修|管|送|存|藏|挂|锁|营业|工作|下班|毕业|结婚|退休|\d)"
)
_OWN_ZH = _rx(rf"(?!{_BACK_ZH}|{_LESS_ZH})[^,。;、和与及]{{1,12}}?{_VERB_ZH}")
_INTRO_ZH = _rx(
    r"(?:因为?|由于|如果|要是|虽然|尽管|即使|只要|只有|除非|自从|每当|当|除了|为了|对于?|关于|至于|根据|按照|作为|随着|等|若|既然|无论|不管|假如|万一)",
)
_OPEN_ZH = _rx(
    r"(?:时|时候|的话|以后|之后|以前|之前|来说|而言|期间|方面|说|觉得|认为|知道|以为|听说|希望|发现|记得|告诉我|猜|比如|例如|包括|和|与|或|[^.]后|[^.]前)$",
    r"^(?:在|从)[^,]{1,8}(?:[里上中下起]|开始)$|^(?:现在|目前|最近|如今|今年|去年|平时|周末|一般|通常|其实|另外|此外|同时|对了)$",
)


def _ends_zh(before: str, _joint: str) -> bool:
    last = re.split("[,;] ?", before)[-1]
    return len(before) > 2 and not _INTRO_ZH.match(last) and not _OPEN_ZH.search(last)


def _begins_zh(before: str, after: str, joint: str) -> str | None:
    told = after[match.end() :] if (match := _TIME_ZH.match(after)) else after
    first = re.split("[,;。]", told)[0]
    if _SELF_ZH.match(told) and len(first) > 2:
        return ""
    if match is None and _OWN_ZH.match(first) and not _SELF_ZH.search(first[:1]):
        return ""
    own = _SELF_ZH.match(before)
    if own is None:
        return None
    kin = [before.find(name, own.end()) + len(name) for name in people(before[: own.end() + 4])]
    end = min((end for end in kin if end > own.end()), default=own.end())
    shared = before[: end + (end > own.end() and before[end : end + 1] == before[end - 1])]  # 妹妹 is found as 妹
    adds = _ADDS_ZH.search(joint) or re.match("[还也](?!是|没|在|不)", after)
    verb = re.match(_LESS_ZH, after) and not re.match(canonical("[离靠近是叫因所每]|主要|特别"), after)
    return shared if verb and (adds or _alone(f"{shared}{after}")) else None


# Japanese: a clause ends with the form that goes on (て, で, し, が ...), the next one has a topic of its own.
_JOINT_JA = lazy(
    r"\s*[、,;\uff0c\uff1b]\s*(?:(?:そして|また|あと|それに|しかも|ただし?|でも|なお|一方で?|ちなみに|それから|さらに|加えて|だけど|けど|しかし)[、,\uff0c]?\s*)?|"
    r"(?<=です)(?:が|けど|し)(?=[^、。])|(?<=ます)(?:が|けど|し)(?=[^、。])|(?<=[てで](?:いて|おり))(?=[^、。はがをに]{1,10}[はを])",
)
_GOES_ON_JA = _rx(
    r"(?:[^、]{2,}(?:[いっんしえけきり]て|[んい]で|し|り|おらず|です|ます|だ|ました|でした|ません|ない)|[^、]*(?:在住|出身|勤務|所属|独身|既婚|[師員生者歳型派]|主義|菜食|[病症])で|[^、]*[はがも][^、]+(?:で|く|み|き|ち|ず)|"
    r"[^、]{2,}(?:[すただるい](?:が|けど|けれども?|し)))$"
)
_UNDER_JA = _rx(
    r"(?:ので|から|ため|ために|なら|たら|れば|ると|のに|ても|[なれ]でも|とき|時|後|前|まで|ながら|つつ|によると|では|には|とは|について|として|にとって|によって|に関して|おかげで|せいで|ときは|時は)$"
)
_BACK_JA = (
    r"それ|そこ|これ|ここ|その|この|あの|あれ|彼|彼女|名前|色|家賃|値段|価格|理由|場所|住所|部屋|広さ|間取り|そちら|中|何|誰|"
    r"最寄り|通勤|"
)
_WHEN_JA = _rx(r"(?:今|現在|最近|普段|昔|平日|週末|休日|毎[日朝晩週月年]|今年|去年|いつも)(?:は|も|に|、)*")
_TOPIC_JA = _rx(rf"(?!(?:{_BACK_JA[:-1]})[はがもの])(?P<noun>[^、。はがもを]{{1,18}}?)(?P<mark>[はがも])(?=.{{2}})")
_STATES_JA = lazy("好き|嫌い|苦手|得意|でき|飼|い(?:ます|る)|あり|ある|話せ|弾け|怖|趣味")
_SHARED_JA = _rx(r"([^、。はがもを]{1,12}は)")


def _ends_ja(before: str, joint: str) -> bool:
    last = re.split("[、,;]", before)[-1]
    if joint in {"", "が", "けど", "し"}:
        return True
    return _GOES_ON_JA.search(last) is not None and _UNDER_JA.search(last) is None


def _begins_ja(before: str, after: str, _joint: str) -> str | None:
    told = after[match.end() :] if (match := _WHEN_JA.match(after)) else after
    first = re.split("[、;。]", told)[0]
    topic = _TOPIC_JA.match(first)
    if topic and (topic["mark"] == canonical("は") or people(first) or _STATES_JA.search(first)):
        return ""
    if not _alone(told):
        return None
    shared = _SHARED_JA.match(before)
    return shared[1] if shared else ""
