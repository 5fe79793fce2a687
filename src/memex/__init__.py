"""memex: one long-term memory for AI agents. This package imports the standard library only."""

from __future__ import annotations

from ._version import __version__

__all__ = ["__version__"]
