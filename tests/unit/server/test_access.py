"""Who may call over HTTP: hosts, origins, and the token."""

from __future__ import annotations

import pytest

from memex.protocol.errors import Forbidden, MemexError, Unauthorized
from memex_server.access import Access, is_loopback

_TOKEN = "a long random text"


def _refused(access: Access, path: str = "/v1/memories", **headers: str) -> type[MemexError] | None:
    refusal = access.refusal(path, [(name.encode(), value.encode("latin-1")) for name, value in headers.items()])
    return None if refusal is None else type(refusal)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost", "localhost:8000", "[::1]:8000", "127.8.9.1", "me.localhost:1"]
)
def test_without_a_token_a_loopback_host_may_call(host: str) -> None:
    assert _refused(Access(), host=host) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1:8000",
        "[::1",
        "@",
        "0x7f.1",
    ],
)
def test_without_a_token_a_name_that_points_here_may_not(host: str) -> None:
    assert _refused(Access(), host=host) is Forbidden
    # With one, a foreign page has no way to know it.
    assert _refused(Access(_TOKEN), host=host, authorization=f"Bearer {_TOKEN}") is None


@pytest.mark.parametrize(
    ("origin", "refused"),
    [
        ("http://127.0.0.1:8000", None),
        ("http://localhost:5173", None),
        ("http://evil.example", Forbidden),
        ("https://127.0.0.1.evil.example", Forbidden),
        ("null", Forbidden),
        ("http://[::1", Forbidden),
    ],
)
@pytest.mark.parametrize("access", [Access(), Access(_TOKEN)], ids=["open", "token"])
def test_a_page_of_another_site_may_not_call(access: Access, origin: str, refused: type[MemexError] | None) -> None:
    assert _refused(access, host="127.0.0.1:8000", origin=origin, authorization=f"Bearer {_TOKEN}") is refused


def test_the_services_own_origin_may_call_under_any_name() -> None:
    headers = {"host": "memex.example:8443", "authorization": f"Bearer {_TOKEN}"}
    assert _refused(Access(_TOKEN), origin="https://memex.example:8443", **headers) is None
    assert _refused(Access(_TOKEN), origin="https://other.example:8443", **headers) is Forbidden


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer wrong", f"Basic {_TOKEN}", f"Bearer {_TOKEN}x", _TOKEN, "Bearer \xe9"]
)
def test_the_token_must_be_the_right_one(given: str) -> None:
    assert _refused(Access(_TOKEN), host="h", authorization=given) is Unauthorized


def test_the_right_token_opens_and_orchestrators_need_none() -> None:
    access = Access(_TOKEN)
    assert _refused(access, host="h", authorization=f"bearer  {_TOKEN}") is None
    for path in ("/health", "/health/live", "/health/ready", "/metrics"):
        assert _refused(access, path, host="h") is None
    for path in ("/docs", "/mcp/", "/v1/memories", "/health/other", "/openapi.json"):
        assert _refused(access, path, host="h") is Unauthorized


@pytest.mark.parametrize(
    ("host", "so"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.1.2.3", False),
        ("memex", False),
    ],
)
def test_beyond_loopback_is_known(host: str, so: bool) -> None:
    assert is_loopback(host) is so
