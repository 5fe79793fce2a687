"""How much a text deserves to be kept, 1 to 10, by rules for English, Chinese and Japanese.

What passes (greetings, thanks, questions, errors and requests of the moment, words like "again" and
"just now") is recognised and rated low. What lasts (preferences, decisions, facts of a project or a
person, rules, corrections, "remember this") is rated high; so is, a little lower, any other statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

from .asides import without_asides
from .fold import fold
from .memory import LEAST_RATING, MOST_RATING
from .moment import passes
from .passages import sentences
from .patterns import lazy
from .signs import Signs
from .small_talk import without_small_talk
from .speech import ERROR, SMALL_TALK, doubts, greets, without_closing, without_opener
from .traits import read_turn

__all__ = ["DEFAULT_THRESHOLD", "STATEMENT", "UNREADABLE_RATING", "Rating", "rate", "sentences_judged"]

DEFAULT_THRESHOLD = 7.0  # from here on a text is kept
UNREADABLE_RATING = 5.0  # of an answer that is no number

_BASE = 3.0
_FIRST_REASON = 4.0  # one good reason reaches the threshold
_FURTHER_REASON = 1.0
_DOUBT = 6.0
_LONG_CHARS = 200
_LOOKED_AT_CHARS = 1_500  # of a longer text the beginning and the end tell what it is


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating from 1 (noise) to 10 (must be kept), and the rules that spoke, in words."""

    value: float
    reason: str


_FOR: tuple[tuple[str, Signs], ...] = (
    (
        "asked to remember",
        Signs(
            r"\b(?:remember|don't forget|note to self|keep in mind|bear in mind|for the record|make a note|note that|"
            r"please note|note for later|fyi)\b(?!.*\?\s*$)",
            r"记住|记一下|记下来|请记得|记得|别忘了|不要忘记|备忘|请注意|请知悉",
            r"覚えておいて|覚えといて|忘れないで|忘れないように|メモ:|メモして|覚えてて|念のため",
        ),
    ),
    (
        "correction",
        Signs(
            r"\b(?:correction|no longer|not any ?more|any more|instead of|rather than|switched|(?:moved|migrated|"
            r"upgraded) (?:from|to)|changed? to|"
            r"replaced|stopped using|i mistyped|typo on my side|has been (?:renamed|moved|replaced))\b|"
            r"^actually, (?!(?:never ?mind|no\b|wait|it works|i found))|"
            r"\bi meant (?:\S+ ){1,6}?not\b|\b(?:is|are|was) \S+(?: \S+){0,2}, not \S+",
            r"更正|纠正|不再|改用|改为|改成(?!.{0,8}[点些]$)|换成|代替|而不是|而是|不是(?![这那它]).{1,12}(?:了|"
            r",?[而应]?是(?!另))|已经?(?:迁移|换|改|停用|下线)|已经?不(?:用|吃|喝|住|在)|[是叫姓].{1,8}不[是叫姓]|"
            r"(?:我|刚才|之前)(?:打|说|写|记)错了?,|搬回",
            r"訂正|もう.{0,12}(?:ない|ません|なく|おらず)|をやめて|"
            r"(?<!それ)(?<!これ)(?<!そこ)(?<!こっち)(?<!そっち)(?:では|じゃ)なく|に変更|に移行|に移した|に切り替え|"
            r"に変え[たて]|に変わり|に改名|打ち間違え|間違えました、",
        ),
    ),
    (
        "cause of an incident",
        Signs(
            r"\broot cause\b(?! (?:is|was)?(?: still)? unknown)|\bpost-?mortem\b|\blessons? (?:learned|learnt|from)\b|"
            r"\b(?:the|our|my) (?:lesson|takeaway)(?: (?:here|is|was))*(?::|,| (?:is|was|to)\b)|"
            r"\b(?:outage|incident|crash(?:es)?|downtime|failures?|leak|data loss|latency spikes?|timeouts?)\b.{0,60}"
            r"\b(?:was caused|were caused|caused by|because|due to|came from|come from|traced (?:back )?to|turned out)\b|"
            r"\b(?:failed|went down|broke|crashed|died|stalled|leaked|flaked) (?:\w+ ){0,3}(?:because|due to|since)\b|"
            r"\brolled (?:it |them )?back (?:to|after|because)\b|\b(?:was|were|got) caused by\b|\bthe fix was\b",
            r"根因|根本原因|(?:故障|事故|宕机|中断|崩溃|失败|泄漏|超时|丢数据|变慢|报错)的?(?:原因)?(?:是因为|是由于|原因是|是由|源于|因为)|"
            r"(?:因为|由于|因).{1,30}(?:宕机|挂了|崩溃|失败|中断|回滚|不可用)|回滚(?:到|了)|复盘|教训",
            r"根本原因|(?:障害|停止|失敗|クラッシュ|ダウン|漏れ|リーク|遅延|タイムアウト|不具合)の原因は|(?:障害|失敗|停止|ダウン)した(?:の|理由)は|"
            r"(?:(?:落ち|停止し|失敗し|遅くな)た?[るた]?の[はが].{1,40}(?:ため|せい|原因|から))|(?:ため|せいで|ので|が原因で).{0,24}(?:失敗し|停止し|落ち(?!着)|ダウンし|ロールバック)|ロールバックし|切り戻し|再発防止|教訓|ポストモーテム",
        ),
    ),
    (
        "preference",
        Signs(
            r"\b(?:prefers?|dislikes?|hates?|loves?|enjoys?|favou?rites?|can't stand|allergic|allergy|vegetarian|"
            r"vegan|lactose|gluten|"
            r"scared of|afraid of|fond of|would rather|i'd rather|better than a|i (?:can't|don't|never|always) "
            r"(?:eat|drink|use|take|want|like|trust)|used to (?:be|take)|rather have)\b",
            r"\b(?:i|we|user|she|he|they|client|customer|team|company)(?: (?:really|also|always|do))* (?:likes?|"
            r"wants?|needs?)\b(?! (?:to (?:know|see|ask|check|go|get|fix)|you|an? (?:break|minute|second|coffee|nap|"
            r"hand)|help|some))",
            r"\b(?:i|user)(?:'d| would) like (?:\w+ )?(?:all|every|answers|replies|summaries|responses)\b",
            r"偏好|(?<!你)(?<!您)(?<!人都)(?<!人)喜欢(?!的(?:事|话))|喜爱|热爱|讨厌|不爱|最爱|最怕|爱[吃喝看听玩用]|"
            r"过敏|吃素|忌口|更愿意|宁愿|宁可|倾向|习惯|一直[喝吃用]|不能吃|不[吃喝沾碰](?!了)|不要.{1,20}方案|"
            r"受不了|反感|希望(?:被|能?收到|所有|每)|"
            r"(?:恐|怕)(?:高|飞|黑|水)|不(?:希望|想要|接受)",
            r"好き|好む|好み|好ん|嫌い|苦手|愛用|アレルギー|ベジタリアン|ヴィーガン|食べられません|食べられない|"
            r"食べ(?:ない|ません)|飲まない|飲みません|飲めません|飲めない|"
            r"ほうがありがたい|方がありがたい|(?:ほう|方)がいい|派(?:です|だ|なので|。|$)|いつも.{1,20}(?:飲|食べ|"
            r"使)|ほしい(?:です)?。?$|希望し|たがらない|(?:ので|から).{0,24}てほしい|(?:が|は)怖い|こだわり|のが一番",
        ),
    ),
    (
        "rule",
        Signs(
            r"\b(?:from now on|never|always(?! (?:here|cherish|be there|been))|must(?:n't| not)?(?! (?:be|feel|"
            r"have) )|don't use|do not use|only on|by default|not allowed|forbidden|forbids?|in future|frozen|pinned|"
            r"capped|banned|off[- ]limits|up to date with|(?:doctor|therapist|dentist|lawyer|boss|manager|client|"
            r"customer|wife|husband) (?:told|asked|wants|said|says|insists|advised)|has to be|have to be|need to be|"
            r"needs to be)\b",
            r"\b(?<!it )(?<!this )(?<!that )must(?: (?:not|always|never|also))? be (?:shown|displayed|written|kept|stored|encrypted|signed|reviewed|approved|"
            r"tested|tagged|translated|named|prefixed|logged|documented|sent|deployed|run|built|formatted|validated|rotated|backed up|returned|used|"
            r"answered|confirmed|labell?ed|deleted|archived|sorted|rounded|cited)\b",
            r"^please (?:always|keep|answer|reply|use|write (?!me|an?\b|the\b|this)|call me|speak|don't|do not|avoid|"
            r"address|stick)\b",
            r"^(?:always|never|do not|don't|avoid|use|keep|prefer|stick to) (?!.*\b(?:this|that|it|now|worry|bother|"
            r"mind|the one|going)\b)|\bcall me\b|"
            r"^\w+ (?:\S+ ){0,6}(?:every time|whenever|before (?:every|each|any|\w+ing)|in all|for all|unless)\b",
            r"以后|(?<!我)一定要|从现在起|从今以后|今后|一律|统一|务必|(?<!我)(?<!现在)必须(?!.{0,4}(?:离开|走了|休息|忙))|千万|"
            r"禁止|严禁|不许|不准|不允许|不要直接|请控制|(?:回答|回复|解释|提交信息|列名|命名|注释|文档|代码|图表?|"
            r"总结|邮件|报告|变量名?).{0,6}(?:要|请|用|控制|别|不要|尽量|必|里)"
            r"|只在|请一直|请(?:用|叫|称呼|始终|总是|不要|别)|^(?:不要|别|请?勿)(?!(?:急|担心|客气|管|在意|谢|生气|"
            r"这|那|闹|慌|走|说了|动|着急))|(?:不要|别)(?:推荐|给我|用|发|直接)|叫我|称呼",
            r"今後|これから(?:は|.{2,30}(?:使っ|し|答え|書い|呼ん|送っ)[てで](?:ください|下さい|ね|ほしい)?[。!]*$)|必ず|絶対に|統一|しないで|(?:使わ|し|せ|か|ら|さ|れ|べ|わ|ま|た|"
            r"が)ないで(?:ください|ほしい|ね|。|$)|しないこと|すること|書くこと|出すこと|送ること|以内に|だけ、|毎回|"
            r"呼んで|禁止|"
            r"なければならない|いけない|ご遠慮|(?:回答|返信|返事|説明|コメント|報告|報告書|連絡|コード|図|グラフ|"
            r"命名|コミット\S{0,5})[はにもで].{0,24}(?:て|で|に|を)(?:ください|ほしい|お願い\S*|使う|する|。|$)|"
            r"してほしい(?:です)?。?$",
        ),
    ),
    (
        "decision",
        Signs(
            r"\b(?:(?<!never )decided|agreed|settled on|chose|chosen|opted|standardi[sz]ed|adopted|committed to|"
            r"let's (?:use|standardi[sz]e|stick|go with|adopt)|rejected|ruled out|gave up|(?:we|i|team|they) dropped|"
            r"dropped support|went with|going with|we picked|deprecated|sticking with|staying with)\b",
            r"决定|商定|约定|一致同意|选定|选了|选择了|采用|敲定|定于|定在|定[了为]|规定|规矩|冻结|锁[定在]|放弃|"
            r"弃用|否决|(?:最终|就)(?:用|选|定)|不打算|打算|计划(?:在|于|用|今|明|下)",
            r"決め(?:た|ました)|決まった|決まりました|合意|採用|見送|諦め|選んだ|選びました|ことになった|"
            r"ことになりました|ことにし(?:た|ました|ている)|予定(?:されている|です|だ|。|$)|打ち切|方針|廃止|"
            r"決まり(?:です|だ|。|$|で)|流儀|ルール(?:です|だ|。|$|で)|仕様(?:です|だ|。|$|で)|凍結|固定",
        ),
    ),
    (
        "fact of the project",
        Signs(
            r"\b(?:backend|frontend|front end|database|db|ci|cd|repo(?:sitory)?|monorepo|services?|tests?|"
            r"migrations?|deploy(?:s|ments?)?|"
            r"cluster|logging|schema|columns?|branch(?:es)?|commits?|commit messages|cache|release|pipeline|stack|"
            r"project(?:'s)?|"
            r"api key|password|server|timestamps|config(?:uration)?|secrets|assets|docs)\b.{0,40}?\b(?:is|are|uses?|"
            r"runs?|lives?|kept|written|deployed|stored|rotates?|happens?|"
            r"scheduled|hosted|numbered|go(?:es)? (?:out|in|into|through)|indent(?:ed)?|"
            r"expires?)\b(?! (?:\w+ )?(?:failing|failed|down|broken|slow|running|red|stuck|back|up|ok|fine|done|"
            r"green|now))",
            r"\b(?:invoices?|reports?|payslips?)\b.{0,20}\b(?:go(?:es)? out|due|are sent)\b|\bwe (?:use|run|deploy|"
            r"store|host|ship|build|keep|write|bill|pay|release|follow|target|support)\b",
            r"(?:后端|前端|数据库|仓库|项目|服务|缓存|日志|测试|迁移|部署|主分支|集群|接口文档|密码|版本|分支|"
            r"ci).{0,20}"
            r"(?:用|跑在|放在|位于|部署在|在.{1,12}(?:目录|区)|写|管理|更换|存放|端口)",
            r"(?:后端|前端|数据库|仓库|项目|服务|缓存|集群|密码|版本|分支|端口|环境|地址)[^,。]{0,12}是(?!不是|什么|"
            r"好|通过)",
            r"(?:バックエンド|フロントエンド|データベース|リポジトリ|サービス|キャッシュ|ログ|テスト|"
            r"マイグレーション|デプロイ|ブランチ|ci|"
            r"パスワード|インデント|カラム名|リリース|請求書).{0,24}(?:書いている|書かれて|動いて(?:い|お)|置いて|"
            r"置く|にある|管理し|使って|使う|統一|"
            r"取る|変わる|デプロイされる|デプロイして(?:い|お)|送る|予定)",
        ),
    ),
    (
        "fact of a person",
        Signs(
            r"\b(?:my|our|his|her|user's) (?:\S+ )?(?:wife|husband|partner|daughter|son|kids?|children|mother|father|"
            r"mum|mom|dad|grand\w+|niece|nephew|cousin|"
            r"brother|sister|boss|manager|doctor|dentist|dog|cat|name|surname|birthday|address|phone number|email|"
            r"job|hometown|flight|"
            r"wedding|anniversary|team lead|passport|car|blood type|visa|landlord|"
            r"neighbou?r)(?:'s)?\b(?!.{0,20}\b(?:just|called me|right now|again|today|is here)\b)",
            r"\b(?:i(?:'m| am)|user is) (?:also |really |very )?(?:(?:left|right)[- ]?handed|ambidextrous|colou?r[- ]?blind|dyslexic|"
            r"deaf|blind|diabetic|asthmatic|allergic|intolerant|vegan|vegetarian|autistic|near-?sighted|short-?sighted|retired|"
            r"from [a-z]|originally from)\b",
            r"\bi(?:'m| am) (?:a|an|the) (?!(?:bit|little|lot|mess|wreck|idiot|fan of this)\b)[a-z]|\bi(?:'ve|"
            r" have) been \w+ing\b(?! (?:for (?:an? )?(?:\w+ )?(?:minutes?|hours?)|all|at this|on this))",
            r"\b(?:i|user|we)(?: (?:also|still|currently|now|both|usually|normally|mostly|typically|"
            r"often))* (?:lives?|works?(?! on (?:it|this)| now| again| fine)|speaks?|owns?|drives?|stud(?:y|ies)|"
            r"teach(?:es)?|graduated|grew up|moved|was born|joined|quit|left|retired|lost (?:my|his|her|their)|"
            r"married|sold|bought|adopted|started (?:a|as|at|learning|working|taking)|plays?|goes by|runs? (?!(?:it|"
            r"the|this|out|into)\b)|switched|wears?|suffers?|enrolled|signed up)\b|\bborn (?:on|in)\b|\b(?:got|"
            r"getting) (?:married|divorced|engaged|promoted)\b|\bdiagnosed\b|\bpregnant\b",
            r"\bthe (?:wedding|party|conference|interview|appointment|deadline|release) is (?:on|at|scheduled)|"
            r"\b(?:appointment|flight|interview|exam|surgery|deadline|webinar|audit)\b.{0,30}(?:\d|(?:mon|tues|"
            r"wednes|thurs|fri|satur|sun)day|next (?:week|month)|tomorrow)",
            r"\b(?:asked|wants?|likes?|prefers?) to be (?:called|addressed)|\b(?:i|user|she|he)(?: \w+)? (?:usually|"
            r"normally|regularly|every (?:day|morning|evening|night|week|year))\b",
            r"(?:我|用户|他|她|妈|爸|儿|女|妻|老公|老婆)[^,。]{0,6}(?:诊断|确诊)(?!书|报告|工具|日志)|我们?家(?:现在|目前)?(?:住?在|位于)|"
            r"(?:我|用户)(?:现在|目前|平时)开(?:的是|着)?(?![始会心玩源发门口车机灯窗学业完了着药单])(?!.{0,6}(?:文件|电脑|空调|网页|视频|直播|终端|浏览|派对|玩笑|发票|支票|日志|音响|电视))"
            r"[^,。]{2,10}[。!]?$",
            r"我(?:的)?(?:女儿|儿子|太太|妻子|老婆|丈夫|老公|先生|妈妈?|爸爸?|母亲|父亲|哥哥|弟弟|姐姐|妹妹|孩子|"
            r"老板|狗|猫|名字|生日|电话|手机号|老家|"
            r"邮箱|地址|主治医生|奶奶|爷爷|外婆|外公|同事|室友|领导|血型|护照)",
            r"(?:我|用户)(?:现在|目前|一直|平时|一般|通常|经常|每[天周月年晚早]|从小)?(?:们)?(?:住在|住|"
            r"在.{1,12}(?:当|工作|上班|上[^了课]班|说|读|学)|是一?[家名个位]|来自|毕业于|出生|开的?是?一辆|养了|养着|"
            r"会说|从.{1,10}开始|叫|姓|有.{0,10}(?:病|症|哮喘|过敏|孩子|女儿|儿子)|患|戴)|婚礼|出生"
            r"|负责人|搬[去到出进来]|跳槽|(?:调|转|换|升|派)(?:到|去|任|为)了?|入职|离职|辞职|退休|结婚|离婚|怀孕|"
            r"戒(?![指备])|毕业|领养|买了(?:房|车|一[套辆])|卖掉|换了(?!个(?:思路|方法|办法|写法))|考上|升职",
            r"(?:我|用户|他|她|孩子|女儿|儿子)[^,。]{0,6}(?:每(?:天|周|月|年|晚|早|个?星期)|平时|通常|一般|经常|从小|"
            r"从来)|(?:血型|纪念日|忌日|寿|航班|面试|手术|复诊|体检|预约|签证|护照|驾照|保险).{0,16}(?:\d|"
            r"[一二三四五六七八九十]+[月号日点]|周[一二三四五六日])",
            r"(?:妻|夫|娘|息子|母|父|兄|姉|弟|妹|子供|子ども|上司|犬|猫|主治医|誕生日|名前|名字|住所|電話番号|"
            r"リーダー|親友|甥|姪|祖母|祖父|出身|血液型|記念日)(?:の.{1,8})?(?:[はも](?!.{0,16}(?:鳴い|うるさ|寝て|"
            r"来た))|が(?:[一二三四五六七八九\d].{0,3})?(?:い(?:る|ます)|.{0,10}(?:好き|嫌い|苦手|生まれ|住|働|重い|"
            r"悪い)))",
            r"に住んで|と暮らし|(?:看護師|医師|教師|エンジニア|デザイナー|記者|店員|[^ ]{1,6}師|"
            r"[^ ]{1,6}員)(?:として働|をして)|として働い|で働い|勤め|勤務|生まれ|夜勤をし|"
            r"結婚(?:式|し)|離婚|習っています|習っている|勉強してい?[るま]|引っ越し|に乗ってい|話します|通院|"
            r"在宅勤務|にしている。?$|飼って|弾い?[てき](?:い?[るま])?|入社|退職|転職|転勤|異動|失(?:った|いました)|"
            r"亡くな|死にました|死んだ|一人暮らし|同棲|療養|骨折|入院|診断され(?:た|ました|てい)|通って(?:い|る)|始め(?:た|ました)|(?:完全に|もう|"
            r"きっぱり)やめ(?:た|ました)|卒業|入学|禁煙|禁酒|妊娠|貯金|"
            r"買いました|買った(?!ばかり)|売りました|売った|(?:毎[朝晩日週月年]|普段|ふだん|いつも|隔週|"
            r"子供の頃).{1,24}(?:る|す|た|く|う|む)。?$|患って|持病|予約が(?:あり|ある)|(?:面接|手術|健診|締め切り|"
            r"締切|納期|フライト).{0,16}(?:\d|[一二三四五六七八九十]+[月日時]|曜)",
        ),
    ),
)
_DATED = lazy(
    r"\b\d{1,2}(?:st|nd|rd|th)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|"
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december) \d|"
    r"\b(?:19|20)\d\d-\d\d-\d\d|\b(?:19|20)\d\d年|\d+月\d+日|[一二三四五六七八九十]+月[一二三四五六七八九十]+[日号]|"
    r"\b(?:on|every|by) (?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|每周|毎週|毎月|每月"
)
# A short statement has to be about somebody or something: a person, a copula, a topic, a number, a name.
_LEAST_CHARS = 12
_ANCHORED = lazy(
    r"\b(?:i|we|my|our|is|are)\b|\d|[a-z]{2,}\d*[\u3041-\u9fff]|[\u3041-\u9fff] ?[a-z]{2,}|我|是|[有叫姓属]|"
    r"[二两三四五六七八九十]|用户|客户|です|は|.{7}[了。]$"
)
# What somebody asks to be remembered is kept, however it is put.
_WANTED, _FOR_WANTED = _FOR[0]
# To ask for it says nothing that could be kept.
_ONLY_ASKED = lazy(
    r"(?:please )?(?:remember|note|save|store|keep)(?: (?:this|that|it|in mind))*(?: for (?:me|later))?(?: please)?|"
    r"请?(?:帮我)?(?:记住|記住|记一下|记下来|记下|记得|别忘了)(?:这个|這個|这点|这件事|它|哦|吧)*|"
    r"(?:これを?|それを?)?(?:覚えておいて|覚えといて|覚えてて|メモして|忘れないで)(?:ください|下さい|ね)*"
)
_CAUSE = "cause of an incident"
STATEMENT = "a statement of fact"  # the reason of what no rule speaks for or against


def rate(text: str) -> Rating:
    """Return the rating of `text` as one candidate for memory: by its sentences that deserve to be kept.

    A turn ("Name: text") is rated by what is said. The bounds are 1 and 10.
    """
    folded = [fold(part).replace("\u2019", "'") for part in sentences_judged(text)]
    # A sentence of small talk beside something else says nothing of it; but what asks to be remembered may be put so.
    told = [part for part in folded if _FOR_WANTED.search(part) or without_small_talk(part)]
    parts = [without_asides(_bare(part)) for part in told or folded]
    if not parts or all(_ONLY_ASKED.fullmatch(re.sub(r"\W+$", "", part)) for part in folded):
        return Rating(LEAST_RATING, "it says nothing")
    # A greeting or thanks beside something else says nothing of it.
    told = [rest for part in parts if without_opener(rest := without_closing(part))]
    parts = told or parts
    judged = [_judge(part) for part in parts]
    kept = [part for part, (reasons, against) in zip(parts, judged, strict=True) if reasons and not against]
    reasons = list(dict.fromkeys(chain.from_iterable(r for r, against in judged if not against)))
    against = list(dict.fromkeys(chain.from_iterable(against for _, against in judged)))
    if not reasons and not against:
        # A plain statement is kept where nothing else goes on.
        kept = [part for part in parts if _states(part)]
        reasons = [STATEMENT] if 2 * len(kept) > len(parts) else []
    if not reasons:
        return Rating(
            max(LEAST_RATING, _BASE - _DOUBT * len(against)), ", ".join(against) or "of the moment, or too little"
        )
    value = _BASE + _FIRST_REASON + _FURTHER_REASON * (len(reasons) - 1)
    if any(_DATED.search(part) for part in kept):
        value += _FURTHER_REASON
        reasons.append("a date")
    if _WANTED in reasons:
        value += 2 * _FURTHER_REASON
    return Rating(min(MOST_RATING, value), ", ".join(reasons))


def sentences_judged(text: str) -> list[str]:
    """Return the sentences by which a text is rated: of a turn what is said, of a long text beginning and end."""
    said = read_turn(text).said
    if len(said) > _LOOKED_AT_CHARS:
        said = f"{said[:_LOOKED_AT_CHARS]}\n{said[-_LONG_CHARS:]}"
    return [part.strip() for part in sentences(said) if re.search(r"\w", part)]


def _bare(sentence: str) -> str:
    """Return a folded sentence without the small talk around it, if a rule speaks for what is left, and none against."""
    bare = without_small_talk(sentence)
    if not bare or bare == sentence or _FOR_WANTED.search(sentence):
        return sentence
    reasons, against = _judge(bare)
    return bare if reasons and not against else sentence


def _judge(sentence: str) -> tuple[list[str], list[str]]:
    """Return what speaks for a folded sentence, and what against it."""
    rest = without_opener(sentence)
    reasons = [name for name, pattern in _FOR if pattern.search(rest)]
    if _WANTED in reasons:
        return reasons, []
    # What was an error of a moment, and why it was one, lasts.
    against = [doubt for doubt in doubts(rest) if doubt != ERROR or _CAUSE not in reasons]
    # After an answer or an apology, only what a rule speaks for is more than that.
    opened = rest != sentence and not (greets(sentence) and _states(rest))
    return reasons, [SMALL_TALK, *against] if opened and not reasons else against


def _states(sentence: str) -> bool:
    return not passes(sentence) and (len(sentence) >= _LEAST_CHARS or _ANCHORED.search(sentence) is not None)
