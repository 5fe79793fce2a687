"""The repository on PostgreSQL: writes, and reads by id. Searching is in `search`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import asyncpg

from memex.core.identity import same_key, shard_key
from memex.core.memory import UNSET, DeleteReceipt, Memory, MemoryType, Patch, Stored, Version, as_new
from memex.protocol.errors import Conflict

from ..ports import Candidates, Fetched, IdempotencyKey, IndexEntry, PreparedMemory, Query, Scope
from .pool import Database
from .queries import load
from .rows import index_columns, store_columns, to_memory, to_version
from .search import Searcher
from .transactions import affected, apart, found, patched, retried

__all__ = ["PostgresRepo"]

_KEY_LIFE = timedelta(hours=24)
_COUNTER_LIFE = timedelta(minutes=2)
_PART = 5_000
_EXPIRY = "memex:expiry"


class PostgresRepo:
    """Implements `memex_server.ports.MemoryRepo`."""

    def __init__(self, database: Database, *, exact_scope_limit: int, snapshot_bytes: int = 0) -> None:
        self._db = database
        self._tenant = database.tenant_id
        self._sql = load("memories")
        self._searcher = Searcher(database, exact_scope_limit=exact_scope_limit, snapshot_bytes=snapshot_bytes)

    # -- storing -------------------------------------------------------------------------------

    async def store(
        self, prepared: Sequence[PreparedMemory], *, now: datetime, key: IdempotencyKey | None = None
    ) -> list[Stored]:
        """See the port."""

        async def run() -> list[Stored]:
            if key is None:
                async with self._db.connection() as connection:
                    return await self.store_within(connection, prepared, now)
            async with self._db.transaction() as connection:
                shard = shard_key(self._tenant, key.key)
                claimed = await connection.fetchval(
                    self._sql["claim_key"], shard, key.key, self._tenant, key.fingerprint, now
                )
                if claimed is None:  # another request has it, and is finished: the insert waited for it
                    return await self._replay(connection, key) or []
                stored = await self.store_within(connection, prepared, now)
                outcome = [[str(s.memory.id), s.created] for s in stored]
                await connection.execute(self._sql["settle_key"], shard, key.key, outcome)
                return stored

        return await retried(run)

    async def replay(self, key: IdempotencyKey) -> list[Stored] | None:
        """See the port."""
        async with self._db.connection() as connection:
            return await self._replay(connection, key)

    async def _replay(self, connection: Any, key: IdempotencyKey) -> list[Stored] | None:
        row = await connection.fetchrow(self._sql["read_key"], shard_key(self._tenant, key.key), key.key)
        if row is None:
            return None
        if row["fingerprint"] != key.fingerprint:
            raise Conflict("this Idempotency-Key was used for another request: use a new key for a new request")
        outcome = [(UUID(text), created) for text, created in row["outcome"]]
        rows = await connection.fetch(self._sql["get_many"], [memory_id for memory_id, _ in outcome])
        memories = {row["id"]: to_memory(row) for row in rows}
        if any(memory_id not in memories for memory_id, _ in outcome):
            raise Conflict("the request with this Idempotency-Key was carried out, and its memory purged since")
        return [Stored(memories[memory_id], created) for memory_id, created in outcome]

    async def store_within(self, connection: Any, prepared: Sequence[PreparedMemory], now: datetime) -> list[Stored]:
        """Store as a part of the transaction that `connection` is in."""
        keys = [same_key(self._tenant, p.new) for p in prepared]
        repeats: dict[bytes, int] = {}
        for k in keys:
            repeats[k] = repeats.get(k, 0) + 1
        first = dict(zip(reversed(keys), reversed(prepared), strict=True))
        # One order for all writers, so two batches with common memories cannot deadlock.
        unique = sorted(first, key=lambda k: (shard_key(self._tenant, first[k].new.user_id), k))
        columns = store_columns(self._tenant, [first[k] for k in unique], unique, [repeats[k] for k in unique], now)
        rows = {row["same_key"]: row for row in await connection.fetch(self._sql["store"], *columns)}
        seen: set[bytes] = set()
        outcome = []
        for k in keys:
            created = rows[k]["id"] == first[k].id and k not in seen
            seen.add(k)
            outcome.append(Stored(to_memory(rows[k]), created))
        return outcome

    # -- reading -------------------------------------------------------------------------------

    async def scope(self, user_id: str, terms: Sequence[int] = ()) -> Scope:
        """See the port."""
        return await self._searcher.scope(user_id, terms)

    async def candidates(self, query: Query) -> Candidates:
        """See the port."""
        return await self._searcher.candidates(query)

    async def fetch(self, query: Query, ids: Sequence[UUID], passages: Sequence[int]) -> dict[UUID, Fetched]:
        """See the port."""
        return await self._searcher.fetch(query, ids, passages)

    async def recount(self) -> None:
        """Count what searches of large scopes go by, beside them. Raises Unavailable."""
        await self._searcher.recount()

    async def registered(self, query: Query, keys: Sequence[str], limit: int) -> list[tuple[UUID, frozenset[str]]]:
        """Return memories that match and are registered under some of `keys`, and under which."""
        return await self._searcher.registered(query, keys, limit)

    async def get(self, memory_id: UUID, *, user_id: str | None, agent_id: str | None, deleted: bool = False) -> Memory:
        """See the port."""
        async with self._db.connection() as connection:
            row = await connection.fetchrow(self._sql["get"], memory_id, user_id, agent_id, deleted)
        return to_memory(found(row, memory_id))

    async def count(self, *, user_id: str, agent_id: str | None, now: datetime) -> int:
        """See the port."""
        shard = shard_key(self._tenant, user_id)
        async with self._db.connection() as connection:
            return int(await connection.fetchval(self._sql["count"], shard, user_id, agent_id, now))

    async def history(self, memory_id: UUID, *, user_id: str | None, agent_id: str | None) -> list[Version]:
        """See the port."""
        async with self._db.connection() as connection:
            tombstones_too = True
            row = await connection.fetchrow(self._sql["get"], memory_id, user_id, agent_id, tombstones_too)
            row = found(row, memory_id)
            versions = await connection.fetch(self._sql["versions"], row["shard"], memory_id)
        if versions:
            return [to_version(v) for v in versions]
        memory = to_memory(row)
        return [
            Version(
                version=1,
                action="created",
                at=memory.created_at,
                actor=memory.agent_id,
                reason=None,
                content=memory.content,
                importance=memory.importance,
                memory_type=memory.memory_type,
                tags=memory.tags,
                metadata=memory.metadata,
            )
        ]

    async def health(self) -> dict[str, Any]:
        """See the port."""
        async with self._db.connection() as connection:
            row = await connection.fetchrow(load("setup")["facts"])
        active, idle = self._db.usage()
        return {
            "server_version": row["server_version_text"],
            "vector_version": row["vector_version"],
            "pool_active": active,
            "pool_idle": idle,
        }

    # -- changing ------------------------------------------------------------------------------

    async def patch(
        self,
        memory_id: UUID,
        patch: Patch,
        index: IndexEntry | None,
        *,
        user_id: str | None,
        agent_id: str | None,
        actor: str | None,
        now: datetime,
    ) -> Memory:
        """See the port."""

        async def run() -> Memory:
            async with self._db.transaction() as connection:
                row = apart(await self._lock(connection, memory_id, user_id, agent_id, deleted=False))
                old = to_memory(row)
                new = patched(as_new(old, row["given_at"]), patch)
                shard, key = row["shard"], same_key(self._tenant, new)
                await connection.execute(self._sql["first_versions"], shard, [memory_id])
                occurred_at = new.occurred_at if patch.occurred_at is not UNSET else old.occurred_at
                try:
                    async with connection.transaction():
                        changed = await connection.fetchrow(
                            self._sql["update"], shard, memory_id, new.content, key, new.importance, new.memory_type,
                            list(new.tags), dict(new.metadata), new.source, new.session_id, new.identifying_time,
                            occurred_at, new.expires_at, new.pinned, now,
                        )  # fmt: skip
                except asyncpg.UniqueViolationError as e:
                    raise await self._same(connection, shard, key) from e
                if index is not None:
                    await self._unindex(connection, shard, [memory_id])
                    await self._index(connection, shard, memory_id, index)
                await connection.execute(self._sql["next_versions"], shard, [memory_id], "updated", now, actor, None)
                return to_memory(changed)

        return await retried(run)

    async def delete(
        self, memory_id: UUID, *, user_id: str | None, agent_id: str | None, actor: str | None, now: datetime
    ) -> None:
        """See the port."""

        async def run() -> None:
            async with self._db.transaction() as connection:
                row = apart(await self._lock(connection, memory_id, user_id, agent_id, deleted=False))
                sources = await connection.fetch(self._sql["lock_sources"], row["shard"], memory_id, None)
                ids = [memory_id, *(source["id"] for source in sources)]
                await self._go_on(connection, row["shard"], memory_id, now, actor=actor)
                await self._bury(connection, row["shard"], ids, "deleted", now, actor=actor)

        await retried(run)

    async def purge(
        self, memory_id: UUID, *, user_id: str | None, agent_id: str | None, actor: str | None, now: datetime
    ) -> DeleteReceipt:
        """See the port."""

        async def run() -> DeleteReceipt:
            async with self._db.transaction() as connection:
                row = await self._lock(connection, memory_id, user_id, agent_id, deleted=True)
                shard = row["shard"]
                if row["deleted_at"] is None:
                    apart(row)
                derived = await connection.fetch(self._sql["derived"], shard, [memory_id])
                ids = [memory_id, *(one["id"] for one in derived)]
                await self._go_on(connection, shard, memory_id, now, actor=actor)
                await self._purge(connection, shard, ids, now, actor=actor)
                await connection.execute(self._sql["purge_retractions"], shard, ids)
                digest = hashlib.sha256(row["content"].encode()).hexdigest()
                return DeleteReceipt(id=memory_id, content_sha256=digest, purged_at=now, purged_by=actor)

        return await retried(run)

    async def delete_scope(
        self, *, user_id: str, agent_id: str | None, actor: str | None, purge: bool, now: datetime
    ) -> int:
        """See the port."""
        shard = shard_key(self._tenant, user_id)

        async def run() -> int:
            async with self._db.transaction() as connection:
                rows = await connection.fetch(self._sql["lock_scope"], shard, user_id, agent_id)
                # Part by part, so that no statement of a large scope runs into the limit of time.
                if purge:
                    for ids in _parts([row["id"] for row in rows]):
                        await self._purge(connection, shard, ids, now, actor=actor)
                    await connection.execute(self._sql["purge_scope_retractions"], shard, user_id, agent_id)
                    return len(rows)
                live = [row["id"] for row in rows if row["live"]]
                for ids in _parts(live):
                    await self._bury(connection, shard, ids, "deleted", now, actor=actor)
                return len(live)

        return await retried(run)

    async def tidy(self, *, now: datetime, tombstone_days: float, limit: int) -> dict[str, int]:
        """See the port."""
        purged = buried = 0
        async with self._db.transaction() as connection:
            for row in await connection.fetch(self._sql["bury_expired"], now, limit):
                shard, ids = row["shard"], row["ids"]
                await connection.execute(self._sql["first_versions"], shard, ids)
                await self._unindex(connection, shard, ids)
                await connection.execute(self._sql["next_versions"], shard, ids, "expired", now, _EXPIRY, None)
                buried += len(ids)
        async with self._db.transaction() as connection:
            oldest = now - timedelta(days=tombstone_days)
            for row in await connection.fetch(self._sql["due_for_purge"], oldest, limit):
                await self._purge(connection, row["shard"], row["ids"], now, actor=_EXPIRY)
                purged += len(row["ids"])
        async with self._db.connection() as connection:
            keys = await connection.execute(self._sql["forget_keys"], now - _KEY_LIFE)
            counters = await connection.execute(self._sql["forget_counters"], now - _COUNTER_LIFE)
        return {"expired": buried, "purged": purged, "keys": affected(keys), "counters": affected(counters)}

    # -- parts of a transaction ----------------------------------------------------------------

    async def _lock(
        self, connection: Any, memory_id: UUID, user_id: str | None, agent_id: str | None, *, deleted: bool
    ) -> Any:
        return found(await connection.fetchrow(self._sql["lock"], memory_id, user_id, agent_id, deleted), memory_id)

    async def _index(self, connection: Any, shard: int, memory_id: UUID, index: IndexEntry) -> None:
        terms, vectors = index_columns(index)
        await connection.execute(self._sql["put_terms"], shard, memory_id, *terms)
        await connection.execute(self._sql["index_terms"], shard, memory_id)
        await connection.execute(self._sql["index_vectors"], shard, memory_id, self._tenant, *vectors)

    async def _unindex(self, connection: Any, shard: int, ids: Sequence[UUID]) -> None:
        await connection.execute(self._sql["unindex_terms"], shard, ids)
        await connection.execute(self._sql["unindex_vectors"], shard, ids)

    async def _bury(
        self,
        connection: Any,
        shard: int,
        ids: Sequence[UUID],
        action: str,
        now: datetime,
        *,
        actor: str | None = None,
        reason: str | None = None,
    ) -> None:
        await connection.execute(self._sql["first_versions"], shard, ids)
        await connection.execute(self._sql["bury_many"], shard, ids, now)
        await self._unindex(connection, shard, ids)
        await connection.execute(self._sql["next_versions"], shard, ids, action, now, actor, reason)

    async def _go_on(self, connection: Any, shard: int, memory_id: UUID, now: datetime, *, actor: str | None) -> None:
        left = [row["id"] for row in await connection.fetch(self._sql["go_on"], shard, memory_id, now)]
        why = f"{memory_id} was deleted before its time"
        await connection.execute(self._sql["next_versions"], shard, left, "reinstated", now, actor, why)

    async def _purge(
        self, connection: Any, shard: int, ids: Sequence[UUID], now: datetime, *, actor: str | None
    ) -> None:
        await self._unindex(connection, shard, ids)
        left = [row["id"] for row in await connection.fetch(self._sql["hand_on"], shard, ids)]
        why = "what it was superseded by was purged"
        await connection.execute(self._sql["next_versions"], shard, left, "superseded", now, actor, why)
        await connection.execute(self._sql["inherit"], shard, ids)
        freed = [row["id"] for row in await connection.fetch(self._sql["let_go"], shard, ids)]
        why = "its summary was purged"
        await connection.execute(self._sql["next_versions"], shard, freed, "released", now, actor, why)
        await connection.execute(self._sql["purge_versions"], shard, ids)
        await connection.execute(self._sql["purge_rows"], shard, ids)

    async def _same(self, connection: Any, shard: int, key: bytes) -> Conflict:
        existing = await connection.fetchval(self._sql["same_live"], shard, key)
        return Conflict(f"memory {existing} holds the same text in this scope already", existing_id=str(existing))

    # Last, because its name hides the type `list` from what follows in the class.
    async def list(
        self,
        *,
        user_id: str,
        agent_id: str | None,
        memory_type: MemoryType | None,
        tags: Sequence[str],
        state: Literal["live", "deleted", "all"],
        before: UUID | None,
        limit: int,
        now: datetime,
    ) -> list[Memory]:
        """See the port."""
        shard = shard_key(self._tenant, user_id)
        async with self._db.connection() as connection:
            rows = await connection.fetch(
                self._sql["list"], shard, user_id, agent_id, memory_type, list(tags) or None, before, state, limit, now
            )
        return [to_memory(row) for row in rows]


def _parts(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for start in range(0, len(ids), _PART):
        yield ids[start : start + _PART]
