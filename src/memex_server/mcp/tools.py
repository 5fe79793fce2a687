"""What each tool does: one call of the service, from arguments that `arguments` has read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memex.core.lifecycle import Candidate
from memex.core.memory import UNSET, Filters, MemoryType, NewMemory, Patch, SearchRequest
from memex.core.render import is_rendered, without_rendered
from memex.protocol.errors import InvalidInput
from memex_server.service import MemoryService

from .documents import found_document, memory_document

__all__ = ["Caller", "call"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a call without `user_id` and `agent_id` is for.

    With `bound`, a memory that is addressed by its id alone must be this user's.
    """

    user_id: str
    agent_id: str
    bound: bool = False


_Arguments = Mapping[str, Any]
_Tool = Callable[[MemoryService, Caller, _Arguments], Awaitable[dict[str, Any]]]


async def call(name: str, service: MemoryService, caller: Caller, arguments: _Arguments) -> dict[str, Any]:
    """Run one tool; return its structured result. Raises what the service raises."""
    return await _TOOLS[name](service, caller, arguments)


async def _save_memory(service: MemoryService, caller: Caller, given: _Arguments) -> dict[str, Any]:
    candidate = Candidate(
        user_id=given.get("user_id", caller.user_id),
        agent_id=caller.agent_id,
        text=given["text"],
        memory_type=given["kind"],
        source="mcp",
    )
    done = await service.remember(candidate)
    held = {} if done.id is None else {"id": str(done.id)}
    return {"outcome": done.outcome.value, "reason": done.reason, **held}


async def _search_memory(service: MemoryService, caller: Caller, given: _Arguments) -> dict[str, Any]:
    user_id = given.get("user_id", caller.user_id)
    return found_document(await service.search(SearchRequest(user_id=user_id, query=given["query"], top_k=given["k"])))


async def _retract_memory(service: MemoryService, caller: Caller, given: _Arguments) -> dict[str, Any]:
    await service.retract(
        given["memory_id"], reason=given.get("reason"), user_id=_owner(caller, given), actor=caller.agent_id
    )
    return {"retracted": True, "id": str(given["memory_id"])}


async def _store_memory(service: MemoryService, caller: Caller, given: _Arguments) -> dict[str, Any]:
    content = given["content"]
    if is_rendered(content):  # an agent that keeps its turns would keep what it was shown, turn by turn
        content = without_rendered(content)
        if not content:
            raise InvalidInput("content: is what memory itself had shown, and nothing else", field="content")
    new = NewMemory(
        user_id=given.get("user_id", caller.user_id),
        agent_id=given.get("agent_id", caller.agent_id),
        content=content,
        memory_type=MemoryType(given["memory_type"]),
        importance=given["importance"],
        tags=given.get("tags", ()),
        metadata=given.get("metadata", {}),
        occurred_at=given.get("occurred_at"),
        source="mcp",
    )
    stored = await service.store(new)
    return {**memory_document(stored.memory), "created": stored.created}


async def _search_memories(service: MemoryService, caller: Caller, given: _Arguments) -> dict[str, Any]:
    request = SearchRequest(
        user_id=given.get("user_id", caller.user_id),
        query=given["query"],
        top_k=given["top_k"],
        alpha=given.get("alpha"),
        filters=Filters(
            agent_id=given.get("agent_id"),
            memory_type=_type(given, None),
            tags=given.get("tags", ()),
            time_from=given.get("time_from"),
        ),
    )
    return found_document(await service.search(request))


async def _get_memory(service: MemoryService, caller: Caller, given: _Arguments) -> dict[str, Any]:
    return memory_document(await service.get(given["memory_id"], user_id=_owner(caller, given)))


async def _update_memory(service: MemoryService, caller: Caller, given: _Arguments) -> dict[str, Any]:
    patch = Patch(
        content=given.get("content", UNSET),
        memory_type=_type(given, UNSET),
        importance=given.get("importance", UNSET),
        tags=given.get("tags", UNSET),
        metadata=given.get("metadata", UNSET),
        pinned=given.get("pinned", UNSET),
    )
    user_id = _owner(caller, given)
    return memory_document(await service.patch(given["memory_id"], patch, user_id=user_id, actor=caller.agent_id))


async def _delete_memory(service: MemoryService, caller: Caller, given: _Arguments) -> dict[str, Any]:
    await service.delete(given["memory_id"], user_id=_owner(caller, given), actor=caller.agent_id)
    return {"deleted": True, "id": str(given["memory_id"])}


async def _count_memories(service: MemoryService, caller: Caller, given: _Arguments) -> dict[str, Any]:
    user_id, agent_id = given.get("user_id", caller.user_id), given.get("agent_id")
    count = await service.count(user_id=user_id, agent_id=agent_id)
    return {"user_id": user_id, "agent_id": agent_id, "count": count}


def _owner(caller: Caller, given: _Arguments) -> str | None:
    owner: str | None = given.get("user_id", caller.user_id if caller.bound else None)
    return owner


def _type(given: _Arguments, otherwise: Any) -> Any:
    return MemoryType(given["memory_type"]) if "memory_type" in given else otherwise


_TOOLS: Mapping[str, _Tool] = {
    "save_memory": _save_memory,
    "search_memory": _search_memory,
    "retract_memory": _retract_memory,
    "store_memory": _store_memory,
    "search_memories": _search_memories,
    "get_memory": _get_memory,
    "update_memory": _update_memory,
    "delete_memory": _delete_memory,
    "count_memories": _count_memories,
}
