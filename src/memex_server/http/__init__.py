"""The REST face: HTTP in, `MemoryService` calls out."""

from __future__ import annotations

__all__: list[str] = []
