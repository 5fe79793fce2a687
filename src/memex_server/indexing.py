"""Works out what makes texts findable: their passages, vectors, terms and traits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np

from memex.core.passages import passages
from memex.core.text import term_counts, terms, without
from memex.core.traits import ROLES, read_turn, unnamed

from .ports import Embedder, FloatArray, IndexEntry

__all__ = ["PASSAGE_TOKENS", "embed_query", "index_texts", "possible_names", "without_names"]

PASSAGE_TOKENS = 400  # long texts are cut in passages of about this size, each with its own vector
_QUERY_TOKENS = 240
_NAME = -1  # the passage under which the speaker's name is indexed
_MAX_NAME_TERMS = 64
_ROLE_TERMS = frozenset(chain.from_iterable(map(terms, ROLES)))
# Names only with a capital letter.
_ALSO_WORDS = frozenset(
    "april art august bill chase dawn dean drew faith frank grace grant guy hope hunter ivi jack joi june lili mark "
    "may oliv pat pearl penni rich rob rose rubi sandi sue summer violet will".split()
)


def possible_names(query: str) -> list[str]:
    """Return the terms of a query that may be the name of somebody who speaks in the scope."""
    found = list(dict.fromkeys(terms(query)))[:_MAX_NAME_TERMS]
    return [term for term in found if term not in _ROLE_TERMS and (term not in _ALSO_WORDS or term.title() in query)]


def without_names(query: str, names: Collection[str]) -> str:
    """Return what a query asks for, less who says it: `names` are those of its terms that are speakers' names.

    In a vector a name means, most of all, the turns in which others address its bearer; who speaks is a signal
    of its own. A query of nothing but names stays as it is.
    """
    if not names:
        return query
    left = without(query, names)
    return left if terms(left) else query


async def embed_query(embedder: Embedder, query: str) -> FloatArray:
    """Return the vector of a query, of shape (dim,). Raises Unavailable.

    Of a very long query (a pasted document) the beginning and the end are taken for what it means: to
    embed all of it would take seconds, and others would wait. Its words are all looked for.
    """
    spans = passages(query, max_tokens=_QUERY_TOKENS)
    ends = spans if len(spans) == 1 else [spans[0], spans[-1]]
    vectors = await embedder.embed([query[span.start : span.end] for span in ends], "query")
    middle: FloatArray = vectors.mean(axis=0)
    return middle / np.float32(np.linalg.norm(middle) or 1.0)


async def index_texts(embedder: Embedder, texts: Sequence[str]) -> list[IndexEntry]:
    """Return one entry per text; all passages are embedded together. Raises Unavailable.

    The vector of a turn ("Ann: text") is of what is said: who says it is looked for by the name. A side of a chat
    ("User: text") is part of it, as no question asks for that.
    """
    spans = [[(span.start, span.end) for span in passages(text, max_tokens=PASSAGE_TOKENS)] for text in texts]
    said_from = [len(text) - len(unnamed(text)) for text in texts]
    pieces = [
        text[max(start, min(at, end - 1)) : end]
        for text, at, cuts in zip(texts, said_from, spans, strict=True)
        for start, end in cuts
    ]
    vectors = await embedder.embed(pieces, "passage")
    entries, done = [], 0
    for text, cuts in zip(texts, spans, strict=True):
        entries.append(_entry(text, cuts, vectors[done : done + len(cuts)]))
        done += len(cuts)
    return entries


def _entry(text: str, spans: Sequence[tuple[int, int]], vectors: FloatArray) -> IndexEntry:
    turn = read_turn(text)
    said_from = len(text) - len(turn.said)
    postings: list[tuple[int, int, int]] = []
    if turn.speaker is not None:
        postings += [(term, _NAME, tf) for term, tf in term_counts(turn.speaker)[0].items()]
    n_terms = 0
    for number, (start, end) in enumerate(spans):
        counts, length = term_counts(text[max(start, said_from) : end])
        postings += [(term, number, tf) for term, tf in counts.items()]
        n_terms += length
    return IndexEntry(spans, vectors, postings, n_terms, int(turn.traits))
