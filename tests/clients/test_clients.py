"""memex with the clients that people use, by `memex connect`, over stdio and over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memex_server.mcp.catalogue import tools_of
from tests.acceptance.served import MEMEX, Served
from tests.clients.npm import Npm, installed

pytestmark = [pytest.mark.clients, pytest.mark.timeout(600)]

_CONFIGS = {
    "claude-code": (".claude.json", None),  # the client makes it, and keeps its own things in it
    "codex": (
        ".codex/config.toml",
        '# mine\nmodel = "gpt-5"\n\n[mcp_servers.other]\ncommand = "true"\nenabled = false\n',
    ),
    "opencode": (
        ".config/opencode/opencode.json",
        '{\n    "$schema": "https://opencode.ai/config.json",\n    // mine\n    "autoupdate": false\n}\n',
    ),
}
_PROGRAMS = {"claude-code": "claude", "codex": "codex", "opencode": "opencode"}
# As each client prints it; (?m) since it is one line of several.
_CONNECTED = {
    "claude-code": r"(?m)^memex: .*Connected",
    "codex": r"(?m)^memex .*enabled",
    "opencode": r"memex connected",
}


@dataclass(frozen=True, slots=True)
class Desk:
    """A person's machine: a home of its own, a project, and the clients."""

    home: Path
    project: Path
    env: Mapping[str, str]
    npm: Npm

    def memex(self, *arguments: str) -> str:
        done = subprocess.run(
            [MEMEX, *arguments], env=dict(self.env), cwd=self.project, capture_output=True, encoding="utf-8",
            timeout=200, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def listed(self, client: str) -> str:
        return self.npm.run(self.env, self.project, _PROGRAMS[client], "mcp", "list")


@pytest.fixture
def desk(tmp_path: Path, outer_environment: Mapping[str, str], plain: Served) -> Desk:
    npm = installed(outer_environment)
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home, project):
        folder.mkdir()
    env = {
        "PATH": f"{npm.bin}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "MEMEX_DATA_DIR": str(plain.data_dir),
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return Desk(home, project, env, npm)


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("client", _PROGRAMS)
def test_a_client_reports_memex_connected_and_disconnecting_gives_the_bytes_back(
    desk: Desk, plain: Served, client: str, transport: str
) -> None:
    name, content = _CONFIGS[client]
    file = desk.home / name
    if content is not None:
        file.parent.mkdir(parents=True)
        file.write_text(content, encoding="utf-8")
    if client == "claude-code":  # it writes things of its own at its first runs, and when it first adds a server
        desk.npm.run(desk.env, desk.project, "claude", "mcp", "add", "--scope", "user", "other", "--", "true")
    for _ in range(2):
        assert not re.search(_CONNECTED[client], desk.listed(client))
    before = file.read_bytes()
    url = ("--url", f"http://127.0.0.1:{plain.env['MEMEX_MCP_PORT']}/mcp/") if transport == "http" else ()
    desk.memex("connect", client, "--transport", transport, *url)
    listing = desk.listed(client)
    assert re.search(_CONNECTED[client], listing), listing
    assert f"{client}: is connected" in desk.memex("doctor")
    desk.memex("disconnect", client)
    assert file.read_bytes() == before
    assert not re.search(_CONNECTED[client], desk.listed(client))


def _inspect(desk: Desk, target: tuple[str, ...], *arguments: str) -> Any:
    printed = desk.npm.run(desk.env, desk.project, "mcp-inspector", "--cli", *target, *arguments)
    start = printed.index("{")
    return json.loads(printed[start:])


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_and_calls_every_tool(desk: Desk, plain: Served, transport: str) -> None:
    url = f"http://127.0.0.1:{plain.env['MEMEX_MCP_PORT']}/mcp/"
    target = (MEMEX, "mcp") if transport == "stdio" else (url, "--transport", "http")
    listed = _inspect(desk, target, "--method", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in tools_of("full")]

    def call(name: str, **arguments: str) -> Any:
        pairs = [word for key, value in arguments.items() for word in ("--tool-arg", f"{key}={value}")]
        result = _inspect(desk, target, "--method", "tools/call", "--tool-name", name, *pairs)
        assert not result.get("isError"), result
        return result["structuredContent"]

    user = f"inspector-{transport}"
    saved = call("save_memory", text="The deployment window is Friday evening", user_id=user)
    stored = call("store_memory", content="Tom asked about the deployment", tags='["a", "b"]', user_id=user)
    assert stored["tags"] == ["a", "b"]
    assert call("get_memory", memory_id=stored["id"], user_id=user)["id"] == stored["id"]
    assert call("update_memory", memory_id=stored["id"], importance="1.5", user_id=user)["importance"] == 1.5
    assert saved["id"] in [
        hit["id"] for hit in call("search_memory", query="when do we deploy", user_id=user)["results"]
    ]
    assert call("search_memories", query="deployment", top_k="1", user_id=user)["total"] == 1
    assert call("count_memories", user_id=user)["count"] == 2
    assert call("delete_memory", memory_id=stored["id"], user_id=user)["deleted"]
    assert call("retract_memory", memory_id=saved["id"], user_id=user)["retracted"]


def test_the_conformance_suite_passes_what_the_page_says(desk: Desk, plain: Served, checkout: Path) -> None:
    page = (checkout / "docs" / "howto" / "agents.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (pass|do not apply: [^|]+) \| (`.+`) \|$", page)
    said = {name: row.startswith("pass") for row, names in rows for name in re.findall(r"`([\w-]+)`", names)}
    url = f"http://127.0.0.1:{plain.env['MEMEX_MCP_PORT']}/mcp/"
    printed = desk.npm.run(
        desk.env, desk.project, "conformance", "server", "--url", url, "--suite", "all", timeout_s=300
    )
    found = re.findall(r"(?m)^[✓✗] ([\w-]+): \d+ passed, (\d+) failed", printed)
    passes = {name: failed == "0" for name, failed in found}
    assert passes == said, printed[-3000:]
