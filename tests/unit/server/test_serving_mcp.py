"""MCP comes up behind REST: early calls wait for it, and neither a failure nor a slow load holds anything up."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from typing import Any

import pytest

from memex_server import late
from memex_server.access import Access
from memex_server.settings import from_env
from tests.faces.fake_service import FakeService

_PORT = 8001
_CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count_memories", "arguments": {}}}


class _Load:
    """Loads a module when it is told to, or fails."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self._load = late.loaded

    async def __call__(self, face: str) -> Any:
        self.begun.set()
        await self.may_end.wait()
        if self.failure:
            raise self.failure
        return await self._load(face)


async def _asked(app: Any) -> tuple[int, Any]:
    headers = [(b"content-type", b"application/json"), (b"accept", b"application/json"), (b"host", b"127.0.0.1")]
    scope = {"type": "http", "method": "POST", "path": "/mcp/", "headers": headers, "server": ("127.0.0.1", _PORT)}
    told: list[Any] = []

    async def receive() -> Any:
        if told:
            await asyncio.Event().wait()  # the client stays
        return {"type": "http.request", "body": json.dumps(_CALL).encode(), "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    async with asyncio.timeout(20):
        await app({**scope, "query_string": b"", "raw_path": b"/mcp/"}, receive, send)
    return told[0]["status"], json.loads(b"".join(message.get("body", b"") for message in told))


async def test_calls_that_come_early_wait_and_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    load = _Load()
    monkeypatch.setattr(late, "loaded", load)
    app = late.LateMcp()
    async with app.serving(FakeService().as_service(), from_env({}), Access()):
        early = [asyncio.create_task(_asked(app)) for _ in range(3)]
        assert not (await asyncio.wait(early, timeout=0.05))[0]
        load.may_end.set()
        for status, answer in await asyncio.gather(*early):
            assert (status, answer["result"]["structuredContent"]["count"]) == (200, 0)
        assert gc.get_freeze_count() > 10_000  # what was loaded is not looked through again and again
    gc.unfreeze()


async def test_what_cannot_be_loaded_is_told_by_each_call(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    load = _Load(ImportError("No module named 'anyio'"))
    load.may_end.set()
    monkeypatch.setattr(late, "loaded", load)
    app = late.LateMcp()
    async with app.serving(FakeService().as_service(), from_env({}), Access()):
        for _ in range(2):
            status, answer = await _asked(app)
            assert status == 503
            assert "MCP cannot be served: ImportError: No module named 'anyio'" in answer["error"]["message"]
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == ["MCP cannot be served"]


async def test_the_end_does_not_wait_for_what_is_still_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    load = _Load()
    monkeypatch.setattr(late, "loaded", load)
    app = late.LateMcp()
    async with asyncio.timeout(5) as limit:
        async with app.serving(FakeService().as_service(), from_env({}), Access()):
            await asyncio.sleep(0)
    assert not limit.expired()
    assert not load.may_end.is_set()


async def test_it_loads_once_rest_is_quiet_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    load = _Load()
    monkeypatch.setattr(late, "loaded", load)
    monkeypatch.setattr(late, "_QUIET_S", 0.05)
    app = late.LateMcp()
    now = asyncio.get_running_loop().time
    async with asyncio.timeout(20), app.serving(FakeService().as_service(), from_env({}), Access()):
        busy_until = now() + 6 * late._QUIET_S
        while now() < busy_until:
            app.rest_called()
            await asyncio.sleep(0)
        assert not load.begun.is_set()
        await load.begun.wait()


async def test_patterns_are_compiled_when_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = threading.Event()
    monkeypatch.setattr(late, "_QUIET_S", 0.01)
    monkeypatch.setattr(late, "compile_all", compiled.set)
    async with asyncio.timeout(20), late.LateMcp().serving(FakeService().as_service(), from_env({}), Access()):
        assert await asyncio.to_thread(compiled.wait, 15)
    gc.unfreeze()
