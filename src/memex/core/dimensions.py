"""Values of which one at a time holds: an address, a day, a version, married or single, one tool of a kind.

Each kind of value is recognised by how it looks or by a list of its names, whatever the sentence around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from .fold import canonical
from .kinds import languages_of_answers, named
from .patterns import lazy

__all__ = ["Rule", "Value", "values"]


class Rule(Enum):
    """What it takes for another value of the kind to end the first one."""

    STATE = "state"  # of a person: saying it is enough
    MANNER = "manner"  # a way things are wanted: both are wishes, or the new one says that it is a change
    SHAPE = "shape"  # looks tell the kind (a day, a number): a change, of the same thing
    TOOL = "tool"  # a name out of a kind: a change, for the same purpose


@dataclass(frozen=True, slots=True)
class Value:
    """One value: its kind, which one it is, and where it stands in the text."""

    kind: str
    rule: Rule
    value: str
    span: tuple[int, int]


def _rx(pattern: str) -> re.Pattern[str]:
    return lazy(canonical(pattern), re.ASCII)  # so that a word ends where Han or kana begin


_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_NUMBER_ZH = "一二三四五六七八九十廿"
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("mail", _rx(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")),
    (
        "url",
        _rx(
            r"https?://\S+|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|example|cn|jp|de|co|app|internal|local)\b(?:/\S*)?"
        ),
    ),
    ("phone", _rx(r"(?<![\w.])\+?\d[\d -]{5,}\d(?!\w|\.\d)")),
    (
        "date",
        _rx(
            rf"\b(?:{_MONTHS})[a-z]* \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})[a-z]*\b|"
            rf"\b(?:20\d\d)-\d\d-\d\d\b|[\d{_NUMBER_ZH}]+月(?:[\d{_NUMBER_ZH}]+[日号]?|底|初|中旬|末|上旬|下旬)?|\b\d{{1,2}}/\d{{1,2}}\b|"
            rf"\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)\b|(?<![\d月])(?:[12]?\d|3[01])[号日](?![线楼间门房桌机柜库店馆院厅台员船车栋室口井])|\bq[1-4]\b"
        ),
    ),
    (
        "day",
        _rx(
            r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:每?周|星期|礼拜)[一二三四五六日天末]|[月火水木金土日]曜日?|"
            r"[週周]末|\bweekends?\b"
        ),
    ),
    (
        "time",
        _rx(
            r"\b\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock)\b|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b|(?<= at )\d{1,2}\b(?![./:%]| \w+s\b)|"
            rf"(?:上午|下午|早上|晚上|凌晨|中午|傍晚|午前|午後|朝|夜)?[\d{_NUMBER_ZH}两]+[点时](?!间)(?:半|整|一刻|[\d{_NUMBER_ZH}]+分?)?"
        ),
    ),
    (
        "port",
        _rx(
            r"(?:\bports? |端口(?:号)?(?:是|为|换成|改成|改为|:)? ?|ポート(?:番号)?[はを]? ?)\d{2,5}|\b\d{4,5}番|(?<=:)\d{4,5}\b"
        ),
    ),
    (
        "age",
        _rx(
            r"\b\d{1,2}(?= years? old)|(?<= turned )\d{1,2}\b|(?<= is )(?:one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2})(?= now$|$)|\d{1,2}岁|[一二三四五六七八九十]+岁|\d{1,2}[歳才]"
        ),
    ),
    (
        "amount",
        _rx(
            r"\b\d[\d.,]*k? ?(?:seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|times|gb|mb|tb|%|percent|people|persons?|"
            r"kg|kilos?|km|mg|ml|miles|ms|requests?|cups?|pages?|rows?|replicas?|nodes|users|seats|approvals?|reviewers?|lines|characters?)(?!\w)|"
            r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|sixty|ninety) (?:seconds?|minutes?|hours?|days?|weeks?|"
            r"months?|years?|times|people|approvals?|reviewers?|cups?|replicas?|percent)\b|\b(?:once|twice|thrice)\b|"
            r"[\d一二三四五六七八九十百千两]+(?:个)?(?:小时|分钟|秒|天|个月|星期|公里|公斤|斤|次|人|层|台|倍|遍|间|页|行|字|时间|分(?!钟|支)|毫克|毫升|ミリ|グラム|"
            r"个?节点|个?副本|ノード|台|件|匹|日间|日(?!线|楼)|週間|周间|か月|ヶ月|回|名|キロ|杯|本|秒間|文字|割|gb|mb|%)"
        ),
    ),
    (
        "money",
        _rx(
            r"[$€£¥] ?\d[\d,.]*k?|\d[\d,.]*k? ?(?:euros?|dollars?|pounds?|yen|usd|eur|块|元|万|円|美元|ドル|ユーロ)|[一二三四五六七八九十百千两]+(?:块|元|万|円)"
        ),
    ),
)
# Manner and state: kind, rule, then value and how it is said.
_STATED: tuple[tuple[str, Rule, tuple[tuple[str, re.Pattern[str]], ...]], ...] = (
    (
        "marital",
        Rule.STATE,
        (
            (
                "single",
                _rx(
                    r"(?:\b(?:is|am|are|still|be|been|currently|remains?)|'m) (?:still |currently |now )*(?:single\b(?! \w+ed)|unmarried)|单身|未婚|独身"
                ),
            ),
            (
                "married",
                _rx(
                    r"\b(?:got|is|am|are|'m|be|been|getting) (?:now |happily |finally |just )*married\b|\b(?:i|user|we) married\b|\btied the knot\b|结婚|领证|领了证|已婚|成家了|入籍し|既婚|結婚し"
                ),
            ),
            ("divorced", _rx(r"\bdivorced\b|\bgot a divorce\b|离婚|離婚し")),
            (
                "engaged",
                _rx(r"\b(?:got|is|am|are|'m) (?:now |just |finally )*engaged(?! in| with)\b|订婚|婚約し|婚約中"),
            ),
        ),
    ),
    (
        "diet",
        Rule.STATE,
        (
            (
                "plants",
                _rx(
                    r"\bvegetarian\b(?! (?:restaurant|food|dish|recipe|option|place|friend)\w*)|\bvegan\b(?! (?:restaurant|food|dish|recipe|option|place|friend)\w*)|\bplant-based\b|\b(?:do not|does not|doesn't|don't|never|stopped) eat(?:ing)? meat\b|\bcut out meat\b|吃素|素食|不吃肉|ベジタリアン|菜食|ヴィーガン|ビーガン|肉は?を?食べない|肉を食べません"
                ),
            ),
            (
                "meat",
                _rx(
                    r"(?<!not )(?<!n't )(?<!no longer )(?<!never )\b(?:eats?|eating) (?:red )?(?:meat|beef|pork|chicken|steak\w*)\b|(?<!不)(?<!不再)吃(?:肉|荤)|开荤|肉[もを]食べ(?!ない|ませ|られない|なく)|肉食"
                ),
            ),
        ),
    ),
    (
        "alcohol",
        Rule.STATE,
        (
            (
                "none",
                _rx(
                    r"\b(?:does not|doesn't|do not|don't|never|stopped|quit) (?:drink|drinking)(?: any)? (?:alcohol|wine|beer)|\bteetotal\w*|\bsober\b|不喝酒|戒酒|滴酒不沾|酒[をは]?飲まな|酒[をは]飲みませ|禁酒|断酒|下戸"
                ),
            ),
            (
                "some",
                _rx(
                    r"(?<!not )(?<!n't )(?<!stopped )(?<!quit )\bdrink(?:s|ing)? (?:\w+ )?(?:alcohol|wine|beer|whisky)\b|(?<!不)(?<!不再)(?<!不能)喝(?:点|点儿|起)?酒|酒[をも]飲(?:む|み(?!ませ)|んで|める)"
                ),
            ),
        ),
    ),
    (
        "smoking",
        Rule.STATE,
        (
            (
                "none",
                _rx(
                    r"\b(?:does not|doesn't|do not|don't|never|stopped|quit) smok(?:e|ing)\b|\bnon-?smoker\b|\bhas(?:n\'t| not) smoked\b|不抽烟|不吸烟|戒烟|(?:タバコ|たばこ|煙草)[をは]?吸わな|(?:タバコ|たばこ|煙草)[をは]やめ|禁煙し"
                ),
            ),
            (
                "some",
                _rx(
                    r"(?<!not )(?<!n't )(?<!never )(?<!stopped )(?<!quit )(?<!no longer )\bsmok(?:es?|ing)\b(?! (?:area|hot|gun|detector|test))|(?<!non-)(?<!non)\bsmoker\b|喫煙者|烟民|(?<!不)(?<!不再)(?:抽|吸)烟|(?:タバコ|たばこ|煙草)[をも]吸(?:う|い(?!ませ)|って(?!いな|な))"
                ),
            ),
        ),
    ),
    (
        "duty",
        Rule.MANNER,
        (
            ("must", _rx(r"\b(?:mandatory|required|compulsory|obligatory)\b|必须|必填|强制|必須")),
            ("may", _rx(r"\b(?:optional|voluntary)\b|可选|自愿|选填|任意")),
        ),
    ),
    (
        "access",
        Rule.MANNER,
        (
            ("open", _rx(r"\b(?:public|open source|open-source|publicly)\b|(?<!不)公开|开源|(?<!非)公開")),
            (
                "closed",
                _rx(
                    r"\b(?:private|closed source|closed-source|internal only|confidential)\b|不公开|私有|闭源|非公開|社内限定"
                ),
            ),
        ),
    ),
    (
        "indentation",
        Rule.MANNER,
        (
            ("tabs", _rx(r"\btabs?\b(?= |$|[.,;])|制表符|タブ")),
            ("spaces", _rx(r"\bspaces\b|空格|スペース")),
        ),
    ),
    (
        "shade",
        Rule.MANNER,
        (
            ("dark", _rx(r"\bdark[- ](?:mode|theme|colou?r)|深色|暗色|夜间模式|黑色主题|ダーク(?:テーマ|モード)")),
            (
                "light",
                _rx(r"\blight[- ](?:mode|theme|colou?r)|浅色|亮色|白色主题|ライト(?:テーマ|モード)|明るいテーマ"),
            ),
        ),
    ),
    (
        "length",
        Rule.MANNER,
        (
            (
                "short",
                _rx(
                    r"\b(?:short|brief|concise|terse|succinct|crisp|one-line)\b|简短|简洁|精简|简要|简明|短い|短め|短く|簡潔|手短|要点だけ"
                ),
            ),
            (
                "long",
                _rx(
                    r"\b(?:long|detailed|verbose|thorough|in-depth|elaborate|lengthy|step-by-step)\b|详细|详尽|长篇|长一点|細かい|長い|長めの|長くて|詳し|詳細|丁寧な説明"
                ),
            ),
        ),
    ),
    (
        "tone",
        Rule.MANNER,
        (
            ("formal", _rx(r"\bformal\b|\bformally\b|正式|敬语|敬語|です・?ます|丁寧語")),
            (
                "casual",
                _rx(r"\b(?:informal|casual)(?:ly)?\b|口语|随意|轻松|タメ口|ため口|カジュアル|くだけた|フランク"),
            ),
        ),
    ),
    (
        "workplace",
        Rule.MANNER,
        (
            (
                "remote",
                _rx(
                    r"\bremote(?:ly)?\b|\bfrom home\b|\bhome office\b|远程|在家(?:办公|工作|上班)|居家|リモート|在宅|テレワーク"
                ),
            ),
            (
                "office",
                _rx(
                    r"\bin the office\b|\bon-?site\b|\bto the office\b|\bin-office\b|\bin person\b|坐班|到公司|去公司|回公司|现场办公|出社|オフィス(?:に|で)|通勤|来办公室|在办公室|回办公室|线下"
                ),
            ),
        ),
    ),
    (
        "working hours",
        Rule.MANNER,
        (
            ("part", _rx(r"\bpart[- ]time\b|兼职|半天班|パート(?:で|タイム|勤務)|時短")),
            ("full", _rx(r"\bfull[- ]time\b|全职|フルタイム|正社員")),
        ),
    ),
    (
        "household",
        Rule.MANNER,
        (
            (
                "alone",
                _rx(
                    r"\bliv(?:e|es|ing) (?:alone|by (?:my|him|her)self|on (?:my|his|her) own)\b|(?<!不再)(?<!不是)一个人住|独居|独自住|(?:一人|独り|ひとり)暮らし(?!では|じゃ)"
                ),
            ),
            (
                "shared",
                _rx(
                    r"\bmoved in with\b|\b(?:flat|room|house)mates?\b|合租|合住|同居|ルームメイト|ルームシェア|シェアハウス"
                ),
            ),
        ),
    ),
    (
        "tenure",
        Rule.MANNER,
        (
            ("rents", _rx(r"\brent(?:s|ing)? (?:an?|the|my|our)\b|(?<!退)租(?:房|的房|住|了)|赁|賃貸|借りて")),
            (
                "owns",
                _rx(
                    r"\bbought (?:an?|our|my|the) (?:\w+ )?(?:house|flat|apartment|place|condo|home)\b|\bhomeowner|买了房|自己的房|持ち家|(?:家|マンション)を(?:買|購入)|买房"
                ),
            ),
        ),
    ),
    (
        "occupation",
        Rule.MANNER,
        (
            (
                "student",
                _rx(
                    r"\b(?:is|am|'m|as) (?:still )?(?:an? )?(?:\w+ )?student\b|学生|在读|研究生|本科|读博|读研|大学[一二三四]年|大[一二三四](?!家)|大学生|院生|在学"
                ),
            ),
            (
                "employed",
                _rx(
                    r"\b(?:works?|working) (?:as|at|for)\b|\bfull-time\b|\bemployee\b|\bfull time\b|\bhired\b|上班|任职|入职|正式员工|就職|会社員|正社員|勤め|働いて"
                ),
            ),
            (
                "freelance",
                _rx(
                    r"\bfreelanc\w+|\bself-employed\b|自由职业|个体户|自由业|フリーランス|自営|独立し(?:た|まし)|独立して"
                ),
            ),
            ("retired", _rx(r"\b(?:is|am|'m|has|have|just|i|user|'s) retired\b(?! the| our)|退休|定年|隠居")),
            (
                "jobless",
                _rx(
                    r"\b(?:unemployed|laid off|between jobs|lost (?:my|his|her) job|fired)\b|失业|待业|被裁|無職|失業|求職中"
                ),
            ),
        ),
    ),
    (
        "schooling",
        Rule.MANNER,
        (
            (
                "nursery",
                _rx(
                    r"\bkindergarten\b|\bpreschool\b|\bnursery\b|\bday ?care\b|幼儿园|托儿所|托班|保育園|幼稚園|こども園"
                ),
            ),
            (
                "primary",
                _rx(
                    r"\belementary\b|\bprimary school\b|\b(?:first|second|third|fourth|fifth) grade\b|\bgrade school\b|小学|[一二三四五六]年级"
                ),
            ),
            ("middle", _rx(r"\bmiddle school\b|\bjunior high\b|初[中一二三]|中学(?!校の教師)")),
            ("high", _rx(r"(?<!junior )\bhigh school\b|\bsecondary school\b|高[中一二三校]")),
            ("university", _rx(r"\buniversity\b|\bcollege\b|大学")),
        ),
    ),
)
_ANY_STATED = tuple(lazy("|".join(pattern.pattern for _, pattern in stated), re.ASCII) for _, _, stated in _STATED)


def values(said: str) -> list[Value]:
    """Return the values in a folded text."""
    found: list[Value] = []
    shaped = re.search(
        r"\d|@|\.\w|day|noon|midnight|week|周|曜|星期|礼拜|[一二三四五六七八九十两百千]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|t\w+ty|once|twice)\b",
        said,
    )
    if shaped:
        taken: list[tuple[int, int]] = []
        for kind, pattern in _SHAPES:
            for match in pattern.finditer(said):
                if all(match.end() <= start or match.start() >= end for start, end in taken):
                    taken.append(match.span())
                    found.append(
                        Value(kind, Rule.STATE if kind == "age" else Rule.SHAPE, _plain(match.group()), match.span())
                    )
    for (kind, rule, stated), any_of in zip(_STATED, _ANY_STATED, strict=True):
        if any_of.search(said):
            for value, pattern in stated:
                found += [Value(kind, rule, value, match.span()) for match in pattern.finditer(said)]
    found += [Value("language of answers", Rule.MANNER, name, span) for name, span in languages_of_answers(said)]
    found += [Value(kind, Rule.TOOL, name, span) for kind, name, span in named(said)]
    return found


def _plain(value: str) -> str:
    return re.sub(r"[ -]|^the|(?<=\d)(?:st|nd|rd|th)\b", "", value)
