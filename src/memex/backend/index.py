"""The local backend's lexical index as plain functions: what a text is found by, and what a query asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ..core.fold import fold
from ..core.scoring import idf, saturated
from ..core.text import term_hash, terms

__all__ = ["POSTINGS", "asked_terms", "choose", "postings"]

# Postings read for one query. More make it slow, and a term that so many records hold tells little.
POSTINGS = 12_000
# Records are short, and an average that moved with each store would make stored impacts stale.
_USUAL_TERMS = 20.0
_KEYWORD = "\x00"  # in front of a whole keyword, which no word of a text begins with


def postings(text: str, keywords: Iterable[str]) -> dict[int, float]:
    """Return term hash -> impact (0 to 2.2, BM25 without idf) of a record.

    A keyword counts as a term of its own and through its words. Each CJK character is a term too,
    for queries of one character; pairs of them find the rest.
    """
    words = terms(text)
    named = [word for keyword in keywords for word in terms(keyword)]
    singles = {character for word in (*words, *named) if _is_pair(word) for character in word}
    counts = Counter(words)
    counts.update(dict.fromkeys(named, 1))
    length = float(len(words))
    found = {term_hash(term): saturated(float(count), length, _USUAL_TERMS) for term, count in counts.items()}
    for single in singles - counts.keys():
        found[term_hash(single)] = saturated(1.0, length, _USUAL_TERMS)
    for keyword in keywords:
        found[_keyword_term(keyword)] = saturated(1.0, 1.0, _USUAL_TERMS)
    return found


def asked_terms(query: str, keywords: Iterable[str]) -> list[int]:
    """Return the term hashes that a query and keywords ask for, each once."""
    found = dict.fromkeys(term_hash(term) for text in (query, *keywords) for term in terms(text))
    found.update(dict.fromkeys(_keyword_term(keyword) for keyword in keywords))
    # A sentence whose words are all everywhere words ("who am I") asks for a keyword of that name at most.
    if query and not found:
        found[_keyword_term(query)] = None
    return list(found)


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


def _keyword_term(keyword: str) -> int:
    return term_hash(_KEYWORD + " ".join(fold(keyword).split()))


def _is_pair(term: str) -> bool:
    return len(term) == 2 and term[0] >= "\u0e00"  # scripts written without spaces begin here
