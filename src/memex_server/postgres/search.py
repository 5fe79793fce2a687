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
_OVERFETCH = 12
_LEAST_FETCH = 120
_NEWEST = 50
_DF_CAP = 50_000
_COMMON_DF = 1_000
# Rare terms first, until this many postings are read: the rest are too common to select by.
_POSTINGS_BUDGET = 12_000
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
                return unpack(row, query)
            df = await self._frequencies(connection, shard, terms)
            ids, complete = await self._select(connection, matching, vector, df, query)
            row = await connection.fetchrow(self._sql["chosen"], *matching, vector, terms, ids)
        counted = None if complete else (np.array([df[t] for t in terms], np.float64), float(size))
        return unpack(row, query, counted=counted, complete=complete)

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
        rows = await connection.fetch(self._sql["beside"], matching[0], list(chosen))
        chosen.update((row["id"], None) for row in rows)
        rows = await connection.fetch(self._sql["newest"], *matching, max(_NEWEST, query.wanted))
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
    join = _Join(_column(row["ids"], ">i8")[1::2])

    cosine = np.full(n, np.nan, np.float32)
    passage = np.zeros(n, np.int16)
    passages = np.ones(n, np.int64)
    if query.vector is not None:
        rows, known = join.rows(row["vector_keys"])
        products = -_column(row["products"], ">f4")[known].astype(np.float32)
        worst_first = np.argsort(products, kind="stable")  # so the best passage is written last
        cosine[rows[worst_first]] = products[worst_first]
        passage[rows[worst_first]] = _column(row["vector_passages"], ">i2")[known][worst_first]
        passages = np.maximum(np.bincount(rows, minlength=n), 1)

    rows, known = join.rows(row["term_keys"])
    terms = np.asarray(query.terms, np.int64)
    sorter = np.argsort(terms)
    hashes = _column(row["terms"], ">i8")[known].astype(np.int64)
    post_term = sorter[np.searchsorted(terms, hashes, sorter=sorter)] if len(terms) else np.zeros(0, np.int64)
    post_passage = _column(row["term_passages"], ">i2")[known].astype(np.int16)
    if query.vector is None:
        _choose_by_words(passage, rows, post_term, post_passage)
    if counted is None:
        holders = np.unique(rows * max(len(terms), 1) + post_term) % max(len(terms), 1)
        counted = np.bincount(holders, minlength=len(terms)).astype(np.float64), float(n)
    return Candidates(
        ids=ids,
        occurred_at_s=_column(row["occurred"], ">i8").astype(np.float64) / 1e6 + _POSTGRES_EPOCH_S,
        importance=_column(row["importance"], ">f8").astype(np.float64),
        session=_column(row["sessions"], ">i8").astype(np.int64),
        length=_column(row["lengths"], ">i4").astype(np.int32),
        traits=_column(row["traits"], ">i2").astype(np.int16),
        cosine=cosine,
        passage=passage,
        passages=passages,
        post_row=rows,
        post_term=post_term,
        post_passage=post_passage,
        post_tf=_column(row["term_counts"], ">i2")[known].astype(np.float64),
        repeats=query.repeats,
        df=counted[0],
        n_docs=counted[1],
        complete=complete,
    )


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


def _column(packed: bytes | None, kind: str) -> NDArray[Any]:
    return np.frombuffer(packed or _NOTHING, kind)


class _Join:
    """Finds the rows of keys; keys that are not there (filtered out) are left out."""

    def __init__(self, keys: NDArray[Any]) -> None:
        keys = keys.astype(np.int64)
        self._order = np.argsort(keys)
        self._ordered = keys[self._order]

    def rows(self, packed: bytes | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the rows of the known keys, and which keys were known."""
        wanted = _column(packed, ">i8").astype(np.int64)
        if len(self._ordered) == 0:
            return np.zeros(0, np.int64), np.zeros(len(wanted), np.bool_)
        at = np.minimum(np.searchsorted(self._ordered, wanted), len(self._ordered) - 1)
        known = self._ordered[at] == wanted
        return self._order[at[known]], known
