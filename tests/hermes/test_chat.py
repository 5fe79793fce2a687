"""Two real chats of Hermes: what is told in the first is recalled in the second."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.served import Services
from tests.hermes.support import Model, configure

pytestmark = pytest.mark.timeout(420)


def chat(python: Path, home: Path, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python.parent / "hermes", "chat", "-q", text],
        cwd=home,
        env={
            "PATH": "/usr/bin:/bin",
            "HERMES_HOME": str(home),
            "HOME": str(home),
            "PYTHONUTF8": "1",
            "TERM": "dumb",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=200,
        check=False,
    )


def asked(model: Model) -> list[str]:
    """The users' messages of the conversations, as the model saw them."""
    found = []
    for request in model.requests:
        first: dict[str, Any] = request["messages"][0]
        if "long-term memory of an assistant" not in str(first["content"]):
            found += [str(m["content"]) for m in request["messages"] if m["role"] == "user"]
    return found


def tell_and_ask(python: Path, home: Path, model: Model) -> None:
    """Chat twice; what the first chat is told has to be in the prompt of the second, and no warning in the log."""
    configure(home, model)
    model.reply = lambda messages: (
        "[]" if "long-term memory of an assistant" in str(messages[0]["content"]) else "Noted."
    )
    first = chat(python, home, "记住：主人偏好周五晚上部署")
    assert first.returncode == 0, first.stdout + first.stderr
    model.requests.clear()
    second = chat(python, home, "什么时候部署比较好？")

    assert second.returncode == 0, second.stdout + second.stderr
    question = next(text for text in asked(model) if text.startswith("什么时候部署比较好"))
    assert "<memory-context>" in question
    assert "<memex-memory>" in question
    assert "主人偏好周五晚上部署" in question
    log = "".join(path.read_text(encoding="utf-8") for path in (home / "logs").glob("*.log"))
    assert [line for line in log.splitlines() if "memex" in line and ("WARNING" in line or "ERROR" in line)] == []


def test_a_fact_told_in_one_chat_is_recalled_in_the_next(hermes_python: Path, home: Path, model: Model) -> None:
    tell_and_ask(hermes_python, home, model)


@pytest.mark.clients
def test_a_fact_told_in_one_chat_is_recalled_in_the_next_from_a_memex_server(
    hermes_python: Path, home: Path, model: Model, services: Services
) -> None:
    token = "token-of-the-test"
    with services.running({"MEMEX_API_TOKEN": token}) as served:
        settings = {"backend_kind": "remote", "api_url": f"http://127.0.0.1:{served.port}"}
        (home / "memex.json").write_text(json.dumps(settings), encoding="utf-8")
        (home / ".env").write_text(f"MEMORY_API_TOKEN={token}\n", encoding="utf-8")
        tell_and_ask(hermes_python, home, model)
    assert not (home / "memex.db").exists()
