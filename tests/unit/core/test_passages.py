from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memex.core.text import Span, estimate_tokens, passages, sentences

TEXT = st.text(st.sampled_from('abc defg.!?\n。！？、 我东京でか한1,-"」🎉'), max_size=900)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I ran. You walked! Why? Because.", ["I ran.", "You walked!", "Why?", "Because."]),
        ("Dr. Lee paid 3.50 at example.com. J. Doe too.", ["Dr. Lee paid 3.50 at example.com.", "J. Doe too."]),
        ("我喜欢健身。你呢？我也是！", ["我喜欢健身。", "你呢？", "我也是！"]),
        ("他说：“好的。”然后走了。", ["他说：“好的。”", "然后走了。"]),
        ("「行こう！」と言った。東京で会いましょう。", ["「行こう！」", "と言った。", "東京で会いましょう。"]),
        ("first line\nsecond line", ["first line", "second line"]),
        ('He said "no." Then left.', ['He said "no."', "Then left."]),
        ("   ", []),
        ("", []),
        ("no end", ["no end"]),
    ],
)
def test_sentences_of(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(TEXT)
def test_sentences_lose_nothing_but_spaces(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(TEXT, st.integers(8, 60), st.integers(0, 30))
def test_spans_cover_the_text_in_order_and_stay_within_the_budget(text: str, max_tokens: int, overlap: int) -> None:
    spans = passages(text, max_tokens=max_tokens, overlap=min(overlap, max_tokens // 2))
    assert spans[0].start == 0
    assert spans[-1].end == len(text)
    for before, after in itertools.pairwise(spans):
        assert before.start < after.start <= before.end < after.end
    assert all(estimate_tokens(text[span.start : span.end]) <= max_tokens for span in spans)


@given(TEXT)
def test_without_overlap_spans_join_to_the_text(text: str) -> None:
    assert "".join(text[span.start : span.end] for span in passages(text, max_tokens=20)) == text


@pytest.mark.parametrize("text", ["", "short", "我喜欢健身。", "一" * 300])
def test_a_short_text_is_one_span(text: str) -> None:
    assert passages(text, max_tokens=256) == [Span(0, len(text))]


def test_spans_end_at_paragraphs_then_sentences() -> None:
    paragraph = "The trip was long. We saw the sea. "
    text = (paragraph * 4).strip() + "\n\n" + paragraph * 20
    spans = passages(text, max_tokens=60)
    assert text[spans[0].start : spans[0].end].endswith("\n\n")
    assert all(text[span.start : span.end].rstrip().endswith(".") for span in spans)


@pytest.mark.parametrize(("unit", "count"), [("x", 9_000), ("猫", 4_000), ("word ", 4_000), ("🎉", 2_000)])
def test_a_text_without_sentence_ends_is_cut_hard(unit: str, count: int) -> None:
    spans = passages(unit * count, max_tokens=100)
    assert len(spans) > 1
    assert all(estimate_tokens((unit * count)[span.start : span.end]) <= 100 for span in spans)


def test_words_are_not_cut_where_a_space_is_near() -> None:
    text = "wordy " * 500
    assert all(text[span.start : span.end].endswith(" ") for span in passages(text, max_tokens=64))


def test_overlap_repeats_whole_sentences() -> None:
    text = "".join(f"这是第{i}句话。" for i in range(100))
    spans = passages(text, max_tokens=60, overlap=15)
    for before, after in itertools.pairwise(spans):
        repeated = text[after.start : before.end]
        assert repeated.endswith("。")
        assert text[after.start - 1] == "。"


@pytest.mark.parametrize(("max_tokens", "overlap"), [(7, 0), (20, 11), (20, -1)])
def test_impossible_budgets_are_refused(max_tokens: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        passages("text", max_tokens=max_tokens, overlap=overlap)
