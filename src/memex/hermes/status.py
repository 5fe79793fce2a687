"""What is set, by whom, and how backend and queue are: for `memex status` and `hermes memex status`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..config import Config, describe, mask
from ..protocol.errors import MemexError
from . import breakers
from .assembly import open_backend, open_queue

__all__ = ["render", "report"]


def report(config: Config) -> dict[str, Any]:
    """Return settings with their sources (secrets masked), backend, breakers and queue. Asks the backend once."""
    settings = {}
    for row in describe():
        value = getattr(config, row["field"])
        shown = mask(value) if row["secret"] else value
        settings[row["names"][0]] = {"value": shown, "source": config.sources[row["field"]]}
    return {
        "home": str(config.home),
        "settings": settings,
        "problems": list(config.problems),
        "backend": _backend(config),
        "queue": _queue(config),
    }


def render(found: Mapping[str, Any]) -> str:
    """Return the report as lines for a person."""
    width = max(len(name) for name in found["settings"])
    lines = [f"Hermes folder: {found['home']}", "", "settings"]
    for name, setting in found["settings"].items():
        value = "-" if setting["value"] == "" else setting["value"]
        lines.append(f"  {name:<{width}}  {value}  ({setting['source']})")
    lines += [f"  ! {problem}" for problem in found["problems"]]
    backend, queue = found["backend"], found["queue"]
    lines += ["", f"backend: {backend['kind']}, {backend['status']}"]
    lines += [f"  {name}: {_shown(value)}" for name, value in backend.get("detail", {}).items() if name != "status"]
    lines += [f"  the agent's breaker of {name}: {value}" for name, value in backend.get("breakers", {}).items()]
    lines += ["", f"queue: {queue.get('open', 0)} open ({queue['path']})"]
    for kind, counts in queue.get("kinds", {}).items():
        lines.append(f"  {kind}: {', '.join(f'{count} {status}' for status, count in counts.items())}")
    lines += [f"  ! {error['kind']} {error['status']}: {error['error']}" for error in queue.get("errors", ())]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(inner)}" for name, inner in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _backend(config: Config) -> dict[str, Any]:
    try:
        backend = open_backend(config)
    except MemexError as e:
        return {"kind": config.backend_kind, "status": f"off: {e}"}
    found: dict[str, Any] = {"kind": config.backend_kind}
    try:
        health = backend.health()
        found |= {"status": health.status, "detail": dict(health.detail)}
    except MemexError as e:
        found |= {"status": f"down: {e}", "detail": {}}
    finally:
        backend.close()
    if config.backend_kind == "remote":
        found["breakers"] = breakers.read(config.home, datetime.now(UTC))
    return found


def _queue(config: Config) -> dict[str, Any]:
    try:
        return open_queue(config).stats()
    except OSError as e:
        return {"path": str(config.queue_path), "errors": [{"kind": "file", "status": "unreadable", "error": str(e)}]}
