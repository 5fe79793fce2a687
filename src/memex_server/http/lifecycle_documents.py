"""What the REST face answers about the lifecycle."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memex.core.lifecycle import Remembered
from memex.core.memory import Memory
from memex.core.render import Rendered
from memex_server.consolidation import Summary
from memex_server.forgetting import Forgotten
from memex_server.http.documents import MemoryOut, memory_document
from memex_server.lifecycle_ports import Job

__all__ = [
    "ConsolidatedOut",
    "ContextOut",
    "FadingOut",
    "ForgottenOut",
    "JobOut",
    "JobsOut",
    "ReleasedOut",
    "RememberedOut",
    "SummaryOut",
    "UnretractedOut",
    "consolidated_document",
    "context_document",
    "forgotten_document",
    "job_document",
    "jobs_document",
    "remembered_document",
    "unretracted_document",
]

_ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
_TIME = "2026-05-26T10:30:00Z"


def _doc(text: str, example: Any) -> Any:
    return Field(description=text, examples=[example])


class _Out(BaseModel):
    model_config = ConfigDict(extra="ignore")


class RememberedOut(_Out):
    """What became of a candidate."""

    outcome: Literal["stored", "merged", "superseded", "skipped"] = _doc(
        "stored: it is a new memory. merged: it went into one that says the same. superseded: it is a new memory and "
        "ends others. skipped: it was not kept.",
        "stored",
    )
    id: UUID | None = _doc("The memory that holds it now; null if it was skipped.", _ID)
    importance: float = _doc("Its rating, 1 to 10.", 7.0)
    similarity: float | None = _doc("Cosine to the nearest memory; null if it was not looked for.", 0.93)
    reason: str = _doc("Why.", "preference; it is new")
    superseded: list[UUID] = _doc("The memories that it ended.", [])
    superseded_by: UUID | None = _doc(
        "This memory says otherwise of a later time: it was over when it was told, or will be then.", None
    )
    scored_by: Literal["rules", "llm"] = _doc("Who rated it.", "rules")


class UnretractedOut(_Out):
    """The claim may come back."""

    id: UUID = _doc("The memory that had made it.", _ID)
    memory: MemoryOut | None = Field(description="That memory, current again; null if it was purged meanwhile.")


class SummaryOut(_Out):
    """A summary and what it stands for."""

    id: UUID | None = _doc("The summary, and the id by which it can be undone; null in a dry run.", _ID)
    agent_id: str = _doc("Whose memories it condenses.", "my-agent")
    content: str = _doc("Its text.", "User prefers concise responses.")
    sources: list[UUID] = _doc("The memories that are archived under it.", [_ID])


class ConsolidatedOut(_Out):
    """What was condensed."""

    consolidations: list[SummaryOut] = Field(description="One for each batch.")
    dry_run: bool = _doc("Whether nothing was written.", example=False)


class ReleasedOut(_Out):
    """A consolidation that was undone."""

    restored: list[UUID] = _doc("The memories that are current again.", [_ID])


class FadingOut(_Out):
    """A memory that goes."""

    id: UUID = _doc("The memory.", _ID)
    content: str = _doc("Its text.", "We had noodles.")
    reason: str = _doc("Why it goes.", "older than 365 days")


class ForgottenOut(_Out):
    """What was forgotten."""

    memories: list[FadingOut] = Field(description="What goes, or would go, and why.")
    forgotten: int = _doc("How many went; 0 in a dry run.", 1)
    dry_run: bool = _doc("Whether nothing was written.", example=False)


class JobOut(_Out):
    """A piece of background work."""

    id: UUID = _doc("Identifies the job.", _ID)
    kind: str = _doc("What is to be done.", "consolidate")
    payload: dict[str, Any] = _doc("With what.", {"user_id": "user-123", "agent_id": "my-agent"})
    state: Literal["pending", "running", "dead"] = _doc("dead: it failed too often.", "dead")
    attempts: int = _doc("How often it was tried.", 6)
    run_at: datetime = _doc("Not before.", _TIME)
    last_error: str | None = _doc("Why the last try failed.", "the database does not answer")
    created_at: datetime = _doc("Since when it is there.", _TIME)


class JobsOut(_Out):
    """Background work that waits, runs or has failed."""

    jobs: list[JobOut] = Field(description="Oldest first.")


class ContextOut(_Out):
    """Memories as text for a prompt."""

    context: str = _doc("One fenced, numbered block; empty if nothing was found.", "<memex-memory> ... </memex-memory>")
    ids: list[UUID] = _doc("The memories in it, in their order.", [_ID])
    tokens: int = _doc("Its estimated size.", 120)


def remembered_document(remembered: Remembered) -> dict[str, Any]:
    """Return what became of a candidate."""
    return {
        "outcome": remembered.outcome.value,
        "id": remembered.id,
        "importance": remembered.rating,
        "similarity": remembered.similarity,
        "reason": remembered.reason,
        "superseded": remembered.superseded,
        "scored_by": remembered.scored_by,
        "superseded_by": remembered.superseded_by,
    }


def unretracted_document(memory_id: UUID, memory: Memory | None) -> dict[str, Any]:
    """Return the answer to an undone retraction."""
    return {"id": memory_id, "memory": None if memory is None else memory_document(memory)}


def consolidated_document(made: Sequence[Summary], *, dry_run: bool) -> dict[str, Any]:
    """Return what was condensed."""
    found = [{"id": s.id, "agent_id": s.agent_id, "content": s.content, "sources": s.sources} for s in made]
    return {"consolidations": found, "dry_run": dry_run}


def forgotten_document(gone: Forgotten, *, dry_run: bool) -> dict[str, Any]:
    """Return what was forgotten."""
    found = [{"id": one.memory.id, "content": one.memory.content, "reason": one.reason} for one in gone.fading]
    return {"memories": found, "forgotten": gone.count, "dry_run": dry_run}


def job_document(job: Job) -> dict[str, Any]:
    """Return one job."""
    return {
        "id": job.id,
        "kind": job.kind,
        "payload": job.payload,
        "state": job.state,
        "attempts": job.attempts,
        "run_at": job.run_at,
        "last_error": job.last_error,
        "created_at": job.created_at,
    }


def jobs_document(jobs: Sequence[Job]) -> dict[str, Any]:
    """Return a list of jobs."""
    return {"jobs": [job_document(job) for job in jobs]}


def context_document(rendered: Rendered) -> dict[str, Any]:
    """Return a block for a prompt."""
    return {"context": rendered.text, "ids": rendered.ids, "tokens": rendered.tokens}
