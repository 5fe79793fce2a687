"""Rules and the vector rate together: who overrules whom, and on which side of the threshold a text comes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memex.core.importance import DEFAULT_THRESHOLD, rate
from memex_server.embedding.cards import BUNDLED
from memex_server.testing import HashingEmbedder
from memex_server.worth import Worth, load_worth, rated, rule_features, texts_judged

FOR, AGAINST = np.array([9.0, 0.0]), np.array([-9.0, 0.0])
# Sees only the first component of a vector, and what the rules say not at all.
WORTH = Worth(bias=0.0, vector=np.array([1.0, 0.0]), rules=np.zeros(4))


def judged(text: str, *vectors: np.ndarray) -> float:
    return WORTH.judge(texts_judged(text), np.stack(vectors)).value


@pytest.mark.parametrize("text", ["Redis is a key-value store.", "我喜欢喝普洱茶。", "緑茶が好きです。"])
def test_the_vector_decides_on_which_side_of_the_threshold_a_text_comes_out(text: str) -> None:
    assert rate(text).value >= DEFAULT_THRESHOLD
    assert judged(text, FOR) == rate(text).value
    assert judged(text, AGAINST) < DEFAULT_THRESHOLD


@pytest.mark.parametrize("text", ["Is it red?", "再跑一遍", "ありがとう"])
def test_what_the_rules_drop_is_kept_at_the_threshold_if_the_vector_is_for_it(text: str) -> None:
    assert rate(text).value < DEFAULT_THRESHOLD
    assert judged(text, FOR) == DEFAULT_THRESHOLD
    assert judged(text, AGAINST) == rate(text).value


@pytest.mark.parametrize(
    "text", ["Remember that I park on level 3.", "记住，我的车停在三层。", "覚えておいて、車は3階です。"]
)
def test_who_asks_to_be_remembered_is_not_overruled(text: str) -> None:
    assert judged(text, AGAINST) >= DEFAULT_THRESHOLD


@pytest.mark.parametrize("text", ["...", "👍👍", "！？"])
def test_what_says_nothing_is_not_kept_whatever_its_vector(text: str) -> None:
    assert judged(text, FOR) == 1.0


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Thanks a lot! I am allergic to nuts.", ["Thanks a lot!", "I am allergic to nuts."]),
        ("谢谢！我对花生过敏。", ["谢谢！", "我对花生过敏。"]),
        ("ありがとう！ナッツのアレルギーがあります。", ["ありがとう！", "ナッツのアレルギーがあります。"]),
    ],
)
def test_one_sentence_is_enough_to_keep_a_text_for(text: str, sentences: list[str]) -> None:
    assert texts_judged(text) == [sentences[1], *sentences]  # the thanks do not count
    assert judged(text, AGAINST / 3, AGAINST, FOR) >= DEFAULT_THRESHOLD
    assert judged(text, AGAINST / 3, AGAINST, AGAINST) < DEFAULT_THRESHOLD


@pytest.mark.parametrize(
    ("text", "judged_by"),
    [
        ("Hi there! Our backups run at 2 am, thanks for asking.", "Our backups run at 2 am."),
        ("你好！备份每天凌晨两点跑，谢谢关心。", "备份每天凌晨两点跑。"),
        ("こんにちは！バックアップは毎日2時に動きます、ありがとうございます。", "バックアップは毎日2時に動きます。"),
    ],
)
def test_thanks_around_a_statement_are_no_part_of_what_is_judged(text: str, judged_by: str) -> None:
    whole, _, sentence = texts_judged(text)
    assert (whole, sentence) == (judged_by, judged_by)


def test_of_a_long_text_beginning_and_end_are_judged() -> None:
    text = " ".join(f"The {n}th lamp of the pier is green." for n in range(500))
    texts = texts_judged(text)
    assert len(texts) == 17
    assert texts[1].startswith("The 0th")
    assert texts[-1] == "The 499th lamp of the pier is green."
    assert sum(map(len, texts)) < 3_000


@given(odds=st.floats(-50, 50), text=st.sampled_from(["I like tea.", "Is it red?", "Thanks!", "Remember: I am Ann."]))
def test_a_rating_lies_between_1_and_10_and_more_odds_never_rate_lower(odds: float, text: str) -> None:
    low, high = (WORTH.judge([text], np.array([[o, 0.0]])).value for o in (odds, odds + 1))
    assert 1 <= low <= high <= 10


def test_what_ships_is_of_the_default_model_alone() -> None:
    card = BUNDLED["multilingual-e5-small"].card
    worth = load_worth(card.id)
    assert worth is not None
    assert worth.vector.shape == (card.dim,)
    assert worth.rules.shape == rule_features(rate("I like tea.")).shape
    assert load_worth("all-MiniLM-L6-v2-int8") is None


async def test_without_weights_for_the_model_the_rules_rate() -> None:
    for text in ("I like tea.", "谢谢", "元気？"):
        assert await rated(text, HashingEmbedder(), None) == rate(text)
