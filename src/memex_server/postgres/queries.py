"""Named statements from the package's `.sql` files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["load", "with_filters"]

_HEADER = re.compile(r"^-- (name|fragment): (\w+)\s*$", re.MULTILINE)

_OPTIONAL = re.compile(r"\(\$(\d+)::[\w\[\]]+ IS NULL OR ([^()]+)\)")


@cache
def load(name: str) -> dict[str, str]:
    """Return the statements of `sql/<name>.sql` by name.

    A block starts with `-- name: x` (a statement) or `-- fragment: x` (text that `{x}` in the
    statements of the same file stands for). Other `{placeholders}` are left alone.
    """
    source = files(__package__).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
    pieces = _HEADER.split(source)[1:]
    blocks: dict[str, dict[str, str]] = {"name": {}, "fragment": {}}
    for kind, key, body in zip(pieces[0::3], pieces[1::3], pieces[2::3], strict=True):
        lines = [line for line in body.splitlines() if not line.startswith("--")]
        blocks[kind][key] = "\n".join(lines).strip()
    statements = blocks["name"]
    for key, fragment in blocks["fragment"].items():
        statements = {k: v.replace("{" + key + "}", fragment) for k, v in statements.items()}
    return statements


def with_filters(statement: str, arguments: Sequence[Any]) -> str:
    """Return a statement in which those filters that are given are conditions of their own.

    `($4::text IS NULL OR m.agent_id = $4)` is right for every call, but no index can serve it.
    """
    return _OPTIONAL.sub(lambda m: m[0] if arguments[int(m[1]) - 1] is None else m[2], statement)
