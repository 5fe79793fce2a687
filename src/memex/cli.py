"""The command line of memex.

The service's parts are imported only by the commands that need them, and the commands only when they are asked
for: Hermes imports this file whenever it loads the plugin.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from ._version import __version__
from .protocol.errors import MemexError, SetupError

if TYPE_CHECKING:
    from .connect.doctor import Finding

__all__ = ["main", "make_parser", "memex_command", "register_cli"]

_OK = 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status. Errors are one line on stderr."""
    parser = make_parser()
    options = parser.parse_args(argv)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not complain of it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _OK
    except (MemexError, OSError) as e:
        return _told(e)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    from .commands.changes import add_change_commands
    from .commands.memories import add_memory_commands
    from .commands.options import EXIT_STATUSES
    from .commands.status import add_status_command
    from .commands.transfer import add_transfer_commands
    from .connect.commands import add_commands
    from .hermes.commands import add_extract

    parser = argparse.ArgumentParser(
        prog="memex",
        description="One long-term memory for AI agents, on your own machine.",
        epilog=EXIT_STATUSES,
    )
    parser.add_argument("--version", action="version", version=f"memex {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")
    serve = commands.add_parser(
        "serve",
        help="serve REST and MCP until interrupted",
        description="Serve REST, and MCP over HTTP; settings come from the environment (docs/reference/settings.md).",
    )
    serve.set_defaults(run=_serve)
    mcp = commands.add_parser(
        "mcp",
        help="serve MCP to one client over standard input and output",
        description="Serve MCP over standard input and output: what a client starts. Several may run at once, "
        "beside `memex serve`, on one data directory.",
    )
    mcp.add_argument(
        "--profile",
        choices=("full", "coding"),
        default="full",
        help="full: all tools (default); coding: save_memory, search_memory and retract_memory only",
    )
    mcp.set_defaults(run=_mcp)
    worker = commands.add_parser(
        "worker",
        help="do the background work alone until interrupted",
        description="Condense old memories, forget by policy and tidy up, without serving. `memex serve` does this "
        "too; set SUMMARIZATION_ENABLED=false there to leave it to workers.",
    )
    worker.set_defaults(run=_worker)
    setup = commands.add_parser(
        "setup",
        help="make the data directory and the embedding model",
        description="Make the data directory and the embedding model, so that the first start is fast.",
    )
    setup.set_defaults(run=_setup)
    reembed = commands.add_parser(
        "reembed",
        help="move all memories to the embedding model that is set now",
        description="Embed all memories again with EMBEDDING_MODEL. Running services go on with the old model "
        "until the end, and must then be restarted with the new one. An interrupted run is continued by the next.",
    )
    reembed.set_defaults(run=_reembed)
    add_memory_commands(commands, os.environ)
    add_change_commands(commands, os.environ)
    add_transfer_commands(commands, os.environ)
    add_status_command(commands, os.environ)
    add_commands(commands, os.environ, _service_findings)
    add_extract(commands)
    return parser


def register_cli(subparser: argparse.ArgumentParser) -> None:
    """Describe `hermes memex` to Hermes, which looks for this name in this file."""
    from .hermes.commands import register

    register(subparser)


def memex_command(options: argparse.Namespace) -> int:
    """Run one `hermes memex` command for Hermes; return its exit status. Errors are one line on stderr."""
    try:
        return int(options.run(options))
    except (MemexError, OSError) as e:
        return _told(e)


def _told(error: MemexError | OSError) -> int:
    """Print an error as one line; a file that cannot be read or written is nothing to show a traceback for."""
    from .commands.options import exit_status

    print(f"memex: {error}", file=sys.stderr)
    return exit_status(error) if isinstance(error, MemexError) else 1


def _service_findings() -> list[Finding]:
    from .connect.doctor import Finding

    try:
        _need_server()
    except SetupError as e:
        return [Finding("service", ok=False, detail=str(e))]
    from memex_server.doctor import check_service

    return [Finding(*found) for found in check_service(os.environ)]


def _serve(_options: argparse.Namespace) -> int:
    _need_server()
    from memex_server.serve import serve
    from memex_server.settings import from_env

    return serve(from_env(os.environ))


def _mcp(options: argparse.Namespace) -> NoReturn:
    _need_server()
    from memex_server.settings import from_env
    from memex_server.stdio import mcp

    mcp(from_env(os.environ), options.profile)


def _worker(_options: argparse.Namespace) -> int:
    _need_server()
    from memex_server.settings import from_env
    from memex_server.work import work

    return work(from_env(os.environ))


def _setup(_options: argparse.Namespace) -> int:
    _need_server()
    from memex_server.prepare import prepare
    from memex_server.settings import from_env

    settings = from_env(os.environ)
    prepare(settings)
    print(f"memex is set up in {settings.data_path}")
    return _OK


def _reembed(_options: argparse.Namespace) -> int:
    _need_server()
    from memex_server.reembed import reembed
    from memex_server.settings import from_env

    settings = from_env(os.environ)
    print(f"{reembed(settings):,} memories embedded with {settings.embedding.embedding_model}")
    return _OK


def _need_server() -> None:
    import importlib.util

    for name in ("memex_server", "uvicorn", "asyncpg", "mcp"):
        if importlib.util.find_spec(name) is None:
            raise SetupError("this command needs the service: pip install 'memex[server]'")


if __name__ == "__main__":
    sys.exit(main())
