"""Words by which a statement shows that something changed, goes on, came about, or is only added: in three languages."""

from __future__ import annotations

import re

from .fold import canonical
from .patterns import lazy
from .signs import Signs

__all__ = [
    "ALSO",
    "BECOMES",
    "CHANGE",
    "CORRECTING",
    "COUNTS",
    "DENIES",
    "DOINGS",
    "DOING_WORDS",
    "EVENT",
    "GRADUATED",
    "HAPPENED",
    "IS",
    "LIKED",
    "NEWNESS",
    "ON_A_DAY",
    "QUALIFIERS",
    "TURNED",
    "WHEN",
]


def _rx(*patterns: str) -> re.Pattern[str]:
    return lazy("|".join(canonical(pattern) for pattern in patterns))


# It says of itself that it corrects.
CORRECTING = Signs(
    r"^(?:actually|correction|sorry)\b|\b(?:has changed|changed to|is now|now uses?|now(?! and then)|these days|nowadays|"
    r"switched (?:\w+ )?to|moved to|rewrote|upgraded to|i meant|slipped to|pushed to|postponed to|rescheduled|instead of)\b",
    r"^更正|^纠正|^说错|^打错|^其实|记错|改为|改成|改用|改到|换成|换了|现在(?!正)|如今|升级到|推迟到|改名",
    r"^訂正|^すみません|^実は|に変更|に変わ|に変え|今は|になった|になりま|アップグレード|アップデート|に更新|に上げ|"
    r"書き換え|に移し|に移行|延び",
)
# Words of change; weaker ones, that need more beside them.
CHANGE = Signs(
    r"\b(?:now(?! and then)|these days|nowadays|lately|any ?more|any longer|no longer|from now on|going forward|as of|switched|moved|migrated|"
    r"migrating|chang\w+|replac\w+|instead|tak(?:en|es) over|took over|hand(?:ed|s) over|handed|rewritten|rewrote|ported|upgraded|"
    r"downgraded|bumped|slipped|postponed|pushed|delayed|rescheduled|brought forward|renamed|actually|correction|new|became|"
    r"become|turned|gone|again|sold|quit|dropped|ditched|retired|gave up|back to|swapped|traded|converted|settled on|joined|"
    r"started|starts|graduated|finally|since|after all|i meant|bought|took up|laid off|lost|went (?:vegan|vegetarian|remote|"
    r"freelance|back)|got|moving to|transitioned|shifted|extended|raised|lowered|increased|went up|dropped to|went down|"
    r"cancell?ed|scrapped|relocated|cut|scaled|expanded|from (?:next|this) \w+ on|halved|doubled|shortened|trimmed|deleted|moved in|^after|reduced|grew|goes by|only|turning|has been|have been|adopted|standardi[sz]ed on|consolidated)\b",
    r"现在|如今|目前|改[成为用到叫在由学喝吃去坐走写]|换|已经?|不再|不用|迁|搬|升级|推迟|延[期后到]|提前|调整|变[成为更]|取代|代替|更正|其实|说错|记错|作废|停用|"
    r"以后|今后|从今|开始|新(?:的|手机|号|邮|地址|公司|工作|岗位)|重写|接手|接管|交接|转[给到由岗行成用]|跳槽|离职|了$|了[,。]|起|终于|重新|恢复|之后|只剩|提高|提升|加到|延误|扩容|扩大|缩短|增加|减|提到|刚满|"
    r"开荤|毕业|最近|切换|切到|之前|以前|涨|降|调到|更新|领证|挪",
    r"今は|現在|今後|これから|もう|移転|延長|変わ|変え|変更|になっ|になり|に決ま|移行|移[しっ管]|切り替|乗り換|引き継|交代|延期|延び|延ば|短縮|増え|増や|減っ|減ら|遅れ|始め|済み|前倒|書き直|書き換|更新|上げ|上が|"
    r"下げ|下が|アップグレード|バージョンアップ|やめ|辞め|ではなく|じゃなく|に代わ|新しい|新しく|訂正|実は|正しくは|以前の|ことにし|ことにな|ように(?:し|な)|再び|また|"
    r"始め|転職|入社|卒業|買い替え|置き換|早ま|ずれ|ずら|最近|入学|進学|就職|独立|引退|退職|結婚し|離婚し|に戻|からは",
)
ALSO = Signs(
    r"\b(?:also|too|as well|another(?! (?:team|company|department|job|role))|in addition|additionally|besides|alongside|both|second|other)\b",
    r"也|还(?!是)|另外|此外|同时|另一",
    r"(?<!と)も(?:[、う]|使|好|売|書|読|見|作|扱|対応|飼|持|や[っり]|始め|話|飲|食)|も$|他に|ほかに|別の|加えて|もう一[つ人匹台]",
)
# What happened stays so, whatever came later.
EVENT = Signs(
    r"\b(?:bought|visited|met|saw|went|was born|grew up|graduated|attended|won|gave|told|asked|said|read|wrote|heard|tried|"
    r"broke|lost|found|learned|travelled|traveled|used to|lived|worked|studied|as a child|back in|had|was|were)\b",
    r"出生|去过|玩过|买了|小时候|以前|曾经?|当年|毕业于|旅[游行]|那年|参加了",
    r"生まれ|子供の頃|子どもの頃|昔|以前は|行きました|行った|旅行|出身|買いました|買った|ことがある",
)
# What was done once, to a thing by its number; a new version of something is no such event.
HAPPENED = Signs(
    r"^(?:(?:i|we|user|today|yesterday|this morning),? )*(?!(?:up|down)graded|updated|moved|switched|bumped|migrated|changed|need|ported)"
    r"(?:[a-z]{3,}ed|met|saw|went|sent|got|bought|sold|paid|told|gave|wrote|read|spoke|took|brought|found|lost)\b",
    r"去了|见了|寄了|送了|买了|看了|处理了|拜访了|检查了|修了|审了|签了",
    r"(?:行っ|会っ|送っ|買っ|見|訪ね|訪問し|確認し|直し|話し|届け|受け取っ)(?:た|ました)[。.]?$",
)
# What was so on a day: of another day something else may be told.
ON_A_DAY = Signs(
    r"\b(?:this (?:morning|afternoon|evening)|today|yesterday|last night)\b.*\b(?:was|were|had|did|\w{2,}ed|ran|slept|ate|woke|went|felt|took|got)\b|"
    r"\b(?:was|were|had|did|\w{2,}ed|ran|slept|ate|woke|went|felt|took|got)\b.*\b(?:this (?:morning|afternoon|evening)|today|yesterday|last night)\b",
    r"(?:今[天早晨晚]|昨[天晚日]|前天|今日)(?!起|开始|后)",
    r"(?:今朝|今日|昨日|昨夜|昨晩|一昨日|おととい|けさ|きのう|きょう).*(?:た|でした)[。.]?$",
)
DENIES = Signs(
    r"\b(?:not|no longer|never|stopped|quit|gave up|isn't|aren't|wasn't|doesn't|don't|hasn't|without|instead of|rather than|from)\b|n't\b",
    r"不再|不是|不要|不用|没有?|别|而不是|代替",
    r"ではな|じゃな|ない|ません|やめ|辞め|の代わり",
)
# Which of several things of a kind is meant.
QUALIFIERS = _rx(
    r"\b(?:work|office|home|private|personal|emergency|backup|secondary|landline|fax|second|business|school|staging|production|"
    r"prod|dev|test|admin|internal|external|metrics|return|back from|way back|web|ios|android|mobile app|backend|frontend)\b",
    r"回程|返程|公司|办公|单位|家里|紧急|备用|座机|测试|生产|预发|工作(?:邮|手|电)|私人|个人|安卓|苹果|鸿蒙",
    r"帰りの|復路|会社|職場|自宅|緊急|予備|仕事用|個人|検証|本番|開発用|開発環境|管理画面|管理者",
)
LIKED = Signs(
    r"\b(?:prefer|like|love|want|wants|enjoy)s?\b",
    r"喜欢|偏好|爱|希望|想要|要求",
    r"好き|好み|好む|好んで|希望|望ん|ほしい",
)
# What somebody or something does, in classes that mean about the same.
DOINGS = tuple(
    Signs(*patterns)
    for patterns in (
        (
            (
                r"\b(?:owns?|leads?|maintain\w*|in charge|responsible|t(?:ook|aken|akes) over|managed?|manages|looks after|hand(?:ed|s)|runs|heads|"
                r"supervises?|coordinates?|contact for|lead is|owner)\b"
            ),
            r"负责|归|接手|接管|主管|交接|对接人|牵头|管理|带队|维护|管",
            r"担当|引き継|責任者|受け持|リーダー|窓口|管理",
        ),
        (
            r"\b(?:live|lives|living|moved|based|relocated|located|hosted)\b",
            r"住|搬|定居|位于|(?<![现正实还])在|迁",
            r"住|引っ越|転居|在住|ある|あり|移[しっ]|移転",
        ),
        (
            r"\b(?:drinks?|drinking|eats?|eating|takes? (?:my|his|her|their)|has (?:his|her|their)|have my|order)\b",
            r"喝|吃",
            r"飲|食べ",
        ),
        (
            r"\b(?:commut\w+|drives?|rides?|cycles?|get(?:s)? (?:to work|around)|bikes?|takes? the)\b",
            r"通勤|开(?!始|会|发|放|心|源|店|学|启)|骑|坐|乘",
            r"通勤|乗|通って",
        ),
        (
            r"\b(?:goes to|attends?|studies|started at|enrolled|majors?|transferred)\b",
            r"就读|在读|上(?:小学|初中|高中|大学|班)|专业",
            r"通って|通い|入学|専攻|在学",
        ),
        (
            r"\b(?:costs?|price|rent|pays?|salary|fee|earns?|budget|charges?)\b",
            r"月租|价格|工资|房租|租金|预算|月薪|薪水|费",
            r"家賃|値段|料金|給料|月給|価格|予算|いくら",
        ),
        (r"\b(?:sleeps?|wakes?|gets? up|goes to bed|bedtime|up at)\b", r"起床|睡", r"起き|寝|就寝"),
        (
            (
                r"\b(?:uses?|using|written in|built (?:in|with|on)|rewr\w+|migrat\w+|ported|hosted|hosts|based on|stored? in|deploy\w*|"
                r"runs on|host\w*|switched|go(?:es)? through|powered)\b"
            ),
            r"用(?!户)|跑在|部署|托管|迁|重写|换成|切到|放在|存",
            r"使[っいう]|利用|動い|書[いかき]|移行|移し|移っ|切り替|変え|乗り換|保存|置い|で管理",
        ),
        (r"\b(?:meets?|held|takes place|happens)\b", r"办|举行|开会|碰头", r"開[いかき]|開催|行って|行われ|集ま"),
        (r"\b(?:called|named?|goes by|nickname|renamed)\b", r"叫|名", r"名前|呼[ばびぶん]"),
        (
            (
                r"\b(?:releases?|ships?|meets?|takes place|happens?|due|deadline|expires?|lasts?|every|per|once|twice|weekly|"
                r"monthly|daily|biweekly)\b"
            ),
            r"每|发布|上线|截止|过期|到期",
            r"毎|おき|リリース|締め切り|期限|ごと|週[一二三四五\d]",
        ),
    )
)
# Words beside which a subject is the same subject.
NEWNESS = frozenset(canonical("new old current number one contact").split()) | frozenset(canonical("新旧番号码"))
COUNTS = frozenset("一二三四五六七八九十每个只")
DOING_WORDS = frozenset(
    """own lead maintain charg respons take taken took over manag live move base reloc drink eat drive ride commut switch
    migrat deploi written write rewrit built build host like want prefer schedul plan start begin set number address
    contact current new old number phone mobil cell email mail e-mail port valu date day time go goe held hold keep kept store retain everi each sinc becaus took need requir onli about last turn just leav depart arriv chang renam updat delay cut rais go""".split()
) | frozenset(
    canonical(
        "开会住搬喝吃开用写管归负责定改换为到从把将由放部署书动担当话番号连络先现在已经新旧码手机电话邮箱件址名前呼每有剩普段希望要求期地点间起飞成理済做着过以后每天早上晚日月端口"
    )
)
IS = Signs(r"\b(?:is|are|'s|'re|called|named)\b", r"是|叫|为", r"です|だ|である|は")
BECOMES = Signs(
    r"\b(?:is|are|was|to|called|named)\b", r"是|叫|为|成|换|改|到|变", r"です|だ$|である|なっ|なり|[にへ]変|切り|移"
)
GRADUATED = Signs(r"graduat|full[- ]time|dropped out", "毕业|全职", "卒業し|就職|正社員")
# What something turned into.
TURNED = _rx(
    r"\b(?:switched|moved|changed|downgraded|upgraded|went|converted|transferred|swapped)(?: \w+)? (?:over |back )?to (?:the |an? )?"
    r"(?P<a>[\w-]+ \w+)(?= (?:in|since|last|this|yesterday|for|from|as|on|after|because|at|now)\b|$|[,.;])",
    r"(?:改[成为上用]?|换[成到]?|降[到为成]|升[到为成级]到?|转[到为成]|调[到成])了?(?P<b>[^,。了]{2,8})",
    r"(?:以后|今后|往后)(?:就|都|改)*(?:上|做|走|坐|骑)(?P<d>[^,。了]{2,8})",
    r"(?:これから|今後|来週から|来月から)は(?P<e>[^、。はがを]{2,8}?)(?:です|だ|になります|$|。)",
    r"(?P<c>[^、。はがをら]{2,10}?)[にへ](?:変更|変わ|変え|切り替|移|転|下げ|上げ|乗り換|なっ|なり)",
)
# A thing that is no more than a time.
WHEN = _rx(
    r"(?:\w+day|\d+|one|two|three|four|five|six|seven|eight|nine|ten|minut|hour|am|pm|o'clock|at|on| |[一二三四五六七八九十周月曜日点时])+"
)
