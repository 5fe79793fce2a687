"""A summary is made of the memories' own sentences, in their language and order, quickly and always alike."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from memex.core.passages import sentences
from memex.core.summarize import summarize

TEXTS = {
    "en": [
        f"Ann tested build {n} of the payment service in Oslo. It was cold. She wrote report {n}." for n in range(50)
    ],
    "zh": [f"小安在奥斯陆测试了支付服务的第{n}个版本。天气很冷。她写了第{n}份报告。" for n in range(50)],
    "ja": [f"安はオスロで決済サービスの{n}番目のビルドを試験した。寒かった。報告書{n}を書いた。" for n in range(50)],
}


@pytest.mark.parametrize("language", TEXTS)
def test_it_consists_of_the_memories_sentences_in_their_order(language: str) -> None:
    texts = TEXTS[language]
    summary = summarize(texts)
    told = [sentence for line in summary.splitlines() for sentence in sentences(line)]
    known = [sentence for text in texts for sentence in sentences(text)]
    places = [known.index(sentence) for sentence in told]
    assert told
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We deploy on Friday evening after a backup.", "We deploy on Friday evening after a backup now."),
        ("我们周五晚上备份之后再部署服务。", "我们周五晚上备份之后才部署服务。"),
        ("金曜の夜にバックアップを取ってからデプロイします。", "金曜の夜にバックアップを取ってからデプロイする。"),
    ],
)
def test_sentences_that_repeat_each_other_are_one(first: str, second: str) -> None:
    assert summarize([first, second, first]) == first


def test_it_keeps_to_its_length_and_leaves_out_what_is_retracted() -> None:
    assert len(summarize(TEXTS["en"], max_chars=300)) <= 300
    assert (
        summarize(["Ann likes green tea.", "Ann lives in Oslo now."], without=["Ann likes green tea."])
        == "Ann lives in Oslo now."
    )


@pytest.mark.parametrize(
    ("usual", "fact"),
    [
        ("Visited Bea about parcel {} near gate {}.", "Aria told me she is allergic to peanuts."),
        ("Visited Bea about parcel {} near gate {}.", "I live in Ghent."),
        ("Took parcel {} to Bea near gate {}.", "The spare key lies under a flowerpot."),
        ("Visited Bea about parcel {} near gate {}.", "My dentist is Dr. Falk."),
        ("去了{}号门找小贝拿第{}个包裹。", "我的牙医是陈医生。"),
        ("ベアと{}番ゲートで{}個目の荷物を受け取った。", "歯医者は本田先生です。"),
        ("去了{}号门找小贝拿第{}个包裹。", "阿丽说她对花生过敏。"),
        ("ベアと{}番ゲートで{}個目の荷物を受け取った。", "アリアはピーナッツアレルギーだと言っていた。"),
        ("ベアと{}番ゲートで{}個目の荷物を受け取った。", "予備の鍵は植木鉢の下に隠してある。"),
    ],
)
@pytest.mark.parametrize("place", [0, 7, 13])
def test_what_lasts_or_is_like_nothing_else_is_kept(usual: str, fact: str, place: int) -> None:
    texts = [usual.format(n, n * 7) for n in range(13)]
    assert fact in summarize([*texts[:place], fact, *texts[place:]])


@pytest.mark.parametrize("texts", [[], ["", "ok", "!!!"], ["🎉"]])
def test_of_nothing_there_is_no_summary(texts: list[str]) -> None:
    assert summarize(texts) == ""


def test_it_is_the_same_in_every_process() -> None:
    code = "import sys; from memex.core.summarize import summarize; from tests.unit.core.test_summarize import TEXTS; sys.stdout.buffer.write(summarize(TEXTS['zh']).encode())"
    made = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, timeout=60,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert made == {summarize(TEXTS["zh"]).encode()}


def test_fifty_memories_take_two_milliseconds() -> None:
    texts = [f"Caroline told Melanie about trip number {n} to lake {n * 7} with her dog." for n in range(50)]
    took = []
    for _ in range(30):
        started = time.process_time()  # not what others on the machine take
        summarize(texts)
        took.append(time.process_time() - started)
    assert min(took) <= 0.002
