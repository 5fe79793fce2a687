"""What somebody does by saying a sentence, as far as it passes: in English, Chinese and Japanese.

`doubts` are acts that hold nothing to remember, however it is put: small talk, a question, a request
for one thing now, an error of the moment, what an assistant says about itself. The signs are those of
mood (a final question particle, an order with one object), with lists of words where a language has no
form for them.
"""

from __future__ import annotations

from .fold import canonical
from .patterns import lazy
from .signs import Signs

__all__ = ["ERROR", "QUESTION", "REQUEST", "SMALL_TALK", "doubts", "greets", "without_closing", "without_opener"]

SMALL_TALK = "small talk"
QUESTION = "question"
ERROR = "error of the moment"
REQUEST = "request of the moment"

_OPENER = Signs(
    r"^(?:oh|ah|um+|well|alright|all right|right)?[,. ]*(?:"
    r"(?:hi|hello|hey)(?: (?:there|all|everyone|everybody|folks|team|guys|again))?|"
    r"yo|what's up|good (?:morning|evening|night|"
    r"afternoon|day|job|one)|bye|see you|talk to you|"
    r"(?:thanks?|thank you)(?: for \w+ing)?|thx|cheers|much appreciated|ok|okay|k|yes|"
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
_OPENING = lazy(r"[^,.!:;。、 ]*[,.!:;。、 ]+")
# Of the openers those after which something of its own may come; after "perfect" or "one moment" it seldom does.
_GREETING = Signs(
    r"^(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|thanks?|thank you)\b",
    r"^(?:大家|各位)?(?:你好|您好|嗨|哈喽|早上好|早安|下午好|晚上好|谢谢|谢[了啦]|多谢|感谢)",
    r"^(?:こんにちは|こんばんは|おはよう|ありがと|本当にありがと|お疲れ|久しぶり|お久し)",
)
# Thanks and wishes that end a sentence which says something else.
_CLOSING = lazy(
    canonical(
        r"(?:^|[,;!. -]+)\b(?:many )?(?:thanks?|thank you|thx|cheers|much appreciated)"
        r"(?: (?:again|a lot|so much|very much|in advance|"
        r"(?:for|to|everyone|everybody|all|guys|folks)\b[^,.!]{0,30}))?[.! ]*$|"
        r"(?:^|[,;!。 ]+)(?:非常|十分|太|先)?(?:谢谢|谢[了啦]|多谢|感谢|辛苦)[^,。]{0,6}[。! ]*$|"
        r"(?:^|(?<![てで])[、,。! ]+)(?:どうも|本当に|いつも)?(?:ありがと|感謝|お疲れ|よろしく)[^、。]{0,12}[。! ]*$"
    )
)
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
            r"改写|重写|重构一?下|整理一?下|检查(?!结果|[出显])|分析|总结一|总结下|总结上|总结这|概括|计算|算一|想[一几]个|安排一|"
            r"规划一|跑一|看一)(?!.{0,30}(?:" + _STANDING_ZH + r"))",
            r"^(?:修复|合并|更新|新增|调整|优化|重构|删除|移除|升级|修正|补充)[^,。]{1,40}$",
            r"^[^我,]*(?:短|长|大|小|快|慢|简单|详细|具体|正式|口语|礼貌)一?[点些](?:儿|吧)?[。!]?$|"
            r"再.{1,6}(?:一?[点些]|一下)(?:儿|吧)?[。!]?$|^(?!.*(?:" + _STANDING_ZH + r"|每)).*(?:一下|一遍|一次|"
            r"看看|试试)吧?[。!]?$",
            r"^(?!.*(?:" + _STANDING_JA + r")).*(?:[^はも]て|[んい]で|て(?:ください|下さい|くれ|くれる|もらえる|みて|"
            r"よ|ね)|お願い(?:します)?|ちょうだい|頂戴|頼む|頼みます|よろしく|(?:見せ|直し|教え)て)[。!]*$",
            r"^(?!.*(?:いつも|必ず|今後|これから|毎回|常に|以後)).*?(?:もっと|もう少し|もう一度|もう一回|この|その|上の|下の|さっきの|今の|以下の|"
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


def doubts(said: str) -> list[str]:
    """Return what a folded sentence does that is nothing to remember."""
    found = [name for name, pattern in _DOUBTS if pattern.search(said)]
    if _OPENER.search(said) or _REMARK.search(said):
        found.insert(0, SMALL_TALK)
    return found


def without_opener(said: str) -> str:
    """Return what a folded sentence says after its greeting, thanks or apology; itself if it has none."""
    while match := _OPENER.search(said):
        rest = _OPENING.match(said, match.end())
        if rest is None:
            return ""
        said = said[rest.end() :]
    return said


def greets(said: str) -> bool:
    """Whether a folded sentence begins with a greeting or thanks."""
    return _GREETING.search(said) is not None


def without_closing(said: str) -> str:
    """Return what a folded sentence says before the thanks that end it."""
    return _CLOSING.sub("", said)
