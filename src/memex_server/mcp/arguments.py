"""Reads the arguments of a call by the tool's own schema, as leniently as agents write them.

A list or object that arrives as a JSON string is accepted, and so is a number written as text; null
means "not given". What cannot be meant is refused with the name of the argument and what would be right.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from memex.protocol.errors import InvalidInput

from .catalogue import Schema, ToolSpec

__all__ = ["read_arguments"]


def read_arguments(tool: ToolSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that were given, with defaults filled in and every value of its schema's type.

    Ids are UUID, times datetime. Raises InvalidInput.
    """
    for name in given:
        if name not in tool.properties:
            near = difflib.get_close_matches(name, tool.properties, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(tool.properties)}"
            raise InvalidInput(f"{name[:80]}: {tool.name} has no such argument; {hint}", field=name[:80])
    read = {}
    for name, schema in tool.properties.items():
        value = given.get(name)
        if value is not None:
            read[name] = _value(name, schema, value)
        elif "default" in schema:
            read[name] = schema["default"]
        elif name in tool.required:
            raise InvalidInput(f"{name}: is required", field=name)
    return read


def _value(name: str, schema: Schema, value: Any) -> Any:
    try:
        return _READERS[schema["type"]](schema, value)
    except InvalidInput as e:
        raise InvalidInput(f"{name}: {e}", field=name) from e


def _string(schema: Schema, value: Any) -> Any:
    if not isinstance(value, str):
        raise InvalidInput(f"must be a string, not {_kind(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidInput(f"must be one of {', '.join(schema['enum'])}")
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf):
        raise InvalidInput(f"must have {schema['minLength']} to {schema['maxLength']:,} characters, not {len(value):,}")
    read = _FORMATS.get(schema.get("format", ""))
    return read(value) if read else value


def _uuid(value: str) -> UUID:
    try:
        return UUID(value)
    except ValueError as e:
        raise InvalidInput("must be a UUID, as storing and searching return it") from e


def _time(value: str) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except ValueError as e:
        raise InvalidInput("must be a time in ISO 8601, like 2026-05-26T10:30:00Z") from e


def _number(schema: Schema, value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError as e:
            raise InvalidInput("must be a number") from e
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"must be a number, not {_kind(value)}")
    if not schema["minimum"] <= value <= schema["maximum"]:  # also refuses nan
        raise InvalidInput(f"must be {schema['minimum']} to {schema['maximum']}, not {value}")
    return float(value)


def _integer(schema: Schema, value: Any) -> int:
    number = _number(schema, value)
    if number != int(number):
        raise InvalidInput(f"must be a whole number, not {value}")
    return int(number)


def _boolean(_schema: Schema, value: Any) -> bool:
    found = {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise InvalidInput("must be true or false")
    return found


def _array(schema: Schema, value: Any) -> tuple[Any, ...]:
    found = _parsed(value, '["one", "two"]')
    if not isinstance(found, list):
        raise InvalidInput(f'must be a list like ["one", "two"], not {_kind(found)}')
    if len(found) > schema["maxItems"]:
        raise InvalidInput(f"at most {schema['maxItems']}, not {len(found)}")
    return tuple(_string(schema["items"], item) for item in found)


def _mapping(_schema: Schema, value: Any) -> dict[str, Any]:
    found = _parsed(value, '{"key": "value"}')
    if not isinstance(found, dict):
        raise InvalidInput(f"must be a JSON object, not {_kind(found)}")
    return found


def _parsed(value: Any, example: str) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as e:
        raise InvalidInput(f"must be JSON like {example}") from e


def _kind(value: Any) -> str:
    names = {str: "a string", bool: "true or false", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), "a number")


_FORMATS: dict[str, Callable[[str], Any]] = {"uuid": _uuid, "date-time": _time}
_READERS: dict[str, Callable[[Schema, Any], Any]] = {
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "array": _array,
    "object": _mapping,
}
