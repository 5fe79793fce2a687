"""What `memex doctor` looks at in the service: settings, data directory, model, database."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from memex.protocol.errors import MemexError, SetupError

from .embedding import is_built
from .metrics import Metrics
from .postgres.migrate import prepare_database
from .postgres.pool import safe_dsn
from .prepare import open_embedder
from .settings import Settings, from_env
from .wiring import open_server

__all__ = ["Finding", "check_service"]

Finding = tuple[str, bool, str]  # what, whether it is well, how it is or how to mend it


def check_service(env: Mapping[str, str]) -> list[Finding]:
    """Return what was found; what is missing and made at the first start is not wrong."""
    try:
        settings = from_env(env, warn=False)
    except SetupError as e:
        return [("settings", False, str(e))]
    return [("settings", True, "can be read"), _data_directory(settings), _model(settings), _database(settings)]


def _data_directory(settings: Settings) -> Finding:
    path = settings.data_path
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        detail = f"{path} cannot be written by this account: mend its permissions, or set MEMEX_DATA_DIR"
        return ("data directory", False, detail)
    free_gb = os.statvfs(existing).f_bavail * os.statvfs(existing).f_frsize / 1e9
    if free_gb < 1:
        return ("data directory", False, f"{path} has {free_gb:.1f} GB left: make room, or set MEMEX_DATA_DIR")
    made = "" if path.exists() else ", made at the first start"
    return ("data directory", True, f"{path}{made}, {free_gb:.0f} GB left")


def _model(settings: Settings) -> Finding:
    name = settings.embedding.embedding_model
    built = is_built(settings.embedding, data_path=settings.data_path)
    return ("model", True, f"{name}{'' if built else ', made at the first start (`memex setup` does it now)'}")


def _database(settings: Settings) -> Finding:
    if not settings.database.database_url and not (settings.data_path / "postgres").exists():
        return ("database", True, "embedded, made at the first start")
    try:
        return ("database", True, asyncio.run(_asked(settings)))
    except MemexError as e:
        return ("database", False, str(e))


async def _asked(settings: Settings) -> str:
    embedder = open_embedder(settings, Metrics())
    try:
        async with open_server(settings) as dsn:
            await prepare_database(dsn, embedder.card)
            return "embedded, answers" if not settings.database.database_url else f"{safe_dsn(dsn)} answers"
    finally:
        await embedder.close()
