"""English stemming: words of one family get one index term ("hiking", "hiked", "hikes" -> "hike").

The rules follow M. Porter's "English" (Porter2) algorithm, snowballstem.org/algorithms/english;
its short lists of exceptions are kept to the words that matter for retrieval.
"""

from __future__ import annotations

from .patterns import lazy

__all__ = ["stem"]

_VOWELS = "aeiouy"
_DOUBLES = frozenset(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"))
# R1 is what follows the first consonant after a vowel; R2 is the R1 of R1.
_REGION = lazy(r"[aeiouy][^aeiouy]")
# After these beginnings the usual R1 would merge words that mean different things ("organ", "organize").
_EARLY_R1 = lazy(r"arsen|commun|emerg|gener|inter|later|organ|past|univers")
_VOWEL = lazy(r"[aeiouy]")
_SHORT_END = lazy(r"(?:.*[^aeiouy][aeiouy][^aeiouywxY]|[aeiouy][^aeiouy]|past)\Z")

_FIXED = {
    "skis": "ski",
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "vying": "vie",
    "lying": "lie",
    "tying": "tie",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
    "news": "news",
    "howe": "howe",
    "atlas": "atlas",
    "cosmos": "cosmos",
    "bias": "bias",
    "andes": "andes",
}
# Complete words that look like a past tense or an -ing form.
_WHOLE = frozenset(("canning", "earring", "evening", "exceed", "herring", "inning", "outing", "proceed", "succeed"))


def _by_last_two(pairs: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    table: dict[str, list[tuple[str, str]]] = {}
    for suffix in sorted(pairs, key=len, reverse=True):
        table.setdefault(suffix[-2:], []).append((suffix, pairs[suffix]))
    return table


# Suffix -> replacement, where the suffix lies in R1 (first two tables) or R2 (third).
_STEP_2 = _by_last_two(
    {
        "tional": "tion",
        "enci": "ence",
        "anci": "ance",
        "abli": "able",
        "entli": "ent",
        "izer": "ize",
        "ization": "ize",
        "ational": "ate",
        "ation": "ate",
        "ator": "ate",
        "alism": "al",
        "aliti": "al",
        "alli": "al",
        "fulness": "ful",
        "ousli": "ous",
        "ousness": "ous",
        "iveness": "ive",
        "iviti": "ive",
        "biliti": "ble",
        "bli": "ble",
        "fulli": "ful",
        "lessli": "less",
        "ogist": "og",
    }
)
_STEP_3 = _by_last_two(
    {
        "tional": "tion",
        "ational": "ate",
        "alize": "al",
        "icate": "ic",
        "iciti": "ic",
        "ical": "ic",
        "ful": "",
        "ness": "",
    }
)
_STEP_4_SUFFIXES = "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize"
_STEP_4 = _by_last_two(dict.fromkeys(_STEP_4_SUFFIXES.split(), ""))


def stem(word: str) -> str:
    """Return the stem of a folded word; words that are not plain lower-case ASCII stay as they are."""
    if len(word) < 3 or not word.isascii():
        return word
    fixed = _FIXED.get(word)
    if fixed is not None:
        return fixed
    word = _mark_consonant_y(word)
    early = _EARLY_R1.match(word)
    r1 = early.end() if early else _region(word, 0)
    r2 = _region(word, r1)
    word = _step_1a(word)
    if word in _WHOLE:
        return word
    word = _step_1b(word, r1)
    if word[-1] in "yY" and len(word) > 2 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    if len(word) > r1:  # all further suffixes lie in R1
        word = _step_2(word, r1)
        word = _step_3(word, r1, r2)
        word = _step_4(word, r2)
        word = _step_5(word, r1, r2)
    return word.replace("Y", "y")


def _mark_consonant_y(word: str) -> str:
    if "y" not in word:
        return word
    letters = list(word)
    for i, letter in enumerate(letters):
        if letter == "y" and (i == 0 or letters[i - 1] in _VOWELS):
            letters[i] = "Y"
    return "".join(letters)


def _region(word: str, start: int) -> int:
    found = _REGION.search(word, start)
    return found.end() if found else len(word)


def _step_1a(word: str) -> str:
    """Plurals and third persons."""
    if word[-1] == "s":
        if word.endswith("sses"):
            return word[:-2]
        if word.endswith("ies"):
            return word[:-2] if len(word) > 4 else word[:-1]
        if word[-2] not in "su" and _has_vowel(word, len(word) - 2):
            return word[:-1]
    elif word.endswith("ied"):
        return word[:-2] if len(word) > 4 else word[:-1]
    return word


def _has_vowel(word: str, end: int) -> bool:
    return _VOWEL.search(word, 0, end) is not None


def _step_1b(word: str, r1: int) -> str:
    """Past tenses and -ing forms."""
    if not word.endswith(("ed", "ing", "ly")):
        return word
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            return word[: len(word) - len(suffix)] + "ee" if len(word) - len(suffix) >= r1 else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            base = word[: len(word) - len(suffix)]
            if not _has_vowel(base, len(base)):
                return word
            if base.endswith(("at", "bl", "iz")):
                return base + "e"
            if base[-2:] in _DOUBLES and not (len(base) == 3 and base[0] in "aeo"):
                return base[:-1]
            return base + "e" if len(base) <= r1 and _SHORT_END.match(base) else base
    return word


def _replace(word: str, table: dict[str, list[tuple[str, str]]], region: int) -> str | None:
    for suffix, replacement in table.get(word[-2:], ()):
        if word.endswith(suffix):
            start = len(word) - len(suffix)
            return word[:start] + replacement if start >= region else word
    return None


def _step_2(word: str, r1: int) -> str:
    replaced = _replace(word, _STEP_2, r1)
    if replaced is not None:
        return replaced
    if word.endswith("logi") and len(word) - 3 >= r1:
        return word[:-1]
    if word.endswith("li") and len(word) - 2 >= r1 and word[-3:-2] in tuple("cdeghkmnrt"):
        return word[:-2]
    return word


def _step_3(word: str, r1: int, r2: int) -> str:
    replaced = _replace(word, _STEP_3, r1)
    if replaced is not None:
        return replaced
    return word[:-5] if word.endswith("ative") and len(word) - 5 >= r2 else word


def _step_4(word: str, r2: int) -> str:
    replaced = _replace(word, _STEP_4, r2)
    if replaced is not None:
        return replaced
    return word[:-3] if word.endswith(("sion", "tion")) and len(word) - 3 >= r2 else word


def _step_5(word: str, r1: int, r2: int) -> str:
    if word[-1:] == "e":
        start = len(word) - 1
        if start >= r2 or (start >= r1 and not _SHORT_END.match(word[:-1])):
            return word[:-1]
    elif word.endswith("ll") and len(word) - 1 >= r2:
        return word[:-1]
    return word
