"""Health for people and load balancers, metrics for Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from memex_server.http.answer import Answer, dump
from memex_server.http.documents import HealthOut, HealthProblemOut, LiveOut
from memex_server.http.errors import Problem
from memex_server.http.openapi import problems
from memex_server.http.routing import DirectRoute
from memex_server.metrics import Metrics
from memex_server.service import MemoryService

__all__ = ["Health", "routes"]

_RETRY_AFTER = (b"retry-after", b"1")


class Health:
    """The endpoints that look at the service instead of using it."""

    def __init__(self, service: MemoryService, metrics: Metrics) -> None:
        self._service = service
        self._metrics = metrics

    async def health(self) -> Answer:
        """How the service, its database and its model are. 503 when the database does not answer."""
        health = dict(await self._service.health())
        if health["database"]["status"] != "ok":
            return Problem(
                503, "the database does not answer", "unavailable", headers=[_RETRY_AFTER], extra={"health": health}
            ).answer()
        return Answer(200, dump(health))

    async def live(self) -> Answer:
        """The process answers; nothing else is looked at."""
        return Answer(200, dump({"status": "ok"}))

    async def ready(self) -> Answer:
        """Whether a request would be served now: schema, database and model are ready."""
        if await self._service.ready():
            return Answer(200, dump({"status": "ok"}))
        return Problem(503, "not ready yet", "unavailable", headers=[_RETRY_AFTER]).answer()

    async def metrics(self) -> Answer:
        """Metrics in the text format of Prometheus, of all worker processes together."""
        # With several workers this reads their files, which must not hold up the loop.
        body, media_type = await asyncio.to_thread(self._metrics.render)
        return Answer(200, body, media_type=media_type.encode())


def routes(service: MemoryService, metrics: Metrics) -> Iterable[DirectRoute]:
    """Return the routes of health and metrics."""
    api = Health(service, metrics)

    def route(path: str, endpoint: Any, model: Any, responses: dict[int | str, Any], summary: str) -> DirectRoute:
        return DirectRoute(
            path,
            endpoint,
            any_query=True,
            methods=["GET"],
            response_model=model,
            operation_id=endpoint.__name__,
            summary=summary,
            tags=["service"],
            responses=responses,
        )

    failing = problems()
    health_failing = {**failing, 503: {**failing[503], "model": HealthProblemOut}}
    text: dict[int | str, Any] = {
        200: {
            "description": "The metrics.",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": "http_requests_inprogress 1.0\n"}},
        }
    }
    return [
        route("/health", api.health, HealthOut, health_failing, "Health"),
        route("/health/live", api.live, LiveOut, {500: failing[500]}, "Liveness"),
        route("/health/ready", api.ready, LiveOut, failing, "Readiness"),
        route("/metrics", api.metrics, None, {**text, 500: failing[500]}, "Metrics"),
    ]
