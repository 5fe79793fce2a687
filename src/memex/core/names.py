"""Who speaks in a turn, and who is named in a question: by rules, without a model."""

from __future__ import annotations

from .patterns import lazy

__all__ = ["names", "speaker"]

_WORD = r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3][^\W\u3040-\u30ff\u3400-\u9fff]*(?:['\u2019.\-][^\W_]+)*\.?"
_WIDE = r"[\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u00b7\u30fb]"
# "Name: text" with a space after a half-width colon (so neither "12:30" nor "http://"), or "Name：text".
_SPEAKER = lazy(
    rf"\s*(?P<name>{_WORD}(?: {_WORD}){{0,2}}|{_WIDE}{{1,12}})[^\S\n]*(?:\uff1a|:(?=\s)|(?<={_WIDE}):)\s*(?=\S)"
)
_MAX_NAME_CHARS = 40
_SCHEMES = "http https ftp mailto file"
# What stands before a colon and says what kind of text follows, not who speaks.
_LABELS = """
    correction update note notes edit ps fyi nb reminder remember todo decision question answer summary warning error
    fact important tip result conclusion example preference deadline postmortem lesson lessons cause fix rca
    更正 纠正 糾正 更新 注意 备注 備註 附注 提醒 记住 决定 结论 总结 问题 答案 警告 错误 重要 例如 偏好 截止日期
    原因 根因 根本原因 复盘 复盘结论 教训
    訂正 修正 追記 メモ 注 注記 備考 決定 結論 質問 回答 要約 例 重要事項 対策 教訓 ポストモーテム
    정정 참고 메모 결정
"""
_FAULT = lazy(r"(?:Error|Exception|Warning|ERR)$")  # "ValueError: ..." is said by nobody
_NOT_NAMES = frozenset(f"{_SCHEMES} {_LABELS}".split())

_CAPITALISED = lazy(r"(?<![\w])[A-Z\u00c0-\u00de][^\W\d_\u3040-\u9fff\uac00-\ud7a3]+(?:-[A-Z][^\W\d_]+)*")
_HONOURED = lazy(
    r"([\u30a1-\u30fc]{2,12}|[\u3400-\u9fff]{1,4})(?:さん|ちゃん|くん|さま|様|氏)|([\u3400-\u9fff]{1,3})(?:先生|女士|小姐)"
)
_SENTENCE_START = lazy(r"(?:\A|[.!?。！？]\s*|\n\s*)[\"'“‘(]*\Z")
# Words that are capitalised because they begin a question, an order or an answer.
_OPENER_WORDS = """
    a about according after all also am an and any are as ask at based be because before between both but by can
    compare considering could describe did do does during each explain find for from give given had has have he
    help hello hey hi how i if in is it its last let list look looking may me my name no not now of okay on one or
    our over please remind she should show since so some suggest summarize tell thank thanks that the their then
    there these they this those to was we well were what when where which while who whom whose why will with would
    yes yet you your
"""
_CALENDAR_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december
"""
_OPENERS = frozenset(_OPENER_WORDS.split())
_CALENDAR = frozenset(_CALENDAR_WORDS.split())


def speaker(text: str) -> tuple[str | None, str]:
    """Split "Name: text" into name and text; (None, `text`) if it does not begin so.

    A name is one word, two or three capitalised words, or up to twelve CJK characters; "Note" and "更正" are none.
    """
    match = _SPEAKER.match(text)
    if match is None:
        return None, text
    name = match["name"]
    words = name.split(" ")
    capitalised = len(words) == 1 or all(not word[0].islower() for word in words)
    if not capitalised or len(name) > _MAX_NAME_CHARS or name.casefold() in _NOT_NAMES or _FAULT.search(name):
        return None, text
    return name, text[match.end() :]


def names(text: str) -> list[str]:
    """Return the people and places that `text` names, each once, in order.

    They are capitalised words other than sentence openers and calendar words, and CJK names before an honorific.
    """
    found: dict[str, None] = {}
    for match in _CAPITALISED.finditer(text):
        word = match.group()
        folded = word.casefold()
        opener = folded in _OPENERS and _SENTENCE_START.search(text, 0, match.start()) is not None
        if folded not in _CALENDAR and not opener:
            found[word] = None
    for match in _HONOURED.finditer(text):
        found[match[1] or match[2]] = None
    return list(found)
