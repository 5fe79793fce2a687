"""What is stored and changed: once, whole, and as it was acknowledged."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from memex.core.memory import BatchItem, MemoryType, NewMemory, Patch, SearchMode, Stored
from memex.protocol.errors import Conflict, InvalidInput, NotFound
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import GatedEmbedder, all_listed, found, make_service, memory, orphans, query, store_all

TEXTS = ["the deploy is on Friday evening", "主人偏好周五晚上部署", "東京で会いましょう", "내일 회의가 있어요"]


@pytest.fixture
def service(database: Database, clock: FrozenClock) -> MemoryService:
    return make_service(database, clock)


def outcome(item: BatchItem) -> Stored:
    assert item.stored is not None, item.error
    return item.stored


@pytest.mark.parametrize(("content", "writers"), [(TEXTS[0], 50), (TEXTS[1], 20), (TEXTS[2], 20)])
async def test_parallel_writers_of_one_text_make_one_row(service: MemoryService, content: str, writers: int) -> None:
    stored = await asyncio.gather(*(service.store(memory(content)) for _ in range(writers)))
    assert len({s.memory.id for s in stored}) == 1
    assert sum(s.created for s in stored) == 1
    assert sorted(s.memory.occurrences for s in stored) == list(range(1, writers + 1))
    assert await service.count(user_id="ann") == 1
    assert (await service.get(stored[0].memory.id)).occurrences == writers


async def test_parallel_batches_and_single_writers_of_one_text_make_one_row(service: MemoryService) -> None:
    batches = [service.store_batch([memory(text) for text in TEXTS]) for _ in range(10)]
    singles = [service.store(memory(text)) for text in TEXTS for _ in range(5)]
    await asyncio.gather(*batches, *singles)
    shown = await service.list(user_id="ann")
    assert sorted(m.content for m in shown.memories) == sorted(TEXTS)
    assert [m.occurrences for m in shown.memories] == [15] * len(TEXTS)


async def test_concurrent_batches_of_the_same_memories_in_other_orders_all_land(service: MemoryService) -> None:
    news = [memory(f"fact {n} {TEXTS[n % 4]}", user_id=f"user {n % 5}") for n in range(60)]
    orders = [news, news[::-1], news[30:] + news[:30], news[::2] + news[1::2]] * 3
    answers = await asyncio.gather(*(service.store_batch(order) for order in orders))
    by_text: dict[str, set[Any]] = {}
    for order, items in zip(orders, answers, strict=True):
        for new, item in zip(order, items, strict=True):
            assert outcome(item).memory.content == new.content
            by_text.setdefault(new.content, set()).add(outcome(item).memory.id)
    assert all(len(ids) == 1 for ids in by_text.values())
    assert sum([await service.count(user_id=f"user {n}") for n in range(5)]) == 60


async def test_writers_and_deleters_of_the_same_scope_do_not_block_each_other_for_ever(service: MemoryService) -> None:
    news = [memory(f"note {n}") for n in range(40)]
    await asyncio.wait_for(
        asyncio.gather(
            *(service.store_batch(news if n % 2 else news[::-1]) for n in range(6)),
            *(service.delete_scope(user_id="ann") for _ in range(6)),
        ),
        40,
    )
    listed = await all_listed(service)
    assert len(listed) == len(set(listed)) == await service.count(user_id="ann")


@pytest.mark.parametrize("content", TEXTS)
async def test_a_text_can_be_added_deleted_and_added_again(service: MemoryService, content: str) -> None:
    first = await service.store(memory(content))
    await service.delete(first.memory.id)
    again = await service.store(memory(content))
    assert again.created
    assert again.memory.id != first.memory.id
    assert again.memory.occurrences == 1
    assert await service.count(user_id="ann") == 1
    assert await found(service, content) == [content]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("two  spaces", "two spaces"),
        ("line\nbreak", "line break"),
        (" trimmed ", "trimmed"),
        ("cafe\u0301", "caf\u00e9"),
        ("か\u3099くせい", "がくせい"),
    ],
)
async def test_spellings_of_one_text_are_one_memory_which_keeps_its_first_words(
    service: MemoryService, first: str, second: str
) -> None:
    one, two = await service.store(memory(first)), await service.store(memory(second))
    assert two.memory.id == one.memory.id
    assert not two.created
    assert two.memory.content == first


@pytest.mark.parametrize(
    "change",
    [
        {"user_id": "bob"},
        {"agent_id": "other"},
        {"memory_type": MemoryType.SEMANTIC},
        {"occurred_at": datetime(2026, 5, 1, 9, tzinfo=UTC)},
        {"content": "yes."},
    ],
)
async def test_what_differs_in_scope_type_or_given_time_is_another_memory(
    service: MemoryService, change: dict[str, Any]
) -> None:
    one = await service.store(memory("Yes"))
    two = await service.store(memory(**({"content": "Yes"} | change)))
    assert two.created
    assert two.memory.id != one.memory.id


async def test_two_events_with_the_same_words_at_other_times_are_two_memories(service: MemoryService) -> None:
    at = datetime(2026, 5, 1, 9, tzinfo=UTC)
    news = [memory("好的", occurred_at=at + timedelta(minutes=n)) for n in range(5)]
    stored = await store_all(service, news)
    assert len({s.memory.id for s in stored}) == 5
    repeat = await service.store(memory("好的", occurred_at=at))
    assert (repeat.memory.id, repeat.created) == (stored[0].memory.id, False)


async def test_a_repeat_joins_what_it_brings_to_what_is_there(service: MemoryService, clock: FrozenClock) -> None:
    await service.store(memory("tea at four", tags=("b", "a"), metadata={"k": 1, "l": 2}, importance=1.5))
    clock.advance(days=3)
    again = await service.store(
        memory("tea at four", tags=("c", "a"), metadata={"k": 3}, importance=0.5, source="chat", session_id="s1")
    )
    assert not again.created
    assert set(again.memory.tags) == {"a", "b", "c"}
    assert len(again.memory.tags) == 3
    assert again.memory.metadata == {"k": 3, "l": 2}
    assert (again.memory.importance, again.memory.source, again.memory.session_id) == (1.5, "chat", "s1")
    assert again.memory.occurred_at == clock.now
    assert again.memory.created_at == clock.now - timedelta(days=3)


async def test_an_expired_memory_that_is_stored_again_lives(service: MemoryService, clock: FrozenClock) -> None:
    await service.store(memory("the code is 4711", expires_at=clock.now + timedelta(hours=1)))
    clock.advance(days=1)
    assert await found(service, "the code is 4711") == []
    assert await service.count(user_id="ann") == 0
    again = await service.store(memory("the code is 4711", expires_at=clock.now + timedelta(hours=1)))
    assert again.memory.expires_at == clock.now + timedelta(hours=1)
    assert await found(service, "the code is 4711") == ["the code is 4711"]
    forever = await service.store(memory("the code is 4711"))
    assert forever.memory.expires_at is None
    assert await service.count(user_id="ann") == 1


async def test_a_batch_answers_for_each_item_in_order(service: MemoryService) -> None:
    news: list[NewMemory | Exception] = [
        memory("first"),
        memory("   "),
        InvalidInput("unreadable", field="memories.2"),
        memory("第二"),
        memory("first"),
        memory("x", importance=2.5),
        memory("x", tags=("",)),
        memory("先に"),
        memory("bad\x00text"),
        memory("first", metadata={"n": float("nan")}),
    ]
    items = await service.store_batch(news)
    assert [item.index for item in items] == list(range(len(news)))
    assert [item.stored is not None for item in items] == [n in {0, 3, 4, 7} for n in range(len(news))]
    assert all(isinstance(item.error, InvalidInput) for item in items if item.stored is None)
    assert [outcome(items[n]).memory.content for n in (0, 3, 4, 7)] == ["first", "第二", "first", "先に"]
    assert [outcome(items[n]).created for n in (0, 3, 4, 7)] == [True, True, False, True]
    assert outcome(items[0]).memory.id == outcome(items[4]).memory.id
    assert await service.count(user_id="ann") == 3
    assert (await service.get(outcome(items[0]).memory.id)).occurrences == 2


async def test_a_batch_without_a_valid_item_stores_nothing_and_says_why(service: MemoryService) -> None:
    items = await service.store_batch([memory(""), memory(" \n")])
    assert [isinstance(item.error, InvalidInput) for item in items] == [True, True]
    assert await service.store_batch([]) == []


@pytest.mark.parametrize("name", ["user_id", "tenant", "tenant_id", "agent_id", "id", "shard", "deleted_at", "score"])
async def test_metadata_named_like_a_column_stays_metadata(service: MemoryService, name: str) -> None:
    stored = await service.store(memory("mine", metadata={name: "bob"}))
    got = await service.get(stored.memory.id)
    assert (got.user_id, got.agent_id, got.metadata) == ("ann", "scout", {name: "bob"})
    assert await all_listed(service, user_id="bob") == []
    assert await found(service, "mine", metadata={name: "bob"}) == ["mine"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"k": None},
        {"k": [None, {"l": None}], "健身": "是"},
        {"n": 2**63, "m": -(2**63), "f": 0.1},
        {"big": 1e300, "small": 5e-324, "round": 1e22},
        {"": "empty", "quote": '"\\', "escape": "\\u0000", "smile": "🙂"},
        {"deep": {"er": {"list": [[1], [2, [3]]]}}, "bool": True},
    ],
)
async def test_metadata_comes_back_as_it_was_given(service: MemoryService, metadata: dict[str, Any]) -> None:
    stored = await service.store(memory("noted", metadata=metadata))
    assert stored.memory.metadata == metadata
    patched = await service.patch(stored.memory.id, Patch(importance=0.1))
    assert patched.metadata == metadata
    page = await service.list(user_id="ann")
    assert [m.metadata for m in page.memories] == [metadata]
    numbers = [v for v in metadata.values() if isinstance(v, float)]
    assert [type(v) for v in page.memories[0].metadata.values() if v in numbers] == [float] * len(numbers)
    assert [v.metadata for v in await service.history(stored.memory.id)] == [metadata] * 2


# -- idempotency -----------------------------------------------------------------------------------


async def test_a_retry_under_its_key_answers_as_the_first_and_stores_nothing(service: MemoryService) -> None:
    first = await service.store(memory("once"), idempotency_key="k1")
    retry = await service.store(memory("once"), idempotency_key="k1")
    assert (retry.memory.id, retry.created) == (first.memory.id, True)
    assert (await service.get(first.memory.id)).occurrences == 1
    assert await service.count(user_id="ann") == 1


@pytest.mark.parametrize(
    "change",
    [
        {"content": "twice"},
        {"user_id": "bob"},
        {"agent_id": "other"},
        {"importance": 0.5},
        {"tags": ("t",)},
        {"metadata": {"a": 1}},
        {"memory_type": MemoryType.SEMANTIC},
        {"pinned": True},
        {"source": "s"},
        {"session_id": "s"},
        {"occurred_at": datetime(2026, 1, 1, tzinfo=UTC)},
        {"expires_at": datetime(2030, 1, 1, tzinfo=UTC)},
    ],
)
async def test_another_request_under_a_used_key_is_a_conflict(service: MemoryService, change: dict[str, Any]) -> None:
    await service.store(memory("once"), idempotency_key="k1")
    with pytest.raises(Conflict):
        await service.store(memory(**({"content": "once"} | change)), idempotency_key="k1")
    assert await all_listed(service) == ["once"]
    assert await all_listed(service, user_id="bob") == []


async def test_requests_at_once_under_one_key_store_once(service: MemoryService) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    batch = [memory(text, occurred_at=at) for text in TEXTS]
    answers = await asyncio.gather(*(service.store_batch(batch, idempotency_key="k") for _ in range(8)))
    assert len({tuple(outcome(i).memory.id for i in items) for items in answers}) == 1
    assert all(outcome(i).created for items in answers for i in items)
    shown = await service.list(user_id="ann")
    assert [m.occurrences for m in shown.memories] == [1] * 4


async def test_other_requests_at_once_under_one_key_store_one_of_them(service: MemoryService) -> None:
    news = [memory(f"version {n}") for n in range(8)]
    answers = await asyncio.gather(*(service.store(new, idempotency_key="k") for new in news), return_exceptions=True)
    assert sum(isinstance(a, Stored) for a in answers) == 1
    assert sum(isinstance(a, Conflict) for a in answers) == 7
    assert await service.count(user_id="ann") == 1


async def test_a_key_whose_memory_is_purged_does_not_bring_it_back(service: MemoryService) -> None:
    stored = await service.store(memory("secret"), idempotency_key="k")
    await service.delete(stored.memory.id, purge=True)
    with pytest.raises(Conflict):
        await service.store(memory("secret"), idempotency_key="k")
    assert await service.count(user_id="ann") == 0


async def test_keys_are_forgotten_after_a_day(service: MemoryService, clock: FrozenClock) -> None:
    first = await service.store(memory("once"), idempotency_key="k")
    clock.advance(days=0.9)
    await service.tidy(tombstone_days=30)
    assert (await service.store(memory("once"), idempotency_key="k")).created
    clock.advance(days=0.2)
    assert (await service.tidy(tombstone_days=30))["keys"] == 1
    again = await service.store(memory("once"), idempotency_key="k")
    assert (again.memory.id, again.created) == (first.memory.id, False)


@pytest.mark.parametrize("key", ["", "k" * 256, "nul\x00", "half\ud800"])
async def test_a_key_that_cannot_be_kept_is_refused(service: MemoryService, key: str) -> None:
    with pytest.raises(InvalidInput):
        await service.store(memory("x"), idempotency_key=key)
    with pytest.raises(InvalidInput):
        await service.store_batch([memory("x")], idempotency_key=key)
    assert await service.count(user_id="ann") == 0


# -- changing --------------------------------------------------------------------------------------

ALL_FIELDS = {
    "content": "新しい文",
    "importance": 0.25,
    "memory_type": MemoryType.PROCEDURAL,
    "tags": ("x", "y"),
    "metadata": {"a": [1]},
    "source": "mail",
    "session_id": "s9",
    "occurred_at": datetime(2025, 1, 1, tzinfo=UTC),
    "expires_at": datetime(2035, 1, 1, tzinfo=UTC),
    "pinned": True,
}


async def test_concurrent_patches_of_different_fields_all_land(service: MemoryService, database: Database) -> None:
    stored = await service.store(memory("old words", tags=("keep",), metadata={"keep": 1}))
    await asyncio.gather(
        *(service.patch(stored.memory.id, Patch(**{name: new})) for name, new in ALL_FIELDS.items())  # type: ignore[arg-type]
    )
    got = await service.get(stored.memory.id)
    assert {name: getattr(got, name) for name in ALL_FIELDS} == ALL_FIELDS
    versions = await service.history(stored.memory.id)
    assert [v.version for v in versions] == list(range(1, 12))
    assert [v.action for v in versions] == ["created"] + ["updated"] * 10
    assert versions[0].content == "old words"


@pytest.mark.parametrize("name", list(ALL_FIELDS))
async def test_a_patch_keeps_what_it_is_not_given(service: MemoryService, name: str) -> None:
    fields = {"tags": ("keep",), "metadata": {"keep": None}, "source": "s", "session_id": "t", "importance": 1.7}
    before = (await service.store(memory("unchanged", **fields))).memory
    after = await service.patch(before.id, Patch(**{name: ALL_FIELDS[name]}))  # type: ignore[arg-type]
    kept = [f for f in ALL_FIELDS if f != name]
    assert {f: getattr(after, f) for f in kept} == {f: getattr(before, f) for f in kept}
    assert getattr(after, name) == ALL_FIELDS[name]


async def test_none_clears_what_may_be_empty(service: MemoryService, clock: FrozenClock) -> None:
    before = await service.store(
        memory("x", source="s", session_id="t", expires_at=clock.now + timedelta(days=1), tags=("a",))
    )
    after = await service.patch(before.memory.id, Patch(source=None, session_id=None, expires_at=None, tags=()))
    assert (after.source, after.session_id, after.expires_at, after.tags) == (None, None, None, ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ann drinks espresso macchiato", "the bicycle is blue"),
        ("我喜欢健身", "他住在北京"),
        ("東京で会いましょう", "パンを買った"),
        ("long " + "filler text. " * 400 + "espresso", "short"),
    ],
)
async def test_the_old_words_of_a_patched_text_find_nothing(
    service: MemoryService, dsn: str, old: str, new: str
) -> None:
    stored = await service.store(memory(old, tags=("keep",), metadata={"k": 1}))
    before = await query(dsn, "SELECT embedding::text FROM memory_vectors")
    after = await service.patch(stored.memory.id, Patch(content=new))
    assert (after.tags, after.metadata) == (("keep",), {"k": 1})
    assert await found(service, old, mode=SearchMode.KEYWORD) == []
    assert await found(service, new, mode=SearchMode.KEYWORD) == [new]
    vectors = await query(dsn, "SELECT embedding::text FROM memory_vectors")
    assert len(vectors) == 1
    assert vectors[0] not in before
    fresh = await service.store(memory(new, user_id="fresh"))
    twins = await query(dsn, "SELECT DISTINCT embedding::text FROM memory_vectors")
    assert len(twins) == 1, f"{fresh.memory.id} and the patched memory have other vectors"
    assert await orphans(dsn) == {"memory_terms": 0, "memory_vectors": 0}


async def test_a_patch_into_another_memorys_text_is_a_conflict_that_names_it(service: MemoryService) -> None:
    one = await service.store(memory("one"))
    two = await service.store(memory("two"))
    with pytest.raises(Conflict) as caught:
        await service.patch(two.memory.id, Patch(content="one"))
    assert caught.value.existing_id == str(one.memory.id)
    assert (await service.get(two.memory.id)).content == "two"
    assert await found(service, "two", mode=SearchMode.KEYWORD) == ["two"]
    assert [v.action for v in await service.history(two.memory.id)] == ["created"]


async def test_a_patched_memory_is_the_same_as_one_stored_with_its_new_text(service: MemoryService) -> None:
    one = await service.store(memory("one"))
    await service.patch(one.memory.id, Patch(content="two"))
    assert (await service.store(memory("two"))).memory.id == one.memory.id
    assert (await service.store(memory("one"))).created


async def test_a_patch_of_a_memory_that_was_deleted_while_it_was_embedded_is_not_found(
    database: Database, clock: FrozenClock, dsn: str
) -> None:
    embedder = GatedEmbedder()
    service = make_service(database, clock, embedder=embedder)
    stored = await service.store(memory("first words"))
    embedder.hold()
    patching = asyncio.create_task(service.patch(stored.memory.id, Patch(content="second words")))
    async with asyncio.timeout(20):
        await embedder.entered.wait()
    await service.delete(stored.memory.id)
    embedder.gate.set()
    with pytest.raises(NotFound):
        await patching
    assert await service.count(user_id="ann") == 0
    assert await found(service, "second words") == []
    assert await orphans(dsn) == {"memory_terms": 0, "memory_vectors": 0}


@pytest.mark.parametrize(
    "patch",
    [
        Patch(content=""),
        Patch(content=" \n"),
        Patch(content="nul\x00"),
        Patch(content="x" * 65_537),
        Patch(importance=2.01),
        Patch(importance=float("nan")),
        Patch(tags=("\ud800",)),
        Patch(metadata={"a\x00": 1}),
        Patch(source="\x00"),
        Patch(session_id=""),
    ],
)
async def test_a_patch_that_cannot_be_stored_changes_nothing(service: MemoryService, patch: Patch) -> None:
    stored = await service.store(memory("as it was"))
    with pytest.raises(InvalidInput):
        await service.patch(stored.memory.id, patch)
    assert await service.get(stored.memory.id) == stored.memory


async def test_what_is_not_there_cannot_be_changed(service: MemoryService) -> None:
    stored = await service.store(memory("of ann"))
    scopes: list[tuple[UUID, dict[str, Any]]] = [
        (uuid4(), {}),
        (stored.memory.id, {"user_id": "bob"}),
        (stored.memory.id, {"agent_id": "other"}),
    ]
    for memory_id, scope in scopes:
        for call in (service.get, service.delete, service.restore, service.history):
            with pytest.raises(NotFound):
                await call(memory_id, **scope)
        with pytest.raises(NotFound):
            await service.patch(memory_id, Patch(content="taken over"), **scope)
    assert (await service.get(stored.memory.id)).content == "of ann"
