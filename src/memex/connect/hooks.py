"""Hooks of Claude Code: what `connect --hooks` writes, and what the hooks do when they are called.

At the start of a session the user's context is shown to the agent; when the agent has answered, the turn
is remembered. Both have one deadline and fail open: an agent never waits for a memory that does not answer.
"""

from __future__ import annotations

import http.client
import json
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from ..core.fence import without_recalled
from ..core.redact import redact
from .edit import get_json, remove_json, set_json

__all__ = ["DEADLINE_S", "EVENTS", "last_turn", "run_hook", "with_hooks", "without_hooks"]

DEADLINE_S = 1.0  # for all that one hook does; with the start of Python it stays below 2 s on a busy machine
_TIMEOUT_S = 2  # Claude Code reads it in seconds, and ends the hook then
EVENTS = ("SessionStart", "Stop")
_MARK = "hook claude-code"
_MAX_TURN_CHARS = 8_000
_TAIL_BYTES = 512 * 1024  # of a transcript, which may have grown for days


def with_hooks(text: str, command: Sequence[str]) -> str:
    """Return Claude Code's settings with the hooks of memex. Raises SetupError."""
    text = without_hooks(text)
    for event in EVENTS:
        others = get_json(text, ("hooks", event)) or []
        hook = {"type": "command", "command": f"{shlex.join(command)} {_MARK} {event}", "timeout": _TIMEOUT_S}
        text = set_json(text, ("hooks", event), [*others, {"hooks": [hook]}])
    return text


def without_hooks(text: str) -> str:
    """Return Claude Code's settings without the hooks of memex. Raises SetupError."""
    for event in EVENTS:
        groups = get_json(text, ("hooks", event)) or []
        kept = [group for group in groups if _MARK not in json.dumps(group)]
        if len(kept) != len(groups):
            text = set_json(text, ("hooks", event), kept) if kept else remove_json(text, ("hooks", event))
    return text


def run_hook(event: str, given: Mapping[str, Any], *, url: str, token: str, user_id: str) -> str:
    """Do what one event asks for; return what the client is to read. Never raises for a memory that is away."""
    deadline = time.monotonic() + DEADLINE_S
    try:
        if event == "SessionStart":
            return _context(url, token, user_id, deadline)
        if event == "Stop" and not given.get("stop_hook_active"):
            _remember(given, url, token, user_id, deadline)
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        return ""  # fail open: the agent goes on without memory
    return ""


def _context(url: str, token: str, user_id: str, deadline: float) -> str:
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "resources/read",
        "params": {"uri": "memex://context/" + quote(user_id, safe="")},
    }
    answer = _post(url, asked, token, deadline)
    text = answer["result"]["contents"][0]["text"]
    if not text.strip():
        return ""
    return json.dumps(
        {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}, ensure_ascii=False
    )


def _remember(given: Mapping[str, Any], url: str, token: str, user_id: str, deadline: float) -> None:
    # What memory had shown is not news, and what is secret is nobody's memory.
    turn = redact(without_recalled(last_turn(_tail(Path(given["transcript_path"])))))[0]
    if not turn:
        return
    arguments = {
        "content": turn[:_MAX_TURN_CHARS],
        "user_id": user_id,
        "agent_id": "claude-code",
        "metadata": {"session_id": str(given.get("session_id", ""))},
    }
    call = {"name": "store_memory", "arguments": arguments}
    _post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, token, deadline)


def last_turn(lines: Sequence[str]) -> str:
    """Return what the user said last and what the agent answered, from a transcript's lines."""
    said: list[str] = []
    for line in reversed(lines):
        try:
            row = json.loads(line)
        except ValueError:
            continue  # the first line of a tail is cut
        role = row.get("type") if isinstance(row, dict) else None
        if role not in {"user", "assistant"} or row.get("isMeta") or row.get("isSidechain"):
            continue
        text = _text_of(row.get("message"))
        if not text:
            continue  # a tool's call or result
        said.append(f"{'User' if role == 'user' else 'Assistant'}: {text}")
        if role == "user":
            break
    return "\n".join(reversed(said)) if any(part.startswith("User: ") for part in said) else ""


def _text_of(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    return "\n".join(p["text"] for p in parts if isinstance(p, dict) and p.get("type") == "text").strip()


def _tail(path: Path) -> list[str]:
    with path.open("rb") as stream:
        stream.seek(0, 2)
        stream.seek(max(0, stream.tell() - _TAIL_BYTES))
        return stream.read().decode("utf-8", "replace").splitlines()


def _post(url: str, message: Mapping[str, Any], token: str, deadline: float) -> Any:
    parts = urlsplit(url)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=max(0.05, deadline - time.monotonic()))
    try:
        connection.request("POST", parts.path or "/", json.dumps(message).encode(), headers)
        if connection.sock is not None:
            connection.sock.settimeout(max(0.05, deadline - time.monotonic()))
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()
