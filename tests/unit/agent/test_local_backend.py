"""What only the local backend does; the contract suite has the rest."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from memex.backend.local import LocalBackend
from memex.matrix.lcm import Conversations, SourceState, open_read_only
from memex.protocol.errors import NotFound, SetupError, Unavailable
from memex.protocol.models import (
    SUPERSEDES,
    ExtractRequest,
    Level,
    LinkRequest,
    LmPolicy,
    PreExtracted,
    RecallRequest,
    StoreRequest,
    StoreResult,
)
from memex.testing import FrozenClock

SAID = "主人偏好周五晚上部署"
_SOURCES = ["lcm070.db", "lcm019.db"]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def lcm(tmp_path: Path, checkout: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of a real lcm.db; the folder's name is awkward on purpose."""
    fixtures = checkout.parent / "shared" / "fixtures" / "lcm"
    if not fixtures.is_dir():
        pytest.skip("the lcm.db files are not beside this checkout")
    folder = tmp_path / "a #1? folder"
    folder.mkdir()
    return Path(shutil.copy(fixtures / request.param, folder / "lcm.db"))


def backend(tmp_path: Path, clock: FrozenClock, lcm: Path | None = None) -> LocalBackend:
    return LocalBackend(tmp_path / "memex.db", conversations=Conversations(lcm) if lcm else None, clock=clock)


def raw(
    memory: LocalBackend, clock: FrozenClock, text: str, role: str = "user", session: str = "sess-1"
) -> StoreResult:
    payload = {"session_id": session, "role": role}
    return memory.store(StoreRequest(content=text, occurred_at=clock(), payload=payload, lm_policy=LmPolicy.SKIP))


def kept_text(tmp_path: Path, memory_id: str) -> str | None:
    connection = sqlite3.connect(tmp_path / "memex.db")
    (text,) = connection.execute("SELECT content FROM record WHERE memory_id = ?", (memory_id,)).fetchone()
    connection.close()
    return None if text is None else str(text)


@pytest.mark.parametrize("lcm", _SOURCES, indirect=True)
def test_what_the_host_keeps_is_pointed_to_and_found_again(tmp_path: Path, clock: FrozenClock, lcm: Path) -> None:
    before = hashlib.sha256(lcm.read_bytes()).digest()
    memory = backend(tmp_path, clock, lcm)
    stored = raw(memory, clock, SAID)
    assert kept_text(tmp_path, stored.memory_id) is None
    (found,) = memory.recall(RecallRequest(query="周五")).records
    assert (found.content, found.payload["src_store_id"]) == (SAID, 1)
    assert memory.get(stored.memory_id).content == SAID
    assert hashlib.sha256(lcm.read_bytes()).digest() == before


@pytest.mark.parametrize("lcm", _SOURCES, indirect=True)
def test_a_turn_that_the_host_takes_in_later_is_pointed_to_later(tmp_path: Path, clock: FrozenClock, lcm: Path) -> None:
    memory = backend(tmp_path, clock, lcm)
    stored = raw(memory, clock, "東京で会いましょう")
    assert kept_text(tmp_path, stored.memory_id) == "東京で会いましょう"
    with sqlite3.connect(lcm) as connection:
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('sess-1', 'user', '東京で会いましょう', 1.0)"
        )
    assert memory.settle_pointers() == 1
    assert kept_text(tmp_path, stored.memory_id) is None
    assert memory.get(stored.memory_id).content == "東京で会いましょう"


@pytest.mark.parametrize("lcm", _SOURCES, indirect=True)
def test_another_text_behind_a_pointer_is_never_shown(tmp_path: Path, clock: FrozenClock, lcm: Path) -> None:
    memory = backend(tmp_path, clock, lcm)
    stored = raw(memory, clock, SAID)
    with sqlite3.connect(lcm) as connection:
        connection.execute("UPDATE messages SET content = 'somebody else said this' WHERE store_id = 1")
    assert memory.recall(RecallRequest(query="周五")).records == ()
    with pytest.raises(NotFound, match="gone from the host's store"):
        memory.get(stored.memory_id)
    lcm.unlink()
    with pytest.raises(NotFound, match="gone"):
        memory.get(stored.memory_id)


@pytest.mark.parametrize("kind", ["absent", "garbage", "foreign", "folder"])
def test_without_a_known_source_the_text_is_kept_here(tmp_path: Path, clock: FrozenClock, kind: str) -> None:
    path = tmp_path / "lcm.db"
    if kind == "garbage":
        path.write_bytes(b"no database at all" * 500)
    elif kind == "folder":
        path.mkdir()
    elif kind == "foreign":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE messages (message_id, conversation_id, seq, role, content)")
    expected = SourceState.UNKNOWN if kind in {"garbage", "foreign"} else SourceState.ABSENT
    assert Conversations(path).state() is expected
    memory = backend(tmp_path, clock, path)
    stored = raw(memory, clock, SAID)
    assert kept_text(tmp_path, stored.memory_id) == SAID
    assert memory.get(stored.memory_id).content == SAID


@pytest.mark.parametrize("lcm", _SOURCES, indirect=True)
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM messages",
        "UPDATE messages SET content = ''",
        "INSERT INTO messages_fts (messages_fts) VALUES ('rebuild')",
        "DROP TABLE messages",
        "PRAGMA query_only = OFF",
        "PRAGMA journal_mode = DELETE",
        "ATTACH ':memory:' AS other",
        "VACUUM",
    ],
)
def test_the_host_s_store_refuses_every_write(lcm: Path, statement: str) -> None:
    connection = open_read_only(lcm)
    with pytest.raises(sqlite3.DatabaseError, match=r"authoriz|readonly"):
        connection.execute(statement)
    assert connection.execute("SELECT count(*) FROM messages").fetchone()[0] >= 3
    connection.close()


def fact(memory: LocalBackend, clock: FrozenClock, text: str, *keywords: str, **more: str) -> StoreResult:
    return memory.store(
        StoreRequest(
            content=text,
            occurred_at=clock(),
            level=Level.FACT,
            lm_policy=LmPolicy.SKIP,
            pre_extracted=PreExtracted(content=text, keywords=keywords),
            payload=more,
        )
    )


def test_one_character_finds_a_chinese_sentence(tmp_path: Path, clock: FrozenClock) -> None:
    memory = backend(tmp_path, clock)
    fact(memory, clock, "我家养了一只黑猫")
    fact(memory, clock, "下午喝普洱茶")
    for character, text in (("猫", "我家养了一只黑猫"), ("茶", "下午喝普洱茶")):
        (found,) = memory.recall(RecallRequest(query=character)).records
        assert found.content == text


def test_the_newest_of_two_equal_facts_comes_first(tmp_path: Path, clock: FrozenClock) -> None:
    memory = backend(tmp_path, clock)
    fact(memory, clock, "部署时间是周五晚上", "部署")
    clock.advance(seconds=3 * 86_400)
    fact(memory, clock, "部署时间是周六晚上", "部署")
    for request in (RecallRequest(keywords=["部署"]), RecallRequest(query="部署时间")):
        assert memory.recall(request).records[0].content == "部署时间是周六晚上"


def test_an_old_exact_answer_ranks_above_yesterday_s_noise(tmp_path: Path, clock: FrozenClock) -> None:
    memory = backend(tmp_path, clock)
    fact(memory, clock, "The production database password rotation runs every first Monday.")
    clock.advance(seconds=300 * 86_400)
    for day in ("Monday", "Tuesday", "Friday"):
        fact(memory, clock, f"We had lunch on {day}.")
    found = memory.recall(RecallRequest(query="when does the production database password rotation run?")).records
    assert found[0].content.startswith("The production database")


def test_extraction_does_not_bring_back_what_was_taken_back(tmp_path: Path, clock: FrozenClock) -> None:
    memory = backend(tmp_path, clock)
    old = fact(memory, clock, "I like green tea.")
    new = fact(memory, clock, "I like black tea.")
    memory.link(LinkRequest(from_id=new.memory_id, to_id=old.memory_id, relation=SUPERSEDES))
    again = fact(memory, clock, "I like green tea.", trigger="session_end")
    assert again == StoreResult(memory_id=old.memory_id, level=Level.FACT, deduplicated=True)
    assert [r.content for r in memory.recall(RecallRequest(query="tea")).records] == ["I like black tea."]
    told = fact(memory, clock, "I like green tea.", trigger="manual")
    assert told.memory_id != old.memory_id
    assert {r.content for r in memory.recall(RecallRequest(query="tea")).records} == {
        "I like green tea.",
        "I like black tea.",
    }


def test_the_database_is_its_owner_s_alone_and_a_newer_one_is_refused(tmp_path: Path, clock: FrozenClock) -> None:
    memory = backend(tmp_path, clock)
    memory.health()
    assert (tmp_path / "memex.db").stat().st_mode & 0o777 == 0o600
    memory.close()
    with sqlite3.connect(tmp_path / "memex.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(SetupError, match="newer memex"):
        backend(tmp_path, clock).health()


def test_a_damaged_database_is_an_outage_and_not_a_crash(tmp_path: Path, clock: FrozenClock) -> None:
    (tmp_path / "memex.db").write_bytes(b"this is no database " * 300)
    with pytest.raises(Unavailable, match="not a database"):
        backend(tmp_path, clock).health()


def test_facts_of_a_pointed_turn_are_extracted_from_the_host_s_text(
    tmp_path: Path, clock: FrozenClock, checkout: Path
) -> None:
    path = tmp_path / "lcm.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE messages (store_id INTEGER PRIMARY KEY, session_id, role, content, timestamp)")
        connection.execute("INSERT INTO messages VALUES (7, 'sess-1', 'user', ?, 1.0)", (SAID,))
    memory = backend(tmp_path, clock, path)
    stored = memory.store(
        StoreRequest(content=SAID, occurred_at=clock(), payload={"session_id": "sess-1", "role": "user"})
    )
    assert kept_text(tmp_path, stored.memory_id) is None
    done = memory.extract(ExtractRequest())
    assert (done.claimed, done.failed, len(done.facts)) == (1, 0, 1)
    assert memory.get(done.facts[0]).keywords == ("主人", "周五晚上", "部署")
    path.unlink()
    assert memory.extract(ExtractRequest(memory_ids=[stored.memory_id])).failed == 1
