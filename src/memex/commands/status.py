"""`memex status`: what is set and by whom, and how the service is."""

from __future__ import annotations

import argparse
import getpass
from collections.abc import Mapping
from typing import Any

from .._version import __version__
from ..config import home_folder, load, mask
from ..protocol.errors import MemexError
from .options import add_common, add_plugin, agent_of, client_of, exit_status, on_plugin, url_of, user_of, uses_plugin
from .output import print_json, print_table, safe

__all__ = ["add_status_command"]


def add_status_command(commands: Any, env: Mapping[str, str]) -> None:
    """Add the command to a parser's subcommands; `env` is where its settings come from."""
    status = commands.add_parser(
        "status",
        help="show the settings in effect and how the service is",
        description="Show the settings in effect, each with where it comes from (secrets masked), and how the service "
        "is; the same of the Hermes plugin where there is one. Exit status 4 if what is asked for is not well.",
    )
    add_common(status)
    add_plugin(status)

    def chosen(options: argparse.Namespace) -> int:
        return on_plugin("status", options, env) if uses_plugin(options, env) else _status(options, env)

    status.set_defaults(run=chosen)


def _status(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    settings = _settings(options, env)
    code, service = 0, {}
    try:
        client = client_of(options, env)
        service = dict(client.health())
        dead = client.jobs(state="dead")
        service["dead_jobs"] = [{name: job[name] for name in ("id", "kind", "payload", "last_error")} for job in dead]
    except MemexError as e:
        code, service = exit_status(e), {"status": "down", "detail": str(e)}
    plugin = _plugin(env)
    if options.json:
        found = {"version": __version__, "settings": settings, "service": service}
        print_json(found if plugin is None else {**found, "plugin": plugin})
        return code
    print(f"memex {__version__}\n")
    print_table(["setting", "value", "from"], [[name, safe(s["value"]), s["source"]] for name, s in settings.items()])
    print(f"\nservice: {safe(str(service.pop('status', '?')))}")
    for job in service.pop("dead_jobs", ()):
        print(safe(f"  dead job {job['id']}: {job['kind']} ({_shown(job['payload'])}): {job['last_error']}"))
    for name, value in service.items():
        print(f"  {safe(str(name))}: {safe(_shown(value))}")
    if plugin is not None:
        from ..hermes.status import render

        print(f"\n{safe(render(plugin))}")
    return code


def _settings(options: argparse.Namespace, env: Mapping[str, str]) -> dict[str, dict[str, str]]:
    url, url_source = url_of(options, env)

    def named(option: str | None, variable: str, effective: str, default: str) -> dict[str, str]:
        source = "option" if option else variable if env.get(variable) else default
        return {"value": effective, "source": source}

    token = env.get("MEMEX_API_TOKEN", "")
    return {
        "url": {"value": url, "source": url_source},
        "user": named(options.user, "MEMEX_USER_ID", user_of(options, env), f"this account ({getpass.getuser()})"),
        "agent": named(options.agent, "MEMEX_AGENT_ID", agent_of(options, env), "default"),
        "token": {"value": mask(token) or "none", "source": "MEMEX_API_TOKEN" if token else "default"},
    }


def _plugin(env: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the report of the Hermes plugin, or None if it is not in Hermes' folder."""
    home = home_folder(env)
    if not (home / "plugins" / "memex").exists():
        return None
    from ..hermes.status import report  # every `memex` would load the plugin's parts otherwise

    return report(load(home, env))


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {inner}" for name, inner in value.items())
    return str(value)
