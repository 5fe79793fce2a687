"""Works out what makes texts findable: their passages, vectors and terms."""

from __future__ import annotations

from collections.abc import Sequence

from memex.core.passages import passages
from memex.core.text import term_counts

from .ports import Embedder, IndexEntry

__all__ = ["PASSAGE_TOKENS", "index_texts"]

PASSAGE_TOKENS = 256  # long texts are cut in passages of about this size, each with its own vector


async def index_texts(embedder: Embedder, texts: Sequence[str]) -> list[IndexEntry]:
    """Return one entry per text; all passages are embedded together. Raises Unavailable."""
    spans = [[(span.start, span.end) for span in passages(text, max_tokens=PASSAGE_TOKENS)] for text in texts]
    pieces = [text[start:end] for text, cuts in zip(texts, spans, strict=True) for start, end in cuts]
    vectors = await embedder.embed(pieces, "passage")
    entries, done = [], 0
    for cuts in spans:
        postings: list[tuple[int, int, int]] = []
        n_terms = 0
        for number, piece in enumerate(pieces[done : done + len(cuts)]):
            counts, length = term_counts(piece)
            postings += [(term, number, tf) for term, tf in counts.items()]
            n_terms += length
        entries.append(IndexEntry(cuts, vectors[done : done + len(cuts)], postings, n_terms))
        done += len(cuts)
    return entries
