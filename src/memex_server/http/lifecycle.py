"""The lifecycle over REST: remember, retract, consolidate, forget, jobs, context."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any
from uuid import UUID

from fastapi import Body, Path, Query

from memex_server.http import examples
from memex_server.http import lifecycle_documents as out
from memex_server.http.answer import Answer, dump
from memex_server.http.documents import MemoryOut, memory_document
from memex_server.http.lifecycle_schemas import (
    ConsolidateIn,
    ContextIn,
    DryRunQuery,
    ForgetIn,
    JobsQuery,
    RememberIn,
    RetractIn,
)
from memex_server.http.openapi import problems
from memex_server.http.routing import DirectRoute
from memex_server.http.schemas import ChangeQuery
from memex_server.service import MemoryService

__all__ = ["Lifecycle", "routes"]

_Id = Annotated[UUID, Path(description="The id.", examples=["3fa85f64-5717-4562-b3fc-2c963f66afa6"])]


class Lifecycle:
    """The endpoints of the lifecycle, bound to one service."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service

    async def remember(self, body: Annotated[RememberIn, Body(openapi_examples=examples.REMEMBER)]) -> Answer:
        """Let a candidate pass the gate. 201 if it became a memory; 200 if it was merged or skipped."""
        remembered = await self._service.remember(body.to_candidate())
        status = 201 if remembered.outcome in {"stored", "superseded"} else 200
        return Answer(status, dump(out.remembered_document(remembered)))

    async def retract(
        self,
        memory_id: _Id,
        query: Annotated[ChangeQuery, Query()],
        body: Annotated[RetractIn, Body(openapi_examples=examples.RETRACT)],
    ) -> Answer:
        """Take a claim back: it is deleted, and neither the gate nor a summary brings it back."""
        memory = await self._service.retract(
            memory_id, reason=body.reason, user_id=query.user_id, agent_id=query.agent_id, actor=query.who
        )
        return Answer(200, dump(memory_document(memory)))

    async def undo_retraction(self, memory_id: _Id, query: Annotated[ChangeQuery, Query()]) -> Answer:
        """Undo a retraction: the claim is current again, and may come back. 409 if it is not retracted."""
        memory = await self._service.undo_retraction(
            memory_id, user_id=query.user_id, agent_id=query.agent_id, actor=query.who
        )
        return Answer(200, dump(out.unretracted_document(memory_id, memory)))

    async def consolidate(self, body: Annotated[ConsolidateIn, Body(openapi_examples=examples.CONSOLIDATE)]) -> Answer:
        """Condense what is over the threshold now; `dry_run` shows the next summary of each scope."""
        made = await self._service.consolidate(user_id=body.user_id, agent_id=body.agent_id, dry_run=body.dry_run)
        return Answer(200, dump(out.consolidated_document(made, dry_run=body.dry_run)))

    async def undo_consolidation(self, summary_id: _Id, query: Annotated[ChangeQuery, Query()]) -> Answer:
        """Bring the sources of a summary back, corrected ones as superseded, for good, and drop the summary."""
        restored = await self._service.undo_consolidation(
            summary_id, user_id=query.user_id, agent_id=query.agent_id, actor=query.who
        )
        return Answer(200, dump({"restored": restored}))

    async def forget(
        self,
        query: Annotated[DryRunQuery, Query()],
        body: Annotated[ForgetIn, Body(openapi_examples=examples.FORGET)],
    ) -> Answer:
        """Forget by policy; `dry_run=true` lists what would go and why. What went can be restored for 30 days."""
        gone = await self._service.forget(
            user_id=body.user_id,
            agent_id=body.agent_id,
            policy=body.to_policy(self._service.policy),
            dry_run=query.dry_run,
        )
        return Answer(200, dump(out.forgotten_document(gone, dry_run=query.dry_run)))

    async def jobs(self, query: Annotated[JobsQuery, Query()]) -> Answer:
        """List background work that waits, runs or has failed for good."""
        return Answer(200, dump(out.jobs_document(await self._service.jobs(state=query.state, limit=query.limit))))

    async def retry_job(self, job_id: _Id) -> Answer:
        """Let a dead job be tried again."""
        return Answer(200, dump(out.job_document(await self._service.retry_job(job_id))))

    async def context(self, body: Annotated[ContextIn, Body(openapi_examples=examples.CONTEXT)]) -> Answer:
        """Find what answers a query and return it as one fenced block of text, to put into a prompt."""
        rendered = await self._service.context(body.to_request(), token_budget=body.token_budget)
        return Answer(200, dump(out.context_document(rendered)))


def routes(service: MemoryService) -> Iterable[DirectRoute]:
    """Return the routes of the lifecycle."""
    api = Lifecycle(service)

    def route(
        method: str, path: str, endpoint: Any, model: Any, *codes: int, summary: str, **options: Any
    ) -> DirectRoute:
        return DirectRoute(
            path,
            endpoint,
            methods=[method],
            response_model=model,
            operation_id=endpoint.__name__,
            summary=summary,
            tags=["lifecycle"],
            responses={**options.pop("more", {}), **problems(*codes)},
            **options,
        )

    one = "/v1/memories/{memory_id}"
    kept = {200: {"model": out.RememberedOut, "description": "It was merged into another memory, or skipped."}}
    return [
        route(
            "POST", "/v1/memories/remember", api.remember, out.RememberedOut, 404, 413, 415, 422, 429,
            summary="Remember, if it is worth it", status_code=201, more=kept,
        ),
        route("POST", f"{one}/retract", api.retract, MemoryOut, 404, 409, 413, 415, 422, summary="Retract a claim"),
        route(
            "POST", f"{one}/retract/undo", api.undo_retraction, out.UnretractedOut, 404, 409, 422,
            summary="Undo a retraction",
        ),
        route(
            "POST", "/v1/consolidations", api.consolidate, out.ConsolidatedOut, 413, 415, 422, summary="Condense now"
        ),
        route(
            "POST", "/v1/consolidations/{summary_id}/undo", api.undo_consolidation, out.ReleasedOut, 404, 409, 422,
            summary="Undo a consolidation",
        ),
        route("POST", "/v1/forget", api.forget, out.ForgottenOut, 413, 415, 422, summary="Forget by policy"),
        route("GET", "/v1/jobs", api.jobs, out.JobsOut, 422, summary="List background jobs"),
        route("POST", "/v1/jobs/{job_id}/retry", api.retry_job, out.JobOut, 404, 422, summary="Retry a dead job"),
        route("POST", "/v1/context", api.context, out.ContextOut, 413, 415, 422, 429, summary="Memories for a prompt"),
    ]  # fmt: skip
