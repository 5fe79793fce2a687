"""What is deleted is gone: all of it, everywhere, and nothing else."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import timedelta

import pytest

from memex.core.memory import NewMemory, Patch, SearchMode
from memex.protocol.errors import Conflict, NotFound
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import (
    TABLES,
    GatedEmbedder,
    all_listed,
    found,
    make_service,
    memory,
    orphans,
    query,
    rows_of,
    store_all,
    value,
)

MODES = [SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.KEYWORD]
NOTHING = dict.fromkeys(TABLES, 0)
CLEAN = {"memory_terms": 0, "memory_vectors": 0}
# Names that a pattern, a prefix or a careless comparison would take for one another.
LOOKALIKES = ["acme", "acme-corp", "ACME", "acme ", "a_b", "axb", "a%b", "a", "%", "_", "アクメ", "ｱｸﾒ"]


@pytest.fixture(params=[10_000, -1], ids=["exact", "indexed"])
def service(request: pytest.FixtureRequest, database: Database, clock: FrozenClock) -> MemoryService:
    return make_service(database, clock, exact_scope_limit=request.param)


@pytest.fixture
def plain(database: Database, clock: FrozenClock) -> MemoryService:
    """The service where the way of searching does not matter."""
    return make_service(database, clock)


@pytest.mark.parametrize("user", LOOKALIKES)
async def test_deleting_one_user_leaves_those_with_names_like_it(plain: MemoryService, user: str) -> None:
    await store_all(plain, [memory(f"note {n}", user_id=name) for name in LOOKALIKES for n in range(3)])
    assert await plain.delete_scope(user_id=user) == 3
    counts = {name: await plain.count(user_id=name) for name in LOOKALIKES}
    assert counts == dict.fromkeys(LOOKALIKES, 3) | {user: 0}
    assert await found(plain, "note", user_id=user) == []


@pytest.mark.parametrize("agent", LOOKALIKES)
async def test_deleting_one_agent_leaves_those_with_names_like_it(plain: MemoryService, agent: str) -> None:
    await store_all(plain, [memory(f"note {n}", agent_id=name) for name in LOOKALIKES for n in range(3)])
    assert await plain.delete_scope(user_id="ann", agent_id=agent) == 3
    counts = {name: await plain.count(user_id="ann", agent_id=name) for name in LOOKALIKES}
    assert counts == dict.fromkeys(LOOKALIKES, 3) | {agent: 0}


@pytest.mark.parametrize("purge", [False, True])
async def test_a_scope_of_150_goes_whole(plain: MemoryService, dsn: str, purge: bool) -> None:
    stored = await store_all(plain, [memory(f"事实 {n}") for n in range(150)])
    await plain.delete(stored[0].memory.id)
    other = await store_all(plain, [memory(f"事实 {n}", user_id="bob") for n in range(5)])
    assert await plain.delete_scope(user_id="ann", purge=purge) == (150 if purge else 149)
    assert await plain.delete_scope(user_id="ann") == 0
    assert await plain.count(user_id="ann") == 0
    assert await all_listed(plain) == []
    rows = await rows_of(dsn, [s.memory.id for s in stored])
    assert rows == NOTHING | ({} if purge else {"memories": 150, "memory_versions": 300})
    assert (await rows_of(dsn, [s.memory.id for s in other]))["memory_vectors"] == 5
    assert await orphans(dsn) == CLEAN


@pytest.mark.timeout(300)
async def test_a_scope_that_is_deleted_in_parts_goes_whole(plain: MemoryService, dsn: str) -> None:
    await store_all(plain, [memory(f"{n}") for n in range(5_500)], batch=1000)  # parts have 5,000
    await store_all(plain, [memory(f"{n}", user_id="bob") for n in range(3)])
    assert await plain.count(user_id="ann") == 5_500
    assert await plain.delete_scope(user_id="ann") == 5_500
    assert await plain.count(user_id="ann") == 0
    assert await value(dsn, "SELECT count(*) FROM memory_terms") == 3
    assert await value(dsn, "SELECT count(*) FROM memory_vectors") == 3
    assert await plain.delete_scope(user_id="ann", purge=True) == 5_500
    assert await value(dsn, "SELECT count(*) FROM memories") == 3
    assert await value(dsn, "SELECT count(*) FROM memory_versions") == 0


@pytest.mark.parametrize("content", ["Ann drinks espresso", "主人偏好周五晚上部署", "東京で会いましょう"])
@pytest.mark.parametrize("way", ["delete", "scope", "agent", "purge", "purge scope", "expiry"])
async def test_deleted_text_is_found_by_nothing(
    service: MemoryService, clock: FrozenClock, dsn: str, content: str, way: str
) -> None:
    expires = clock.now + timedelta(hours=1) if way == "expiry" else None
    gone = (await service.store(memory(content, expires_at=expires, tags=("t",)))).memory
    kept = (await service.store(memory("something else", agent_id="other", tags=("t",), user_id="bob"))).memory
    assert await found(service, content) == [content]
    match way:
        case "delete":
            await service.delete(gone.id)
        case "scope":
            assert await service.delete_scope(user_id="ann") == 1
        case "agent":
            assert await service.delete_scope(user_id="ann", agent_id="scout") == 1
        case "purge":
            await service.delete(gone.id, purge=True)
        case "purge scope":
            assert await service.delete_scope(user_id="ann", purge=True) == 1
        case _:
            clock.advance(days=1)
            assert (await service.tidy(tombstone_days=30))["expired"] == 1
    for mode in MODES:
        assert await found(service, content, mode=mode) == []
        assert await found(service, content, mode=mode, tags=("t",)) == []
        assert await found(service, content, mode=mode, as_of=clock.now - timedelta(days=400)) == []
    assert await service.count(user_id="ann") == 0
    assert await all_listed(service) == []
    with pytest.raises(NotFound):
        await service.get(gone.id)
    with pytest.raises(NotFound):
        await service.patch(gone.id, Patch(importance=1))
    assert await orphans(dsn) == CLEAN
    assert (await service.get(kept.id)).content == "something else"


@pytest.mark.parametrize("way", ["delete", "scope", "expiry"])
async def test_a_tombstone_keeps_its_history_and_can_be_restored(
    service: MemoryService, clock: FrozenClock, way: str
) -> None:
    expires = clock.now + timedelta(hours=1) if way == "expiry" else None
    stored = (await service.store(memory("东京的会议", tags=("t",), metadata={"k": 1}, expires_at=expires))).memory
    await service.patch(stored.id, Patch(content="京都的会议"))
    clock.advance(days=1)
    if way == "delete":
        await service.delete(stored.id)
    elif way == "scope":
        await service.delete_scope(user_id="ann")
    else:
        await service.tidy(tombstone_days=30)
    versions = await service.history(stored.id)
    assert [v.action for v in versions] == ["created", "updated", "expired" if way == "expiry" else "deleted"]
    assert [v.content for v in versions] == ["东京的会议", "京都的会议", "京都的会议"]
    assert versions[-1].at == clock.now
    assert await all_listed(service, state="deleted") == await all_listed(service, state="all") == ["京都的会议"]

    restored = await service.restore(stored.id)
    assert (restored.content, restored.tags, restored.metadata, restored.deleted_at) == (
        "京都的会议",
        ("t",),
        {"k": 1},
        None,
    )
    assert [v.action for v in await service.history(stored.id)][-1] == "restored"
    if way != "expiry":
        for mode in MODES:
            assert await found(service, "京都", mode=mode) == ["京都的会议"]
        assert await service.count(user_id="ann") == 1


async def test_a_live_memory_is_restored_as_it_is(plain: MemoryService, dsn: str) -> None:
    stored = (await plain.store(memory("here"))).memory
    assert await plain.restore(stored.id) == stored
    assert (await rows_of(dsn, [stored.id]))["memory_vectors"] == 1


async def test_a_text_that_was_stored_again_is_not_restored_beside_itself(plain: MemoryService, dsn: str) -> None:
    old = (await plain.store(memory("twice"))).memory
    await plain.delete(old.id)
    new = (await plain.store(memory("twice"))).memory
    with pytest.raises(Conflict) as caught:
        await plain.restore(old.id)
    assert caught.value.existing_id == str(new.id)
    assert await found(plain, "twice") == ["twice"]
    await plain.delete(new.id)
    assert (await plain.restore(old.id)).id == old.id
    assert await orphans(dsn) == CLEAN


async def test_parallel_deletes_of_one_memory_delete_it_once(plain: MemoryService) -> None:
    stored = (await plain.store(memory("once"))).memory
    answers = await asyncio.gather(*(plain.delete(stored.id) for _ in range(8)), return_exceptions=True)
    assert sorted(type(a).__name__ for a in answers) == ["NoneType"] + ["NotFound"] * 7
    assert [v.action for v in await plain.history(stored.id)] == ["created", "deleted"]


@pytest.mark.parametrize("tombstone", [False, True])
async def test_a_purge_erases_every_row_and_proves_which_text_it_was(
    plain: MemoryService, clock: FrozenClock, dsn: str, tombstone: bool
) -> None:
    secret = "パスワードは健身4711 " + "and a long explanation. " * 200
    stored = (await plain.store(memory("first words"), idempotency_key="k")).memory
    await plain.patch(stored.id, Patch(content=secret))
    if tombstone:
        await plain.delete(stored.id)
    receipt = await plain.delete(stored.id, purge=True)
    assert receipt is not None
    assert (receipt.id, receipt.purged_at) == (stored.id, clock.now)
    assert receipt.content_sha256 == hashlib.sha256(secret.encode()).hexdigest()
    assert await rows_of(dsn, [stored.id]) == NOTHING
    for table in [
        f"{row['table_schema']}.{row['table_name']}"
        for row in await query(
            dsn,
            """SELECT table_schema, table_name FROM information_schema.tables
               WHERE table_schema LIKE 'memex%' AND table_type = 'BASE TABLE'""",
        )
    ]:
        assert await value(dsn, f"SELECT count(*) FROM {table} x WHERE x::text LIKE '%健身4711%'") == 0, table
    with pytest.raises(NotFound):
        await plain.history(stored.id)
    with pytest.raises(NotFound):
        await plain.restore(stored.id)


async def test_a_memory_purged_while_it_is_restored_stays_away(
    database: Database, clock: FrozenClock, dsn: str
) -> None:
    embedder = GatedEmbedder()
    service = make_service(database, clock, embedder=embedder)
    stored = (await service.store(memory("private"))).memory
    await service.delete(stored.id)
    embedder.hold()
    restoring = asyncio.create_task(service.restore(stored.id))
    async with asyncio.timeout(20):
        await embedder.entered.wait()
    await service.delete(stored.id, purge=True)
    embedder.gate.set()
    with pytest.raises(NotFound):
        await restoring
    assert await rows_of(dsn, [stored.id]) == NOTHING


async def test_a_memory_changed_while_it_is_restored_does_not_get_the_old_words(
    database: Database, clock: FrozenClock, dsn: str
) -> None:
    embedder = GatedEmbedder()
    slow, other = make_service(database, clock, embedder=embedder), make_service(database, clock)
    stored = (await other.store(memory("old words"))).memory
    await other.delete(stored.id)
    embedder.hold()
    restoring = asyncio.create_task(slow.restore(stored.id))
    async with asyncio.timeout(20):
        await embedder.entered.wait()
    await other.restore(stored.id)
    await other.patch(stored.id, Patch(content="new text"))
    await other.delete(stored.id)
    embedder.gate.set()
    with pytest.raises(Conflict):
        await restoring
    assert (await slow.restore(stored.id)).content == "new text"
    assert await found(other, "old words", mode=SearchMode.KEYWORD) == []
    assert await found(other, "new text", mode=SearchMode.KEYWORD) == ["new text"]
    assert await orphans(dsn) == CLEAN


async def test_a_scope_deleted_while_a_patch_is_embedded_stays_deleted(
    database: Database, clock: FrozenClock, dsn: str
) -> None:
    embedder = GatedEmbedder()
    service = make_service(database, clock, embedder=embedder)
    stored = (await service.store(memory("private"))).memory
    embedder.hold()
    patching = asyncio.create_task(service.patch(stored.id, Patch(content="still private")))
    async with asyncio.timeout(20):
        await embedder.entered.wait()
    assert await service.delete_scope(user_id="ann") == 1
    embedder.gate.set()
    with pytest.raises(NotFound):
        await patching
    assert await service.count(user_id="ann") == 0
    assert await found(service, "private") == []
    assert await orphans(dsn) == CLEAN


async def test_tidying_buries_what_expired_and_purges_old_tombstones_only(
    plain: MemoryService, clock: FrozenClock, dsn: str
) -> None:
    soon = clock.now + timedelta(days=1)
    news: list[NewMemory] = [memory(f"short lived {n}", expires_at=soon, user_id=f"u{n % 3}") for n in range(7)]
    await store_all(plain, [*news, memory("for ever", user_id="u0")])
    deleted = (await plain.store(memory("deleted"))).memory
    await plain.delete(deleted.id)
    assert await plain.tidy(tombstone_days=30) == {"expired": 0, "purged": 0, "keys": 0, "counters": 0}
    clock.advance(days=1)
    assert (await plain.tidy(tombstone_days=30, limit=4))["expired"] == 4
    assert await plain.count(user_id="u1") == 0, "what expired is hidden before it is buried"
    assert (await plain.tidy(tombstone_days=30, limit=4))["expired"] == 3
    assert await orphans(dsn) == CLEAN
    clock.advance(days=29.5)
    assert (await plain.tidy(tombstone_days=30))["purged"] == 1, "deleted a day before the others expired"
    assert await rows_of(dsn, [deleted.id]) == NOTHING
    clock.advance(days=1)
    assert (await plain.tidy(tombstone_days=30, limit=5))["purged"] == 5
    assert (await plain.tidy(tombstone_days=30, limit=5))["purged"] == 2
    assert [m.content for m in (await plain.list(user_id="u0", state="all")).memories] == ["for ever"]
    assert await value(dsn, "SELECT count(*) FROM memory_versions") == 0


async def test_processes_that_tidy_at_once_share_the_work(plain: MemoryService, clock: FrozenClock) -> None:
    await store_all(plain, [memory(f"{n}", expires_at=clock.now + timedelta(days=1)) for n in range(60)])
    clock.advance(days=2)
    answers = await asyncio.gather(*(plain.tidy(tombstone_days=30, limit=40) for _ in range(4)))
    assert sum(a["expired"] for a in answers) == 60
