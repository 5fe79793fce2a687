"""Preparing, guarding and sharing a database that may be anybody's."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import asyncpg
import pytest

from memex.core.memory import Patch, SearchMode, SearchRequest
from memex.protocol.errors import MemexError, SetupError, Unavailable
from memex.testing import FrozenClock
from memex_server.ports import FloatArray, Role
from memex_server.postgres import pool
from memex_server.postgres.embedded import EmbeddedServer
from memex_server.postgres.migrate import migrations, prepare_database
from memex_server.postgres.pool import Database, open_database, safe_dsn
from memex_server.postgres.vector_index import ensure_vector_index, ivfflat_lists
from memex_server.testing import HashingEmbedder
from tests.integration.support import (
    Template,
    found,
    make_service,
    memory,
    opened,
    query,
    run,
    store_all,
    value,
    with_database,
)

CARD = HashingEmbedder().card
LEDGER = "SELECT number, name, sha256 FROM memex.migrations ORDER BY number"


@pytest.fixture
async def empty_dsn(postgres: EmbeddedServer) -> AsyncIterator[str]:
    """A database without anything of memex in it."""
    await run(postgres.dsn, "CREATE DATABASE memex_empty")
    yield with_database(postgres.dsn, "memex_empty")
    await run(postgres.dsn, "DROP DATABASE memex_empty WITH (FORCE)")


# -- preparing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("starters", [2, 4])
async def test_replicas_that_start_at_once_on_an_empty_database_all_come_up(
    empty_dsn: str, clock: FrozenClock, starters: int
) -> None:
    async def start(number: int) -> str:
        facts = await prepare_database(empty_dsn, CARD)
        async with opened(empty_dsn, facts, max_size=2) as database:
            service = make_service(database, clock)
            await service.store(memory(f"from {number}"))
            return (await found(service, f"from {number}", top_k=1))[0]

    assert await asyncio.gather(*(start(n) for n in range(starters))) == [f"from {n}" for n in range(starters)]
    assert len(await query(empty_dsn, LEDGER)) == len(migrations())
    assert await value(empty_dsn, "SELECT count(*) FROM memex.embedding_model") == 1


async def test_preparing_again_changes_nothing(dsn: str, template: Template) -> None:
    before = await query(dsn, LEDGER)
    assert await prepare_database(dsn, CARD) == template.facts
    assert await query(dsn, LEDGER) == before


async def test_a_migration_that_is_not_the_one_that_was_applied_is_refused(dsn: str) -> None:
    await run(dsn, "UPDATE memex.migrations SET sha256 = 'other' WHERE number = 1")
    with pytest.raises(SetupError, match="0001_initial"):
        await prepare_database(dsn, CARD)


async def test_a_database_of_a_newer_memex_is_refused(dsn: str) -> None:
    await run(dsn, "INSERT INTO memex.migrations (number, name, sha256) VALUES (9001, 'future', 'x')")
    with pytest.raises(SetupError, match=r"newer memex .*9001"):
        await prepare_database(dsn, CARD)


@pytest.mark.parametrize("card", [replace(CARD, id="other-model"), replace(CARD, dim=768)], ids=["model", "dimension"])
async def test_another_embedding_model_is_refused_with_the_way_out(dsn: str, card: object) -> None:
    with pytest.raises(SetupError) as caught:
        await prepare_database(dsn, card)  # type: ignore[arg-type]
    message = str(caught.value)
    assert f"EMBEDDING_MODEL={CARD.id}" in message
    assert "`memex reembed`" in message
    assert str(CARD.dim) in message
    await prepare_database(dsn, CARD)


async def test_a_role_without_rights_is_told_what_it_lacks(postgres: EmbeddedServer, empty_dsn: str) -> None:
    await run(postgres.dsn, "CREATE ROLE memex_weak LOGIN")
    try:
        weak = empty_dsn.replace("postgres@", "memex_weak@", 1)
        with pytest.raises(SetupError, match=r"CREATE EXTENSION vector"):
            await prepare_database(weak, CARD)
        await run(empty_dsn, "CREATE EXTENSION vector")
        with pytest.raises(SetupError, match="lacks a right"):
            await prepare_database(weak, CARD)
    finally:
        await run(postgres.dsn, "DROP ROLE memex_weak")


async def test_an_ordinary_owner_is_held_to_its_tenant_too(
    postgres: EmbeddedServer, empty_dsn: str, clock: FrozenClock
) -> None:
    await run(postgres.dsn, "CREATE ROLE memex_owner LOGIN")
    try:
        await run(empty_dsn, "CREATE EXTENSION vector; GRANT CREATE ON DATABASE memex_empty TO memex_owner")
        dsn = empty_dsn.replace("postgres@", "memex_owner@", 1)
        facts = await prepare_database(dsn, CARD)
        assert not facts.bypasses_rls
        async with opened(dsn, facts, tenant_id="red") as red, opened(dsn, facts, tenant_id="blue") as blue:
            await make_service(red, clock).store(memory("of red"))
            async with blue.connection() as connection:
                assert await connection.fetchval("SELECT count(*) FROM memories") == 0
            async with red.connection() as connection:
                assert await connection.fetchval("SELECT count(*) FROM memories") == 1
    finally:
        await run(empty_dsn, "DROP OWNED BY memex_owner CASCADE")
        await run(postgres.dsn, "DROP ROLE memex_owner")


# -- secrets ---------------------------------------------------------------------------------------

SECRET = "hunter2"
DSNS = [
    f"postgresql://ann:{SECRET}@127.0.0.1:1/memex",
    f"postgresql://ann:{SECRET}@127.0.0.1:port/memex",
    f"postgresql://ann:{SECRET}/x@127.0.0.1:1/memex",
    f"postgresql://ann:x/{SECRET}@127.0.0.1:1/memex",
    f"postgresql://ann:x#{SECRET}@127.0.0.1:1/memex",
    f"postgresql://ann:x?{SECRET}@127.0.0.1:1/memex",
    f"postgresql://ann:x@{SECRET}@127.0.0.1:1/memex",
    f"postgresql://ann:[{SECRET}@127.0.0.1:1/memex",
    f"postgresql://127.0.0.1:1/memex?user=ann&password={SECRET}",
    f"postgresql://127.0.0.1:1/memex?sslmode={SECRET}",
    f"mysql://ann:{SECRET}@127.0.0.1/memex",
    f"ann:{SECRET}",
    f"host=127.0.0.1 password={SECRET}",
    f"postgresql:ann:{SECRET}@127.0.0.1/memex",
    f"postgresql://ann:{SECRET}",
]


@pytest.mark.parametrize("dsn", DSNS)
async def test_no_error_about_a_dsn_tells_its_password(dsn: str, template: Template) -> None:
    assert SECRET not in safe_dsn(dsn)
    for attempt in (
        prepare_database(dsn, CARD),
        open_database(
            dsn,
            tenant_id="default",
            min_size=1,
            max_size=1,
            acquire_timeout_s=1,
            statement_timeout_s=1,
            facts=template.facts,
        ),
    ):
        with pytest.raises(MemexError) as caught:
            await attempt
        assert isinstance(caught.value, SetupError | Unavailable)
        told = "".join(traceback.format_exception(caught.value, chain=True)).replace(dsn, "")
        assert SECRET not in str(caught.value)
        assert SECRET not in "\n".join(line for line in told.splitlines() if "dsn" not in line)


@pytest.mark.parametrize(
    ("dsn", "shown"),
    [
        ("postgresql://u:p@db.example:5433/memex?sslmode=require", "db.example:5433/memex"),
        ("postgresql://db.example/memex", "db.example/memex"),
        ("postgresql://u@[::1]:5432/m", "[::1]:5432/m"),
        ("postgresql://postgres@/postgres?host=%2Ftmp", "local socket/postgres"),
    ],
)
def test_where_a_dsn_points_to_is_shown(dsn: str, shown: str) -> None:
    assert safe_dsn(dsn) == shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("postgres@", "nobody_here@"), "refuses memex: no such role, or not its password"),
        (("/memex_test", "/no_such_database"), "no database of this name"),
    ],
)
async def test_a_database_that_refuses_memex_is_an_outage_that_says_so(
    dsn: str, change: tuple[str, str], said: str
) -> None:
    wrong = dsn.replace(*change, 1)
    assert wrong != dsn
    with pytest.raises(Unavailable, match=said):
        await prepare_database(wrong, CARD)


# -- the vector index ------------------------------------------------------------------------------


async def index_names(dsn: str) -> dict[str, bool]:
    rows = await query(
        dsn,
        """SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
           WHERE c.relname IN ('memory_vectors_hnsw', 'memory_vectors_ivfflat')""",
    )
    return {row["relname"]: row["indisvalid"] for row in rows}


async def test_the_vector_index_changes_with_the_setting_and_results_stay(
    database: Database, dsn: str, template: Template, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memex_server.postgres.vector_index.IVFFLAT_LEAST_ROWS", 250)
    service = make_service(database, clock, exact_scope_limit=-1)

    async def ensure(kind: str) -> str:
        return await ensure_vector_index(dsn, kind, card=CARD, search_path=template.facts.search_path, large_from=-1)

    assert await ensure("hnsw") == "built"  # of an empty table
    await store_all(service, [memory(f"note {n} 笔记") for n in range(200)])
    expected = await found(make_service(database, clock), "note 77", mode=SearchMode.SEMANTIC, top_k=10)
    assert expected[0] == "note 77 笔记"

    async def check() -> None:
        got = await found(service, "note 77", mode=SearchMode.SEMANTIC, top_k=10)
        assert got[0] == expected[0]
        assert len(got) == 10
        assert len(set(got) & set(expected)) >= 5  # an index may miss some of many texts that are about alike

    await check()
    assert await ensure("hnsw") == "kept"
    assert await index_names(dsn) == {"memory_vectors_hnsw": True}
    assert await ensure("ivfflat") == "waiting for rows"
    assert await index_names(dsn) == {}
    await check()
    await store_all(service, [memory(f"more {n}", user_id="bob") for n in range(60)])
    assert await ensure("ivfflat") == "built"
    assert await index_names(dsn) == {"memory_vectors_ivfflat": True}
    await check()
    assert await found(service, "note 77", mode=SearchMode.SEMANTIC, top_k=10) == expected  # reads all of its ten lists
    assert await ensure("none") == "dropped"
    assert await ensure("none") == "kept"
    assert await index_names(dsn) == {}
    await check()
    assert await ensure("hnsw") == "built"
    await check()


async def test_scopes_are_in_the_index_once_they_are_large(
    database: Database, dsn: str, template: Template, clock: FrozenClock
) -> None:
    service = make_service(database, clock, exact_scope_limit=-1)

    async def held(kind: str) -> dict[str, tuple[int, int]]:
        await ensure_vector_index(dsn, kind, card=CARD, search_path=template.facts.search_path, large_from=20)
        rows = await query(
            dsn,
            """SELECT m.user_id, count(*) FILTER (WHERE v.indexed) AS inside, count(*) AS "all"
               FROM memory_vectors v JOIN memories m ON m.id = v.memory_id GROUP BY 1""",
        )
        return {row["user_id"]: (row["inside"], row["all"]) for row in rows}

    async def check() -> None:
        for user_id, texts in told.items():
            got = await found(service, "note 7", user_id=user_id, mode=SearchMode.SEMANTIC, top_k=50)
            assert sorted(got) == sorted(texts)

    told = {"big": [f"note {n} 笔记" for n in range(30)], "small": [f"note {n} メモ" for n in range(20)]}
    await store_all(service, [memory(text, user_id=user_id) for user_id, texts in told.items() for text in texts])
    await check()
    assert await held("hnsw") == {"big": (30, 30), "small": (0, 20)}
    await check()
    for user_id in told:
        told[user_id] += [f"later note {n}" for n in range(5)]
        await store_all(service, [memory(text, user_id=user_id) for text in told[user_id][-5:]])
    await check()
    assert await held("hnsw") == {"big": (30, 35), "small": (25, 25)}  # a few more are not worth the work yet
    await check()
    assert await held("none") == {"big": (0, 35), "small": (0, 25)}
    await check()


async def test_a_database_with_all_vectors_in_the_index_is_taken_over(
    database: Database, dsn: str, template: Template, clock: FrozenClock
) -> None:
    service = make_service(database, clock, exact_scope_limit=-1)
    await store_all(service, [memory(f"note {n} 笔记") for n in range(30)])
    schema = await value(dsn, "SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'memory_vectors'")
    await run(
        dsn,
        f"ALTER TABLE {schema}.memory_vectors DROP COLUMN indexed;"
        f" CREATE INDEX memory_vectors_hnsw ON {schema}.memory_vectors USING hnsw (embedding halfvec_ip_ops);"
        " DELETE FROM memex.migrations WHERE number = 7",
    )
    facts = await prepare_database(dsn, CARD)
    for done in ("built", "kept"):
        assert await ensure_vector_index(dsn, "hnsw", card=CARD, search_path=facts.search_path, large_from=20) == done
        async with opened(dsn, facts) as after:
            taken_over = make_service(after, clock, exact_scope_limit=-1)
            assert len(await found(taken_over, "note 7", mode=SearchMode.SEMANTIC, top_k=50)) == 30
    assert await value(dsn, "SELECT count(*) FROM memory_vectors WHERE indexed") == 30


async def test_an_interrupted_build_is_repaired(
    database: Database, dsn: str, template: Template, clock: FrozenClock
) -> None:
    await store_all(make_service(database, clock), [memory(f"note {n}") for n in range(20)])
    for kind in ("hnsw", "hnsw", "none"):
        await ensure_vector_index(dsn, "hnsw", card=CARD, search_path=template.facts.search_path, large_from=-1)
        await run(
            dsn,
            """UPDATE pg_index SET indisvalid = false FROM pg_class c
               WHERE c.oid = indexrelid AND c.relname = 'memory_vectors_hnsw'""",
        )
        assert await index_names(dsn) == {"memory_vectors_hnsw": False}
        done = await ensure_vector_index(dsn, kind, card=CARD, search_path=template.facts.search_path, large_from=-1)
        assert done == ("built" if kind == "hnsw" else "dropped")
        assert await index_names(dsn) == ({"memory_vectors_hnsw": True} if kind == "hnsw" else {})


async def test_one_process_builds_the_index_while_the_others_go_on(
    database: Database, dsn: str, template: Template, clock: FrozenClock
) -> None:
    await store_all(make_service(database, clock), [memory(f"note {n}") for n in range(300)])
    done = await asyncio.gather(
        *(
            ensure_vector_index(dsn, "hnsw", card=CARD, search_path=template.facts.search_path, large_from=-1)
            for _ in range(4)
        )
    )
    assert done.count("built") == 1
    assert set(done) <= {"built", "busy", "kept"}
    assert await index_names(dsn) == {"memory_vectors_hnsw": True}


@pytest.mark.parametrize(("rows", "lists"), [(0, 10), (10_000, 10), (50_000, 50), (1_000_000, 1000), (4_000_000, 2000)])
def test_ivfflat_gets_lists_by_its_rows(rows: int, lists: int) -> None:
    assert ivfflat_lists(rows) == lists


# -- the pool --------------------------------------------------------------------------------------


async def test_session_settings_survive_whatever_the_service_does(
    dsn: str, template: Template, clock: FrozenClock
) -> None:
    expected = pool._SESSION | {
        "memex.tenant": "red",
        "statement_timeout": "30s",
        "role": "memex_service",
        "search_path": template.facts.search_path,
    }
    assert {"enable_seqscan", "hnsw.iterative_scan"} <= set(expected)
    async with opened(dsn, template.facts, tenant_id="red", max_size=1) as database:
        service = make_service(database, clock, exact_scope_limit=-1, writes_per_minute=100, searches_per_minute=100)
        for number in range(3):
            stored = (await service.store(memory(f"note {number}"), idempotency_key=str(number))).memory
            await service.patch(stored.id, Patch(content=f"other {number}"))
            await found(service, "other")
            await service.delete(stored.id)
            await service.restore(stored.id)
            await service.tidy(tombstone_days=30)
            await cancelled_in_a_transaction(database, dsn)
            async with database.connection() as connection:
                shown = {name: await connection.fetchval(f"SELECT current_setting('{name}')") for name in expected}
                assert shown == expected
                assert not connection.is_in_transaction()
                assert await connection.fetchval("SELECT count(*) FROM memories") == number + 1


async def cancelled_in_a_transaction(database: Database, dsn: str) -> None:
    """Write, and be cancelled before the commit, while a statement runs in the server."""

    async def write() -> None:
        async with database.transaction() as connection:
            await connection.execute("DELETE FROM memories")
            await connection.execute("SELECT pg_sleep(20)")

    task = asyncio.create_task(write())
    watcher = await asyncpg.connect(dsn)
    try:
        async with asyncio.timeout(20):
            while not await watcher.fetchval(
                """SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND state = 'active' AND query = 'SELECT pg_sleep(20)'"""
            ):
                pass
            task.cancel()
            await asyncio.wait([task])
    finally:
        await watcher.close()
    assert task.cancelled()


async def test_many_more_calls_than_connections_are_all_served(
    dsn: str, template: Template, clock: FrozenClock
) -> None:
    async with opened(dsn, template.facts, max_size=4) as database:
        service = make_service(database, clock)

        async def use(number: int) -> bool:
            stored = await service.store(
                memory(f"note {number}", user_id=f"user {number % 3}"), idempotency_key=str(number)
            )
            await service.patch(stored.memory.id, Patch(importance=0.5))
            texts = await found(service, f"note {number}", user_id=f"user {number % 3}")
            return f"note {number}" in texts

        async with asyncio.timeout(50):
            assert all(await asyncio.gather(*(use(n) for n in range(60))))
        active, idle = database.usage()
        assert active == 0
        assert 1 <= idle <= 4


class AskingEmbedder(HashingEmbedder):
    """An embedder that itself needs the database before it answers."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        async with self._database.connection() as connection:
            await connection.fetchval("SELECT 1")
        return await super().embed(texts, role)


async def test_no_connection_is_held_while_text_is_embedded(dsn: str, template: Template, clock: FrozenClock) -> None:
    async with opened(dsn, template.facts, max_size=1, acquire_timeout_s=5) as database:
        service = make_service(database, clock, embedder=AskingEmbedder(database))
        async with asyncio.timeout(30):
            stored = (await service.store(memory("first"), idempotency_key="k")).memory
            await service.store_batch([memory("second"), memory("third")])
            await service.patch(stored.id, Patch(content="changed"))
            await service.delete(stored.id)
            await service.restore(stored.id)
            result = await service.search(SearchRequest(user_id="ann", query="changed"))
            assert len(result.hits) == 3
            await asyncio.gather(*(service.store(memory(f"at once {n}")) for n in range(10)))
        assert await service.count(user_id="ann") == 13


async def test_a_full_pool_is_an_outage_in_bounded_time(dsn: str, template: Template, clock: FrozenClock) -> None:
    async with opened(dsn, template.facts, max_size=1, acquire_timeout_s=0.2) as database:
        service = make_service(database, clock)
        async with database.connection():
            with pytest.raises(Unavailable):
                await service.count(user_id="ann")
        assert await service.count(user_id="ann") == 0


async def test_connections_that_the_server_cut_are_replaced(dsn: str, template: Template, clock: FrozenClock) -> None:
    async with opened(dsn, template.facts, max_size=3) as database:
        service = make_service(database, clock)
        stored = await asyncio.gather(*(service.store(memory(f"before {n}")) for n in range(6)))
        await query(
            dsn,
            """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND application_name = 'memex' AND pid <> pg_backend_pid()""",
        )
        answers = await asyncio.gather(*(service.count(user_id="ann") for _ in range(6)), return_exceptions=True)
        assert all(answer == 6 or isinstance(answer, Unavailable) for answer in answers)
        assert await service.count(user_id="ann") == 6
        assert (await service.store(memory("after"))).created
        assert len(stored) == 6


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.ConnectionDoesNotExistError("gone"), asyncpg.InterfaceError("closed"), asyncpg.DiskFullError("full"),
        asyncpg.AdminShutdownError("bye"), asyncpg.CannotConnectNowError("starting"), asyncpg.QueryCanceledError("slow"),
        asyncpg.TooManyConnectionsError("many"), asyncpg.OutOfMemoryError("oom"), asyncpg.InvalidPasswordError("no"),
        asyncpg.InvalidAuthorizationSpecificationError("who"), asyncpg.ReadOnlySQLTransactionError("standby"),
        OSError("refused"), TimeoutError(),
    ],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
async def test_every_outage_of_the_driver_is_unavailable(database: Database, error: Exception) -> None:
    with pytest.raises(Unavailable) as caught:
        async with database.connection():
            raise error
    assert caught.value.__cause__ is error
    assert caught.value.retry_after_s > 0
