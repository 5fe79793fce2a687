"""Named SQL blocks: what stands between `-- name: x` lines of a `.sql` file's text."""

from __future__ import annotations

import re

from .patterns import lazy

__all__ = ["named_statements"]

_HEADER = lazy(r"^-- name: (\w+)[^\S\n]*$", re.MULTILINE)


def named_statements(source: str) -> dict[str, str]:
    """Return each statement of `source` by its name, comment lines left out."""
    pieces = _HEADER.split(source)[1:]
    return {
        name: "\n".join(line for line in body.splitlines() if not line.startswith("--")).strip()
        for name, body in zip(pieces[0::2], pieces[1::2], strict=True)
    }
