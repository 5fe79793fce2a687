"""An HTTP answer as plain bytes: what an endpoint returns and the shell sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

__all__ = ["JSON", "Answer", "Headers", "dump"]

Headers = Sequence[tuple[bytes, bytes]]
JSON = b"application/json"


class Answer(NamedTuple):
    """Status, body and headers (lower-case names); content-type and content-length are added on sending."""

    status: int
    body: bytes = b""
    headers: Headers = ()
    media_type: bytes = JSON


def dump(document: Any) -> bytes:
    """Return compact JSON; times in UTC end in Z.

    Raises:
        TypeError: a value that JSON cannot hold.
    """
    return orjson.dumps(document, default=_plain, option=orjson.OPT_UTC_Z)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
