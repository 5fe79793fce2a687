"""What commands print: JSON for programs, and text for people that cannot command their terminal."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..rest import plain

__all__ = ["explained", "one_line", "print_json", "print_table", "progress", "progress_end", "safe", "width_of"]

_MAX_LINE_CHARS = 160


def print_json(document: Any) -> None:
    """Print a document as readable JSON."""
    print(json.dumps(plain(document), ensure_ascii=False, indent=2, default=str))


def safe(text: str) -> str:
    """Return `text` without control characters, which could command the terminal; line ends and tabs stay."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cs"} else "\ufffd" for c in text)


def one_line(text: str, most: int = _MAX_LINE_CHARS) -> str:
    """Return the beginning of `text` as one line of at most `most` characters."""
    line = " ".join(safe(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def width_of(text: str) -> int:
    """Return how many columns of a terminal `text` takes; Chinese and Japanese characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if not unicodedata.combining(c))


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, indent: str = "") -> None:
    """Print rows in columns; the last column is not padded."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(width_of(line[at]) for line in lines) for at in range(len(head))]
    for line in lines:
        cells = [cell + " " * (width - width_of(cell)) for cell, width in zip(line[:-1], widths, strict=False)]
        print((indent + "  ".join([*cells, line[-1]])).rstrip())


def explained(explanation: Mapping[str, Any]) -> Iterable[Sequence[str]]:
    """Return the rows of one result's explanation: component or signal, value, weight, share."""
    for group in ("components", "signals"):
        for name, part in (explanation.get(group) or {}).items():
            numbers = [f"{float(part[key]):.3f}" for key in ("value", "weight", "share")]
            yield [f"{name}" if group == "components" else f"  {name}", *numbers]


def progress(done: int, total: int | None, what: str) -> None:
    """Show how far a long work is, on a terminal's standard error only."""
    if not sys.stderr.isatty():
        return
    share = f" of {total:,}" if total is not None else ""
    sys.stderr.write(f"\r\x1b[K{what} {done:,}{share}")
    sys.stderr.flush()


def progress_end() -> None:
    """Take the progress line away."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
