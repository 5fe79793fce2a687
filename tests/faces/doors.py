"""The doors into one memex, all used alike: an operation by name with its arguments, and what came of it.

A new face is one more class with `do`, and one more line in `DOORS`. Operations are named and take
arguments as the MCP tools do: store_memory, search_memories, get_memory, update_memory, delete_memory,
count_memories.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import io
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import httpx
from mcp import Client, StdioServerParameters

from memex.cli import main
from memex.client import Memex
from memex.protocol.errors import MemexError
from memex.rest import memory_document
from memex_server.mcp.server import build
from memex_server.settings import from_env
from memex_server.wiring import open_memex
from tests.acceptance.served import MEMEX, Served

__all__ = [
    "DOORS", "Cli", "Door", "Mcp", "Opener", "Outcome", "Python", "Rest", "held", "mcp_http", "mcp_memory", "mcp_stdio", "python",
    "rest",
]  # fmt: skip


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`code` is "ok" or the stable code of the error; `text` is what a person or an agent reads of it."""

    code: str
    value: dict[str, Any] = field(default_factory=dict)
    text: str = ""


class Door(Protocol):
    """One way in."""

    async def do(self, operation: str, **arguments: Any) -> Outcome:
        """Carry out one operation."""


class Mcp:
    """Any MCP client, whatever its transport."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def do(self, operation: str, **arguments: Any) -> Outcome:
        result = await self.client.call_tool(operation, arguments)
        text = "".join(getattr(part, "text", "") for part in result.content)
        if result.is_error:
            assert result.structured_content is None
            return Outcome(str((result.meta or {})["memex/code"]), text=text)
        assert isinstance(result.structured_content, dict)
        return Outcome("ok", result.structured_content, text)


class Rest:
    """REST v1."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def do(self, operation: str, **arguments: Any) -> Outcome:
        given = dict(arguments)
        path = f"/v1/memories/{given.pop('memory_id', '')}"
        scope: dict[str, Any] = {
            name: given.pop(name) for name in ("user_id", "agent_id") if name in given and path[-1] != "/"
        }
        calls: dict[str, tuple[str, str, dict[str, Any], dict[str, Any] | None]] = {
            "store_memory": ("POST", "/v1/memories", {}, given),
            "search_memories": ("POST", "/v1/memories/search", {}, given),
            "get_memory": ("GET", path, scope, None),
            "update_memory": ("PATCH", path, scope, given),
            "delete_memory": ("DELETE", path, scope, None),
            "count_memories": ("GET", "/v1/memories/count", given, None),
        }
        method, path, query, body = calls[operation]
        answer = await self._http.request(method, path, params=query, json=body)
        if answer.is_success:
            return Outcome("ok", answer.json() if answer.content else {})
        problem = answer.json()
        return Outcome(problem["code"], text=problem["detail"])


class Python:
    """The Python client, whose calls block, in threads."""

    def __init__(self, client: Memex) -> None:
        self._client = client

    async def do(self, operation: str, **arguments: Any) -> Outcome:
        try:
            return Outcome("ok", await asyncio.to_thread(self._call, operation, arguments))
        except MemexError as e:
            return Outcome(e.code, text=str(e))

    def _call(self, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        client = self._client
        if operation == "store_memory":
            return memory_document(client.store(**given).memory)
        if operation == "search_memories":
            hits = client.search(**given)
            results = [{**memory_document(hit.memory), "score": hit.score} for hit in hits]
            return {"results": results, "query": given["query"], "total": len(hits)}
        if operation == "count_memories":
            return {**given, "count": client.count(**given)}
        if operation == "delete_memory":
            client.delete(**given)
            return {}
        return memory_document(client.get(**given) if operation == "get_memory" else client.patch(**given))


class Cli:
    """The command line, in this process: one command at a time, since all write to the same standard output."""

    # The name of an argument, where the option is called otherwise.
    _OPTIONS = {  # noqa: RUF012 - a table
        "user_id": "--user", "agent_id": "--agent", "memory_type": "--type", "occurred_at": "--at", "tags": "--tag",
        "top_k": "--top-k",
    }  # fmt: skip
    _CODES = {2: "invalid_input", 3: "not_found", 4: "unavailable"}  # noqa: RUF012 - another

    def __init__(self, url: str) -> None:
        self._url = url
        self._one = threading.Lock()

    async def do(self, operation: str, **arguments: Any) -> Outcome:
        given = dict(arguments)
        command = operation.split("_", maxsplit=1)[0]
        words = [command, "--url", self._url, "--json"]
        last = [given.pop(name) for name in ("query", "memory_id") if name in given]
        text = given.pop("content", None)
        if command == "store":
            last = ["-"]  # the text comes by standard input, which holds what an argument cannot
        elif text is not None:
            given["text"] = text
        for name, value in given.items():
            option = self._OPTIONS.get(name, f"--{name}")
            for one in value if isinstance(value, list) and name == "tags" else [value]:
                words += [option, one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)]
        status, out, err = await asyncio.to_thread(self._run, [*words, *last], text or "")
        if status == 0:
            return Outcome("ok", json.loads(out))
        for name, option in self._OPTIONS.items():
            err = err.replace(f"argument {option}", name)
        return Outcome(self._CODES[status], text=err)

    def _run(self, words: list[str], text: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with self._one, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            before, sys.stdin = sys.stdin, io.StringIO(text)
            try:
                status = main(words)
            except SystemExit as e:
                status = int(e.code or 0)
            finally:
                sys.stdin = before
        return status, out.getvalue(), err.getvalue()


@contextlib.asynccontextmanager
async def held(context: AbstractAsyncContextManager[_T]) -> AsyncIterator[_T]:
    """Enter and leave `context` in a task of its own: a fixture begins and ends in two, which clients do not bear."""
    opened: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
    end = asyncio.Event()

    async def live() -> None:
        async with context as one:
            opened.set_result(one)
            await end.wait()

    life = asyncio.create_task(live())
    both: set[asyncio.Future[Any]] = {life, opened}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    if not opened.done():
        await life  # raises why
    try:
        yield opened.result()
    finally:
        end.set()
        await life


Opener = Callable[[Served], AbstractAsyncContextManager[Door]]


@contextlib.asynccontextmanager
async def rest(served: Served) -> AsyncIterator[Door]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}", timeout=60, trust_env=False) as http:
        yield Rest(http)


@contextlib.asynccontextmanager
async def mcp_http(served: Served) -> AsyncIterator[Door]:
    async with Client(f"http://127.0.0.1:{served.env['MEMEX_MCP_PORT']}/mcp/") as client:
        yield Mcp(client)


@contextlib.asynccontextmanager
async def mcp_stdio(served: Served) -> AsyncIterator[Door]:
    async with Client(StdioServerParameters(command=MEMEX, args=["mcp"], env=served.env)) as client:
        yield Mcp(client)


@contextlib.asynccontextmanager
async def mcp_memory(served: Served) -> AsyncIterator[Door]:
    settings = from_env({name: value for name, value in served.env.items() if name.startswith(("MEMEX_", "RATE_"))})
    small = dataclasses.replace(settings.database, db_min_pool_size=1, db_max_pool_size=4)
    async with (
        open_memex(dataclasses.replace(settings, database=small)) as service,
        Client(build(service, user_id="somebody")) as client,
    ):
        yield Mcp(client)


@contextlib.asynccontextmanager
async def cli(served: Served) -> AsyncIterator[Door]:
    yield Cli(f"http://127.0.0.1:{served.port}")


@contextlib.asynccontextmanager
async def python(served: Served) -> AsyncIterator[Door]:
    yield Python(Memex(f"http://127.0.0.1:{served.port}"))


DOORS: dict[str, Opener] = {
    "REST": rest,
    "Python client": python,
    "CLI": cli,
    "MCP in memory": mcp_memory,
    "MCP over HTTP": mcp_http,
    "MCP over stdio": mcp_stdio,
}
