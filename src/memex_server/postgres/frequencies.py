"""How many postings a term has in a large scope; counting the common ones takes too long for a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .pool import Database
from .queries import load

__all__ = ["TermCounts"]

_CAP = 50_000  # what is counted at most while a search waits
_COMMON = 200
_MOST_SCOPES = 50


class _Common:
    """The common terms of a scope, as they were when it had so many rows; 0 rows: some of them, never counted."""

    def __init__(self, rows: int, df: dict[int, int]) -> None:
        self.rows = rows
        self.df = df


class TermCounts:
    """Knows the common terms of the large scopes that are searched, and counts the others for each search."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._sql = load("search")
        self._common: dict[int, _Common] = {}
        self._due: dict[int, int] = {}

    async def of(self, connection: Any, shard: int, terms: Sequence[int], rows: int) -> dict[int, int]:
        """Return the document frequencies of terms in a scope that lately had `rows` memories."""
        common = self._common.get(shard)
        if common is None:
            common = self._remember(shard, _Common(0, {}))
        if rows != common.rows:
            self._due[shard] = rows
        df = {term: common.df[term] for term in terms if term in common.df}
        rest = [term for term in terms if term not in df]
        if rest:
            for row in await connection.fetch(self._sql["term_frequencies"], shard, rest, _CAP):
                df[row["term"]] = row["df"]
                if row["df"] >= _COMMON:
                    common.df[row["term"]] = row["df"]
        return df

    async def count_due(self) -> None:
        """Count the common terms of scopes where they are not known, or the scope has changed. Raises Unavailable."""
        while self._due:
            shard, rows = self._due.popitem()
            # First, so that a scope which takes too long to count is not counted again and again.
            known = self._common.get(shard)
            common = self._remember(shard, _Common(rows, known.df if known else {}))
            async with self._db.connection() as connection:
                found = await connection.fetch(self._sql["common_terms"], shard, _COMMON)
            common.df = {row["term"]: row["df"] for row in found}

    def _remember(self, shard: int, common: _Common) -> _Common:
        if len(self._common) >= _MOST_SCOPES and shard not in self._common:
            self._common.pop(next(iter(self._common)))
        self._common[shard] = common
        return common
