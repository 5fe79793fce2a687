"""What is remembered, as a block for an agent to read."""

from __future__ import annotations

from memex.core.memory import SearchRequest
from memex.core.render import render
from memex_server.service import MemoryService

__all__ = ["NOTHING", "context_of"]

NOTHING = "Nothing is remembered yet."
_MAX_MEMORIES = 20
_TOKENS = 2_000


async def context_of(service: MemoryService, user_id: str, topic: str | None = None) -> str:
    """Return the block for one user: what answers `topic`, or what was remembered last. Raises as the service."""
    if topic:
        request = SearchRequest(user_id=user_id, query=topic, top_k=_MAX_MEMORIES)
        rendered = await service.context(request, token_budget=_TOKENS)
    else:
        page = await service.list(user_id=user_id, limit=_MAX_MEMORIES)
        rendered = render(page.memories, token_budget=_TOKENS)
    return rendered.text or NOTHING
