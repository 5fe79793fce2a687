"""Builds the MCP server of the official SDK around one service."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import Any
from urllib.parse import quote, unquote

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from memex import __version__
from memex.protocol.errors import (
    Conflict,
    InvalidInput,
    MemexError,
    NotFound,
    RateLimited,
    SetupError,
    TooLarge,
    Unavailable,
)
from memex_server.service import MemoryService

from .arguments import read_arguments
from .catalogue import (
    CONTEXT_URI,
    INSTRUCTIONS,
    PROMPT,
    RESOURCE_TEMPLATE,
    Profile,
    Schema,
    ToolSpec,
    context_resource,
    tools_of,
)
from .context import context_of
from .tools import Caller, call

__all__ = ["Opened", "build"]

_LOG = logging.getLogger(__name__)
# Clients give up on a call after 60 s; before that they are told what is going on.
_PATIENCE_S = 45.0
_MAX_NAME_CHARS = 128

Opened = Callable[[], Awaitable[MemoryService]]
_Context = ServerRequestContext[Any]

# What an error tells an agent to do, beside its own text. Most specific first.
_ADVICE: Sequence[tuple[type[MemexError], str]] = (
    (InvalidInput, "correct the argument and call again"),
    (NotFound, "search for it again; the id may be of a memory that is gone"),
    (Conflict, "the same memory is there already"),
    (TooLarge, "send less at once"),
    (RateLimited, "wait, then call again"),
    (Unavailable, "call again in a moment"),
    (SetupError, "tell the user: memex cannot run as it is set up; `memex doctor` says more"),
)


def build(
    service: MemoryService | Opened, *, user_id: str, agent_id: str = "", bound: bool = False, profile: Profile = "full"
) -> Server[Any]:
    """Return the server; `service` may be a function that waits until the service is open.

    Calls without `user_id` are for `user_id`; with `bound`, so are those by a memory's id alone. Calls
    without `agent_id` are for `agent_id`, or for the client by its name.
    """
    handlers = _Handlers(service, Caller(user_id, agent_id, bound), {tool.name: tool for tool in tools_of(profile)})
    return Server(
        "memex",
        version=__version__,
        title="memex",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        get_tool_input_schema=handlers.input_schema,
    )


class _Handlers:
    """One method for each request of the protocol."""

    def __init__(self, service: MemoryService | Opened, caller: Caller, tools: Mapping[str, ToolSpec]) -> None:
        self._service = service
        self._caller = caller
        self._tools = tools

    # -- tools -----------------------------------------------------------------------------------

    async def list_tools(self, _ctx: _Context, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool.model_validate(tool.definition()) for tool in self._tools.values()]
        )

    def input_schema(self, name: str) -> Schema | None:
        schema: Schema | None = self._tools[name].definition()["inputSchema"] if name in self._tools else None
        return schema

    async def call_tool(self, ctx: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            known = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:80]}; known: {known}")
        started = perf_counter()
        outcome = "ok"
        try:
            arguments = read_arguments(tool, params.arguments or {})
            structured = await call(tool.name, await self._opened(), self._caller_of(ctx), arguments)
            return types.CallToolResult(content=[_text(_dump(structured))], structured_content=structured)
        except Exception as e:  # noqa: BLE001 - the outermost frame: whatever it is becomes an error result
            outcome, message = _told(e)
            return types.CallToolResult(content=[_text(message)], is_error=True, _meta={"memex/code": outcome})
        finally:
            duration_ms = round((perf_counter() - started) * 1000, 2)
            extra = {"action": "mcp.call", "tool": tool.name, "outcome": outcome, "duration_ms": duration_ms}
            _LOG.info("call", extra=extra)

    def _caller_of(self, ctx: _Context) -> Caller:
        client = ctx.session.client_params
        name = self._caller.agent_id or (client.client_info.name if client else "")
        return dataclasses.replace(self._caller, agent_id=name.strip()[:_MAX_NAME_CHARS] or "mcp")

    async def _opened(self) -> MemoryService:
        if not callable(self._service):
            return self._service
        try:
            return await asyncio.wait_for(self._service(), _PATIENCE_S)
        except TimeoutError as e:
            raise Unavailable("memex is still starting (the first start makes database and model)") from e

    # -- the prompt and the resource ---------------------------------------------------------------

    async def list_prompts(self, _ctx: _Context, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt.model_validate(PROMPT)])

    async def get_prompt(self, _ctx: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROMPT["name"]:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:80]}; known: {PROMPT['name']}")
        given = params.arguments or {}
        text = await self._context(given.get("user_id") or self._caller.user_id, given.get("topic"))
        message = types.PromptMessage(role="user", content=_text(text))
        return types.GetPromptResult(description=PROMPT["description"], messages=[message])

    async def list_resources(self, _ctx: _Context, _params: Any) -> types.ListResourcesResult:
        own = context_resource(quote(self._caller.user_id, safe=""))
        return types.ListResourcesResult(resources=[types.Resource.model_validate(own)])

    async def list_templates(self, _ctx: _Context, _params: Any) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate.model_validate(RESOURCE_TEMPLATE)
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(self, _ctx: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        of = unquote(uri.removeprefix(CONTEXT_URI))
        if not uri.startswith(CONTEXT_URI) or not of:
            raise MCPError(types.INVALID_PARAMS, f"Unknown resource: {uri[:200]}", {"uri": uri[:200]})
        text = types.TextResourceContents(uri=params.uri, text=await self._context(of), mime_type="text/plain")
        return types.ReadResourceResult(contents=[text])

    async def _context(self, user_id: str, topic: str | None = None) -> str:
        try:
            return await context_of(await self._opened(), user_id, topic)
        except Exception as e:
            code, message = _told(e)
            wrong = types.INVALID_PARAMS if isinstance(e, InvalidInput) else types.INTERNAL_ERROR
            raise MCPError(wrong, message, {"code": code}) from e


def _told(error: Exception) -> tuple[str, str]:
    """Return code and text of an error; one that memex did not raise on purpose keeps its text to itself."""
    if not isinstance(error, MemexError):
        # The text of a driver's error may hold a memory; the stack and the class are enough to find the fault.
        stack = "".join(traceback.format_tb(error.__traceback__))
        _LOG.error("call failed", extra={"action": "mcp.failed", "error": type(error).__name__, "stack": stack})
        return "internal", "internal: the call failed inside memex; its log says where"
    advice = next((text for kind, text in _ADVICE if isinstance(error, kind)), "")
    if isinstance(error, RateLimited):
        advice = f"wait {max(1, round(error.retry_after_s))} s, then call again"
    text = str(error).encode(errors="replace").decode()
    return error.code, f"{error.code}: {text} ({advice})"


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _dump(structured: dict[str, Any]) -> str:
    return json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
