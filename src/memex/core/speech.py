"""What somebody does by saying a sentence, as far as it passes: in English, Chinese and Japanese.

`doubts` are acts that hold nothing to remember, however it is put: small talk, a question, a request
for one thing now, an error of the moment, what an assistant says about itself. `passes` tells of
sentences about the moment: a state of somebody, an event that is over, the weather, an exclamation.
The signs are those of mood and aspect (a final question particle, an order with one object, a
progressive, a past tense), with lists of words where a language has no form for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .fold import canonical

__all__ = ["ERROR", "QUESTION", "REQUEST", "SMALL_TALK", "Signs", "doubts", "passes", "without_opener"]

SMALL_TALK = "small talk"
QUESTION = "question"
ERROR = "error of the moment"
REQUEST = "request of the moment"

_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")


class Signs:
    """Patterns of three languages: one with kana is tried on Japanese, one with Han only on Chinese, others on all.

    They are spelled as `fold` spells the text that they are tried on. Without kana a text may be either.
    """

    def __init__(self, *patterns: str) -> None:
        """Sort and compile the patterns."""
        self._japanese = _either(p for p in patterns if _KANA.search(p))
        self._chinese = _either(p for p in patterns if _HAN.search(p) and not _KANA.search(p))
        self._all = _either(p for p in patterns if not _HAN.search(p) and not _KANA.search(p))

    def search(self, said: str) -> re.Match[str] | None:
        """Return the first match of any pattern that is meant for the language of `said`."""
        found = self._all.search(said)
        if found or said.isascii():
            return found
        if _KANA.search(said):
            return self._japanese.search(said)
        return self._chinese.search(said) or self._japanese.search(said)


def _either(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(canonical, patterns)) or r"(?!)")


_OPENER = Signs(
    r"^(?:oh|ah|um+|well|alright|all right|right)?[,. ]*(?:hi|hello|hey|yo|what's up|good (?:morning|evening|night|"
    r"afternoon|day|job|one)|bye|see you|talk to you|thanks?|thank you|thx|cheers|much appreciated|ok|okay|k|yes|"
    r"no(?! \w)|yep|"
    r"yeah|nope|sure|great|perfect|nice|cool|fine|awesome|excellent|brilliant|lovely|got it|i see|i understand|"
    r"understood|"
    r"sounds good|makes sense|well done|no problem|no worries|you are welcome|you're welcome|sorry|haha\w*|ha|heh|"
    r"lol|morning|evening|wow|hm+|exactly|"
    r"never ?mind|one (?:moment|sec\w*)|of course|agreed|done|oh|oops|ah|alright|all good|good (?:to know|point|idea)|"
    r"happy (?:to help|new year|(?:mon|tues|wednes|thurs|fri|satur|sun)day|birthday|holidays)|congrat\w*|welcome back|"
    r"have a (?:good|nice|great|safe)|take care|my pleasure|lgtm|np|ty|brb|noted|roger|certainly|absolutely)\b",
    r"^(?:哦|啊|嗯|呃|唉|那|哈)?[, ]*(?:大家|各位)?(?:你好|您好|嗨|哈喽|在吗|早上好|早安|早$|下午好|晚上好|晚安|再见|"
    r"拜拜|回头见|明天见|谢谢|谢[了啦]|多谢|"
    r"感谢|(?:太|非常|十分|实在)(?:感谢|抱歉)|辛苦|好的|好吧|好滴|好嘞|好,|好$|好。|行,|行$|行。|可以,|可以$|可以。|"
    r"嗯+|是的|对[,啊呀]|对$|对。|没错|没关系|没事|"
    r"没问题|不客气|收到|明白|知道了|懂了|我懂|了解|原来如此|太好了|太棒|真快|真棒|完美|干得漂亮|不错|厉害|哈哈|笑死|"
    r"抱歉|对不起|不好意思|"
    r"等一下|等等|稍等|继续|唔|哦|算了|搞定|完成了|好了|这正是|加油|恭喜|祝你|祝您|欢迎|有道理|说得(?:对|好|有理|"
    r"没错)|先这样|下次(?:聊|见)|ok)",
    r"^(?:ああ|あ、|えっと|うん、|よし|では)?[、, ]*(?:こんにちは|こんばんは|おはよう|おやすみ|やあ|元気|ではまた|"
    r"じゃあ|またね|また明日|また後|"
    r"さようなら|ありがと|本当にありがと|どうも|助かり|助かる|お疲れ|はい|いいえ|いいね|うん|うーん|了解|承知|"
    r"わかりました|わかった|分かりました|分かった|"
    r"なるほど|そうです|そうか|そういうこと|そうそう|そうだね|いいです|それでいい|やった|すごい|さすが|素晴らしい|"
    r"完璧|早い|大丈夫|問題ない|"
    r"どういたしまして|すみません|ごめん|申し訳|よくでき|ちょっと待|少々|続けて|笑|w+$|まさに|よし|いや、|終わった|"
    r"できた|完了|おめでと|よろしく|久しぶり|お久し|いってき|は{2,}|ふふ|へへ|もちろん|ただいま|おかえり|ok)",
)
_OPENING = re.compile(r"[^,.!:;。、 ]*[,.!:;。、 ]+")
_REMARK = Signs(
    r"^(?:that|it)(?:'s| is| was| looks| sounds) \S+(?: \S+){0,6}[.!]*$",
    r"^(?:what an? |how (?!to\b)\w+!)",
)
_STANDING_EN = (
    r"\b(?:every|each|always|never|any time|from now on|daily|weekly|whenever|by default|before|unless|all|in future)\b"
)
_STANDING_ZH = r"每次|每当|每个|以后|今后|一律|总是|永远|都[要用是放写]|不要|别|统一|默认|始终|所有"
_STANDING_JA = (
    r"いつも|必ず|今後|これから|毎回|常に|以後|すべて|全て|全部|ときは|時は|場合は|際は|たびに|ないで|には|では|"
    r"は.{0,24}(?:で|に|を|と)|呼んで|覚え|忘れ|まえに|前には"
)
_ONE = (
    r"(?:me|us|it|him|her|them|an?|the|this|that|these|those|my|your|one|two|three|four|five|six|ten|\d+|some|"
    r"another|more|again|both)"
)
_DOUBTS: tuple[tuple[str, Signs], ...] = (
    (
        QUESTION,
        Signs(
            r"\?[\s\"')]*$",
            r"^(?:(?:and|but|so|ok|also|hey),? )?(?:(?:what|how|why|when|where|which|who|whose)(?! i (?:want|need|"
            r"care|value|like))|can (?:you|we|i)|"
            r"could (?:you|we|i)|would you|will you|do (?:you|we|i)|does|did|is (?:there|it|this|that)|are (?:there|"
            r"you|we|they)|should (?:i|we)|any (?:idea|chance|tips|news|luck)|i wonder|wondering)\b",
            r"(?:吗|呢|么)[。!]?$|^(?:什么|怎么|为什么|为啥|哪|能不能|可不可以|有没有|是不是|请问|多少|谁|能否|可否|"
            r"如何|咋)|^[^,。]{0,12}(?:怎么[^样]|为什么|是什么|有什么|哪[个里些]|多少|几点|谁)[^,。]*$|什么意思",
            r"(?:ですか|ますか|でしょうか|ませんか|のか|かな|なの|だっけ|ましたか|でしたか|たっけ|かしら)[。!]?$|"
            r"^(?:なぜ|なんで|どうして|どこ|誰|何か|どの|どれ|どっち|どちら|いつ(?!も)|どうすれば|何[がをで])",
        ),
    ),
    (
        "an assistant about itself",
        Signs(
            r"\bas an? (?:ai\b|language model|large language|assistant)|^(?:here(?:'s| is| are) (?:the|an?|your|some|"
            r"my|what)\b|let me know|feel free|i hope this|"
            r"i apologi[sz]e|i'm (?:here to|happy to|glad|sorry)|i can (?:help|certainly)|i've (?:updated|fixed|"
            r"added|made|created|"
            r"written|rewritten|changed|removed)|i have (?:updated|fixed|added|created|rewritten)|below is|step \d|"
            r"first, let|hope (?:this|that) helps|anything else|glad (?:i|to|that)|if you (?:have|need|want|would like|"
            r"run into))\b|\bgreat question\b",
            r"(?:作为|我是)(?:一个|一名|一款|您的|你的)?(?:人工智能|ai|语言模型|助手|机器人|虚拟)|^(?:以下是|下面是|"
            r"这是(?:修改|更新|为您|为你)|希望(?:这|对您|对你|能帮)|需要我|.{1,12}的话,?请|如果(?:您|你|还)|如有|"
            r"您(?:可以|好)|我(?:可以|能|会)(?:帮|为)(?:您|你)|我已(?:经)?(?:为您|为你|帮)|已(?:经)?(?:为您|为你|"
            r"帮您|帮你)|很(?:高兴|乐意|抱歉)|请问|"
            r"请随时|随时.{0,4}(?:告诉|联系|提问|问我)|让我们一?步)|(?:帮到你|帮到您|为您服务|给您带来|"
            r"这个问题(?:问得)?(?:很|真)?好)",
            r"^(?:以下(?:は|の|が)|こちらが|aiなので|aiとして|言語モデル|お役に立て|ご不明|ご質問|お気軽|"
            r"他にも?(?:ご|何か)|ほかに(?:ご|何か)|もし(?:ご|よろし)|.{0,12}よろしければ|"
            r"喜んで|かしこまり)|ご不便|お役に立て|お気軽に|いい質問|良い質問|お手伝い(?:でき|します|しましょ)|"
            r"ご(?:連絡|質問|相談)ください|いたしました[。!]?$",
        ),
    ),
    (
        "what was said in passing",
        Signs(
            r"^(?:the )?user(?:'s)? (?:has |just |is |was )*(?:ask(?:ed|s|ing)? (?!to be |me to (?:always|never)|"
            r"that |not )|request(?:s|ed|ing)? (?!that |to be )|inquir\w+|wonder\w*|"
            r"greet\w*|thank\w*|said (?:hi|hello|thanks|goodbye|bye|ok)|says (?:hi|hello|thanks|goodbye|bye|ok)|"
            r"wants? to (?:know|see)|"
            r"acknowledg\w+|apologi[sz]\w+|express(?:ed|es) (?:thanks|gratitude|satisfaction|frustration))",
            r"^用户(?:刚刚?|正在|又|再次|想|向.{1,4})?(?:请求|询问|提问|问|想知道|问好|打了?个?招呼|表示?(?:感谢|"
            r"同意|满意|抱歉|歉意)|道谢|道歉|致谢|感谢|确认收到|"
            r"(?:要求|让|请)(?:助手|我|ai)?(?:把|将|帮|翻译|写|生成|解释|总结|修改|运行|列出))",
            r"^ユーザー[はがも].{0,24}?(?:依頼し|求めた|求めて|質問し|尋ね|聞いた|聞いて|挨拶|あいさつ|感謝し|感謝を|"
            r"お礼|礼を言|頼んだ|頼んで|謝った|謝罪|同意し)",
        ),
    ),
    (
        "advice",
        Signs(
            r"^(?:\w+, )?you(?:'re| are| got| can| could| may| might| will|'ll|'ve|'d| have| did| look| sound|"
            r" deserve| make| inspire)\b(?!.{0,60}" + _STANDING_EN + r")|"
            r"^(?:keep (?:it up|me posted|going|pushing|up|doing|on|at it|rocking|fighting|smiling|me updated)|"
            r"don't (?:give up|worry|let|forget to (?:have|take|enjoy)|stop|be)|"
            r"never (?:give up|stop|mind)|always here|loved? (?:that|this|to|it|the)|"
            r"enjoy(?:ed)?(?: yourself)?(?: (?:it|your|the))?|hope (?:you|it|they|that)|believe in|stay (?:strong|"
            r"focused|positive|safe|tuned)|good luck|go for it|hang in there|cheer up)\b|"
            r"(?:^|\b(?:it|that|you|she|he|they|so) )must (?:be|feel|have (?:been|felt)) \w+|\bkeep up the\b",
            r"^[^,。我]{0,6},?(?:你|您)(?:也|还|就)?(?:可以|应该|会|能|得|说|提到|尽|最好|试|不妨|需要|真|一定|肯定|"
            r"的(?:建议|想法|看法|话|心情|感受))(?!.{0,20}(?:" + _STANDING_ZH + r"))|"
            r"^(?:祝|愿|希望)(?:你|您)(?!.{0,8}(?:叫|用|回答|回复|记|别|不要))|(?:谢谢|感谢)(?:你|您)|不妨|建议(?:你|"
            r"您)",
            r"(?:ほうがいい|方がいい|といい|とよい|てみては)(?:です)?(?:よ|かも\S*|と思い\S*)[。!]?$|頑張って|"
            r"がんばって|無理しないで|(?:体|からだ|帰り|道中).{0,6}気をつけて",
        ),
    ),
    (
        ERROR,
        Signs(
            r"traceback|[a-z]\w*(?:error|exception)\b(?! (?:is|are|means|codes?|handling))|\bgot an? \w*(?:error|"
            r"exception)\b|segfault|\bexit(?:ed with)? code\b|\bwith code \d|npm err|stack trace|"
            r"\bline \d+\b|\b(?:crashe[sd]|hangs|froze|refused|timed out|null pointer|core dump\w*|out of memory|"
            r"oom)\b|breakpoint|\breturn(?:s|ed) \d{3}\b|"
            r"\b(?:fail(?:s|ed)|broke) (?:with|again|on)\b|\bat this point\b|\b(?:it|console|terminal|log|compiler|"
            r"linter) (?:prints|outputs|shows|says|gives|returns|complains)\b|\b(?:got|gave|gives|getting|get|with|"
            r"throws|returning) (?:an? |the )?[45]\d\d\b|^[45]\d\d [a-z]|\b(?:wrong password|permission denied|"
            r"not found|access denied)\b|"
            r"\bexpected \S+(?: \S+)? but (?:got|was|received|found)\b|\b(?:stuck|hanging) (?:at|on|in)\b|"
            r"\b(?:looks?|is|are|seems?|keeps?) (?:\w+ )?(?:broken|slow|slowly|failing|crashing|down|stuck|missing|"
            r"odd|strange|weird|wrong|empty|"
            r"red again|green again)\b|\b(?:tests?|builds?|ci|pipelines?|main) (?:is|are) (?:\w+ )?red\b|"
            r"\b(?:loading|missing|undefined|syntax error|red underline|spinner|console|"
            r"same (?:error|result|issue|problem)|"
            r"doesn't (?:compile|work|start|run|load|build)|won't (?:compile|start|run|load|build)|nothing happens)\b|"
            r"^the (?:log|output|screen|page|terminal|button|test|build|window|cursor)s?\b(?!.{0,50}\b(?:always|must|"
            r"should|every))",
            r"报错(?!统一|格式|码表)|报了?个?[^,。]{0,16}(?:错误|refused|error|exception|not found|timeout)|"
            r"报了?个?错$|段错误|崩溃了?|崩了|挂了|第 ?\d+ ?行|退出码|空指针|"
            r"(?:构建|编译|测试|请求|连接|部署|启动|流水线).{0,3}(?:失败|被拒|超时|不过|没过)|(?:返回?|报|"
            r"弹)了?个?(?:一个)? ?[1-5]\d\d(?!\d)|"
            r"断点|打印|输出(?:是|了|为)|卡住|卡死|卡在|乱了|乱码|很慢|太慢|少了|多了一个|不见了|没反应|出错|没反应|"
            r"(?:编译|跑|装|连|登录|加载|打)不[过上了出动开]|"
            r"一样的(?:错误|问题|结果)|同样的(?:错误|问题|结果)|转圈|日志里|日志显示|控制台|屏幕上|内存(?:溢出|泄漏|"
            r"不足)|期望.{1,10}(?:实际|得到)|"
            r"(?:页面|界面|屏幕|按钮|光标|窗口|终端)[^,。]{0,6}(?:会|在|又|闪|不|没|空|白|灰|变)|^(?:页面|界面|屏幕|"
            r"按钮|光标|窗口|终端)|死循环|(?:有(?:个)?|修) ?bug|[a-z]+(?:error|exception)(?![a-z])",
            r"\d+ ?行目|終了コード|例外(?:が|で)|落ちた|落ちる|落ちて|返ってき|返ってこ|ブレークポイント|エラーが|"
            r"エラーに|エラーで|表示され|出力され|足りない|崩れて|遅い。?$|"
            r"が遅い|拒否され|固まっ|止まって|止まった|文字化け|失敗した|失敗しま|失敗して|抜けて|動かない|動かなく|"
            r"通らない|同じ(?:エラー|結果|問題)|くるくる|ログに|"
            r"コンソール|^(?:カーソル|スタックトレース|画面|ページ|ボタン|出力|ターミナル)|期待値|ヌル|ぬるぽ|"
            r"[45]\d\d(?:を|が|で)(?:返|もらっ|出)|バグ(?:が|っぽ|って|だ|です)|クラッシュ|タイムアウトし|"
            r"(?<![a-z])[a-z]+(?:error|exception)(?![a-z])|と出る|と出た|って出る",
        ),
    ),
    (
        REQUEST,
        Signs(
            r"^(?:please |now |then |ok(?:ay)?,? |and |just |also |can you |could you )?(?:show|run|fix|translate|"
            r"rewrite|try|open|close|print|list|add|remove|delete|"
            r"check|explain|summari[sz]e|continue|go(?= (?:on|ahead|back|to|through)|$|[.!])|stop|retry|repeat|"
            r"generate|give|tell|help|rename|undo|redo|revert|move|copy|"
            r"change|update|create|make|find|search|look|read|compare|convert|replace|restart|install|insert|draw|"
            r"draft|wait|hold|have a|paste|"
            r"scroll|click|skip|sort|format|refactor|merge|bump|debug|describe|proofread|shorten|suggest|recommend|"
            r"brainstorm|calculate|walk me|play|skip|dim|translate|count|"
            r"let me|let's(?! (?:use|standardi[sz]e|stick|go with|keep|adopt|always|never|agree))|keep going|"
            r"i want you to|i need you to|i'd like you to)\b(?!.{0,60}" + _STANDING_EN + r")",
            # An order with one object, whatever the verb: "Draw me a ...", "Put it in ...".
            r"^(?:please |now |then |and )?(?!i\b|we\b|he\b|she\b|they\b|you\b|it\b|use\b|keep\b|call\b|avoid\b|"
            r"prefer\b|respect\b|treat\b|follow\b|address\b|"
            r"(?:is|are|in|on|at|for|of|to|from|with|by|under|all|both|not|no|nor|as|after|before|since|until|"
            r"because|if|when|while|that|this|only|"
            r"uses|has|says|owns|runs|needs|likes|loves|hates|prefers|wants|drinks|eats|works|lives|speaks|takes|"
            r"plays|never|always|remember)\b)"
            r"(?:write|put|turn|pick|name|count|solve|guess|plan|prepare|book|order|send|e-?mail|post|set|build|test|"
            r"deploy|push|pull|commit|"
            r"ping|say|think|ask|wrap|split|join|cut|trim|extract|filter|parse|plot|fill|drop|switch|start|finish|"
            r"clean|clear|swap|download|upload|"
            r"define|outline|review|polish|expand|simplify|reword|rephrase|edit|correct|save|load|log|highlight|"
            r"export|import|bring|do|get|take|work) (?:\w+ )?" + _ONE + r"\b(?!.{0,60}" + _STANDING_EN + r")",
            r"^(?:fix|feat|chore|docs|refactor|style|perf|build|ci|revert)(?:\([^)]*\))?!?: |^wip\b",
            r"^(?:i'll|i will|i am going to|i'm going to|i'm (?:restarting|checking|trying|looking|running|reading|"
            r"testing))\b",
            r"^(?:请|麻烦|那|你|先|现在|接着|然后)?(?:你)?(?:帮我|帮忙|替我|再.{0,4}[一两三][次遍下]|把.{1,30}|"
            r"将.{1,30}(?:改|换|译|转)|加上|加个|加一|继续|我?再[试跑看]|我?(?:先)?看一?[下看]|运行|"
            r"撤销|给我|给.{1,8}(?:起|取|写|画|发|想|编)(?!.{0,16}要)|换个|试试|试一下|改一下|改成|删掉|打开|关掉|"
            r"举个|解释|翻译|列出|列一|查一下|查查|搜一下|搜|在.{1,12}(?:加|插入|删)|移到|粘贴|我来|我把|"
            r"我去(?!年)|让我|再.{1,3}一?点|把|起草|拟一|写(?:一|个|首|封|段|篇|份)|生成|画一|画个|做一|做个|推荐|"
            r"放[一点首个段]|播放?[一首]|来[一点首个段]|数一?数|讲讲|讲[一个]|补[一上个]|听听|说说|介绍|对比一?下?|"
            r"比较一下|优化一?下|润色|"
            r"改写|重写|重构一?下|整理一?下|检查|分析|总结一|总结下|总结上|总结这|概括|计算|算一|想[一几]个|安排一|"
            r"规划一|跑一|看一)(?!.{0,30}(?:" + _STANDING_ZH + r"))",
            r"^(?:修复|合并|更新|新增|调整|优化|重构|删除|移除|升级|修正|补充)[^,。]{1,40}$",
            r"^[^我,]*(?:短|长|大|小|快|慢|简单|详细|具体|正式|口语|礼貌)一?[点些](?:儿|吧)?[。!]?$|"
            r"再.{1,6}(?:一?[点些]|一下)(?:儿|吧)?[。!]?$|^(?!.*(?:" + _STANDING_ZH + r"|每)).*(?:一下|一遍|一次|"
            r"看看|试试)吧?[。!]?$",
            r"^(?!.*(?:" + _STANDING_JA + r")).*(?:[^はも]て|[んい]で|て(?:ください|下さい|くれ|くれる|もらえる|みて|"
            r"よ|ね)|お願い(?:します)?|ちょうだい|頂戴|頼む|頼みます|よろしく|(?:見せ|直し|教え)て)[。!]*$",
            r"(?:もっと|もう少し|もう一度|もう一回|この|その|上の|下の|さっきの|今の|以下の|"
            r"[一二三四五六七八九十\d]+(?:つ|個|行|文)(?!以内|まで)).{0,24}(?:て|で)(?:ください|下さい|くれ|ほしい|"
            r"ね|よ)?[。!]*$",
            r"(?:みよう|しよう|ましょう|ておきます|ておくね|ておく|貼ります|戻ります|やります|いこう|いきます|"
            r"てみ(?:る|ます)(?:ね|よ)?)[。!]?$|^もっと|(?:もう少し|もっと|ちょっと).{1,10}[くに][。!]?$|"
            r"しているところ",
            r"(?:を(?:修正|追加|削除|更新|変更|改善|整理)|に(?:マージ|リネーム|変更|対応)|のマージ|"
            r"を \S+ に(?:上げる|下げる|更新|変更))[。]?$",
        ),
    ),
)
# What tells of this very moment; it counts only where no rule speaks for the text.
_PASSING = Signs(
    # English: adverbs of the moment, pronouns that point at what is there, moods of guessing.
    r"\b(?:just (?!one)|again|right now|just now|at the moment|for now|still|already|finally|a (?:sec|second|moment)|"
    r"this time|today|tonight|"
    r"this (?:morning|afternoon|evening|weekend)|yesterday|last night|in a (?:minute|bit|while)|later|soon)\b|^now\b|"
    r"^(?:this|that|it|these|those|they|there|here)(?:'s| )(?!(?:project|repo|repository|codebase|team|company|"
    r"service|app|product|house)\b)|\bi (?:got|tried|found|fixed|see|mean|meant|think|guess|wonder|forgot|hope|"
    r"suppose|bet|doubt|feel|understand|agree)\b|\b(?:could|might|may) be\b|\bmaybe\b|"
    r"^(?:ah|oh|wow|hey|hm+|not|same|back|almost|and|but|so|any|anyway|probably|perhaps|looks like|seems|feels)\b|"
    r"\b(?:in|for) (?:a|five|ten|two) min|"
    r"\b(?:that|this) (?:one|line|file|function|error|test|bug|thing|tab|page|code|approach|idea|article|movie|song)\b|"
    r"\byour? (?:answer|reply|suggestion|code|last|previous|message)\b|\byou (?:gave|said|sent|wrote|told|mentioned|"
    r"suggested)\b",
    # A state or an activity of somebody who will be done with it.
    r"\b(?:i'm|i am|we're|we are|i feel|feeling|so|user is) (?:\w+ )?(?:on it|tired|exhausted|sleepy|hungry|thirsty|"
    r"bored|busy|stressed|sick|ill|cold|hot|happy|sad|"
    r"angry|upset|excited|nervous|confused|lost|stuck|late|early|asleep|awake|ready|back|here|home|done|awake|fine|"
    r"good|ok|okay|sure|curious|sorry|glad|"
    r"worried|frustrated|annoyed|free|away|offline|online|drained|grumpy|in the mood|about to|off to|out (?:for|of)|"
    r"on (?:my way|the (?:bus|train|phone|way)|a call))\b|"
    r"\b(?:i've|i have|i got|got) (?:an?|the|no) (?:\w+ )?(?:headache|cold|cough|fever|hangover|flu|stomach ?ache|"
    r"sore throat|call|idea|hunch|minute)\b|\bmy \w+ (?:hurts?|aches?|is (?:killing|sore|itching))\b|"
    r"\b(?:i'm|i am|we're|we are) (?:\w+ly |just |still |now )?(?!learning|studying|training|saving|planning|working|"
    r"living|building|migrating|moving|expecting|raising|writing|"
    r"renovating|preparing|allergic|standardi\w+|adopting|renting|switching|applying|retiring|getting (?:married|"
    r"divorced)|rolling)\w+ing\b",
    r"\buser is (?:\w+ly |just |now )?(?:waiting|trying|debugging|testing|checking|looking (?:at|into)|asking|"
    r"running|having|fixing|reading|eating|thinking)\b",
    # Something else goes on just now.
    r"\b(?:is|are|keeps?) (?:\w+ly )?(?:complain|load|run|build|compil|wait|work|mak|ring|bark|cry|play|happen|show|"
    r"throw|flicker|blink|go)\w*ing\b",
    # The weather.
    r"\b(?:weather|rain(?:s|ing|y)?|snow(?:s|ing|y)?|sunny|cloudy|windy|foggy|chilly|humid|freezing|storm\w*|sunset|"
    r"sunrise|heat ?wave)\b",
    # An event that is over.
    r"^(?:[\w', -]{1,40}? )?(?:i|we|he|she|they|it|you|user|(?:the|my|our|this) (?:\S+ )?\S+) (?:just |"
    r"\w+ly )?(?!need|used to|prefer|want|called|named|based)"
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bget )(?<!\bgets )(?:\w{2,}(?<!ne)(?<!spe)(?<!fe)ed(?! (?:\w+ ){1,2}(?:is|"
    r"are|has|lives?)\b)|was|were|had|went|came|took|saw|ran|ate|slept|forgot|spent|lost|won|did|made|heard|felt|"
    r"woke|watched|gave|got|sent|wrote|said|told|met|fell|hit|broke|drank|caught|paid|put|read)\b",
    # Nobody is named, somebody is spoken to, or something went wrong by chance.
    r"^(?:been|gonna|can't|cannot|couldn't|won't|haven't|hasn't|didn't|hope|hoping|glad|excited|looking|trying|"
    r"having|thinking|getting|got|guess|wish|"
    r"wishing|love to|would love|happy|sad|too|such|true|totally|always here|need|needs|seems?|sounds?|feels?|must|"
    r"should|enjoy\b.*!|let)\b|\byour?\b|"
    r"\bi(?:'ve| have) (?:attached|pasted|included|uploaded|sent|updated|listed|just)\b|\b(?:see|listed|shown|"
    r"attached|pasted) (?:above|below)\b|\b(?:above|below)[.!]?$|"
    r"\b(?:accidentally|by (?:mistake|accident)|mistakenly|unfortunately|luckily|hopefully|apparently|obviously)\b|"
    r"\b(?:is|are|was|were|'s) (?:\w+ )?(?:late|delayed|gone|dead|over|full|awful|terrible|boring|hilarious|amazing|"
    r"lovely|beautiful|great|cute|crazy|ridiculous)\b|"
    r"\bcan't (?:figure|seem|tell|understand|log|find|open|see|get|connect|reach|access|wait|believe|tell|remember|"
    r"install|build)\b|!$",
    # Chinese
    r"又|目前|^(?:刚|刚刚|现在(?!(?:还|已经|都|主要)?(?:改?用|使用|换|住|是|叫|归|由|负责|采用|属于|跑在|部署在|放在|"
    r"在.{1,10}(?:工作|上班|读)))|这(?!个?(?:项目|仓库|服务|团队|公司|产品|系统|环境|家))|那|它|奇怪|怎么|还是|还没|"
    r"还有|可能|也许|大概|应该|好像|似乎|看来|看样子|哇|啊|哎|唉|不太|不行|不对|差点|差不多|再|周末|祝|感觉|"
    r"难怪|果然|终于|居然|竟然|突然|估计|总算|有点|有些|不过|但是?|所以|然后|随便|都行|都可以|无所谓|真的?|太|"
    r"好(?:累|困|饿|热|冷|烦|想|无聊|多|大|美|漂亮)|多(?:么|好))|愉快|快乐|兄弟|"
    r"分钟后|小时后|忘了保存|本地|刚才|刚刚|现在(?!(?:还|已经|都|主要)?(?:改?用|使用|换|住|是|叫|归|由|负责|采用|"
    r"属于|跑在|部署在|放在|在.{1,10}(?:工作|上班|读)))|正(?:准备|要|打算|想)(?!.{0,4}(?:考|买|结婚|备))|"
    r"正在(?![学攒备减]|准备|找(?:工作|房)|装修|考虑|读|做|开发|迁移|写(?:书|论文))|这里|这个(?!项目|仓库|服务|团队|"
    r"公司|产品|系统|环境|家)|那个(?![。]?$)|这行|这段|这次|这样|那样|这么|那么|一下[。!]?$|看看|试试|没变|我刚|"
    r"我找到|能跑|通过的|"
    r"今天|今晚|今早|今儿|昨天|昨晚|昨夜|待会|等会|一会儿|晚点|回头|马上|等下|暂时|先(?:去|试|看|吃|忙|睡|走|这)|"
    r"我(?:觉得|感觉|猜|想想|以为|估计|怀疑|希望|忘了|看到|发现|明白)|(?:我|用户)[^,。]{0,4}(?:有点|好|很|太|真|挺|"
    r"特别|非常)(?:累|困|饿|渴|烦|冷|热|疼|痛|晕|忙|开心|高兴|难过|生气|郁闷|无聊|紧张|焦虑|着急|不舒服|难受|崩溃|"
    r"想哭)|"
    r"(?:头|肚子|胃|嗓子|腰|腿|眼睛|牙)[^,。]{0,4}(?:疼|痛|酸|不舒服|难受)|(?:累|困|饿|烦|冷|热|渴|卡|慢|急)(?:死|坏|"
    r"得|啊|了)|感冒|发烧|没睡好|"
    r"(?:我|咱们?|我们|用户)?(?:正|还)?在(?:等|看|吃|开会|跑(?!在)|排队|路上|想|忙|调|查|试|写(?!.{0,6}(?:书|小说|"
    r"论文))|弄|搞|改|编译|下载|重启|喝|洗|做饭|睡|堵|接|听|加班|打)|"
    r"(?:你|您)(?!可以(?:叫|称呼))|请(?:查收|查看|过目|稍|放心)|附在|如[下上]|见[下上]|^(?:我|咱|他|她|大家)也(?:是|"
    r"一样|觉得|不知道|这么)|[吧啊呢](?:,|$)|不小心|忘记|"
    r"(?:晚|误|延误)点|半天|没动静|告警|密码(?:不对|错误)|[一-龥][不没](?:上去|出来|下来|过去|进去|了手|见了|懂|动了|"
    r"通|清楚|到$)|给我(?:返|报|弹|来)|天气|下雨|下雪|大雨|雷阵雨|刮风|晴天|阴天|太阳|雾霾|降温|升温|夕阳|晚霞|月亮",
    # the event is over (了 at the end) and has not changed what holds, or the speaker's feeling is what counts
    r"^(?!.*(?:升级|改|换|迁移?|调整?|推迟|提前|搬)(?:到|成|为)).*(?:了|过)(?:[。!~]+|$|,(?=[^,]{0,12}$))|"
    r"(?:啊|呀|哇|哦|嘛|吧|啦|咯|哈|呗|喽)[。!~]*$|[!~]$",
    # Japanese
    r"また(?!は|が|い)|^(?:まだ|もっと|ずっと|多分|たぶん|わあ|うわ|あ、|え、|へえ|ねえ|でも|だから|やっぱり|"
    r"とりあえず|なんか|どうやら|やっと|ついに|今(?![はも後年月週])|この(?!プロジェクト|リポジトリ|チーム|会社|"
    r"サービス|アプリ|環境|家|国|製品)|その|あの|それ|これ|変だ|あれ|直前)|"
    r"(?:て|で)(?:くる|きます)(?:ね|わ|よ)?[。!]*$|さっき|たった今|ところです|見つかった|動きました|動いた|再起動|"
    r"ここに|ここで|こちら|そちら|そこ(?:で|に|は)|今日|今夜|今朝|昨日|昨夜|ゆうべ|あとで|後で|のあと|これから(?!は)|"
    r"今のところ|今回|"
    r"変わらない|わからない|分からない|見つから|みたい。?$|っぽい|かもしれ|かも。?$|でもない|でもいい|を[!！]$|"
    r"週末を|良い週末|よい週末|分で戻|し忘れ|サンキュー|これで|気がする|と思う|と思います|だろう|でしょう|"
    r"今(?!.{0,20}(?:使って|住んで|開発|運用|勤め|働い|担当|採用)).{0,16}(?:ところ|てる|てい|で[いる]|重|遅|忙)|"
    r"(?<!療養)(?<!育休)(?<!休職)(?<!留学)(?<!妊娠)(?<!募集)(?<!凍結)(?<!減塩)(?<!勉強)中(?:です|だ)?。?$|"
    r"(?:待っ|食べ|見|調べ|考え|走っ|向かっ|帰っ|休ん|寝|出かけ|回っ|コンパイルし|ビルドし|確認し|試し|読ん|直し|"
    r"迷っ|困っ|疲れ|急い|作業し|デバッグし|テストし|並ん|移動し)[てで](?:い?る|い?ます|います)|"
    r"疲れ|眠い|眠く|眠たい|お腹(?:が)?(?:す|空|減)|空腹|だるい|しんどい|寒い|暑い|忙しい|退屈|暇(?:だ|です|。|$)|"
    r"嬉しい|うれしい|悲しい|楽しかっ|楽しみ|[頭腹喉腰足歯胃目](?:が|も)?(?:少し|ちょっと)?痛|"
    r"風邪|熱がある|緊張|イライラ|気分|ストレス|電車が|遅れて|遅れた|だらけ|進まない|終わらない|違う(?:よう|みたい|"
    r"って)|できない[。!]?$|消えて|うっかり|間違えて|ご[一-龥]{1,3}(?:ください|下さい|願い|いただけ)|お納め|添付|"
    r"土砂降り|日和|下に貼|あなた|君[はがのも]|天気|雨|雪|晴れ|曇り|台風|夕焼け|冷える|冷え込|蒸し暑",
    # What happens (が, を) and no topic (は) that something holds of.
    r"^(?!.*(?:は|も|です|である|という|といい|なら|だ。?$|で、|ので|ため|から|について|以上|以下|以内|まで)).*(?:が|"
    r"を(?!.*(?:て|で)(?:い(?:る|ます)|おり|ある|あります)[。]?$)).*[^、]$",
    # past tense and feelings at the end of a sentence
    r"(?:た|だった|でした|ました|ったよ)(?:ね|よ|な|わ|けど|が|んだ|んです|のに)*[。!~]*$|(?:ね|なあ|なー|わ|ぞ|さ|"
    r"けど|んだけど|のに)[。!~]*$|(?<!派|要)(?:だな|な)[。!]*$|[!~]$",
)

# An English sentence that states something has a subject and, in the present, a verb.
_FINITE = re.compile(
    r"\b(?:i|we|they|you)(?:'ve|'d)? (?:\w+ly |also |only |never |always |all |both )?(?!can't|couldn't|cannot|"
    r"will)\w+|\bi'm\b|\bwe're\b|"
    r"(?:^|[,:;(] ?)(?:[^\s,:;]+ ){1,7}?(?:is|are|isn't|aren't|has|have|must|should|will|may|can|gets?|does(?:n't)?|"
    r"don't|[a-z]{2,}[^su\W]s)\b|\w's (?!go\b)|[:=]|\bmy\b|\bour\b|^[a-z]{3,}(?<!s)s (?!on\b|in\b)\w+|^(?:for|in|on|"
    r"at) .*, \w+"
)


def doubts(said: str) -> list[str]:
    """Return what a folded sentence does that is nothing to remember."""
    found = [name for name, pattern in _DOUBTS if pattern.search(said)]
    if _OPENER.search(said) or _REMARK.search(said):
        found.insert(0, SMALL_TALK)
    return found


def passes(said: str) -> bool:
    """Whether a folded sentence tells of the moment, or tells nothing of anything."""
    return _PASSING.search(said) is not None or (said.isascii() and not _FINITE.search(said))


def without_opener(said: str) -> str:
    """Return what a folded sentence says after its greeting, thanks or apology; itself if it has none."""
    while match := _OPENER.search(said):
        rest = _OPENING.match(said, match.end())
        if rest is None:
            return ""
        said = said[rest.end() :]
    return said
