"""What memex knows of each client: where its settings are, what an entry looks like, where it reads skills."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..protocol.errors import SetupError
from .edit import remove_json, remove_toml, set_json, set_toml

__all__ = ["CLIENTS", "NAMES", "Client", "Place", "Scope", "Server", "place_of"]

Scope = Literal["user", "project"]
_NAME = "memex"
_TOKEN = "MEMEX_API_TOKEN"  # noqa: S105 - the name of a variable; its value is never written


@dataclass(frozen=True, slots=True)
class Server:
    """The server that a client is to talk to: a command for stdio, or a URL for HTTP (then `command` is empty)."""

    command: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    with_token: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where this machine keeps things: the home folder, the project, the variables that move clients' folders."""

    home: Path
    project: Path
    env: Mapping[str, str]
    platform: str  # sys.platform

    def folder(self, variable: str, *default: str) -> Path:
        """Return the folder that a variable names, else one below the home folder."""
        given = self.env.get(variable)
        return Path(given).expanduser() if given else self.home.joinpath(*default)


@dataclass(frozen=True, slots=True)
class Client:
    """One client in one scope."""

    name: str
    file: Path
    entry: Mapping[str, Any]
    keys: tuple[str, ...]
    skills: Path | None = None
    add: tuple[str, ...] = ()  # the client's own commands, which are used where its program is installed
    remove: tuple[str, ...] = ()
    hooks: Path | None = None

    def with_entry(self, text: str) -> str:
        """Return the text of the client's file with memex in it. Raises SetupError."""
        if self.file.suffix == ".toml":
            return set_toml(text, ".".join(self.keys), _toml(self.entry))
        return set_json(text, self.keys, self.entry)

    def without_entry(self, text: str) -> str:
        """Return the text of the client's file without memex. Raises SetupError."""
        if self.file.suffix == ".toml":
            return remove_toml(text, ".".join(self.keys))
        return remove_json(text, self.keys)


NAMES = ("claude-code", "claude-desktop", "codex", "opencode", "cursor", "hermes")


def place_of(name: str, scope: Scope, place: Place, server: Server) -> Client:
    """Return a client as it is to be set up. Raises SetupError if it cannot be in this way."""
    if name not in CLIENTS:
        raise SetupError(f"memex knows no client {name!r}; it knows {', '.join(NAMES)}")
    return CLIENTS[name](scope, place, server)


def _claude_code(scope: Scope, place: Place, server: Server) -> Client:
    entry = {"type": "stdio", **_stdio(server)} if server.command else _http(server, "Bearer ${%s}", {"type": "http"})
    own = "CLAUDE_CONFIG_DIR" in place.env
    folder = place.folder("CLAUDE_CONFIG_DIR", ".claude")
    file = (folder if own else place.home) / ".claude.json"
    settings = folder
    if scope == "project":
        file, settings = place.project / ".mcp.json", place.project / ".claude"
    return Client(
        "claude-code",
        file,
        entry,
        ("mcpServers", _NAME),
        settings / "skills",
        add=("claude", "mcp", "add-json", "--scope", scope, _NAME, json.dumps(entry)),
        remove=("claude", "mcp", "remove", "--scope", scope, _NAME),
        hooks=settings / "settings.json",
    )


def _claude_desktop(scope: Scope, place: Place, server: Server) -> Client:
    if scope == "project":
        raise SetupError("claude-desktop has no settings of a project; leave --scope out")
    if not server.command:
        raise SetupError("claude-desktop reads only stdio servers from its file; leave --transport out")
    base = {"darwin": ("Library", "Application Support")}.get(place.platform)
    folder = place.home.joinpath(*base) if base else place.folder("XDG_CONFIG_HOME", ".config")
    return Client(
        "claude-desktop", folder / "Claude" / "claude_desktop_config.json", _stdio(server), ("mcpServers", _NAME)
    )


def _codex(scope: Scope, place: Place, server: Server) -> Client:
    entry: dict[str, Any] = _stdio(server) if server.command else {"url": server.url}
    add: tuple[str, ...] = ()
    if server.command:
        pairs = [word for name, value in server.env.items() for word in ("--env", f"{name}={value}")]
        add = ("codex", "mcp", "add", _NAME, *pairs, "--", *server.command)
    else:
        token = ("--bearer-token-env-var", _TOKEN) if server.with_token else ()
        add = ("codex", "mcp", "add", _NAME, "--url", server.url, *token)
        if server.with_token:
            entry["bearer_token_env_var"] = _TOKEN
    user = scope == "user"
    folder = place.folder("CODEX_HOME", ".codex") if user else place.project / ".codex"
    return Client(
        "codex",
        folder / "config.toml",
        entry,
        ("mcp_servers", _NAME),
        folder / "skills",
        add=add if user else (),  # its command knows no project
        remove=("codex", "mcp", "remove", _NAME) if user else (),
    )


def _opencode(scope: Scope, place: Place, server: Server) -> Client:
    if server.command:
        entry: dict[str, Any] = {"type": "local", "command": list(server.command), "enabled": True}
        if server.env:
            entry["environment"] = dict(server.env)
    else:
        entry = _http(server, "Bearer {env:%s}", {"type": "remote"}) | {"enabled": True}
    if scope == "user":
        folder = place.folder("XDG_CONFIG_HOME", ".config") / "opencode"
        skills = folder / "skills"
    else:
        folder, skills = place.project, place.project / ".opencode" / "skills"
    names = ("opencode.jsonc", "opencode.json")
    file = next((folder / name for name in names if (folder / name).exists()), folder / "opencode.json")
    return Client("opencode", file, entry, ("mcp", _NAME), skills)


def _cursor(scope: Scope, place: Place, server: Server) -> Client:
    entry = _stdio(server) if server.command else _http(server, "Bearer ${env:%s}", {})
    folder = (place.home if scope == "user" else place.project) / ".cursor"
    return Client("cursor", folder / "mcp.json", entry, ("mcpServers", _NAME), folder / "skills")


CLIENTS = {
    "claude-code": _claude_code,
    "claude-desktop": _claude_desktop,
    "codex": _codex,
    "opencode": _opencode,
    "cursor": _cursor,
}


def _stdio(server: Server) -> dict[str, Any]:
    program, *arguments = server.command
    return {"command": program, "args": arguments, **({"env": dict(server.env)} if server.env else {})}


def _http(server: Server, bearer: str, first: Mapping[str, Any]) -> dict[str, Any]:
    headers = {"headers": {"Authorization": bearer % _TOKEN}} if server.with_token else {}
    return {**first, "url": server.url, **headers}


def _toml(entry: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in entry.items():
        if isinstance(value, Mapping):
            pairs = ", ".join(f"{name} = {json.dumps(text, ensure_ascii=False)}" for name, text in value.items())
            lines.append(f"{key} = {{ {pairs} }}")
        else:
            lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")  # strings and lists read alike in TOML
    return lines
