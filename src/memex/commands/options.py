"""What the commands have in common: which service, whose memory, and which exit status an error means."""

from __future__ import annotations

import argparse
import getpass
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..protocol.errors import InvalidInput, MemexError, NotFound, RateLimited, Unavailable

if TYPE_CHECKING:
    from ..client import Memex

__all__ = [
    "DEFAULT_URL",
    "EXIT_STATUSES",
    "add_call",
    "add_common",
    "add_plugin",
    "agent_of",
    "client_of",
    "exit_status",
    "json_object",
    "on_plugin",
    "url_of",
    "user_of",
    "uses_plugin",
]

# Whoever sets one of these means the plugin.
_SIGNS = ("HERMES_HOME", "MEMEX_BACKEND_KIND", "MEMORY_API_URL")
DEFAULT_URL = "http://127.0.0.1:8000"
EXIT_STATUSES = (
    "exit status: 0 done, 1 failed (one line on stderr says why), 2 wrong usage, 3 not found, "
    "4 not reachable or too busy now (try again), 130 interrupted"
)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command has."""
    parser.add_argument(
        "--url",
        help=f"address of the service (default: MEMEX_URL, else MEMEX_PORT on this machine, else {DEFAULT_URL})",
    )
    parser.add_argument("--user", help="whose memory (default: MEMEX_USER_ID, else this account)")
    parser.add_argument("--agent", help="as which agent; in searches and lists only this agent's (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def json_object(text: str) -> dict[str, Any]:
    """Read an argument that is a JSON object. Raises ValueError or ArgumentTypeError, of which argparse tells."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError('must be a JSON object like {"key": "value"}')
    return found


def add_plugin(parser: argparse.ArgumentParser) -> None:
    """Add the option of those commands that the plugin's memory knows too."""
    parser.add_argument(
        "--plugin",
        action="store_true",
        help="the memory of the Hermes plugin (default where HERMES_HOME, MEMEX_BACKEND_KIND or MEMORY_API_URL is set "
        "and no service is named)",
    )


def add_call(
    commands: Any,
    env: Mapping[str, str],
    name: str,
    run: Callable[[argparse.Namespace, Memex, Mapping[str, str]], int],
    text: str,
    *,
    more: str = "",
    with_plugin: bool = False,
) -> argparse.ArgumentParser:
    """Add a command that is a call of the service, and if `with_plugin` also one of the plugin's memory."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}.{more}"
    )
    add_common(parser)
    if with_plugin:
        add_plugin(parser)

    def chosen(options: argparse.Namespace) -> int:
        if uses_plugin(options, env):
            return on_plugin(name, options, env)
        return run(options, client_of(options, env), env)

    parser.set_defaults(run=chosen)
    return parser


def uses_plugin(options: argparse.Namespace, env: Mapping[str, str]) -> bool:
    """Whether a command is about the plugin's memory: asked to, or set up for Hermes and no service is named."""
    if getattr(options, "plugin", False):
        return True
    return not options.url and not env.get("MEMEX_URL") and any(env.get(name) for name in _SIGNS)


def on_plugin(name: str, options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Run a command on the plugin's memory. Raises InvalidInput for one that only the service knows."""
    from .plugin import COMMANDS

    if name not in COMMANDS:
        raise InvalidInput(f"{name} works with the service only: name it by --url or MEMEX_URL")
    return COMMANDS[name](options, env)


def url_of(options: argparse.Namespace, env: Mapping[str, str]) -> tuple[str, str]:
    """Return the address of the service, and where it comes from. Raises SetupError if it is none."""
    from ..transport.http import base_url_of

    port = env.get("MEMEX_PORT")
    own = port and f"http://127.0.0.1:{port}"
    known = ((options.url, "--url"), (env.get("MEMEX_URL"), "MEMEX_URL"), (own, "MEMEX_PORT"), (DEFAULT_URL, "default"))
    for value, source in known:
        if value:
            return base_url_of(value, name=source), source
    raise AssertionError("unreachable")


def client_of(options: argparse.Namespace, env: Mapping[str, str]) -> Memex:
    """Return the client that a command uses; its token comes from MEMEX_API_TOKEN. Raises SetupError."""
    from ..client import Memex

    token = env.get("MEMEX_API_TOKEN", "")
    return Memex(url_of(options, env)[0], agent_id=agent_of(options, env), token=token)


def user_of(options: argparse.Namespace, env: Mapping[str, str]) -> str:
    """Return whose memory a command is about."""
    return options.user or env.get("MEMEX_USER_ID") or getpass.getuser()


def agent_of(options: argparse.Namespace, env: Mapping[str, str]) -> str:
    """Return the agent that a command stores as."""
    return options.agent or env.get("MEMEX_AGENT_ID") or "memex-cli"


def exit_status(error: MemexError) -> int:
    """Return the exit status of a command that ended in `error`."""
    if isinstance(error, InvalidInput):
        return 2
    if isinstance(error, NotFound):
        return 3
    return 4 if isinstance(error, Unavailable | RateLimited) else 1
