from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memex.core.text import names, speaker


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("Caroline: Hey Mel!", "Caroline", "Hey Mel!"),
        ("user: hello", "user", "hello"),
        ("Dr. Ann Lee: hello", "Dr. Ann Lee", "hello"),
        ("Jean-Luc O'Neil: oui", "Jean-Luc O'Neil", "oui"),
        ("张曼婷: 你好", "张曼婷", "你好"),
        ("张曼婷：你好", "张曼婷", "你好"),
        ("田中さん:こんにちは", "田中さん", "こんにちは"),
        ("Tanaka：元気？", "Tanaka", "元気？"),
        ("User1: hi", "User1", "hi"),
    ],
)
def test_a_speaker_is_split_off(text: str, name: str, rest: str) -> None:
    assert speaker(text) == (name, rest)


@pytest.mark.parametrize(
    "text",
    [
        "http://example.com",
        "https: //example.com",
        "12:30 we met",
        "ValueError: invalid literal for int()",
        "DeprecationWarning: use another",
        "Note: the port is 8080",
        "更正：端口是 8081",
        "訂正：ポートは8081です",
        "I think this: no",
        "what about this one here: no",
        "no colon here",
        "Name:",
        "Name: ",
        "key:value",
        "",
        ": text",
        "line\nName: text",
        "这是一个很长很长很长的句子不是名字：对",
        "C:\\x\\y",
        "A" * 50 + ": text",
    ],
)
def test_what_is_no_speaker_is_left_alone(text: str) -> None:
    assert speaker(text) == (None, text)


@given(st.text())
def test_any_text_ends_with_its_rest(text: str) -> None:
    name, rest = speaker(text)
    assert text.endswith(rest)
    assert (name is None) == (rest == text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did Caroline go to the LGBTQ support group with Melanie?", ["Caroline", "LGBTQ", "Melanie"]),
        ("What did I tell you about Kyoto in May?", ["Kyoto"]),
        ("Have I met Élodie?", ["Élodie"]),
        ("Bart在圣诞节晚会上跳舞", ["Bart"]),
        ("きのう田中さんと会った", ["田中"]),
        ("王先生喜欢喝茶", ["王"]),
        ("nothing here", []),
        ("", []),
    ],
)
def test_names_in_a_question(text: str, expected: list[str]) -> None:
    assert [name for name in names(text) if name in expected] == expected
    if not expected:
        assert names(text) == []
