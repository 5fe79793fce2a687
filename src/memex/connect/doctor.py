"""What `memex doctor` looks at beside the service itself: ports, clients, and one memory's way there and back."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from ..protocol.errors import SetupError
from .apply import read
from .clients import CLIENTS, Client, Place, Server, place_of
from .connecting import hermes_link
from .edit import get_json

__all__ = ["Finding", "check_all"]

_USER = "memex-doctor"
_PORT_S = 5  # MCP answers a moment after REST
_ROUND_TRIP_S = 90.0  # the first start of all makes database and model


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `detail` says how it is, or what is wrong and how to mend it."""

    what: str
    ok: bool
    detail: str


def check_all(place: Place, records: Path, env: Mapping[str, str], command: Sequence[str]) -> list[Finding]:
    """Return what was found; nothing is raised and nothing stays behind."""
    ports = [("REST", env.get("MEMEX_PORT") or "8000"), ("MCP", env.get("MEMEX_MCP_PORT") or "8001")]
    return [
        # One that is no number is the finding about the settings.
        *(_port(name, int(port)) for name, port in ports if port.isascii() and port.isdigit() and int(port) < 65536),
        *_clients(place, records),
        *_hermes(place),
        _round_trip(command, env),
    ]


def _well(what: str, detail: str) -> Finding:
    return Finding(what, ok=True, detail=detail)


def _wrong(what: str, detail: str) -> Finding:
    return Finding(what, ok=False, detail=detail)


def _port(name: str, port: int) -> Finding:
    what = f"port of {name}"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PORT_S)
    try:
        connection.request("GET", "/health/live" if name == "REST" else "/mcp/")
        answer = connection.getresponse()
        body = answer.read(2000)
    except TimeoutError:
        return _wrong(what, f"whatever listens on {port} does not answer within {_PORT_S} s: see what it is, try again")
    except (OSError, http.client.HTTPException):
        return _well(what, f"{port} is free: `memex serve` does not run, which stdio clients do not need")
    finally:
        connection.close()
    if (name == "REST" and body.strip() == b'{"status":"ok"}') or (name == "MCP" and b'"jsonrpc"' in body):
        return _well(what, f"memex serve answers on {port}")
    variable = "MEMEX_PORT" if name == "REST" else "MEMEX_MCP_PORT"
    return _wrong(what, f"something else answers on {port}: start memex with another {variable}")


def _clients(place: Place, records: Path) -> Iterator[Finding]:
    for name in CLIENTS:
        client = place_of(name, "user", place, Server(command=["memex", "mcp"]))
        connected = (records / f"{name}.json").exists()
        try:
            text = read(client.file)
            entry = _entry_of(client, text) if text is not None else None
        except SetupError as e:
            yield _wrong(name, f"{client.file}: {e}; mend the file by hand")
            continue
        if entry is not None:
            yield _program_of(name, client, entry)
        elif connected:
            yield _wrong(name, f"{client.file} lost its entry: run `memex connect {name}`")
        elif text is not None:
            yield _well(name, f"is here and not connected; `memex connect {name}` does it")


def _entry_of(client: Client, text: str) -> Any:
    if client.file.suffix != ".toml":
        return get_json(text, client.keys)
    import tomllib

    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise SetupError(f"not readable as TOML: {e}") from e
    for key in client.keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _program_of(name: str, client: Client, entry: Any) -> Finding:
    url = entry.get("url") if isinstance(entry, dict) else None
    if isinstance(url, str):
        if _is_listened_on(url):
            return _well(name, f"is connected in {client.file} to {url}")
        return _wrong(name, f"{client.file} names {url}, where nothing answers: start `memex serve`")
    command = entry.get("command") if isinstance(entry, dict) else None
    program = command[0] if isinstance(command, list) and command else command
    if isinstance(program, str) and os.sep in program and not os.access(program, os.X_OK):
        return _wrong(name, f"{client.file} names {program}, which is gone: run `memex connect {name}`")
    return _well(name, f"is connected in {client.file}")


def _is_listened_on(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), timeout=_PORT_S):
            return True
    except (OSError, ValueError):
        return False


def _hermes(place: Place) -> list[Finding]:
    link = hermes_link(place)
    if link.exists():
        return [_well("hermes", f"is connected by {link}")]
    if link.is_symlink():
        return [_wrong("hermes", f"{link} points to nothing: remove it, and run `memex connect hermes`")]
    return []


def _round_trip(command: Sequence[str], env: Mapping[str, str]) -> Finding:
    what = "round trip"
    text = f"memex doctor was here: {uuid4()}"
    started = time.monotonic()
    try:
        with _server(command, env) as ask:
            ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": _USER, "version": "1"})
            stored = _call(ask, "store_memory", content=text, user_id=_USER, agent_id=_USER)
            try:
                found = _call(ask, "search_memory", query=text, user_id=_USER)["results"]
            finally:
                _call(ask, "delete_memory", memory_id=stored["id"], user_id=_USER)
    except (OSError, ValueError, KeyError, TimeoutError) as e:
        return _wrong(what, f"a memory could not be stored and found: {e}")
    if stored["id"] not in [result["id"] for result in found]:
        return _wrong(what, "what was stored was not found: please report this, with the log")
    return _well(what, f"stored, found and deleted a memory over stdio in {time.monotonic() - started:.1f} s")


def _call(ask: Any, tool: str, **arguments: str) -> Any:
    result = ask("tools/call", name=tool, arguments=arguments)
    if result["isError"]:
        raise ValueError(result["content"][0]["text"])
    return result["structuredContent"]


@contextlib.contextmanager
def _server(command: Sequence[str], env: Mapping[str, str]) -> Iterator[Any]:
    deadline = time.monotonic() + _ROUND_TRIP_S
    with subprocess.Popen(  # noqa: S603 - our own command
        command, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None  # noqa: S101 - for the type checker; they were asked for
        assert process.stdout is not None  # noqa: S101
        send, receive = process.stdin, process.stdout

        def ask(method: str, **params: Any) -> Any:
            send.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
            send.flush()
            # One request at a time, so a line is there as soon as anything is.
            if not select.select([receive], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"no answer within {_ROUND_TRIP_S:.0f} s")
            answer = json.loads(receive.readline() or b"{}")
            if "result" not in answer:
                raise ValueError(answer.get("error", {}).get("message", "the server ended; run `memex mcp` to see why"))
            return answer["result"]

        try:
            yield ask
        finally:
            send.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
