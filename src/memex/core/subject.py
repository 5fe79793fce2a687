"""Whom or what a sentence is about: the owner of the memory, somebody else, or a thing; in three languages."""

from __future__ import annotations

import re

from .claims import units
from .fold import canonical
from .patterns import lazy

__all__ = ["GENERIC", "head", "is_verb", "labels", "people"]


def _rx(*patterns: str) -> re.Pattern[str]:
    return lazy("|".join(canonical(pattern) for pattern in patterns))


# Heads that tell no more than "we" does.
GENERIC = frozenset(
    """project app applic team compani stack setup everyth everyon all codebas repo thing it they there here product doctor physician dentist boss manag admin op manage
    プロジェクト チーム アプリ コード""".split()
) | frozenset(canonical("项目团全部队家里组"))

_KIN = (
    r"brother|sister|sibling|mother|father|mom|mum|dad|wife|husband|partner|spouse|fianc\w+|boyfriend|girlfriend|son|daughter|kid|"
    r"child|children|parents?|grand\w+|uncle|aunt|cousin|nephew|niece|friend|roommate|flatmate|housemate|neighbou?r|colleague|"
    r"co-?worker|teammate|boss|manager|landlord|landlady|twin|dog|cat|pet|baby|toddler|in-laws|family|ex|buddy|mate|teacher|"
    r"client|customer|intern"
)
_PEOPLE = lazy(
    rf"(?:^|[,;:] ?|\b(?:and|but|so|because|while|since|though) )(?:(?:now|actually|today|recently) )?"
    rf"(?:(?:my|our|user's|the user's|his|her|their|both|an?|one of my|some of my) )?"
    rf"(?:(?:older|younger|elder|little|big|best|old|oldest|youngest|eldest|twin|late|\w+'s) )*(?P<kin>{_KIN})s?(?:'s?)?\b"
    r"|(?:^|[,;] ?|\b(?:and|but) )(?P<third>he|she|they)\b"
)
_PEOPLE_CJK = _rx(
    r"兄弟|弟弟|妹妹|哥哥|姐姐|姐夫|妹夫|嫂子|爸爸?|妈妈?|父母|父亲|母亲|老婆|老公|妻子|丈夫|爱人|儿子|女儿|孩子|闺女|爷爷|奶奶|外公|外婆|姥姥|"
    r"姥爷|叔叔|阿姨|姑姑|舅舅|表[哥弟姐妹]|堂[哥弟姐妹]|侄[子女]|外甥|朋友|闺蜜|同事|室友|邻居|领导|老板|导师|同学|男友|女友|对象|岳父|岳母|公婆|"
    r"[兄弟姉妹父母妻夫](?=[はがのもを、]|さん|$)|両親|息子|娘|祖父|祖母|叔父|叔母|いとこ|甥|姪|友人|友達|親友|同僚|上司|部下|彼女|彼氏|彼(?=[はがの])|"
    r"隣人|隣の|主人(?=[はがの])|旦那|嫁|家族|子供|子ども|おじ|おば|義[父母兄弟姉妹]|後輩|先輩|大家"
)
_ADVERBS = (
    r"(?:(?:actually|correction|update|sorry|now|nowadays|currently|finally|recently|lately|today|these days|from now on|"
    r"as of \w+(?: \w+)?|since \w+(?: \w+)?|last \w+|this \w+|so|ok|well|and|but|in \w+|note|fyi|btw|by the way|just|going forward|"
    r"in the end|on reflection|for now|also|turns out|good news|starting \w+)[,:]? )*"
)
_VERBS = (
    r"(?:is|are|was|were|has|have|had|'s|uses?|used|runs?|listens?|lives?|lived|moved|moves|got|gets?|starts?|started|owns?|leads?|"
    r"maintains?|manages?|slipped|slips|switched|migrated|changed|changes|now|no longer|takes?|took|goes|go|went|came|comes|stopped|quit|"
    r"dropped|will|can|does|doesn't|do|don't|works?|worked|speaks?|prefers?|likes?|loves?|hates?|wants?|drinks?|eats?|drives?|"
    r"deploys?|expires?|sits|costs?|needs?|became|becomes|handles?|sends?|stores?|writes?|wrote|reads?|keeps?|pays?|plays?|replaced|"
    r"decided|just|finally|recently|also|always|never|isn't|aren't|ends?|ended|retired|joined|left|turned|attends?|studies|teaches|"
    r"relies|depends|builds?|ships?|happens|lasts|begins|opens|closes|closed|points|smokes?|talks|reports|gave|ditched|sold|meets?|"
    r"stands|belongs|lands|graduated|rewrote|upgraded|swapped|passed|handed|said|says|should|must|may|only|still|currently|rents?|"
    r"covers|inherited|traded|goes|stays|sleeps?|wakes?|commutes?|rides?|exports?|publishes|targets|supports?|requires?|follows?)"
)
_VERB_EN = lazy(rf"{_VERBS}|\w{{2,}}[^\W\d'su]s|are|led")
_HEAD_EN = lazy(
    rf"^{_ADVERBS}(?:(?P<self>i|we|user|the user|i'\w+|we'\w+|you|me|us|it|it's|that|that's|this|there|there's|they|he|she)\b(?!')|"
    rf"(?P<noun>[\w'./ -]{{1,48}}?)) ?\b{_VERBS}\b"
)
_SELF_EN = lazy(rf"^{_ADVERBS}(?:i|we|user|the user)\b(?!'s [a-z])")
_HEAD_ZH = _rx(
    r"^(?:其实|最近|现在|如今|目前|上个?[周月]|去年|今年|昨天|终于|已经?|更正|从?下?个?[周月]起?|以后|今后|不好意思|说错了|[\d一二三四五六七八九十]+月份?|年初|"
    r"年底|我们|咱们|我|用户|主人|俺|把|将|那个?|这个?|的|家|之前|原来|新|还|仍|又|再次|一直|更|最|比较|特别|很|平时|一般|通常|总)*"
    r"(?P<noun>[^,。]{0,14}?)(?:一?直?由|归|就?是|在|用的?|叫|定|跑|部署|放|托管|负责|住|改|换|迁|加|降|涨|缩|增|减|升|推|延|提前|挪|调|现在|已|不|"
    r"监听|需要|从|开|转|重写|变|更新|为|有|采用|使用|写|每|走|喜欢|爱|吃|喝|养|做|想|说|希望|要|去|到|今年|刚|也|都|上[个周月]|离职|接手|以后|"
    r"会|能|可以|对|搬|跳|结婚|离婚|单身|领证|领了|订婚|考|毕业|戒|退|卖|买|学|读|练|弹|打|跑|骑|偏好|讨厌|去年|最近)"
)
_HEAD_JA = _rx(
    r"^(?:実は|今は|今後は?|これからは?|先月|先週|去年|昨年|今年|最近|現在は?|もう|すみません、?|訂正[^、]*、|私の|私たちの|うちの|僕の|ユーザーの|"
    r"新しい|今の|この[春夏秋冬]から|来月から|最近の|普段は?|毎[朝日晩週]|いつも|通常は?|[一二三四五六七八九十\d]+月(?:から|に))*、?(?P<noun>[^、。はがを]{1,20}?)(?:に|で|として)?[はがも]"
)
_SELF_CJK = _rx(
    r"(?:私|私たち|僕|僕ら|俺|自分|我々|ユーザー|当方|うち|うちのチーム|このプロジェクト|今|今後|これから|現在|もう|最近|以前)$|"
    r"(?:我们?|用户|咱们)$"
)


_OWN_ZH = _rx("我|用户|咱|主人")
_NO_NOUN = (
    r"at|on|in|to|of|by|is|the|under|over|about|after|before|since|until|from|for|and|or|every|than|only|within|around|age|aged|version|"
    r"jan\w*|feb\w*|mar(?:ch)?|apr\w*|may|june?|july?|aug\w*|sept?\w*|oct\w*|nov\w*|dec\w*"
)


def people(said: str) -> frozenset[str]:
    """Return the persons (and pets), beside the owner of the memory, whom a folded text is about."""
    if said.isascii():
        found = {match["kin"] or match["third"] for match in _PEOPLE.finditer(said)}
        return frozenset("kid" if one in {"child", "children"} else one for one in found)
    return frozenset(
        match.group()[0] if len(match.group()) > 1 and match.group()[1] == match.group()[0] else match.group()
        for match in _PEOPLE_CJK.finditer(said)
    )


# What says within a subject which one it is. A number, after the noun or before it (1号门, 301房), but no time or count;
# an ordinal; a letter; and before its noun a day or month (the Monday meeting, 周一的会).
_NUMBER = _rx(
    rf"(?:^|(?<=[\s'/-]))(?!(?:{_NO_NOUN})\b)[a-z]{{2,}} ?(?:no\.? ?|number |#)?(\d[a-z\d.]*)(?=$|'|,| (?:of|in|on|at|for|and|to|from|with)\b)",
    r"^(?:the )?version (\d[\d.]*)$",
    r"(?<=[\u30a1-\u30ff\u3400-\u9fff])(?<![年月周])(\d+)(?![\d.]*(?:[年月日时時点分秒%个個次元円块人天回]|号(?![\u3400-\u9fff])|:))",
    r"(?<![\d月年.:-])(\d+)(?=(?:号|番)(?![,。、的前后之以はがの是改开])[\u3400-\u9fff]|[房室栋棟楼班组路線线層階门])",
)
_LABELS = (
    _NUMBER,
    _rx(r"\b(first|second|third|fourth|fifth|sixth|\d+(?:st|nd|rd|th)) (?=[a-z])", "第([\\d一二三四五六七八九十]+)"),
    _rx(r"(?<=\w )([a-z]_?)(?=$| )|^(?:the |our )?([a-z]) (?=[a-z])", "(?<![a-z\\d])([a-z])(?![a-z\\d])"),
    _rx(
        r"\b((?:mon|tues|wednes|thurs|fri|satur|sun)day)(?:'s)? (?=[a-z])",
        "((?:周|星期|礼拜)[一二三四五六日天])的(?!时候)|([月火水木金土日])曜日?の",
    ),
    _rx(
        r"\b(january|february|march|april|june|july|august|september|october|november|december)(?:'s)? (?=[a-z])",
        "([\\d一二三四五六七八九十]+月)[份号]?[的の]",
    ),
)
# What is ours by a number may be another one later: "Python 3.10 is our minimum version".
_IS_OURS = lazy(r" (?:is|are)(?: now)? (?:my|our)\b")
_SINGULAR = lazy(rf"(?:(?:the|our|my) )?(?!(?:{_NO_NOUN})\b)[a-z]+ \d[\w.]*(?= [a-z]+s\b)")  # a verb of no list
_FIRST_CHARS = 4  # of a Chinese subject that is not told from its verb


def labels(clause: str) -> frozenset[tuple[int, str]]:
    """Return what names which of its kind a folded clause is about: the kind of label, and the label."""
    match = _subject(clause)
    end = match.end("noun") if match and match["noun"] else 0
    if clause.isascii():
        singular = _SINGULAR.match(clause)
        end = end or (singular.end() if singular else 0)
        if _IS_OURS.match(clause, end):
            return frozenset()
        found = ((kind, m) for kind, pattern in enumerate(_LABELS) for m in pattern.finditer(clause, 0, end))
    else:
        end = end or (0 if _OWN_ZH.match(clause) else _FIRST_CHARS)
        found = ((kind, m) for kind, pattern in enumerate(_LABELS) for m in pattern.finditer(clause) if m.start() < end)
    return frozenset((kind, next(filter(None, match.groups()))) for kind, match in found)


def is_verb(word: str) -> bool:
    """Whether an English word may be the verb of somebody or something: one of the list, or in the third person."""
    return _VERB_EN.fullmatch(word) is not None


def _subject(clause: str) -> re.Match[str] | None:
    if clause.isascii():
        return None if _SELF_EN.match(clause) else _HEAD_EN.match(clause)
    return (_HEAD_JA if re.search(r"[\u3041-\u30ff]", clause) else _HEAD_ZH).match(clause)


def head(clause: str) -> frozenset[str]:
    """Return the units of what a folded clause is about; none for the owner of the memory, or if it is not told."""
    match = _subject(clause)
    if (
        match is None
        and not re.search(r"[\u3041-\u30ff]", clause)
        and not clause.isascii()
        and not _OWN_ZH.match(clause)
    ):
        return frozenset(units(clause[:2])) - GENERIC  # a verb that is not known: its subject has two characters
    noun = match["noun"] if match else None
    if not noun or _SELF_CJK.match(noun):
        return frozenset()
    found = frozenset(units(noun))
    return found - GENERIC
