"""How much a text deserves to be kept, 1 to 10, by rules for English, Chinese and Japanese.

What passes (greetings, thanks, questions, errors and requests of the moment, words like "again" and
"just now") is recognised and rated low. What lasts (preferences, decisions, facts of a project or a
person, rules, corrections, "remember this") is rated high; so is, a little lower, any other statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .fold import canonical, fold
from .traits import read_turn

__all__ = ["DEFAULT_THRESHOLD", "UNREADABLE_RATING", "Rating", "rate"]

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


def _rx(*patterns: str) -> re.Pattern[str]:
    # Patterns are spelled as `fold` spells the text that they are tried on.
    return re.compile("|".join(canonical(pattern) for pattern in patterns))


_FOR: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "asked to remember",
        _rx(
            r"\b(?:remember|don't forget|note to self|keep in mind|for the record|make a note)\b(?!.*\?\s*$)",
            r"记住|请记得|记得|别忘了|不要忘记|备忘",
            r"覚えておいて|覚えといて|忘れないで|忘れないように|メモ:|メモして",
        ),
    ),
    (
        "correction",
        _rx(
            r"\b(?:correction|no longer|not any ?more|any more|instead of|rather than|switched|moved from|changed? to|"
            r"replaced|stopped using)\b|^actually, (?!(?:never ?mind|no\b|wait))",
            r"更正|纠正|不再|改用|改为|改成|换成|代替|而不是|而是|不是.{1,12}了|已经?迁移",
            r"訂正|もう.{0,12}(?:ない|ません|なく)|をやめて|ではなく|に変更|に移行|に切り替え|に変えた",
        ),
    ),
    (
        "preference",
        _rx(
            r"\b(?:prefers?|dislikes?|hates?|loves?|enjoys?|favou?rites?|can't stand|allergic|allergy|vegetarian|vegan|"
            r"scared of|afraid of|fond of|would rather|i'd rather|better than a|i (?:can't|don't|never|always) "
            r"(?:eat|drink|use|take|want)|used to (?:be|take))\b",
            r"\b(?:i|we|user|she|he|they)(?: (?:really|also|always|do))* (?:likes?|wants?|needs?)\b(?! to (?:know|see|ask))",
            r"偏好|喜欢|喜爱|热爱|讨厌|不爱|最爱|过敏|吃素|忌口|更愿意|宁愿|害怕|习惯用|习惯于|一直[喝吃用]|不能吃|不吃|不喝|不要.{1,20}方案",
            r"好き|好む|好み|嫌い|苦手|愛用|アレルギー|ベジタリアン|食べられません|食べられない|飲めません|飲めない|"
            r"ほうがありがたい|方がありがたい|いつも.{1,20}(?:飲|食べ|使)|ほしい(?:です)?。?$",
        ),
    ),
    (
        "rule",
        _rx(
            r"\b(?:from now on|never|always|must(?:n't| not)?|don't use|do not use|only on|by default)\b",
            r"^please (?:always|keep|answer|reply|use|write|call|speak)\b",
            r"^use \S+(?: \S+)? for\b|\bcall me\b",
            r"以后|从现在起|从今以后|一律|统一|务必|必须|千万|禁止|不要直接|请控制|(?:回答|回复|提交信息|列名|命名).{0,6}(?:要|请|用|控制)"
            r"|只在|请一直",
            r"今後|これから(?:は)|必ず|絶対に|統一|しないで|しないこと|すること|書くこと|出すこと|送ること|以内に|だけ、|毎回|呼んで",
        ),
    ),
    (
        "decision",
        _rx(
            r"\b(?:decided|agreed|settled on|chose|chosen|opted|standardi[sz]ed|adopted|committed to)\b",
            r"决定|商定|约定|一致同意|选定|选了|选择了|采用|敲定|定于|定在",
            r"決め(?:た|ました)|決まった|決まりました|合意|採用|ことになった|ことになりました|ことにし(?:た|ました|ている)|予定されている",
        ),
    ),
    (
        "fact of the project",
        _rx(
            r"\b(?:backend|frontend|database|db|ci|cd|repo(?:sitory)?|monorepo|services?|tests?|migrations?|deploy(?:s|ments?)?|"
            r"cluster|logging|schema|columns?|branch(?:es)?|commits?|commit messages|cache|release|pipeline|stack|project(?:'s)?|"
            r"api key|password|server)\b.{0,40}?\b(?:is|are|uses?|runs?|lives?|kept|written|deployed|stored|rotates?|happens?|"
            r"scheduled|hosted|numbered|go(?:es)? out|indent(?:ed)?)\b(?! (?:failing|failed|down|broken|slow|running))",
            r"\b(?:invoices?|reports?|payslips?)\b.{0,20}\b(?:go(?:es)? out|due|are sent)\b",
            r"(?:后端|前端|数据库|仓库|项目|服务|缓存|日志|测试|迁移|部署|主分支|集群|接口文档|密码|版本|分支|ci).{0,20}"
            r"(?:用|跑在|放在|位于|部署在|在.{1,12}(?:目录|区)|写|是|管理|更换|存放)",
            r"(?:バックエンド|フロントエンド|データベース|リポジトリ|サービス|キャッシュ|ログ|テスト|マイグレーション|デプロイ|ブランチ|ci|"
            r"パスワード|インデント|カラム名|リリース|請求書).{0,24}(?:書いている|動いて|置いて|置く|にある|管理し|使って|使う|統一|"
            r"取る|変わる|デプロイされる|送る|予定)",
        ),
    ),
    (
        "fact of a person",
        _rx(
            r"\b(?:my|our|his|her|user's) (?:\S+ )?(?:wife|husband|partner|daughter|son|kids?|children|mother|father|mum|mom|dad|"
            r"brother|sister|boss|manager|doctor|dentist|dog|cat|name|birthday|address|phone number|email|job|hometown|flight|"
            r"wedding|anniversary|team lead)\b",
            r"\bi(?:'m| am) (?:a|an|the) [a-z]|\bi(?:'ve| have) been \w+ing\b",
            r"\bi (?:live|work(?! on (?:it|this))|speak|own|drive|study|teach|graduated|grew up|moved|was born)\b|\bborn (?:on|in)\b",
            r"\bthe (?:wedding|party|conference|interview|appointment|deadline|release) is (?:on|at|scheduled)",
            r"我(?:的)?(?:女儿|儿子|太太|妻子|老婆|丈夫|老公|先生|妈妈|爸爸|母亲|父亲|哥哥|弟弟|姐姐|妹妹|孩子|老板|狗|猫|名字|生日|电话|"
            r"邮箱|地址|主治医生)",
            r"我(?:现在|目前|一直)?(?:住在|住|在.{1,12}(?:当|工作|上班|说)|是一?[家名个位]|来自|毕业于|出生|开一辆|养了|会说|从.{1,8}开始学|叫)|婚礼|出生"
            r"|负责人|搬去|搬到",
            r"(?:妻|夫|娘|息子|母|父|兄|姉|弟|妹|子供|上司|犬|猫|主治医|誕生日|名前|住所|電話番号|リーダー)(?:の.{1,8})?[はがも]",
            r"に住んで|(?:看護師|医師|教師|エンジニア|デザイナー|記者|店員|[^ ]{1,6}師|[^ ]{1,6}員)(?:として働|をして)|として働い|生まれ|"
            r"結婚式|習っています|習っている|引っ越し|に乗っています|話します|通院|在宅勤務|にしている。?$",
        ),
    ),
)
_FAULT = re.compile(r"(?:Error|Exception|Warning|ERR!?)$")
_DATED = _rx(
    r"\b\d{1,2}(?:st|nd|rd|th)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|"
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december) \d|"
    r"\b(?:19|20)\d\d-\d\d-\d\d|\b(?:19|20)\d\d年|\d+月\d+日|[一二三四五六七八九十]+月[一二三四五六七八九十]+[日号]|"
    r"\b(?:on|every|by) (?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|每周|毎週|毎月|每月"
)
_AGAINST: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "small talk",
        _rx(
            r"^(?:oh|ah|um+|well|alright|all right|right)?[,. ]*(?:hi|hello|hey|yo|what's up|good (?:morning|evening|night|"
            r"afternoon|day|job|one)|bye|see you|talk to you|thanks?|thank you|thx|cheers|much appreciated|ok|okay|k|yes|no(?! \w)|yep|"
            r"yeah|nope|sure|great|perfect|nice|cool|fine|awesome|excellent|got it|i see|i understand|understood|sounds good|"
            r"makes sense|well done|no problem|no worries|you are welcome|you're welcome|sorry|haha\w*|lol|wow|hm+|exactly|"
            r"never ?mind|one (?:moment|sec\w*)|of course|agreed|done|oh|ah|alright|all good|good (?:to know|point|idea))"
            r"\b(?!.{61})",
            r"^that(?:'s| is| was| looks| sounds) \S+(?: \S+){0,6}[.!]*$",
            r"^(?:哦|啊|嗯|呃|唉|那)?[, ]*(?:你好|您好|嗨|哈喽|在吗|早上好|早安|早$|下午好|晚上好|晚安|再见|拜拜|回头见|明天见|谢谢|谢[了啦]|多谢|感谢|"
            r"太感谢|非常感谢|辛苦|好的|好吧|好,|好$|好。|行,|行$|行。|可以,|可以$|可以。|嗯+|是的|对,|对$|对。|没错|没关系|没事|没问题|不客气|收到|"
            r"明白|知道了|懂了|我懂|了解|原来如此|太好了|太棒|真快|真棒|完美|干得漂亮|不错|厉害|哈哈|笑死|抱歉|对不起|不好意思|等一下|等等|稍等|继续|"
            r"唔|哦|算了|搞定|完成了|好了|这正是|加油)(?!.{31})",
            r"^(?:ああ|あ、|えっと|うん、|よし)?[、, ]*(?:こんにちは|こんばんは|おはよう|おやすみ|やあ|元気|ではまた|じゃあ|またね|また明日|"
            r"さようなら|ありがとう|本当にありがとう|どうも|助かり|お疲れ|はい|いいえ|いいね|うん|うーん|了解|承知|わかりました|わかった|なるほど|"
            r"そうです|そうか|そういうこと|そうそう|いいです|それでいい|やった|すごい|さすが|素晴らしい|完璧|早い|大丈夫|問題ない|どういたしまして|"
            r"すみません|ごめん|申し訳|よくでき|ちょっと待|少々|続けて|笑|w+$|まさに|よし|いや、|終わった|できた|完了)(?!.{31})",
        ),
    ),
    (
        "question",
        _rx(
            r"\?[\s\"')]*$",
            r"^(?:what|how|why|when|where|which|who|can you|could you|would you|do you|does|did|is there|are there|should)\b",
            r"(?:吗|呢|么)[。!]?$|^(?:什么|怎么|为什么|哪|能不能|可不可以|有没有|请问|多少)",
            r"(?:ですか|ますか|でしょうか|かな|なの|には|だっけ)[。!]?$|^(?:なぜ|どうして|どこ|誰|何か|どの)",
        ),
    ),
    (
        "error of the moment",
        _rx(
            r"traceback|[a-z]\w*(?:error|exception)\b(?! (?:is|are|means|codes?|handling))|\bgot an? \w*(?:error|exception)\b|segfault|\bexit code\b|npm err|stack trace|"
            r"\bline \d+\b|\b(?:crashe[sd]|hangs|froze|refused|timed out)\b|breakpoint|\breturn(?:s|ed) \d{3}\b|"
            r"\b(?:fail(?:s|ed)|broke) (?:with|again|on)\b|\bat this point\b|\bit (?:prints|outputs|shows|says|gives|returns)\b|"
            r"\b(?:looks?|is|are|seems?) (?:\w+ )?(?:broken|slow|slowly|failing|down|stuck|missing|odd|strange|weird|wrong|empty|"
            r"red|green again)\b|\b(?:loading|missing|undefined|syntax error|red underline|spinner|console|same (?:error|result|issue|problem)|"
            r"doesn't (?:compile|work|start|run|load|build)|won't (?:compile|start|run|load|build)|nothing happens)\b|"
            r"^the (?:log|output|screen|page|terminal|button|test|build|window|cursor)s?\b(?!.{0,50}\b(?:always|must|should|every))",
            r"报错(?!统一|格式|码表)|段错误|崩溃了?|第 ?\d+ ?行|退出码|(?:构建|编译|测试|请求|连接).{0,3}(?:失败|被拒|超时)|返回了? ?\d{3}(?!\d)|"
            r"断点|打印|输出(?:是|了|为)|卡住|卡死|乱了|乱码|很慢|太慢|少了|多了一个|不见了|没反应|出错|没反应|(?:编译|跑|装|连|登录|加载)不[过上了出动]|一样的(?:错误|问题|结果)|转圈|日志里|日志显示|控制台|屏幕上|"
            r"^(?:页面|界面|屏幕|按钮|光标|窗口|终端)",
            r"\d+ ?行目|終了コード|例外(?:が|で)|落ちた|落ちる|返ってき|返ってこ|ブレークポイント|エラーが|表示され|出力され|足りない|崩れて|遅い。?$|"
            r"が遅い|拒否され|固まっ|文字化け|失敗した|失敗しま|抜けて|動かない|通らない|同じ(?:エラー|結果|問題)|くるくる|ログに|"
            r"コンソール|^(?:カーソル|スタックトレース|画面|ページ|ボタン|出力|ターミナル)",
        ),
    ),
    (
        "request of the moment",
        _rx(
            r"^(?:please |now |then |ok(?:ay)?,? |and )?(?:show|run|fix|translate|rewrite|try|open|close|print|list|add|remove|delete|"
            r"check|explain|summari[sz]e|continue|go|stop|retry|repeat|generate|give|tell|help|rename|undo|redo|revert|move|copy|"
            r"change|update|create|make|find|search|look|read|compare|convert|replace|restart|install|insert|draw|wait|hold|have a|make|keep going|paste|scroll|click|skip|sort|format|"
            r"let me|let's)\b(?!.{0,60}\b(?:every|always|never|each time|from now on|daily|weekly)\b)",
            r"^(?:i'll|i will|i am going to|i'm going to|i'm (?:restarting|checking|trying|looking|running|reading|testing))\b",
            r"^(?:请|麻烦|那|你)?(?:帮我|再.{0,4}[一两三][次遍下]|把.{1,30}|加上|继续|我?再[试跑看]|我?(?:先)?看一?[下看]|运行|撤销|给我|换个|"
            r"试试|试一下|改一下|删掉|打开|关掉|举个|解释|翻译|总结|列出|查一下|搜一下|在.{1,12}(?:加|插入|删)|移到|粘贴|我来|我把|我去(?!年)|让我|再.{1,3}一?点|把)(?!.{0,30}(?:每次|以后|一律|都要))",
            r"(?:見せて|直して|訳して|実行して|教えて|説明して|続けて|書き直して|試して|確認して|挙げて|戻して|改名して|変更して|削除して|追加して|"
            r"比べて|まとめて|探して|開いて|閉じて|作って|書いて|入れて|やって|消して|変えて|調べて|見て|移して|貼って|短くして|長くして|大きくして|考えさせて|待って)(?:ください|くれ|みて|みます|みる|みよう)?[。!]?$|"
            r"(?:みよう|しよう|ましょう|ておきます|貼ります|戻ります|見ます|やります)[。!]?$|^もっと|してみます|してみる|しているところ",
        ),
    ),
)
# What tells of this very moment; it counts only where no rule speaks for the text.
_PASSING = _rx(
    r"\b(?:just (?!one)|again|right now|just now|at the moment|for now|still|already|a (?:sec|second|moment)|this time)\b|^now\b|"
    r"^(?:this|that|it|these|those|they|there|here)(?:'s| )|\bi (?:got|tried|found|fixed|see|mean|meant|think|guess|wonder|forgot)\b|\b(?:could|might|may) be\b|\bmaybe\b|"
    r"^(?:ah|oh|wow|hey|hm+|not|same|back|almost|same|and|but|so|any|anyway|probably|perhaps)\b|\b(?:in|for) (?:a|five|ten|two) min|"
    r"\b(?:that|this) (?:one|line|file|function|error|test|bug|thing|tab|page)\b",
    r"又|目前|^(?:刚|刚刚|现在|这|那|它|奇怪|怎么|还是|还没|还有|可能|也许|大概|应该|好像|哇|啊|哎|唉|不太|不行|不对|差点|差不多|再|周末|祝)|愉快|兄弟|"
    r"分钟后|小时后|忘了保存|本地|刚才|刚刚|现在|正在|这里|这个|那个|这行|一下[。!]?$|看看|试试|没变|我刚|我找到|能跑|通过的",
    r"また(?!は)|^(?:まだ|もっと|ずっと|多分|たぶん|わあ|あ、|え、|ねえ|でも|だから|やっぱり|今(?![はも後年月週])|この|その|あの|それ|これ|変だ|あれ|直前)|さっき|たった今|ところです|見つかった|動きました|動いた|再起動|ここに|ここで|"
    r"変わらない|わからない|見つから|みたい。?$|っぽい|かもしれ|でもない|を[!！]$|良い週末|分で戻|し忘れ|サンキュー|これで",
)
# A short statement has to be about somebody or something: a person, a copula, a topic, a number, a name.
_LEAST_CHARS = 12
_ANCHORED = re.compile(
    r"\b(?:i|we|my|our|is|are)\b|\d|[a-z]{2,}\d*[\u3041-\u9fff]|[\u3041-\u9fff] ?[a-z]{2,}|我|是|用户|客户|です|は|.{7}[了。]$"
)
# What somebody asks to be remembered is kept, however it is put.
_WANTED = _FOR[0][0]
_STATEMENT = "a statement of fact"


def rate(text: str) -> Rating:
    """Return the rating of `text` as one candidate for memory.

    A turn ("Name: text") is rated by what is said. The bounds are 1 and 10.
    """
    turn = read_turn(text)
    # "ValueError: ..." is no turn of somebody called ValueError.
    said = fold(text if _FAULT.search(turn.speaker or "") else turn.said).replace("\u2019", "'").strip()
    length = len(said)
    if length > _LOOKED_AT_CHARS:
        said = f"{said[:_LOOKED_AT_CHARS]} {said[-_LONG_CHARS:]}"
    if not re.search(r"\w", said):
        return Rating(1.0, "it says nothing")
    reasons = [name for name, pattern in _FOR if pattern.search(said)]
    doubts = [] if _WANTED in reasons else [name for name, pattern in _AGAINST if pattern.search(said)]
    if not reasons and not doubts:
        if _PASSING.search(said):
            doubts.append("of the moment")
        elif len(said) >= _LEAST_CHARS or _ANCHORED.search(said):
            reasons.append(_STATEMENT)
    value = _BASE
    if reasons:
        value += _FIRST_REASON + _FURTHER_REASON * (len(reasons) - 1)
        if _DATED.search(said):
            value += _FURTHER_REASON
            reasons.append("a date")
        if _WANTED in reasons:
            value += 2 * _FURTHER_REASON
    # A long text that begins with a greeting or ends with a question is more than that.
    value -= sum(_DOUBT if length <= _LONG_CHARS else _DOUBT / 4 for _ in doubts)
    told = reasons + [f"but {name}" if reasons else name for name in doubts]
    return Rating(max(1.0, min(10.0, value)), ", ".join(told) or "it says too little")
