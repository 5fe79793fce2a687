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
from .subject import people

__all__ = ["Part", "parts_of", "rejoined"]

_MOST_CHARS = 600  # a longer sentence stays whole
_MOST_JOINTS = 24  # what has more is a list
_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")


def _rx(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(canonical(pattern) for pattern in patterns), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """A statement as it is written, what joins it to the one before in its sentence, and the subject that it shares."""

    written: str
    joint: str = ""
    subject: str = ""

    @property
    def said(self) -> str:
        """The statement by itself."""
        return f"{self.subject}{self.written}"


def parts_of(text: str) -> list[Part]:
    """Return the statements of a text, in order."""
    return [part for sentence in sentences(text) for part in _cut(sentence)]


def rejoined(parts: Iterable[tuple[int, Part]]) -> str:
    """Return some of the parts of a text, with their places in it, as one text."""
    text, last = "", -2
    for place, part in parts:
        if text and place == last + 1 and part.joint:
            text += f"{part.joint}{part.written}"
        else:
            text = f"{_finished(text)}{_capital(part.said)}"
        last = place
    return _finished(text).rstrip()


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
    (re.compile("(?<=[てで])(?:いて|おり)$"), "います"),
    (re.compile("(?<=[すただるい])(?:が|けど|けれども?|し)$"), ""),
    (re.compile("(?<![んい])で$"), "です"),
    (re.compile("(?<=[がもはに])あり$"), "あります"),
    (re.compile("(?<=[がもはに])いて$"), "います"),
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
        before, after = (_plain(side) for side in (sentence[start : cut.start()], sentence[cut.end() :]))
        if not after or not ends(before, cut.group()):
            continue
        shared = begins(f"{_plain(subject)}{before}", after, cut.group())
        if shared is None:
            continue
        found.append(Part(sentence[start : cut.start()], joint, subject))
        # What is shared stands at the beginning of the part before, where it is spelled as its writer does.
        head = f"{subject}{sentence[start : start + len(shared)]}"[: len(shared)]
        start, joint, subject = cut.end(), cut.group(), head if shared else ""
    return [*found, Part(sentence[start:], joint, subject)]


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
_OWN_EN = re.compile(
    rf"(?:(?:now|currently|nowadays|these days|today|this year|last year|in (?:19|20)\d\d),? )?"
    rf"(?:(?:i|we)(?:'(?:m|ve|re|ll|d))? (?!and\b|or\b)\w|"
    rf"(?!(?:{_BACK_EN}{_LESS_EN})\b|{_OF_IT})(?:(?!(?:{_NO_NP})\b)[\w.'/+#&-]+ ){{1,7}}?{_FINITE_EN}|"
    rf"(?:my|our|the) (?:(?!(?:{_NO_NP})\b)[\w.-]+ ){{1,3}}?[a-z]{{2,}}[^\Ws]s (?!(?:{_NO_NP})\b|of\b)[a-z]{{2,}}|"
    rf"(?:my|our|the) (?:[\w-]+ )?[\w-]+'s (?:an?|the|in|at|on|called|named|not|from|my|our|\d|\w+ing)\b|user(?: \w+ly)? \w+s\b)"
)
_CLAUSE_EN = re.compile(
    rf"(?:^|(?<= )){_FINITE_EN}(?= |$)|^(?:i|we)\b. ?\w+ \w|^(?:he|she|it|they)'|^(?:please|always|never|use|call|answer)\b|\w'(?:s|re) \w"
)
_JOINT_EN = re.compile(
    r"\s*(?:[,;\u2013\u2014]|\s-(?=\s))\s*(?:(?:and|but|while|whereas|plus|yet)\b,?\s*)?(?:also\s+)?|"
    r"\s+(?:and|but|while|whereas)\s+(?:also\s+)?",
    re.IGNORECASE,
)
_JOINS_EN = re.compile(r"[a-z]")
_INTRO_EN = re.compile(
    r"(?:in|on|at|after|before|since|when|while|if|as|because|although|though|unless|until|once|whenever|for|from|by|with|during|"
    r"to|despite|given|according|besides|apart|unlike|under|over|between|among|due|where|even|so|whether)\b"
)
_UNDER_EN = re.compile(
    r"\b(?:because|since (?!\d|january|february|march|april|may|june|july|august|september|october|november|december|last|the\b)|so that|if|"
    r"when|unless|although|though|that|which|who|whose|where|until (?!\d)|whether|in case|as long as|so)\b"
)
_OPEN_EN = re.compile(
    r"\b(?:think|guess|believe|mean|know|suppose|hear|heard|said|says|hope|told \w+|that|if|because|and|or|than|as|to|for|between|both)$"
)
_SHARED_EN = re.compile(rf"((?:i|we|(?:the )?user|(?:my|our) \w+(?: \w+)?) )(?:{_FINITE_EN}) ")


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
    return bool(facts(re.split("[,;、。]", said)[0]))


# Chinese: no form tells a verb, so what stands before one must not be a word that begins a clause without a subject.
_ALSO_ZH = "而且|并且|並且|另外|此外|同时|同時|还有|還有"
_BUT_ZH = "但是|不过|不過"
_JOINT_ZH = re.compile(
    rf"\s*[,;\uff0c\uff1b]\s*(?:(?:{_ALSO_ZH}|{_BUT_ZH}|但|然后|然後|而|并|並|且|可是|只是|至于|至於|再说|再說|对了|對了)[,\uff0c]?)?|"
    rf"\s*(?:{_ALSO_ZH}|{_BUT_ZH})(?=我)"
)
_ADDS_ZH = re.compile(_ALSO_ZH)
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
_JOINT_JA = re.compile(
    r"\s*[、,;\uff0c\uff1b]\s*(?:(?:そして|また|あと|それに|しかも|ただし?|でも|なお|一方で?|ちなみに|それから|さらに|加えて|だけど|けど|しかし)[、,\uff0c]?\s*)?|"
    r"(?<=です)(?:が|けど|し)(?=[^、。])|(?<=ます)(?:が|けど|し)(?=[^、。])|(?<=[てで](?:いて|おり))(?=[^、。はがをに]{1,10}[はを])",
)
_GOES_ON_JA = _rx(
    r"(?:[^、]{2,}(?:[いっんしえけきり]て|[んい]で|し|り|おらず|です|ます|だ|ました|でした|ません|ない)|[^、]*(?:在住|出身|勤務|所属|独身|既婚|[師員生者歳型派])で|[^、]*[はがも][^、]+(?:で|く|み|き|ち|ず)|"
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
_STATES_JA = re.compile("好き|嫌い|苦手|得意|でき|飼|い(?:ます|る)|あり|ある|話せ|弾け|怖|趣味")
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
