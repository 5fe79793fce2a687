"""MemoryService: the one object behind every face."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memex.core.memory import (
    BatchItem,
    DeleteReceipt,
    Memory,
    NewMemory,
    Page,
    Patch,
    SearchRequest,
    SearchResult,
    Stored,
    Version,
)

__all__ = ["MemoryService"]


class MemoryService:
    """Stores, finds, changes and forgets memories. Raises only `memex.protocol.errors`."""

    async def store(self, new: NewMemory, *, idempotency_key: str | None = None) -> Stored: ...

    async def store_batch(
        self, news: Sequence[NewMemory | Exception], *, idempotency_key: str | None = None
    ) -> list[BatchItem]:
        """Items that a face could not even parse come as the exception that says why."""
        ...

    async def search(self, request: SearchRequest) -> SearchResult: ...

    async def get(self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None) -> Memory: ...

    async def list(
        self,
        *,
        user_id: str,
        agent_id: str | None = None,
        memory_type: str | None = None,
        tags: Sequence[str] = (),
        state: str = "live",
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page: ...

    async def patch(
        self, memory_id: UUID, patch: Patch, *, user_id: str | None = None, agent_id: str | None = None
    ) -> Memory: ...

    async def delete(
        self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None, purge: bool = False
    ) -> DeleteReceipt | None: ...

    async def restore(self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None) -> Memory: ...

    async def history(
        self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None
    ) -> list[Version]: ...

    async def delete_scope(self, *, user_id: str, agent_id: str | None = None, purge: bool = False) -> int: ...

    async def count(self, *, user_id: str, agent_id: str | None = None) -> int: ...

    async def health(self) -> Mapping[str, Any]:
        """{"status": "ok" | "degraded", "version", "database": {...}, "embedding": {...}}; never raises."""
        ...

    async def ready(self) -> bool:
        """Whether a request would be served now: schema migrated, database answers, model loaded."""
        ...
