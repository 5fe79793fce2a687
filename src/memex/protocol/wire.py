"""HTTP as values: a request to send, a response to judge, and the error that a refusal stands for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from .errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    MemexError,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthorized,
    Unavailable,
)

__all__ = ["Request", "Response", "document", "encode", "error_of", "refusal"]

_MAX_MESSAGE_CHARS = 300
_DEFAULT_RETRY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request below a base URL. `reads`: it changes nothing, so it may be sent twice."""

    operation: str
    method: str
    path: str
    body: bytes | None = None
    reads: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back; header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def encode(body: Mapping[str, Any]) -> bytes:
    """Return a JSON body. Raises InvalidInput for what JSON or Unicode cannot hold."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as e:  # UnicodeEncodeError, for a lone surrogate, is a ValueError
        raise InvalidInput(f"this cannot be sent as JSON: {str(e)[:_MAX_MESSAGE_CHARS]}") from e


def document(response: Response) -> Any:
    """Return the JSON that a response holds. Raises Unavailable: something else answers there."""
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError) as e:
        kind = response.headers.get("content-type", "no type")
        raise Unavailable(
            f"the answer is not JSON (status {response.status}, {kind}): is the URL that of a memory service?"
        ) from e


def error_of(response: Response) -> MemexError | None:
    """Return the error that a status outside 200..299 stands for."""
    if 200 <= response.status < 300:
        return None
    try:
        body = json.loads(response.body)
    except (ValueError, RecursionError):
        body = None
    fallback = f"the service answered with status {response.status}"
    message, details = _described(body, fallback)
    if 300 <= response.status < 400:
        where = response.headers.get("location", "elsewhere")
        return Unavailable(f"the service redirects to {where[:_MAX_MESSAGE_CHARS]}: use that as the URL")
    return refusal(response.status, message, details, headers=response.headers)


def refusal(
    status: int,
    message: str,
    details: Mapping[str, Any] | None = None,
    *,
    headers: Mapping[str, str] | None = None,
) -> MemexError:
    """Return the error of the tree for an HTTP status, with what body and headers add."""
    details, headers = details or {}, headers or {}
    if status in {401, 403}:
        return Unauthorized(message) if status == 401 else Forbidden(message)
    if status == 404:
        return NotFound(message)
    if status == 409:
        existing = details.get("existing_id")
        return Conflict(message, existing_id=existing if isinstance(existing, str) else None)
    if status == 413:
        return TooLarge(message)
    if status == 429:
        return RateLimited(
            message,
            limit=_number(headers.get("ratelimit-limit")),
            remaining=_number(headers.get("ratelimit-remaining")),
            retry_after_s=_retry_after_s(headers),
        )
    if status in {408, 425} or status >= 500:
        return Unavailable(message, retry_after_s=_retry_after_s(headers))
    return InvalidInput(message, field=_field(details))


def _described(body: Any, fallback: str) -> tuple[str, Mapping[str, Any]]:
    """Find the message in the shapes in use: our envelope, RFC 9457, FastAPI's own, plain ones."""
    if not isinstance(body, Mapping):
        return fallback, {}
    error = body.get("error")
    details = error if isinstance(error, Mapping) else body
    for text in (details.get("message"), details.get("detail"), error, body.get("message"), body.get("msg")):
        if isinstance(text, str) and text.strip():
            return text.strip()[:_MAX_MESSAGE_CHARS], details
    return fallback, details


def _field(details: Mapping[str, Any]) -> str | None:
    if isinstance(details.get("field"), str):
        return str(details["field"])
    errors = details.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    return str(first["field"]) if isinstance(first, Mapping) and first.get("field") else None


def _retry_after_s(headers: Mapping[str, str]) -> float:
    text = headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text)
    at, sent = _date(text), _date(headers.get("date", ""))
    # A date is compared with the answer's own, so that a clock that is wrong here does no harm.
    return max(0.0, (at - sent).total_seconds()) if at and sent else _DEFAULT_RETRY_S


def _date(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
