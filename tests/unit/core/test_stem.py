from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memex.core.stem import stem

# Results of the published algorithm.
STEMS = """caresses caress|flies fli|dies die|mules mule|denied deni|died die|agreed agre|owned own|humbled humbl|
sized size|meeting meet|stating state|siezing siez|itemization item|sensational sensat|traditional tradit|
reference refer|colonizer colon|plotted plot|hopping hop|hoping hope|running run|happily happili|happy happi|
cry cri|by by|say say|enjoy enjoy|enjoying enjoy|relational relat|conditional condit|rational ration|
generously generous|general general|generate generat|communities communiti|organization organiz|organ organ|
university universiti|universe univers|controlling control|roll roll|adoption adopt|adjustment adjust|bowdlerize bowdler|
goodness good|hopefulness hope|triplicate triplic|formative format|electrical electr|probate probat|rate rate|
cease ceas|pottery potteri|skies sky|dying die|news news|evenings evening|proceeds proceed|as as|is is|gas gas|
gaps gap|kiwis kiwi|this this|yes yes|youth youth|boyish boyish|flying fli|geology geolog|biologist biolog"""


@pytest.mark.parametrize("pair", [pair.split() for pair in STEMS.replace("\n", "").split("|")], ids=" ".join)
def test_stems_are_those_of_the_published_algorithm(pair: list[str]) -> None:
    word, expected = pair
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["", "a", "健身", "naïve", "привет", "サーフィン"])
def test_what_is_not_plain_english_stays(word: str) -> None:
    assert stem(word) == word


@given(st.text("abcdeginlostuvy'Y1", max_size=20))
def test_a_stem_is_never_empty_nor_longer_than_its_word_by_more_than_a_letter(word: str) -> None:
    assert bool(stem(word)) == bool(word)
    assert len(stem(word)) <= len(word) + 1
