"""Tells a repeat from something new, as far back as the last thousand."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

__all__ = ["Repeats"]


class Repeats:
    """Remembers digests of what was told, the latest `most` of them."""

    def __init__(self, most: int = 1_024) -> None:
        self._most = most
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def is_new(self, *what: str) -> bool:
        """Whether exactly these strings were not told before; from now on they were."""
        digest = hashlib.sha256("\x00".join(what).encode("utf-8", "surrogatepass")).digest()
        if digest in self._known:
            self._known.move_to_end(digest)
            return False
        self._known[digest] = None
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return True

    def clear(self) -> None:
        """Begin anew."""
        self._known.clear()
