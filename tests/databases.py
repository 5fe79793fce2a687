"""A real PostgreSQL for the session, with a migrated database in it that others are copied from."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memex_server.postgres.embedded import EmbeddedServer
from memex_server.postgres.migrate import prepare_database
from memex_server.testing import HashingEmbedder
from tests.integration.support import Template, run, with_database

__all__ = ["postgres", "template"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedServer]:
    folder = Path(tempfile.mkdtemp(prefix="memex-test-"))
    server = EmbeddedServer(folder)
    server.acquire()
    # Nobody needs these rows after a crash of the machine, and flushing a database per test takes seconds.
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        asyncio.run(run(server.dsn, f"ALTER SYSTEM SET {setting} = off"))
    asyncio.run(run(server.dsn, "SELECT pg_reload_conf()"))
    yield server
    server.release()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def template(postgres: EmbeddedServer) -> Template:
    name = "memex_template"
    asyncio.run(run(postgres.dsn, f"CREATE DATABASE {name}"))
    facts = asyncio.run(prepare_database(with_database(postgres.dsn, name), HashingEmbedder().card))
    return Template(postgres.dsn, name, facts)
