"""Facts of which one object at a time holds: who lives where, what a service listens on, what is on which day.

Subject, predicate and object by patterns, in English, Chinese and Japanese.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .claims import units
from .fold import canonical
from .frames import NOW_JA, NOW_ZH
from .patterns import lazy
from .subject import head, people

__all__ = ["CHANGED", "STATES", "USED_FOR", "Fact", "facts"]

_MAX_SENTENCE_CHARS = 200


def _rx(*patterns: str) -> re.Pattern[str]:
    return lazy("|".join(canonical(pattern) for pattern in patterns))


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
    r"employer|boss|manager|doctor|dentist|database|backend|frontend|default branch|primary region|region|ci|home ?town|"
    r"release date|username|version|order number|code|surname|nickname|team lead|phone|e-mail(?: address)?|number|"
    r"car|major|girlfriend|boyfriend|"
    r"editor|company|title|salary|weight|mentor|therapist|landlord|minimum version|due date|start time|theme|handle|"
    r"home ?page|url"
)
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day\w*|(?:the )?\d[\w:./ -]*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*)"
_WHO = r"(?P<s>\bi|\bwe|\buser|\bmy (?:\w+ )?\w+|\b(?:the|our) [\w -]{2,30}?|(?<=^)\w+)"
_ATTRIBUTE_ZH = (
    "生日|电话|手机号?码?|邮箱|地址|时区|密码|端口|版本|负责人|预算|截止日期|订单号|最喜欢的.{1,4}|数据库|后端|前端|主区域|职业|主治医生|昵称|"
    "领导|上司|老板|经理|班主任|组长|房东|牙医|主管|店长|(?:产品|项目|公司|团队|服务|品牌)名称?|公司|车|专业|默认分支|账号|微信号?|体重|身高|域名|编辑器|导师"
)
_ATTRIBUTE_JA = (
    "(?:製品|商品|会社|サービス|チーム|プロジェクト|ブランド)名|誕生日|電話番号|メールアドレス|住所|タイムゾーン|パスワード|ポート|バージョン|リーダー|担当|予算|締め切り|注文番号|"
    "(?:一番)?好きな.{1,6}|データベース|職業|主治医|デフォルトブランチ|メール|携帯|上司|歯医者|"
    "かかりつけ医?|担当医|大家(?:さん)?|部長|課長|係長|店長|社長|担任|顧問|コーチ|メンター|会社|車|専攻|専門|納期|住まい|デプロイ先|エディタ|体重|身長|番号"
)

# When the subject did it is no part of who it is.
_TIMES_CJK = _rx(
    r"上个?(?:周|月|星期|礼拜)|昨[天晚]|前[天年]|去年|今[天年]|最近|现在|目前|已经|终于|刚刚?|其实|^今(?![後日回度週月年朝夜晩])の?|^現在の?"
)

# Of "my sister Lotte" the name tells who it is.
_BY_KIN = _rx(
    r"^(?:my|our) (?:(?:older|younger|elder|little|big|twin|best) )?(?:sister|brother|cousin|friend|son|daughter|aunt|uncle|niece|nephew|"
    r"wife|husband|partner|colleague|neighbou?r|boss|mother|father) (?!(?:in|and|or|is|who|has|\w+ing|\w+s)\b)(?=[a-z]{2,}$)",
    r"^(?:姉|妹|兄|弟|友人|友達|いとこ|同僚|娘|息子|妻|夫|叔母|叔父|姪|甥)の(?!会社|職場|家|店|夫|妻|娘|息子|友|彼|上司|先生|学校|母|父)(?=[^のはが]{1,5}$)",
)

CHANGED = "changed to"
USED_FOR = "used for"  # several things may be; only a change from one to another tells that one is over
# What a change of the subject ends, whatever the predicate was.
STATES = frozenset({"is", "is on", "is called", "runs on", "written in", "listens on", "deploys to", CHANGED})
# Predicate and pattern; s: subject (absent: the owner of the memory), o: object.
_PREDICATES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "lives",
        _rx(
            rf"{_WHO}(?:'ve|'s)?(?: now| currently| just| recently| finally| actually| have| has)* (?:live|lives|am living|'m living|moved|relocated) (?:back )?(?:in|to) (?P<o>[\w ]+?)"
            rf"(?= (?:in|last|next|this|since|for|with|now)\b|$|[,;])"
        ),
    ),
    (
        "lives",
        _rx(
            r"(?P<s>\b(?:i|user))(?:'m| am| is)(?: now)? (?:based|living) in (?P<o>[\w ]+?)(?= (?:now|these|currently|since|with)\b|$|[,;])"
        ),
    ),
    ("works", _rx(rf"{_WHO}(?: now)? works? as (?P<o>[\w ]+?)(?= (?:in|at|for)\b|$)")),
    (
        "works for",
        _rx(
            rf"{_WHO}(?: now| currently| just| recently| finally| actually)* (?:works?|started(?: (?:working|a new job|a job))?|joined|got a (?:new )?job)(?: now)? ?(?:at|for|with)? (?P<o>(?!as\b|on\b|from\b|learning\b|the\b|a\b)[\w ]+?)"
            r"(?= (?:as|in|on|last|since|this|now)\b|$|[,;])"
        ),
    ),
    (
        "works at",
        _rx(
            rf"{_WHO}(?:'ve|'s)?(?: now| just| have| has| was| been| got)* (?:works? (?:at|in)|(?:moved|transferred|relocated|posted) to) the "
            r"(?P<o>[\w ]+?) (?:branch|office|plant|site|store|lab|campus)\b"
        ),
    ),
    (
        "works in",
        _rx(
            rf"{_WHO}(?:'ve|'s)?(?: now| just| have| has| was| been| got)* (?:works? (?:at|in|on)|(?:moved|transferred) to|joined) the "
            r"(?P<o>[\w ]+?) (?:department|team|division|unit)\b"
        ),
    ),
    (
        USED_FOR,
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
        "is called",
        _rx(
            r"\bthe (?P<s>product|project|app|company|team|service|brand|band|shop|game|newsletter|podcast|blog) is (?:now )?(?:called|named) (?P<o>[\w ]+)"
        ),
    ),
    (
        "is",
        _rx(
            rf"(?:\b(?:my|our|the|user's) |\b(?=(?:his|her|their) ))(?:(?:new|current) )?(?P<s>(?:[\w']+ )?(?:[\w']+ )?(?:{_ATTRIBUTES})(?: (?:for|of) [\w ]+?)?) is (?:now )?(?!not\b)(?P<o>[^,;!?]+?)(?=,? (?:and|but) (?:i|we|my|our)\b|$|[,;!?])"
        ),
    ),
    (
        "is",
        _rx(
            r"^(?P<o>[\w .'-]{2,40}?) is (?:now )?(?:my|our) (?:new )?(?P<s>boss|manager|doctor|dentist|mentor|therapist|landlord|"
            r"team lead|girlfriend|boyfriend|employer|home ?town)(?: now)?$"
        ),
    ),
    ("is on", _rx(rf"{_WHO} (?:is|takes place|starts|was moved|moved|happens?)(?: now)? (?:on|at|to) (?P<o>{_DAY})")),
    ("does on", _rx(rf"\b(?:we|i) (?P<s>\w+)(?: only)? on (?P<o>{_DAY})")),
    ("written in", _rx(r"(?P<s>[\w ]+?) (?:is|are)(?: now)? (?:written|built) (?:in|with) (?P<o>[\w .#+]+)")),
    ("runs on", _rx(r"(?P<s>[\w ]+?) (?:runs?|is hosted|is deployed) (?:on|to) (?!port\b)(?P<o>[\w .#+-]+)")),
    (
        CHANGED,
        _rx(
            r"^(?P<s>(?:(?:my|our|the) )?[\w' ]{2,30}?)(?: (?:has|have|was|is|been|got|just))*"
            r" (?:changed|moved|renamed|switched|upgraded|postponed|pushed|brought|migrated)(?: back|"
            r" forward)? to (?P<o>[\w .:@+#-]+)"
        ),
    ),
    (
        CHANGED,
        _rx(
            r"\b(?:changed|moved|renamed|switched|migrated|ported|rewrote) (?P<s>(?:my|our|"
            r"the) [\w' -]{2,30}?) (?:in|into|to) (?P<o>[\w .:@+#-]+)"
        ),
    ),
)
_PREDICATES_ZH: tuple[tuple[str, re.Pattern[str]], ...] = (
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
            r"最近)*(?:在(?P<o1>[^,。当做]{1,10}?)(?:上班|工作|任职|做(?=.{0,6}(?:开发|运维|设计|产品|测试|运营|销售|市场|[师员]|[前后]端|算法|客服|财务|会计|工程|研发|编辑|数据|法务|经理)))|(?:跳槽到|跳槽去|入职|加入|"
            r"换到)了?(?P<o2>[^,。了]{1,10}))"
        ),
    ),
    ("studies", _rx(r"(?P<s>我|用户)(?:现在)?(?:学|读|转到|转去|改学|改读)的?(?:是)?(?P<o>[^,。]{1,8})专业")),
    ("drives", _rx(r"(?P<s>我|用户)(?:现在)?(?:开|换)的?(?:是)?了?(?:一辆|辆)(?P<o>[^,。了]{1,10})")),
    ("is deployed", _rx(r"(?P<s>[^,。]{0,8}?)(?:部署在|托管在|(?:迁移|迁|搬)到)了?(?P<o>[^,。了]{1,12})")),
    (
        CHANGED,
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
    ("lives", _rx(r"^(?P<o>[^,。现]{1,8})在住$")),  # Japanese without kana
)
_PREDICATES_JA: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "lives",
        _rx(
            r"(?:^|[、。 ])(?:今は)?(?:また)?(?:(?P<s>[^、。]{1,6}?)[はが])?(?:今は|"
            r"また)?(?P<o>[^、。はが]{1,10}?)(?:に(?:戻って)?(?:住んで|引っ越し(?!ます|たい|の)|転居|戻りまし)|へ引っ越し(?!ます|たい|の)|在住)"
        ),
    ),
    (
        "works for",
        _rx(
            r"(?:^|[、。 ])(?:今は)?(?:(?P<s>[^、。]{1,6}?)は)?(?:今は)?(?P<o>[^、。は]{1,12}?)(?:で働い|に勤[め務]|"
            r"に転職|に入社|に移籍)"
        ),
    ),
    (
        "works at",
        _rx(
            r"(?:^|[、。 ])(?:(?P<s>[^、。]{1,6}?)[はが])?(?P<o>[^、。はがで]{1,10}?(?:支社|支店|本社|本店|支部|営業所|事業所|研究所|工場|拠点|オフィス))"
            r"(?:で働い|で勤務|に(?:勤[め務]|移[っり]|異動|転勤|配属))"
        ),
    ),
    (
        "works in",
        _rx(
            r"(?:^|[、。 ])(?:(?P<s>[^、。]{1,6}?)[はが])?(?P<o>[^、。はがで]{1,10}?(?:部|課|室|チーム))"
            r"(?:で働い|で勤務|に(?:所属|勤務|移[っり]|異動|配属))"
        ),
    ),
    ("is", _rx(r"(?P<o>[^、。はを]{1,8})を(?P<s>専攻|専門)")),
    (
        CHANGED,
        _rx(
            r"(?:^|[、。 ])(?P<s>[^、。はがを]{1,12}?)[がをは](?P<o>[^、。はが]{1,24}?)(?:に|へ)(?:変わ|変え|変更|"
            r"なっ|なり|延び|延期|移し|移行|移っ|切り替|書き換え|改名|繰り上|更新)"
        ),
    ),
    ("works", _rx(r"(?:(?P<s>[^、。]{1,6}?)は)?[^、。は]{1,8}で(?P<o>[^、。]{1,8})(?:として働|をして)")),
    ("is called", _rx(r"(?P<s>[^、。]{1,8}?)の名前は(?P<o>[^、。]{1,10}?)(?:です|だ|といい|$|。)")),
    (
        "is",
        _rx(
            rf"(?P<s>[^、。]{{0,8}}?(?:{_ATTRIBUTE_JA}))は(?P<o>[^、。が]{{1,20}}?)(?:です|だ|(?:(?<=さん)|(?<=先生)|(?<=氏))で(?=、)|(?<![るたすくうつむぶぐ])(?:$|。))"
        ),
    ),
    (
        "is on",
        _rx(
            r"(?P<s>[^、。]{1,8}?)は(?P<o>[月火水木金土日]曜[^、。]{0,8}?|\d+[月日時][^、。]{0,6}?)(?:です|だ|に|$|。)"
        ),
    ),
    ("runs on", _rx(r"(?P<s>[^、。]{1,12}?)は(?P<o>[^、。]{1,24}?)で動い")),
    ("written in", _rx(r"(?P<s>[^、。]{1,12}?)は(?P<o>[^、。]{1,12}?)で書")),
)
# Other words for the same, which may also say something else: enough to know a claim again, not to end another one.
_LOOSE: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "lives",
        _rx(
            r"\b(?P<s>my(?: [\w']+)?|our|user's) (?:home|house|place|apartment|flat|residence) is(?: now)? in (?P<o1>[\w ]+)",
            r"\b(?P<s2>i|user) (?:resides?|dwells?|am staying|stay|make my home|have (?:a home|an apartment|a flat)) (?:in|at) (?P<o2>[\w ]+)",
            r"^(?P<o3>[\w ]+?) is (?:where (?P<s3>i|user|we) lives?|my home\b|home to me|the (?:city|town|place) (?:where )?i live)",
            r"\b(?P<s4>i|user) calls? (?P<o4>[\w ]+?) (?:my )?home",
        ),
    ),
    (
        "works for",
        _rx(
            r"\bmy (?:employer|company) is (?P<o1>[\w ]+)",
            r"\b(?P<s>i|user)(?:'m| am| is) employed (?:by|at|with) (?P<o2>[\w ]+)",
            r"^(?P<o3>[\w ]+?) is (?:my employer|the company i work for|where i work)",
            r"\b(?P<s2>i|user)(?:'m| am| is| have| has)?(?: a job)? (?:on the payroll of|with) (?P<o4>[\w ]+)",
        ),
    ),
)
_LOOSE_ZH: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "lives",
        _rx(
            r"(?P<s>我[^,。老]{0,4}?|用户)的?(?:家|房子|住处|住址|居住地)(?:现在)?(?:住在|住|在|是)(?P<o1>[^,。!了]{1,10})",
            r"(?P<s2>我|用户)(?:现在|目前|一直)?(?:居住在|常住|定居于|人在|安家在?|住)(?P<o2>[^,。!了在]{1,10})",
            r"(?P<s3>我|用户)(?:现在|目前|一直)?在(?P<o3>[^,。]{1,8}?)(?:生活|居住|定居|安家)",
        ),
    ),
    (
        "works for",
        _rx(
            r"(?P<s>我|用户)(?:的)?(?:公司|单位|雇主|东家)(?:是|叫)(?P<o1>[^,。]{1,10})",
            r"(?P<s2>我|用户)(?:现在|目前)?(?:就职|供职|任职|受雇)于(?P<o2>[^,。]{1,10})",
        ),
    ),
)
_LOOSE_JA: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "lives",
        _rx(
            r"(?:(?P<s>[^、。はが]{1,6}?)の)?(?:自宅|家|住まい|住所|居住地)は(?P<o1>[^、。はが]{1,10}?)(?:です|だ|に(?:あり|ある)|$|。)",
            r"(?:^|[、。 ])(?:(?P<s2>[^、。]{1,6}?)[はが])?(?P<o2>[^、。はが]{1,10}?)[にで]暮らし",
        ),
    ),
    (
        "works for",
        _rx(
            r"(?:(?P<s>[^、。はが]{1,6}?)の)?(?:勤務先|勤め先|会社|職場|雇い主)は(?P<o1>[^、。はが]{1,10}?)(?:です|だ|$|。)",
            r"(?:^|[、。 ])(?P<o2>[^、。はが]{1,10}?)(?:に勤務|の社員|に所属)",
        ),
    ),
)
# No sentence without one of these has the predicate.
_NEEDS = {
    predicate: tuple(map(canonical, hints.split()))
    for predicate, hints in {
        "lives": "liv mov relocat based 住 搬 定居 引 転居 戻",
        "works": "work 当 とし をし",
        "works for": "work start join job 上班 工作 任职 做 跳槽 入职 加入 换到 働 勤 転職 入社 移籍",
        "works at": "office branch plant site store lab campus に移 異動 転勤 配属 で働 勤",
        "works in": "department team division unit に移 異動 配属 で働 勤 所属",
        USED_FOR: "for",
        "studies": "stud major 专业",
        "deploys to": "deploy",
        "listens on": "port",
        "is called": "name call 叫 名前",
        "is on": "day 周 星期 礼拜 曜 0 1 2 3 4 5 6 7 8 9 jan feb mar apr may jun jul aug sep oct nov dec",
        "does on": " on ",
        "written in": "written built 写 書",
        "runs on": "run hosted deployed 跑在 動い",
        "is deployed": "部署 托管 迁 搬",
    }.items()
}


def facts(said: str, *, loosely: bool = False) -> list[Fact]:
    """Return the facts of a folded text whose predicate has one object at a time.

    With `loosely` also what other words say that may mean something else, too.
    """
    # What is Japanese with kana means something else in Chinese: "…在住" is in 现在住在, too.
    if re.search(r"[\u3041-\u30fa]", said):
        table, loose, told = _PREDICATES_JA, _LOOSE_JA, NOW_JA.sub("", said)
    elif re.search(r"[\u3400-\u9fff]", said):
        table, loose, told = _PREDICATES_ZH, _LOOSE_ZH, NOW_ZH.sub("", said)
    else:
        table, loose, told = _PREDICATES, _LOOSE, said
    found = []
    for whole in re.split(r"[!?\n;]|[.](?=\s|$)", told):
        sentence = whole[:_MAX_SENTENCE_CHARS]
        needed = [(p, rx) for p, rx in table if p not in _NEEDS or any(map(sentence.__contains__, _NEEDS[p]))]
        needed += loose if loosely else ()
        for predicate, match in ((p, match) for p, rx in needed for match in rx.finditer(sentence)):
            parts = match.groupdict()
            who, spelled = (next((v for name, v in parts.items() if name[0] == k and v), "") for k in "so")
            thing = frozenset(units(spelled.strip()))
            if thing:
                subject = frozenset(units(_BY_KIN.sub("", _TIMES_CJK.sub("", who)))) - {"新"}
                if not who and match.start():
                    # 妹は今、…, 我妹妹结婚了,现在…: the clause before tells of whom.
                    subject = head(sentence) or frozenset(units(" ".join(people(sentence[: match.start()]))))
                found.append(Fact(subject, predicate, thing, spelled.strip()))
    return found
