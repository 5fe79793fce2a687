"""The unified protocol on the real service, called over HTTP: what implementers of it stumble over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from memex.core.memory import MemoryType, SearchRequest
from memex.protocol.errors import Unavailable
from memex.testing import FrozenClock
from memex_server.background import running
from memex_server.http.app import create_app
from memex_server.metrics import Metrics
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from memex_server.settings import Settings
from memex_server.testing import SentenceExtractor
from tests.integration.support import make_service, memory, value

pytestmark = pytest.mark.timeout(60)
FRIDAY = "主人偏好周五晚上部署"


@pytest.fixture
def extractor() -> SentenceExtractor:
    return SentenceExtractor()


@pytest.fixture
def service(database: Database, clock: FrozenClock, extractor: SentenceExtractor) -> MemoryService:
    return make_service(database, clock, extractor=extractor)


@pytest.fixture
async def api(service: MemoryService) -> AsyncIterator[httpx.AsyncClient]:
    async with client(service) as http:
        yield http


def client(service: MemoryService) -> httpx.AsyncClient:
    app = create_app(service, Settings(), Metrics())
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1/api/v1/memory/")


async def call(api: httpx.AsyncClient, verb: str, **body: Any) -> Any:
    answer = await api.post(verb, json=body)
    assert answer.status_code == 200, answer.text
    envelope = answer.json()
    assert (envelope["success"], set(envelope)) == (True, {"success", "data", "message"})
    return envelope["data"]


async def recalled(api: httpx.AsyncClient, *keywords: str, **more: Any) -> list[str]:
    return [item["content"] for item in (await call(api, "recall", keywords=list(keywords), **more))["items"]]


# -- 1. extraction has a trigger and a worker --------------------------------------------------------


async def test_what_waits_is_extracted_by_the_resident_worker_without_being_asked(
    api: httpx.AsyncClient, service: MemoryService
) -> None:
    await call(api, "store", content="I live in Lisbon. My sister is called Ana.", lm_policy="auto")
    done = asyncio.Event()

    async def work() -> None:
        if (await service.records.extract_due()).facts:
            done.set()

    async with running("extract", work, 0.05), asyncio.timeout(20):
        await done.wait()

    facts = await service.list(user_id="ann", memory_type=MemoryType.SEMANTIC)
    assert {fact.content for fact in facts.memories} == {"I live in Lisbon.", "My sister is called Ana."}


async def test_two_workers_at_once_extract_each_record_once(
    api: httpx.AsyncClient, service: MemoryService, extractor: SentenceExtractor
) -> None:
    for n in range(12):
        await call(api, "store", content=f"Fact number {n} is kept.")
    results = await asyncio.gather(*(service.records.extract_due(5) for _ in range(4)))
    assert sum(result.claimed for result in results) == 12
    assert len(extractor.calls) == 12


async def test_the_policy_decides_whether_a_record_waits(api: httpx.AsyncClient) -> None:
    await call(api, "store", content="Said and left alone.", lm_policy="skip")
    await call(api, "store", content="A fact as it is.", level="fact")
    assert (await call(api, "extract"))["claimed"] == 0
    await call(api, "store", content="Said to be looked at.")
    await call(api, "store", content="A summary to be looked at.", level="summary", lm_policy="force")
    assert (await call(api, "extract"))["claimed"] == 2


# -- 2. what is extracted is deduplicated, for real --------------------------------------------------


async def test_facts_that_are_said_twice_are_one_and_point_to_both_sources(api: httpx.AsyncClient) -> None:
    first = await call(api, "store", content="我住在里斯本。")
    second = await call(api, "store", content="对了，你知道的。我住在里斯本。")
    done = await call(api, "extract")

    fact = await call(api, "get", memory_id=(await call(api, "recall", keywords=["里斯本"], dimensions=[]))["items"][0]["memory_id"])  # fmt: skip
    facts = [await call(api, "get", memory_id=memory_id) for memory_id in done["facts"]]
    [about] = [one for one in facts if one["content"] == "我住在里斯本。"]
    assert {link["to_id"] for link in about["links"]} == {first["memory_id"], second["memory_id"]}
    assert fact["content"].endswith("我住在里斯本。")


async def test_a_fact_that_was_deleted_does_not_come_back_by_extraction(
    api: httpx.AsyncClient, service: MemoryService
) -> None:
    await call(api, "store", content="I live in Lisbon.")
    [fact] = (await call(api, "extract"))["facts"]
    await api.delete(f"http://127.0.0.1/v1/memories/{fact}")
    await call(api, "store", content="I live in Lisbon. Did you know?")

    done = await call(api, "extract")

    assert [(await call(api, "get", memory_id=one))["content"] for one in done["facts"]] == ["Did you know?"]


async def test_a_claim_that_was_retracted_does_not_come_back_by_extraction_in_other_words(
    api: httpx.AsyncClient, service: MemoryService
) -> None:
    await call(api, "store", content="用户喜欢用 Go 语言。")
    [fact] = (await call(api, "extract"))["facts"]
    await service.retract(UUID(fact), reason="a misunderstanding")
    await call(api, "store", content="用户偏好 Go。")
    assert (await call(api, "extract"))["facts"] == []


async def test_secrets_do_not_become_facts(api: httpx.AsyncClient) -> None:
    await call(api, "store", content="记住，密钥是sk-abcdefghijklmnop1234567890。")
    [fact] = (await call(api, "extract"))["facts"]
    assert "sk-abc" not in (await call(api, "get", memory_id=fact))["content"]


async def test_a_force_without_a_model_is_unavailable_and_no_failure(api: httpx.AsyncClient) -> None:
    await call(api, "store", content="I live in Lisbon.")
    answer = await api.post("extract", json={"lm_policy": "force"})
    assert answer.status_code == 200
    assert answer.json()["data"]["status"] == "unavailable"
    assert "no language model" in answer.json()["message"]
    assert (await call(api, "extract"))["claimed"] == 1  # it still waits


# -- 3. the keyword registry -------------------------------------------------------------------------


async def test_keywords_are_resolved_by_the_registry_also_inside_longer_ones_and_questions(
    api: httpx.AsyncClient,
) -> None:
    await call(
        api, "store", content="The rollback script is in the attic folder.", level="fact", lm_policy="skip",
        pre_extracted={"content": "The rollback script is in the attic folder.", "keywords": ["回滚", "Rollback Plan"]},
    )  # fmt: skip
    await call(api, "store", content="Lunch is at noon.", level="fact")
    for keywords, query in (
        (["回滚"], ""),
        (["ｒｏｌｌｂａｃｋ　ｐｌａｎ"], ""),
        (["紧急回滚"], ""),
        ([], "上线失败怎么回滚？"),
        ([], "is there a rollback plan"),
    ):
        assert (await recalled(api, *keywords, query=query))[:1] == ["The rollback script is in the attic folder."]
    assert await recalled(api, "回") == []


# -- 4. level, pre_extracted, lm_policy --------------------------------------------------------------


async def test_a_direct_fact_is_in_the_fact_layer_at_once_and_never_extracted_again(
    api: httpx.AsyncClient, service: MemoryService, extractor: SentenceExtractor
) -> None:
    stored = await call(
        api, "store", content="raw words", level="fact", lm_policy="skip", an_unknown_field={"x": 1},
        pre_extracted={"content": FRIDAY, "keywords": ["周五", "部署"], "topic": "部署习惯"},
    )  # fmt: skip

    got = await call(api, "get", memory_id=stored["memory_id"])
    assert (got["content"], got["level"], got["topic"], got["keywords"]) == (
        FRIDAY,
        "fact",
        "部署习惯",
        ["周五", "部署"],
    )
    assert await recalled(api, "部署") == [FRIDAY]
    await service.records.extract_due()
    assert extractor.calls == []
    assert [m.content for m in (await service.list(user_id="ann")).memories] == [FRIDAY]


async def test_get_covers_every_layer_other_faces_and_the_callers_own_ids(
    api: httpx.AsyncClient, service: MemoryService
) -> None:
    event = (await service.store(memory("an event over REST"))).memory
    habit = (await service.store(memory("a habit over REST", memory_type=MemoryType.PROCEDURAL))).memory
    own = await call(api, "store", content=FRIDAY, level="fact", payload={"memory_id": "plugin-7"})

    assert (await call(api, "get", memory_id=str(event.id)))["level"] == "raw"
    assert (await call(api, "get", memory_id=str(habit.id)))["level"] == "fact"
    assert (await call(api, "get", memory_id="plugin-7"))["memory_id"] == own["memory_id"]
    by_query = await api.get("get", params={"memory_id": own["memory_id"]})
    assert by_query.json()["data"]["content"] == FRIDAY


async def test_what_the_protocol_stores_every_face_finds_and_the_reverse(
    api: httpx.AsyncClient, service: MemoryService
) -> None:
    await call(api, "store", content=FRIDAY, level="fact", tags=["ops"], payload={"session_id": "s1", "role": "user"})
    [hit] = (await service.search(SearchRequest(user_id="ann", query="周五部署"))).hits
    assert (hit.memory.content, hit.memory.memory_type, hit.memory.session_id) == (FRIDAY, MemoryType.SEMANTIC, "s1")
    await service.store(memory("東京で会いましょう"))
    assert await recalled(api, "東京") == ["東京で会いましょう"]


# -- 5. shapes ---------------------------------------------------------------------------------------


async def test_precise_answers_items_and_cluster_answers_groups(api: httpx.AsyncClient) -> None:
    await call(api, "store", content=FRIDAY, level="fact", pre_extracted={"keywords": ["部署"], "topic": "习惯"})
    assert set(await call(api, "recall", keywords=["部署"])) == {"items"}
    cluster = await call(api, "recall", keywords=["部署"], mode="cluster")
    assert [(g["key"], len(g["items"])) for g in cluster["groups"]] == [("习惯", 1)]


async def test_an_empty_keyword_set_recalls_nothing_never_everything(api: httpx.AsyncClient) -> None:
    await call(api, "store", content=FRIDAY)
    bodies: list[dict[str, Any]] = [{}, {"keywords": []}, {"keywords": [""], "query": " "}, {"keywords": None}]
    for body in bodies:
        assert await call(api, "recall", **body) == {"items": []}


# -- 6. rate limits ----------------------------------------------------------------------------------


async def test_each_token_has_its_own_limit_and_is_told_when_to_come_back(
    database: Database, clock: FrozenClock
) -> None:
    service = make_service(database, clock, writes_per_minute=2, searches_per_minute=1)
    async with client(service) as api:
        for name in ("one", "two"):
            headers = {"Authorization": f"Bearer {name}"}
            for n in range(2):
                assert (await api.post("store", json={"content": f"{name} {n}"}, headers=headers)).status_code == 200
            clock.advance(seconds=15)
            refused = await api.post("store", json={"content": "third"}, headers=headers)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "45")
            assert refused.json() == {
                "success": False,
                "error": {"code": "rate_limited", "message": refused.json()["error"]["message"]},
            }
            assert (await api.post("recall", json={"keywords": ["x"]}, headers=headers)).status_code == 200
            assert (await api.post("recall", json={"keywords": ["x"]}, headers=headers)).status_code == 429
        clock.advance(seconds=45)
        again = await api.post("store", json={"content": "third"}, headers={"Authorization": "Bearer one"})
        assert again.status_code == 200
    assert await value_of_keys(database) == []


async def value_of_keys(database: Database) -> list[str]:
    """Rate limit keys that hold a token in clear."""
    async with database.connection() as connection:
        rows = await connection.fetch("SELECT agent_key FROM rate_limits")
    return [row["agent_key"] for row in rows if "one" in row["agent_key"] or "two" in row["agent_key"]]


# -- 7. time -----------------------------------------------------------------------------------------


async def test_freshness_counts_from_when_it_happened_and_what_has_no_time_happened_now(
    api: httpx.AsyncClient, clock: FrozenClock
) -> None:
    long_ago = (clock() - timedelta(days=400)).isoformat()
    for content, at in (
        ("部署在周一", long_ago),
        ("部署在周二", None),
        ("部署在周三", (clock() - timedelta(days=9)).isoformat()),
    ):
        body = {"occurred_at": at} if at else {}
        await call(api, "store", content=content, level="fact", pre_extracted={"keywords": ["部署"]}, **body)
    items = (await call(api, "recall", keywords=["部署"]))["items"]
    assert [item["content"] for item in items] == ["部署在周二", "部署在周三", "部署在周一"]
    assert items[0]["score"] == pytest.approx(1.0)
    assert items[2]["score"] == pytest.approx(0.7, abs=0.001)


# -- extraction that fails ---------------------------------------------------------------------------


async def test_a_record_that_cannot_be_extracted_is_tried_three_times_and_then_says_why(
    api: httpx.AsyncClient, service: MemoryService, extractor: SentenceExtractor, clock: FrozenClock, dsn: str
) -> None:
    stored = await call(api, "store", content="I live in Lisbon.")
    extractor.failure = Unavailable("the model is down")
    for pause_s in (30, 120):
        assert (await service.records.extract_due()).failed == 1
        assert (await service.records.extract_due()).claimed == 0
        clock.advance(seconds=pause_s)
    last = await service.records.extract_due()
    assert (last.failed, last.message) == (1, "unavailable: the model is down")
    clock.advance(days=1)
    assert (await service.records.extract_due()).claimed == 0
    error = await value(dsn, "SELECT error FROM memory_records WHERE memory_id = $1::text::uuid", stored["memory_id"])
    assert error == "unavailable: the model is down"

    extractor.failure = None
    again = await call(api, "extract", memory_ids=[stored["memory_id"]])
    assert (again["claimed"], again["extracted"], len(again["facts"])) == (1, 1, 1)


async def test_a_claim_of_a_worker_that_died_runs_out(
    api: httpx.AsyncClient, service: MemoryService, extractor: SentenceExtractor, clock: FrozenClock
) -> None:
    await call(api, "store", content="I live in Lisbon.")

    class Killed(BaseException):
        pass

    async def die(*_: object, **__: object) -> Any:
        raise Killed

    alive, extractor.extract = extractor.extract, die  # type: ignore[method-assign]
    with pytest.raises(Killed):
        await service.records.extract_due()
    extractor.extract = alive  # type: ignore[method-assign]
    assert (await service.records.extract_due()).claimed == 0
    clock.advance(seconds=301)
    assert (await service.records.extract_due()).extracted == 1


async def test_a_record_that_was_deleted_while_it_waited_is_passed_over(
    api: httpx.AsyncClient, service: MemoryService, extractor: SentenceExtractor
) -> None:
    stored = await call(api, "store", content="I live in Lisbon.")
    await api.delete(f"http://127.0.0.1/v1/memories/{stored['memory_id']}")
    done = await service.records.extract_due()
    assert (done.claimed, done.extracted, done.failed, extractor.calls) == (1, 0, 0, [])


# -- the life of a record ----------------------------------------------------------------------------


async def test_a_deleted_record_is_neither_recalled_nor_got_until_it_is_restored(api: httpx.AsyncClient) -> None:
    stored = await call(api, "store", content=FRIDAY, level="fact", pre_extracted={"keywords": ["上线"]})
    rest = f"http://127.0.0.1/v1/memories/{stored['memory_id']}"
    await api.delete(rest)
    assert await recalled(api, "上线") == []
    assert (await api.post("get", json={"memory_id": stored["memory_id"]})).status_code == 404
    await api.post(f"{rest}/restore")
    assert await recalled(api, "上线") == [FRIDAY]


async def test_a_purge_takes_description_keywords_and_links_with_it(api: httpx.AsyncClient, dsn: str) -> None:
    one = await call(api, "store", content=FRIDAY, level="fact", pre_extracted={"keywords": ["上线"]})
    two = await call(api, "store", content="東京", level="fact")
    await call(api, "link", source_id=one["memory_id"], target_id=two["memory_id"], relation="mentions")
    await api.delete(f"http://127.0.0.1/v1/memories/{one['memory_id']}?purge=true")
    for table, left in (("memory_records", 1), ("memory_keywords", 0), ("memory_links", 0)):
        assert await value(dsn, f"SELECT count(*) FROM {table}") == left


async def test_two_records_cannot_supersede_each_other(api: httpx.AsyncClient) -> None:
    records = [await call(api, "store", content=text, level="fact") for text in (FRIDAY, "東京", "a third fact")]
    first, second, third = (record["memory_id"] for record in records)
    for later, earlier in ((second, first), (third, second)):
        await call(api, "link", from_id=later, to_id=earlier, relation="supersedes")
    for later, earlier in ((first, second), (first, third)):
        body = {"from_id": later, "to_id": earlier, "relation": "supersedes"}
        assert (await api.post("link", json=body)).status_code == 409
    assert (await call(api, "recall", query="a third fact"))["items"][0]["memory_id"] == third


async def test_nothing_of_another_user_is_got_linked_recalled_or_extracted(
    api: httpx.AsyncClient, service: MemoryService
) -> None:
    theirs = str((await service.store(memory(FRIDAY, user_id="ann-b"))).memory.id)
    mine = (await call(api, "store", content="mine"))["memory_id"]
    for verb, body in (
        ("get", {"memory_id": theirs}),
        ("link", {"from_id": mine, "to_id": theirs}),
        ("extract", {"memory_ids": [theirs]}),
    ):
        assert (await api.post(verb, json=body)).status_code == 404
    assert await recalled(api, "周五", query="部署") in ([], ["mine"])


async def test_many_writers_of_one_fact_make_one_record_with_all_their_keywords(api: httpx.AsyncClient) -> None:
    async def write(n: int) -> Any:
        return await call(
            api, "store", content=FRIDAY, level="fact", pre_extracted={"content": FRIDAY, "keywords": [f"k{n}", "周五"]}
        )

    stored = await asyncio.gather(*(write(n) for n in range(20)))
    assert len({one["memory_id"] for one in stored}) == 1
    assert sum(not one["deduplicated"] for one in stored) == 1
    record = await call(api, "get", memory_id=stored[0]["memory_id"])
    assert set(record["keywords"]) == {"周五", *(f"k{n}" for n in range(20))}
