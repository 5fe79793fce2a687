"""Connecting changes exactly one entry, and disconnecting gives every byte back."""

from __future__ import annotations

import dataclasses
import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memex.connect.clients import CLIENTS, Place, Scope, Server, place_of
from memex.connect.connecting import Request, connect, disconnect, record_of
from memex.protocol.errors import SetupError

_STDIO = Server(command=["/opt/memex/bin/memex", "mcp", "--profile", "coding"], env={"MEMEX_DATA_DIR": "/data/記憶"})
_HTTP = Server(url="http://127.0.0.1:8001/mcp/", with_token=True)
_JSON = '{\n\t"theme": "dark", "mcpServers": {"git": {"command": "git-mcp"}},\n  "mcp": {},\n  "中文": 1e2\n}'
_TOML = 'model = "gpt-5"   # mine\r\n\n[mcp_servers.git]\ncommand = "git-mcp"'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A machine without any client's program."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return Place(tmp_path / "home", tmp_path / "project", {"PATH": str(tmp_path)}, "linux")


def _request(place: Place, client: str, scope: Scope = "user", server: Server = _STDIO, **more: Any) -> Request:
    records = place.home / ".memex" / "connections"
    return Request(client=client, scope=scope, place=place, server=server, records=records, **more)


def _everything(place: Place) -> dict[str, tuple[int, bytes]]:
    """Return all files with their modes and bytes, and all folders, but not memex's own."""
    found = {}
    for root in (place.home, place.project):
        for path in sorted(root.rglob("*")):
            if ".memex" not in path.parts:
                content = b"" if path.is_dir() else path.read_bytes()
                found[str(path)] = (stat.S_IMODE(path.lstat().st_mode), content)
    return found


def _entry(place: Place, name: str, scope: Scope, server: Server) -> tuple[Any, Any]:
    client = place_of(name, scope, place, server)
    text = client.file.read_text(encoding="utf-8")
    found = tomllib.loads(text) if client.file.suffix == ".toml" else json.loads(text)
    whole = found
    for key in client.keys:
        found = found[key]
    return found, whole


_SCOPES: tuple[Scope, ...] = ("user", "project")
_CASES = [
    (name, scope, server)
    for name in CLIENTS
    for scope in _SCOPES
    for server in (_STDIO, _HTTP)
    if not (name == "claude-desktop" and (scope == "project" or server is _HTTP))
]


@pytest.mark.parametrize("before", [None, "settings"], ids=["no file", "a file"])
@pytest.mark.parametrize(("name", "scope", "server"), _CASES)
def test_what_connect_does_disconnect_undoes_to_the_byte(
    place: Place, name: str, scope: Scope, server: Server, before: str | None
) -> None:
    client = place_of(name, scope, place, server)
    if before:
        client.file.parent.mkdir(parents=True, exist_ok=True)
        client.file.write_bytes((_TOML if client.file.suffix == ".toml" else _JSON).encode())
        client.file.chmod(0o640)
    was = _everything(place)
    request = _request(place, name, scope, server)

    shown = connect(dataclasses.replace(request, dry_run=True))
    assert "memex" in "".join(shown)
    assert _everything(place) == was, "a dry run changes nothing"

    connect(request)
    entry, whole = _entry(place, name, scope, server)
    assert ("memex" in json.dumps(entry.get("command"))) if server.command else (entry["url"] == server.url)
    if before:
        assert "git-mcp" in json.dumps(whole)
        assert stat.S_IMODE(client.file.stat().st_mode) == 0o640
    if client.skills:
        skill = (client.skills / "memex" / "SKILL.md").read_text(encoding="utf-8")
        assert skill.startswith("---\nname: memex\n")
    assert stat.S_IMODE(record_of(request).stat().st_mode) == 0o600

    connect(request)  # again: the connection is renewed, and the way back stays the same
    disconnect(dataclasses.replace(request, dry_run=True))
    assert _entry(place, name, scope, server)[0] == entry
    disconnect(request)
    assert _everything(place) == was
    assert not record_of(request).exists()
    assert disconnect(request)[0].endswith("was not connected")


@pytest.mark.parametrize("name", ["claude-code", "claude-desktop", "codex", "opencode", "cursor"])
def test_what_was_changed_since_stays_and_only_the_entry_goes(place: Place, name: str) -> None:
    client = place_of(name, "user", place, _STDIO)
    connect(_request(place, name))
    text = client.file.read_text(encoding="utf-8")
    added = '\n[other]\nkey = "kept"\n' if client.file.suffix == ".toml" else None
    client.file.write_text(
        text + added if added else text.replace("{", '{"other": {"key": "kept"},', 1), encoding="utf-8"
    )
    disconnect(_request(place, name))
    after = client.file.read_text(encoding="utf-8")
    assert "kept" in after
    assert "/opt/memex" not in after
    found = tomllib.loads(after) if added else json.loads(after)
    assert found == {"other": {"key": "kept"}}


def test_a_skill_that_was_rewritten_is_left_alone(place: Place) -> None:
    connect(_request(place, "claude-code", language="zh"))
    skill = place.home / ".claude" / "skills" / "memex" / "SKILL.md"
    assert "绝不保存" in skill.read_text(encoding="utf-8")
    skill.write_text("mine now", encoding="utf-8")
    disconnect(_request(place, "claude-code"))
    assert skill.read_text(encoding="utf-8") == "mine now"


@pytest.mark.parametrize("content", [b'{"a": ', b"\xff\xfe{}", b'{"mcpServers": [1]}'])
def test_a_file_that_cannot_be_read_is_named_and_left_alone(place: Place, content: bytes) -> None:
    file = place.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(SetupError, match="nothing was changed") as caught:
        connect(_request(place, "cursor"))
    assert str(file) in str(caught.value)
    assert file.read_bytes() == content
    assert not record_of(_request(place, "cursor")).exists()


def test_a_link_into_somebodys_dotfiles_stays_a_link(place: Place) -> None:
    real = place.home / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    link = place.home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    connect(_request(place, "cursor"))
    assert link.is_symlink()
    assert "memex" in real.read_text(encoding="utf-8")
    disconnect(_request(place, "cursor"))
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "{}"


def test_the_token_itself_is_never_written(place: Place) -> None:
    env = {**place.env, "MEMEX_API_TOKEN": "very-secret-token"}
    place = dataclasses.replace(place, env=env)
    for name, scope, server in _CASES:
        if server is _HTTP:
            connect(_request(place, name, scope, server))
    written = b"".join(content for _, content in _everything(place).values())
    assert b"MEMEX_API_TOKEN" in written
    assert b"very-secret-token" not in written


def test_folders_of_clients_move_with_their_variables(place: Place) -> None:
    env = {**place.env, "CODEX_HOME": str(place.home / "cx"), "CLAUDE_CONFIG_DIR": str(place.home / "cc")}
    place = dataclasses.replace(place, env=env)
    assert place_of("codex", "user", place, _STDIO).file == place.home / "cx" / "config.toml"
    assert place_of("claude-code", "user", place, _STDIO).file == place.home / "cc" / ".claude.json"
    on_a_mac = dataclasses.replace(place, platform="darwin")
    assert "Application Support" in str(place_of("claude-desktop", "user", on_a_mac, _STDIO).file)


def test_what_a_client_cannot_do_is_said(place: Place) -> None:
    with pytest.raises(SetupError, match="leave --scope out"):
        connect(_request(place, "claude-desktop", "project"))
    with pytest.raises(SetupError, match="leave --transport out"):
        connect(_request(place, "claude-desktop", server=_HTTP))
    with pytest.raises(SetupError, match="leave --hooks out"):
        connect(_request(place, "cursor", hooks=["memex"]))
    with pytest.raises(SetupError, match="knows no client"):
        connect(_request(place, "emacs"))


def test_hermes_gets_a_link_to_the_package_and_loses_it_again(place: Place) -> None:
    link = place.home / ".hermes" / "plugins" / "memex"
    was = _everything(place)
    connect(_request(place, "hermes", dry_run=True))
    assert _everything(place) == was
    connect(_request(place, "hermes"))
    assert (link.resolve() / "_version.py").exists()
    assert "already" in connect(_request(place, "hermes"))[0]
    disconnect(_request(place, "hermes"))
    assert _everything(place) == was
    link.mkdir(parents=True)
    with pytest.raises(SetupError, match="move it away"):
        connect(_request(place, "hermes"))
    assert "not connected" in disconnect(_request(place, "hermes"))[0]
    assert link.is_dir()


def test_hooks_come_beside_those_of_others_and_go_alone(place: Place) -> None:
    settings = place.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    mine = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "model": "opus"}
    settings.write_text(json.dumps(mine, indent=4), encoding="utf-8")
    was = settings.read_bytes()
    request = _request(place, "claude-code", hooks=["/opt/my memex/memex"])
    connect(request)
    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    assert hooks["Stop"][0] == mine["hooks"]["Stop"][0]  # type: ignore[index]
    for event in ("SessionStart", "Stop"):
        [hook] = hooks[event][-1]["hooks"]
        assert hook == {"type": "command", "timeout": 2, "command": f"'/opt/my memex/memex' hook claude-code {event}"}
    settings.write_bytes(settings.read_bytes().replace(b"opus", b"sonnet"))
    disconnect(request)
    assert json.loads(settings.read_text(encoding="utf-8")) == {**mine, "model": "sonnet"}
    settings.write_bytes(was)
    connect(request)
    disconnect(request)
    assert settings.read_bytes() == was


def test_the_clients_own_command_is_used_and_its_failure_is_made_up_for(place: Place) -> None:
    program = Path(place.env["PATH"]) / "claude"
    called = place.home / "called"
    for status in (0, 1):
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {called}\nexit {status}\n', encoding="utf-8")
        program.chmod(0o755)
        connect(_request(place, "claude-code"))
        assert called.read_text(encoding="utf-8").splitlines()[:5] == ["mcp", "add-json", "--scope", "user", "memex"]
        written = (place.home / ".claude.json").exists()
        assert written is (status == 1), "the file is written only where the command did not do it"
        disconnect(_request(place, "claude-code"))
        assert not (place.home / ".claude.json").exists()
    assert os.access(program, os.X_OK)
