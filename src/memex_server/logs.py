"""Logging: one handler for everything, JSON lines or text, each line with the id of its request."""

from __future__ import annotations

import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson
from pythonjsonlogger.orjson import OrjsonFormatter

__all__ = ["ACCESS_ACTION", "configure_logging", "log_access", "redact", "request_id"]

ACCESS_ACTION = "http.request"

request_id: ContextVar[str | None] = ContextVar("memex_request_id", default=None)

_FIELDS = {"levelname": "level", "name": "logger"}
_URL_PASSWORD = re.compile(r"(://[^\s:/@\"']*):[^\s@\"']+@")
_BEARER = re.compile(r"(?i)\b(bearer|basic|api[-_]?key[\"']?\s*[:=])\s+[^\s\"',]+")


def redact(line: str) -> str:
    """Return `line` without passwords in URLs and without authorisation values."""
    if "://" in line:
        line = _URL_PASSWORD.sub(r"\1:***@", line)
    return _BEARER.sub(r"\1 ***", line) if "earer" in line or "asic" in line or "ey" in line else line


class _WithRequestId(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


def log_access(logger: logging.Logger, level: int, fields: dict[str, Any]) -> None:
    """Log one served request; `fields`: method, route, status, duration_ms - never a value of the caller's."""
    # One line per request: finding the calling frame and merging extras would cost more than the rest of the shell.
    record = logging.LogRecord(logger.name, level, __file__, 0, "request", (), None)
    record.__dict__.update(action=ACCESS_ACTION, access=fields)
    logger.handle(record)


class _JsonFormatter(OrjsonFormatter):
    def format(self, record: logging.LogRecord) -> str:
        access: dict[str, Any] | None = getattr(record, "access", None)
        if access is None:
            return redact(super().format(record))
        line = {
            "level": record.levelname,
            "logger": record.name,
            "message": record.msg,
            "request_id": request_id.get(),
            "action": ACCESS_ACTION,
            **access,
            "time": datetime.fromtimestamp(record.created, UTC),
        }
        return orjson.dumps(line).decode()


class _TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        access: dict[str, Any] | None = getattr(record, "access", None)
        if access is None:
            return redact(line)
        return f"{line} {access['method']} {access['route']} {access['status']} {access['duration_ms']} ms"


def configure_logging(level: str, log_format: str, stream: TextIO | None = None) -> None:
    """Send all logs, uvicorn's too, through one handler to `stream` (default: standard error).

    `log_format`: `json` or `text`. uvicorn must be started with `log_config=None, access_log=False`.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.addFilter(_WithRequestId())
    handler.setFormatter(
        _JsonFormatter("%(levelname)s %(name)s %(message)s %(request_id)s", rename_fields=_FIELDS, timestamp="time")
        if log_format == "json"
        else _TextFormatter("%(asctime)s %(levelname)-7s %(name)s [%(request_id)s] %(message)s")
    )
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = name != "uvicorn.access"
    # Libraries that would put requests or statements with their values into the log.
    for name in ("asyncpg", "httpx", "httpcore", "asyncio"):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    # In an outage it warns with a whole traceback at each try; memex says it once, in one line.
    logging.getLogger("asyncpg.pool").setLevel(logging.ERROR)
