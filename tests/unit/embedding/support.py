"""Embedders that tests steer: one that waits at a gate and one that refuses some texts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memex.protocol.errors import InvalidInput
from memex_server.ports import FloatArray, Role
from memex_server.testing import HashingEmbedder

__all__ = ["BOUND_S", "SteeredEmbedder"]

BOUND_S = 5.0


class SteeredEmbedder(HashingEmbedder):
    """Records its runs; holds each until `gate` is open; a text with "bad" in it is refused with `error`."""

    def __init__(self, *, dim: int = 8, error: Exception | None = None) -> None:
        super().__init__(dim)
        self.runs: list[list[str]] = []
        self.started = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()
        self.error = error or InvalidInput("bad text")

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        self.runs.append(list(texts))
        self.started.set()
        await self.gate.wait()
        if any("bad" in text for text in texts):
            raise self.error
        return await super().embed(texts, role)
