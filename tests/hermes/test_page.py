"""The commands of the page are commands of the plugin, or of the host's 0.19.0."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from memex.cli import make_parser, register_cli
from tests.docs.commands import page_commands

# Of Hermes itself, tried with 0.19.0.
_OF_THE_HOST = {("memory", "setup"), ("memory", "off"), ("cron", "create")}


def test_the_commands_of_the_page_are_there(checkout: Path) -> None:
    parser = argparse.ArgumentParser()
    register_cli(parser)
    commands = [
        example.command for example in page_commands((checkout / "docs/howto/hermes.md").read_text(encoding="utf-8"))
    ]
    assert len(commands) == 8
    for command in commands:
        words = shlex.split(command)
        if words[:2] == ["hermes", "memex"]:
            assert parser.parse_args(words[2:]).run
        elif words[0] == "hermes":
            assert tuple(words[1:3]) in _OF_THE_HOST
        else:
            assert words[0] == "memex"
            assert make_parser().parse_args(words[1:]).run
