"""A whole small scope in memory, to search it without reading it again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memex.core.memory import Memory, utc

from ..ports import Candidates, Fetched, Query
from .columns import Join, column, micros, seconds

__all__ = ["Snapshot", "SnapshotCache"]

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROS_S = 1_000_000
_ROW_BYTES = 700  # what Python needs for one memory beside its text, about
_MOST_SEEN = 100_000


class Snapshot:
    """Everything that a search of one scope needs, as it was at one version of the scope."""

    def __init__(self, row: Mapping[str, Any], version: int) -> None:
        """`row` is the answer of the statement `snapshot`, made at `version` or later."""
        self.version = version
        self._ids = column(row["ids"], "V16")
        n = len(self._ids)
        join = Join(column(row["ids"], ">i8")[1::2])
        self._occurred_s = seconds(row["occurred"])
        self._occurred = micros(row["occurred"])
        self._importance = column(row["importance"], ">f8").astype(np.float64)
        self._session = column(row["sessions"], ">i8").astype(np.int64)
        self._length = column(row["lengths"], ">i4").astype(np.int32)
        self._traits = column(row["traits"], ">i2").astype(np.int16)
        self._agents, self._types = column(row["agents"], "V8"), column(row["types"], "V8")
        self._expires = micros(row["expires"])
        self._valid_from, self._valid_to = micros(row["valid_from"]), micros(row["valid_to"])
        self._since = micros(row["since"])
        rows, known = join.rows(row["vector_keys"])
        self._vector_rows = rows
        self._vector_passages = column(row["vector_passages"], ">i2")[known].astype(np.int16)
        starts, ends = (column(row[name], ">i4")[known].tolist() for name in ("starts", "ends"))
        self._vectors = _vectors(row["vectors"], len(known))[known]
        self._passages = np.maximum(np.bincount(rows, minlength=n), 1)
        # Spans matter only where there are several passages.
        self._spans = {
            (self._ids[r].tobytes(), p): (start, end)
            for r, p, start, end in zip(rows.tolist(), self._vector_passages.tolist(), starts, ends, strict=True)
            if self._passages[r] > 1
        }
        rows, known = join.rows(row["term_keys"])
        terms = column(row["terms"], ">i8")[known].astype(np.int64)
        by_term = np.argsort(terms, kind="stable")
        self._terms, self._post_rows = terms[by_term], rows[by_term]
        self._post_passages = column(row["term_passages"], ">i2")[known][by_term].astype(np.int16)
        self._post_tf = column(row["term_counts"], ">i2")[known][by_term].astype(np.float64)
        self._memories: dict[UUID, Memory] = {}
        self.n_bytes = self._vectors.nbytes + 32 * len(terms) + 120 * n + 10_000

    @staticmethod
    def serves(query: Query) -> bool:
        """Whether the columns suffice to tell what matches: tags and metadata are not among them."""
        return not query.filters.tags and not query.filters.metadata

    def candidates(self, query: Query) -> Candidates:
        """Return what `Searcher.candidates` would read from the database."""
        n = len(self._ids)
        cosine, passage = np.full(n, np.nan, np.float32), np.zeros(n, np.int16)
        if query.vector is not None and len(self._vectors):
            # Rounded as the database rounds it, so that the same search has the same scores.
            products = self._vectors @ query.vector.astype(np.float16).astype(np.float32)
            worst_first = np.argsort(products, kind="stable")
            rows = self._vector_rows[worst_first]
            cosine[rows], passage[rows] = products[worst_first], self._vector_passages[worst_first]
        first = np.searchsorted(self._terms, query.terms, "left")
        last = np.searchsorted(self._terms, query.terms, "right")
        at = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)] or [np.zeros(0, np.int64)])
        post_term = np.repeat(np.arange(len(query.terms)), last - first)
        post_row = self._post_rows[at]
        kept = self._kept(query)
        if not kept.all():
            stays = kept[post_row]
            at, post_term, post_row = at[stays], post_term[stays], (np.cumsum(kept) - 1)[post_row[stays]]
        n_terms = max(len(query.terms), 1)
        holders = np.unique(post_row * n_terms + post_term) % n_terms
        return Candidates(
            ids=self._ids[kept],
            occurred_at_s=self._occurred_s[kept],
            importance=self._importance[kept],
            session=self._session[kept],
            length=self._length[kept],
            traits=self._traits[kept],
            cosine=cosine[kept],
            passage=passage[kept],
            passages=self._passages[kept],
            post_row=post_row,
            post_term=post_term,
            post_passage=self._post_passages[at],
            post_tf=self._post_tf[at],
            repeats=query.repeats,
            df=np.bincount(holders, minlength=len(query.terms)).astype(np.float64),
            n_docs=float(kept.sum()),
            complete=True,
        )

    def fetched(self, ids: Sequence[UUID], passages: Sequence[int]) -> dict[UUID, Fetched]:
        """Return those of `ids` whose whole rows are held."""
        found = {}
        for memory_id, passage in zip(ids, passages, strict=True):
            memory = self._memories.get(memory_id)
            if memory is not None:
                found[memory_id] = Fetched(memory, self._spans.get((memory_id.bytes, passage)))
        return found

    def keep(self, memory: Memory) -> None:
        """Hold a whole row for the next search."""
        if memory.id not in self._memories:
            self._memories[memory.id] = memory
            self.n_bytes += _ROW_BYTES + 2 * len(memory.content)

    def _kept(self, query: Query) -> NDArray[np.bool_]:
        filters = query.filters
        now = _since_epoch(query.valid_at)
        until = now if query.valid_until is None else max(now, _since_epoch(query.valid_until))
        kept = (self._expires > now) & (self._valid_from <= until) & (self._valid_to > now)
        if filters.as_of is not None:
            kept &= self._since <= now
        if filters.agent_id is not None:
            kept &= self._agents == _digest(filters.agent_id)
        if filters.memory_type is not None:
            kept &= self._types == _digest(filters.memory_type.value)
        if filters.time_from is not None:
            kept &= self._occurred >= _since_epoch(filters.time_from)
        if filters.time_to is not None:
            kept &= self._occurred < _since_epoch(filters.time_to)
        return kept


class SnapshotCache:
    """Snapshots by shard, the least lately used going first when they exceed `max_bytes`; 0 keeps none."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[int, Snapshot] = OrderedDict()
        self._seen: OrderedDict[int, int] = OrderedDict()

    def get(self, shard: int, version: int) -> Snapshot | None:
        """Return the snapshot of the shard if it is of this version."""
        held = self.latest(shard)
        if held is None or held.version != version:
            return None
        self._held.move_to_end(shard)
        return held

    def latest(self, shard: int) -> Snapshot | None:
        """Return the snapshot of the shard, of whatever version."""
        return self._held.get(shard)

    def drop(self, shard: int) -> None:
        """Let go of the snapshot of the shard."""
        self._held.pop(shard, None)

    def worth_it(self, shard: int, version: int) -> bool:
        """Whether the shard was searched at this version before, so that it pays to hold it."""
        again = self._max_bytes > 0 and self._seen.get(shard) == version
        self._seen[shard] = version
        self._seen.move_to_end(shard)
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        if not again:
            self.drop(shard)  # it is of an older version
        return again

    def put(self, shard: int, snapshot: Snapshot) -> None:
        """Hold a snapshot, and let go of others for it."""
        self._held[shard] = snapshot
        self._held.move_to_end(shard)
        while len(self._held) > 1 and sum(s.n_bytes for s in self._held.values()) > self._max_bytes:
            self._held.popitem(last=False)


def _vectors(packed: bytes | None, n: int) -> NDArray[np.float32]:
    """Decode vectors in the binary form of pgvector's halfvec: dimension, zero, then big-endian halves."""
    if not packed or not n:
        return np.zeros((n, 0), np.float32)
    dim = int.from_bytes(packed[:2], "big")
    records = column(packed, [("dim", ">i2"), ("zero", ">i2"), ("halves", ">f2", (dim,))])
    return records["halves"].astype(np.float32)


def _since_epoch(value: datetime) -> int:
    delta = utc(value) - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * _MICROS_S + delta.microseconds


def _digest(text: str) -> NDArray[np.void]:
    return np.frombuffer(hashlib.sha256(text.encode()).digest()[:8], "V8")
