"""Every error of the REST face as an RFC 9457 problem document: the one mapping table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from memex.protocol.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    MemexError,
    NotFound,
    RateLimited,
    SetupError,
    TooLarge,
    Unauthorized,
    Unavailable,
)
from memex.protocol.ops import PREFIX
from memex_server.http.answer import Answer, Headers, dump
from memex_server.http.fields import NO_NUL, PRINTABLE
from memex_server.logs import request_id

__all__ = [
    "STATUS_OF",
    "FieldError",
    "HttpProblem",
    "InvalidRequest",
    "Problem",
    "answer_of",
    "clip",
    "field_errors",
    "problem_of",
]

_MEDIA_TYPE = b"application/problem+json"
_MAX_ECHO_CHARS = 80
_MAX_DETAIL_CHARS = 500
_MAX_ERRORS = 20

FieldError = dict[str, str]

# Most specific first: the first class that matches decides.
STATUS_OF: Sequence[tuple[type[MemexError], HTTPStatus]] = (
    (InvalidInput, HTTPStatus.UNPROCESSABLE_ENTITY),
    (Unauthorized, HTTPStatus.UNAUTHORIZED),
    (Forbidden, HTTPStatus.FORBIDDEN),
    (NotFound, HTTPStatus.NOT_FOUND),
    (Conflict, HTTPStatus.CONFLICT),
    (TooLarge, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    (RateLimited, HTTPStatus.TOO_MANY_REQUESTS),
    (Unavailable, HTTPStatus.SERVICE_UNAVAILABLE),
    (SetupError, HTTPStatus.INTERNAL_SERVER_ERROR),
    (MemexError, HTTPStatus.INTERNAL_SERVER_ERROR),
)

# The titles of RFC 9110; the standard library of Python 3.11 still has older ones for two.
_TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_media_type"}

# pydantic's own words would show a pattern or an implementation type.
_MESSAGES = {
    NO_NUL: "must not contain the NUL character",
    PRINTABLE: "must be printable ASCII",
    "string_unicode": "contains a lone surrogate, which is not Unicode text",
    "extra_forbidden": "is not known here",
    "missing": "is required",
    "model_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
}


class HttpProblem(MemexError):
    """A refusal that only HTTP knows: unknown path, wrong method, wrong media type."""

    def __init__(self, status: int, message: str, *, headers: Headers = ()) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers
        self.code = _CODES.get(status, "http_error")


class InvalidRequest(InvalidInput):
    """A body, query or header that does not fit its model; `errors` says what is wrong where."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        shown = f"{errors[0]['field']}: {errors[0]['message']}" if errors[0]["field"] else errors[0]["message"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(shown + more, field=errors[0]["field"])
        self.errors = list(errors[:_MAX_ERRORS])


@dataclass(frozen=True, slots=True)
class Problem:
    """An RFC 9457 document before it is bytes."""

    status: int
    detail: str
    code: str
    errors: Sequence[FieldError] = ()
    headers: Headers = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the members of the document, in the order of the RFC."""
        document: dict[str, Any] = {
            "type": "about:blank",
            "title": _TITLES.get(self.status) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            **self.extra,
        }
        if self.errors:
            document["errors"] = list(self.errors)
        return document

    def answer(self) -> Answer:
        """Return the document as the answer to the request that is being served."""
        document = self.document()
        rid = request_id.get()
        if rid is not None:
            document["instance"] = f"urn:memex:request:{rid}"
        return Answer(self.status, dump(document), self.headers, _MEDIA_TYPE)

    def enveloped(self) -> Answer:
        """Return the same in the envelope of the unified protocol."""
        error = {"code": self.code, "message": self.detail, **self.extra}
        if self.errors:
            error["field"] = self.errors[0]["field"]
        return Answer(self.status, dump({"success": False, "error": error}), self.headers)


def answer_of(error: Exception, path: str) -> Answer:
    """Return the answer to a request to `path` that ended in `error`: enveloped for the unified protocol."""
    problem = problem_of(error)
    return problem.enveloped() if path.startswith(f"{PREFIX}/") else problem.answer()


def problem_of(error: Exception) -> Problem:
    """Map any error; one that memex did not raise on purpose becomes a 500 without its text."""
    if isinstance(error, HttpProblem):
        return Problem(error.status, clip(str(error), _MAX_DETAIL_CHARS), error.code, headers=error.headers)
    if not isinstance(error, MemexError):
        return Problem(500, "The request failed inside the service; its log has the request id.", "internal")
    status = next(status for kind, status in STATUS_OF if isinstance(error, kind))
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return Problem(500, "The request failed inside the service; its log has the request id.", error.code)
    detail = clip(str(error), _MAX_DETAIL_CHARS)
    errors: Sequence[FieldError] = ()
    headers: Headers = ()
    extra: dict[str, Any] = {}
    if isinstance(error, InvalidRequest):
        errors = error.errors
    elif isinstance(error, InvalidInput) and error.field:
        errors = [{"field": clip(error.field), "message": detail}]
    elif isinstance(error, Unauthorized):
        headers = [(b"www-authenticate", b"Bearer")]
    elif isinstance(error, Conflict) and error.existing_id:
        extra["existing_id"] = error.existing_id
    elif isinstance(error, RateLimited):
        headers = _rate_limit_headers(error)
    elif isinstance(error, Unavailable):
        headers = [(b"retry-after", _whole_seconds(error.retry_after_s))]
    return Problem(int(status), detail, error.code, errors, headers, extra)


def field_errors(error: ValidationError, prefix: str = "") -> list[FieldError]:
    """Return what pydantic found as {field, message}; the values themselves are not repeated."""
    found: dict[tuple[str, str], None] = {}
    for item in error.errors(include_url=False, include_input=False):
        # Union members and "[key]" markers are pydantic's view, not a place in the caller's document.
        where = ".".join(clip(str(part)) for part in (prefix, *item["loc"]) if part != "")
        message, kind = item["msg"], item["type"]
        if kind == "string_pattern_mismatch":
            kind = item["ctx"]["pattern"]
        if item["type"] == "json_invalid":
            message = f"is not valid JSON: {item['ctx']['error']}"
        found[(where, clip(_MESSAGES.get(kind, message), 200))] = None
    return [{"field": where, "message": message} for where, message in found]


def clip(text: str, max_chars: int = _MAX_ECHO_CHARS) -> str:
    """Return `text` as valid Unicode of at most `max_chars`, for messages that echo a caller's value."""
    if not text.isascii():
        text = text.encode(errors="replace").decode()
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def _whole_seconds(seconds: float) -> bytes:
    return str(max(1, math.ceil(seconds))).encode()


def _rate_limit_headers(error: RateLimited) -> Headers:
    reset = _whole_seconds(error.retry_after_s)
    headers = [(b"retry-after", reset)]
    for prefix in (b"ratelimit-", b"x-ratelimit-"):
        headers += [
            (prefix + b"limit", str(error.limit).encode()),
            (prefix + b"remaining", str(error.remaining).encode()),
            (prefix + b"reset", reset),
        ]
    return headers
