"""Searching finds all that matches, in the order that the formula says, whatever the size of the scope."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memex.core.memory import Filters, Hit, MemoryType, NewMemory, SearchMode, SearchRequest, Weights
from memex.protocol.errors import InvalidInput
from memex.testing import FrozenClock
from memex_server.ids import IdSource
from memex_server.ports import IndexEntry, PreparedMemory, Query
from memex_server.postgres.pool import Database
from memex_server.postgres.repo import PostgresRepo
from memex_server.postgres.vector_index import ensure_vector_index
from memex_server.service import MemoryService
from memex_server.testing import HashingEmbedder
from tests.integration.support import DenseEmbedder, Template, found, make_service, memory, run, store_all

MODES = [SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.KEYWORD]
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


async def hits(service: MemoryService, query: str, **fields: Any) -> list[Hit]:
    request = SearchRequest(**({"user_id": "ann", "query": query} | fields))
    return list((await service.search(request)).hits)


async def fill(database: Database, user_id: str, count: int, *, seed: int) -> None:
    """Store many memories with random vectors and no words, past the service, which would embed each."""
    rng, ids = np.random.default_rng(seed), IdSource()
    repo = PostgresRepo(database, exact_scope_limit=10_000)
    dim = HashingEmbedder().card.dim
    for start in range(0, count, 2000):
        vectors = rng.normal(size=(min(2000, count - start), dim)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        prepared = [
            PreparedMemory(
                ids(NOW),
                memory(f"row {start + n}", user_id=user_id),
                IndexEntry([(0, 5)], vector[None, :], [(7, 0, 1)], 1, 0),
            )
            for n, vector in enumerate(vectors)
        ]
        await repo.store(prepared, now=NOW)


# -- filters ---------------------------------------------------------------------------------------

TEN: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"tags": ("a_b", "more")}, {"tags": ("a_b",)}),
    ({"tags": ("x", "y", "z")}, {"tags": ("z", "x")}),
    ({"metadata": {"n": 9}}, {"metadata": {"n": {"$lt": 10}}}),
    ({"metadata": {"city": "東京"}}, {"metadata": {"city": "東京"}}),
    ({"memory_type": MemoryType.PROCEDURAL}, {"memory_type": MemoryType.PROCEDURAL}),
    ({"agent_id": "other"}, {"agent_id": "other"}),
    (
        {"occurred_at": NOW - timedelta(days=500)},
        {"time_from": NOW - timedelta(days=501), "time_to": NOW - timedelta(days=499)},
    ),
    (
        {"agent_id": "other", "tags": ("t",), "metadata": {"k": True}, "memory_type": MemoryType.SEMANTIC},
        {"agent_id": "other", "tags": ("t",), "metadata": {"k": True}, "memory_type": MemoryType.SEMANTIC},
    ),
]


@pytest.fixture
async def crowd(service: MemoryService, dsn: str, template: Template) -> MemoryService:
    """The service over a scope of 700 rows that look like the ten of `TEN` but do not match their filters."""
    await store_all(
        service,
        [
            memory(
                f"coffee notes number {n}",
                tags=("axb", "x", "more"),
                metadata={"n": 10 + n, "city": "京都", "k": "true"},
                occurred_at=NOW - timedelta(days=n % 300),
            )
            for n in range(700)
        ],
    )
    for number, (fields, _) in enumerate(TEN):
        await store_all(service, [memory(f"coffee of kind {number} cup {n}", **fields) for n in range(10)])
    await ensure_vector_index(
        dsn, "hnsw", card=HashingEmbedder().card, search_path=template.facts.search_path, large_from=-1
    )
    await run(dsn, "ANALYZE")
    return service


async def test_ten_matching_rows_are_all_found_whatever_the_filter(crowd: MemoryService, dsn: str) -> None:
    for number, (_, filters) in enumerate(TEN):
        expected = sorted(f"coffee of kind {number} cup {n}" for n in range(10))
        if "agent_id" in filters and "tags" not in filters:  # the last kind is of this agent too
            expected = sorted(expected + [f"coffee of kind {len(TEN) - 1} cup {n}" for n in range(10)])
        for mode in MODES:
            for top_k in (len(expected), 50):
                got = await found(crowd, "coffee", mode=mode, top_k=top_k, **filters)
                assert sorted(got) == expected, (filters, mode, top_k)
    for mode in MODES:
        assert len(await found(crowd, "coffee", mode=mode, top_k=10)) == 10
        assert len(await found(crowd, "coffee", mode=mode, top_k=50)) == 50


async def test_what_was_valid_then_is_found_in_a_large_scope(crowd: MemoryService, dsn: str) -> None:
    await run(
        dsn,
        "UPDATE memories SET valid_from = $1, valid_to = $2 WHERE content LIKE 'coffee of kind 0 %'",
        NOW - timedelta(days=20),
        NOW - timedelta(days=10),
    )
    await run(dsn, "UPDATE memories SET valid_from = $1 WHERE content NOT LIKE 'coffee of kind 0 %'", NOW)
    for mode in MODES:
        then = await found(crowd, "coffee", mode=mode, top_k=10, as_of=NOW - timedelta(days=15))
        assert sorted(then) == sorted(f"coffee of kind 0 cup {n}" for n in range(10))
        assert not any("kind 0" in text for text in await found(crowd, "coffee", mode=mode, top_k=50))


TAGS = [
    "a_b",
    "axb",
    "a%b",
    "100%",
    "100",
    "x,y",
    "x",
    "y",
    "test",
    "testing",
    "TEST",
    "日本",
    "日本語",
    '"',
    "\\",
    "{}",
    "null",
    " ",
]


async def test_tags_match_exactly(service: MemoryService) -> None:
    await store_all(service, [memory(f"tagged number {n}", tags=(tag,)) for n, tag in enumerate(TAGS)])
    for n, tag in enumerate(TAGS):
        assert await found(service, "tagged", tags=(tag,)) == [f"tagged number {n}"], tag
        page = await service.list(user_id="ann", tags=(tag,))
        assert [m.content for m in page.memories] == [f"tagged number {n}"], tag
    assert await found(service, "tagged", tags=("x", "y")) == []


async def test_numbers_in_metadata_compare_as_numbers(service: MemoryService) -> None:
    values: list[Any] = [9, 10, 9.5, "9", 100, None, True, [9]]
    await store_all(service, [memory(f"item {value!r}", metadata={"n": value}) for value in values])
    assert set(await found(service, "item", metadata={"n": {"$lt": 10}})) == {"item 9", "item 9.5", "item [9]"}
    assert set(await found(service, "item", metadata={"n": {"$gte": 10}})) == {"item 10", "item 100"}
    assert await found(service, "item", metadata={"n": "9"}) == ["item '9'"]
    assert await found(service, "item", metadata={"n": None}) == ["item None"]


NONSENSE: list[dict[str, Any]] = [
    {"query": ""},
    {"query": "q" * 8193},
    {"query": "nul\x00"},
    {"query": "half \udc00"},
    {"user_id": ""},
    {"user_id": "u" * 129},
    {"top_k": 0},
    {"top_k": 51},
    {"alpha": 1.01},
    {"alpha": float("nan")},
    {"alpha": 0.5, "weights": Weights(similarity=1)},
    {"weights": Weights()},
    {"weights": Weights(similarity=-1, recency=2)},
    {"weights": Weights(similarity=float("inf"))},
    {"half_life_days": 0},
    {"half_life_days": float("nan")},
    {"filters": Filters(agent_id="")},
    {"filters": Filters(tags=("",))},
    {"filters": Filters(tags=("a\x00",))},
    {"filters": Filters(metadata={"n": {"$near": 1}})},
    {"filters": Filters(metadata={"n": {}})},
    {"filters": Filters(metadata={"$or": []})},
    {"filters": Filters(metadata={"n\x00": 1})},
    {"filters": Filters(time_from=NOW, time_to=NOW - timedelta(seconds=1))},
]


async def test_a_search_that_makes_no_sense_is_refused(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock)
    for fields in NONSENSE:
        try:
            answered = await hits(service, **({"query": "q"} | fields))
        except InvalidInput:
            continue
        pytest.fail(f"{fields} is answered with {answered}")


ODD = [
    "???", "C:\\x\\y", "a|b", "don't", '"', "the of", "🙂", "<|endoftext|>", "word " * 1600, "健身" * 4000, "' OR 1=1; --",
    "%", "_", "\\", "&!|():*<->", "a & !b", "\u200d\u200b\ufeff", "\x01\x1b[0m", "-" * 8192, " ", "\n", "$1", "{row}",
    "e\u0301" * 4000, "ﷺ" * 2000, ".".join("a" * 4000), "0" * 8192, "\u202e\u202bمرحبا",
]  # fmt: skip


async def test_odd_queries_are_answered(service: MemoryService) -> None:
    await store_all(service, [memory(text) for text in ("don't panic", "C:\\x\\y is the path", "a|b", "普洱茶 🙂")])
    for query in ODD:
        for mode in MODES:
            async with asyncio.timeout(10):
                got = await found(service, query, mode=mode)
            assert len(got) == 4 or mode is SearchMode.KEYWORD, query[:20]
    assert (await found(service, "C:\\x\\y"))[0] == "C:\\x\\y is the path"
    assert (await found(service, "don't"))[0] == "don't panic"


# -- the formula -----------------------------------------------------------------------------------

FACTS = [
    ("Ann likes oolong tea", 0, 1.0),
    ("Ann likes coffee in the morning", 3, 2.0),
    ("the server is in Frankfurt", 30, 0.0),
    ("我喜欢普洱茶", 90, 1.5),
    ("東京で会いましょう", 365, 0.5),
    ("x " * 10, 4000, 1.0),
]


@pytest.fixture(params=[10_000, -1], ids=["exact", "indexed"])
def dense(request: pytest.FixtureRequest, database: Database, clock: FrozenClock) -> MemoryService:
    return make_service(database, clock, exact_scope_limit=request.param, embedder=DenseEmbedder())


async def stored_facts(service: MemoryService) -> None:
    await store_all(
        service, [memory(t, occurred_at=NOW - timedelta(days=d, hours=5), importance=i) for t, d, i in FACTS]
    )


async def cosines(query: str) -> dict[str, float]:
    vectors = await HashingEmbedder().embed([query, *(text for text, _, _ in FACTS)], "query")
    return {text: float(vector @ vectors[0]) for (text, _, _), vector in zip(FACTS, vectors[1:], strict=True)}


@pytest.mark.parametrize("query", ["Ann likes tea", "普洱茶", "東京"])
async def test_alpha_scores_equal_the_formula(dense: MemoryService, query: str) -> None:
    await stored_facts(dense)
    cosine = await cosines(query)
    for alpha in (0.0, 0.3, 0.7, 1.0):
        expected = {
            text: alpha * cosine[text] + (1 - alpha) * math.exp(-math.log(2) * (days + 5 / 24) / 30)
            for text, days, _ in FACTS
        }
        got = await hits(dense, query, alpha=alpha)
        assert [h.score for h in got] == sorted((h.score for h in got), reverse=True)
        assert {h.memory.content: h.score for h in got} == pytest.approx(expected, abs=1e-4), alpha


async def test_semantic_mode_uses_the_default_alpha(service: MemoryService) -> None:
    await stored_facts(service)
    default = await hits(service, "Ann likes tea", mode=SearchMode.SEMANTIC)
    assert [h.score for h in default] == [h.score for h in await hits(service, "Ann likes tea", alpha=0.7)]


@pytest.mark.parametrize("scale", [1, 100, 1e300, 1e-300])
async def test_weights_count_by_their_ratio(dense: MemoryService, scale: float) -> None:
    await stored_facts(dense)
    cosine = await cosines("Ann likes tea")
    weights = Weights(similarity=1 * scale, recency=2 * scale, importance=5 * scale)
    got = await hits(dense, "Ann likes tea", mode=SearchMode.SEMANTIC, weights=weights, half_life_days=10, explain=True)
    expected = {
        text: (cosine[text] + 2 * 0.5 ** ((days + 5 / 24) / 10) + 5 * importance / 2) / 8
        for text, days, importance in FACTS
    }
    assert {h.memory.content: h.score for h in got} == pytest.approx(expected, abs=1e-4)
    for hit in got:
        assert hit.explanation is not None
        shares = [c["weight"] for c in hit.explanation["components"].values()]
        assert math.fsum(shares) == pytest.approx(1)


@pytest.mark.parametrize("mode", MODES)
async def test_the_explained_parts_add_up_to_the_score(service: MemoryService, mode: SearchMode) -> None:
    await stored_facts(service)
    got = await hits(service, "Ann likes oolong tea", mode=mode, explain=True)
    assert got
    for hit in got:
        explanation: Mapping[str, Any] = hit.explanation or {}
        components = explanation["components"]
        assert set(components) == {"similarity", "recency", "importance", "graph"}
        assert math.fsum(c["share"] for c in components.values()) == pytest.approx(hit.score, abs=1e-9)
        assert all(c["share"] == pytest.approx(c["value"] * c["weight"]) for c in components.values())
        assert explanation["mode"] == mode.value
        assert (0 if mode is not SearchMode.SEMANTIC else -1) <= hit.score <= 1
        assert explanation["arms"]
    assert all(h.explanation is None for h in await hits(service, "Ann", mode=mode))


async def test_ties_go_to_the_later_event_and_then_to_the_smaller_id(service: MemoryService) -> None:
    at = [NOW - timedelta(days=d) for d in (3, 1, 2)]
    news = [memory("same words", occurred_at=when, agent_id=f"a{n}") for n in range(4) for when in at]
    random.Random(1).shuffle(news)
    await store_all(service, news)
    got = await hits(service, "same words", alpha=1.0, top_k=50)
    assert len({round(h.score, 9) for h in got}) == 1
    keys = [(-h.memory.occurred_at.timestamp(), h.memory.id) for h in got]
    assert keys == sorted(keys)
    assert [h.memory.id for h in await hits(service, "same words", alpha=1.0, top_k=5)] == [
        h.memory.id for h in got[:5]
    ]


async def test_keyword_mode_returns_matches_only(service: MemoryService) -> None:
    await stored_facts(service)
    assert await found(service, "coffee", mode=SearchMode.KEYWORD) == ["Ann likes coffee in the morning"]
    assert await found(service, "普洱", mode=SearchMode.KEYWORD) == ["我喜欢普洱茶"]
    assert await found(service, "東京", mode=SearchMode.KEYWORD) == ["東京で会いましょう"]
    assert await found(service, "submarine", mode=SearchMode.KEYWORD) == []
    assert await found(service, "the of", mode=SearchMode.KEYWORD) == []


@pytest.mark.parametrize(
    ("fact", "question", "chatter"),
    [
        ("The door code of the Berlin office is 4711", "door code Berlin office", "nice weather in the office today"),
        ("柏林办公室的门禁密码是4711", "柏林办公室门禁密码", "今天办公室的天气很好"),
        ("ベルリン事務所の暗証番号は4711です", "ベルリン事務所の暗証番号", "今日は事務所の天気がいいです"),
    ],
)
async def test_an_old_exact_answer_ranks_above_yesterdays_small_talk(
    service: MemoryService, fact: str, question: str, chatter: str
) -> None:
    await service.store(memory(fact, occurred_at=NOW - timedelta(days=300)))
    await store_all(
        service, [memory(f"{chatter} {n}", occurred_at=NOW - timedelta(days=1, minutes=n)) for n in range(60)]
    )
    assert (await found(service, question, top_k=1)) == [fact]


async def test_very_old_memories_are_still_reachable(service: MemoryService) -> None:
    await service.store(memory("the first telephone call", occurred_at=datetime(1876, 3, 10, tzinfo=UTC)))
    for mode in MODES:
        assert await found(service, "first telephone", mode=mode) == ["the first telephone call"]
    assert (await hits(service, "first telephone", alpha=0.0))[0].score == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("filler", "last", "question"),
    [
        (
            "Nothing of note happened on that day. ",
            "The spare key lies under the ninth flowerpot.",
            "spare key flowerpot",
        ),
        ("那一天没有发生什么特别的事情。", "备用钥匙在第九个花盆下面。", "备用钥匙 花盆"),
        ("その日は特に何もなかった。", "合鍵は九番目の植木鉢の下にある。", "合鍵 植木鉢"),
    ],
)
async def test_the_last_line_of_a_long_memory_is_found_and_shown(
    service: MemoryService, mode: SearchMode, filler: str, last: str, question: str
) -> None:
    text = (filler * (8000 // len(filler) + 1))[: 8000 - len(last) - 1] + "\n" + last
    assert len(text) == 8000
    await store_all(service, [memory(filler * n) for n in range(1, 30)])
    await service.store(memory(text))
    semantic = mode is SearchMode.SEMANTIC  # the stand-in knows no meaning, so a sentence among fifty is little to it
    results = await hits(service, question, mode=mode, alpha=1.0 if semantic else None, top_k=30)
    got = next(hit for hit in results if hit.memory.content == text)
    assert semantic or results[0] is got
    assert got.highlight is not None
    assert last in got.highlight
    assert len(got.highlight) < 2000


# -- large tables ----------------------------------------------------------------------------------


@pytest.mark.timeout(300)
async def test_a_small_user_in_a_large_table_gets_all_its_rows(
    database: Database, dsn: str, template: Template, clock: FrozenClock
) -> None:
    service = make_service(database, clock, exact_scope_limit=-1)
    await store_all(service, [memory(f"small talk {n}", user_id="small") for n in range(5)])

    async def check(kind: str, done: str) -> None:
        path = template.facts.search_path
        assert (
            await ensure_vector_index(dsn, kind, card=HashingEmbedder().card, search_path=path, large_from=-1) == done
        )
        await run(dsn, "ANALYZE")
        for mode in MODES:
            got = await found(service, "small talk", user_id="small", mode=mode, top_k=10)
            assert len(got) == 5, (kind, mode)
        for mode in (SearchMode.HYBRID, SearchMode.SEMANTIC):
            assert len(await found(service, "row 7", user_id="big", mode=mode, top_k=50)) == 50

    # An ivfflat index waits for 10,000 rows, of which an hnsw one would take a quarter of a minute.
    await fill(database, "big", 3_000, seed=1)
    await check("hnsw", "built")
    await check("none", "dropped")
    await fill(database, "vast", 7_500, seed=2)
    await check("ivfflat", "built")


async def test_a_long_memory_does_not_crowd_out_what_is_near(database: Database, dsn: str, template: Template) -> None:
    ids, dim = IdSource(), HashingEmbedder().card.dim
    rng = np.random.default_rng(11)

    def stored(name: str, likeness: float, passages: int, days: int) -> PreparedMemory:
        vectors = rng.normal(scale=0.001, size=(passages, dim)).astype(np.float32)
        vectors[:, 0], vectors[:, 1] = likeness, math.sqrt(1 - likeness**2)
        index = IndexEntry([(0, 5)] * passages, vectors, [(7, 0, 1)], 1, 0)
        return PreparedMemory(ids(NOW), memory(name, occurred_at=NOW - timedelta(days=days)), index)

    repo = PostgresRepo(database, exact_scope_limit=-1)
    near = [stored(f"note {n}", 0.8, 1, 90) for n in range(30)]
    manuals = [stored(f"manual {n}", 0.9, 150, 90) for n in range(6)]
    await repo.store([*manuals, *near, *(stored(f"other {n}", 0.1, 1, 1) for n in range(200))], now=NOW)
    vector = np.eye(1, dim, dtype=np.float32)[0]
    query = Query(
        user_id="ann", version=1, filters=Filters(), valid_at=NOW, vector=vector, terms=[], repeats=[], wanted=10
    )
    for _ in ("not in the index", "in the index"):
        found = {bytes(row) for row in (await repo.candidates(query)).ids}
        assert {one.id.bytes for one in (*near, *manuals)} <= found
        await ensure_vector_index(
            dsn, "hnsw", card=HashingEmbedder().card, search_path=template.facts.search_path, large_from=-1
        )


async def test_many_scopes_each_get_their_own_rows(
    database: Database, dsn: str, template: Template, clock: FrozenClock
) -> None:
    service = make_service(database, clock, exact_scope_limit=-1)
    users = [f"user {n}" for n in range(120)]
    news: list[NewMemory] = [memory(f"{user} note {n}", user_id=user) for user in users for n in range(12)]
    random.Random(3).shuffle(news)
    await store_all(service, news)
    await ensure_vector_index(
        dsn, "hnsw", card=HashingEmbedder().card, search_path=template.facts.search_path, large_from=-1
    )
    await run(dsn, "ANALYZE")
    for user in users[::10]:
        got = await found(service, "note", user_id=user, top_k=10, mode=SearchMode.SEMANTIC)
        assert len(got) == 10
        assert all(text.startswith(f"{user} note") for text in got)


# -- listing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [1, 2, 3, 7, 25])
async def test_pages_show_each_memory_once_while_others_are_added(
    database: Database, clock: FrozenClock, page: int
) -> None:
    service = make_service(database, clock)
    before = [f"note {n}" for n in range(25)]
    await store_all(service, [memory(text) for text in before])
    seen: list[str] = []
    cursor, number = None, 0
    while True:
        shown = await service.list(user_id="ann", limit=page, cursor=cursor)
        assert len(shown.memories) <= page
        seen += [m.content for m in shown.memories]
        cursor = shown.next_cursor
        if cursor is None:
            break
        clock.advance(seconds=1)
        await asyncio.gather(*(service.store(memory(f"late {number} {n}")) for n in range(3)))
        number += 1
    assert seen == before[::-1]
    newest = await service.list(user_id="ann", limit=1)
    assert newest.memories[0].content.startswith("late") or page == 25


@pytest.mark.parametrize("cursor", ["", "x", "1", "健身", "00000000-0000-0000-0000-00000000000g", "\x00"])
async def test_a_cursor_that_is_none_is_refused(database: Database, clock: FrozenClock, cursor: str) -> None:
    with pytest.raises(InvalidInput):
        await make_service(database, clock).list(user_id="ann", cursor=cursor)
