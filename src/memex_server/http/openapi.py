"""The parts of the OpenAPI document that FastAPI does not write by itself."""

from __future__ import annotations

from typing import Any

from memex_server.http.documents import ProblemOut, RefusalOut

__all__ = ["problems", "refusals", "with_problem_media_type"]

_PROBLEM = "application/problem+json"
_SECONDS = {"schema": {"type": "integer", "minimum": 0}}
_RETRY = {"Retry-After": {"description": "Seconds until a new try is worth it.", **_SECONDS}}
_MEANINGS: dict[int, tuple[str, dict[str, Any]]] = {
    404: ("There is no such memory in the scope that was asked.", {}),
    409: ("The state of the store forbids it, or the Idempotency-Key was used with another body.", {}),
    413: ("The body is larger than the service accepts.", {}),
    415: ("The body is not application/json in UTF-8.", {}),
    422: ("The request does not fit; `errors` says what is wrong where.", {}),
    429: (
        "Too many calls of this agent within a minute.",
        {
            **_RETRY,
            "RateLimit-Limit": {"description": "Calls allowed in any minute.", **_SECONDS},
            "RateLimit-Remaining": {"description": "Calls left.", **_SECONDS},
            "RateLimit-Reset": {"description": "Seconds until a call is free.", **_SECONDS},
        },
    ),
    500: ("The request failed inside the service.", {}),
    503: ("A part that memex needs is down; try again.", _RETRY),
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of the problem answers of one operation; 500 and 503 are always among them."""
    found: dict[int | str, dict[str, Any]] = {}
    for status in (*statuses, 500, 503):
        meaning, headers = _MEANINGS[status]
        found[status] = {"model": ProblemOut, "description": meaning, **({"headers": headers} if headers else {})}
    return found


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the same for an operation of the unified protocol, whose errors are in its envelope."""
    return {status: {**answer, "model": RefusalOut} for status, answer in problems(*statuses).items()}


def with_problem_media_type(document: dict[str, Any]) -> dict[str, Any]:
    """Return `document` with each error answer under its real media type (changed in place)."""
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                content = answer.get("content", {})
                schema = content.get("application/json", {}).get("schema", {})
                if status >= "400" and not schema.get("$ref", "/RefusalOut").endswith("/RefusalOut"):
                    answer["content"] = {_PROBLEM: content["application/json"]}
    return document
