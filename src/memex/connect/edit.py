"""Changes one entry in a client's configuration text and leaves every other character as it is.

JSON may hold comments and trailing commas, as several clients allow. Of TOML, only tables at the top
level of the text are added and removed, which is all that is needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..protocol.errors import SetupError

__all__ = ["get_json", "remove_json", "remove_toml", "set_json", "set_toml"]

_SPACE = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d[\d.eE+-]*|true|false|null")


@dataclass(frozen=True, slots=True)
class _Member:
    """One `"key": value` of an object: where key and value begin and end in the text."""

    key: str
    start: int
    value: int
    end: int


def get_json(text: str, path: Sequence[str]) -> Any:
    """Return the value at `path`, None if there is none. Raises SetupError."""
    if not text.strip():
        return None
    at = _skip(text, 0)
    for key in path:
        found = next((member for member in _members(text, at)[0] if member.key == key), None)
        if found is None:
            return None
        at = found.value
    try:
        return json.loads(text[at : _end_of(text, at)])
    except ValueError as e:
        raise SetupError(f"line {_line(text, at)}: not readable as JSON") from e


def set_json(text: str, path: Sequence[str], value: Any) -> str:
    """Return `text` with `value` at `path`; objects that are missing on the way are made. Raises SetupError."""
    if not text.strip():
        text = "{}\n"
    at = _skip(text, 0)
    _end_of(text, at)  # the whole has to be readable before a part of it is changed
    for depth, key in enumerate(path):
        members, close = _members(text, at)
        found = next((member for member in members if member.key == key), None)
        if found is None:
            rest: Any = value
            for name in reversed(path[depth + 1 :]):
                rest = {name: rest}
            return _with_member(text, at, members, close, (key, rest))
        if depth == len(path) - 1:
            return text[: found.value] + _shown(value, _indent_of(text, found.start)) + text[found.end :]
        at = found.value
    raise AssertionError("a path has at least one key")


def remove_json(text: str, path: Sequence[str]) -> str:
    """Return `text` without what is at `path`, nor objects on the way that are empty then. Raises SetupError."""
    if not text.strip():
        return text
    places: list[tuple[int, int]] = []
    at = _skip(text, 0)
    for key in path:
        members, _ = _members(text, at)
        index = next((i for i, member in enumerate(members) if member.key == key), None)
        if index is None:
            return text
        places.append((at, index))
        at = members[index].value
    while True:
        at, index = places.pop()
        members, close = _members(text, at)
        if len(members) > 1 or not places:
            return _without_member(text, at, members, close, index)


def set_toml(text: str, table: str, lines: Sequence[str]) -> str:
    """Return `text` with the table, in the place of one of that name or at the end."""
    without = remove_toml(text, table)
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not without else end if without.endswith("\n") else end * 2
    return f"{without}{gap}[{table}]{end}" + "".join(f"{line}{end}" for line in lines)


def remove_toml(text: str, table: str) -> str:
    """Return `text` without the table and those below it, and without the empty line that sets it apart.

    That is the one before it, or behind it at the text's beginning. What else stands behind the table's last
    value, comments and empty lines, is not the table's.
    """
    kept: list[str] = []
    inside = False
    behind: list[str] = []
    for line in text.splitlines(keepends=True):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]", line)
        if header:
            name = header.group(1).replace('"', "").replace(" ", "")
            ours = name == table or name.startswith(f"{table}.")
            if not ours:
                kept += behind if kept else _without_first_gap(behind)
            elif not inside and kept and not kept[-1].strip():
                kept.pop()
            inside, behind = ours, []
        if not inside:
            kept.append(line)
        elif not line.strip() or line.lstrip().startswith("#"):
            behind.append(line)
        else:
            behind = []
    return "".join(kept + (behind if kept else _without_first_gap(behind)))


def _without_first_gap(lines: list[str]) -> list[str]:
    return lines[1:] if lines and not lines[0].strip() else lines


def _with_member(text: str, at: int, members: list[_Member], close: int, entry: tuple[str, Any]) -> str:
    outer = _indent_of(text, at)
    key = json.dumps(entry[0], ensure_ascii=False)
    if not members:
        indent = outer + "  "
        return f"{text[: at + 1]}\n{indent}{key}: {_shown(entry[1], indent)}\n{outer}{text[close:]}"
    # In front of the others, where neither comments nor trailing commas can be in the way.
    first = members[0].start
    own_line = not text[text.rfind("\n", 0, first) + 1 : first].strip()
    indent = _indent_of(text, first)
    gap = f"\n{indent}" if own_line else " "
    return f"{text[:first]}{key}: {_shown(entry[1], indent)},{gap}{text[first:]}"


def _without_member(text: str, at: int, members: list[_Member], close: int, index: int) -> str:
    if len(members) == 1:
        return text[: at + 1] + text[close:]
    if index:  # from the end of the one before, its comma included
        return text[: members[index - 1].end] + text[members[index].end :]
    return text[: members[0].start] + text[members[1].start :]


def _members(text: str, at: int) -> tuple[list[_Member], int]:
    """Return the members of the object that begins at `at`, and where its closing brace is."""
    if text[at : at + 1] != "{":
        raise SetupError(f"line {_line(text, at)}: expected an object")
    members = []
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        key = _STRING.match(text, at)
        colon = _skip(text, key.end()) if key else at
        if key is None or text[colon : colon + 1] != ":":
            raise SetupError(f"line {_line(text, at)}: not readable as JSON")
        value = _skip(text, colon + 1)
        end = _end_of(text, value)
        members.append(_Member(json.loads(key.group()), at, value, end))
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "}":
            raise SetupError(f"line {_line(text, at)}: expected a comma or a closing brace")
    return members, at


def _end_of(text: str, at: int) -> int:
    """Return where the value that begins at `at` ends."""
    if text[at : at + 1] == "{":
        return _members(text, at)[1] + 1
    if text[at : at + 1] == "[":
        at = _skip(text, at + 1)
        while text[at : at + 1] != "]":
            at = _skip(text, _end_of(text, at))
            if text[at : at + 1] == ",":
                at = _skip(text, at + 1)
            elif text[at : at + 1] != "]":
                raise SetupError(f"line {_line(text, at)}: expected a comma or a closing bracket")
        return at + 1
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if found is None:
        raise SetupError(f"line {_line(text, at)}: not readable as JSON")
    return found.end()


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _shown(value: Any, indent: str) -> str:
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, indent=2, ensure_ascii=False).replace("\n", f"\n{indent}")
