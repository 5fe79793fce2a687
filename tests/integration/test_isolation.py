"""Nobody reaches what is not theirs: tenants by the database itself, users and agents by every call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest

from memex.core.memory import Patch, SearchMode
from memex.protocol.errors import Conflict, NotFound, SetupError
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import (
    TABLES,
    Template,
    all_listed,
    found,
    make_service,
    memory,
    opened,
    query,
    store_all,
    value,
)

MODES = [SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.KEYWORD]
LOOKALIKES = [
    "acme",
    "acme-corp",
    "ACME",
    "acme ",
    " acme",
    "a_b",
    "axb",
    "a%b",
    "a",
    "%",
    "_",
    "*",
    "アクメ",
    "ｱｸﾒ",
    "''",
    "null",
]
USER_TABLES = [*TABLES, "idempotency_keys", "rate_limits"]


@dataclass(frozen=True)
class Two:
    """Two tenants on one database."""

    red: MemoryService
    blue: MemoryService
    red_db: Database
    blue_db: Database


@pytest.fixture(params=[10_000, -1], ids=["exact", "indexed"])
async def two(request: pytest.FixtureRequest, dsn: str, template: Template, clock: FrozenClock) -> AsyncIterator[Two]:
    async with (
        opened(dsn, template.facts, tenant_id="red", max_size=4) as red,
        opened(dsn, template.facts, tenant_id="red-2", max_size=4) as blue,
    ):
        services = [
            make_service(db, clock, exact_scope_limit=request.param, writes_per_minute=1000, searches_per_minute=1000)
            for db in (red, blue)
        ]
        yield Two(services[0], services[1], red, blue)


async def test_a_tenant_reaches_nothing_of_another(two: Two) -> None:
    secret = (await two.red.store(memory("红色的秘密 is 4711", tags=("t",)))).memory
    await two.red.patch(secret.id, Patch(importance=0.5))
    scopes: list[dict[str, Any]] = [{}, {"user_id": "ann"}, {"user_id": "ann", "agent_id": "scout"}]
    for scope in scopes:
        for call in (two.blue.get, two.blue.delete, two.blue.restore, two.blue.history):
            with pytest.raises(NotFound):
                await call(secret.id, **scope)
        with pytest.raises(NotFound):
            await two.blue.patch(secret.id, Patch(content="taken over"), **scope)
        with pytest.raises(NotFound):
            await two.blue.delete(secret.id, purge=True, **scope)
    for mode in MODES:
        assert await found(two.blue, "秘密 4711", mode=mode) == []
        assert await found(two.blue, "秘密 4711", mode=mode, tags=("t",)) == []
    assert await two.blue.count(user_id="ann") == 0
    assert await all_listed(two.blue, state="all") == []
    assert await two.blue.delete_scope(user_id="ann") == 0
    assert await two.blue.delete_scope(user_id="ann", purge=True) == 0
    assert await two.blue.tidy(tombstone_days=0) == {"expired": 0, "purged": 0, "keys": 0, "counters": 0}
    assert (await two.red.get(secret.id)).content == secret.content
    for mode in MODES:
        assert await found(two.red, "秘密 4711", mode=mode) == [secret.content]


async def test_the_same_text_and_key_of_two_tenants_are_two(two: Two) -> None:
    red = await two.red.store(memory("same"), idempotency_key="k")
    blue = await two.blue.store(memory("same"), idempotency_key="k")
    assert red.created
    assert blue.created
    assert red.memory.id != blue.memory.id
    await two.red.store(memory("other", user_id="bob"), idempotency_key="k2")
    assert (await two.blue.store(memory("different", user_id="bob"), idempotency_key="k2")).created
    with pytest.raises(Conflict):
        await two.red.store(memory("different", user_id="bob"), idempotency_key="k2")
    await two.red.delete_scope(user_id="ann", purge=True)
    assert await found(two.blue, "same") == ["same"]


async def test_the_database_itself_shows_a_tenant_only_its_rows(two: Two, dsn: str) -> None:
    for service in (two.red, two.blue):
        stored = (await service.store(memory("mine"), idempotency_key="k")).memory
        await service.patch(stored.id, Patch(importance=0.5))
        await found(service, "mine", agent_id="scout")
        await service.flush_recalls()
    for table in USER_TABLES:
        assert await value(dsn, f"SELECT count(DISTINCT tenant_id) FROM {table}") == 2, table
        for database, tenant in ((two.red_db, "red"), (two.blue_db, "red-2")):
            async with database.connection() as connection:
                seen = await connection.fetch(f"SELECT DISTINCT tenant_id FROM {table}")
            assert [row["tenant_id"] for row in seen] == [tenant], table


async def test_the_database_itself_refuses_rows_of_another_tenant(two: Two, dsn: str) -> None:
    await two.red.store(memory("mine"), idempotency_key="k")
    await two.red.patch((await two.red.list(user_id="ann")).memories[0].id, Patch(importance=0.5))
    await found(two.red, "mine")
    await two.red.flush_recalls()
    for table in USER_TABLES:
        async with two.blue_db.connection() as connection:
            assert await connection.execute(f"DELETE FROM {table} WHERE tenant_id = 'red'") == "DELETE 0"
            assert await connection.execute(f"UPDATE {table} SET tenant_id = 'red-2'") == "UPDATE 0"
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with two.red_db.connection() as connection:
                await connection.execute(f"UPDATE {table} SET tenant_id = 'red-2'")
        columns = await query(
            dsn,
            """SELECT string_agg(quote_ident(column_name), ',' ORDER BY ordinal_position) AS names
               FROM information_schema.columns WHERE table_name = $1 AND table_schema LIKE 'memex%'""",
            table,
        )
        names = columns[0]["names"]
        foreign = names.replace("tenant_id", "'red-2'", 1)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with two.red_db.connection() as connection:
                await connection.execute(f"INSERT INTO {table} ({names}) SELECT {foreign} FROM {table}")


async def test_the_service_can_not_give_itself_rights(two: Two) -> None:
    for statement in [
        "ALTER TABLE memex.memories DISABLE ROW LEVEL SECURITY",
        "DROP POLICY tenant_only ON memex.memories",
        "CREATE TABLE memex.more ()",
        "TRUNCATE memex.memories",
        "DELETE FROM memex.migrations WHERE pg_sleep(0) IS NULL AND false; DROP TABLE memex.migrations",
    ]:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with two.red_db.connection() as connection:
                await connection.execute(statement)


async def test_no_tenant_has_the_name_that_means_all(dsn: str, template: Template) -> None:
    with pytest.raises(SetupError, match="MEMEX_TENANT"):
        async with opened(dsn, template.facts, tenant_id="*"):
            pass


async def test_users_whose_names_look_alike_see_only_their_own(service: MemoryService) -> None:
    await store_all(service, [memory(f"plan of <{user}>", user_id=user) for user in LOOKALIKES])
    ids = {}
    for user in LOOKALIKES:
        for mode in MODES:
            assert await found(service, "plan", user_id=user, mode=mode) == [f"plan of <{user}>"]
        page = await service.list(user_id=user)
        assert [m.content for m in page.memories] == [f"plan of <{user}>"]
        assert await service.count(user_id=user) == 1
        ids[user] = page.memories[0].id
    for user in LOOKALIKES:
        for other in LOOKALIKES:
            if other != user:
                with pytest.raises(NotFound):
                    await service.get(ids[user], user_id=other)


async def test_agents_whose_names_look_alike_see_only_their_own(service: MemoryService) -> None:
    await store_all(service, [memory(f"plan of <{agent}>", agent_id=agent) for agent in LOOKALIKES])
    for agent in LOOKALIKES:
        for mode in MODES:
            assert await found(service, "plan", agent_id=agent, mode=mode) == [f"plan of <{agent}>"]
        page = await service.list(user_id="ann", agent_id=agent)
        assert [m.content for m in page.memories] == [f"plan of <{agent}>"]
        assert await service.count(user_id="ann", agent_id=agent) == 1
    assert len(await found(service, "plan")) == len(LOOKALIKES)


async def test_names_that_join_alike_are_different_scopes(service: MemoryService) -> None:
    pairs = [("a", "bc"), ("ab", "c"), ("a/b", "c"), ("a", "b/c"), ("a\x01b", "c"), ("a", "\x01bc")]
    await store_all(service, [memory("same", user_id=user, agent_id=agent) for user, agent in pairs])
    for user, agent in pairs:
        assert await service.count(user_id=user, agent_id=agent) == 1
        assert len(await found(service, "same", user_id=user, agent_id=agent)) == 1


async def test_tenants_at_work_at_once_do_not_mix(two: Two) -> None:
    await asyncio.gather(
        *(
            service.store(memory(f"{name} {n}"))
            for n in range(20)
            for name, service in (("r", two.red), ("b", two.blue))
        )
    )
    answers = await asyncio.gather(*(found(s, "r b 1 2 3") for _ in range(10) for s in (two.red, two.blue)))
    for at, texts in enumerate(answers):
        assert len(texts) == 20
        assert {text[0] for text in texts} == {"rb"[at % 2]}
