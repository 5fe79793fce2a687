"""What the embedders of this package share: the extended port, pooling, and the splitting of long texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from ..ports import Embedder, FloatArray

__all__ = ["LoadableEmbedder", "encodable", "normalised", "pool", "split_text", "token_estimate"]


class LoadableEmbedder(Embedder, Protocol):
    """An embedder that can be made ready before the first text comes."""

    @property
    def loaded(self) -> bool:
        """Whether the next call runs at once."""

    async def load(self) -> None:
        """Make ready; the work is done once, however many call at once.

        Raises:
            SetupError: it cannot work as configured.
            Unavailable: the endpoint does not answer now.
        """


def normalised(vectors: FloatArray) -> FloatArray:
    """Return the rows at length 1; a row of zeros stays so."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32, copy=False)


def pool(vectors: FloatArray, owners: Sequence[int], weights: Sequence[float], count: int) -> FloatArray:
    """Return one vector for each of `count` texts: the normalised, weighted sum of those that it owns."""
    sums = np.zeros((count, vectors.shape[1]), dtype=np.float32)
    for owner, weight, vector in zip(owners, weights, vectors, strict=True):
        sums[owner] += vector * weight
    return normalised(sums)


def encodable(text: str) -> str:
    """Return `text` with halves of surrogate pairs, which UTF-8 cannot hold, joined or replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def token_estimate(text: str) -> int:
    """Return about how many tokens a text has, for models whose tokenizer is out of reach.

    It is rather too high than too low: a token per character beyond ASCII, one per three within.
    """
    ascii_chars = len(text.encode("ascii", "ignore"))
    return len(text) - ascii_chars + -(-ascii_chars // 3)


def split_text(text: str, max_tokens: int) -> Iterator[str]:
    """Yield parts of at most `max_tokens` (estimated) that together are `text`, cut between words if it has any."""
    text = encodable(text)
    if token_estimate(text) <= max_tokens:
        yield text
        return
    part: list[str] = []
    size = 0.0
    for piece in re.findall(r"\s{0,24}[\x21-\x7e]{1,48}|\s{1,24}|[^\x00-\x7f]|[\x00-\x7f]", text):
        cost = token_estimate(piece)
        if part and size + cost > max_tokens:
            yield "".join(part)
            part, size = [], 0
        part.append(piece)
        size += cost
    yield "".join(part)
