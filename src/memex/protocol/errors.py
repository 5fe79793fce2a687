"""The exception tree of memex.

    MemexError
    ├── InvalidInput        the caller sent something that can never work (422)
    ├── Unauthorized        the token is missing or is not the right one (401)
    ├── Forbidden           a request that a web page of somebody else may have sent (403)
    ├── NotFound            no such memory in this scope (404)
    ├── Conflict            the state of the store forbids it (409)
    ├── TooLarge            a body or batch beyond the limit (413)
    ├── RateLimited         too many calls; try again after `retry_after_s` (429)
    ├── Unavailable         an outage: database or embedder is down; try again later (503)
    └── SetupError          the service cannot start as configured; says what to do

Every error carries a stable `code`; adapters raise these and keep the driver's error as
`__cause__`; each face maps them in one table.
"""

from __future__ import annotations

__all__ = [
    "Conflict",
    "Forbidden",
    "InvalidInput",
    "MemexError",
    "NotFound",
    "RateLimited",
    "SetupError",
    "TooLarge",
    "Unauthorized",
    "Unavailable",
]


class MemexError(Exception):
    """Root of all errors that memex raises on purpose; `str(error)` is written for the caller."""

    code = "internal"


class InvalidInput(MemexError):
    """The caller sent something that can never work; `field` names the part, if one is to blame."""

    code = "invalid_input"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class Unauthorized(MemexError):
    """The bearer token is missing, or it is not one that this service knows."""

    code = "unauthorized"


class Forbidden(MemexError):
    """The request names a host or an origin that is not this service's own."""

    code = "forbidden"


class NotFound(MemexError):
    """There is no such memory in the scope that was asked."""

    code = "not_found"


class Conflict(MemexError):
    """The state of the store forbids it; `existing_id` names the memory in the way, if there is one."""

    code = "conflict"

    def __init__(self, message: str, *, existing_id: str | None = None) -> None:
        super().__init__(message)
        self.existing_id = existing_id


class TooLarge(MemexError):
    """A body or a batch is beyond its limit."""

    code = "too_large"


class RateLimited(MemexError):
    """Too many calls of one operation by one agent within the window."""

    code = "rate_limited"

    def __init__(self, message: str, *, limit: int, remaining: int, retry_after_s: float) -> None:
        super().__init__(message)
        self.limit = limit
        self.remaining = remaining
        self.retry_after_s = retry_after_s


class Unavailable(MemexError):
    """A part that memex needs is down; the same call may work after `retry_after_s`."""

    code = "unavailable"

    def __init__(self, message: str, *, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class SetupError(MemexError):
    """The service cannot start as configured; the message says what to do."""

    code = "setup"
