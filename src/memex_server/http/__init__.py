"""The REST face: HTTP in, `MemoryService` calls out."""

from __future__ import annotations

from memex_server.http.app import create_app

__all__ = ["create_app"]
