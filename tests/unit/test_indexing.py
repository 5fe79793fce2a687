"""What vectors are made of: a turn without its speaker, a query without the names of those who speak."""

from __future__ import annotations

import numpy as np
import pytest

from memex.core.text import without
from memex_server.indexing import index_texts, possible_names, without_names
from memex_server.testing import HashingEmbedder


@pytest.mark.parametrize(
    ("text", "unwanted", "left"),
    [
        ("What does Caroline's dog eat?", {"carolin"}, "What does dog eat?"),
        ("What does Caroline\u2019s dog eat?", {"carolin"}, "What does dog eat?"),
        ("caroline", {"carolin"}, ""),
        ("fooBar and foo", {"foo"}, "fooBar and"),
        ("王明喜欢喝什么茶？", {"王明"}, "喜欢喝什么茶?"),
        ("李小龙住在哪里", {"李小", "小龙"}, "住在哪里"),
        ("佐藤さんの趣味は？", {"佐藤"}, "さんの趣味は?"),
        ("nothing of it", {"carolin", "王明"}, "nothing of it"),
        ("", {"x"}, ""),
    ],
)
def test_unwanted_words_and_pairs_leave_a_text(text: str, unwanted: set[str], left: str) -> None:
    assert without(text, unwanted) == left


@pytest.mark.parametrize(
    ("query", "names", "about"),
    [
        ("What instrument does Melanie play?", ["melani"], "What instrument does play?"),
        ("小红养了什么宠物？", ["小红"], "养了什么宠物?"),
        ("ユキは何を弾きますか", ["ユキ"], "は何を弾きますか"),
        ("Who is Melanie?", ["melani"], "Who is Melanie?"),  # nothing would be left to ask for
        ("What instrument does Melanie play?", [], "What instrument does Melanie play?"),
    ],
)
def test_a_query_is_embedded_without_the_names_of_speakers(query: str, names: list[str], about: str) -> None:
    assert set(names) <= set(possible_names(query))
    assert without_names(query, names) == about


@pytest.mark.parametrize(
    ("query", "term", "possible"),
    [
        ("Which user roles are there?", "user", False),
        ("用户喜欢什么", "用户", False),
        ("ユーザーの好みは", "ユー", False),
        ("How do I mark a test?", "mark", False),
        ("Where does Mark live?", "mark", True),
        ("where does caroline live", "carolin", True),
    ],
)
def test_sides_of_a_chat_and_ordinary_words_are_no_names(query: str, term: str, possible: bool) -> None:
    assert (term in possible_names(query)) is possible


@pytest.mark.parametrize("said", ["I play the violin.", "我会拉小提琴。", "バイオリンを弾きます。"])
async def test_the_vector_of_a_turn_is_of_what_is_said(said: str) -> None:
    embedder = HashingEmbedder()
    turn, other, bare = await index_texts(embedder, [f"Ann: {said}", f"李雷：{said}", said])
    assert np.array_equal(turn.vectors, bare.vectors)
    assert np.array_equal(other.vectors, bare.vectors)
    assert turn.spans == [(0, len(said) + 5)]
    assert turn.postings != other.postings


async def test_a_side_of_a_chat_stays_part_of_the_vector() -> None:
    roles, bare = await index_texts(HashingEmbedder(), ["User: I play the violin.", "I play the violin."])
    assert not np.array_equal(roles.vectors, bare.vectors)


async def test_every_passage_of_a_long_turn_has_a_vector_of_something() -> None:
    long = "Ann: " + "The lighthouse keeper writes a letter. " * 300
    [entry] = await index_texts(HashingEmbedder(), [long])
    assert len(entry.spans) > 1
    assert np.allclose(np.linalg.norm(entry.vectors, axis=1), 1)
