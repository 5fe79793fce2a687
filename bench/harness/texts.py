"""Short, realistic sentences in English, Chinese and Japanese: seeded, all different.

The words are in `data/words.json`. Every statement has a reason ("why") and every question a place ("where")
with a number in it, so texts of different seeds hardly ever meet.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

__all__ = ["LANGUAGES", "question", "questions", "sentence", "sentences"]

LANGUAGES = ("en", "zh", "ja")

_WORDS = Path(__file__).resolve().parent.parent / "data" / "words.json"
_Make = Callable[[random.Random, str | None], str]
# Half English, because that is what most agents hear; the rest shares two scripts without spaces.
_MIX = ("en", "en", "zh", "ja")


def sentence(rng: random.Random, language: str | None = None) -> str:
    """Return one statement of 8..40 words (about as many meaning units in Chinese and Japanese)."""
    language = language or rng.choice(_MIX)
    if language == "zh":
        p = _picker("zh", rng)
        return f"{p('when')}{p('who')}{p('did')}{p('what')}，{p('why')}，{_several(p, rng, '，')}。"
    if language == "ja":
        p = _picker("ja", rng)
        return f"{p('when')}{p('who')}が{p('what')}{p('did')}。{p('why')}、{_several(p, rng, '、')}。"
    p = _picker("en", rng)
    text = f"{p('who')} {p('did')} {p('what')} {p('when')} {p('why')}, {_several(p, rng, ', ')}."
    return text[0].upper() + text[1:]


def question(rng: random.Random, language: str | None = None) -> str:
    """Return one short question of the kind that an agent asks before it acts."""
    language = language or rng.choice(_MIX)
    if language == "zh":
        p = _picker("zh", rng)
        return f"{p('who')}在{p('where')}关于{p('what')}是怎么说的？"
    if language == "ja":
        p = _picker("ja", rng)
        return f"{p('who')}は{p('where')}{p('what')}について何と言っていましたか？"
    p = _picker("en", rng)
    return f"What did {p('who')} say about {p('what')} {p('where')}?"


def sentences(seed: int, language: str | None = None) -> Iterator[str]:
    """Yield statements for ever, none twice, the same for the same seed."""
    return _unique(random.Random(f"statements-{seed}"), sentence, language)


def questions(seed: int, language: str | None = None) -> Iterator[str]:
    """Yield questions for ever, none twice, the same for the same seed."""
    return _unique(random.Random(f"questions-{seed}"), question, language)


def _unique(rng: random.Random, make: _Make, language: str | None) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        text = make(rng, language)
        if text not in seen:
            seen.add(text)
            yield text


@cache
def _words() -> Mapping[str, Mapping[str, Sequence[str]]]:
    words: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(_WORDS.read_text(encoding="utf-8"))
    return words


def _picker(language: str, rng: random.Random) -> Callable[[str], str]:
    words = _words()[language]
    return lambda slot: rng.choice(words[slot]).replace("{n}", str(rng.randint(2, 99_999)))


def _several(pick: Callable[[str], str], rng: random.Random, glue: str) -> str:
    return glue.join(pick("more") for _ in range(rng.randint(1, 2)))
