"""HTTP by the standard library: one request, one response, nothing followed and nothing repeated."""

from __future__ import annotations

import http.client
import ipaddress
import time
import urllib.error
import urllib.request
from typing import Any, Protocol
from urllib.parse import urlsplit

from .._version import __version__
from ..protocol.errors import SetupError, Unavailable
from ..protocol.wire import Request, Response

__all__ = ["HttpTransport", "Transport", "base_url_of"]

_CHUNK_BYTES = 65_536
_MAX_BODY_BYTES = 256 * 2**20  # an answer beyond this is none of ours


class Transport(Protocol):
    """Carries a request to a service."""

    def send(self, request: Request, *, timeout_s: float) -> Response:
        """Return the response, whatever its status. Raises Unavailable when there is none in time."""


def base_url_of(url: str, *, name: str) -> str:
    """Return the address of a service without what belongs to its paths; `name` is the setting it comes from.

    Raises:
        SetupError: it is not an http or https address.
    """
    trimmed = url.strip().rstrip("/").removesuffix("/api/v1/memory").rstrip("/")
    try:
        parts = urlsplit(trimmed)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or any(c.isspace() for c in trimmed) or not trimmed.isascii():
        raise SetupError(f"{name}: expected an address such as http://127.0.0.1:8000")
    return trimmed


class HttpTransport:
    """Implements `Transport` with urllib. Redirects are answers, so a token never goes to another host."""

    def __init__(self, base_url: str, *, token: str = "") -> None:
        """`base_url` as from `base_url_of`; `token` goes into every request.

        Raises:
            SetupError: the token cannot stand in a header.
        """
        if not token.isascii() or any(c.isspace() for c in token):
            raise SetupError("the API token must be printable ASCII without spaces")
        self._base_url = base_url
        self._headers = {"User-Agent": f"memex/{__version__}", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        handlers: list[Any] = [_NoRedirect]
        if _is_loopback(urlsplit(base_url).hostname or ""):
            handlers.append(urllib.request.ProxyHandler({}))  # no proxy knows this machine's own loopback
        self._opener = urllib.request.build_opener(*handlers)

    def send(self, request: Request, *, timeout_s: float) -> Response:
        """See `Transport`. The timeout holds for the whole, slow answers included."""
        deadline = time.monotonic() + timeout_s
        prepared = urllib.request.Request(  # noqa: S310 - base_url_of has seen to the scheme
            self._base_url + request.path,
            data=request.body,
            headers={**self._headers, **request.headers},
            method=request.method,
        )
        try:
            with self._open(prepared, timeout_s) as answer:
                return _read(answer, deadline)
        except (OSError, http.client.HTTPException, ValueError) as e:
            raise Unavailable(f"{self._base_url} does not answer: {_reason(e, timeout_s)}") from e

    def _open(self, prepared: urllib.request.Request, timeout_s: float) -> Any:
        try:
            return self._opener.open(prepared, timeout=timeout_s)
        except urllib.error.HTTPError as e:
            return e  # an answer like any other, only with another status


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


def _read(answer: Any, deadline: float) -> Response:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    chunks: list[bytes] = []
    size = 0
    while chunk := answer.read1(_CHUNK_BYTES):
        size += len(chunk)
        if size > _MAX_BODY_BYTES:
            raise http.client.HTTPException(f"the answer is larger than {_MAX_BODY_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError
        chunks.append(chunk)
    length = headers.get("content-length", "")
    if length.isdecimal() and size < int(length):
        raise http.client.IncompleteRead(b"", int(length) - size)
    return Response(status=answer.status, headers=headers, body=b"".join(chunks))


def _reason(error: Exception, timeout_s: float) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return f"nothing within {timeout_s:g} s"
    if isinstance(cause, OSError) and cause.strerror:
        return str(cause.strerror)
    return str(cause) or type(cause).__name__


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
