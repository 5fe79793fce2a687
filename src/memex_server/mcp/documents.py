"""What the tools answer: memories as JSON objects without the fields that say nothing."""

from __future__ import annotations

from typing import Any

from memex.core.memory import Hit, Memory, SearchResult

__all__ = ["found_document", "memory_document"]


def memory_document(memory: Memory) -> dict[str, Any]:
    """Return a memory; agents pay for each character, so what is empty is left out."""
    document: dict[str, Any] = {
        "id": str(memory.id),
        "content": memory.content,
        "memory_type": memory.memory_type.value,
        "importance": memory.importance,
        "tags": list(memory.tags),
        "occurred_at": memory.occurred_at.isoformat(),
        "created_at": memory.created_at.isoformat(),
        "user_id": memory.user_id,
        "agent_id": memory.agent_id,
    }
    if memory.metadata:
        document["metadata"] = dict(memory.metadata)
    if memory.pinned:
        document["pinned"] = True
    if memory.valid_to is not None:
        document["valid_to"] = memory.valid_to.isoformat()
    return document


def found_document(found: SearchResult) -> dict[str, Any]:
    """Return the answer to a search, best first."""
    return {"results": [_hit(hit) for hit in found.hits], "query": found.query, "total": len(found.hits)}


def _hit(hit: Hit) -> dict[str, Any]:
    document = {**memory_document(hit.memory), "score": round(hit.score, 4)}
    if hit.highlight is not None and hit.highlight != hit.memory.content:
        document["highlight"] = hit.highlight
    return document
