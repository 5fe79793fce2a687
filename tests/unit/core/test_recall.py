from __future__ import annotations

import pytest

from memex.core.recall import keyword_key, named_keys, recall_score, registered_relevance


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ops-Window", "ops-window"), ("ＦＲＩＤＡＹ", "friday"), ("東京", "东京"), (" door  code ", "Door Code"), ("ｱﾚﾙｷﾞｰ", "アレルギー")],
)  # fmt: skip
def test_spellings_of_one_keyword_have_one_key(one: str, other: str) -> None:
    assert keyword_key(one) == keyword_key(other)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("上线失败了怎么回滚？", "回滚"),
        ("ピーナッツアレルギーのことを教えて", "アレルギー"),
        ("What is the door code of the flat?", "door code"),
        ("请用 Terraform Cloud 部署", "terraform cloud"),
        ("배포는 금요일 저녁에 합니다", "금요일"),
        ("C++ or Rust", "rust"),
    ],
)
def test_a_text_names_the_keywords_in_it(text: str, named: str) -> None:
    assert named in named_keys(text)
    assert keyword_key(text) in named_keys(text)


def test_a_pasted_document_names_a_bounded_number_of_keys() -> None:
    assert len(named_keys("词" * 3 + "语言 words and more " * 10_000)) < 4_000
    assert named_keys("") == named_keys(" \n") == []


@pytest.mark.parametrize(
    ("registered", "keywords", "query", "expected"),
    [
        ({"周五", "部署"}, ["周五", "部署"], "", 1.0),
        ({"周五"}, ["周五", "部署"], "", 0.5),
        ({"周五"}, ["周五部署"], "", 0.5),
        ({keyword_key("東京")}, ["东京"], "", 1.0),
        ({"周五"}, [], "周五能上线吗", 0.5),
        ({"周五", "上线"}, [], "周五能上线吗", 0.75),
        ({"东京"}, ["周五"], "周五能上线吗", 0.0),
        (set(), ["周五"], "x", 0.0),
    ],
)
def test_registered_keywords_answer_by_their_share(
    registered: set[str], keywords: list[str], query: str, expected: float
) -> None:
    assert registered_relevance(frozenset(registered), keywords, query) == expected


def test_the_score_is_seven_parts_relevance_and_three_parts_freshness() -> None:
    assert recall_score(1.0, 0, 30) == pytest.approx(1.0)
    assert recall_score(0.5, 30, 30) == pytest.approx(0.35 + 0.15)
    assert recall_score(1.0, 300, 30) > recall_score(0.5, 0, 30)
