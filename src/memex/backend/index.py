"""The local backend's lexical index as plain functions: what a text is found by, and what a query asks for.

One table of terms for words and CJK alike, by the tokeniser and the weights of the service, and not
SQLite's FTS5: that takes a run of CJK characters for one word, counts a word that most records hold
for nothing, ranks 50,000 matches before it returns five, and is missing from some builds of Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ..core.recall import keyword_key, named_keys
from ..core.scoring import idf, saturated
from ..core.text import term_hash, terms

__all__ = ["POSTINGS", "asked_keys", "asked_terms", "choose", "key_term", "postings"]

# Postings read for one query. More make it slow, and a term that so many records hold tells little.
POSTINGS = 3_000
# Records are short, and an average that moved with each store would make stored impacts stale.
_USUAL_TERMS = 20.0
_NAMING_CHARS = 256  # of a query that are searched for registered keywords
_KEYWORD = "\x00"  # in front of a whole keyword, which no word of a text begins with


def postings(text: str, keywords: Iterable[str]) -> dict[int, float]:
    """Return term hash -> impact (0 to 2.2, BM25 without idf) of a record.

    A keyword is found as a whole and by its words. Each CJK character is a term too, for queries
    of one character; pairs of them find the rest.
    """
    keywords = list(keywords)
    words = terms(text)
    named = [word for keyword in keywords for word in terms(keyword)]
    counts = Counter(words)
    counts.update(set(named) - counts.keys())
    counts.update({single for word in (*words, *named) if _is_pair(word) for single in word} - counts.keys())
    length = float(len(words))
    found = {term_hash(term): saturated(float(count), length, _USUAL_TERMS) for term, count in counts.items()}
    return found | {key_term(keyword_key(keyword)): 1.0 for keyword in keywords}


def asked_terms(query: str, keywords: Iterable[str]) -> list[int]:
    """Return the term hashes that a query and keywords ask for, each once."""
    return list(dict.fromkeys(term_hash(term) for text in (query, *keywords) for term in terms(text)))


def asked_keys(query: str, keywords: Iterable[str]) -> list[int]:
    """Return the term hashes of all keywords that a query and keywords may name."""
    texts = (query[:_NAMING_CHARS], *keywords)
    return list(dict.fromkeys(key_term(key) for text in texts for key in named_keys(text)))


def choose(
    asked: Sequence[int], frequency: Callable[[int], int], records: int, *, most: int = POSTINGS
) -> tuple[list[tuple[int, float]], bool]:
    """Return the terms to look up with their idf, the rarest first, and whether even the rarest is too common.

    Terms are taken while their postings stay within `most`; the rarest that occurs is always among them.
    """
    known = sorted((count, term) for term in asked if (count := frequency(term)))
    chosen: list[tuple[int, float]] = []
    total = 0
    for count, term in known:
        total += count
        if chosen and total > most:
            break
        chosen.append((term, idf(float(count), float(records))))
    return chosen, bool(known) and known[0][0] > most


def key_term(key: str) -> int:
    """Return the term hash of a registered keyword, by its key."""
    return term_hash(_KEYWORD + key)


def _is_pair(term: str) -> bool:
    return len(term) == 2 and term[0] >= "\u0e00"  # scripts written without spaces begin here
