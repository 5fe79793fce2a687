"""Reads the commands of a Markdown page and runs them against another address."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Example", "examples", "page_commands", "run"]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ADDRESS = "http://127.0.0.1:8000"
_MARK = "\n%{http_code}"


@dataclass(frozen=True, slots=True)
class Example:
    """A shell command of a page, and the JSON answer that the page shows for it, if any."""

    command: str
    shown: list[str] = field(default_factory=list)


def page_commands(text: str) -> list[Example]:
    """Return the commands of a page in order: what follows `$ ` in its console blocks."""
    found: list[Example] = []
    for match in _BLOCK.finditer(text):
        kind, body = match.groups()
        if kind == "console":
            found += [Example(command) for command in _commands(body)]
        elif kind == "json" and found:
            found[-1].shown.append(body)
    return found


def _commands(block: str) -> Iterator[str]:
    lines = block.splitlines()
    while lines:
        line = lines.pop(0)
        if not line.startswith("$ "):
            continue  # what a command prints
        command = line[2:]
        while not _is_whole(command):
            command += "\n" + lines.pop(0)
        yield command


def _is_whole(command: str) -> bool:
    try:
        shlex.split(command)
    except ValueError:  # a quote is open, or the line ends with a backslash
        return False
    return not command.endswith("\\")


def examples(page: Path) -> list[Example]:
    """Return the commands of a page that call the service."""
    return [one for one in page_commands(page.read_text(encoding="utf-8")) if one.command.startswith("curl ")]


def run(example: Example, port: int) -> tuple[int, Any]:
    """Run a curl command in bash, against the service on `port`; return status and parsed answer."""
    assert _ADDRESS in example.command
    command = example.command.replace(_ADDRESS, f"http://127.0.0.1:{port}") + f" -w '{_MARK}'"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, encoding="utf-8", timeout=60, check=False, env={"PATH": "/usr/bin:/bin"}
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    body, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(body)
