"""Finding routes, reading bodies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any
from uuid import UUID

import pytest
from fastapi import Header, Query
from pydantic import BaseModel
from starlette.types import Message

from memex.protocol.errors import TooLarge
from memex_server.http.answer import Answer, dump
from memex_server.http.errors import HttpProblem, InvalidRequest
from memex_server.http.routing import DirectRoute, Disconnected, RouteTable, read_body

ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6"


class Body(BaseModel, extra="forbid"):
    text: str


class Filter(BaseModel, extra="forbid"):
    tags: list[str] = []
    name: str | None = None


async def everything(
    memory_id: UUID,
    body: Body,
    query: Annotated[Filter, Query()],
    some_key: Annotated[str | None, Header(max_length=3)] = None,
) -> Answer:
    return Answer(200, dump([memory_id, body.text, query.tags, query.name, some_key]))


async def nothing() -> Answer:
    return Answer(204)


def table() -> RouteTable:
    return RouteTable(
        [
            DirectRoute("/one/{memory_id}", everything, methods=["POST"]),
            DirectRoute("/one/{memory_id}/x", everything, methods=["POST"]),
            DirectRoute("/one/fixed", nothing, methods=["GET"]),
            DirectRoute("/open", nothing, methods=["GET"], any_query=True),
        ]
    )


def receiving(*messages: Message) -> Callable[[], Awaitable[Message]]:
    pending = list(messages)

    async def receive() -> Message:
        return pending.pop(0)

    return receive


async def call(method: str, path: str, body: bytes = b"", query: bytes = b"", **headers: str) -> Answer:
    found = table().find(method, path)
    assert found is not None
    route, values = found
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {"type": "http", "query_string": query, "headers": raw}
    return await route.respond(scope, receiving({"type": "http.request", "body": body}), values, 100)


async def test_every_kind_of_argument_is_bound() -> None:
    answer = await call(
        "POST", f"/one/{ID}", '{"text": "東京"}'.encode(), b"tags=a%2Cb&tags=c&name=%E6%9D%B1",
        content_type="application/json", some_key="k",
    )  # fmt: skip

    assert answer.body.decode() == f'["{ID}","東京",["a,b","c"],"東","k"]'


@pytest.mark.parametrize(
    ("query", "headers", "field"),
    [
        (b"name=a&name=b", {}, "name"),
        (b"other=1", {}, "other"),
        (b"", {"some_key": "long"}, "some-key"),
    ],
)
async def test_what_cannot_be_bound_names_its_place(query: bytes, headers: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await call("POST", f"/one/{ID}", b'{"text": ""}', query, content_type="application/json", **headers)

    assert [error["field"] for error in refused.value.errors] == [field]


async def test_an_undeclared_query_is_refused_unless_the_route_is_open() -> None:
    assert (await call("GET", "/open", query=b"any=1")).status == 204
    with pytest.raises(InvalidRequest):
        await call("GET", "/one/fixed", query=b"any=1")


def test_a_fixed_path_comes_before_one_with_an_id() -> None:
    found = table().find("GET", "/one/fixed")

    assert found is not None
    assert found[0].path == "/one/fixed"
    with pytest.raises(HttpProblem):
        table().find("POST", "/one/fixed")


@pytest.mark.parametrize("path", ["/one", "/one/", f"/one/{ID}/", f"/one/{ID}/y", "/ONE/fixed", "/one/fixed/"])
def test_a_path_that_no_route_has_is_not_found(path: str) -> None:
    assert table().find("GET", path) is None


def part(body: bytes, more: bool = True) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_body_in_parts_is_put_together() -> None:
    assert await read_body([], receiving(part(b"ab"), part(b""), part(b"c", False)), 3) == b"abc"


async def test_a_body_beyond_the_limit_is_not_read_further() -> None:
    receive = receiving(part(b"abc"), part(b"d"), part(b"never read"))

    with pytest.raises(TooLarge):
        await read_body([], receive, 3)
    assert (await receive())["body"] == b"never read"


async def test_a_declared_length_beyond_the_limit_is_refused_unread() -> None:
    with pytest.raises(TooLarge):
        await read_body([(b"content-length", b"4")], receiving(), 3)


async def test_a_client_that_leaves_in_the_middle_is_noticed() -> None:
    with pytest.raises(Disconnected):
        await read_body([], receiving(part(b"ab"), {"type": "http.disconnect"}), 3)
