"""Metadata: what may be stored, and filters on it, compiled to what PostgreSQL evaluates.

A filter is a mapping from key to condition:

    {"city": "Kyoto"}                    equal (jsonb containment; lists and objects: contained)
    {"price": {"$gte": 9, "$lt": 10}}    compared as numbers, or as text if both sides are text
    {"lang": {"$in": ["zh", "ja"]}}      one of
    {"draft": {"$exists": false}}        the key is absent
    {"author": {"name": {"$ne": "Li"}}}  within an object

`$ne` and `$nin` also hold where the key is absent. A list in the metadata meets an operator if
one of its elements does. All values travel as jsonpath variables, never as jsonpath text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .text import invalid_reason

__all__ = ["MAX_METADATA_BYTES", "MAX_METADATA_DEPTH", "MetadataQuery", "compile_metadata", "invalid_metadata_reason"]

MAX_METADATA_BYTES = 65_536
MAX_METADATA_DEPTH = 16
_MAX_CONDITIONS = 32
_MAX_FILTER_DEPTH = 8
_MAX_LIST = 256

_COMPARISONS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists")
# Beyond these a JSON reader would turn an integer into a float and lose digits.
_LEAST_INT, _MOST_INT = -(2**63), 2**64 - 1


@dataclass(frozen=True, slots=True)
class MetadataQuery:
    """A compiled filter, for `metadata @> contains AND jsonb_path_match(metadata, path::jsonpath, vars, true)`.

    `path` None means that the second condition is not needed.
    """

    contains: dict[str, Any] = field(default_factory=dict)
    path: str | None = None
    vars: dict[str, Any] = field(default_factory=dict)


def compile_metadata(filters: Mapping[str, Any]) -> MetadataQuery:
    """Compile `filters`; an empty mapping gives an empty query, which everything meets.

    Raises:
        ValueError: an unknown operator, a value that cannot be compared, or too many or too deep conditions.
    """
    if not filters:
        return MetadataQuery()
    reason = invalid_metadata_reason(filters)
    if reason is not None:
        raise ValueError(f"metadata filter {reason}")
    compiler = _Compiler()
    contains = compiler.object(filters, ())
    return MetadataQuery(contains, " && ".join(compiler.predicates) or None, compiler.vars)


class _Compiler:
    def __init__(self) -> None:
        self.predicates: list[str] = []
        self.vars: dict[str, Any] = {}
        self._conditions = 0

    def object(self, filters: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        """Compile one level and return its part of the containment."""
        if len(path) >= _MAX_FILTER_DEPTH:
            raise ValueError(f"metadata filter {_name(path)} is nested deeper than {_MAX_FILTER_DEPTH} levels")
        contains: dict[str, Any] = {}
        for key, value in filters.items():
            here = (*path, key)
            if key.startswith("$"):
                raise ValueError(
                    f"metadata filter {_name(here)}: an operator stands below a key: {{key: {{{key}: ...}}}}"
                )
            if not isinstance(value, Mapping):
                self._count()
                contains[key] = value
            elif any(name.startswith("$") for name in value):
                self._operators(value, here)
            elif value:
                within = self.object(value, here)
                if within:
                    contains[key] = within
            else:
                raise ValueError(f"metadata filter {_name(here)} is an empty object, which says nothing")
        return contains

    def _operators(self, operators: Mapping[str, Any], path: tuple[str, ...]) -> None:
        for operator, value in operators.items():
            if operator not in _OPERATORS:
                what = "unknown operator" if operator.startswith("$") else "operators are mixed with the key"
                raise ValueError(
                    f"metadata filter {_name(path)}: {what} {operator!r}; operators: {', '.join(_OPERATORS)}"
                )
            self._count()
            self.predicates.append(self._predicate(operator, value, path))

    def _predicate(self, operator: str, value: Any, path: tuple[str, ...]) -> str:
        target = "$" + "".join("." + json.dumps(key, ensure_ascii=False) for key in path)
        if operator == "$exists":
            if not isinstance(value, bool):
                raise ValueError(f"metadata filter {_name(path)}: $exists takes true or false")
            return f"{'' if value else '!'}exists({target})"
        if operator in _COMPARISONS:
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise ValueError(f"metadata filter {_name(path)}: {operator} takes a number or a text")
            return f"exists({target} ? (@ {_COMPARISONS[operator]} {self._variable(value)}))"
        # A comparison of unlike types is "unknown" in jsonpath; exists() makes it plainly false before it is negated.
        found = f"exists({target} ? ({self._equals_any(operator, value, path)}))"
        return f"!{found}" if operator in ("$ne", "$nin") else found

    def _equals_any(self, operator: str, value: Any, path: tuple[str, ...]) -> str:
        many = operator in ("$in", "$nin")
        if many and (not isinstance(value, Sequence) or isinstance(value, str)):
            raise ValueError(f"metadata filter {_name(path)}: {operator} takes a list")
        values = list(value) if many else [value]
        if len(values) > _MAX_LIST:
            raise ValueError(f"metadata filter {_name(path)}: {operator} takes at most {_MAX_LIST} values")
        if any(isinstance(item, Mapping | list | tuple) for item in values):
            raise ValueError(f"metadata filter {_name(path)}: {operator} compares single values, not lists or objects")
        # Nothing is in an empty list.
        return " || ".join(f"@ == {self._variable(item)}" for item in values) or "1 == 0"

    def _variable(self, value: Any) -> str:
        name = f"v{len(self.vars)}"
        self.vars[name] = value
        return f"${name}"

    def _count(self) -> None:
        self._conditions += 1
        if self._conditions > _MAX_CONDITIONS:
            raise ValueError(f"metadata filter has more than {_MAX_CONDITIONS} conditions")


def _name(path: tuple[str, ...]) -> str:
    return ".".join(path) or "(top)"


def invalid_metadata_reason(metadata: Mapping[str, Any]) -> str | None:
    """Return why `metadata` cannot be stored as jsonb and read back unchanged, or None if it can."""
    pending: list[tuple[Any, int]] = [(metadata, 1)]
    while pending:
        value, depth = pending.pop()
        if isinstance(value, Mapping | list | tuple):
            if depth > MAX_METADATA_DEPTH:
                return f"is nested deeper than {MAX_METADATA_DEPTH} levels"
            children = value
            if isinstance(value, Mapping):
                reason = _invalid_keys_reason(value)
                if reason is not None:
                    return reason
                children = list(value.values())
            pending.extend((child, depth + 1) for child in children)
        else:
            reason = _invalid_scalar_reason(value)
            if reason is not None:
                return reason
    size = len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":"), default=dict).encode())
    return f"takes {size} bytes, at most {MAX_METADATA_BYTES} are allowed" if size > MAX_METADATA_BYTES else None


def _invalid_keys_reason(mapping: Mapping[Any, Any]) -> str | None:
    for key in mapping:
        if not isinstance(key, str):
            return f"has a key that is not a string: {key!r}"
        reason = invalid_reason(key)
        if reason is not None:
            return f"has a key that {reason}"
    return None


def _invalid_scalar_reason(value: Any) -> str | None:
    if isinstance(value, str):
        reason = invalid_reason(value)
        return None if reason is None else f"has a string that {reason}"
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if _LEAST_INT <= value <= _MOST_INT else "has an integer beyond 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"has a number that is not finite: {value}"
    return f"has a value that is not JSON: {type(value).__name__}"
