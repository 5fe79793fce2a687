"""The same commands on the memory of the Hermes plugin: local, or over the unified protocol."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memex.cli import main
from tests.live import Live

FRIDAY = "主人偏好周五晚上部署"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))

    def run(*arguments: str, given: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        capsys.readouterr()
        return main(arguments), *capsys.readouterr()

    return run


def stored_and_found(run: Run) -> None:
    status, out, _ = run("store", FRIDAY, "--tag", "ops", "--at", "2026-05-26T10:30:00+08:00", "--json")
    memory_id = json.loads(out)["memory_id"]
    assert (status, json.loads(out)["deduplicated"]) == (0, False)
    assert run("store", "-", "--tag", "ops", given=f"{FRIDAY}\n")[1].endswith("was there\n")

    status, out, _ = run("search", "周五", "部署", "--top-k", "5")
    assert (status, FRIDAY in out, memory_id in out) == (0, True, True)
    status, out, _ = run("search", "部署", "--tag", "ops", "--json")
    [record] = json.loads(out)["results"]
    assert (record["memory_id"], record["level"], record["source_type"]) == (memory_id, "fact", "manual")
    assert run("get", memory_id)[1].startswith(f"{FRIDAY}\n")
    assert json.loads(run("get", memory_id, "--json")[1])["payload"] == {"trigger": "manual"}
    assert run("search", "量子")[:2] == (0, "")
    assert run("get", "no-such-record")[0] == 3


def test_without_a_server_the_plugins_own_file_is_searched_and_written(run: Run, tmp_path: Path) -> None:
    stored_and_found(run)
    assert (tmp_path / "memex.db").exists()
    assert run("health")[:2] == (0, run("health")[1])
    assert json.loads(run("health", "--json")[1])["backend"] == "local"


def test_with_a_server_the_same_commands_speak_the_protocol_to_it(run: Run, live: Live, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MEMORY_API_TOKEN=plugin-secret-token-42\n", encoding="utf-8")
    settings = {"backend_kind": "remote", "api_url": live.url}
    (tmp_path / "memex.json").write_text(json.dumps(settings), encoding="utf-8")
    stored_and_found(run)
    assert json.loads(run("health", "--json")[1])["backend"] == "remote"


def test_status_shows_the_plugins_settings_where_they_come_from_and_no_secret(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MEMORY_API_TOKEN=plugin-secret-token-42\n", encoding="utf-8")
    status, out, _ = run("status")
    assert (status, "secret-token" in out, str(tmp_path) in out) == (0, False, True)
    found = json.loads(run("status", "--json")[1])
    assert found["settings"]["MEMORY_API_TOKEN"] == {"value": "…n-42", "source": ".env"}
    assert found["settings"]["MEMEX_BACKEND_KIND"] == {"value": "local", "source": "default"}


def test_a_named_service_is_meant_though_hermes_is_there(run: Run, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("count", "--url", live.url, "--user", "user-123")[:2] == (0, "0\n")
    monkeypatch.setenv("MEMEX_URL", live.url)
    assert run("store", FRIDAY, "--user", "user-123")[0] == 0
    assert run("count", "--user", "user-123")[:2] == (0, "1\n")
    assert run("search", "部署", "--plugin")[1] == ""


def test_without_a_sign_of_hermes_the_plugin_is_asked_only_when_told_to(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HERMES_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("memex.commands.options.DEFAULT_URL", "http://127.0.0.1:1")
    assert run("health")[0] == 4
    assert run("health", "--plugin")[0] == 0
    assert (tmp_path / ".hermes").is_dir()


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (["list"], 2, "list works with the service only"),
        (["export"], 2, "export works with the service only"),
        (["delete", "x"], 2, "--url or MEMEX_URL"),
        (["search", "x", "--explain"], 2, "--explain works with the service only"),
        (["store", "x", "--type", "semantic"], 2, "--type works with the service only"),
        (["search", "x", "--from", "gestern"], 2, "--from must be a time"),
        (["store", " "], 2, "blank"),
    ],
)
def test_what_the_plugin_cannot_do_is_refused_with_what_can(
    run: Run, arguments: list[str], status: int, reason: str
) -> None:
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (status, "", 1)
    assert reason in err


@pytest.mark.parametrize("command", ["search x", "store x", "extract --stats", "extract --once"])
def test_a_folder_that_is_none_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("HERMES_HOME", f"{__file__}/hermes")
    status, out, err = run(*command.split())
    assert (status in {1, 4}, out, err.count("\n")) == (True, "", 1)
    assert "Not a directory" in err


def test_a_backend_that_is_off_says_why(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEX_BACKEND_KIND", "remote")
    assert run("search", "x") == (1, "", "memex: no memory backend: MEMORY_API_URL is not set\n")
    status, out, _ = run("status")
    assert (status, "MEMORY_API_URL is not set" in out) == (4, True)
