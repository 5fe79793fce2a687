"""A real PostgreSQL for integration tests: one server for the session, one database for each test."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from memex.testing import FrozenClock
from memex_server.postgres.embedded import EmbeddedServer
from memex_server.postgres.migrate import prepare_database
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from memex_server.testing import HashingEmbedder
from tests.integration.support import Template, make_service, opened, run, with_database

_NUMBERS = itertools.count()


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


@pytest.fixture
async def dsn(template: Template) -> AsyncIterator[str]:
    """A fresh, migrated database."""
    name = f"memex_test_{os.getpid()}_{next(_NUMBERS)}"
    await run(template.dsn, f"CREATE DATABASE {name} TEMPLATE {template.name} STRATEGY file_copy")
    yield with_database(template.dsn, name)
    await run(template.dsn, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(dsn: str, template: Template) -> AsyncIterator[Database]:
    async with opened(dsn, template.facts) as db:
        yield db


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture(
    params=[(10_000, 0, 1_000_000), (10_000, 10_000_000, 0), (-1, 0, 0)], ids=["exact", "snapshot", "indexed"]
)
def service(request: pytest.FixtureRequest, database: Database, clock: FrozenClock) -> MemoryService:
    """The service, searching small scopes in the database (with answers held) and in memory, and as it does large ones."""
    limit, snapshot_bytes, answer_bytes = request.param
    return make_service(
        database, clock, exact_scope_limit=limit, snapshot_bytes=snapshot_bytes, answer_bytes=answer_bytes
    )
