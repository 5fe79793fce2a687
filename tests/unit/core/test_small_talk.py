"""Small talk around a statement is known, hides no correction, and nothing else is taken for it."""

from __future__ import annotations

import pytest

from memex.core.contradiction import contradicts
from memex.core.importance import DEFAULT_THRESHOLD, rate
from memex.core.small_talk import without_small_talk
from tests.labelled import rows

# What was said before, what corrects it, and something to keep.
TOLD = {
    "en": ("I live in Toronto.", "I live in Oslo now.", "My sister is a nurse."),
    "zh": ("我住在杭州。", "我现在住在成都。", "我妹妹是护士。"),
    "ja": ("札幌に住んでいます。", "今は福岡に住んでいます。", "妹は看護師です。"),
}
SHAPES = [(language, shape) for language, shape in rows("small-talk")]


@pytest.mark.parametrize("language", TOLD)
def test_small_talk_hides_neither_a_correction_nor_what_is_to_be_kept(language: str) -> None:
    old, new, fact = TOLD[language]
    shapes = [shape for of, shape in SHAPES if of == language]
    assert len(shapes) >= 30
    assert [shape for shape in shapes if not contradicts(shape.replace("{}", new), old)] == []
    assert [shape for shape in shapes if rate(shape.replace("{}", fact)).value < DEFAULT_THRESHOLD] == []


@pytest.mark.parametrize("language", TOLD)
def test_small_talk_by_itself_is_nothing_to_keep(language: str) -> None:
    alone = [shape.replace("{}", "").strip() for of, shape in SHAPES if of == language]
    assert [said for said in alone if without_small_talk(said) != ""] == []


@pytest.mark.parametrize(
    "said", ["Thanks", "Thanks!", "Thank you so much for your help.", "谢谢", "ありがとうございます。"]
)
def test_thanks_alone_are_skipped(said: str) -> None:
    assert rate(said).value < DEFAULT_THRESHOLD


@pytest.mark.parametrize(
    "said",
    [
        "I like my coffee black, cold",
        "I work at Fiat, a great company.",
        "Thanks to Anna we deploy with Argo now.",
        "Good night shifts pay well.",
        "Sorry, I live in Oslo.",  # it corrects
        "My dog is well.",
        "We meet on Mondays, and have a meeting every morning.",
        "Always answer in French.",
        "妹妹的生日歌是《生日快乐》。",
        "我的老板好说话。",
        "谢谢是我最先学会的中文词。",
        "感谢信由我们组来写。",
        "すみません、札幌に住んでいます。",
        "田中さん、会計担当になりました。",
        "お疲れ様会は金曜日です。",
        "Argoに移行しました。",
    ],
)
def test_a_statement_is_no_small_talk(said: str) -> None:
    assert without_small_talk(said) == said


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Hi there! Our backups run at 2 am, thanks for asking.", "Our backups run at 2 am."),
        ("Hi Anna, not urgent, but the door code is 4711. Best regards, Tom", "the door code is 4711."),
        ("hello everyone we moved to Argo", "we moved to Argo"),
        ("你好！备份每天凌晨两点跑，谢谢关心。", "备份每天凌晨两点跑。"),
        ("大家好我们换了会议室", "我们换了会议室"),
        ("こんにちは！バックアップは毎日2時に動きます、ありがとうございます。", "バックアップは毎日2時に動きます。"),
        ("お疲れ様です。私は甘党です。よろしくお願いします。", "私は甘党です。"),
    ],
)
def test_what_is_said_is_left(said: str, left: str) -> None:
    assert without_small_talk(said) == left
