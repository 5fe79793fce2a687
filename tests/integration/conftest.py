"""A database of its own for each integration test."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator

import pytest

from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import Template, make_service, opened, run, with_database

_NUMBERS = itertools.count()


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
