"""Counts how often memories are found: noted in memory by each search, written down every few seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from memex.core.memory import Memory, Recalls
from memex.protocol.errors import Unavailable

from .ports import RecallLog

__all__ = ["RecallCounter"]


class RecallCounter:
    """What this process has counted and not yet written; a crash loses the counts of some seconds, nothing else."""

    def __init__(self, log: RecallLog) -> None:
        self._log = log
        self._pending: dict[tuple[str, UUID], Recalls] = {}

    def note(self, memories: Iterable[Memory], now: datetime) -> None:
        """Count each of `memories` once."""
        for memory in memories:
            self._add((memory.user_id, memory.id), Recalls(1, now))

    async def flush(self) -> None:
        """Write down what was counted. Raises Unavailable; the counts are kept then, and when it is cancelled."""
        pending, self._pending = self._pending, {}
        if not pending:
            return
        try:
            await self._log.add(pending)
        except (Unavailable, asyncio.CancelledError):
            for key, found in pending.items():
                self._add(key, found)
            raise

    async def of(self, memory: Memory) -> Recalls:
        """Return the counts of one memory, with those not yet written. Raises Unavailable."""
        written = await self._log.get(memory.user_id, memory.id)
        return written + self._pending.get((memory.user_id, memory.id), Recalls())

    def _add(self, key: tuple[str, UUID], found: Recalls) -> None:
        self._pending[key] = self._pending.get(key, Recalls()) + found
