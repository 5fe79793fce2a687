"""Regular expressions that are compiled when they are first used: to compile all of them takes most of a second."""

from __future__ import annotations

import re
from typing import Any, cast

__all__ = ["compile_all", "lazy"]

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


class _Lazy:
    """Stands for a pattern, and has its methods from the first use of one on."""

    __slots__ = ("_flags", "pattern", *_METHODS)

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copying and the like
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


_KNOWN: list[_Lazy] = []


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, not compiled yet; for patterns that live as long as their module."""
    made = _Lazy(pattern, int(flags))
    _KNOWN.append(made)
    return cast("re.Pattern[str]", made)


def compile_all() -> int:
    """Compile what modules that are loaded have, so that no call has to; return how many patterns they are.

    Raises:
        re.error: one of them is none.
    """
    for one in _KNOWN:
        one.search  # noqa: B018 - asking for it is what compiles it
    return len(_KNOWN)
