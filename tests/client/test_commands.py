"""The commands for memories, run as `memex` runs them, against the real service."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memex.cli import main
from memex.client import Memex
from memex.commands.output import one_line, safe, width_of
from memex_server.lifecycle_ports import Job
from tests.live import Live

FRIDAY = "主人偏好周五晚上部署"
MISSING = "00000000-0000-7000-8000-000000000000"


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(live: Live, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("MEMEX_URL", live.url)
    monkeypatch.setenv("MEMEX_USER_ID", "user-123")

    def run(*arguments: str, given: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return run


def test_what_is_stored_is_found_shown_listed_counted_and_deleted(run: Run) -> None:
    stored = run("store", FRIDAY, "--type", "semantic", "--tag", "ops", "--at", "2026-05-26T10:30:00Z", "--json").json()
    assert (stored["created"], stored["user_id"], stored["agent_id"]) == (True, "user-123", "memex-cli")
    memory_id = stored["id"]

    assert run("search", "周五", "部署").out.splitlines()[1].strip() == FRIDAY
    assert [hit["id"] for hit in run("search", "部署", "--json").json()["results"]] == [memory_id]
    shown = run("get", memory_id)
    assert shown.out.startswith(f"{FRIDAY}\n")
    assert "2026-05-26" in shown.out
    assert run("get", memory_id, "--json").json()["tags"] == ["ops"]
    assert memory_id in run("list").out
    assert run("list", "--tag", "none", "--json").json() == {"memories": []}
    assert (run("count").out, run("count", "--agent", "nobody", "--json").json()["count"]) == ("1\n", 0)
    assert run("store", FRIDAY, "--type", "semantic", "--at", "2026-05-26T10:30:00Z").out.endswith("was there, told 2 times\n")  # fmt: skip
    assert run("delete", memory_id).out == f"{memory_id}  deleted\n"
    assert run("count").out == "0\n"
    assert "(deleted)" in run("list", "--state", "deleted").out
    assert len(run("delete", memory_id, "--purge", "--json").json()["content_sha256"]) == 64


def test_what_the_gate_kept_can_be_changed_taken_back_restored_and_followed(run: Run) -> None:
    kept = run("remember", "记住：主人偏好周五晚上部署", "--tag", "ops", "--json").json()
    memory_id = kept["id"]
    assert kept["outcome"] == "stored"
    skipped = run("remember", "-", given="ok\n").out
    assert skipped.startswith("-  skipped: ")

    block = run("context", "什么时候", "部署？", "--tokens", "200")
    assert block.out.startswith("<memex-memory>\n")
    assert "周五晚上部署" in block.out
    assert run("context", "部署", "--agent", "nobody").err == "nothing found\n"
    assert run("context", "部署", "--json").json()["ids"] == [memory_id]

    assert run("update", memory_id, "--text", "主人偏好周四晚上部署", "--tag", "", "--pinned", "yes").out == (
        f"{memory_id}  updated\n"
    )
    changed = run("get", memory_id, "--json").json()
    assert (changed["content"], changed["tags"], changed["pinned"]) == ("主人偏好周四晚上部署", [], True)
    assert run("update", memory_id).err.startswith("memex: nothing to change")

    run("delete", memory_id)
    assert run("restore", memory_id).out == f"{memory_id}  restored\n"
    assert run("retract", memory_id, "误会").out == f"{memory_id}  retracted\n"
    assert run("remember", "记住：主人偏好周四晚上部署").out.startswith("-  skipped: the claim was retracted")
    steps = run("history", memory_id, "--json").json()["versions"]
    assert [step["action"] for step in steps] == ["created", "updated", "deleted", "restored", "retracted"]
    assert {step["actor"] for step in steps} == {"memex-cli"}
    assert "误会" in run("history", memory_id).out.splitlines()[-1]


def test_a_text_may_come_from_standard_input(run: Run) -> None:
    run("store", "-", given="東京で会いましょう\n二行目\n")
    assert run("list", "--json").json()["memories"][0]["content"] == "東京で会いましょう\n二行目"


def test_explain_shows_every_signal_its_weight_and_share_and_the_arms(run: Run) -> None:
    run("store", FRIDAY)
    text = run("search", "周五部署", "--explain").out
    assert "found by semantic, keyword" in text
    rows = {
        line.split()[0]: line.split()[1:]
        for line in text.splitlines()
        if line.startswith("    ") and len(line.split()) == 4
    }
    explanation = run("search", "周五部署", "--explain", "--json").json()["results"][0]["explanation"]
    assert set(rows) == {*explanation["components"], *explanation["signals"]}
    value, weight, share = (float(number) for number in rows["similarity"])
    assert value * weight == pytest.approx(share, abs=0.002)


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (["get", MISSING], 3, "no memory"),
        (["delete", MISSING], 3, "no memory"),
        (["get", "周五"], 2, "is not the id of a memory"),
        (["store", " "], 2, "content"),
        (["search", "x", "--top-k", "0"], 2, "top_k"),
        (["search", "x", "--from", "gestern"], 2, "time_from"),
        (["list", "--limit", "-1"], 2, "--limit"),
        (["import", "no-such-file.jsonl"], 1, "no-such-file.jsonl"),
        (["count", "--url", "nowhere"], 1, "--url: expected an address"),
        (["count", "--url", "http://127.0.0.1:1"], 4, "does not answer"),
    ],
)
def test_a_failure_is_one_line_on_stderr_and_a_documented_status(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, reason: str
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    ran = run(*arguments)
    assert (ran.status, ran.out) == (status, "")
    assert ran.err.startswith("memex: ")
    assert reason in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["search"], ["store"], ["list", "--type", "nonsense"], ["nonsense"], []])
def test_wrong_usage_is_status_2(run: Run, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*arguments)
    assert caught.value.code == 2


def test_finding_nothing_is_no_failure(run: Run) -> None:
    ran = run("search", "量子")
    assert (ran.status, ran.out, ran.err) == (0, "", "nothing found\n")


def test_status_shows_settings_with_their_source_and_never_a_token(
    run: Run, monkeypatch: pytest.MonkeyPatch, live: Live
) -> None:
    monkeypatch.setenv("MEMEX_API_TOKEN", "a-very-secret-token-1234")
    ran = run("status", "--agent", "scout")
    assert ran.status == 0
    for expected in (live.url, "MEMEX_URL", "user-123", "MEMEX_USER_ID", "scout", "option", "…1234", "service: ok"):
        assert expected in ran.out
    failed: dict[str, Any] = {"kind": "consolidate", "payload": {"user_id": "ann"}, "last_error": "the model is down"}
    job = Job(
        id=UUID(int=7), key="3:annscout", state="dead", attempts=6, run_at=live.now(), created_at=live.now(),
        updated_at=live.now(), **failed,
    )  # fmt: skip

    async def dead(**asked: Any) -> list[Job]:
        assert asked["state"] == "dead"
        return [job]

    monkeypatch.setattr(live.service, "jobs", dead)
    assert f"dead job {job.id}: consolidate (user_id ann): the model is down" in run("status").out
    document = run("status", "--json").json()
    assert document["service"]["dead_jobs"] == [{"id": str(job.id), **failed}]
    assert document["settings"]["agent"] == {"value": "memex-cli", "source": "default"}
    assert "very-secret" not in ran.out + json.dumps(document)


def test_status_shows_the_hermes_plugin_too_where_there_is_one(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "plugin" not in run("status", "--json").json()
    (tmp_path / ".hermes" / "plugins" / "memex").mkdir(parents=True)
    plugin = run("status", "--json").json()["plugin"]
    assert (plugin["backend"]["status"], plugin["queue"]["open"]) == ("ok", 0)
    assert "MEMEX_BACKEND_KIND" in run("status").out


def test_status_and_health_tell_that_the_service_is_away(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setenv("MEMEX_URL", "http://127.0.0.1:1")
    ran = run("status")
    assert (ran.status, ran.err) == (4, "")
    assert "service: down" in ran.out
    assert run("health").status == 4


def test_health_says_ok(run: Run) -> None:
    assert run("health").out.startswith("ok  memex ")
    assert run("health", "--json").json()["status"] == "ok"


# -- export and import -------------------------------------------------------------------------------


def test_what_is_exported_can_be_imported_elsewhere_and_again_without_repeats(
    run: Run, tmp_path: Path, client: Memex
) -> None:
    client.store_batch([{"content": f"记忆 {n}", "tags": ["t"], "metadata": {"n": n}} for n in range(250)])
    file = tmp_path / "memories.jsonl"

    assert run("export", str(file)).out == f"250 memories in {file}\n"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["content"] for line in lines] == [f"记忆 {n}" for n in range(250)]
    assert run("export").out.splitlines() == lines  # to standard output
    assert run("import", str(file)).out == "0 stored, 250 were there, 0 failed\n"

    assert run("import", str(file), "--user", "other").out == "250 stored, 0 were there, 0 failed\n"
    assert run("import", str(file), "--user", "other", "--json").json() == {"stored": 0, "known": 250, "failed": 0}
    there = {(m.content, m.tags, m.metadata["n"], m.agent_id, m.occurred_at) for m in client.every(user_id="other")}
    here = {(m.content, m.tags, m.metadata["n"], m.agent_id, m.occurred_at) for m in client.every()}
    assert there == here


def test_lines_that_do_not_fit_are_told_by_number_and_the_others_stored(run: Run) -> None:
    lines = [
        '{"content": "一"}',
        "",
        "{",
        "[]",
        '{"content": ""}',
        '{"content": "二", "importance": 9}',
        '{"content": "三"}',
    ]
    ran = run("import", "-", given="\n".join(lines))
    assert (ran.status, ran.out) == (1, "2 stored, 0 were there, 4 failed\n")
    assert [line.split(": ")[1] for line in ran.err.splitlines()] == ["line 3", "line 4", "line 5", "line 6"]
    assert run("count").out == "2\n"


def test_an_import_that_loses_the_service_says_so_and_can_be_repeated(
    run: Run, monkeypatch: pytest.MonkeyPatch, live: Live
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    given = "\n".join(json.dumps({"content": f"m {n}", "occurred_at": "2026-01-01"}) for n in range(300))
    send = live.service.store_batch
    calls = []

    async def second_fails(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            raise ConnectionError
        return await send(*arguments, **options)

    monkeypatch.setattr(live.service, "store_batch", second_fails)
    ran = run("import", "-", given=given)
    assert ran.status == 4
    monkeypatch.setattr(live.service, "store_batch", send)
    assert run("import", "-", given=given).out == "100 stored, 200 were there, 0 failed\n"


# -- output ------------------------------------------------------------------------------------------


def test_a_memory_cannot_command_the_terminal(run: Run) -> None:
    run("store", "red \x1b[31m alarm \x07 and\x9b2J more")
    for ran in (run("list"), run("search", "alarm")):
        assert not {"\x1b", "\x07", "\x9b"} & set(ran.out)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\n\n b\t c", "a b c"), ("界" * 200, "界" * 159 + "…"), ("\x1b]0;x\x07", "\ufffd]0;x\ufffd")],
)
def test_a_text_is_shown_as_one_harmless_line(text: str, line: str) -> None:
    assert one_line(text) == line
    assert safe(safe(text)) == safe(text)


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("周五", 4), ("ｶﾅ", 2), ("é", 1), ("e\u0301", 1), ("", 0)])
def test_columns_are_counted_as_a_terminal_shows_them(text: str, columns: int) -> None:
    assert width_of(text) == columns


def test_the_port_that_the_service_was_given_is_where_commands_look(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.delenv("MEMEX_URL", raising=False)
    monkeypatch.setenv("MEMEX_PORT", "1")
    document = run("status", "--json").json()
    assert document["settings"]["url"] == {"value": "http://127.0.0.1:1", "source": "MEMEX_PORT"}
