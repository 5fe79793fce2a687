"""What is set, by whom, and how backend and queue are: for `memex status` and `hermes memex status`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..backend.remote import RemoteBackend
from ..config import Config, describe, mask
from ..protocol.errors import MemexError
from .assembly import assemble, open_queue

__all__ = ["render", "report"]


def report(config: Config, environ: Mapping[str, str]) -> dict[str, Any]:
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
        "backend": _backend(config, environ),
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
    lines += [f"  {name}: {value}" for name, value in backend.get("detail", {}).items()]
    lines += ["", f"queue: {queue.get('open', 0)} open ({queue['path']})"]
    for kind, counts in queue.get("kinds", {}).items():
        lines.append(f"  {kind}: {', '.join(f'{count} {status}' for status, count in counts.items())}")
    lines += [f"  ! {error['kind']} {error['status']}: {error['error']}" for error in queue.get("errors", ())]
    return "\n".join(lines)


def _backend(config: Config, environ: Mapping[str, str]) -> dict[str, Any]:
    try:
        parts = assemble(config, environ)
    except MemexError as e:
        return {"kind": config.backend_kind, "status": f"off: {e}"}
    try:
        health = parts.backend.health()
        found: dict[str, Any] = {"kind": config.backend_kind, "status": health.status, "detail": dict(health.detail)}
    except MemexError as e:
        found = {"kind": config.backend_kind, "status": f"down: {e}", "detail": {}}
    finally:
        parts.close()
    if isinstance(parts.backend, RemoteBackend):
        found["detail"] |= {f"breaker of {name}": str(state) for name, state in parts.backend.breakers().items()}
    return found


def _queue(config: Config) -> dict[str, Any]:
    try:
        return open_queue(config).stats() if config.queue_path.exists() else {"path": str(config.queue_path)}
    except OSError as e:
        return {"path": str(config.queue_path), "errors": [{"kind": "file", "status": "unreadable", "error": str(e)}]}
