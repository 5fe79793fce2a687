"""Patterns of English, Chinese and Japanese, each tried on the texts of its language only."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .fold import canonical
from .patterns import lazy

__all__ = ["Signs"]

_KANA = lazy("[\u3041-\u30ff]")
_HAN = lazy("[\u3400-\u9fff]")


class Signs:
    """Patterns of three languages: one with kana is tried on Japanese, one with Han only on Chinese, others on all.

    They are spelled as `fold` spells the text that they are tried on. Without kana a text may be either.
    """

    def __init__(self, *patterns: str) -> None:
        """Sort and compile the patterns."""
        self._japanese = _either(p for p in patterns if _KANA.search(p))
        self._chinese = _either(p for p in patterns if _HAN.search(p) and not _KANA.search(p))
        self._all = _either(p for p in patterns if not _HAN.search(p) and not _KANA.search(p))

    def search(self, said: str) -> re.Match[str] | None:
        """Return the first match of any pattern that is meant for the language of `said`."""
        found = self._all.search(said)
        if found or said.isascii():
            return found
        if _KANA.search(said):
            return self._japanese.search(said)
        return self._chinese.search(said) or self._japanese.search(said)


def _either(patterns: Iterable[str]) -> re.Pattern[str]:
    return lazy("|".join(map(canonical, patterns)) or r"(?!)")
