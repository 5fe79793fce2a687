"""From text to index terms, hashes and checks; see `fold`, `stem`, `passages` and `names` for the parts.

A term is what the lexical search compares: a stemmed word, a pair of CJK or Hangul characters,
a number, or an identifier (kept whole and in parts). All functions take any `str`.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Container

from .fold import canonical, fold
from .names import names, speaker
from .passages import Span, estimate_tokens, passages, sentences
from .patterns import lazy
from .stem import stem

__all__ = [
    "MAX_TERM_FREQUENCY",
    "Span",
    "content_hash",
    "estimate_tokens",
    "fold",
    "invalid_reason",
    "is_blank",
    "names",
    "passages",
    "sentences",
    "speaker",
    "term_counts",
    "term_hash",
    "terms",
    "without",
]

MAX_TERM_FREQUENCY = 32_767  # fits a smallint

# Scripts written without spaces between words, and Hangul, whose particles stick to the word.
_PAIRED = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana and iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer with their vowel signs
)
_HANGUL = "\uac00-\ud7a3"
# Letters of other scripts; `\w` lacks the vowel signs of Indic scripts, which are within words.
# Possessive, so that no text makes it backtrack.
_LETTERS = rf"(?:[^\W{_PAIRED}{_HANGUL}]++|[\u0900-\u0963\u0966-\u0dff]++)++"
_TOKEN = lazy(
    rf"(?P<paired>[{_PAIRED}]+)|(?P<hangul>[{_HANGUL}]+)"
    # Words with what joins them inside an identifier; a comma only within a number.
    rf"|{_LETTERS}(?:(?:[.\-/\\:@+#'\u2019&]+|(?<=\d),(?=\d)){_LETTERS})*(?:\+\+|\#)?"
)
_NUMBER = lazy(r"\d+(?:[.,:]\d+)*\Z")
_THOUSANDS = lazy(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")
_ORDINAL = lazy(r"(\d+)(?:st|nd|rd|th)\Z")
_JOINT = lazy(r"[.\-/\\:@+#'&,_]+")
# fooBar -> foo Bar; HTTPServer -> HTTP Server
_CAMEL = lazy(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CONTRACTION = lazy(r"([^\W\d_]+)'(?:s|d|m|t|ll|re|ve)\Z")

# Words that stand in so many English texts that they tell nothing; contractions without their apostrophe part.
_STOP_WORDS = """
    a about am an and any are aren as at be been being but by can couldn did didn do does doesn doing don for from had
    hadn has hasn have haven having he her hers him his how i if in into is isn it its itself just let me my of on or
    our ours shan she should shouldn so some such than that the their theirs them then there these they this those to
    too was wasn we were weren what when where which who whom why will with won would wouldn you your yours
"""
_STOP = frozenset(_STOP_WORDS.split())


def terms(text: str) -> list[str]:
    """Return the terms of `text` in order, repeats included; empty where nothing can be matched."""
    found: list[str] = []
    known: dict[str, list[str]] = {}
    for match in _TOKEN.finditer(canonical(text)):
        token = match.group()
        if match.lastgroup is not None:
            found.extend(_pairs(token))
            continue
        parts = known.get(token)
        if parts is None:
            parts = known[token] = _word_terms(token)
        found.extend(parts)
    return found


def without(text: str, unwanted: Container[str]) -> str:
    """Return `text` in its canonical spelling without the words, and the pairs of characters, that are `unwanted`.

    A word goes if all its terms are unwanted, with its apostrophe and what follows that ("Ann's").
    """
    text = canonical(text)
    kept: list[str] = []
    done = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match.lastgroup is not None:
            goes = {at + i for at, pair in enumerate(_pairs(token)) if pair in unwanted for i in range(len(pair))}
            left = "".join(char for at, char in enumerate(token) if at not in goes)
        else:
            found = _word_terms(token)
            left = "" if found and all(term in unwanted for term in found) else token
        kept += [text[done : match.start()], left]
        done = match.end()
    return " ".join(("".join(kept) + text[done:]).split())


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _word_terms(token: str) -> list[str]:
    if token.isascii() and token.isalpha() and (token.islower() or token[1:].islower()):
        return _plain(token.lower())
    token = token.replace("\u2019", "'")
    contraction = _CONTRACTION.match(token)
    if contraction:
        return _word_terms(contraction[1])
    whole = fold(token)
    if _NUMBER.match(whole):
        return [whole.replace(",", "") if _THOUSANDS.match(whole) else whole]
    ordinal = _ORDINAL.match(whole)
    if ordinal:
        return [ordinal[1]]
    parts = [fold(part) for joined in _JOINT.split(token) for part in _CAMEL.split(joined) if part]
    if parts == [whole]:
        return _plain(whole)
    return [whole, *(term for part in parts for term in _plain(part))]


def _plain(word: str) -> list[str]:
    return [] if word in _STOP else [stem(word)]


def term_hash(term: str) -> int:
    """Return a stable signed 64-bit number for `term`, the same in every process and release."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def term_counts(text: str) -> tuple[dict[int, int], int]:
    """Return how often each hashed term occurs (at most `MAX_TERM_FREQUENCY`), and the number of all terms."""
    found = terms(text)
    counts = {term_hash(term): min(count, MAX_TERM_FREQUENCY) for term, count in Counter(found).items()}
    return counts, len(found)


def content_hash(text: str) -> bytes:
    """Return the SHA-256 under which two texts count as the same: NFC, trimmed, whitespace runs as one space."""
    normal = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.sha256(normal.encode("utf-8", "surrogatepass")).digest()


# Letters and symbols that show nothing: Hangul and other fillers, the empty Braille cell.
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def is_blank(text: str) -> bool:
    """Whether nobody can see anything of `text`: spaces, controls, zero-width characters and fillers only."""
    return all(unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp", "Zs"} or char in _FILLERS for char in text)


_UNSTORABLE = lazy("[\x00\ud800-\udfff]")


def invalid_reason(text: str) -> str | None:
    """Return why `text` cannot be stored as UTF-8 by a database, or None if it can."""
    found = _UNSTORABLE.search(text)
    if found is None:
        return None
    what = "a NUL character" if found.group() == "\x00" else "half of a surrogate pair"
    return f"contains {what} at position {found.start()}"
