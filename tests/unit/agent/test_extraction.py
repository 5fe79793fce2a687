"""Rules, prompts and answers, endpoints, the queue and what becomes of its entries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memex.extract.lm import Endpoint, FirstThatWorks, LmExtractor, chat_answer, chat_request
from memex.extract.parse import messages, parse_facts, said_of
from memex.extract.pipeline import MIRROR, PLAN, STORE, TURN, Pipeline, work_of_said
from memex.extract.queue import Queue, Status
from memex.extract.rules import Rules
from memex.extract.types import FactDraft, Said
from memex.hermes.model import hermes_endpoint
from memex.protocol.documents import store_document
from memex.protocol.errors import InvalidInput, RateLimited, SetupError, Unavailable
from memex.protocol.models import Level, StoreRequest
from memex.testing import FakeBackend, FrozenClock


@pytest.mark.parametrize(
    ("text", "topic", "keywords"),
    [
        ("主人偏好周五晚上部署", "preference", {"主人", "周五晚上", "部署"}),
        ("我不喝咖啡，下午最喜欢喝普洱茶。", "preference", {"咖啡", "普洱茶"}),
        ("记住，以后都用 uv 管理依赖，不要再用 pip。", "instruction", {"uv", "pip"}),
        ("我的生日是3月12日", "identity", {"生日", "3月12日"}),
        ("我們決定改用繁體中文寫文檔", "decision", {"決定"}),
        ("私は東京に住んでいます。", "identity", {"東京"}),
        ("娘のさくらはピーナッツアレルギーがあります。", "preference", {"ピーナッツアレルギー"}),
        ("来週の月曜日に大阪へ行く予定です。", "plan", {"月曜日", "大阪"}),
        ("I prefer tabs over spaces.", "preference", {"tabs", "spaces"}),
        ("My name is Ada and I live in Lisbon.", "identity", {"Ada", "Lisbon"}),
        ("We decided to use PostgreSQL 18 for memex_server.", "decision", {"PostgreSQL", "memex_server"}),
        ("From now on always answer in German.", "instruction", {"German"}),
    ],
)
def test_rules_take_what_will_still_hold(text: str, topic: str, keywords: set[str]) -> None:
    (draft,) = Rules().extract([Said("user", text)])
    assert (draft.content, draft.topic) == (text, topic)
    assert keywords <= set(draft.keywords)
    assert all(word in text for word in draft.keywords)


@pytest.mark.parametrize(
    "text",
    ["今天天气怎么样？", "帮我写一个函数", "我喜欢什么？", "このコードを直してください", "何が好きですか？", "Can you fix this bug?",
     "ok", "What do I like?", "Please write a haiku about rain.", "```\nI prefer code\n```"],
)  # fmt: skip
def test_rules_leave_questions_orders_and_small_talk(text: str) -> None:
    assert Rules().extract([Said("user", text)]) == []


def test_rules_do_not_mine_the_assistant() -> None:
    assert Rules().extract([Said("assistant", "I prefer tabs over spaces.")]) == []


@pytest.mark.parametrize(
    "answer",
    [
        '[{"content": "喜欢茶", "keywords": ["茶"], "topic": "饮料"}]',
        'Sure!\n```json\n[{"content": "喜欢茶", "keywords": ["茶"], "topic": "饮料"}]\n```',
        '<think>[1, 2] hmm</think>{"facts": [{"content": "喜欢茶", "keywords": ["茶"], "topic": "饮料"}]}',
        '{"content": "喜欢茶", "keywords": ["茶"], "topic": "饮料"}',
    ],
)
def test_a_model_s_answer_is_read_in_every_wrapping(answer: str) -> None:
    assert parse_facts(answer) == [FactDraft(content="喜欢茶", keywords=("茶",), topic="饮料")]


@pytest.mark.parametrize("answer", ["", "I cannot do that.", "[1, 2", "[[1]]", "<think>[]"])
def test_an_answer_without_facts_is_told(answer: str) -> None:
    with pytest.raises(ValueError, match="no JSON list"):
        parse_facts(answer)


def test_the_question_to_a_model_holds_no_tools_no_summaries_no_recalled_text_and_no_secret() -> None:
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "SYSTEM"},
        {"role": "user", "content": "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted"},
        {"role": "user", "content": "我的密钥是sk-abcdefghijklmnopqrstuvwx\n<memory-context>\nold\n</memory-context>"},
        {"role": "tool", "content": "TOOL OUTPUT"},
        {"role": "assistant", "content": None, "tool_calls": [{}]},
        {"role": "assistant", "content": [{"type": "text", "text": "好的"}, {"type": "image_url"}]},
    ]
    said = said_of(history)
    assert said == [Said("user", "我的密钥是[redacted]"), Said("assistant", "好的")]
    chat = messages(said, 1_000)
    assert "我的密钥是[redacted]" in chat[1]["content"]
    assert len(messages([Said("user", "长" * 5_000)], 1_000)[1]["content"]) < 1_100


def test_a_model_that_fails_makes_room_for_the_next() -> None:
    def down(_: Sequence[Mapping[str, str]]) -> str:
        raise Unavailable("down")

    first = LmExtractor("http_lm", down, max_chars=1_000)
    babbles = LmExtractor("session_lm", lambda _: "no idea", max_chars=1_000)
    found = FirstThatWorks([first, babbles, Rules()]).extract([Said("user", "I prefer tea.")])
    assert [draft.content for draft in found] == ["I prefer tea."]
    with pytest.raises(Unavailable, match="no JSON"):
        babbles.extract([Said("user", "x")])


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, SetupError), (404, SetupError), (429, RateLimited), (500, Unavailable), (302, Unavailable)],
)
def test_a_refusal_of_the_endpoint_is_the_error_that_it_means(status: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        chat_answer(status, b"{}")


def test_a_chat_is_asked_and_answered() -> None:
    url, headers, body = chat_request(
        Endpoint("http://127.0.0.1:1234/v1/", "m", "k"), [{"role": "user", "content": "茶"}]
    )
    assert (url, headers["Authorization"]) == ("http://127.0.0.1:1234/v1/chat/completions", "Bearer k")
    assert json.loads(body)["model"] == "m"
    assert "Authorization" not in chat_request(Endpoint("http://x", "m"), [])[1]
    assert chat_answer(200, b'{"choices": [{"message": {"content": "[]"}}]}') == "[]"
    with pytest.raises(Unavailable):
        chat_answer(200, b"<html>")


@pytest.mark.parametrize(
    ("config", "auth", "env", "expected"),
    [
        ({"model": {"default": "m", "base_url": "http://h/v1", "api_key": "${K}"}}, {}, {"K": "k"}, Endpoint("http://h/v1", "m", "k")),
        ({"model": {"default": "m", "provider": "openrouter"}}, {}, {"OPENROUTER_API_KEY": "k"}, Endpoint("https://openrouter.ai/api/v1", "m", "k")),
        # a key goes to its own host only
        ({"model": {"default": "m", "provider": "openrouter", "base_url": "http://evil/v1"}}, {}, {"OPENROUTER_API_KEY": "k"}, Endpoint("http://evil/v1", "m")),
        ({"model": {"default": "m", "provider": "custom:box"}, "custom_providers": [{"name": "box", "base_url": "http://b/v1", "key_env": "B"}]}, {}, {"B": "k"}, Endpoint("http://b/v1", "m", "k")),
        ({"model": "m", "providers": {"": {"url": "http://p/v1", "api_key": "no-key-required"}}}, {}, {}, Endpoint("http://p/v1", "m")),
        (
            {"model": {"default": "m", "provider": "zai"}},
            {"credential_pool": {"zai": [{"auth_type": "oauth", "access_token": "o", "base_url": "http://o"}, {"auth_type": "api_key", "priority": 1, "access_token": "k", "base_url": "http://z/v4"}]}},
            {},
            Endpoint("http://z/v4", "m", "k"),
        ),
    ],
)  # fmt: skip
def test_the_host_s_endpoint_is_read_from_its_settings(
    config: dict[str, Any], auth: dict[str, Any], env: dict[str, str], expected: Endpoint
) -> None:
    assert hermes_endpoint(config, auth, env) == expected


@pytest.mark.parametrize(
    "config",
    [{}, {"model": "m"}, {"model": {"default": "m", "base_url": "http://x", "api_mode": "anthropic_messages"}}],
)
def test_a_host_without_a_usable_endpoint_is_told(config: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match="MEMEX_EXTRACT_LM_URL"):
        hermes_endpoint(config, {}, {})


class Scripted:
    """An executor that gives, or raises, one thing after the other."""

    name = "scripted"

    def __init__(self, *results: list[FactDraft] | Exception) -> None:
        self.results = list(results)

    def extract(self, said: Sequence[Said]) -> list[FactDraft]:
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def queue(tmp_path: Path, clock: FrozenClock) -> Queue:
    ids = iter(range(10_000))
    return Queue(tmp_path / "memex-pending.jsonl", clock=clock, new_id=lambda: f"e{next(ids)}")


def pipeline(queue: Queue, clock: FrozenClock, backend: FakeBackend, executor: Scripted | None = None) -> Pipeline:
    return Pipeline(queue, backend, extractor=executor, planner=executor, source_type="memory", clock=clock)


def turn(queue: Queue, clock: FrozenClock, text: str = "I like tea.", kind: str = TURN) -> None:
    queue.put(
        kind, work_of_said([Said("user", text)], occurred_at=clock(), trigger="turn", origin={"session_id": "s1"})
    )


def test_a_failure_is_tried_again_after_a_rest_and_given_up_with_its_reason(queue: Queue, clock: FrozenClock) -> None:
    backend = FakeBackend(clock)
    work = pipeline(queue, clock, backend, Scripted(*[Unavailable(f"down {n}") for n in range(5)]))
    turn(queue, clock)
    for _ in range(5):
        assert work.extract().done == 0
        assert work.extract().waiting in {0, 1}  # at once it is not due
        clock.advance(seconds=7_200)
    (entry,) = queue.entries()
    assert (entry.status, entry.attempts, entry.error) == (Status.FAILED, 5, "scripted: down 4")
    assert queue.stats()["errors"][0]["error"] == "scripted: down 4"


def test_drafts_outlive_an_outage_of_the_backend_and_the_model_is_asked_once(queue: Queue, clock: FrozenClock) -> None:
    backend = FakeBackend(clock)
    work = pipeline(queue, clock, backend, Scripted([FactDraft(content="喜欢茶", keywords=("茶",))]))
    turn(queue, clock)
    backend.failure = Unavailable("away")
    assert work.extract().error == "away"
    backend.failure = None
    done = work.extract()
    assert (done.done, done.facts, done.waiting) == (1, 1, 0)
    (record,) = backend.records.values()
    assert (record.content, record.level, record.keywords) == ("喜欢茶", Level.FACT, ("茶",))
    assert record.payload == {"trigger": "turn", "session_id": "s1"}


def test_delivery_keeps_its_order_waits_in_an_outage_and_gives_up_what_can_never_work(
    queue: Queue, clock: FrozenClock
) -> None:
    backend = FakeBackend(clock)
    work = pipeline(queue, clock, backend)
    for text in ("一", "二", "三"):
        queue.put(STORE, {"requests": [store_document(StoreRequest(content=text, occurred_at=clock()))]})
    queue.put(STORE, {"requests": [{"content": "without a time"}]})
    backend.failure = Unavailable("away")
    assert (work.deliver().waiting, work.deliver().error) == (4, "away")
    backend.failure = None
    done = work.deliver()
    assert (done.done, done.failed, done.waiting) == (3, 1, 0)
    assert [record.content for record in backend.records.values()] == ["一", "二", "三"]
    backend.failure = InvalidInput("never")
    queue.put(STORE, {"requests": [store_document(StoreRequest(content="四", occurred_at=clock()))]})
    assert work.deliver().failed == 1
    assert queue.entries()[-1].error == "InvalidInput: never"


def test_a_replaced_or_removed_entry_of_the_host_s_memory_is_not_recalled(queue: Queue, clock: FrozenClock) -> None:
    backend = FakeBackend(clock)
    work = pipeline(queue, clock, backend)
    base = {"target": "user", "old_text": "", "previous_content": "", "occurred_at": clock().isoformat(), "origin": {}}
    for action, content, old in (
        ("add", "喜欢绿茶", ""),
        ("replace", "喜欢红茶", "绿茶"),
        ("add", "住在上海", ""),
        ("remove", "", "上海"),
    ):
        queue.put(MIRROR, {**base, "action": action, "content": content, "old_text": old})
    queue.put(MIRROR, {**base, "action": "remove", "content": "", "old_text": "never there"})
    assert work.deliver().done == 5
    hidden = {backend.records[i].content for i in backend._superseded}
    assert hidden == {"喜欢绿茶", "住在上海"}


def test_a_plan_with_a_key_is_taken_once(queue: Queue) -> None:
    assert queue.put(PLAN, {}, key="plan-1")
    assert not queue.put(PLAN, {}, key="plan-1")


def test_a_line_that_a_crash_cut_short_costs_nothing_else(queue: Queue, clock: FrozenClock) -> None:
    turn(queue, clock)
    with queue.path.open("ab") as file:
        file.write(b'{"id": "e9", "kind": "turn", "sta')
    turn(queue, clock, "and more")
    assert [entry.id for entry in queue.entries()] == ["e0", "e1"]
    assert queue.path.stat().st_mode & 0o777 == 0o600


def test_the_log_is_cut_to_what_is_open_and_the_last_that_is_done(queue: Queue, clock: FrozenClock) -> None:
    turn(queue, clock, "open and kept " + "x" * 2_000)
    for number in range(600):
        queue.put(STORE, {"text": f"{number}" + "y" * 2_000})
        with queue.lane("deliver", frozenset({STORE})) as lane:
            assert lane is not None
            lane.done(lane.open_entries()[0]) if number % 50 == 0 else None
    entries = queue.entries()
    assert queue.path.stat().st_size < 2_500_000
    assert entries[0].data["said"][0][1].startswith("open and kept")
    assert sum(entry.status is Status.DONE for entry in entries) == 12


def test_one_works_on_a_lane_at_a_time(queue: Queue) -> None:
    with queue.lane("extract", frozenset({TURN})) as first, queue.lane("extract", frozenset({TURN})) as second:
        assert first is not None
        assert second is None
    with queue.lane("extract", frozenset({TURN})) as again, queue.lane("deliver", frozenset({STORE})) as other:
        assert again is not None
        assert other is not None
