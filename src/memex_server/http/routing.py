"""Routes that FastAPI documents and that are served without its per-request machinery.

An endpoint is declared as for FastAPI (`body: Model`, `query: Annotated[Model, Query()]`,
`memory_id: UUID`, `key: Annotated[str | None, Header()]`) and returns an `Answer`. `DirectRoute`
reads that declaration once and binds each request by itself, at a fifth of the cost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from inspect import signature
from typing import Any, cast, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl
from uuid import UUID

from fastapi import params
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.responses import Response
from starlette.types import Receive, Scope

from memex.protocol.errors import TooLarge
from memex_server.http.answer import Answer
from memex_server.http.errors import HttpProblem, InvalidRequest, clip, field_errors

__all__ = ["DirectRoute", "Disconnected", "RouteTable", "parse_body", "read_body"]

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MAX_QUERY_FIELDS = 200


class Disconnected(Exception):
    """The client went away before its request was read."""


class DirectRoute(APIRoute):
    """A route whose endpoint gets bound arguments and answers with an `Answer`.

    It is served by a `RouteTable`; FastAPI only documents it, so add it to the app itself, not to
    a router that is included. `any_query`: parameters that the endpoint does not declare are ignored.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], *, any_query: bool = False, **options: Any) -> None:
        super().__init__(path, endpoint, response_class=Response, **options)
        self.any_query = any_query
        self._call = cast(Callable[..., Awaitable[Answer]], endpoint)
        self._body: tuple[str, type[BaseModel]] | None = None
        self._query: tuple[str, type[BaseModel], Mapping[str, bool]] | None = None
        self._headers: list[tuple[str, bytes, TypeAdapter[Any]]] = []
        self._path_ids: list[str] = []
        hints = get_type_hints(endpoint, include_extras=True)
        for name in signature(endpoint).parameters:
            hint = hints[name]
            marks = get_args(hint)[1:] if hasattr(hint, "__metadata__") else ()
            plain = get_args(hint)[0] if marks else hint
            if any(isinstance(mark, params.Header) for mark in marks):
                self._headers.append((name, name.replace("_", "-").encode(), TypeAdapter(hint)))
            elif any(isinstance(mark, params.Query) for mark in marks):
                repeatable = {key: _is_list(info.annotation) for key, info in plain.model_fields.items()}
                self._query = (name, plain, repeatable)
            elif plain is UUID:
                self._path_ids.append(name)
            else:
                self._body = (name, plain)

    async def respond(
        self, scope: Scope, receive: Receive, path_values: Mapping[str, str], max_body_bytes: int
    ) -> Answer:
        """Bind the request, call the endpoint, return its answer.

        Raises:
            MemexError: the request does not fit, or the service refused it.
            Disconnected: the client left while its body was read.
        """
        arguments: dict[str, Any] = {}
        for name in self._path_ids:
            arguments[name] = _uuid(name, path_values[name])
        if self._query is not None:
            name, model, repeatable = self._query
            arguments[name] = _bind_query(model, repeatable, scope["query_string"])
        elif scope["query_string"] and not self.any_query:
            _bind_query(_NoQuery, {}, scope["query_string"])
        for name, header, adapter in self._headers:
            arguments[name] = _bind_header(adapter, header, scope["headers"])
        if self._body is not None:
            name, model = self._body
            _require_json(scope["headers"])
            arguments[name] = parse_body(model, await read_body(scope["headers"], receive, max_body_bytes))
        return await self._call(**arguments)


class _NoQuery(BaseModel, extra="forbid"):
    """No parameters."""


class RouteTable:
    """Finds the route of a path: fixed paths by one look-up, before those with an id in them."""

    def __init__(self, routes: Iterable[Any]) -> None:
        self._fixed: dict[str, dict[str, DirectRoute]] = {}
        self._patterns: list[tuple[re.Pattern[str], dict[str, DirectRoute]]] = []
        for route in routes:
            if not isinstance(route, DirectRoute):
                continue
            if route.param_convertors:
                known = next((r for p, r in self._patterns if p.pattern == route.path_regex.pattern), None)
                if known is None:
                    known = {}
                    self._patterns.append((route.path_regex, known))
            else:
                known = self._fixed.setdefault(route.path, {})
            for method in route.methods or ():
                known[method] = route
                if method == "GET":
                    known["HEAD"] = route

    def find(self, method: str, path: str) -> tuple[DirectRoute, Mapping[str, str]] | None:
        """Return the route and the values in its path; None for a path that is not in the table.

        Raises:
            HttpProblem: the path is known, but not with this method (405 with Allow).
        """
        by_method = self._fixed.get(path)
        values: Mapping[str, str] = {}
        if by_method is None:
            for pattern, candidates in self._patterns:
                if match := pattern.match(path):
                    by_method, values = candidates, match.groupdict()
                    break
            else:
                return None
        route = by_method.get(method)
        if route is None:
            allowed = ", ".join(sorted(by_method))
            raise HttpProblem(
                405, f"{clip(method)} is not allowed here; allowed: {allowed}", headers=[(b"allow", allowed.encode())]
            )
        return route, values


async def read_body(headers: Iterable[tuple[bytes, bytes]], receive: Receive, max_body_bytes: int) -> bytes:
    """Return the whole body; one that is too large is refused before it is read to its end.

    Raises:
        TooLarge: more than `max_body_bytes`, declared or sent.
        Disconnected: the client left.
    """
    for name, value in headers:
        if name == b"content-length" and value.isdigit() and int(value) > max_body_bytes:
            raise _too_large(max_body_bytes)
    message = await receive()
    body: bytes = message.get("body", b"")
    chunks = [body]
    size = len(body)
    while message.get("more_body", False) and size <= max_body_bytes:
        message = await receive()
        chunk: bytes = message.get("body", b"")
        chunks.append(chunk)
        size += len(chunk)
    if message["type"] == "http.disconnect":
        raise Disconnected
    if size > max_body_bytes:
        raise _too_large(max_body_bytes)
    return body if len(chunks) == 1 else b"".join(chunks)


def parse_body(model: type[BaseModel], raw: bytes) -> BaseModel:
    """Return the body as `model`.

    Raises:
        InvalidRequest: it is not JSON or does not fit; says where.
    """
    try:
        return model.model_validate_json(raw)
    except ValidationError as e:
        if e.error_count() == 1 and e.errors(include_url=False, include_input=False)[0]["type"] == "json_invalid":
            return _parse_loosely(model, raw, e)
        raise InvalidRequest(field_errors(e)) from None


def _parse_loosely(model: type[BaseModel], raw: bytes, error: ValidationError) -> BaseModel:
    # The fast parser refuses a whole body for one lone surrogate ("\ud800"); the slow one keeps it,
    # so that the model can say which field (or which item of a batch) it is in.
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidRequest(field_errors(error)) from None
    try:
        return model.model_validate(document)
    except ValidationError as e:
        raise InvalidRequest(field_errors(e)) from None


def _too_large(max_body_bytes: int) -> TooLarge:
    return TooLarge(f"the body is larger than {max_body_bytes} bytes")


def _uuid(name: str, text: str) -> UUID:
    if not _UUID.fullmatch(text):
        raise InvalidRequest([{"field": name, "message": f"is not a UUID: {clip(text)}"}])
    return UUID(text)


def _bind_query(model: type[BaseModel], repeatable: Mapping[str, bool], raw: bytes) -> BaseModel:
    values: dict[str, Any] = {}
    if raw:
        try:
            pairs = parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MAX_QUERY_FIELDS)
        except UnicodeDecodeError:
            raise InvalidRequest([{"field": "", "message": "the query string is not UTF-8"}]) from None
        except ValueError:
            raise InvalidRequest(
                [{"field": "", "message": f"the query string has more than {_MAX_QUERY_FIELDS} parameters"}]
            ) from None
        for key, value in pairs:
            if repeatable.get(key, False):
                values.setdefault(key, []).append(value)
            elif key in values:
                raise InvalidRequest([{"field": clip(key), "message": "is given more than once"}])
            else:
                values[key] = value
    try:
        return model.model_validate(values)
    except ValidationError as e:
        raise InvalidRequest(field_errors(e)) from None


def _bind_header(adapter: TypeAdapter[Any], name: bytes, headers: Iterable[tuple[bytes, bytes]]) -> Any:
    values = [value for key, value in headers if key == name]
    if not values:
        return None
    field = name.decode()
    if len(values) > 1:
        raise InvalidRequest([{"field": field, "message": "is given more than once"}])
    try:
        return adapter.validate_python(values[0].decode("latin-1"))
    except ValidationError as e:
        raise InvalidRequest(field_errors(e, field)) from None


def _require_json(headers: Iterable[tuple[bytes, bytes]]) -> None:
    for name, value in headers:
        if name == b"content-type":
            if value == b"application/json":
                return
            kind, _, options = value.decode("latin-1").lower().partition(";")
            kind = kind.strip()
            is_json = kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
            charset = re.search(r'charset\s*=\s*"?([^\s;"]+)', options)
            if is_json and (charset is None or charset[1] in {"utf-8", "utf8"}):
                return
            raise _not_json(clip(value.decode("latin-1")))
    raise _not_json("none")


def _not_json(given: str) -> HttpProblem:
    # Strict on purpose: a web page can post forms and plain text to a loopback port, but not JSON.
    return HttpProblem(
        415,
        f"the body must be application/json in UTF-8; its Content-Type is: {given}",
        headers=[(b"accept", b"application/json")],
    )


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) is list
