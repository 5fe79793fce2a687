"""Stand-ins for the ports of the server, for tests of memex and of what is built on it."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from memex.core.text import sentences, terms
from memex.protocol.errors import MemexError, Unavailable
from memex.protocol.models import LmPolicy, PreExtracted

from .ports import FloatArray, ModelCard, Role

__all__ = ["HashingEmbedder", "OverlapReranker", "SentenceExtractor"]

_GRAM_CHARS = (1, 2, 3)


class HashingEmbedder:
    """An embedder without a model: texts that share character sequences get like vectors.

    Deterministic on every machine; needs no spaces between words, so Chinese and Japanese work too.
    It knows no meaning. Query and passage get the same vector.
    """

    def __init__(self, dim: int = 384) -> None:
        self._dim = dim
        self._closed = False

    @property
    def card(self) -> ModelCard:
        """The card of this stand-in."""
        return ModelCard(
            id="hashing",
            dim=self._dim,
            max_tokens=1_000_000,
            languages="any script",
            similarity_floor=0.2,
            similarity_ceiling=1.0,
            duplicate_threshold=0.95,
        )

    @property
    def loaded(self) -> bool:
        """Always: there is nothing to load."""
        return True

    async def load(self) -> None:
        """Do nothing."""

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:  # noqa: ARG002 - the port has roles
        """Return one normalised vector per text.

        Raises:
            Unavailable: it was closed.
        """
        if self._closed:
            raise Unavailable("the embedder is closed")
        vectors = np.zeros((len(texts), self._dim), dtype=np.float32)
        for index, text in enumerate(texts):
            row = vectors[index]
            for gram in _grams(text):
                number = zlib.crc32(gram.encode("utf-8", "surrogatepass"))
                row[number % self._dim] += 1 if number >> 31 else -1
            if not row.any():
                row[0] = 1
            vectors[index] /= np.linalg.norm(row)
        return vectors

    async def close(self) -> None:
        """Refuse further calls."""
        self._closed = True


class OverlapReranker:
    """A reranker without a model: the score is the share of the query's character sequences that a text has."""

    def __init__(self) -> None:
        self._closed = False

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score per text.

        Raises:
            Unavailable: it was closed.
        """
        if self._closed:
            raise Unavailable("the reranker is closed")
        wanted = set(_grams(query))
        return [len(wanted & set(_grams(text))) / max(len(wanted), 1) for text in texts]

    async def close(self) -> None:
        """Refuse further calls."""
        self._closed = True


class SentenceExtractor:
    """Takes every sentence for a fact; `failure`, when set, is raised by every call."""

    def __init__(self, *, has_model: bool = False) -> None:
        self.has_model = has_model
        self.failure: MemexError | None = None
        self.calls: list[tuple[str, str, LmPolicy]] = []

    async def extract(self, role: str, text: str, policy: LmPolicy) -> Sequence[PreExtracted]:
        """Return the sentences of the text."""
        self.calls.append((role, text, policy))
        if self.failure is not None:
            raise self.failure
        said = [sentence.strip() for sentence in sentences(text)]
        return [PreExtracted(content=one, keywords=terms(one)[:8]) for one in said if one]


def _grams(text: str) -> Iterator[str]:
    folded = f" {unicodedata.normalize('NFKC', text).casefold()} "
    for size in _GRAM_CHARS:
        for start in range(len(folded) - size + 1):
            gram = folded[start : start + size]
            if not gram.isspace():
                yield gram
