"""Text in every script is kept apart, kept whole and found; what no database can hold is refused."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from memex.core.memory import Filters, Patch, SearchMode, SearchRequest
from memex.protocol.errors import InvalidInput
from memex.testing import FrozenClock
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from tests.integration.support import all_listed, found, make_service, memory, store_all, value

MODES = [SearchMode.HYBRID, SearchMode.SEMANTIC, SearchMode.KEYWORD]
# Small talk in the same scripts, among which each text must be found.
NOISE = [
    "The weather was fine today", "今天天气不错", "我们去公园散步", "今日は暑いですね", "明日また電話します", "오늘은 비가 와요",
    "Es hat den ganzen Tag geregnet", "Il a plu toute la journée", "сегодня хорошая погода", "الطقس جميل", "מזג האוויר נעים", "อากาศดี",
]  # fmt: skip
FINDS = [
    ("周五", "主人偏好周五晚上部署"),
    ("東京", "東京で会いましょう"),
    ("部署", "主人偏好周五晚上部署"),
    ("普洱茶", "我喜欢普洱茶"),
    ("健身", "我喜欢健身"),
    ("會議", "会议在星期三下午"),
    ("会议", "會議在星期三下午"),
    ("ＡＢＣ商事", "ABC商事の担当者"),
    ("ｶﾀｶﾅ", "カタカナの名前"),
    ("１２３", "部屋は123号室"),
    ("がくせい", "か\u3099くせいです"),
    ("회의", "금요일 회의는 취소되었습니다"),
    ("서울에서", "서울 사무실"),
    ("cafe", "das Café am Markt"),
    ("naïve", "a naive plan"),
    ("STRASSE", "die lange Straße"),
    ("Müller", "Frau Mu\u0308ller"),
    ("école", "l'ECOLE est fermée"),
    ("книга", "новая Книга на столе"),
    ("مرحبا", "قال مَرْحَبًا للجميع"),
    ("שלום", "הוא אמר שָׁלוֹם"),
    ("กาแฟ", "ชอบดื่มกาแฟดำ"),
    ("नमस्ते", "उसने नमस्ते कहा"),
    ("İstanbul", "istanbul'da buluşalım"),
    ("ﬁle", "the file is ready"),
    ("v1.2.3", "release v1.2.3 of memex-core"),
    ("memex-core", "release v1.2.3 of memex-core"),
    ("zero\u200bwidth", "zerowidth joiner"),
]


async def test_a_word_finds_its_text_in_every_script(service: MemoryService) -> None:
    texts = list(dict.fromkeys([*NOISE, *(text for _, text in FINDS)]))
    stored = await store_all(service, [memory(text) for text in texts])
    assert [s.memory.content for s in stored] == texts
    missed = []
    for word, text in FINDS:
        got = await found(service, word, mode=SearchMode.KEYWORD, top_k=5)
        if text not in got:
            missed.append((word, text, got))
    assert missed == []


@pytest.mark.parametrize(
    ("word", "text"),
    [FINDS[0], FINDS[1], ("普洱茶好喝吗", "我喜欢普洱茶"), ("friday meeting", "the Friday meeting is off")],
)
async def test_a_text_is_found_first_by_its_words(service: MemoryService, word: str, text: str) -> None:
    await store_all(service, [memory(noise) for noise in NOISE])
    await service.store(memory(text))
    for mode in MODES:
        assert (await found(service, word, mode=mode, top_k=1)) == [text], mode


DIFFERENT = [
    ("我喜欢健身", "我喜欢普洱茶"),
    ("我在北京", "我在南京"),
    ("明日会う", "昨日会う"),
    ("はし", "ばし"),
    ("가다", "나다"),
    ("I like tea", "I like tea."),
    ("Polish", "polish"),
    ("resume", "résumé"),
    ("1,000", "1.000"),
    ("ﬁ", "fi"),
    ("東京", "东京"),
    ("👍", "👎"),
    ("a\u200bb", "ab"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
async def test_texts_that_differ_are_two_memories(database: Database, clock: FrozenClock, one: str, other: str) -> None:
    service = make_service(database, clock)
    first, second = await service.store(memory(one)), await service.store(memory(other))
    assert first.created
    assert second.created
    assert await all_listed(service) == [other, one]


@pytest.mark.timeout(180)
async def test_4000_different_sentences_make_4000_rows(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock)
    parts = (
        ["我", "你", "他", "她", "小明"],
        ["喜欢", "讨厌", "想要", "买了"],
        ["红", "黄", "蓝", "绿"],
        ["茶", "书", "车", "花", "鱼"],
    )
    chinese = ["".join(words) for words in itertools.product(*parts)]
    who = ["Ann", "Bob", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida", "Jo"]
    english = [f"{a} owes {b} {n} yen" for a in who for b in who for n in range(18)]
    japanese = [f"{n}番目の駅で{a}さんに会う" for n in range(180) for a in who]
    sentences = [*chinese, *english, *japanese]
    assert len(set(sentences)) == len(sentences) == 4000
    stored = await store_all(service, [memory(text) for text in sentences], batch=1000)
    assert all(s.created for s in stored)
    assert await service.count(user_id="ann") == 4000
    again = await store_all(service, [memory(text) for text in sentences[::7]])
    assert not any(s.created for s in again)
    assert await found(service, "小明讨厌绿鱼", top_k=1) == ["小明讨厌绿鱼"]


KEPT = [
    "tab\tand\nline\r\nend", "\x01\x02\x1b[31m", "a\u200db\u200cc", "\ufeffbom", "\u202eright to left\u202c", "👩‍👩‍👧‍👦", "e\u0301" * 20, "\U0001f980\U00020000",
    "\u2028\u2029", "\ufffe\uffff", "\x7f", "  spaces kept  ", "'; DROP TABLE memories; --", "{row} $1 %s", "\\x00\\u0000", "<|endoftext|>",
]  # fmt: skip


async def test_odd_characters_are_kept_as_they_are_in_every_field(database: Database, clock: FrozenClock) -> None:
    service = make_service(database, clock)
    for text in KEPT:
        name = f"{text}!"  # an id needs something that can be seen
        new = memory(
            name, user_id=name, agent_id=name, tags=(text,), metadata={text: [text]}, source=text, session_id=name
        )
        stored = (await service.store(new)).memory
        assert stored == await service.get(stored.id, user_id=name, agent_id=name)
        assert (stored.content, stored.user_id, stored.tags, stored.metadata, stored.source) == (
            name,
            name,
            (text,),
            {text: [text]},
            text,
        )
        assert await found(service, text, user_id=name, agent_id=name, tags=(text,), metadata={text: [text]}) == [name]
        assert await all_listed(service, user_id=name) == [name]


BAD = ["\x00", "nul\x00inside", "\ud800", "健身\udfff", "\udc00\ud800", "end\ud83d"]
NOWHERE = UUID(int=1)
Call = Callable[[MemoryService, str], Awaitable[Any]]


def search(**fields: Any) -> Call:
    def call(service: MemoryService, bad: str) -> Awaitable[Any]:
        filled = {name: make(bad) for name, make in fields.items()}
        return service.search(SearchRequest(**({"user_id": "ann", "query": "q"} | filled)))

    return call


CALLS: dict[str, Call] = {
    "content": lambda s, bad: s.store(memory(f"text {bad}")),
    "user": lambda s, bad: s.store(memory("x", user_id=bad)),
    "agent": lambda s, bad: s.store(memory("x", agent_id=bad)),
    "tag": lambda s, bad: s.store(memory("x", tags=("ok", bad))),
    "metadata key": lambda s, bad: s.store(memory("x", metadata={bad: 1})),
    "metadata value": lambda s, bad: s.store(memory("x", metadata={"a": [{"b": bad}]})),
    "source": lambda s, bad: s.store(memory("x", source=bad)),
    "session": lambda s, bad: s.store(memory("x", session_id=bad)),
    "key": lambda s, bad: s.store(memory("x"), idempotency_key=bad),
    "query": search(query=str),
    "search user": search(user_id=str),
    "search agent": search(filters=lambda bad: Filters(agent_id=bad)),
    "search tag": search(filters=lambda bad: Filters(tags=(bad,))),
    "search metadata key": search(filters=lambda bad: Filters(metadata={bad: 1})),
    "search metadata value": search(filters=lambda bad: Filters(metadata={"a": {"$in": ["x", bad]}})),
    "patch content": lambda s, bad: s.patch(NOWHERE, Patch(content=bad + "x")),
    "patch tag": lambda s, bad: s.patch(NOWHERE, Patch(tags=(bad,))),
    "patch metadata": lambda s, bad: s.patch(NOWHERE, Patch(metadata={"k": bad})),
    "patch source": lambda s, bad: s.patch(NOWHERE, Patch(source=bad)),
    "patch session": lambda s, bad: s.patch(NOWHERE, Patch(session_id=bad)),
    "patch user": lambda s, bad: s.patch(NOWHERE, Patch(importance=1), user_id=bad),
    "get": lambda s, bad: s.get(NOWHERE, user_id=bad),
    "get agent": lambda s, bad: s.get(NOWHERE, agent_id=bad),
    "delete": lambda s, bad: s.delete(NOWHERE, user_id=bad),
    "restore": lambda s, bad: s.restore(NOWHERE, agent_id=bad),
    "history": lambda s, bad: s.history(NOWHERE, user_id=bad),
    "count": lambda s, bad: s.count(user_id=bad),
    "count agent": lambda s, bad: s.count(user_id="ann", agent_id=bad),
    "delete scope": lambda s, bad: s.delete_scope(user_id=bad),
    "delete agent": lambda s, bad: s.delete_scope(user_id="ann", agent_id=bad),
    "list": lambda s, bad: s.list(user_id=bad),
    "list agent": lambda s, bad: s.list(user_id="ann", agent_id=bad),
    "list tag": lambda s, bad: s.list(user_id="ann", tags=(bad,)),
    "cursor": lambda s, bad: s.list(user_id="ann", cursor=bad),
}


async def test_what_cannot_be_stored_as_text_is_refused_in_every_field(
    database: Database, clock: FrozenClock, dsn: str
) -> None:
    service = make_service(database, clock)
    for name, call in CALLS.items():
        for bad in BAD:
            try:
                await call(service, bad)
            except InvalidInput:
                continue
            pytest.fail(f"{name} took {bad!r}")
    assert await value(dsn, "SELECT count(*) FROM memories") == 0
