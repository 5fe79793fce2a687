"""Between rows of the database and the entities of memex."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, overload
from uuid import UUID

from pgvector import HalfVector

from memex.core.identity import shard_key
from memex.core.memory import Memory, MemoryType, Version, utc

from ..ports import IndexEntry, PreparedMemory

__all__ = ["index_columns", "store_columns", "to_memory", "to_version"]


def to_memory(row: Mapping[str, Any]) -> Memory:
    """Build the entity from a row of `memories`."""
    return Memory(
        id=_uuid(row["id"]),
        agent_id=row["agent_id"],
        user_id=row["user_id"],
        content=row["content"],
        importance=row["importance"],
        memory_type=MemoryType(row["memory_type"]),
        tags=tuple(row["tags"]),
        metadata=row["metadata"],
        source=row["source"],
        session_id=row["session_id"],
        occurred_at=utc(row["occurred_at"]),
        created_at=utc(row["created_at"]),
        updated_at=utc(row["updated_at"]),
        expires_at=_time(row["expires_at"]),
        pinned=row["pinned"],
        occurrences=row["occurrences"],
        valid_from=_time(row["valid_from"]),
        valid_to=_time(row["valid_to"]),
        superseded_by=_uuid(row["superseded_by"]),
        condensed_into=_uuid(row["condensed_into"]),
        deleted_at=_time(row["deleted_at"]),
        told_at=tuple(utc(t) for t in row["told_at"]),
        sources=tuple(dict.fromkeys(s for s in (row["source"], *row["sources"]) if s is not None)),
    )


@overload
def _uuid(value: UUID) -> UUID: ...
@overload
def _uuid(value: None) -> None: ...
def _uuid(value: UUID | None) -> UUID | None:
    """Return the standard type: the driver's own subclass is not one that JSON writers know."""
    return None if value is None else UUID(bytes=value.bytes)


def _time(value: datetime | None) -> datetime | None:
    """Return an aware time: the driver makes the two ends of the calendar naive (it means infinity by them)."""
    return None if value is None else utc(value)


def to_version(row: Mapping[str, Any]) -> Version:
    """Build the entity from a row of `memory_versions`."""
    values = dict(row) | {"memory_type": MemoryType(row["memory_type"]), "tags": tuple(row["tags"])}
    return Version(**values)


def store_columns(
    tenant_id: str, prepared: Sequence[PreparedMemory], keys: Sequence[bytes], repeats: Sequence[int], now: datetime
) -> list[Any]:
    """Return the arguments of the statement `store`, one array per column."""
    news = [p.new for p in prepared]
    shards = [shard_key(tenant_id, new.user_id) for new in news]
    postings = [
        (shard, p.id, passage, term, tf)
        for shard, p in zip(shards, prepared, strict=True)
        for term, passage, tf in p.index.postings
    ]
    vectors = [
        (p.id, passage, start, end, HalfVector(vector))
        for p in prepared
        for passage, ((start, end), vector) in enumerate(zip(p.index.spans, p.index.vectors, strict=True))
    ]
    return [
        shards,
        [p.id for p in prepared],
        [new.user_id for new in news],
        [new.agent_id for new in news],
        [new.session_id for new in news],
        [new.memory_type.value for new in news],
        [new.content for new in news],
        list(keys),
        [None if new.identifying_time is None else utc(new.identifying_time) for new in news],
        [new.importance for new in news],
        # as JSON text: the driver would take a list of lists for one array of two dimensions
        [json.dumps(new.tags) for new in news],
        [dict(new.metadata) for new in news],
        [new.source for new in news],
        [new.pinned for new in news],
        list(repeats),
        [now if new.occurred_at is None else utc(new.occurred_at) for new in news],
        [None if new.expires_at is None else utc(new.expires_at) for new in news],
        [p.index.n_terms for p in prepared],
        *_transposed(postings, 5),
        *_transposed(vectors, 5),
        tenant_id,
        now,
        [p.index.traits for p in prepared],
        [None if p.valid_from is None else utc(p.valid_from) for p in prepared],
        [None if p.until is None else utc(p.until.at) for p in prepared],
    ]


def index_columns(index: IndexEntry) -> tuple[list[Any], list[Any]]:
    """Return the arguments of `put_terms` and of `index_vectors` that describe the index entry."""
    terms, passages, counts = _transposed(list(index.postings), 3)
    vectors = [HalfVector(vector) for vector in index.vectors]
    starts, ends = _transposed(list(index.spans), 2)
    return [terms, passages, counts, index.n_terms, index.traits], [list(range(len(vectors))), starts, ends, vectors]


def _transposed(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    flat = list(chain.from_iterable(rows))
    return [flat[i::width] for i in range(width)]
