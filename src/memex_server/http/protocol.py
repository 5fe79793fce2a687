"""The unified protocol: each endpoint reads one message, makes one call of the service, wraps the answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from fastapi import Body, Header, Query

from memex.protocol import documents
from memex.protocol.errors import Unavailable
from memex.protocol.models import PROTOCOL_VERSION, Level
from memex.protocol.ops import PREFIX
from memex_server.http.answer import Answer, dump
from memex_server.http.documents import EnvelopeOut
from memex_server.http.openapi import refusals
from memex_server.http.protocol_schemas import EXAMPLES, ExtractIn, GetIn, LinkIn, RecallIn, StoreIn
from memex_server.http.routing import DirectRoute
from memex_server.service import MemoryService

__all__ = ["Protocol", "routes"]

# Only to tell callers apart in the rate limit; who may call at all is decided before.
_Token = Annotated[str | None, Header(include_in_schema=False)]


class Protocol:
    """The endpoints below `/api/v1/memory`, bound to one service."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service

    async def health(self) -> Answer:
        """How the service is, which version of the protocol it speaks, and what it can do."""
        state = await self._service.health()
        if state["status"] == "unavailable":
            raise Unavailable(state["database"].get("detail", "the database does not answer"))
        capabilities = {"lm": self._service.records.has_model, "levels": [level.value for level in Level]}
        return _wrapped(
            {
                "status": "ok",
                "version": state["version"],
                "protocol": PROTOCOL_VERSION,
                "capabilities": capabilities,
            }
        )

    async def store(
        self, body: Annotated[StoreIn, Body(openapi_examples=EXAMPLES["store"])], authorization: _Token = None
    ) -> Answer:
        """Keep a record. The same text on the same level is one record, renewed by each repeat."""
        request = body.to_request(self._service.records.now())
        return _wrapped(
            documents.store_result_document(await self._service.records.store(request, caller=_caller(authorization)))
        )

    async def recall(
        self, body: Annotated[RecallIn, Body(openapi_examples=EXAMPLES["recall"])], authorization: _Token = None
    ) -> Answer:
        """Find records by keywords, by a sentence, or by both; without either, nothing."""
        request = body.to_request()
        found = await self._service.records.recall(request, caller=_caller(authorization))
        return _wrapped(documents.recall_result_document(found, request.mode))

    async def get(self, body: Annotated[GetIn, Body(openapi_examples=EXAMPLES["get"])]) -> Answer:
        """Return one record of any level, with its links."""
        return _wrapped(documents.record_document(await self._service.records.get(body.memory_id)))

    async def get_by_query(self, query: Annotated[GetIn, Query()]) -> Answer:
        """Return one record of any level, with its links."""
        return await self.get(query)

    async def link(
        self, body: Annotated[LinkIn, Body(openapi_examples=EXAMPLES["link"])], authorization: _Token = None
    ) -> Answer:
        """Make an edge between two records, once; `supersedes` ends the validity of the second."""
        made = await self._service.records.link(body.to_request(), caller=_caller(authorization))
        return _wrapped(documents.link_result_document(made))

    async def extract(
        self, body: Annotated[ExtractIn, Body(openapi_examples=EXAMPLES["extract"])], authorization: _Token = None
    ) -> Answer:
        """Extract facts now from records that wait for it (a worker does so every few seconds anyway), or by id."""
        done = await self._service.records.extract(body.to_request(), caller=_caller(authorization))
        return _wrapped(documents.extract_result_document(done), done.message)


def _wrapped(data: Mapping[str, Any], message: str = "") -> Answer:
    return Answer(200, dump({"success": True, "data": data, "message": message}))


def _caller(authorization: str | None) -> str:
    # A digest, because rate limit keys are stored and logged, and tokens must not be.
    return f"token {hashlib.sha256((authorization or '').encode()).hexdigest()[:16]}"


def routes(service: MemoryService) -> Iterable[DirectRoute]:
    """Return the routes of the unified protocol."""
    api = Protocol(service)

    def route(verb: str, endpoint: Any, summary: str, *codes: int, method: str = "POST") -> DirectRoute:
        return DirectRoute(
            f"{PREFIX}/{verb}",
            endpoint,
            any_query=verb == "health",
            methods=[method],
            response_model=EnvelopeOut,
            operation_id=f"protocol_{endpoint.__name__}",
            summary=summary,
            tags=["unified protocol"],
            responses=refusals(*codes),
        )

    return [
        route("health", api.health, "Health", method="GET"),
        route("store", api.store, "Store a record", 413, 415, 422, 429),
        route("recall", api.recall, "Recall records", 413, 415, 422, 429),
        route("get", api.get, "Get a record", 404, 413, 415, 422),
        route("get", api.get_by_query, "Get a record", 404, 422, method="GET"),
        route("link", api.link, "Link two records", 404, 413, 415, 422, 429),
        route("extract", api.extract, "Extract facts", 404, 413, 415, 422, 429),
    ]
