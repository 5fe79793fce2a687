"""What every memory backend does, whatever is behind it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from memex.protocol.backend import Backend
from memex.protocol.errors import NotFound
from memex.protocol.models import (
    SUPERSEDES,
    ExtractRequest,
    Level,
    LinkRequest,
    LmPolicy,
    PreExtracted,
    RecallMode,
    RecallRequest,
    StoreRequest,
    StoreResult,
)
from memex.testing import FrozenClock
from tests.contract.backends import OPENERS

FRIDAY = "主人偏好周五晚上部署"
TEXTS = {
    "zh": (FRIDAY, "周五", ["周五", "部署"], "我不喝咖啡，下午最喜欢喝普洱茶。"),
    "ja": ("娘のさくらはピーナッツアレルギーがある。", "アレルギー", ["さくら", "アレルギー"], "東京で会いましょう。"),
    "en": ("Releases happen on Friday evenings.", "Friday", ["deployment", "Friday"], "Tea is served at four."),
}
MISSING = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture(params=OPENERS)
def backend(request: pytest.FixtureRequest, clock: FrozenClock) -> Iterator[Backend]:
    with OPENERS[request.param](clock, request) as opened:
        yield opened
        opened.close()


def fact(
    backend: Backend,
    clock: FrozenClock,
    text: str,
    *keywords: str,
    days_ago: float = 0,
    topic: str = "",
    **more: object,
) -> StoreResult:
    request: dict[str, object] = {
        "content": text,
        "occurred_at": clock() - timedelta(days=days_ago),
        "level": Level.FACT,
        "lm_policy": LmPolicy.SKIP,
        "pre_extracted": PreExtracted(content=text, keywords=keywords, topic=topic),
    }
    return backend.store(StoreRequest(**(request | more)))  # type: ignore[arg-type]


def raw(backend: Backend, clock: FrozenClock, text: str, **more: object) -> StoreResult:
    request: dict[str, object] = {"content": text, "occurred_at": clock(), "lm_policy": LmPolicy.SKIP}
    return backend.store(StoreRequest(**(request | more)))  # type: ignore[arg-type]


def recalled(backend: Backend, *keywords: str, **more: object) -> list[str]:
    request = RecallRequest(keywords=keywords, **more)  # type: ignore[arg-type]
    return [record.content for record in backend.recall(request).records]


def test_a_backend_says_that_it_is_well_and_what_it_speaks(backend: Backend) -> None:
    health = backend.health()
    assert health.ok
    assert health.protocol
    assert set(health.levels) == set(Level)


@pytest.mark.parametrize("language", TEXTS)
def test_a_fact_is_found_by_its_keywords_and_by_words_of_its_sentence(
    backend: Backend, clock: FrozenClock, language: str
) -> None:
    text, word, keywords, other = TEXTS[language]
    fact(backend, clock, other)
    fact(backend, clock, text, *keywords, "ops-window")

    assert recalled(backend, keywords[0])[:1] == [text]
    assert recalled(backend, word)[:1] == [text]
    assert recalled(backend, "OPS-Window") == [text]  # which its text does not hold
    assert recalled(backend, query=text)[:1] == [text]


def test_a_registered_keyword_is_found_inside_a_question(backend: Backend, clock: FrozenClock) -> None:
    fact(backend, clock, "The rollback script is in the attic folder.", "回滚")
    fact(backend, clock, "Lunch is at noon.", "午饭")
    assert recalled(backend, query="上线失败了怎么回滚？")[:1] == ["The rollback script is in the attic folder."]


@pytest.mark.parametrize("keywords", [(), ("",), ("  ", "\t")])
def test_without_a_keyword_nothing_is_recalled_instead_of_everything(
    backend: Backend, clock: FrozenClock, keywords: tuple[str, ...]
) -> None:
    fact(backend, clock, FRIDAY, "周五")
    assert recalled(backend, *keywords) == []
    assert recalled(backend, *keywords, query=" ") == []


def test_keywords_that_nothing_holds_recall_nothing(backend: Backend, clock: FrozenClock) -> None:
    fact(backend, clock, FRIDAY, "周五")
    assert recalled(backend, "量子力学") == []


def test_of_two_that_match_alike_the_newer_event_comes_first(backend: Backend, clock: FrozenClock) -> None:
    fact(backend, clock, "部署改到周四晚上", "部署", days_ago=1)
    fact(backend, clock, "部署改到周六晚上", "部署", days_ago=90)
    assert recalled(backend, "部署") == ["部署改到周四晚上", "部署改到周六晚上"]


def test_of_two_of_the_same_moment_the_one_stored_later_comes_first(backend: Backend, clock: FrozenClock) -> None:
    then = clock()
    texts = [f"部署改到第{n}周" for n in "一二三"]
    for text in texts:
        fact(backend, clock, text, "部署窗口", occurred_at=then)
        clock.advance(seconds=60)
    assert recalled(backend, "部署窗口") == texts[::-1]


def test_an_old_exact_answer_comes_before_fresh_small_talk(backend: Backend, clock: FrozenClock) -> None:
    fact(backend, clock, "The door code of the Lisbon flat is 4471.", "door code", "Lisbon", days_ago=300)
    for n in range(8):
        raw(backend, clock, f"Ok, thanks, see you on day {n} then, no code needed.")
    assert recalled(backend, "door code", "Lisbon", top_k=1) == ["The door code of the Lisbon flat is 4471."]
    assert recalled(backend, query="door code of the Lisbon flat", top_k=1) == [
        "The door code of the Lisbon flat is 4471."
    ]


def test_the_same_text_is_one_record_that_takes_the_later_time_and_all_keywords(
    backend: Backend, clock: FrozenClock
) -> None:
    first = fact(backend, clock, FRIDAY, "周五", days_ago=40, payload={"trigger": "turn"})
    again = fact(backend, clock, FRIDAY, "上线", days_ago=2, payload={"session_id": "s2"})
    older = fact(backend, clock, FRIDAY, days_ago=80)

    assert (first.deduplicated, again.deduplicated, older.deduplicated) == (False, True, True)
    assert first.memory_id == again.memory_id == older.memory_id
    record = backend.get(first.memory_id)
    assert record.occurred_at == clock() - timedelta(days=2)
    assert set(record.keywords) == {"周五", "上线"}
    assert record.payload == {"trigger": "turn", "session_id": "s2"}
    assert recalled(backend, "上线") == recalled(backend, "周五") == [FRIDAY]


def test_what_was_said_and_what_is_true_are_two_records(backend: Backend, clock: FrozenClock) -> None:
    said = raw(backend, clock, FRIDAY)
    true = fact(backend, clock, FRIDAY, "周五")
    assert said.memory_id != true.memory_id
    assert (said.level, true.level) == (Level.RAW, Level.FACT)


@pytest.mark.parametrize("level", Level)
def test_a_record_of_any_level_is_got_back_whole(backend: Backend, clock: FrozenClock, level: Level) -> None:
    stored = backend.store(
        StoreRequest(
            content="raw words around it",
            occurred_at=clock() - timedelta(days=3),
            source_type="manual",
            level=level,
            lm_policy=LmPolicy.SKIP,
            tags=["プロジェクト", "ops"],
            payload={"trigger": "manual", "turn": 3, "nested": {"空": None}},
            pre_extracted=PreExtracted(content=FRIDAY, keywords=["周五", "部署"], topic="部署习惯"),
        )
    )
    clock.advance(seconds=5)
    record = backend.get(stored.memory_id)

    assert record.memory_id == stored.memory_id
    assert record.content == FRIDAY
    assert (record.level, record.topic, record.source_type) == (level, "部署习惯", "manual")
    assert list(record.keywords) == ["周五", "部署"]
    assert set(record.tags) == {"プロジェクト", "ops"}
    assert record.payload == {"trigger": "manual", "turn": 3, "nested": {"空": None}}
    assert record.occurred_at == clock() - timedelta(days=3, seconds=5)
    assert record.created_at is not None
    assert recalled(backend, "部署") == [FRIDAY]


@pytest.mark.parametrize("memory_id", [MISSING, "no-such-record", "不存在"])
def test_an_unknown_id_is_not_found(backend: Backend, memory_id: str) -> None:
    with pytest.raises(NotFound):
        backend.get(memory_id)


def test_time_and_dimensions_narrow_before_the_best_are_taken(backend: Backend, clock: FrozenClock) -> None:
    for n in range(12):
        fact(backend, clock, f"deploy note {n}", "deploy", days_ago=n, topic="chatter")
    fact(backend, clock, "deploy needs two approvals", "deploy", days_ago=200, topic="部署习惯", tags=["rule", "ops"])

    assert recalled(backend, "deploy", dimensions=["部署习惯"], top_k=3) == ["deploy needs two approvals"]
    assert recalled(backend, "deploy", dimensions=["rule", "部署习惯"], top_k=3) == ["deploy needs two approvals"]
    assert recalled(backend, "deploy", dimensions=["rule", "chatter"]) == []
    assert recalled(backend, "deploy", time_to=clock() - timedelta(days=100)) == ["deploy needs two approvals"]
    assert recalled(backend, "deploy", time_from=clock() - timedelta(days=1), top_k=9) == [
        "deploy note 0",
        "deploy note 1",
    ]


def test_no_more_than_top_k_are_recalled_and_as_many_as_there_are(backend: Backend, clock: FrozenClock) -> None:
    for n in range(10):
        fact(backend, clock, f"deploy note {n}", "deploy", days_ago=n)
    assert len(recalled(backend, "deploy", top_k=4)) == 4
    assert len(recalled(backend, "deploy", top_k=10)) == 10


def test_a_cluster_has_the_records_by_topic(backend: Backend, clock: FrozenClock) -> None:
    fact(backend, clock, "Deploy on Fridays", "deploy", topic="habits")
    fact(backend, clock, "Deploy with two approvals", "deploy", topic="rules", days_ago=1)
    fact(backend, clock, "Deploy in the evening", "deploy", topic="habits", days_ago=2)

    found = backend.recall(RecallRequest(keywords=["deploy"], mode=RecallMode.CLUSTER))

    assert {g.key: [r.content for r in g.records] for g in found.groups} == {
        "habits": ["Deploy on Fridays", "Deploy in the evening"],
        "rules": ["Deploy with two approvals"],
    }
    assert {r.content for r in found.records} == {r.content for g in found.groups for r in g.records}


def test_a_link_is_made_once_and_is_seen_from_both_ends(backend: Backend, clock: FrozenClock) -> None:
    source, derived = raw(backend, clock, "周五晚上部署吧"), fact(backend, clock, FRIDAY)
    edge = LinkRequest(from_id=derived.memory_id, to_id=source.memory_id, relation="extracted_from")

    first, again = backend.link(edge), backend.link(edge)
    other = backend.link(LinkRequest(from_id=derived.memory_id, to_id=source.memory_id, relation="mentions"))

    assert first.link_id == again.link_id != other.link_id
    assert (first.created, again.created, other.created) == (True, False, True)
    for memory_id in (source.memory_id, derived.memory_id):
        assert {link.relation for link in backend.get(memory_id).links} == {"extracted_from", "mentions"}


@pytest.mark.parametrize("ends", [("there", MISSING), (MISSING, "there"), ("there", "nowhere")])
def test_a_link_needs_both_its_ends(backend: Backend, clock: FrozenClock, ends: tuple[str, str]) -> None:
    there = fact(backend, clock, FRIDAY).memory_id
    from_id, to_id = (there if end == "there" else end for end in ends)
    with pytest.raises(NotFound):
        backend.link(LinkRequest(from_id=from_id, to_id=to_id))


def test_what_is_superseded_is_no_longer_recalled_but_can_be_got(backend: Backend, clock: FrozenClock) -> None:
    old = fact(backend, clock, "部署在周五晚上", "部署")
    new = fact(backend, clock, "部署改到周四晚上", "部署")

    backend.link(LinkRequest(from_id=new.memory_id, to_id=old.memory_id, relation=SUPERSEDES))

    assert recalled(backend, "部署") == ["部署改到周四晚上"]
    assert backend.get(old.memory_id).content == "部署在周五晚上"


def test_facts_are_extracted_once_from_what_waits_for_it(backend: Backend, clock: FrozenClock) -> None:
    waiting = raw(backend, clock, "I live in Lisbon. My sister is called Ana.", lm_policy=LmPolicy.AUTO)
    raw(backend, clock, "I work in Porto, remember that.", lm_policy=LmPolicy.SKIP)

    done = backend.extract(ExtractRequest())
    again = backend.extract(ExtractRequest())

    assert (done.claimed, done.extracted, done.failed) == (1, 1, 0)
    assert (again.claimed, list(again.facts)) == (0, [])
    facts = [backend.get(memory_id) for memory_id in done.facts]
    assert facts
    assert {record.level for record in facts} == {Level.FACT}
    assert "Lisbon" in " ".join(record.content for record in facts)
    assert any(link.to_id == waiting.memory_id for record in facts for link in record.links)


def test_a_record_can_be_extracted_by_its_id_though_it_does_not_wait(backend: Backend, clock: FrozenClock) -> None:
    stored = raw(backend, clock, "I work in Porto, remember that.", lm_policy=LmPolicy.SKIP)
    done = backend.extract(ExtractRequest(memory_ids=[stored.memory_id]))
    assert (done.claimed, done.extracted) == (1, 1)
    with pytest.raises(NotFound):
        backend.extract(ExtractRequest(memory_ids=[MISSING]))
