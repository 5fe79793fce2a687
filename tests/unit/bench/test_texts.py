"""Generated texts: different, repeatable, in three languages, short."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from bench.harness.texts import LANGUAGES, questions, sentences


@pytest.mark.parametrize("make", [sentences, questions])
def test_texts_are_all_different_and_the_same_for_the_same_seed(make: Callable[[int], Iterator[str]]) -> None:
    texts = list(itertools.islice(make(1), 5_000))
    assert len(set(texts)) == 5_000
    assert list(itertools.islice(make(1), 100)) == texts[:100]


@pytest.mark.parametrize("make", [sentences, questions])
def test_texts_of_different_seeds_hardly_meet(make: Callable[[int], Iterator[str]]) -> None:
    one, other = (set(itertools.islice(make(seed), 5_000)) for seed in (1, 2))
    assert len(one & other) <= 5


@pytest.mark.parametrize(
    ("language", "first", "last"), [("en", "A", "z"), ("zh", "\u4e00", "\u9fff"), ("ja", "\u3040", "\u30ff")]
)
def test_each_language_is_written_in_its_script(language: str, first: str, last: str) -> None:
    for text in itertools.islice(sentences(3, language), 50):
        assert sum(first <= c <= last for c in text) >= 8, text
        assert "{n}" not in text


def test_the_mix_has_every_language() -> None:
    texts = list(itertools.islice(sentences(4), 200))
    kana = sum(any("\u3040" <= c <= "\u30ff" for c in t) for t in texts)
    latin = sum(t[0].isascii() for t in texts)
    assert kana > 20
    assert latin > 60
    assert len(texts) - kana - latin > 20
    assert set(LANGUAGES) == {"en", "zh", "ja"}


def test_english_statements_have_eight_to_forty_words() -> None:
    lengths = [len(t.split()) for t in itertools.islice(sentences(5, "en"), 500)]
    assert min(lengths) >= 8
    assert max(lengths) <= 45
