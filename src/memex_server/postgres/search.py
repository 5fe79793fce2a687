"""Finding candidates: every match of a small scope, an over-fetched selection of a large one."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from pgvector import HalfVector

from memex.core.filters import compile_metadata
from memex.core.identity import shard_key
from memex.core.memory import Filters, utc
from memex.core.scoring import idf

from ..ports import Candidates, Fetched, Query, Scope
from .columns import held_terms, unpack
from .frequencies import TermCounts
from .pool import Database
from .queries import load, with_filters
from .rows import to_memory
from .snapshot import Snapshot, SnapshotCache

__all__ = ["Searcher"]

_SIZE_LIFE_S = 60.0  # a scope's size only chooses the plan, so it may be this old
_LARGE_LIFE_S = 600.0  # what is large is counted beside the searches, and does not soon become small
_MAX_SIZES = 100_000
_OVERFETCH = 10
_LEAST_FETCH = 100
_NEWEST = 50
_OF_ONE_MEMORY = 3  # passages, on average, or more of them are asked for
_MOST_PASSAGES = 10_000
# Rare terms first, until this many postings are read: the rest are too common to select by.
_POSTINGS_BUDGET = 8_000
_SHORT = 120  # words: reading all terms of a memory is then quicker than looking up those of a query
# To look at n memories takes as long as it takes the vector index to meet a hundred of n in `rows` where
# n * n = 30 * rows, as measured at 100,000.
_FEW_BY_SIZE = 30
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class _Size:
    rows: int
    at_s: float


class Searcher:
    """Runs the statements of a search.

    It keeps what it lately saw of the sizes of scopes and of filters, and snapshots of
    scopes that are searched again and again without a change in between; a snapshot is used only
    after the database confirmed that the scope has not changed since.
    """

    def __init__(self, database: Database, *, exact_scope_limit: int, snapshot_bytes: int) -> None:
        self._db = database
        self._exact_limit = exact_scope_limit
        self._sql = load("search")
        self._sizes: dict[int, _Size] = {}
        self._to_count: set[int] = set()
        self._wide: dict[tuple[int, str], _Size] = {}
        self._snapshots = SnapshotCache(snapshot_bytes)
        self._counts = TermCounts(database)

    async def recount(self) -> None:
        """Count what searches of large scopes go by, and what takes too long to count in them. Raises Unavailable."""
        while self._to_count:
            await self._count(self._to_count.pop())
        await self._counts.count_due()

    async def scope(self, user_id: str, terms: Sequence[int]) -> Scope:
        """Return the version of a user's scope (0 while it has had no memory), and its speakers among the terms.

        Raises:
            Unavailable: the database does not answer.
        """
        async with self._db.connection() as connection:
            row = await connection.fetchrow(self._sql["scope"], shard_key(self._db.tenant_id, user_id), terms)
        return Scope(row["version"] or 0, frozenset(row["speakers"]))

    async def candidates(self, query: Query) -> Candidates:
        """Return the candidates of a query with their signals. Raises Unavailable."""
        shard = shard_key(self._db.tenant_id, query.user_id)
        matching = self._matching(shard, query)
        vector = None if query.vector is None else HalfVector(query.vector)
        terms = list(query.terms)
        size = await self._size(shard)
        if size <= self._exact_limit:
            snapshot = await self._snapshot(matching, query.version) if Snapshot.serves(query) else None
            if snapshot is not None:
                return snapshot.candidates(query)
            async with self._db.connection() as connection:
                return unpack(await connection.fetchrow(self._sql["exact"], *matching, vector, terms), query)
        self._snapshots.drop(shard)  # if it was small once
        ids, df = await self._select(matching, vector, terms, query)
        held = terms if df is None else [term for term in terms if df[term]]
        [about], [words] = await asyncio.gather(
            self._rows("chosen", *matching, vector, ids), self._rows("chosen_terms", shard, held, ids, _SHORT)
        )
        row = {**about, **held_terms(words, terms)}
        counted = None if df is None else (np.array([df[t] for t in terms], np.float64), float(size))
        return unpack(row, query, counted=counted, complete=df is None)

    async def fetch(self, query: Query, ids: Sequence[UUID], passages: Sequence[int]) -> dict[UUID, Fetched]:
        """Return whole memories by id, those that match still. Raises Unavailable."""
        shard = shard_key(self._db.tenant_id, query.user_id)
        # `candidates` has just confirmed it: what it holds is what the scope held then.
        snapshot = self._snapshots.latest(shard) if Snapshot.serves(query) else None
        found = {} if snapshot is None else snapshot.fetched(ids, passages)
        missing = [(i, p) for i, p in zip(ids, passages, strict=True) if i not in found]
        if missing:
            matching = self._matching(shard, query)
            async with self._db.connection() as connection:
                rows = await connection.fetch(self._sql["fetch"], *matching, *map(list, zip(*missing, strict=True)))
            for row in rows:
                one = Fetched(to_memory(row), _span(row))
                found[one.memory.id] = one
                if snapshot is not None:
                    snapshot.keep(one.memory)
        return found

    async def _snapshot(self, matching: list[Any], version: int) -> Snapshot | None:
        """Return what is held of the scope at this version; hold it from its second search without a change."""
        shard = matching[0]
        known = self._snapshots.get(shard, version)
        if known is None and self._snapshots.worth_it(shard, version):
            async with self._db.connection() as connection:
                row = await connection.fetchrow(self._sql["snapshot"], *matching[:3])
            known = Snapshot(row, version)
            self._snapshots.put(shard, known)
        return known

    async def _select(
        self, matching: list[Any], vector: Any, terms: list[int], query: Query
    ) -> tuple[list[UUID], dict[int, int] | None]:
        """Choose candidates of a large scope, and count its terms; no counts if the candidates are all that match."""
        if _narrows(query.filters):
            few = await self._few(matching)
            if few is not None:
                return few, None
        wanted = max(_LEAST_FETCH, _OVERFETCH * query.wanted)
        # Side by side on two connections: each is one core's work.
        near, (worded, df) = await asyncio.gather(
            self._nearest_and_newest(matching, vector, wanted, query), self._by_words(matching, terms, wanted)
        )
        turns = {row["id"]: row["turn"] for row in (*near, *worded)}
        speaking = [memory_id for memory_id, turn in turns.items() if turn]
        beside = await self._rows("beside", matching[0], speaking) if speaking else []
        return sorted(turns | dict.fromkeys((row["id"] for row in beside), True)), df

    async def _few(self, matching: list[Any]) -> list[UUID] | None:
        """Return all that match if they are few enough to look at each; that they are not is known for minutes."""
        key = (matching[0], repr(matching[1:-3]))  # the last are times of asking
        now = time.monotonic()
        known = self._wide.get(key)
        if known is not None and now - known.at_s <= _LARGE_LIFE_S:
            return None
        most = min(self._exact_limit, math.isqrt(_FEW_BY_SIZE * self._sizes[matching[0]].rows))
        async with self._db.connection() as connection:
            rows = await connection.fetch(with_filters(self._sql["matching_ids"], matching), *matching, most + 1)
        if len(rows) <= most:
            return [row["id"] for row in rows]
        _remember(self._wide, key, _Size(len(rows), now))
        return None

    async def _nearest_and_newest(self, matching: list[Any], vector: Any, wanted: int, query: Query) -> list[Any]:
        rows: list[Any] = []
        async with self._db.connection() as connection:
            if vector is not None:
                rows = await self._nearest(connection, "nearest", [*matching, vector], wanted)
                if len(rows) < query.wanted:  # the index gave up before it met enough of this scope
                    rows = await self._nearest(connection, "nearest_exact", [*matching, vector], wanted)
            rows += await connection.fetch(self._sql["newest"], *matching, max(_NEWEST, query.wanted))
        return rows

    async def _nearest(self, connection: Any, statement: str, arguments: list[Any], wanted: int) -> list[Any]:
        """Return the memories of the nearest `wanted` passages, or of more where they are those of a few long ones."""
        passages = wanted
        while True:
            rows: list[Any] = await connection.fetch(self._sql[statement], *arguments, passages)
            met = sum(row["passages"] for row in rows)
            if len(rows) >= wanted // _OF_ONE_MEMORY or met < passages or passages >= _MOST_PASSAGES:
                return rows
            passages *= 4

    async def _by_words(self, matching: list[Any], terms: list[int], wanted: int) -> tuple[list[Any], dict[int, int]]:
        if not terms:
            return [], {}
        shard = matching[0]
        async with self._db.connection() as connection:
            n_docs = max(self._sizes[shard].rows, 1)
            df = await self._counts.of(connection, shard, terms, n_docs)
            picked = _selective(df)
            weights = [idf(df[term], n_docs) for term in picked]
            return await connection.fetch(self._sql["by_words"], *matching, picked, weights, wanted), df

    async def _rows(self, statement: str, *arguments: Any) -> list[Any]:
        async with self._db.connection() as connection:
            rows: list[Any] = await connection.fetch(self._sql[statement], *arguments)
        return rows

    async def _size(self, shard: int) -> int:
        known = self._sizes.get(shard)
        if known is not None:
            age_s = time.monotonic() - known.at_s
            if known.rows > 2 * self._exact_limit:
                if age_s > _LARGE_LIFE_S:
                    self._to_count.add(shard)
                return known.rows
            if age_s <= _SIZE_LIFE_S:
                return known.rows
        return await self._count(shard)

    async def _count(self, shard: int) -> int:
        async with self._db.connection() as connection:
            rows: int = await connection.fetchval(self._sql["scope_size"], shard)
        _remember(self._sizes, shard, _Size(rows, time.monotonic()))
        return rows

    async def registered(self, query: Query, keys: Sequence[str], limit: int) -> list[tuple[UUID, frozenset[str]]]:
        """Return memories that match and are registered under some of `keys`, and under which. Raises Unavailable."""
        matching = self._matching(shard_key(self._db.tenant_id, query.user_id), query)
        async with self._db.connection() as connection:
            rows = await connection.fetch(self._sql["registered"], *matching, list(keys), limit)
        return [(UUID(bytes=row["id"].bytes), frozenset(row["keys"])) for row in rows]

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
            None if metadata.path is None else metadata.vars,
            None if filters.time_from is None else utc(filters.time_from),
            None if filters.time_to is None else utc(filters.time_to),
            query.valid_at,
            None if filters.as_of is None else utc(filters.as_of),
            None if query.valid_until is None else utc(query.valid_until),
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
