"""Settings of the agent's side: client, CLI and Hermes plugin. Read from mappings; nothing is read at import.

Each setting comes from the first place that has it: `<hermes_home>/.env`, the process environment,
`<hermes_home>/memex.json`, its default. `.env` comes first because Hermes itself lets it win, and
because a gateway's environment may be that of another profile.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import urlsplit

__all__ = ["Config", "describe", "home_folder", "load", "mask", "read_env_file", "save"]

_FILE = "memex.json"


def _setting(
    env: str,
    default: Any,
    doc: str,
    *,
    choices: tuple[str, ...] = (),
    least: float = 0,
    most: float = math.inf,
    secret: bool = False,
) -> Any:
    meta = {"env": env, "doc": doc, "choices": choices, "least": least, "most": most, "secret": secret}
    return field(default=default, metadata=meta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Effective settings; `sources` says where each came from, `problems` what was wrong and is ignored."""

    backend_kind: str = _setting(
        "MEMEX_BACKEND_KIND",
        "local",
        "memory in this process, or over the unified protocol",
        choices=("local", "remote"),
    )
    api_url: str = _setting("MEMORY_API_URL", "", "address of the remote backend, such as http://127.0.0.1:8000")
    api_token: str = _setting("MEMORY_API_TOKEN", "", "bearer token of the remote backend", secret=True)
    api_timeout_s: float = _setting("MEMORY_API_TIMEOUT", 10.0, "seconds for one request", least=0.1, most=600)
    backend_enabled: str = _setting(
        "MEMORY_BACKEND_ENABLED",
        "auto",
        "whether a remote backend is asked: `auto` asks when address and token are set, `true` insists on both",
        choices=("auto", "true", "false"),
    )
    fallback: str = _setting(
        "MEMORY_FALLBACK",
        "builtin",
        "without a backend: `builtin` leaves the agent with its own memory, `none` tells it that memory is off",
        choices=("builtin", "none"),
    )
    capture_mode: str = _setting(
        "MEMEX_CAPTURE_MODE", "all", "whose words of a turn are kept", choices=("all", "user", "assistant", "off")
    )
    top_k: int = _setting("MEMEX_TOP_K", 5, "memories recalled for a turn", least=1, most=50)
    min_length: int = _setting("MEMEX_MIN_LENGTH", 5, "shorter texts are not kept (characters)", most=10_000)
    source_type: str = _setting("MEMEX_SOURCE_TYPE", "memory", "`source_type` of what is kept")
    prefetch_wait_s: float = _setting(
        "MEMEX_PREFETCH_WAIT", 3.0, "longest delay of a turn by recall, in seconds", most=7.0
    )
    max_content_chars: int = _setting(
        "MEMEX_MAX_CONTENT_CHARS", 8_000, "longer texts are kept up to here", least=100, most=65_536
    )
    max_keywords: int = _setting("MEMEX_MAX_KEYWORDS", 8, "keywords sent with one recall", least=1, most=64)
    lm_plan: str = _setting(
        "MEMEX_LM_PLAN",
        "event",
        "when the host's language model makes facts of the conversation: at session end and before compression, "
        "on explicit store, at each turn, or never",
        choices=("event", "store", "turn", "off"),
    )
    lm_plan_timeout_s: float = _setting(
        "MEMEX_LM_PLAN_TIMEOUT", 20.0, "seconds for one planning call, all attempts together", least=0.1, most=600
    )
    lm_plan_max_chars: int = _setting(
        "MEMEX_LM_PLAN_MAX_CHARS", 12_000, "characters of conversation in one planning call", least=200, most=200_000
    )
    extract_backend: str = _setting(
        "MEMEX_EXTRACT_BACKEND",
        "remote",
        "who makes facts of turns: the backend, rules, the host's model, an endpoint, or the first of those that works",
        choices=("remote", "rules", "session_lm", "http_lm", "auto"),
    )
    extract_lm_source: str = _setting(
        "MEMEX_EXTRACT_LM_SOURCE",
        "plugin",
        "endpoint and key of `http_lm`: the settings below, or those of Hermes (read only)",
        choices=("plugin", "hermes"),
    )
    extract_lm_url: str = _setting(
        "MEMEX_EXTRACT_LM_URL", "", "OpenAI-compatible endpoint, such as http://host:1234/v1"
    )
    extract_lm_key: str = _setting("MEMEX_EXTRACT_LM_KEY", "", "API key of that endpoint", secret=True)
    extract_lm_model: str = _setting("MEMEX_EXTRACT_LM_MODEL", "", "model name at that endpoint")
    extract_timeout_s: float = _setting(
        "MEMEX_EXTRACT_TIMEOUT", 30.0, "seconds for one extraction call", least=0.1, most=600
    )
    extract_queue: str = _setting(
        "MEMEX_EXTRACT_QUEUE", "", "the queue of work to do; empty: memex-pending.jsonl in the Hermes folder"
    )
    lcm_path: str = _setting(
        "LCM_DATABASE_PATH", "", "the conversation store of hermes-lcm; empty: lcm.db in the Hermes folder"
    )

    home: Path = field(default=Path(), kw_only=True)
    sources: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def queue_path(self) -> Path:
        """The JSONL file of work to do."""
        return Path(self.extract_queue).expanduser() if self.extract_queue else self.home / "memex-pending.jsonl"

    @property
    def database_path(self) -> Path:
        """The local backend's database."""
        return self.home / "memex.db"

    @property
    def lcm_database_path(self) -> Path:
        """The conversation store that raw records may point into."""
        return Path(self.lcm_path).expanduser() if self.lcm_path else self.home / "lcm.db"

    @property
    def off_reason(self) -> str:
        """Why no backend is to be asked, or "" when one is."""
        if self.backend_enabled == "false":
            return "MEMORY_BACKEND_ENABLED is false"
        if self.backend_kind == "local":
            return ""
        if not _is_http(self.api_url):
            return "MEMORY_API_URL is not set" if not self.api_url else "MEMORY_API_URL is no http(s) address"
        return "" if self.api_token else "MEMORY_API_TOKEN is not set"


def describe() -> list[dict[str, Any]]:
    """Return every setting as {field, names, type, default, doc, choices, secret}, in order of definition."""
    hints = get_type_hints(Config)
    return [
        {
            "field": f.name,
            "names": [f.metadata["env"]],
            "type": hints[f.name].__name__,
            "default": f.default,
            "doc": f.metadata["doc"],
            "choices": f.metadata["choices"],
            "secret": f.metadata["secret"],
        }
        for f in _settings()
    ]


def home_folder(environ: Mapping[str, str]) -> Path:
    """Return Hermes' folder: HERMES_HOME, else ~/.hermes."""
    return Path(environ.get("HERMES_HOME") or "~/.hermes").expanduser()


def load(home: Path, environ: Mapping[str, str]) -> Config:
    """Read the settings for one Hermes folder. Never raises: what is wrong is ignored and told in `problems`."""
    problems: list[str] = []
    layers: list[tuple[str, Mapping[str, Any], bool]] = [
        (".env", _guarded(lambda: read_env_file(home / ".env"), home / ".env", problems), True),
        ("environment", environ, True),
        (_FILE, _guarded(lambda: _read_json(home / _FILE), home / _FILE, problems), False),
    ]
    hints = get_type_hints(Config)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for f in _settings():
        sources[f.name] = "default"
        for source, layer, by_env in layers:
            names = (f.metadata["env"],) if by_env else (f.name, f.metadata["env"])
            name = next((n for n in names if str(layer.get(n, "")).strip()), None)
            if name is None:
                continue
            parsed, wrong = _parse(layer[name], hints[f.name], f.metadata)
            if wrong:
                shown = "" if f.metadata["secret"] else f"={str(layer[name])[:40]!r}"
                problems.append(f"{name}{shown} in {source} is ignored: expected {wrong}")
                continue
            values[f.name], sources[f.name] = parsed, source
            break
    return Config(**values, home=home, sources=sources, problems=tuple(problems))


def save(home: Path, values: Mapping[str, Any]) -> Path:
    """Merge `values` into `<home>/memex.json`, atomically and readable by its owner only; return its path.

    Secrets belong into `.env`; they are left out, and so are names that are no setting.

    Raises:
        OSError, ValueError: the file cannot be read as a JSON object, or not be written.
    """
    path = home / _FILE
    known = {f.name: f.metadata["secret"] for f in _settings()}
    merged = _read_json(path)
    merged |= {name: value for name, value in values.items() if known.get(name) is False}
    home.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(dir=home, prefix=f".{_FILE}.")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(merged, file, ensure_ascii=False, indent=2, sort_keys=True)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        Path(fresh).replace(path)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
    return path


def mask(secret: str) -> str:
    """Return what may be shown of a secret: that it is there, and its last four characters if it is long."""
    if not secret:
        return ""
    return f"…{secret[-4:]}" if len(secret) >= 16 else "…"


def read_env_file(path: Path) -> dict[str, str]:
    """Return the assignments of a `.env` file; {} if it is absent. Quotes and `export` are taken off.

    Raises:
        OSError, UnicodeDecodeError: it is there, yet cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, sign, value = line.strip().removeprefix("export ").partition("=")
        if not sign or name.startswith("#"):
            continue
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        else:
            value = value.split(" #", 1)[0].rstrip()
        found[name.strip()] = value
    return found


def _settings() -> list[dataclasses.Field[Any]]:
    return [f for f in dataclasses.fields(Config) if "env" in f.metadata]


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"{path} holds no JSON object")  # noqa: TRY004 - what is wrong is a value in a file
    return found


def _guarded(read: Any, path: Path, problems: list[str]) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = read()
    except (OSError, ValueError) as e:
        problems.append(f"{path} is ignored: {e}")
        return {}
    return found


def _parse(value: Any, kind: type, meta: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the value, or what was expected instead."""
    text = str(value).strip()
    if kind is str:
        choices = meta["choices"]
        folded = text.lower() if choices else text
        folded = {"1": "true", "0": "false", "yes": "true", "no": "false"}.get(folded, folded) if choices else folded
        return (folded, "") if not choices or folded in choices else (None, f"one of {', '.join(choices)}")
    try:
        number = kind(text)
    except ValueError:
        return None, "a whole number" if kind is int else "a number"
    if not meta["least"] <= number <= meta["most"]:  # also refuses nan
        most = meta["most"]
        return None, f"{meta['least']} or more" if most == math.inf else f"{meta['least']} to {most}"
    return number, ""
