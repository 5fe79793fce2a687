"""Packed columns, as the statements of `search.sql` return them, and how they are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ports import Candidates, Query

__all__ = ["Join", "column", "held_terms", "micros", "seconds", "unpack"]

_POSTGRES_EPOCH_S = 946_684_800  # 2000-01-01, from which PostgreSQL counts microseconds
_NOTHING = b""


def unpack(
    row: Mapping[str, Any],
    query: Query,
    *,
    counted: tuple[NDArray[np.float64], float] | None = None,
    complete: bool = True,
) -> Candidates:
    """Join the packed columns of the statements `exact` and `chosen` by the memories' keys.

    `counted` gives (document frequencies, documents) where the columns are not the whole scope.
    """
    ids = np.frombuffer(row["ids"] or _NOTHING, "V16")
    n = len(ids)
    join = Join(column(row["ids"], ">i8")[1::2])

    cosine = np.full(n, np.nan, np.float32)
    passage = np.zeros(n, np.int16)
    passages = np.ones(n, np.int64)
    if query.vector is not None:
        rows, known = join.rows(row["vector_keys"])
        products = -column(row["products"], ">f4")[known].astype(np.float32)
        worst_first = np.argsort(products, kind="stable")  # so the best passage is written last
        cosine[rows[worst_first]] = products[worst_first]
        passage[rows[worst_first]] = column(row["vector_passages"], ">i2")[known][worst_first]
        passages = np.maximum(np.bincount(rows, minlength=n), 1)

    rows, known = join.rows(row["term_keys"])
    terms = np.asarray(query.terms, np.int64)
    sorter = np.argsort(terms)
    hashes = column(row["terms"], ">i8")[known].astype(np.int64)
    post_term = sorter[np.searchsorted(terms, hashes, sorter=sorter)] if len(terms) else np.zeros(0, np.int64)
    post_passage = column(row["term_passages"], ">i2")[known].astype(np.int16)
    if query.vector is None:
        _choose_by_words(passage, rows, post_term, post_passage)
    if counted is None:
        holders = np.unique(rows * max(len(terms), 1) + post_term) % max(len(terms), 1)
        counted = np.bincount(holders, minlength=len(terms)).astype(np.float64), float(n)
    return Candidates(
        ids=ids,
        occurred_at_s=seconds(row["occurred"]),
        importance=column(row["importance"], ">f8").astype(np.float64),
        session=column(row["sessions"], ">i8").astype(np.int64),
        length=column(row["lengths"], ">i4").astype(np.int32),
        traits=column(row["traits"], ">i2").astype(np.int16),
        cosine=cosine,
        passage=passage,
        passages=passages,
        post_row=rows,
        post_term=post_term,
        post_passage=post_passage,
        post_tf=column(row["term_counts"], ">i2")[known].astype(np.float64),
        repeats=query.repeats,
        df=counted[0],
        n_docs=counted[1],
        complete=complete,
    )


def held_terms(row: Mapping[str, Any], terms: Sequence[int]) -> dict[str, bytes]:
    """Return the columns of terms that `unpack` takes, out of the statement `chosen_terms`."""
    lengths = column(row["short_lengths"], ">i4").astype(np.int64)
    found = _elements(row["short_terms"], lengths, ">i8")
    asked = np.isin(found.astype(np.int64), np.asarray(terms, np.int64))
    short = {
        "term_keys": np.repeat(column(row["short_keys"], ">i8"), lengths),
        "terms": found,
        "term_passages": _elements(row["short_passages"], lengths, ">i2"),
        "term_counts": _elements(row["short_counts"], lengths, ">i2"),
    }
    return {name: values[asked].tobytes() + (row[name] or _NOTHING) for name, values in short.items()}


def _elements(packed: bytes | None, lengths: NDArray[np.int64], kind: str) -> NDArray[Any]:
    """Return the elements of arrays of these lengths, which stand behind each other as `array_send` gives them.

    That is 20 bytes before each array and 4 before each element.
    """
    width = (4 + np.dtype(kind).itemsize) // 2  # in units of two bytes, as all else here
    steps = 10 + lengths * width
    heads = np.cumsum(steps) - steps
    elements = np.delete(column(packed, ">i2"), (heads[:, None] + np.arange(10)).ravel()).reshape(-1, width)
    return np.ascontiguousarray(elements[:, 2:]).view(kind).ravel()


def _choose_by_words(
    passage: NDArray[np.int16], rows: NDArray[np.int64], terms: NDArray[np.int64], numbers: NDArray[np.int16]
) -> None:
    """Set `passage` of each row to the one that holds the most, and the rarest, terms; of equals the first."""
    spoken = numbers >= 0
    if not spoken.any():
        return
    rarity = 1 / np.bincount(terms[spoken])[terms[spoken]]
    places, where = np.unique(rows[spoken] << 16 | numbers[spoken].astype(np.int64), return_inverse=True)
    best_last = np.lexsort((-places, np.bincount(where, weights=rarity)))
    passage[places[best_last] >> 16] = places[best_last] & 0xFFFF


def column(packed: bytes | None, kind: Any) -> NDArray[Any]:
    """Return a packed column as an array of numpy type `kind`."""
    return np.frombuffer(packed or _NOTHING, kind)


def micros(packed: bytes | None) -> NDArray[np.int64]:
    """Return a column of times as microseconds since 2000; infinities are the ends of the range."""
    return column(packed, ">i8").astype(np.int64)


def seconds(packed: bytes | None) -> NDArray[np.float64]:
    """Return a column of times as seconds since 1970."""
    return micros(packed).astype(np.float64) / 1e6 + _POSTGRES_EPOCH_S


class Join:
    """Finds the rows of keys; keys that are not there (filtered out) are left out."""

    def __init__(self, keys: NDArray[Any]) -> None:
        keys = keys.astype(np.int64)
        self._order = np.argsort(keys)
        self._ordered = keys[self._order]

    def rows(self, packed: bytes | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the rows of the known keys, and which keys were known."""
        wanted = column(packed, ">i8").astype(np.int64)
        if len(self._ordered) == 0:
            return np.zeros(0, np.int64), np.zeros(len(wanted), np.bool_)
        at = np.minimum(np.searchsorted(self._ordered, wanted), len(self._ordered) - 1)
        known = self._ordered[at] == wanted
        return self._order[at[known]], known
