"""The memories of REST v1: each endpoint binds nothing but its input to one call of the service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any
from uuid import UUID

from fastapi import Body, Header, Path, Query

from memex_server.http import documents as out
from memex_server.http import examples
from memex_server.http.answer import Answer, dump
from memex_server.http.fields import PRINTABLE
from memex_server.http.openapi import problems
from memex_server.http.routing import DirectRoute
from memex_server.http.schemas import (
    BatchIn,
    ChangeQuery,
    CountQuery,
    DeleteQuery,
    DeleteScopeQuery,
    ListQuery,
    PatchIn,
    ScopeQuery,
    SearchIn,
    StoreIn,
)
from memex_server.service import MemoryService

__all__ = ["Memories", "routes"]

_MemoryId = Annotated[UUID, Path(description="The memory's id.", examples=["3fa85f64-5717-4562-b3fc-2c963f66afa6"])]
_Key = Annotated[
    str | None,
    Header(
        description="The same key with the same body is done once, and answered alike; with another body it is a 409.",
        min_length=1,
        max_length=255,
        pattern=PRINTABLE,
        examples=["7f1c9a52-store-1"],
    ),
]


class Memories:
    """The endpoints of `/v1/memories`, bound to one service."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service

    async def store(
        self,
        body: Annotated[StoreIn, Body(openapi_examples=examples.STORE)],
        idempotency_key: _Key = None,
    ) -> Answer:
        """Store one memory. 201 when it is new; 200 with the one that is there when the text is known already."""
        stored = await self._service.store(body.to_new(), idempotency_key=idempotency_key)
        memory = stored.memory
        location = (b"location", f"/v1/memories/{memory.id}".encode())
        return Answer(201 if stored.created else 200, dump(out.memory_document(memory)), (location,))

    async def store_batch(
        self,
        body: Annotated[BatchIn, Body(openapi_examples=examples.BATCH)],
        idempotency_key: _Key = None,
    ) -> Answer:
        """Store up to 1,000 memories. Each is judged on its own: the answer says what became of every one."""
        items = await self._service.store_batch(body.to_news(), idempotency_key=idempotency_key)
        return Answer(200, dump(out.batch_document(items)))

    async def search(self, body: Annotated[SearchIn, Body(openapi_examples=examples.SEARCH)]) -> Answer:
        """Find what one user's memory holds on a query, best first."""
        found = await self._service.search(body.to_request())
        return Answer(200, dump(out.search_document(found)))

    async def list(self, query: Annotated[ListQuery, Query()]) -> Answer:
        """List a user's memories page by page, newest first."""
        page = await self._service.list(
            user_id=query.user_id,
            agent_id=query.agent_id,
            memory_type=query.memory_type,
            tags=tuple(query.tags),
            state=query.state,
            limit=query.limit,
            cursor=query.cursor,
        )
        return Answer(200, dump(out.page_document(page)))

    async def count(self, query: Annotated[CountQuery, Query()]) -> Answer:
        """Count the live memories of a user, or of one agent of a user."""
        count = await self._service.count(user_id=query.user_id, agent_id=query.agent_id)
        return Answer(200, dump({"agent_id": query.agent_id, "user_id": query.user_id, "count": count}))

    async def get(self, memory_id: _MemoryId, query: Annotated[ScopeQuery, Query()]) -> Answer:
        """Return one memory, with how often and when searches found it."""
        memory = await self._service.get(memory_id, user_id=query.user_id, agent_id=query.agent_id)
        return Answer(200, dump(out.recalled_document(memory, await self._service.recalls(memory))))

    async def patch(
        self,
        memory_id: _MemoryId,
        query: Annotated[ChangeQuery, Query()],
        body: Annotated[PatchIn, Body(openapi_examples=examples.PATCH)],
    ) -> Answer:
        """Change one memory: what the body does not name is kept."""
        memory = await self._service.patch(
            memory_id, body.to_patch(), user_id=query.user_id, agent_id=query.agent_id, actor=query.who
        )
        return Answer(200, dump(out.memory_document(memory)))

    async def delete(self, memory_id: _MemoryId, query: Annotated[DeleteQuery, Query()]) -> Answer:
        """Forget one memory: it can be restored for 30 days. `purge=true` erases it at once, with a receipt."""
        receipt = await self._service.delete(
            memory_id, user_id=query.user_id, agent_id=query.agent_id, actor=query.who, purge=query.purge
        )
        return Answer(204) if receipt is None else Answer(200, dump(out.receipt_document(receipt)))

    async def delete_scope(self, query: Annotated[DeleteScopeQuery, Query()]) -> Answer:
        """Forget everything of a user, or of one agent of a user, however much it is."""
        deleted = await self._service.delete_scope(
            user_id=query.user_id, agent_id=query.agent_id, actor=query.who, purge=query.purge
        )
        return Answer(200, dump({"deleted": deleted}))

    async def restore(self, memory_id: _MemoryId, query: Annotated[ChangeQuery, Query()]) -> Answer:
        """Bring a deleted memory back."""
        memory = await self._service.restore(memory_id, user_id=query.user_id, agent_id=query.agent_id, actor=query.who)
        return Answer(200, dump(out.memory_document(memory)))

    async def history(self, memory_id: _MemoryId, query: Annotated[ScopeQuery, Query()]) -> Answer:
        """Return what happened to one memory, oldest first."""
        versions = await self._service.history(memory_id, user_id=query.user_id, agent_id=query.agent_id)
        return Answer(200, dump(out.history_document(versions)))


def routes(service: MemoryService) -> Iterable[DirectRoute]:
    """Return the routes of `/v1/memories`."""
    api = Memories(service)
    memories, one = "/v1/memories", "/v1/memories/{memory_id}"
    location = {"Location": {"description": "Path of the memory.", "schema": {"type": "string"}}}
    existing = {200: {"model": out.MemoryOut, "description": "It was there already.", "headers": location}}

    def route(method: str, path: str, endpoint: Any, model: Any, *codes: int, **options: Any) -> DirectRoute:
        more = options.pop("more", {})
        return DirectRoute(
            path,
            endpoint,
            methods=[method],
            response_model=model,
            operation_id=f"{endpoint.__name__}_memor{'ies' if path in {memories, memories + '/batch'} else 'y'}",
            summary=options.pop("summary"),
            tags=["memories"],
            responses={**more, **problems(*codes)},
            **options,
        )

    return [
        route(
            "POST",
            memories,
            api.store,
            out.MemoryOut,
            409,
            413,
            415,
            422,
            429,
            summary="Store a memory",
            status_code=201,
            more={201: {"headers": location}, **existing},
        ),
        route(
            "POST", f"{memories}/batch", api.store_batch, out.BatchOut, 409, 413, 415, 422, 429, summary="Store many"
        ),
        route("POST", f"{memories}/search", api.search, out.SearchOut, 413, 415, 422, 429, summary="Search"),
        route("GET", memories, api.list, out.PageOut, 422, summary="List memories"),
        route("DELETE", memories, api.delete_scope, out.DeletedOut, 422, 429, summary="Forget all of a user"),
        route("GET", f"{memories}/count", api.count, out.CountOut, 422, summary="Count memories"),
        route("GET", one, api.get, out.RecalledOut, 404, 422, summary="Get a memory"),
        route("PATCH", one, api.patch, out.MemoryOut, 404, 409, 413, 415, 422, 429, summary="Change a memory"),
        route(
            "DELETE",
            one,
            api.delete,
            None,
            404,
            422,
            429,
            summary="Forget a memory",
            status_code=204,
            more={200: {"model": out.ReceiptOut, "description": "It was erased (`purge=true`)."}},
        ),
        route("POST", f"{one}/restore", api.restore, out.MemoryOut, 404, 409, 422, 429, summary="Restore a memory"),
        route("GET", f"{one}/history", api.history, out.HistoryOut, 404, 422, summary="Get a memory's history"),
    ]
