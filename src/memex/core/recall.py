"""What a recall by keywords and a sentence weighs, the same in every backend.

    score = 0.7 * relevance + 0.3 * freshness        freshness = 2 ** (-age / half-life)

A keyword is registered with a record by whoever stored it, and finds the record though its text may
not hold the word. Both are compared in folded form.
"""

from __future__ import annotations

from collections.abc import Sequence

from .fold import fold
from .patterns import lazy
from .scoring import recency

__all__ = ["FRESHNESS_SHARE", "RELEVANCE_SHARE", "keyword_key", "named_keys", "recall_score", "registered_relevance"]

RELEVANCE_SHARE = 0.7
FRESHNESS_SHARE = 0.3

# Scripts written without spaces lie beyond U+0E00: there every character may begin or end a keyword.
_TOKEN = lazy("[\u0e00-\U000323af]|[^\\W\u0e00-\U000323af]+")
_MAX_TOKENS = 400  # of a text that is searched for keywords; the rest is a pasted document
_MAX_KEY_TOKENS = 8  # longer keywords are found only when they are asked for as they are


def recall_score(relevance: float, age_days: float, half_life_days: float) -> float:
    """Return the score of a record: `relevance` in [0, 1], its age counted from when it happened."""
    return RELEVANCE_SHARE * relevance + FRESHNESS_SHARE * recency(age_days, half_life_days)


def keyword_key(keyword: str) -> str:
    """Return the form of a keyword under which it is registered and looked up."""
    return " ".join(fold(keyword).split())


def named_keys(text: str) -> list[str]:
    """Return the keys of all keywords that `text` may name, without repeats: runs of up to 8 words or characters."""
    folded = keyword_key(text)
    tokens = [match.span() for match in _TOKEN.finditer(folded)][:_MAX_TOKENS]
    keys = {folded: None} if folded else {}
    for first, (start, _) in enumerate(tokens):
        keys.update((folded[start:end], None) for _, end in tokens[first : first + _MAX_KEY_TOKENS])
    return list(keys)


def registered_relevance(registered: frozenset[str], keywords: Sequence[str], query: str) -> float:
    """Return how well a record's registered keys answer a request, in [0, 1].

    The share of the request's keywords that are registered; one that only contains a registered key
    ("周五部署" and 周五) counts half. What a query names is worth less for being unasked: a half for one
    key, three quarters for two, and so on.
    """
    hits = 0.0
    for keyword in keywords:
        if keyword_key(keyword) in registered:
            hits += 1
        elif not registered.isdisjoint(named_keys(keyword)):
            hits += 0.5
    asked = hits / len(keywords) if keywords else 0.0
    named = len(registered.intersection(named_keys(query))) if query else 0
    return max(asked, 1 - 0.5**named)
