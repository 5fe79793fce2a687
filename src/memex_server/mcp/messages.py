"""What is not a message of JSON-RPC 2.0, and how its sender is told: the SDK drops it, or calls it wrong arguments."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["INTERNAL_ERROR", "INVALID_PARAMS", "INVALID_REQUEST", "dumped", "error_message", "parsed", "refusal_of"]

_PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
_MAX_DEPTH = 100


def refusal_of(text: str | bytes) -> dict[str, Any] | None:
    """Return the error that answers `text`, None if it is one message; `id` is null where none can be read."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as e:
        return error_message(_PARSE_ERROR, f"Parse error: not readable as JSON: {e}")
    if isinstance(message, list):
        return error_message(INVALID_REQUEST, "Invalid Request: batches are not served; send one message at a time")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return error_message(INVALID_REQUEST, 'Invalid Request: a message is an object with "jsonrpc": "2.0"')
    request_id = message.get("id")
    if not isinstance(request_id, str | int) or isinstance(request_id, bool):
        request_id = None
    if "method" not in message:
        is_answer = "id" in message and ("result" in message) != ("error" in message)
        wrong = None if is_answer else (INVALID_REQUEST, "Invalid Request: neither a request nor an answer")
    elif "id" in message and request_id is None:
        wrong = (INVALID_REQUEST, "Invalid Request: id must be a string or a whole number")
    elif not isinstance(message["method"], str):
        wrong = (INVALID_REQUEST, "Invalid Request: method must be a string")
    else:
        wrong = _wrong_params(message.get("params"))
    return error_message(*wrong, request_id) if wrong else None


def _wrong_params(params: object) -> tuple[int, str] | None:
    if params is None:
        return None
    if not isinstance(params, dict):
        return INVALID_PARAMS, "Invalid params: must be an object"
    # Two things that are JSON and that the SDK cannot read: it would leave the caller without any answer.
    try:
        shown = json.dumps(params, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return INVALID_PARAMS, "Invalid params: half of a surrogate pair, which is not Unicode text"
    if shown.count(b"[") + shown.count(b"{") > _MAX_DEPTH and _depth(params) > _MAX_DEPTH:
        return INVALID_PARAMS, f"Invalid params: nested more than {_MAX_DEPTH} deep"
    return None


def _depth(value: object) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inside), default=0) if isinstance(value, dict | list) else 0


def error_message(code: int, message: str, request_id: str | int | None = None) -> dict[str, Any]:
    """Return an error as JSON-RPC has it."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def parsed(line: str) -> dict[str, Any]:
    """Return the message in a line, empty if it is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def dumped(message: dict[str, Any]) -> str:
    """Return a message as a line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"
