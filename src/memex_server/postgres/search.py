"""Finding candidates: every match of a small scope, an over-fetched selection of a large one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from memex.core.filters import compile_metadata
from memex.core.identity import shard_key
from memex.core.memory import Filters, utc
from memex.core.scoring import idf

from ..ports import Candidates, Fetched, Query
from .pool import Database
from .queries import load
from .rows import to_memory

__all__ = ["Searcher", "unpack"]

_SIZE_LIFE_S = 60.0  # a scope's size only chooses the plan, so it may be this old
_MAX_SIZES = 100_000
_OVERFETCH = 20
_LEAST_FETCH = 200
_DF_CAP = 50_000
_COMMON_DF = 1_000
# Rare terms first, until this many postings are read: the rest are too common to select by.
_POSTINGS_BUDGET = 20_000
_POSTGRES_EPOCH_S = 946_684_800  # 2000-01-01, from which PostgreSQL counts microseconds
_NOTHING = b""
_MOST_PASSAGES = 2**15  # a passage's number is a smallint
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class _Size:
    rows: int
    at_s: float


class Searcher:
    """Runs the statements of a search; keeps nothing but the sizes of scopes it saw lately."""

    def __init__(self, database: Database, *, exact_scope_limit: int) -> None:
        self._db = database
        self._exact_limit = exact_scope_limit
        self._sql = load("search")
        self._sizes: dict[int, _Size] = {}
        self._common: dict[tuple[int, int], _Size] = {}

    async def candidates(self, query: Query) -> Candidates:
        """Return the candidates of a query with their signals. Raises Unavailable."""
        shard = shard_key(self._db.tenant_id, query.user_id)
        matching = self._matching(shard, query)
        vector = None if query.vector is None else HalfVector(query.vector)
        terms = list(query.terms)
        async with self._db.connection() as connection:
            size = await self._size(connection, shard)
            if size <= self._exact_limit:
                row = await connection.fetchrow(self._sql["exact"], *matching, vector, terms)
                return unpack(row, terms, has_vector=vector is not None)
            df = await self._frequencies(connection, shard, terms)
            ids, complete = await self._select(connection, matching, vector, df, query)
            row = await connection.fetchrow(self._sql["chosen"], *matching, vector, terms, ids)
        counted = None if complete else (np.array([df[t] for t in terms], np.float64), float(size))
        return unpack(row, terms, has_vector=vector is not None, counted=counted, complete=complete)

    async def fetch(self, query: Query, ids: Sequence[UUID], passages: Sequence[int]) -> dict[UUID, Fetched]:
        """Return whole memories by id, those that match still. Raises Unavailable."""
        matching = self._matching(shard_key(self._db.tenant_id, query.user_id), query)
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._sql["fetch"], *matching, ids, passages)
        return {row["id"]: Fetched(to_memory(row), _span(row)) for row in rows}

    async def _select(
        self, connection: Any, matching: list[Any], vector: Any, df: dict[int, int], query: Query
    ) -> tuple[list[UUID], bool]:
        """Choose candidates of a large scope; the flag tells whether they are all that match."""
        if _narrows(query.filters):
            rows = await connection.fetch(self._sql["matching_ids"], *matching, self._exact_limit + 1)
            if len(rows) <= self._exact_limit:
                return [row["id"] for row in rows], True
        wanted = max(_LEAST_FETCH, _OVERFETCH * query.wanted)
        chosen: dict[UUID, None] = {}
        if vector is not None:
            rows = await connection.fetch(self._sql["nearest"], *matching, vector, wanted)
            if len(rows) < query.wanted:  # the index gave up before it met enough of this scope
                rows = await connection.fetch(self._sql["nearest_exact"], *matching, vector, wanted)
            chosen.update((row["id"], None) for row in rows)
        if df:
            picked = _selective(df)
            n_docs = max(self._sizes[matching[0]].rows, 1)
            weights = [idf(df[term], n_docs) for term in picked]
            rows = await connection.fetch(self._sql["by_words"], *matching, picked, weights, wanted)
            chosen.update((row["id"], None) for row in rows)
        rows = await connection.fetch(self._sql["newest"], *matching, wanted)
        chosen.update((row["id"], None) for row in rows)
        return list(chosen), False

    async def _frequencies(self, connection: Any, shard: int, terms: list[int]) -> dict[int, int]:
        """Return document frequencies; those of common terms may be a minute old, as counting them takes long."""
        now = time.monotonic()
        known = {term: self._common.get((shard, term)) for term in terms}
        df = {term: size.rows for term, size in known.items() if size and now - size.at_s <= _SIZE_LIFE_S}
        rest = [term for term in terms if term not in df]
        if rest:
            for row in await connection.fetch(self._sql["term_frequencies"], shard, rest, _DF_CAP):
                df[row["term"]] = row["df"]
                if row["df"] >= _COMMON_DF:
                    _remember(self._common, (shard, row["term"]), _Size(row["df"], now))
        return df

    async def _size(self, connection: Any, shard: int) -> int:
        known = self._sizes.get(shard)
        now = time.monotonic()
        if known is None or now - known.at_s > _SIZE_LIFE_S:
            known = _Size(await connection.fetchval(self._sql["scope_size"], shard), now)
            _remember(self._sizes, shard, known)
        return known.rows

    def _matching(self, shard: int, query: Query) -> list[Any]:
        filters = query.filters
        metadata = compile_metadata(filters.metadata)
        return [
            shard,
            self._db.tenant_id,
            query.user_id,
            filters.agent_id,
            filters.memory_type,
            list(filters.tags) or None,
            metadata.contains or None,
            metadata.path,
            metadata.vars or None,
            None if filters.time_from is None else utc(filters.time_from),
            None if filters.time_to is None else utc(filters.time_to),
            query.valid_at,
        ]


def _remember(sizes: dict[K, _Size], key: K, size: _Size) -> None:
    if len(sizes) >= _MAX_SIZES:
        sizes.pop(next(iter(sizes)))
    sizes[key] = size


def _narrows(filters: Filters) -> bool:
    return filters != Filters(as_of=filters.as_of)


def _selective(df: Mapping[int, int]) -> list[int]:
    """Return the terms to select by: all that fit the budget, rarest first, and always the rarest."""
    picked: list[int] = []
    budget = _POSTINGS_BUDGET
    for term, count in sorted(df.items(), key=lambda item: item[1]):
        if picked and count > budget:
            break
        picked.append(term)
        budget -= count
    return picked


def _span(row: Mapping[str, Any]) -> tuple[int, int] | None:
    if not row["last_passage"]:  # one passage, or none: the memory is its own highlight
        return None
    return (row["start_char"], row["end_char"])


def unpack(
    row: Mapping[str, Any],
    terms: Sequence[int],
    *,
    has_vector: bool,
    counted: tuple[NDArray[np.float64], float] | None = None,
    complete: bool = True,
) -> Candidates:
    """Join the packed columns of the statements `exact` and `chosen` by the memories' keys.

    `counted` gives (document frequencies, documents) where the columns are not the whole scope.
    """
    ids = np.frombuffer(row["ids"] or _NOTHING, "V16")
    keys = np.frombuffer(row["ids"] or _NOTHING, ">i8")[1::2].astype(np.int64)
    n = len(ids)
    order = np.argsort(keys)
    ordered = keys[order]

    def rows_of(packed: bytes | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        wanted = np.frombuffer(packed or _NOTHING, ">i8").astype(np.int64)
        if n == 0:
            return np.zeros(0, np.int64), np.zeros(len(wanted), np.bool_)
        at = np.minimum(np.searchsorted(ordered, wanted), n - 1)
        known = ordered[at] == wanted
        return order[at[known]], known

    cosine = np.full(n, np.nan, np.float32)
    passage = np.zeros(n, np.int16)
    if has_vector:
        rows, known = rows_of(row["vector_keys"])
        products = -np.frombuffer(row["products"] or _NOTHING, ">f4").astype(np.float32)[known]
        numbers = np.frombuffer(row["vector_passages"] or _NOTHING, ">i2").astype(np.int16)[known]
        worst_first = np.argsort(products, kind="stable")  # so the best passage is written last
        cosine[rows[worst_first]] = products[worst_first]
        passage[rows[worst_first]] = numbers[worst_first]

    rows, known = rows_of(row["term_keys"])
    hashes = np.frombuffer(row["terms"] or _NOTHING, ">i8").astype(np.int64)[known]
    tf = np.frombuffer(row["term_counts"] or _NOTHING, ">i2").astype(np.float64)[known]
    sorter = np.argsort(np.asarray(terms, np.int64))
    term_at = (
        sorter[np.searchsorted(np.asarray(terms, np.int64), hashes, sorter=sorter)]
        if len(terms)
        else np.zeros(0, np.int64)
    )
    if not has_vector and len(rows):
        numbers = np.frombuffer(row["term_passages"] or _NOTHING, ">i2").astype(np.int64)[known]
        _choose_by_words(passage, rows, numbers, term_at)
    # One posting per memory and term, whatever passages it came from.
    pairs, where = np.unique(rows * max(len(terms), 1) + term_at, return_inverse=True)
    post_tf = np.bincount(where, weights=tf, minlength=len(pairs)).astype(np.float64)
    post_row, post_term = np.divmod(pairs.astype(np.int64), max(len(terms), 1))
    df, n_docs = counted or (np.bincount(post_term, minlength=len(terms)).astype(np.float64), float(n))
    micros = np.frombuffer(row["occurred"] or _NOTHING, ">i8").astype(np.float64)
    return Candidates(
        ids=ids,
        occurred_at_s=micros / 1e6 + _POSTGRES_EPOCH_S,
        importance=np.frombuffer(row["importance"] or _NOTHING, ">f4").astype(np.float32),
        session=np.frombuffer(row["sessions"] or _NOTHING, ">i8").astype(np.int64),
        length=np.frombuffer(row["lengths"] or _NOTHING, ">i4").astype(np.int32),
        cosine=cosine,
        passage=passage,
        post_row=post_row,
        post_term=post_term,
        post_tf=post_tf,
        df=df,
        n_docs=n_docs,
        complete=complete,
    )


def _choose_by_words(
    passage: NDArray[np.int16], rows: NDArray[np.int64], numbers: NDArray[np.int64], term_at: NDArray[np.int64]
) -> None:
    """Set `passage` of each row to the one that holds the most, and the rarest, terms; of equals the first."""
    places, where = np.unique(rows * _MOST_PASSAGES + numbers, return_inverse=True)
    held = np.bincount(where, weights=1 / np.bincount(term_at)[term_at])
    best_last = np.lexsort((-places, held))
    passage[places[best_last] // _MOST_PASSAGES] = places[best_last] % _MOST_PASSAGES
