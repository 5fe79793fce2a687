"""`memex remember`, `context`, `update`, `retract`, `restore` and `history`: one call of the service each."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.memory import MemoryType
from ..protocol.errors import InvalidInput
from ..rest import memory_document, plain
from .options import add_call, agent_of, json_object, user_of
from .output import one_line, print_json, print_table, safe

if TYPE_CHECKING:
    from ..client import Memex
    from ..core.memory import Memory

__all__ = ["add_change_commands"]

_TYPES = [kind.value for kind in MemoryType]


def add_change_commands(commands: Any, env: Mapping[str, str]) -> None:
    """Add the commands to a parser's subcommands; `env` is where their settings come from."""
    add = functools.partial(add_call, commands, env)

    remember = add("remember", _remember, "let the gate decide whether a text is kept, merged or skipped")
    remember.add_argument("text", help="the text; - reads it from standard input")
    remember.add_argument("--type", choices=_TYPES, help="(default semantic)")
    remember.add_argument("--tag", action="append", default=[], help="may be repeated")
    remember.add_argument("--source", help="where it comes from")
    remember.add_argument("--supersedes", metavar="ID", help="the memory that it corrects")
    remember.add_argument("--at", dest="occurred_at", metavar="TIME", help="when it was said (default: now)")

    context = add("context", _context, "print what answers a question as one block for a prompt")
    context.add_argument("query", nargs="+", metavar="WORD", help="the question")
    context.add_argument("--tokens", type=int, default=1_000, metavar="N", help="size of the block (default 1000)")

    update = add("update", _update, "change a memory", more=" What is not given stays as it is.")
    update.add_argument("id")
    update.add_argument("--text", help="the new text; - reads it from standard input")
    update.add_argument("--importance", type=float, help="0 to 2")
    update.add_argument("--type", choices=_TYPES, help="what kind of memory it is")
    update.add_argument("--tag", action="append", help="instead of the tags it has; may be repeated; empty for none")
    update.add_argument("--metadata", type=json_object, metavar="JSON", help="an object, instead of the one it has")
    update.add_argument("--source", help="where it comes from")
    update.add_argument("--at", dest="occurred_at", metavar="TIME", help="when it happened")
    update.add_argument("--pinned", choices=("yes", "no"), help="whether forgetting leaves it alone")

    retract = add("retract", _retract, "take a claim back", more=" Neither the gate nor a summary brings it back.")
    retract.add_argument("id")
    retract.add_argument("reason", help="why; it is in the history")

    restore = add("restore", _restore, "bring a deleted memory back")
    restore.add_argument("id")

    history = add("history", _history, "show what became of a memory, oldest step first")
    history.add_argument("id")


def _remember(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    given = {
        "kind": options.type,
        "tags": options.tag,
        "source": options.source,
        "supersedes": options.supersedes,
        "occurred_at": options.occurred_at,
    }
    done = client.remember(
        _text(options.text),
        user_id=user_of(options, env),
        agent_id=agent_of(options, env),
        **{name: value for name, value in given.items() if value},
    )
    if options.json:
        print_json(done.detail)
    else:
        print(f"{done.id or '-'}  {done.outcome}: {safe(done.reason)}")
    return 0


def _context(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    more = {"agent_id": options.agent} if options.agent else {}
    block = client.context(" ".join(options.query), token_budget=options.tokens, user_id=user_of(options, env), **more)
    if options.json:
        print_json({"context": block.text, "ids": plain(block.ids), "tokens": block.tokens})
    elif block.text:
        print(safe(block.text))
    else:
        print("nothing found", file=sys.stderr)
    return 0


def _update(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    given = {
        "content": None if options.text is None else _text(options.text),
        "importance": options.importance,
        "memory_type": options.type,
        "tags": None if options.tag is None else [tag for tag in options.tag if tag],
        "metadata": options.metadata,
        "source": options.source,
        "occurred_at": options.occurred_at,
        "pinned": None if options.pinned is None else options.pinned == "yes",
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise InvalidInput(
            "nothing to change: give --text, --importance, --type, --tag, --metadata, --source, --at or --pinned"
        )
    return _shown(options, client.patch(options.id, user_id=user_of(options, env), **changes), "updated")


def _retract(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    done = client.retract(options.id, options.reason, user_id=user_of(options, env))
    print_json(done) if options.json else print(f"{safe(options.id)}  retracted")
    return 0


def _restore(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    return _shown(options, client.restore(options.id, user_id=user_of(options, env)), "restored")


def _history(options: argparse.Namespace, client: Memex, env: Mapping[str, str]) -> int:
    versions = client.history(options.id, user_id=user_of(options, env))
    if options.json:
        names = ("version", "action", "at", "actor", "reason", "content", "importance", "memory_type", "tags")
        print_json({"versions": [{name: plain(getattr(one, name)) for name in names} for one in versions]})
        return 0
    rows = [
        [str(v.version), f"{v.at:%Y-%m-%d %H:%M}", v.action, safe(v.actor or "-"), safe(v.reason or "-"),
         one_line(v.content, 80)]
        for v in versions
    ]  # fmt: skip
    print_table(["version", "at", "action", "by", "why", "text"], rows)
    return 0


def _text(given: str) -> str:
    return (sys.stdin.read() if given == "-" else given).strip("\n")


def _shown(options: argparse.Namespace, memory: Memory, done: str) -> int:
    print_json(memory_document(memory)) if options.json else print(f"{memory.id}  {done}")
    return 0
