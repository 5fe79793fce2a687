"""Logs of the commands on stderr: one line each, as text or as JSON. A host that loads the plugin logs its own way."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

__all__ = ["JsonLines", "log_to_stderr"]


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def log_to_stderr(*, level: int = logging.WARNING, as_json: bool = False, stream: TextIO | None = None) -> None:
    """Send memex' own logs to stderr from now on; a second call replaces the first."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if as_json else logging.Formatter("%(levelname)s %(message)s"))
    log = logging.getLogger(__package__)
    for old in [h for h in log.handlers if isinstance(h.formatter, JsonLines) or h.get_name() == __name__]:
        log.removeHandler(old)
    handler.set_name(__name__)
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False
