"""`memex export` and `memex import`: memories as JSON lines, out of one service and into another."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..protocol.errors import InvalidInput, SetupError
from ..rest import memory_document
from .options import add_common, agent_of, client_of, on_plugin, user_of, uses_plugin
from .output import print_json, progress, progress_end

if TYPE_CHECKING:
    from ..client import Memex

__all__ = ["add_transfer_commands"]

_BATCH = 200
# What a service decides by itself, and what a file may therefore not bring along.
_STORED = (
    "agent_id", "user_id", "content", "importance", "memory_type", "occurred_at", "tags", "metadata", "source",
    "session_id", "expires_at", "pinned",
)  # fmt: skip
_MAX_COMPLAINTS = 20


def add_transfer_commands(commands: Any, env: Mapping[str, str]) -> None:
    """Add the commands to a parser's subcommands; `env` is where their settings come from."""
    out = commands.add_parser(
        "export",
        help="write a user's live memories as JSON lines, oldest first",
        description="Write a user's live memories as JSON lines, oldest first, to a file or to standard output.",
    )
    add_common(out)
    out.add_argument("file", nargs="?", default="-", help="(default: standard output)")
    out.set_defaults(run=lambda options: _on_service("export", _export, options, env))
    into = commands.add_parser(
        "import",
        help="store memories from JSON lines",
        description="Store memories from JSON lines, as `memex export` writes them; each line needs only `content`. "
        "A line whose id the service has already is passed over, so an import may be repeated. "
        "Lines that do not fit are told by number, the others are stored; exit status 1 if there were such.",
    )
    add_common(into)
    into.add_argument("file", help="the file; - reads standard input")
    into.set_defaults(run=lambda options: _on_service("import", _import, options, env))


def _on_service(name: str, run: Any, options: argparse.Namespace, env: Mapping[str, str]) -> int:
    if uses_plugin(options, env):
        return on_plugin(name, options, env)
    return int(run(options, client_of(options, env), env))


def _export(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    user = user_of(options, env)
    total = client.count(user_id=user, agent_id=options.agent)
    memories = []
    for memory in client.every(user_id=user, agent_id=options.agent):
        memories.append(memory_document(memory))
        progress(len(memories), total, "read")
    progress_end()
    with _opened(options.file, "w") as file:
        for document in reversed(memories):
            file.write(json.dumps(document, ensure_ascii=False) + "\n")
    if options.json and options.file != "-":
        print_json({"exported": len(memories)})
    elif options.file != "-":
        print(f"{len(memories):,} memories in {options.file}")
    return 0


def _import(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    work = _Import(client)
    with _opened(options.file, "r") as file:
        for number, line in _lines(file):
            try:
                document = _document(line)
            except ValueError as e:
                work.refuse(number, e)
                continue
            new = {name: document[name] for name in _STORED if document.get(name) is not None}
            new["user_id"] = options.user or new.get("user_id") or user_of(options, env)
            new["agent_id"] = options.agent or new.get("agent_id") or agent_of(options, env)
            work.add(number, new, document.get("id"))
        work.flush()
    progress_end()
    for complaint in work.complaints[:_MAX_COMPLAINTS]:
        print(f"memex: {complaint}", file=sys.stderr)
    if len(work.complaints) > _MAX_COMPLAINTS:
        print(f"memex: and {len(work.complaints) - _MAX_COMPLAINTS:,} more", file=sys.stderr)
    if options.json:
        print_json({"stored": work.stored, "known": work.known, "failed": len(work.complaints)})
    else:
        print(f"{work.stored:,} stored, {work.known:,} were there, {len(work.complaints):,} failed")
    return 1 if work.complaints else 0


class _Import:
    """Stores lines in batches, and counts what became of them."""

    def __init__(self, client: Memex) -> None:
        self.stored = self.known = 0
        self.complaints: list[str] = []
        self._client = client
        self._batch: list[tuple[int, dict[str, Any]]] = []
        self._ids: dict[str, set[str]] = {}

    def refuse(self, number: int, error: Exception) -> None:
        """A line does not fit."""
        self.complaints.append(f"line {number}: {error}")

    def add(self, number: int, new: dict[str, Any], memory_id: object) -> None:
        """A memory to store, unless the service has its id."""
        if memory_id is not None and memory_id in self._ids_of(new["user_id"]):
            self.known += 1
            return
        self._batch.append((number, new))
        if len(self._batch) == _BATCH:
            self.flush()

    def flush(self) -> None:
        """Store what has come together."""
        if self._batch:
            outcomes = self._client.store_batch([new for _, new in self._batch])
            for (number, _), outcome in zip(self._batch, outcomes, strict=True):
                if outcome.error is not None:
                    self.refuse(number, outcome.error)
                self.stored += outcome.created
                self.known += outcome.error is None and not outcome.created
            self._batch.clear()
        progress(self.stored + self.known + len(self.complaints), None, "imported")

    def _ids_of(self, user_id: str) -> set[str]:
        if user_id not in self._ids:
            self._ids[user_id] = {str(memory.id) for memory in self._client.every(user_id=user_id)}
        return self._ids[user_id]


def _lines(file: TextIO) -> Iterator[tuple[int, str]]:
    try:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line
    except UnicodeDecodeError as e:
        raise InvalidInput(f"the file is not UTF-8: {e}") from e


def _document(line: str) -> dict[str, Any]:
    found = json.loads(line)
    if not isinstance(found, dict):
        raise ValueError("is not a JSON object")  # noqa: TRY004 - what is wrong is a value in a file
    return found


@contextlib.contextmanager
def _opened(name: str, mode: str) -> Iterator[TextIO]:
    if name == "-":
        yield sys.stdin if mode == "r" else sys.stdout
        return
    try:
        with Path(name).open(mode, encoding="utf-8") as file:
            yield file  # type: ignore[misc] # a text mode
    except OSError as e:
        raise SetupError(f"{name}: {e.strerror}") from e
