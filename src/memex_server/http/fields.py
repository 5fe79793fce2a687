"""Field types of the REST bodies and queries: what a value may be, said once."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, Strict
from pydantic_core import PydanticCustomError

from memex.core.filters import compile_metadata, invalid_metadata_reason
from memex.core.memory import (
    MAX_CONTENT_CHARS,
    MAX_ID_CHARS,
    MAX_QUERY_CHARS,
    MAX_SOURCE_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    MAX_TOP_K,
    utc,
)

__all__ = [
    "MAX_CURSOR_CHARS",
    "NO_NUL",
    "PRINTABLE",
    "Alpha",
    "Content",
    "Cursor",
    "Flag",
    "HalfLife",
    "Id",
    "Importance",
    "Instant",
    "Limit",
    "Metadata",
    "MetadataFilter",
    "Query",
    "QueryFlag",
    "SessionId",
    "Source",
    "Tag",
    "Tags",
    "Text",
    "TopK",
    "Weight",
    "Whole",
    "Word",
]

MAX_CURSOR_CHARS = 2048

# PostgreSQL text cannot hold NUL. Lone surrogates never get this far: the JSON parser refuses them.
NO_NUL = r"^[^\u0000]*$"
PRINTABLE = r"^[ -~]+$"  # what a header can hold

_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?([Zz]|[+-]\d{2}(:?\d{2})?)?)?")


def _written_time(value: Any) -> Any:
    # Numbers and numeric strings would pass as Unix times, which nobody means by a date.
    if isinstance(value, datetime) or (isinstance(value, str) and _DATE_TIME.fullmatch(value)):
        return value
    raise PydanticCustomError("time", "must be a time in ISO 8601, like 2026-05-26T10:30:00Z")


def _in_utc(value: datetime) -> datetime:
    try:
        return utc(value)
    except OverflowError as e:
        raise PydanticCustomError("time", "is outside the years 1 to 9999 in UTC") from e


def _true_or_false(value: Any) -> Any:
    if value in {"true", "false"}:
        return value == "true"
    if isinstance(value, bool):
        return value
    raise PydanticCustomError("flag", "must be true or false")


def _number_as_text(value: Any) -> Any:
    # Conversations are often numbered; bool is an int in Python, not in JSON.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _json_number(value: Any) -> Any:
    # 10.0 is an integer in JSON Schema, and what some languages write for 10; "10" and true are not.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number", "must be a whole number")
    return value


def _digits(value: Any) -> Any:
    if isinstance(value, int) or (isinstance(value, str) and value.isascii() and value.isdigit()):
        return value
    raise PydanticCustomError("digits", "must be a whole number")


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    reason = invalid_metadata_reason(value)
    if reason is not None:
        raise PydanticCustomError("metadata", "{reason}", {"reason": reason})
    return value


def _searchable(value: dict[str, Any]) -> dict[str, Any]:
    try:
        compile_metadata(value)
    except ValueError as e:
        raise PydanticCustomError("metadata_filter", "{reason}", {"reason": str(e)}) from None
    return value


Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS, pattern=NO_NUL)]
SessionId = Annotated[
    Id, BeforeValidator(_number_as_text, json_schema_input_type=Id | Annotated[int, Field(ge=-(2**63), lt=2**63)])
]
Content = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT_CHARS, pattern=NO_NUL)]
Query = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS, pattern=NO_NUL)]
Source = Annotated[str, Field(min_length=1, max_length=MAX_SOURCE_CHARS, pattern=NO_NUL)]
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARS, pattern=NO_NUL)]
Text = Annotated[str, Field(pattern=NO_NUL)]
Word = Annotated[Text, Field(max_length=MAX_TAG_CHARS)]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS)]
Cursor = Annotated[str, Field(min_length=1, max_length=MAX_CURSOR_CHARS, pattern=NO_NUL)]
Metadata = Annotated[dict[str, Any], AfterValidator(_storable)]
MetadataFilter = Annotated[dict[str, Any], AfterValidator(_searchable)]
Instant = Annotated[datetime, BeforeValidator(_written_time), AfterValidator(_in_utc)]
Importance = Annotated[float, Strict(), Field(ge=0, le=2, allow_inf_nan=False)]
Alpha = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
Weight = Annotated[float, Strict(), Field(ge=0, le=1_000_000, allow_inf_nan=False)]
HalfLife = Annotated[float, Strict(), Field(ge=0.001, le=36_500, allow_inf_nan=False)]
Whole = Annotated[int, BeforeValidator(_json_number)]
TopK = Annotated[Whole, Field(ge=1, le=MAX_TOP_K)]
Flag = Annotated[bool, Strict()]
QueryFlag = Annotated[bool, BeforeValidator(_true_or_false)]
Limit = Annotated[int, Field(ge=1, le=200), BeforeValidator(_digits)]
