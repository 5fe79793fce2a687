"""The commands `connect`, `disconnect`, `doctor` and `hook` of the command line."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..protocol.errors import SetupError
from .clients import NAMES, Place, Server
from .connecting import Request, connect, disconnect
from .doctor import Finding, check_all
from .hooks import DEADLINE_S, EVENTS, run_hook

__all__ = ["add_commands"]

_URL = "http://127.0.0.1:8001/mcp/"
_MAX_INPUT_CHARS = 4_000_000
# What decides which memory a server opens; a client that is started from a menu has none of the shell's variables.
_HANDED_ON = ("MEMEX_DATA_DIR", "MEMEX_USER_ID")

_Checks = Callable[[], list[Finding]]


def add_commands(commands: Any, env: Mapping[str, str], server_checks: _Checks) -> None:
    """Add the commands; `server_checks` are what `doctor` asks of the service's side."""
    names = ", ".join(NAMES)
    one = commands.add_parser(
        "connect",
        help="let a client use memex",
        description=f"Let a client use memex: {names}. Its settings are changed by its own command or in its own file; "
        "everything else in them stays as it is, and `memex disconnect` undoes it exactly.",
    )
    _shared(one)
    one.add_argument("--transport", choices=("stdio", "http"), default="stdio", help="http needs a running memex serve")
    one.add_argument("--url", help=f"address for http (default: MEMEX_MCP_PORT on this machine, else {_URL})")
    one.add_argument("--profile", choices=("full", "coding"), default="coding", help="tools to show (default: coding)")
    one.add_argument(
        "--env", action="append", default=[], metavar="NAME[=VALUE]", help="a variable that a stdio server is given"
    )
    one.add_argument("--language", choices=("en", "zh"), help="of the skill (default: as LANG says)")
    one.add_argument("--no-skill", action="store_true", help="leave the skill out")
    one.add_argument("--hooks", action="store_true", help="claude-code: show the context, remember turns (memex serve)")
    one.set_defaults(run=lambda options: _print(connect(_request(options, env))))
    other = commands.add_parser(
        "disconnect", help="take memex out of a client again", description="Undo what `memex connect` did, exactly."
    )
    _shared(other)
    other.set_defaults(run=lambda options: _print(disconnect(_request(options, env))))
    doctor = commands.add_parser(
        "doctor",
        help="say what is wrong and how to mend it",
        description="Check data directory, model, database, ports, the settings of clients, and store, find and delete "
        "one memory. One line each; exit status 1 if something is wrong.",
    )
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(run=lambda options: _doctor(options, env, server_checks))
    hook = commands.add_parser(
        "hook",
        help="what a client's hooks call",
        description="Called by a client's hooks, with JSON on standard input. Ends within 2 s, always with status 0.",
    )
    hook.add_argument("client", choices=("claude-code",))
    hook.add_argument("event", choices=EVENTS)
    hook.add_argument("--url", help=f"address of MCP (default: MEMEX_MCP_PORT on this machine, else {_URL})")
    hook.set_defaults(run=lambda options: _hook(options, env))


def _shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=NAMES)
    parser.add_argument("--scope", choices=("user", "project"), default="user", help="(default: user)")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def _request(options: argparse.Namespace, env: Mapping[str, str]) -> Request:
    place = _place(env)
    connecting = hasattr(options, "transport")
    program = _program()
    server = Server(command=[*program, "mcp"])
    if connecting and options.transport == "http":
        server = Server(url=options.url or _url(env), with_token=bool(env.get("MEMEX_API_TOKEN")))
    elif connecting:
        server = Server(command=[*program, "mcp", "--profile", options.profile], env=_variables(options.env, env))
    return Request(
        client=options.client,
        scope=options.scope,
        place=place,
        server=server,
        records=_records(env),
        language=getattr(options, "language", None) or ("zh" if env.get("LANG", "").startswith("zh") else "en"),
        skill=not getattr(options, "no_skill", False),
        hooks=program if getattr(options, "hooks", False) else (),
        dry_run=options.dry_run,
    )


def _url(env: Mapping[str, str]) -> str:
    port = env.get("MEMEX_MCP_PORT")
    return f"http://127.0.0.1:{port}/mcp/" if port else _URL


def _place(env: Mapping[str, str]) -> Place:
    return Place(Path(env.get("HOME") or Path.home()), Path.cwd(), env, sys.platform)


def _records(env: Mapping[str, str]) -> Path:
    home = env.get("MEMEX_HOME")
    return (Path(home).expanduser() if home else _place(env).home / ".memex") / "connections"


def _program() -> list[str]:
    beside = Path(sys.executable).with_name("memex")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "memex.cli"]


def _variables(asked: list[str], env: Mapping[str, str]) -> dict[str, str]:
    found = {name: env[name] for name in _HANDED_ON if env.get(name)}
    for one in asked:
        name, given, value = one.partition("=")
        if not given and name not in env:
            raise SetupError(f"--env {name}: the variable is not set; say --env {name}=VALUE")
        found[name] = value if given else env[name]
    if env.get("DATABASE_URL") and "DATABASE_URL" not in found:
        print(
            "memex: DATABASE_URL is set here, but a client's server will not have it: it uses the embedded database "
            "unless you add --env DATABASE_URL (which writes the password into the client's settings)",
            file=sys.stderr,
        )
    return found


def _print(lines: list[str]) -> int:
    for line in lines:
        print(line.rstrip("\n"))
    return 0


def _doctor(options: argparse.Namespace, env: Mapping[str, str], server_checks: _Checks) -> int:
    findings = [*server_checks(), *check_all(_place(env), _records(env), env, [*_program(), "mcp"])]
    if options.json:
        rows = [{"what": f.what, "ok": f.ok, "detail": f.detail} for f in findings]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        for finding in findings:
            print(f"{'ok   ' if finding.ok else 'WRONG'} {finding.what}: {finding.detail}")
    return int(not all(finding.ok for finding in findings))


def _hook(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    told: list[str] = []

    def work() -> None:
        given = json.loads(sys.stdin.read(_MAX_INPUT_CHARS) or "{}")
        user_id = env.get("MEMEX_USER_ID") or getpass.getuser()
        told.append(
            run_hook(
                options.event,
                given,
                url=options.url or _url(env),
                token=env.get("MEMEX_API_TOKEN", ""),
                user_id=user_id,
            )
        )

    # In a thread, so that nothing at all, not even a server that answers byte by byte, can hold the agent up.
    threading.excepthook = lambda _args: None
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(DEADLINE_S)
    if told and told[0]:
        print(told[0], flush=True)
    sys.stdout.flush()
    os._exit(0)
