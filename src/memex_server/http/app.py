"""Builds the REST application around one service; nothing here is global."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Lifespan

from memex._version import __version__
from memex.protocol.errors import MemexError
from memex_server.access import Access
from memex_server.http import health, lifecycle, protocol, v1
from memex_server.http.docs import add_docs
from memex_server.http.errors import HttpProblem, InvalidRequest, answer_of, clip
from memex_server.http.middleware import Shell
from memex_server.http.openapi import with_problem_media_type
from memex_server.http.routing import RouteTable
from memex_server.metrics import Metrics
from memex_server.service import MemoryService
from memex_server.settings import Settings

__all__ = ["MemexApp", "create_app"]

_DESCRIPTION = (
    "One long-term memory for AI agents: store what happened, search before you act, forget what should go.\n\n"
    "Errors are problem documents (RFC 9457). Times are RFC 3339; one without an offset is read as UTC. "
    "Unknown fields and unknown parameters are errors. Every answer carries `X-Request-ID`; a client may send its own."
)
_TAGS = [
    {"name": "memories", "description": "Store, search, list, change and forget memories."},
    {"name": "lifecycle", "description": "Decide what to keep, correct, condense and forget."},
    {
        "name": "unified protocol",
        "description": "What agent plugins speak. Answers and errors are in an envelope; unknown fields are ignored.",
    },
    {"name": "service", "description": "Health and metrics."},
]


class MemexApp(FastAPI):
    """A FastAPI application whose own routes are served by the `Shell`."""

    def __init__(self, *, metrics: Metrics, access: Access | None, max_body_bytes: int, **options: Any) -> None:
        super().__init__(**options)
        self._metrics = metrics
        self._access = access
        self._max_body_bytes = max_body_bytes

    def build_middleware_stack(self) -> ASGIApp:
        """Put the shell around the ordinary stack, which serves what is not a `DirectRoute`."""
        return Shell(
            super().build_middleware_stack(),
            RouteTable(self.routes),
            self._metrics,
            access=self._access,
            max_body_bytes=self._max_body_bytes,
            fallback_paths=[route.path for route in self.routes if isinstance(route, Route)],
        )

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, made once."""
        if self.openapi_schema is None:
            self.openapi_schema = with_problem_media_type(super().openapi())
        return self.openapi_schema


def create_app(
    service: MemoryService,
    settings: Settings,
    metrics: Metrics,
    *,
    access: Access | None = None,
    lifespan: Lifespan[Any] | None = None,
) -> FastAPI:
    """Return the application of REST v1, the unified protocol, health, metrics and documentation.

    Without `access` everybody may call.
    """
    app = MemexApp(
        metrics=metrics,
        access=access,
        max_body_bytes=settings.server.max_body_bytes,
        title="memex",
        version=__version__,
        description=_DESCRIPTION,
        openapi_tags=_TAGS,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.router.routes.extend(
        [
            *v1.routes(service),
            *lifecycle.routes(service),
            *protocol.routes(service),
            *health.routes(service, metrics),
        ]
    )
    add_docs(app)
    for kind in (HTTPException, RequestValidationError, MemexError):
        app.add_exception_handler(kind, _handle)
    return app


async def _handle(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        headers = [(name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()]
        nothing = f"there is nothing at {clip(request.url.path)}; /docs lists the paths"
        message = nothing if error.status_code == 404 else error.detail
        error = HttpProblem(error.status_code, message, headers=headers)
    elif isinstance(error, RequestValidationError):
        error = InvalidRequest(
            [{"field": ".".join(map(str, item["loc"])), "message": item["msg"]} for item in error.errors()]
        )
    answer = answer_of(error, request.url.path)
    response = Response(answer.body, answer.status, media_type=answer.media_type.decode())
    response.raw_headers.extend(answer.headers)
    return response
