"""What is worth remembering is told from what is not, in three languages."""

from __future__ import annotations

import time

import pytest

from memex.core.importance import DEFAULT_THRESHOLD, rate
from tests.labelled import LANGUAGES, rows, score_gate


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["importance", "importance-unseen"])
def test_nine_of_ten_are_judged_rightly(name: str, language: str) -> None:
    score = score_gate(f"{name}-{language}")
    assert score.precision >= 0.9, score.wrong
    assert score.recall >= 0.9, score.wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_labelled_set_is_large_and_half_of_it_is_to_be_kept(language: str) -> None:
    labels = [label for label, _ in rows(f"importance-{language}")]
    assert len(labels) >= 60
    assert 0.4 <= labels.count("keep") / len(labels) <= 0.6


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("用户偏好 Go，明确不要 Java 方案", True),
        ("用戶偏好 Go，明確不要 Java 方案", True),  # traditional characters
        ("Actually, my favorite color is red.", True),
        ("The build is still red.", False),
        ("我们升级到 PostgreSQL 17 了", True),
        ("例会改到每周二上午十点了", True),
        ("我吃过了", False),
        ("提交前一定要跑测试", True),
        ("谢谢，辛苦了", False),
        ("Hi there! Our backups run at 2 am, thanks for asking.", True),
        ("Thanks for asking, the stand-up is at 9:30.", True),
        ("Hi there, thanks for asking!", False),
        ("Thanks for the quick fix, it runs again.", False),
        ("你好！备份每天凌晨两点跑，谢谢关心。", True),
        ("你好！谢谢关心。", False),
        ("こんにちは！バックアップは毎日2時に動きます、ありがとうございます。", True),
        ("これからこのリポジトリではpnpmを使って。", True),
        ("これから寝る。", False),
        ("こんにちは！ありがとうございます。", False),
        ("謝謝，辛苦了", False),
        ("Ann: I prefer tea over coffee.", True),  # a turn is rated by what is said
        ("Assistant: You are welcome!", False),
        ("REMEMBER: the door code is 4711", True),
        ("Remember to smile?", False),
        ("Invoices must be written in Polish as well.", True),
        ("It must be broken.", False),
        ("The lesson: test a backup before a migration.", True),
        ("我妈被诊断出糖尿病。", True),
        ("体检结果出来了，我其实对猫不过敏。", True),
        ("检查一下这个文件。", False),
        ("我现在开特斯拉。", True),
        ("我现在开会。", False),
        ("嗨，下班前说一声：我家现在在柳林路。谢啦！", True),
        ("糖尿病と診断されました。", True),
        ("ValueError: invalid literal for int()", False),
        ("？？？", False),
        ("   ", False),
        ("🎉🎉", False),
        ("ok\u200b", False),
    ],
)
def test_a_single_text_is_judged(text: str, kept: bool) -> None:
    rating = rate(text)
    assert (rating.value >= DEFAULT_THRESHOLD) is kept, rating
    assert 1 <= rating.value <= 10
    assert rating.reason


def test_a_reason_more_makes_it_more_important() -> None:
    assert rate("We decided to always use PostgreSQL.").value > rate("We like PostgreSQL.").value


@pytest.mark.parametrize("text", ["a" * 60_000, "我" * 60_000, "my " * 20_000, "was zur " * 9_000, "では" * 30_000])
def test_a_long_text_is_rated_quickly(text: str) -> None:
    started = time.process_time()
    rate(text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("lasts", "passes"),
    [
        ("The deploy failed because the disk on db-3 was full; we rolled back to 1.8.2", "the build failed again"),
        ("Root cause of the outage: expired TLS certificate", "getting a 500 right now"),
        ("昨晚的故障原因是证书过期，已回滚到 1.8.2", "构建又失败了"),
        ("障害の原因は証明書の期限切れで、1.8.2にロールバックしました", "またビルドが失敗しました"),
        ("btw i'm left handed", "btw thanks for waiting"),
    ],
)
def test_why_something_failed_lasts_and_that_it_fails_now_does_not(lasts: str, passes: str) -> None:
    assert rate(lasts).value >= DEFAULT_THRESHOLD > rate(passes).value
