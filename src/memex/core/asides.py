"""What stands around a claim and is no part of it: laughter, "by the way", when it happened, "crazy, right?".

In English, Chinese and Japanese, on folded text. What changes the claim stays ("also", "actually", "if").
"""

from __future__ import annotations

import re

from .fold import canonical
from .patterns import lazy

__all__ = ["without_asides"]


def _rx(*patterns: str) -> re.Pattern[str]:
    return lazy("|".join(canonical(pattern) for pattern in patterns))


_SENTENCE = lazy(r"[^!?\n;。.]*(?:[!?\n;。]+|\.(?!\w)|\.(?=\w)[^!?\n;。.]*)*")
# Before the claim: by itself, or only where a pause follows.
_BEFORE = _rx(
    r"\b(?:ha(?:ha)+\w*|he(?:he)+|lol|lmao|oh|ah|hm+|wow|ok(?:ay)?|anyways?|by the way|btw|guess what|you know what|"
    r"funny story|fun fact|just so you know|speaking of which|in other news|i (?:almost )?forgot to (?:say|tell you|mention)(?: that)?)"
    r"\b[,.!?:; -]*",
    # What had to be found out first, or changed with it, before what is so now.
    r"(?:it )?turns out,?(?: that)? |as it turns out,? ",
    r"(?:(?:检查|化验|体检|检测)?结果(?:出来|显示|下来)了?|(?:医生|大夫)说|(?:结果|原来)发现)[,。!: ]+(?=我)|"
    r"(?:検査の?結果(?:が出て|で|、))[、 ]*",
    r"\b(?:well|so|right|yeah|yes|yep|no|nope|hey|hi|hello|thanks(?: a lot| so much)?|thank you(?: so much)?|cool|great|nice|sure|perfect|"
    r"alright|good news|bad news|update|fyi|see)\b ?[,.!?:;-]+ *",
    r"(?:哈{2,}|嘿{2,}|呵{2,}|对了(?!解)|顺便(?:说一[下句声]|说下|提一[下句嘴]|提下|一提|说|提)|话说(?:回来)?|说起来|说到这个|"
    r"你?猜怎么着|你知道吗|忘了(?:说|告诉你)|忘记说了|跟你说(?:个事|一声)?|告诉你(?:个事|一件事)?|更新(?:一下|下)?(?=[,:。!]))[,。!?:~ ]*",
    r"(?:[嗯哦啊哎诶欸唉]+呀?|好[的吧呀啊]?|行|是的?|对[啊呀]?|没错|谢谢你?|多谢|辛苦了)[,。!?~ ]+",
    r"(?:ちなみに|ところで|そう(?:いえ|言え)ば|余談(?:です|だ)が|話は変わ(?:る|ります)が|言い忘れ(?:て(?:い)?)?(?:た|ました)(?:が|けど)|"
    r"聞いて(?:ください)?よ?(?=[、。!?, ])|知って(?:る|ますか)(?=[、。!?, ])|(?:は|ははは?|わは|うふ)は(?=[、。!?, ])|ふふ+|笑(?=[、。!?, ]))[、。!?,~ ]*",
    r"(?:うん|はい|ええ|ああ?|おお?|えっと|へえ|そうです(?:よ?ね)?|そうだ(?:よ?ね)?|なるほど|了解(?:です)?|わかりました|"
    r"ありがとう(?:ございます|ございました)?|すごい|よかった)[、。!?,~ ]+",
)
_WHEN = _rx(
    r"(?:(?:just )?(?:last|this past) \w+(?: (?:morning|afternoon|evening|night))?|yesterday(?: morning| afternoon| evening)?|"
    r"(?:an?|one|two|three|four|five|six|\d+|a few|a couple of|some) (?:days?|weeks?|months?|years?) ago|the other day|"
    r"earlier (?:today|this \w+)|today|this (?:morning|week|month|year|spring|summer|autumn|fall|winter)|"
    r"in (?:january|february|march|april|may|june|july|august|september|october|november|december)(?: (?:19|20)\d\d)?),? "
    r"(?=(?:i|we|user)\b)",
    r"(?:上个?(?:周[一二三四五六日天末]?|月|星期|礼拜)|昨[天晚]|前[天年]|前[几两些]天|去年|今[天年早]|这个?[周月]|"
    r"(?:\d+|[一二三四五六七八九十两几]+)个?(?:天|周|月|年|星期|礼拜)之?前|[\d一二三四五六七八九十]+月(?:份|底|初)?),?(?=我|咱|用户)",
    r"(?:先週末?|先月|昨日|一昨日|おととい|去年|昨年|今年|今[週月日朝]|先日|この(?:前|間|あいだ)|(?:\d+|[一二三四五六七八九十]+)"
    r"(?:日|週間|[かヶケ]月|年)前|[\d一二三四五六七八九十]+月(?![号分期度]))(?:に|[、,])*(?=[^\s、。,はがもの][^。]*[\u3041-\u30ff])",
)
# After it, and asking for no more than a nod.
_AFTER = _rx(
    r"(?:, ?|\.\.+ ?| - )(?:(?:how |so |pretty |quite |really )?(?:crazy|wild|cool|nice|great|fun|funny|exciting|weird|strange|amazing|insane)|"
    r"(?:isn't|ain't|wasn't) (?:it|that)(?: \w+)?|can you believe (?:it|that)|believe it or not|don't you think|you know|"
    r"right|ok(?:ay)?|huh|eh|yeah|no|alright)(?:,? (?:right|huh|eh|no|yeah|isn't it|you know))*(?=[?!. ]*$)",
    r" after all(?=[!. ]*$)",
    r"[, ](?:是不是(?:很|太|挺|特别)?[^,?]{1,4}|(?:厉害|没想到|想不到|神奇|疯狂|不错|惊喜|意外|开心|巧|快)?吧|对不对|"
    r"(?:你)?知道吗|你敢?信(?:吗|不信)?|好[吗吧]|行吗|哈+)(?=[?!。 ]*$)",
    r"[、, ](?:すごい|凄い|やばい|びっくり|面白い|いい|素敵|最高|驚き|早い|信じられ(?:る|ます|ない|ません))?(?:です)?"
    r"(?:でしょう?|よね|だろう?|よ?ね|か)?(?=[?!。 ]*$)(?<![、, ])",
)
# That somebody moved, before where the home is now.
_MOVED = _rx(
    r"^(?:i|we)(?:'ve| have)? (?:just |recently |finally )*(?:moved(?: house| home| flats?)?|relocated) ?[;:,.!-]+ (?=(?:my|our) .+ (?:is|are) )",
    r"^我们?(?:最近|刚刚?|上个?[周月])?搬家了[,。;!]+(?=.)",
    r"^引っ越し(?:まし)?[てた][、。]+(?=.)",
)
_ASKS = lazy(r"[?]+")


def without_asides(said: str) -> str:
    """Return a folded text without what stands around its claims."""
    told = _MOVED.sub("", said)
    return " ".join(filter(None, (_bare(sentence) for sentence in _SENTENCE.findall(told)))) or said


def _bare(sentence: str) -> str:
    rest = sentence.strip()
    while (match := _BEFORE.match(rest) or _WHEN.match(rest)) and match.end():
        rest = rest[match.end() :].lstrip(" ,、")
    if (tag := _AFTER.search(rest)) and tag.start() > 0:
        rest = rest[: tag.start()] + _ASKS.sub(".", rest[tag.end() :])
    return rest
