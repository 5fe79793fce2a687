"""`memex doctor` says in one line each what is wrong and how to mend it."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.served import MEMEX, Served, free_port

pytestmark = pytest.mark.timeout(240)


def _doctor(env: Mapping[str, str]) -> tuple[int, dict[str, dict[str, Any]]]:
    done = subprocess.run(
        [MEMEX, "doctor", "--json"], env=dict(env), capture_output=True, encoding="utf-8", timeout=200, check=False
    )
    return done.returncode, {row["what"]: row for row in json.loads(done.stdout)}


def test_all_is_well_beside_a_running_service_and_nothing_is_left_behind(plain: Served) -> None:
    status, found = _doctor(plain.env)
    assert status == 0, found
    assert {"settings", "data directory", "model", "database", "port of REST", "port of MCP", "round trip"} <= set(
        found
    )
    assert "answers" in found["port of MCP"]["detail"]
    assert plain.call("GET", "/v1/memories/count?user_id=memex-doctor").json()["count"] == 0


def test_what_is_wrong_is_named_with_what_to_do(plain: Served, tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text("{", encoding="utf-8")
    gone = {"mcpServers": {"memex": {"command": "/nowhere/memex", "args": ["mcp"]}}}
    (tmp_path / ".claude.json").write_text(json.dumps(gone), encoding="utf-8")
    (tmp_path / ".codex").mkdir()
    away = f"http://127.0.0.1:{free_port()}/mcp/"
    (tmp_path / ".codex" / "config.toml").write_text(f'[mcp_servers.memex]\nurl = "{away}"\n', encoding="utf-8")
    (tmp_path / ".hermes" / "plugins").mkdir(parents=True)
    (tmp_path / ".hermes" / "plugins" / "memex").symlink_to("/nowhere")
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            connection, _ = other.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")

        threading.Thread(target=answer, daemon=True).start()
        env = {
            **plain.env,
            "HOME": str(tmp_path),
            "MEMEX_PORT": str(other.getsockname()[1]),
            "MEMEX_MCP_PORT": str(free_port()),
            "DATABASE_URL": "postgresql://me:hunter2@127.0.0.1:9/db",
        }
        status, found = _doctor(env)
    assert status == 1
    expected = {
        "port of REST": "MEMEX_PORT",
        "database": "the database does not answer",
        "cursor": "mend the file by hand",
        "claude-code": "run `memex connect claude-code`",
        "codex": "start `memex serve`",
        "hermes": "run `memex connect hermes`",
        "round trip": "unavailable",
    }
    for what, hint in expected.items():
        assert not found[what]["ok"], what
        assert hint in found[what]["detail"]
    assert found["port of MCP"]["ok"]
    assert "hunter2" not in json.dumps(found)
