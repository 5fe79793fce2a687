"""Short, realistic sentences in English, Chinese and Japanese: seeded, all different."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["LANGUAGES", "question", "questions", "sentence", "sentences"]

LANGUAGES = ("en", "zh", "ja")

# Half English, because that is what most agents hear; the rest shares two scripts without spaces.
_MIX = ("en", "en", "zh", "ja")

# Every statement has a reason with a number in it, so texts of different seeds hardly ever meet.
_EN = {
    "who": "Maria|Tom|the platform team|my sister Ana|Dr. Patel|our landlord|Kenji|the new intern|Olga|my manager".split("|"),
    "did": (
        "decided to move|finally fixed|asked me to review|cancelled|wants to rewrite|prefers to postpone|"
        "signed up for|complained about|recommended|keeps forgetting"
    ).split("|"),
    "what": (
        "the billing service|our trip to Lisbon|the weekly planning call|a pottery class|the kitchen renovation|"
        "the onboarding guide|the nightly backup job|a gluten-free bakery|the quarterly budget|her marathon training|"
        "the search index migration|a second-hand bicycle"
    ).split("|"),
    "why": (
        "because of ticket {n}|since nobody had tested build {n}|to save about {n} dollars a month|"
        "after the meeting in room {n}|even though invoice {n} is still open|because form {n} asks for it"
    ).split("|"),
    "where": "in ticket {n}|in message {n}|when we met in room {n}|on page {n} of the notes".split("|"),
    "when": "on Tuesday|last March|before the holidays|by the end of the week|in the autumn|two days ago".split("|"),
    "more": (
        "and I promised to send the notes|and the details are in document {n}|but she is not sure about the price|"
        "and we will talk about it again over lunch|which surprised everyone in the office|"
        "and the old version should stay available for a while|so please remind me when it is time to pay"
    ).split("|"),
}
_ZH = {
    "who": "小王|我妈妈|后端团队|新来的实习生|李医生|房东|阿杰|产品经理|邻居张阿姨|我".split("|"),
    "did": "决定推迟|终于修好了|想要重写|取消了|推荐了|报名参加|一直忘记|开始准备".split("|"),
    "what": (
        "支付系统|去大理的旅行|每周的例会|陶艺课|厨房装修|夜间备份任务|季度预算|半程马拉松|搜索索引的迁移|"
        "一家卖普洱茶的小店|孩子的钢琴课|旧笔记本电脑"
    ).split("|"),
    "why": "因为{n}号任务的截止日期提前了|为了每个月省下{n}块钱|因为{n}号工单还没有关闭|看了第{n}号报告以后".split("|"),
    "where": "{n}号工单里|第{n}条消息里|第{n}页笔记上".split("|"),
    "when": "周五晚上|上个月底|放假之前|昨天下午|今年秋天|这周结束的时候".split("|"),
    "more": "我答应把会议记录发给大家|细节都写在第{n}号文档里|不过价格还没有谈好|到时候请提醒我付款|旧版本还要保留一段时间".split("|"),
}
_JA = {
    "who": "田中さん|母|開発チーム|新しいインターン|佐藤先生|大家さん|健二|部長|隣の鈴木さん|私".split("|"),
    "did": "を延期することにした|をやっと直した|を書き直したがっている|をキャンセルした|を勧めてくれた|に申し込んだ|をいつも忘れる".split("|"),
    "what": (
        "請求システム|京都への旅行|毎週の定例会議|陶芸教室|台所の改装|夜間バックアップ|四半期の予算|ハーフマラソン|"
        "検索インデックスの移行|抹茶のおいしい喫茶店|娘のピアノ教室|中古の自転車"
    ).split("|"),
    "why": "課題{n}番の締め切りが早まったので|月に{n}円節約するために|チケット{n}番がまだ残っているため|資料{n}番で勧められたので".split("|"),
    "where": "チケット{n}番で|メッセージ{n}番で|議事録の{n}ページで".split("|"),
    "when": "金曜日の夜に|先月末に|連休の前に|昨日の午後|今年の秋に|今週の終わりに".split("|"),
    "more": "議事録は私が送ると約束した|詳しくは文書{n}番に書いてある|ただし値段はまだ決まっていない|支払いの日になったら知らせてほしい".split("|"),
}


def sentence(rng: random.Random, language: str | None = None) -> str:
    """Return one statement of 8..40 words (about as many meaning units in Chinese and Japanese)."""
    language = language or rng.choice(_MIX)
    if language == "zh":
        p = _picker(_ZH, rng)
        return f"{p('when')}{p('who')}{p('did')}{p('what')}，{p('why')}，{_several(p, rng, '，')}。"
    if language == "ja":
        p = _picker(_JA, rng)
        return f"{p('when')}{p('who')}が{p('what')}{p('did')}。{p('why')}、{_several(p, rng, '、')}。"
    p = _picker(_EN, rng)
    text = f"{p('who')} {p('did')} {p('what')} {p('when')} {p('why')}, {_several(p, rng, ', ')}."
    return text[0].upper() + text[1:]


def question(rng: random.Random, language: str | None = None) -> str:
    """Return one short question of the kind that an agent asks before it acts."""
    language = language or rng.choice(_MIX)
    if language == "zh":
        p = _picker(_ZH, rng)
        return f"{p('who')}在{p('where')}关于{p('what')}是怎么说的？"
    if language == "ja":
        p = _picker(_JA, rng)
        return f"{p('who')}は{p('where')}{p('what')}について何と言っていましたか？"
    p = _picker(_EN, rng)
    return f"What did {p('who')} say about {p('what')} {p('where')}?"


def sentences(seed: int, language: str | None = None) -> Iterator[str]:
    """Yield statements for ever, none twice, the same for the same seed."""
    return _unique(random.Random(f"statements-{seed}"), sentence, language)


def questions(seed: int, language: str | None = None) -> Iterator[str]:
    """Yield questions for ever, none twice, the same for the same seed."""
    return _unique(random.Random(f"questions-{seed}"), question, language)


def _unique(rng: random.Random, make: Callable[[random.Random, str | None], str], language: str | None) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        text = make(rng, language)
        if text not in seen:
            seen.add(text)
            yield text


def _picker(words: Mapping[str, Sequence[str]], rng: random.Random) -> Callable[[str], str]:
    return lambda slot: rng.choice(words[slot]).replace("{n}", str(rng.randint(2, 99_999)))


def _several(pick: Callable[[str], str], rng: random.Random, glue: str) -> str:
    return glue.join(pick("more") for _ in range(rng.randint(1, 2)))
