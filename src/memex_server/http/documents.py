"""What the REST face answers: models for the documentation, and the functions that build the JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memex.core.memory import BatchItem, DeleteReceipt, Hit, Memory, MemoryType, Page, Recalls, SearchResult, Version
from memex_server.http.errors import problem_of

__all__ = [
    "BatchItemOut",
    "BatchOut",
    "CountOut",
    "DeletedOut",
    "EnvelopeOut",
    "FieldErrorOut",
    "HealthOut",
    "HealthProblemOut",
    "HistoryOut",
    "HitOut",
    "LiveOut",
    "MemoryOut",
    "PageOut",
    "ProblemOut",
    "RecalledOut",
    "ReceiptOut",
    "RefusalDetailOut",
    "RefusalOut",
    "SearchOut",
    "VersionOut",
    "batch_document",
    "history_document",
    "memory_document",
    "page_document",
    "recalled_document",
    "receipt_document",
    "search_document",
]

_ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
_TIME = "2026-05-26T10:30:00Z"
_TEXT = "User prefers concise responses and dislikes verbose explanations."


def _doc(text: str, example: Any) -> Any:  # a field that is always there
    return Field(description=text, examples=[example])


class _Out(BaseModel):
    # Answers may grow by new members; a client must ignore what it does not know.
    model_config = ConfigDict(extra="ignore")


class MemoryOut(_Out):
    """A stored memory."""

    id: UUID = _doc("Identifies the memory.", _ID)
    agent_id: str = _doc("The agent that remembers.", "my-agent")
    user_id: str = _doc("Whose memory it is.", "user-123")
    content: str = _doc("The text, as it was given.", _TEXT)
    importance: float = _doc("0 (hardly) to 2 (very).", 1.2)
    memory_type: MemoryType = _doc("episodic, semantic or procedural.", "semantic")
    created_at: datetime = _doc("When it was stored.", _TIME)
    score: float | None = _doc("Rank in a search, 0 to 1; null outside of one.", None)
    occurred_at: datetime = _doc("When it happened.", _TIME)
    updated_at: datetime = _doc("When it was last changed.", _TIME)
    tags: list[str] = _doc("Labels.", ["style", "preference"])
    metadata: dict[str, Any] = _doc("The caller's own JSON.", {"channel": "chat", "turn": 12})
    source: str | None = _doc("Where it comes from.", "chat")
    sources: list[str] = _doc("Every source that was merged into it.", ["chat", "mail"])
    session_id: str | None = _doc("The conversation it belongs to.", "session-7")
    expires_at: datetime | None = _doc("After this it is forgotten.", None)
    pinned: bool = _doc("Exempt from forgetting.", example=False)
    occurrences: int = _doc("How often the same text was stored.", 1)
    valid_from: datetime | None = _doc("True from this moment on.", None)
    valid_to: datetime | None = _doc("No longer true from this moment on.", None)
    superseded_by: UUID | None = _doc("The memory that corrects this one.", None)
    condensed_into: UUID | None = _doc("The summary that stands for this one.", None)
    deleted_at: datetime | None = _doc("Deleted then; it can be restored until it is purged.", None)


class RecalledOut(MemoryOut):
    """A stored memory, and how it is used."""

    recalled: int = _doc("How often searches found it (counted within seconds).", 3)
    last_recalled_at: datetime | None = _doc("When a search found it last.", _TIME)


class HitOut(MemoryOut):
    """A memory that was found."""

    score: float = _doc("0 to 1, best first.", 0.8921)
    highlight: str | None = _doc(
        "The best passage of a long memory; null if it is the whole.", "prefers concise responses"
    )
    explanation: dict[str, Any] | None = Field(
        None, description="How the score came about, when asked for.", examples=[{"similarity": 0.91, "recency": 0.85}]
    )


class SearchOut(_Out):
    """The memories that answer a query, best first."""

    results: list[HitOut] = Field(description="At most `top_k` memories.")
    query: str = _doc("The query, as it was given.", "how does this user like to communicate")
    total: int = _doc("Number of results.", 1)


class FieldErrorOut(_Out):
    """One thing that is wrong with a request."""

    field: str = _doc("Where: a path into the body, a parameter or a header; empty for the whole.", "content")
    message: str = _doc("What is wrong.", "String should have at least 1 character")


class ProblemOut(_Out):
    """A problem document (RFC 9457)."""

    type: str = _doc("A URI for the kind of problem; `code` says more.", "about:blank")
    title: str = _doc("The status in words.", "Unprocessable Content")
    status: int = _doc("The HTTP status.", 422)
    detail: str = _doc("What happened, for people.", "content: String should have at least 1 character")
    code: str = _doc("What happened, for programs; stable.", "invalid_input")
    instance: str | None = Field(
        None, description="This occurrence; its id is in the log.", examples=["urn:memex:request:1f2e"]
    )
    errors: list[FieldErrorOut] | None = Field(None, description="What is wrong where, when fields are to blame.")


class EnvelopeOut(_Out):
    """The envelope of an answer of the unified protocol."""

    success: Literal[True] = _doc("Whether it was done.", example=True)
    data: dict[str, Any] = _doc("What the call returns.", {"memory_id": "01a22959-2eaf-7000-abd0-61d29793f5ad"})
    message: str = _doc("A remark for people, mostly empty.", "")


class RefusalDetailOut(_Out):
    """Why a call of the unified protocol was refused."""

    code: str = _doc("What happened, for programs; stable.", "invalid_input")
    message: str = _doc("What happened, for people.", "content: Field required")
    field: str | None = Field(None, description="The field that is to blame, if one is.", examples=["content"])


class RefusalOut(_Out):
    """The envelope of a refusal of the unified protocol."""

    success: Literal[False] = _doc("Whether it was done.", example=False)
    error: RefusalDetailOut = Field(description="Why it was not.")


class HealthOut(_Out):
    """How the service is."""

    status: str = _doc("ok, or degraded: it serves, but not everything works.", "ok")
    version: str = _doc("Version of memex.", "0.1.0")
    database: dict[str, Any] = _doc("State of the database.", {"status": "ok"})
    embedding: dict[str, Any] = _doc("The embedding model.", {"model": "multilingual-e5-small", "dim": 384})
    llm: dict[str, Any] | None = Field(
        None, description="The language model, if one is set, as it was when used last.", examples=[{"status": "ok"}]
    )
    reranker: dict[str, Any] | None = Field(
        None, description="The reranker, likewise.", examples=[{"status": "degraded"}]
    )


class HealthProblemOut(ProblemOut):
    """A problem document with the state of each part."""

    health: HealthOut = Field(description="How each part is.")


class BatchItemOut(_Out):
    """What became of one item of a batch."""

    index: int = _doc("Its position in the request, from 0.", 0)
    status: int = _doc("201 stored, 200 was there already, else what a single store would have answered.", 201)
    id: UUID | None = Field(None, description="The memory, when there is one.", examples=[_ID])
    detail: str | None = Field(None, description="Why it was refused.", examples=["content: is required"])
    code: str | None = Field(None, description="The same for programs.", examples=["invalid_input"])
    errors: list[FieldErrorOut] | None = Field(None, description="What is wrong where.")


class BatchOut(_Out):
    """What became of each item, in the order of the request."""

    results: list[BatchItemOut] = Field(description="One entry per item.")
    stored: int = _doc("Items that are new memories.", 1)
    duplicates: int = _doc("Items that were there already.", 0)
    failed: int = _doc("Items that were refused.", 0)


class PageOut(_Out):
    """One page of memories, newest first."""

    memories: list[MemoryOut] = Field(description="At most `limit` memories.")
    next_cursor: str | None = _doc("Give it as `cursor` for the next page; null on the last.", None)


class CountOut(_Out):
    """How many live memories there are."""

    agent_id: str | None = _doc("The agent that was asked for; null: all agents.", "my-agent")
    user_id: str = _doc("The user.", "user-123")
    count: int = _doc("Number of live memories.", 42)


class DeletedOut(_Out):
    """How many memories were deleted."""

    deleted: int = _doc("Number of memories.", 150)


class ReceiptOut(_Out):
    """Proof of a purge."""

    id: UUID = _doc("The memory that is gone.", _ID)
    content_sha256: str = _doc(
        "SHA-256 of its text, by which the owner can prove which it was.", "9f86d081884c7d65" * 4
    )
    purged_at: datetime = _doc("When it was erased.", _TIME)
    purged_by: str | None = _doc("Who asked for it.", "my-agent")


class VersionOut(_Out):
    """One step in the life of a memory, and the memory after it."""

    version: int = _doc("Counts from 1.", 1)
    action: str = _doc("What was done.", "store")
    at: datetime = _doc("When.", _TIME)
    actor: str | None = _doc("Who did it: an agent, or a part of the service itself.", "my-agent")
    reason: str | None = _doc("Why.", None)
    content: str = _doc("The text after it.", _TEXT)
    importance: float = _doc("The importance after it.", 1.2)
    memory_type: MemoryType = _doc("The type after it.", "semantic")
    tags: list[str] = _doc("The labels after it.", ["style"])
    metadata: dict[str, Any] = _doc("The metadata after it.", {})


class HistoryOut(_Out):
    """The life of a memory, oldest step first."""

    versions: list[VersionOut] = Field(description="All steps.")


class LiveOut(_Out):
    """The process answers."""

    status: Annotated[str, _doc("ok", "ok")]


def memory_document(memory: Memory, score: float | None = None) -> dict[str, Any]:
    """Return a memory as the JSON object of the contract."""
    return {
        "id": memory.id,
        "agent_id": memory.agent_id,
        "user_id": memory.user_id,
        "content": memory.content,
        "importance": memory.importance,
        "memory_type": memory.memory_type,
        "created_at": memory.created_at,
        "score": score,
        "occurred_at": memory.occurred_at,
        "updated_at": memory.updated_at,
        "tags": memory.tags,
        "metadata": memory.metadata,
        "source": memory.source,
        "sources": memory.sources,
        "session_id": memory.session_id,
        "expires_at": memory.expires_at,
        "pinned": memory.pinned,
        "occurrences": memory.occurrences,
        "valid_from": memory.valid_from,
        "valid_to": memory.valid_to,
        "superseded_by": memory.superseded_by,
        "condensed_into": memory.condensed_into,
        "deleted_at": memory.deleted_at,
    }


def recalled_document(memory: Memory, recalls: Recalls) -> dict[str, Any]:
    """Return a memory with its use."""
    return memory_document(memory) | {"recalled": recalls.times, "last_recalled_at": recalls.last_at}


def search_document(found: SearchResult) -> dict[str, Any]:
    """Return the answer to a search."""
    return {"results": [_hit(hit) for hit in found.hits], "query": found.query, "total": len(found.hits)}


def _hit(hit: Hit) -> dict[str, Any]:
    document = memory_document(hit.memory, hit.score) | {"highlight": hit.highlight}
    return document if hit.explanation is None else document | {"explanation": hit.explanation}


def batch_document(items: list[BatchItem]) -> dict[str, Any]:
    """Return what became of each item of a batch."""
    results = [_batch_item(item) for item in items]
    stored = sum(1 for result in results if result["status"] == 201)
    duplicates = sum(1 for result in results if result["status"] == 200)
    return {
        "results": results,
        "stored": stored,
        "duplicates": duplicates,
        "failed": len(results) - stored - duplicates,
    }


def _batch_item(item: BatchItem) -> dict[str, Any]:
    if item.stored is not None:
        return {"index": item.index, "status": 201 if item.stored.created else 200, "id": item.stored.memory.id}
    problem = problem_of(item.error or RuntimeError("an item has neither outcome"))
    document = {"index": item.index, "status": problem.status, "detail": problem.detail, "code": problem.code}
    return {**document, "errors": list(problem.errors)} if problem.errors else document


def page_document(page: Page) -> dict[str, Any]:
    """Return one page of a listing."""
    return {"memories": [memory_document(memory) for memory in page.memories], "next_cursor": page.next_cursor}


def receipt_document(receipt: DeleteReceipt) -> Mapping[str, Any]:
    """Return the proof of a purge."""
    return {
        "id": receipt.id,
        "content_sha256": receipt.content_sha256,
        "purged_at": receipt.purged_at,
        "purged_by": receipt.purged_by,
    }


def history_document(versions: list[Version]) -> dict[str, Any]:
    """Return the life of a memory."""
    return {
        "versions": [
            {
                "version": version.version,
                "action": version.action,
                "at": version.at,
                "actor": version.actor,
                "reason": version.reason,
                "content": version.content,
                "importance": version.importance,
                "memory_type": version.memory_type,
                "tags": version.tags,
                "metadata": version.metadata,
            }
            for version in versions
        ]
    }
