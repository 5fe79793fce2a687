"""A service with a token, and one that would listen beyond loopback without."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.acceptance.served import Answer, Served, Services, call

pytestmark = pytest.mark.timeout(240)

_TOKEN = "correct-horse-battery-staple"
_RIGHT = {"Authorization": f"Bearer {_TOKEN}"}
_COUNT = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count_memories", "arguments": {}}}


@pytest.fixture(scope="module")
def guarded(services: Services) -> Iterator[Served]:
    with services.running({"MEMEX_API_TOKEN": _TOKEN, "MEMEX_HOST": "0.0.0.0"}) as served:
        yield served


def _mcp(served: Served, message: object, headers: Mapping[str, str], path: str = "/mcp/") -> Answer:
    accept = {"Accept": "application/json, text/event-stream", **headers}
    return call(int(served.env["MEMEX_MCP_PORT"]), "POST", path, message, headers=accept)


def test_beyond_loopback_a_token_is_needed_to_start(services: Services) -> None:
    served = services.new({"MEMEX_HOST": "0.0.0.0"})
    served.start(wait=False)
    assert served.wait_end() == 1
    assert "MEMEX_API_TOKEN" in served.stderr()
    assert "Traceback" not in served.stderr()


def test_both_ports_ask_for_the_token_and_health_does_not(guarded: Served) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        rest = guarded.call("GET", "/v1/memories/count?user_id=u", headers=headers)
        assert (rest.status, rest.json()["code"]) == (401, "unauthorized")
        assert rest.headers["www-authenticate"] == "Bearer"
        assert rest.headers["content-type"] == "application/problem+json"
        mcp = _mcp(guarded, _COUNT, headers)
        assert (mcp.status, mcp.headers["www-authenticate"]) == (401, "Bearer")
    assert guarded.call("GET", "/v1/memories/count?user_id=u", headers=_RIGHT).status == 200
    answer = _mcp(guarded, _COUNT, _RIGHT)
    assert answer.status == 200
    assert answer.json()["result"]["structuredContent"]["count"] == 0
    assert guarded.call("GET", "/metrics").status == 200
    assert _TOKEN not in guarded.output()


def test_a_page_of_another_site_reaches_neither_port(guarded: Served) -> None:
    headers = {**_RIGHT, "Origin": "http://evil.example"}
    assert guarded.call("GET", "/v1/memories/count?user_id=u", headers=headers).status == 403
    assert _mcp(guarded, _COUNT, headers).status == 403


def test_mcp_over_http_keeps_no_session_and_minds_its_manners(guarded: Served) -> None:
    # A client that never shook hands, as after a restart of the service under a live client.
    assert _mcp(guarded, _COUNT, {**_RIGHT, "Mcp-Session-Id": "of-a-process-that-is-gone"}).status == 200
    assert _mcp(guarded, _COUNT, _RIGHT, path="/mcp").status == 200
    note = _mcp(guarded, {"jsonrpc": "2.0", "method": "notifications/initialized"}, _RIGHT)
    assert (note.status, note.body) == (202, b"")
    port = int(guarded.env["MEMEX_MCP_PORT"])
    for method in ("GET", "DELETE"):
        answer = call(port, method, "/mcp/", headers={**_RIGHT, "Accept": "text/event-stream"})
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert call(port, "GET", "/v1/memories/count?user_id=u", headers=_RIGHT).status == 404
    for body, code in ((b"{", -32700), (b"[]", -32600), (b'"text"', -32600)):
        status, answered = _raw(port, body)
        assert (status, answered["id"], answered["error"]["code"]) == (400, None, code)


@pytest.mark.parametrize("line", [b"FOO /health HTTP/1.1", b"GET /" + b"x" * 70_000 + b" HTTP/1.1", b"\x16\x03\x01"])
@pytest.mark.parametrize("name", ["MEMEX_PORT", "MEMEX_MCP_PORT"])
def test_what_is_no_http_is_answered_with_a_problem(guarded: Served, line: bytes, name: str) -> None:
    with socket.create_connection(("127.0.0.1", int(guarded.env[name])), timeout=20) as connection:
        connection.sendall(line + b"\r\n\r\n")
        head, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json")
    assert json.loads(body)["detail"].startswith("no request of HTTP/1.1")


def _raw(port: int, body: bytes) -> tuple[int, Any]:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {**_RIGHT, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    try:
        connection.request("POST", "/mcp/", body, headers)
        answer = connection.getresponse()
        return answer.status, json.load(answer)
    finally:
        connection.close()
