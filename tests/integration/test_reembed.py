"""Another embedding model: no vector of one is ever compared with one of the other."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from memex.core.memory import NewMemory, Patch, SearchMode, SearchRequest
from memex.protocol.errors import SetupError, Unavailable
from memex.testing import FrozenClock
from memex_server.indexing import index_texts
from memex_server.postgres.migrate import prepare_database
from memex_server.postgres.pool import Database
from memex_server.postgres.reembed import reembed
from memex_server.postgres.repo import PostgresRepo
from memex_server.testing import HashingEmbedder
from tests.integration.support import Template, make_service, opened

OTHER = HashingEmbedder(dim=128)


def new(content: str) -> NewMemory:
    return NewMemory(agent_id="a", user_id="u", content=content)


async def found(database: Database, clock: FrozenClock, query: str, embedder: Any) -> list[str]:
    service = make_service(database, clock, embedder=embedder)
    result = await service.search(SearchRequest(user_id="u", query=query, mode=SearchMode.SEMANTIC, top_k=50))
    return [hit.memory.content for hit in result.hits]


async def test_all_live_memories_move_and_the_old_model_is_refused_afterwards(
    dsn: str, database: Database, template: Template, clock: FrozenClock
) -> None:
    service = make_service(database, clock)
    texts = [f"{word} number {n}" for n in range(150) for word in ("tea", "お茶", "普洱茶")]
    stored = await service.store_batch([new(text) for text in texts])
    deleted = stored[0].stored
    assert deleted is not None
    await service.delete(deleted.memory.id)
    seen: list[tuple[int, int]] = []

    moved = await reembed(
        dsn,
        OTHER.card,
        partial(index_texts, OTHER),
        lambda done, total: seen.append((done, total)),
        vector_index="hnsw",
        large_from=-1,
    )

    assert moved == len(texts) - 1
    assert seen[-1] == (len(texts) - 1, len(texts) - 1)
    with pytest.raises(Unavailable, match="restart memex"):
        await found(database, clock, "tea number 7", HashingEmbedder())
    with pytest.raises(SetupError, match="memex reembed"):
        await prepare_database(dsn, HashingEmbedder().card)
    facts = await prepare_database(dsn, OTHER.card)
    async with opened(dsn, facts) as after:
        assert (await found(after, clock, "tea number 7", OTHER))[0] == "tea number 7"
        assert (await found(after, clock, "お茶 number 9", OTHER))[0] == "お茶 number 9"
        assert len(await found(after, clock, "普洱茶", OTHER)) == 50


async def test_changes_during_the_move_are_in_it_and_searches_go_on(
    dsn: str, database: Database, template: Template, clock: FrozenClock
) -> None:
    service = make_service(database, clock)
    ids = [(await service.store(new(f"memory {n}"))).memory.id for n in range(5)]
    calls = 0

    async def index(texts: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:  # texts are read, their vectors not yet written: now the world changes
            await service.patch(ids[0], Patch(content="memory zero, corrected"))
            await service.delete(ids[1])
            await service.store(new("memory born meanwhile"))
            assert "memory 2" in await found(database, clock, "memory 2", HashingEmbedder())
        return await index_texts(OTHER, texts)

    await reembed(dsn, OTHER.card, index, lambda done, total: None, vector_index="none", large_from=-1)

    facts = await prepare_database(dsn, OTHER.card)
    async with opened(dsn, facts) as after:
        everything = await found(after, clock, "memory", OTHER)
        assert sorted(everything) == sorted(
            ["memory zero, corrected", "memory 2", "memory 3", "memory 4", "memory born meanwhile"]
        )
        assert (await found(after, clock, "memory zero, corrected", OTHER))[0] == "memory zero, corrected"
        count = await PostgresRepo(after, exact_scope_limit=10).count(user_id="u", agent_id=None, now=clock())
        assert count == 5


async def test_an_interrupted_move_is_continued(dsn: str, database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock)
    await service.store_batch([new(f"memory {n}") for n in range(500)])
    embedded: list[int] = []

    async def failing(texts: Any) -> Any:
        if embedded:
            raise Unavailable("the power went out")
        embedded.append(len(texts))
        return await index_texts(OTHER, texts)

    with pytest.raises(Unavailable, match="power"):
        await reembed(dsn, OTHER.card, failing, lambda done, total: None, vector_index="none", large_from=-1)
    assert len(await found(database, clock, "memory 3", HashingEmbedder())) == 50

    rest = await reembed(
        dsn, OTHER.card, partial(index_texts, OTHER), lambda done, total: None, vector_index="none", large_from=-1
    )

    assert rest == 500 - embedded[0]


async def test_moving_to_the_model_that_is_there_does_nothing(dsn: str, database: Database, clock: FrozenClock) -> None:
    await make_service(database, clock).store(new("stays"))

    done = await reembed(
        dsn,
        HashingEmbedder().card,
        partial(index_texts, HashingEmbedder()),
        lambda done, total: None,
        vector_index="none",
        large_from=-1,
    )

    assert done == 0
    assert await found(database, clock, "stays", HashingEmbedder()) == ["stays"]
