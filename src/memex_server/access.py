"""Who may call over HTTP: the bearer token, and the headers by which a foreign web page gives itself away."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Iterable
from urllib.parse import urlsplit

from memex.protocol.errors import Forbidden, MemexError, Unauthorized

__all__ = ["Access", "is_loopback"]

# Asked by orchestrators and Prometheus; they tell nothing of any memory.
_OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready", "/metrics"})


class Access:
    """The one check of requests over HTTP, for every face.

    Without a token the service listens on loopback only, where the danger is a page in the user's browser:
    it must not reach the service by a name that it lets point here (`Host`). Everywhere, a browser that
    comes from another place than the service itself is refused (`Origin`).
    """

    def __init__(self, token: str = "") -> None:
        self._token = token.encode()

    def refusal(self, path: str, headers: Iterable[tuple[bytes, bytes]]) -> MemexError | None:
        """Return why a request is refused, or None; header names are in lower case."""
        host = origin = authorization = b""
        for name, value in headers:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"authorization":
                authorization = value
        if not self._token and host and not is_loopback(_hostname(f"//{host.decode('latin-1')}")):
            return Forbidden("the Host header names another host; call 127.0.0.1, or set MEMEX_API_TOKEN")
        if origin and not _is_own(origin.decode("latin-1"), host.decode("latin-1")):
            return Forbidden(
                "the Origin header names another site; call from the service's own origin or from loopback"
            )
        if self._token and path not in _OPEN_PATHS:
            scheme, _, given = authorization.partition(b" ")
            if scheme.lower() != b"bearer" or not secrets.compare_digest(given.strip(), self._token):
                return Unauthorized("send the header `Authorization: Bearer <the value of MEMEX_API_TOKEN>`")
        return None


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only be this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_own(origin: str, host: str) -> bool:
    found = _hostname(origin)
    return bool(found) and (is_loopback(found) or urlsplit(origin).netloc.lower() == host.lower())


def _hostname(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
