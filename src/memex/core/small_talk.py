"""What is said for the sake of saying it, before and after a statement: greetings, thanks, apologies, wishes, fillers.

In English, Chinese and Japanese. A text is taken apart at its pauses, and a part goes only if all of it is small talk:
"Thanks for yesterday" goes, "Thanks to the new cache, ..." stays. "Sorry" and すみません alone stay: they may correct.
"""

from __future__ import annotations

import re

from .fold import canonical, fold
from .patterns import lazy

__all__ = ["without_small_talk"]

_MOST_CHARS = 80  # a longer part says more
_MOST_EDGE_PARTS = 12  # before a statement, and after it

# Where a speaker pauses; a point within a number or a name is none.
_PAUSE = lazy(
    r"(?:[!?,;~…、。，；！？～\n\u3000\u2600-\u27bf\ufe0f\U0001f300-\U0001faff]|\.(?=\s|\Z|[^\x00-\x7f\w]|\.)|[:：](?=\s|\Z|[^\x00-\x7f])"
    r"|[:;]-?[)(D](?=\s|\Z)|\s-+\s|\s*[—–]+\s*|[(（](?:笑|汗)[)）]|(?<=[\u3041-\u9fff])\s(?=[\u3041-\u9fff]))+\s*"
)

_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_TO_WHOM = (
    r"(?:(?:there|again|all|both|every(?:one|body)|folks|team|guys|y'all|friends?|mate|buddy|pal|dear|dears|colleagues|sir|madam|"
    r"you(?: all| guys| two)?|assistant|memex|claude|world|people|crew|gang|to (?:you|all|every(?:one|body))(?: all)?|"
    r"(?:mr|mrs|ms|dr|prof)\.? \w+|from \w+(?: \w+)?) ?)"
)
_ANYBODY = (
    r"(?!(?:i|i'm|we|you|he|she|it|they|my|our|your|his|her|the|a|an|this|that|there|no|not|is|are|if|when|so)\b)[a-z]+"
)
_PERIOD = r"(?:day|morning|afternoon|evening|night|weekend|week|start|holidays?|vacation|trip|break|time|one|summer|winter|new year|rest)"
_FINE = (
    r"(?:well|good|great|fine|ok(?:ay)?|nice|lovely|fun|safe(?:ly)?|smooth(?:ly)?|relaxing|restful|pleasant|wonderful|productive|"
    r"better|alright|all right|fantastic|healthy|happy|" + _PERIOD + ")"
)
_NO_CLAIM = r"(?!.*\b(?:i|i'm|we|we're|is|are|my|our|that(?= \w))\b)"
_EN = (
    (
        r"(?:hi+|hiya|hey+|hello+|howdy|yo|greetings|dear|(?:a )?(?:very )?good (?:morning|afternoon|evening|day)|g'?day|morning|evening|afternoon|"
        rf"welcome back)(?: {_TO_WHOM}+| {_ANYBODY})?"
    ),
    rf"{_TO_WHOM}+|my (?:dear |good )?friends?|sup|(?:it'?s )?(?:just |only )?me again|(?:i |we )?hope (?:that|this|it) helps?",
    rf"(?:happy|merry) (?:{_DAYS}|new year|holidays|christmas|easter|birthday|anniversary)(?: {_TO_WHOM}+)?",
    r"(?:oh )?(?:wow|hey|man|boy|gosh|my)|(?:oh )?long time,? no (?:see|talk|speak|chat|hear)|it'?s been (?:a while|ages|too long)",
    r"(?:nice|good|great|lovely|pleased|a pleasure) to (?:meet|see|hear from|e-meet|chat (?:with|to)|talk to|be (?:back|here))(?: you)?(?: \w+){0,3}",
    r"it (?:was|is|'s) (?:so |very |really )?(?:nice|good|great|lovely|a pleasure) (?:to|seeing|meeting|talking|chatting|working|catching)\b.{0,40}",
    (
        rf"(?:so |and )?how(?:'s| is| are|'re| was| were| have| has| goes| do)(?: (?:you|it|everything|things|life|work|all|your (?:{_PERIOD}|family)|that|been|do|"
        r"doing|going|today|feeling|keeping|these days|this (?:morning|week)|so far|lately|now|are|both|with|back))*"
    ),
    r"(?:so |and )?what'?s (?:up|new|happening)(?: with you)?|(?:are )?you (?:well|ok|there|around|good|alright)",
    r"(?:have you )?(?:got|do you have|have) (?:a|one) (?:sec|second|minute|moment)",
    r"(?:is )?(?:everything|all) (?:ok|okay|good|well|fine|alright)(?: with you| there| here)?|(?:i'm |i am )?(?:fine|good|doing well)(?: here)?(?: thanks)?",
    (
        r"(?:i |we )?(?:really |just |do |very much )*(?:hope|hoping|trust)(?: that)? (?:you|your|this|all|every\w+|things|it|"
        rf"the \w+(?: \w+)?)\b.{{0,50}}\b{_FINE}(?: (?:today|so far|too|all|there|now|lately|again|with you|this (?:week|morning)|for you))*"
    ),
    r"(?:i |we )?(?:hope|hoping) (?:i'm|i am|this|it|that)(?: is| does|'s)?(?: not|n't)\b.{0,30}",
    r"(?:i |just |only )*thought (?:you|i)\b.{0,30}\b(?:know|mention|share|tell|say|note)(?: (?:it|this|that|you))?|i know (?:that )?you(?:'re| are)\b.{0,20}",
    r"(?:so |and |but )?(?:i'll|i will|let me) be (?:brief|quick|short|fast|direct|honest)|i (?:won't|will not) (?:keep|take|bother|waste|disturb) .{1,30}",
    r"you asked(?: (?:me|about it|earlier|before|yesterday|last time))*|(?:is there )?anything else\b.{0,30}|over to you",
    (
        r"(?:it'?s |it is |what |such |isn't it )+(?:an? )?(?:so |very |really |quite |such an? )*(?:lovely|nice|beautiful|great|gorgeous|wonderful|terrible|awful|"
        r"crazy|long|busy|hot|cold|rainy|sunny|windy|gr[ae]y|chilly|freezing|warm|hectic)(?: (?:weather|day|morning|evening|afternoon|week|weekend|outside|out|"
        r"there|today|here|again|we're having|isn't it|huh))*"
    ),
    r"isn'?t it|huh|right|don'?t you think",
    (
        r"(?:i'm |i am |we're |we are )?(?:all |doing |feeling )*(?:really |very |pretty |quite |just )?(?:great|good|well|fine)(?: (?:here|today|too|as well|"
        r"thanks|thank you|for asking|with (?:me|us)))*"
    ),
    (
        r"(?:it'?s |this is |this isn'?t |that'?s )?(?:not (?:urgent|important|a big deal)|no rush|nothing (?:urgent|major|big|important|serious)|no big deal|"
        r"a (?:small|little|minor|tiny|quick) (?:one|thing))(?: (?:on this|here|at all|either|for you))*"
    ),
    r"(?:small|little|tiny|minor) thing|before (?:we|i) (?:start|begin|go|forget|continue|dive|get)\b.{0,20}",
    r"to (?:answer|follow up on|come back to) (?:your|our|the|this|that)\b.{0,30}|to be (?:brief|quick|clear|short)|(?:a (?:bit of|little) |some )?housekeeping",
    r"as an fyi|quick question.{0,20}|first things first|but first|first(?: off| of all)?",
    (
        r"(?:ok |and |again |once again |as always )?(?:many |so many |a million |big |huge |a big |a huge |once again )?(?:thanks|thank you|thx|ty|cheers|"
        r"much obliged|much appreciated|kudos)(?: (?:so much|very much|a lot|a bunch|a million|a ton|again|once more|in advance|anyway|kindly|as always|"
        rf"{_TO_WHOM}))*(?: (?:for|to) {_NO_CLAIM}.{{1,50}}| {_ANYBODY})?"
    ),
    rf"(?:i |we |it'?s |it is |that'?s )?(?:really |very |so |greatly |much |truly )*(?:appreciate|appreciated|grateful)\b{_NO_CLAIM}.{{0,40}}",
    r"you(?:'re| are) (?:the best|a (?:star|lifesaver|gem|legend)|awesome|amazing|great|welcome|too kind)",
    (
        r"(?:great|good|nice|excellent|amazing|awesome) (?:work|job|stuff|talk|chat|call|meeting)(?: (?:on|with|in|at|everyone|team|yesterday|today|"
        rf"as always){_NO_CLAIM}.{{0,30}})?"
    ),
    (
        rf"(?:i'm |i am |we're |we are )?(?:so |very |really |terribly |awfully )*sorry (?:(?:for|about){_NO_CLAIM}.{{1,50}}|to (?:bother|disturb|interrupt|bug|keep|"
        r"trouble|jump|butt|be|ping|make you)\b.{0,40}|(?:that )?(?:i'm|i am|it took|i took|this is|for being) (?:so |very |a bit |me |a little )*(?:late|slow|"
        r"long|off|delayed)\b.{0,20}|again)"
    ),
    rf"(?:my |many |with |our )?(?:sincere )?apologies(?: (?:for|about) {_NO_CLAIM}.{{1,50}})?|i apologi[sz]e for {_NO_CLAIM}.{{1,40}}|excuse me",
    r"pardon(?: me| the \w+)?|forgive .{1,30}",
    (
        r"(?:just |only |here'?s |here is |this is )?(?:(?:a|one|another|some|my|the) )?(?:more |last |very )*(?:quick|small|short|brief|little|minor|tiny|friendly|"
        r"status|slight|general|final|personal|big|good|great|bad|exciting|sad|important)? ?(?:note|notes|update|updates|heads[- ]up|fyi|reminder|thing|things|"
        r"announcement|info|news|detail|message|word|remark|point|one)(?: (?:from (?:me|my \w+|our \w+)|for (?:you|your \w+|the record|today|everyone)|on (?:my|"
        r"our) (?:side|end)|today|first|before \w+|to (?:share|add|mention)))*"
    ),
    (
        r"(?:for (?:your information|the record|what it'?s worth|reference|your reference|context)|in case (?:you|it|this)\b.{0,40}|as (?:you (?:may |might |"
        r"already |probably |all )*know|mentioned(?: \w+)?|discussed|promised|requested|always|usual)|to (?:be honest|keep you (?:posted|updated|in the loop)|"
        r"let you know)|honestly|frankly|listen|look|so|well|anyway|anyhow|alright|ok|okay|right|great|cool|perfect|nice|awesome|yeah|yes|yep|oh|ah|um+|hm+|"
        r"by the way|btw|one more thing|before i forget|while i remember|just so you know|just fyi|fyi|not that it matters|where (?:was i|were we)|let me (?:think|"
        r"see)|you know|not sure if i (?:told|mentioned|said)\b.{0,30}|speaking of which|on another note)"
    ),
    (
        r"(?:i |we )?(?:just |only |quickly )*(?:want(?:ed)?|would like|'?d like|writing|write|checking in|dropping by|popping in|"
        r"reaching out)(?: to (?:let you know(?: that)?|say(?: hi| hello)?|mention(?: something)?|share(?: (?:something|an update|some news))?|"
        r"tell you(?: something)?|add(?: something)?|check in|update you|give you an update))?"
    ),
    (
        r"(?:and |so |please |do )*have (?:a|an) (?:(?:very |really |so |super )*(?:nice|good|great|lovely|wonderful|fantastic|pleasant|relaxing|restful|safe|"
        r"blessed|productive|happy|fun|awesome|fabulous|beautiful|terrific|fine|peaceful|calm|quiet|sunny|cozy|excellent|amazing|better|"
        rf"restorative)(?: and \w+)? )(?:rest of (?:your|the) )?{_PERIOD}(?: (?:ahead|everyone|all|too|off|today|there|you all|team))*"
    ),
    rf"enjoy (?:your|the|the rest of your) (?:\w+ )?{_PERIOD}|have fun|take care(?: of yourself)?|stay (?:safe|well|healthy|warm|cool)|good ?bye(?: (?:for )?now)?",
    r"bye(?:[ -]?bye)?(?: (?:for )?now)?|good night|sleep well|good luck.{0,20}|until (?:next time|tomorrow|then|later)",
    (
        r"(?:i'll )?(?:see|talk to|speak to|catch|hear from) (?:you|ya)(?: all)?(?: (?:later|soon|tomorrow|then|around|again|there|next (?:week|time)|"
        rf"(?:on )?{_DAYS}))*"
    ),
    r"(?:talk|speak|chat|more) (?:soon|later)|later|ttyl|(?:with )?(?:my )?(?:best|kind|kindest|warm|warmest|many)(?: (?:regards|wishes))?|regards|sincerely",
    r"yours(?: truly| sincerely)?|all the best|(?:lots of )?love",
    r"(?:ok |and |so |well )?(?:that'?s|that is|that was|that'?ll be) (?:it|all|everything)(?: (?:for now|for today|from (?:me|my side|my end|here)|really|then))*",
    r"nothing else|over and out|keep (?:it up|up the \w+ work|in touch)|no (?:need|rush|hurry|worries|problem)(?: to (?:reply|respond|answer))?",
    r"no (?:reply|response|answer|action) (?:needed|required|necessary)|(?:i'm |we're )?looking forward to .{1,40}|can'?t wait",
    r"(?:please )?let me know (?:if|what|when)\b.{0,50}|(?:please )?let me know|(?:if you have )?any questions|just ask|(?:please )?feel free to .{1,40}",
    r"(?:i'm )?happy to (?:help|chat|answer|discuss).{0,30}|(?:please )?(?:update|adjust|amend) (?:your|the) (?:notes?|records?|files?|memory)(?: accordingly)?",
    r"(?:how |my how |wow )?(?:time|the (?:days|weeks|months|year)) (?:really |just |sure )?(?:flies|fly|flew|flown|is flying|goes by so fast)(?: by)?(?: when .{1,30})?",
    r"(?:does|do|did|is|are|was|can|would|has|could)n'?t (?:it|they|we|you|that)|(?:god )?bless (?:you|ya)(?: (?:all|both|guys))?(?: for (?:listening|helping|your \w+|the help|being \w+|asking|reading))?",
    r"bless your heart|thanks? heavens?|thank god(?: it'?s friday)?|tgif|cheers|(?:ha)+h?|(?:he)+h?|lol|lmao|xoxo|x+o*|phew|ciao|hugs?|kisses",
)
# What may stand before a statement without a pause.
_RUN_ON_EN = lazy(
    rf"(?:(?:hi|hey|hello|good (?:morning|afternoon|evening))(?: {_TO_WHOM}+)? ?(?=(?:i|i'm|i've|we|we're|we've|my|our|just|the)\b)|"
    r"(?:i |we )?just (?:want(?:ed)? to |writing to |a (?:quick |small |short )?(?:note|reminder|heads[- ]up) (?:to say )?)(?:let you know |say |mention |tell you |share )?(?:that )?"
    r"(?=(?:i|i'm|i've|we|we're|we've|my|our|the)\b)|"
    r"i(?:'d| would) like to (?:let you know|mention|tell you|inform you) (?:that )?|i want(?:ed)? to (?:let you know|mention|tell you|inform you) (?:that )?|to let you know (?:that )?)"
)

_ALL_ZH = r"(?:各位|大家|诸位|小伙伴们?|朋友们|同学们|同事们|老师们?|伙计们|兄弟们|家人们|团队的?(?:各位|大家|伙伴们)|亲爱的.{0,6}|亲们?|(?![我他她你表堂员职打手])[\u3400-\u9fff]{1,2}(?:总|哥|姐|老师|经理))"
_WHO_ZH = rf"(?:各位|我的|亲爱的)?(?:{_ALL_ZH}|(?:同事|老师|同学|朋友|家人|伙伴|老板|领导|助手|管家|师傅|医生)们?)"
_YOU_ZH = r"(?:你们?|您|大家|各位)"
_AT_ZH = r"(?:昨[天晚]|今天|前天|真是|上次|上周|之前|刚才|刚刚|最近|这几天|这阵子|这段时间|近来|一直以来|平时|周末)"
_ONCE_ZH = r"(?:一下|一声|一句|一嘴|下|个事儿?|件事儿?|个好?消息|个情况|(?:一个|一条|一点|个|条|点)(?:小)?(?:事|事情|信息|消息|情况|变动|变化|更新)?)"
_ZH = (
    (
        rf"{_WHO_ZH}?(?:都)?(?:早上|上午|中午|下午|晚上|周[一二三四五六日末]|新年|节日|元旦|春节|元宵|端午|中秋|国庆|圣诞|生日|儿童节|教师节|母亲节|"
        rf"父亲节)?{_YOU_ZH}?(?:们)?(?:好|早|快乐|愉快|安康)(?:[呀啊哇哈])?"
    ),
    r"(?:各位|我的|亲爱的)(?:同事|老师|同学|朋友|家人|伙伴|老板|领导|助手)们?|恭喜(?:发财|大家|你)?",
    r"哎[呀哟呦哎]+|哇+塞?|天[哪啊呐]|(?:真的?|太|可真)?(?:是)?(?:好久|许久|很久|老久)(?:都)?(?:没有?|未)(?:聊天?|联系|说话|见面?|碰面|来|聚)[了啦呢]*|时间过得(?:真|好|太)快[啊呀]?",
    r"(?:吃饭|睡觉|开会|下班|出门|下线|走|休息|忙|上课|回家|睡)(?:之)?前(?:先)?(?:说|讲|提|补充|更新|告诉你|汇报)(?:一下|一声|一句|一嘴|下)?",
    rf"{_ALL_ZH}|嗨+喽?|嘿+|哈[喽啰咯罗]|hello|hi|hey|喂|在[吗么]|在不在|在的?话|早+(?:安|啊|呀|哇|哦)?|[午晚]安|好久不见(?:[了啦])?|(?:欢迎|我)?回来了?|幸会|久仰",
    rf"(?:不好意思|抱歉|对不起|冒昧|又|来)*(?:打扰|叨扰|耽误|占用)(?:一下|{_YOU_ZH}|[一两几]分钟|一?点时间)*(?:[了啦])?|久违了?|又?是我[啊呀哦]?|我又来了",
    rf"(?:现在|今天|{_YOU_ZH})*(?:有空|方便|在忙|有时间)(?:聊|说话?)?[吗么]",
    rf"(?:{_AT_ZH}|外面|这里)+的?(?:天气|天|外面)?可?(?:真|好|太|很|挺|有点|越来越|这么)+的?(?:好|冷|热|闷|潮|凉快|舒服|糟糕?|美|暖和)(?:[了啊呀呢哦吧])*",
    r"(?:我们?|这边|我这边)(?:一切|都|还|挺|很|也|过得)+(?:好|不错|可以|顺利|行)的?[呀啊呢]?",
    (
        rf"{_YOU_ZH}?{_AT_ZH}?{_YOU_ZH}?(?:一切)?(?:还|都|过得|过的)?(?:好[吗么]|怎么?样[啊呀]?|如何|忙[吗不]忙?|忙[吗么]|还好吗|可好|顺利吗|休息得(?:好吗|怎么样)|"
        r"开心吗|在忙什么|忙啥)(?:呢|啊)?"
    ),
    rf"(?:{_YOU_ZH}|{_AT_ZH}|这[周天]|这个?(?:周末|星期|礼拜)|今天|假期|周末|最近)*(?:一切|都)?(?:过得|过的|玩得|休息得|睡得|工作)?(?:还|都|挺)?(?:顺利|开心|愉快|好|不错|忙|累|充实)(?:吧|吗|么|不)[?]?",
    r"(?:多?谢|感谢|谢谢)[啦咯喽哟呀哈]+",
    r"吃了[吗么]|身体(?:还)?好吗",
    rf"(?:希望|愿|祝愿?|但愿){_YOU_ZH}?.{{0,8}}?(?:好|顺利|愉快|健康|快乐|安康|安好|开心|如意|充实|不错|成功|幸福)(?:[呀啊哦])?|祝好|祝{_YOU_ZH}.{{1,8}}",
    rf"(?:{_AT_ZH}|{_YOU_ZH}|工作|真的?是?|都)*辛苦(?:[了啦]|{_YOU_ZH})*",
    (
        rf"(?:{_AT_ZH}|非常|十分|太|真的?|实在|先|再次|多|很|由衷|衷心|特别|都要?|要|我)*(?:谢谢|感谢|多谢|谢|感激)(?:[了啦哈呀]|"
        rf"不尽)?(?:{_YOU_ZH})?(?:{_AT_ZH})?(?:的)?(?!.*(?:我(?![说讲聊])|现在|改|换|搬))[^,。]{{0,12}}"
    ),
    rf"(?:{_AT_ZH}|真的?是?|又|太)*(?:麻烦了|(?:麻烦|有劳|劳烦|拜托|让){_YOU_ZH})(?:久等|费心|操心|记一?下|记录一?下)?(?:了)?",
    r"(?:非常|十分|实在|真的?|很|先)*(?:抱歉|不好意思|对不起|对不住)(?!.*(?:我们|现在|是|改|换|搬|说错|记错|打错))(?:[啊呀哈]|[^,。]{0,12})?",
    r"(?:回复?|回消息|回信|来)得?(?:有点|太)?(?:晚|迟|慢)了?|(?:这么|那么)晚(?:还)?(?:打扰|联系|发消息).{0,4}",
    (
        rf"(?:我|先|再|这里|这边|顺便|顺手|随手|随便|简单|就|另外|那个|想|要|来|和|跟|同|向|给|对|{_YOU_ZH}|{_ALL_ZH})*(?:说|讲|提|汇报|同步|分享|报告|更新|通知|"
        rf"报备|补充|说明|提醒|记录|备注|交代|告知|通报|唠叨|插){_ONCE_ZH}+(?:我的)?(?:近况|情况)?(?:啊|哈|哦)?"
    ),
    r"(?:特此|谨此)?(?:告诉|告知|通知|汇报)(?:你们?|您|大家)?.{0,4}",
    (
        rf"(?:有|说|讲|宣布|告诉{_YOU_ZH})(?:一)?(?:个|件|条)(?:小|好|坏|重要的?|新)?(?:事|事情|消息|变化|变动|更新|通知|情况)(?:儿)?(?:要|想|得)?(?:跟|和|同|告诉|"
        rf"通知|与)?(?:{_YOU_ZH})?(?:说|讲|分享|汇报|同步|宣布)?(?:一下|下|一声)?"
    ),
    r"以防万一|以备不时之需|备忘|仅供参考|供(?:您|你|大家)?参考|对了|话说(?:回来)?|那个|(?:情况|事情)?是这样的?|插一句|多说一句|补充一句|题外话|言归正传|闲话少说",
    r"如题|众所周知|(?:你|您|大家)?(?:可能|应该|也许|已经)?知道的?|怕.{1,6}不知道|不知道.{0,8}(?:说|提|讲)过没?有?|不确定.{0,8}(?:说|提|讲)过",
    r"忘了(?:说|提|告诉你们?|告诉您)|(?:之前|上次)(?:忘了|没)(?:说|提).{0,2}|(?:老实|说实|坦白|实)[话说](?:说|讲)?|总之|好(?:的|吧|呀|啊|了)?|嗯+|哦+|啊+|ok|行",
    r"哈{2,}|嘿{2,}|呵{2,}|是这样|简单来?说|长话短说",
    r"(?:那)?(?:我)?先?(?:去)?(?:忙|撤|走|下|溜|睡|闪)(?:[了啦吧])+|(?:今天)?就?(?:先)?(?:说|聊|写)?到?(?:这么多|这里|这儿)(?:[了啦吧])?",
    rf"希望(?:这)?(?:对|能|可以).{{0,8}}(?:帮助|有用|用|帮到.)|又?给{_YOU_ZH}添麻烦(?:[了啦])?|期待.{{0,6}}(?:回复|回信|消息|反馈|答复)|(?:好好|早点|多)休息",
    r"多喝热水|么么哒|(?:温馨)?小?(?:提示|提醒|贴士)|爱你(?:们)?|比心|近况更新|近况(?:是|如下)|就(?:这样|这些|这个|到这)(?:[了啦吧])?",
    r"先(?:这样|到这|说到这)(?:里|儿)?(?:[了啦吧])?|以上|完毕|(?:回头|下次|改天|明天|之后|晚点|有空)再?(?:聊|见|说|联系)(?:[了啦吧哦])?|再见|拜拜?|bye",
    r"(?:周末|假期|旅途|工作|生活|万事|一切)(?:愉快|顺利|如意)|保重(?:身体)?|注意身体|多(?:多)?保重|加油.{0,2}",
    r"请?(?:知悉|悉知|查收|留意|周知|惠存|多关照|多多关照|多指教)(?:即可)?|不用回复?(?:[了我])?",
    r"(?:如果?)?有(?:什么)?(?:问题|事|需要)(?:请|可以|随时|再|就)*(?:联系|找|问|说|告诉|叫).{0,4}|(?:别的)?没(?:有)?(?:别的|其他|什么)(?:事|事情|了)*(?:儿|了)?",
)

_YOU_JA = r"(?:皆(?:さん|様|さま)|みな(?:さん|さま)|みんな|各位|チームの(?:皆(?:さん|様)|みんな)|[\u30a1-\u30ffa-z\u3400-\u9fff]{1,8}(?:さん|様|さま|先生))"
_POLITE_END = r"(?:です|でした|でございます)?(?:が|けど|けれど(?:も)?|ね|よ|ねえ|よね|か)*"
_NO_CLAIM_JA = (
    r"(?!.*(?:ました|です|ます|した|だ)[ が]|.*(?:ので|から|けど))"  # a sentence of its own, or a reason, before it
)
_JA = (
    r"(?:皆(?:さん|様|さま)|みな(?:さん|さま)|みんな|各位|関係各位|チームの(?:皆(?:さん|様)|みんな))(?:へ)?",
    (
        rf"(?:どうも)?(?:{_YOU_JA})?(?:こんにち[はわ]|こんばん[はわ]|おはよう?(?:ございます)?|おはよ|はじめまして|初めまして|どうも|やあ|やっほー?|おっす|もしもし|"
        rf"ただいま|よう)(?:{_YOU_JA}|です)?"
    ),
    rf"(?:大変|本当に|すっかり)?(?:お?久しぶり|お?久々|ご無沙汰)(?:して(?:い|お)?り?ます|しており?ました)?{_POLITE_END}",
    (
        r"(?:いつも|毎度|平素より?|日頃より?|大変|本日も|今日も|先日は|昨日は|その節は)*(?:大変)?お世話に(?:なって(?:い|お)?り?ます|なりました|"
        r"なります)(?:.{1,10}です)?"
    ),
    (
        r"(?:いつも|今日も|本日も|昨日は|今週も|先日は|一日|皆(?:さん|様)|本当に|遅くまで|毎日|大変)*(?:お疲れ|おつかれ|ご苦労)(?:さま|様|さん|っす)?ー?(?:です|"
        rf"でした|でございます|っす)?(?:ね|よ|{_YOU_JA})?"
    ),
    (
        r"(?:長らく|夜分|朝|早朝|急な|深夜|突然|急に|何度も|度々|たびたび|お忙しい|ご多忙|お休み|お取り込み|夜|いきなり|週末)[^、。]{0,14}?(?:すみません|"
        r"申し訳(?:ありません|ございません|ない(?:です)?)|失礼(?:し|いたし|致し)ます|恐れ入ります|恐縮です|ごめん(?:なさい|ね)?|連絡です)(?:が|けど)?"
    ),
    (
        r"(?:突然|急|早速|さっそく|いきなり|唐突|急な話|恐縮|恐れ入ります|お手数|すみません|失礼|勝手ながら|恐縮ながら)(?:をおかけし(?:ます|ました)|"
        r"おかけします)?(?:です|では(?:あり|ござい)ます)?(?:が|けど)"
    ),
    r"お手数を?おかけし(?:ます|ました)(?:が)?",
    r"(?:[^、。]{0,6})?(?:お知らせ|報告|ご報告|連絡|ご連絡|共有|お話|相談|ご相談)(?:したいこと)?が(?:一[つ件点])?(?:あり|ござい)ます(?:が)?",
    r"本題に入り?ます(?:が)?|(?:手短|簡単|端的|率直)に(?:言う|言い|申し|話す|お話し|伝える|お伝えす|お伝えし)[^、。]{0,4}",
    r"(?:先ほど|さっき|昨日|先日|この(?:前|間))はどうも|お邪魔します|失礼(?:し|いたし|致し)ます",
    r"(?:お)?元気(?:です|でした|にして(?:い)?ます|で(?:いらっしゃい|お過ごし)(?:ます)?)?か(?:な)?|元気[?]?",
    r"(?:最近|近頃|その後)?、?(?:調子|体調|具合|ご機嫌)は?(?:どう|いかが)(?:です|でしょう)?か?",
    r"(?:最近|近頃|その後)?、?(?:いかが|どう)(?:お過ごし|されて(?:い)?ます|です|でしょう|してます|して(?:い)?る)?(?:です|でしょう)?か?",
    r"(?:今|少し|ちょっと)?(?:、)?(?:お時間|お時間を)(?:よろしい|ある|大丈夫|ください|いただけ|いい|頂け)[^、。]{0,10}",
    r"(?:ちょっと|今)?(?:いい|よろしい|大丈夫)(?:です|でしょう)か|そちらは(?:どう|いかが|お変わり)[^、。]{0,8}",
    r"(?:おかげ(?:さま|様)で|こちらは|私は)?(?:元気|順調)(?:です|にしています|にやっています|だよ)|また来ました|お変わり(?:は)?(?:あり|ござい)ませんか",
    r"(?:週末|休み|お休み|連休)は[^、。]{0,4}?(?:どう|いかが|ゆっくり)(?:お過ごし|されて?|でき)?(?:でし|まし)?(?:た)?か|(?:最近|今)(?:は)?忙しい(?:です)?か",
    (
        r"(?:(?:今日|本日|最近|毎日|今朝|朝晩|すっかり|だいぶ|急に|今年|今週|外)(?:も|は)?[^、。]{0,8}?)?(?:いい(?:お)?天気|良い(?:お)?天気|雨|雪|曇り|"
        r"[寒暑暖涼蒸][^、。]{0,10}続きます|[春夏秋冬]らしく(?:なりました|なってきました)|暑い|寒い|暖かい|涼しい|蒸し暑い|冷え(?:ます|る)|寒く(?:なりました|"
        r"なってきました)|暑く(?:なりました|なってきました)|暖かく(?:なりました|なってきました)|涼しく(?:なりました|なってきました))(?:です)?(?:ね|よね|が|けど)+"
    ),
    r"(?:新年)?(?:、)?(?:あけ|明け)まして(?:、)?おめでとう?(?:ございます)?|(?:新年|お誕生日|ご結婚|メリー)[^、。]{0,6}?(?:おめでとう?(?:ございます)?|クリスマス)",
    r"今年も(?:どうぞ)?よろしく.{0,10}|良いお年を.{0,6}",
    (
        r"(?:お)?元気(?:で|に)(?:お過ごし|いらっしゃる|過ごされて(?:い)?る)?(?:の)?(?:こと|ことと|でしょう)?(?:と存じます|を願っています|だといいのですが|"
        r"だと嬉しいです)"
    ),
    r"(?:ご)?(?:活躍|清栄|健勝)のことと.{2,12}",
    (
        r"(?:念のため|念の為|一応|いちおう|参考まで|ご参考まで|ついで|追加|補足|連絡|ご連絡|報告|ご報告|近況報告|業務連絡|事務連絡|共有|情報共有|お知らせ|ご案内|"
        r"前置き|確認|余談|雑談|私事|私事で恐縮|近況|本題|小さな(?:こと|話)|細かい(?:こと|話)|些細な(?:こと|話)|大した(?:こと|話)では(?:ない|ありません)|"
        r"急ぎ(?:の話|の件)?では(?:ない|ありません)|ちょっと(?:した)?(?:報告|共有|連絡|お知らせ|話|こと)|個人的な(?:こと|話)|簡単な(?:報告|連絡|共有)|短い(?:報告|"
        rf"連絡)|メモ)(?:まで)?(?:に)?(?:の)?(?:ため)?(?:、)?(?:一つ|ひとつ|一点|一件|だけ)?{_POLITE_END}(?:ながら)?"
    ),
    (
        r"(?:(?:ご|お)?(?:念のため|念の為|一応|先に|取り急ぎ|とりあえず|簡単に|手短に|少し|ちょっと|一点|一点だけ|ひとつ|一つ|一つだけ|忘れないうちに|補足|一件|"
        r"また|皆さんに|皆様に))*(?:ご|お)?(?:共有|報告|連絡|お知らせ|知らせ|伝え|補足|案内|相談|言って|言い|話|書いて)(?:まで|して)?(?:おき|させ(?:て)?(?:ください|"
        r"いただき|もらい)|し|いたし|致し|です|(?:して)?おきます|ておきます)*(?:ます|ますと|ますね|ますが|たいことが(?:あり|ござい)ます|たいのですが|たく|と|です|"
        r"ください)?(?:ね|が|けど)?"
    ),
    (
        r"(?:以前|前|先日|この前|前回)(?:に|から)?(?:も)?(?:言|話|お話|伝え|お伝え|申し上げ)[^、。]{0,8}?(?:かも(?:しれません)?(?:が|けど)?|通り|ました(?:が|けど)|"
        r"と思い?ます(?:が|けど)|けど|が)"
    ),
    (
        r"(?:もう|既に|すでに)?(?:ご存[知じ]|知って(?:い)?る|お聞き)[^、。]{0,6}(?:かも(?:しれません)?(?:が|けど)?|通り|かと(?:思い|存じ)ます(?:が)?|"
        r"と思い?ます(?:が|けど))"
    ),
    r"言い忘れて(?:い)?(?:まし)?た(?:が|けど)|言い忘れ(?:まし)?た(?:が|けど)|忘れないうちに(?:言うと|言って(?:おくと|おきます))?",
    r"大したことではない(?:の)?(?:です)?(?:が|けど)|どうでもいい(?:こと|話)?(?:です)?(?:が|けど)",
    r"さて|では|それでは|で|ところで|ちなみに|そういえば|余談(?:です|だ)が|話は変わり?ます?が|あの(?:う|ー)?|えっと|えー+と?|ええと|そうそう|うん|はい|ええ|まあ",
    r"なるほど|了解(?:です)?|わかりました|承知(?:しました|いたしました)|よし|おお?|あ+|ねえ(?:ねえ)?|聞いて(?:ください)?|早速ですが|(?:ふ|は){2,}|笑+|w+",
    r"正直(?:に言うと|なところ)?|実を言うと|結論から言うと|要するに|簡単に言うと",
    (
        rf"{_NO_CLAIM_JA}[^、。]{{0,24}}?(?:ありがとう?(?:ござい(?:ます|ました))?|ありがとうね|サンキュー?|感謝(?:です|します|して(?:い|お)り?ます|いたします|"
        rf"申し上げます)?|恩に着ます|助かり(?:ました|ます)|助かって(?:い)?ます|助かった|嬉しかったです|楽しかったです|お世話になりました)(?:ね|よ|{_YOU_JA})*"
    ),
    (
        rf"(?=.{{8}}){_NO_CLAIM_JA}[^、。]{{2,24}}?(?:すみません(?:でした)?|申し訳(?:あり|ござい)ません(?:でした)?|申し訳ない(?:です)?|ごめん(?:なさい|ね)?|"
        r"失礼(?:し|いたし)ました)(?:が|けど)?"
    ),
    r"(?:大変)?お待たせ(?:し|いたし|致し)(?:て(?:い)?(?:ます|すみません)|ました)",
    r"(?:返信|お?返事|連絡|ご連絡|回答)が?(?:遅く|遅れ)[^、。]{0,6}?(?:すみません|ごめん(?:なさい)?|ました(?:が)?|申し訳.{2,8})",
    (
        r"(?:今後|今後とも|これから|これからも|引き続き|本日も|今日も|今年も|来週も|どうぞ|何卒|以上|では|それでは)*[も、]?(?:どうぞ|何卒|宜しく|"
        r"よろしく)+(?:お願い(?:し|いたし|致し|申し上げ)?(?:ます)?|です|ね|頼みます|どうぞ)*(?:ね)?"
    ),
    r"(?:以上|報告は以上|連絡は以上|それだけ|これだけ|とりあえず以上)(?:です|となります|になります|でした|、)*(?:ね)?",
    (
        r"(?:では|それでは|じゃあ?|それじゃあ?)?、?(?:また|のちほど|後ほど)(?:ね|明日|後で|あとで|後ほど|来週|今度|連絡します|ご連絡します|話しましょう|"
        r"お会いしましょう|会いましょう|よろしく)*"
    ),
    (
        r"(?:では|それでは|どうぞ|皆(?:さん|様))?、?(?:良い|よい|いい|素敵な|楽しい|素晴らしい)(?:一日|一週間|週末|お年|休日|夜|夏休み|連休|午後|朝|"
        r"お?休み)を(?:お過ごし(?:ください)?(?:ませ|ね)?|過ごして(?:ください)?(?:ね)?)?"
    ),
    r"お?(?:体|身体|からだ)[^、。]{0,8}(?:大切に|気をつけ|ご自愛)[^、。]{0,8}|お?返事(?:を)?お?待ちして(?:い|お)り?ます|(?:ご)?参考に(?:なれば|なると)[^、。]{1,6}",
    r"(?:では|じゃあ?)+ね?|ご自愛(?:ください(?:ませ)?|のほど)?|お大事に(?:なさって)?(?:ください)?(?:ね)?|無理(?:し(?:ないで|すぎないで)|なさらず)[^、。]{0,8}",
    r"頑張(?:って|り(?:ましょう))(?:ください|いきましょう|ね)*",
    r"取り急ぎ(?:ご?(?:連絡|報告|お知らせ|お礼|共有|用件)(?:まで|のみ)?|まで)?(?:です|いたします|となります|で(?:失礼(?:し|いたし)ます)?)?",
    r"ご?(?:連絡|報告|共有|参考|お知らせ|お伝え)まで(?:です|に)?",
    r"ご?(?:確認|承知おき|了承|理解)(?:ください(?:ませ)?|のほど.{0,14}|(?:を)?お願い.{1,6}|いただければ幸いです)(?:ね)?",
    r"(?:何か|ご?不明(?:な)?(?:点|こと)|質問|ご質問|困ったこと)[^、。]{0,10}(?:あれ|ござい|あり)[^、。]{0,20}|お気軽に[^、。]{1,16}",
    r"返信(?:は)?(?:不要|いりません|結構)(?:です)?|ご?返信(?:は)?不要です|おやすみ(?:なさい)?(?:ませ)?|バイバイ|さようなら|またね|それでは",
    r"では失礼(?:し|いたし)ます|お先に失礼(?:し|いたし)ます|楽しみにして(?:い|お)?り?ます",
    r"(?:メモ|記録|更新|登録)(?:して)?(?:おいて|をお願い)(?:ください|します|いたします)*(?:ね)?|よかったら[^、。]{1,12}",
)
_SELF_CJK = canonical("我们?|咱们?|私|僕|俺|今|现在|うち|最近")
_RUN_ON_CJK = lazy(
    canonical(
        r"(?:(?:大家|各位|你|您)好[啊呀]?|嗨|哈喽|早上好|下午好|晚上好|こんにち[はわ]|こんばん[はわ]|おはようございます|お疲れ(?:様|さま)です|お久しぶりです|"
        r"(?:跟|和|同)(?:你|您|大家|各位)(?:们)?(?:说|讲|汇报|同步|分享|报告)(?:一下|一声|下)?|(?:顺便|简单)?(?:说|更新|同步|汇报|补充)(?:一下|下))"
    )
    + rf"(?={_SELF_CJK})"
)


def _whole(patterns: tuple[str, ...]) -> re.Pattern[str]:
    item = "|".join(canonical(pattern) for pattern in patterns)
    return lazy(rf"(?:(?:{item})[ ,]*){{1,2}}\Z")


_SMALL_EN = _whole(_EN)
_SMALL_ZH = _whole((*_EN[:2], *_ZH))
_SMALL_JA = _whole((*_EN[:2], *_JA))
_SIGN_OFF = lazy(r"(?:^|\b)(?:regards|wishes|cheers|best|sincerely|yours|love|thanks|bye)\Z")
_NAME = lazy(r"\s*[^\W\d_]{2,20}(?: [^\W\d_]{2,20})?\s*")
_AND_SO = lazy(canonical(r"\A(?:(?:but|and|so)\b[, ]*|但是?(?=我)|不过[,，]?)"), re.IGNORECASE)
_KANA = lazy("[\u3041-\u30ff]")


def without_small_talk(text: str) -> str:
    """Return a text without the small talk at its beginning and its end; nothing if there is nothing else in it."""
    parts = _parts(text)
    first, last = 0, len(parts)
    while first < min(last, _MOST_EDGE_PARTS) and _small(text[slice(*parts[first])]):
        first += 1
    least = max(first, last - _MOST_EDGE_PARTS)
    while last > least and (_small(text[slice(*parts[last - 1])]) or _signed(parts, last, text)):
        last -= 1
    if first == last:
        return ""
    start = parts[first][0]
    end = parts[last][0] if last < len(parts) else len(text)
    rest = text[start:end].strip()
    if first:
        rest = _AND_SO.sub("", rest)
    if last < len(parts):
        rest = rest.rstrip(",、，;；:：-—–~～ ")
        # A sentence that lost its end is one still: vectors, too, tell a sentence from a heading.
        rest += "" if not rest[-1:].isalnum() else "." if rest.isascii() else "。"
    return rest[_run_on(rest) :]


def _signed(parts: list[tuple[int, int]], last: int, text: str) -> bool:
    """Whether the part before `last` is a name under a closing formula."""
    return (
        last > 1
        and _NAME.fullmatch(text[slice(*parts[last - 1])]) is not None
        and (_SIGN_OFF.search(fold(text[slice(*parts[last - 2])])) is not None)
    )


def _parts(text: str) -> list[tuple[int, int]]:
    """Return where the parts between pauses begin and end."""
    found, start = [], 0
    for pause in _PAUSE.finditer(text):
        if text[start : pause.start()].strip():
            found.append((start, pause.start()))
        start = pause.end()
    if text[start:].strip():
        found.append((start, len(text)))
    return found


def _small(part: str) -> bool:
    said = fold(part).replace("\u2019", "'").strip(" \t\"'“”-*")
    if len(said) > _MOST_CHARS:
        return False
    if not said:
        return True
    pattern = _SMALL_EN if said.isascii() else _SMALL_JA if _KANA.search(said) else _SMALL_ZH
    return bool(pattern.match(said)) or (not said.isascii() and pattern is _SMALL_ZH and bool(_SMALL_JA.match(said)))


def _run_on(text: str) -> int:
    """Return where a statement begins to which small talk leads without a pause."""
    said = fold(text).replace("\u2019", "'")
    if len(said) != len(text):
        return 0
    match = (_RUN_ON_EN if said.isascii() else _RUN_ON_CJK).match(said)
    return match.end() if match else 0
