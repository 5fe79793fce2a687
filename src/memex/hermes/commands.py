"""The commands around the agent: `memex extract`, and `hermes memex ...` where Hermes loads the plugin."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from ..config import Config, home_folder, load
from . import host

__all__ = ["add_extract", "agent_config", "register"]

_BATCH = 20
_CRON_SCRIPT = """\
#!/usr/bin/env bash
# Written by `hermes memex cron`. Delivers and extracts what waits in memex' queue; silent unless it cannot start.
PYTHONPATH={source} exec {python} -P -m memex.cli extract --once --quiet
"""


def agent_config() -> Config:
    """Return the settings for the Hermes folder of this process."""
    return load(host.home() or home_folder(os.environ), os.environ)


def add_extract(commands: Any) -> None:
    """Add `extract` to a parser's subcommands."""
    extract = commands.add_parser(
        "extract",
        help="work the agent's queue off: deliver what waits, make facts of turns",
        description="Deliver what the agent could not store yet, and make facts of queued turns with the executor "
        "that MEMEX_EXTRACT_BACKEND names. Several may run at once; each turn is taken by one.",
    )
    extract.add_argument("--once", action="store_true", help="one batch, then end (the default; for cron jobs)")
    extract.add_argument("--limit", type=_positive, default=_BATCH, metavar="N", help=f"size of it (default {_BATCH})")
    extract.add_argument("--stats", action="store_true", help="show the queue instead, as JSON")
    extract.add_argument("--quiet", action="store_true", help="print nothing, also when the backend is away")
    extract.set_defaults(run=_extract)


def register(subparser: argparse.ArgumentParser) -> None:
    """Describe `hermes memex` to Hermes."""
    commands = subparser.add_subparsers(dest="memex_action", required=True, metavar="command")
    status = commands.add_parser("status", help="effective settings, backend and queue")
    status.add_argument("--json", action="store_true", help="as JSON")
    status.set_defaults(run=_status)
    add_extract(commands)
    cron = commands.add_parser("cron", help="write the script that a cron job of Hermes runs")
    cron.set_defaults(run=_cron)


def _extract(options: argparse.Namespace) -> int:
    from .assembly import assemble, open_queue  # every `memex` would load it otherwise

    config = agent_config()
    if options.stats:
        print(json.dumps(open_queue(config).stats(), ensure_ascii=False, indent=2))
        return 0
    parts = assemble(config, os.environ)
    try:
        delivered = parts.pipeline.deliver(limit=options.limit)
        extracted = parts.pipeline.extract(limit=options.limit)
        if config.backend_kind == "local" and not parts.extracts_here:
            parts.pipeline.trigger(limit=options.limit)
    finally:
        parts.close()
    error = delivered.error or extracted.error
    if not options.quiet:
        print(
            f"delivered {delivered.done}, extracted {extracted.done} into {extracted.facts} facts, "
            f"failed {delivered.failed + extracted.failed}, waiting {delivered.waiting + extracted.waiting}"
        )
        if error:
            print(f"memex: {error}", file=sys.stderr)
    return 1 if error and not options.quiet else 0


def _status(options: argparse.Namespace) -> int:
    from .status import render, report

    found = report(agent_config())
    print(json.dumps(found, ensure_ascii=False, indent=2, default=str) if options.json else render(found))
    return 0


def _cron(_: argparse.Namespace) -> int:
    config = agent_config()
    script = config.home / "scripts" / "memex_extract.sh"
    script.parent.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).resolve().parents[2]
    paths = {"source": shlex.quote(str(source)), "python": shlex.quote(sys.executable)}
    script.write_text(_CRON_SCRIPT.format(**paths), encoding="utf-8")
    script.chmod(0o700)
    print(f"wrote {script}; to run it every 15 minutes:")
    print('hermes cron create "every 15m" --no-agent --script memex_extract.sh --name memex-extract')
    return 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
