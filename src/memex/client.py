"""The Python client of the memory service: REST v1 on the standard library, with typed results.

    memex = Memex("http://127.0.0.1:8000", user_id="user-123", agent_id="my-agent")
    memex.store("Releases happen on Friday evenings.", memory_type="semantic")
    for hit in memex.search("when do we deploy?"):
        print(hit.score, hit.memory.content)

Every call raises only `memex.protocol.errors`, and may be tried again by itself: a store carries a key
by which the service recognises the second try.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from .core.memory import DeleteReceipt, Hit, Memory, Page, Stored, Version, Weights
from .protocol.errors import InvalidInput
from .protocol.wire import Request, Response, document, encode, error_of
from .rest import (
    BatchOutcome,
    Context,
    Remembered,
    batch_outcomes,
    context_of,
    hit_of,
    memory_of,
    page_of,
    plain,
    receipt_of,
    remembered_of,
    version_of,
    well_formed,
)
from .transport.http import HttpTransport, Transport, base_url_of
from .transport.retry import Retry, retrying

__all__ = ["Memex"]

T = TypeVar("T")
_Id = UUID | str


class Memex:
    """Talks to one service for one user; `user_id` and `agent_id` of a call stand above those given here.

    What a change is written down as done by is the client's `agent_id`.

    Safe to use from several threads. It holds no connection, so there is nothing to close.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        user_id: str = "",
        agent_id: str = "",
        token: str = "",
        timeout_s: float = 30.0,
        retry: Retry = Retry(),  # noqa: B008 - frozen
        transport: Transport | None = None,
    ) -> None:
        """`timeout_s` is for one attempt; `transport` replaces HTTP, in tests for example.

        Raises:
            SetupError: the address or the token cannot be used.
        """
        self._transport = transport or HttpTransport(base_url_of(url, name="url"), token=token)
        self._user_id, self._agent_id = user_id, agent_id
        self._timeout_s = timeout_s
        self._retry = retry

    # -- storing -------------------------------------------------------------------------------

    def store(self, content: str, *, user_id: str = "", agent_id: str = "", **fields: Any) -> Stored:
        """Store one memory, or count the repeat of one that is there.

        `fields` are those of `POST /v1/memories`: importance, memory_type, occurred_at, tags, metadata,
        source, session_id, expires_at, pinned.

        Raises:
            InvalidInput, Unauthorized, RateLimited, Unavailable.
        """
        body = {**self._owner(user_id, agent_id), "content": content, **fields}
        response = self._send("store", "POST", "", body=body, once=True)
        return well_formed("store", lambda: Stored(memory_of(document(response)), response.status == 201))

    def store_batch(
        self, memories: Sequence[Mapping[str, Any]], *, user_id: str = "", agent_id: str = ""
    ) -> list[BatchOutcome]:
        """Store up to 1,000 memories, each a mapping like the arguments of `store`; each is judged by itself.

        Raises:
            InvalidInput, TooLarge, Unauthorized, RateLimited, Unavailable: nothing was stored.
        """
        body = {"memories": [{**self._owner_of(memory, user_id, agent_id), **memory} for memory in memories]}
        return self._call("store_batch", "POST", "/batch", batch_outcomes, body=body, once=True)

    def remember(self, text: str, *, user_id: str = "", agent_id: str = "", **fields: Any) -> Remembered:
        """Let the gate decide what becomes of `text`: stored, merged, superseded or skipped.

        `fields` are those of `POST /v1/memories/remember`: kind, source, occurred_at, threshold, dedup_similarity.
        """
        body = {**self._owner(user_id, agent_id), "text": text, **fields}
        return self._call("remember", "POST", "/remember", remembered_of, body=body, once=True)

    # -- finding -------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        user_id: str = "",
        agent_id: str | None = None,
        top_k: int = 10,
        weights: Weights | None = None,
        explain: bool = False,
        **fields: Any,
    ) -> list[Hit]:
        """Return what answers the query, best first, from all agents unless `agent_id` names one.

        `fields` are the others of `POST /v1/memories/search`: alpha, mode, memory_type, tags, metadata,
        time_from, time_to, as_of, now, half_life_days.

        Raises:
            InvalidInput, Unauthorized, RateLimited, Unavailable.
        """
        body = {"user_id": self._user(user_id), "query": query, "top_k": top_k, "explain": explain, **fields}
        body |= {"agent_id": agent_id} if agent_id else {}
        if weights is not None:
            body["weights"] = {
                name: getattr(weights, name) for name in ("similarity", "recency", "importance", "graph")
            }
        return self._call(
            "search", "POST", "/search", lambda found: [hit_of(one) for one in found["results"]], body=body, reads=True
        )

    def context(self, query: str, *, token_budget: int, user_id: str = "", **fields: Any) -> Context:
        """Return one block of text to put into a prompt, of at most `token_budget` tokens."""
        body = {"user_id": self._user(user_id), "query": query, "token_budget": token_budget, **fields}
        response = self._sent(self._request("context", "POST", "/v1/context", body=body, reads=True))
        return well_formed("context", lambda: context_of(document(response)))

    def count(self, *, user_id: str = "", agent_id: str | None = None) -> int:
        """Return how many live memories a user has, or one agent of a user."""
        query = {"user_id": self._user(user_id), "agent_id": agent_id}
        return self._call("count", "GET", "/count", lambda found: int(found["count"]), query=query, reads=True)

    # -- by id ---------------------------------------------------------------------------------

    def get(self, memory_id: _Id, *, user_id: str = "") -> Memory:
        """Return one memory. Raises NotFound, also for another user's."""
        return self._call("get", "GET", _path(memory_id), memory_of, query=self._scope(user_id), reads=True)

    def patch(self, memory_id: _Id, *, user_id: str = "", **changes: Any) -> Memory:
        """Change what is given and keep the rest; None clears what may be empty.

        Raises:
            NotFound, Conflict, InvalidInput, Unauthorized, Unavailable.
        """
        return self._call("patch", "PATCH", _path(memory_id), memory_of, query=self._change(user_id), body=changes)

    def delete(self, memory_id: _Id, *, user_id: str = "", purge: bool = False) -> DeleteReceipt | None:
        """Delete one memory: restorable for 30 days, or erased at once with a receipt if `purge`.

        Raises:
            NotFound: it is not there; a second try of a delete that was carried out may say so too.
        """
        query = {**self._change(user_id), "purge": "true" if purge else None}
        response = self._send("delete", "DELETE", _path(memory_id), query=query)
        return None if response.status == 204 else well_formed("delete", lambda: receipt_of(document(response)))

    def restore(self, memory_id: _Id, *, user_id: str = "") -> Memory:
        """Bring a deleted memory back. Raises NotFound, Conflict."""
        return self._call("restore", "POST", f"{_path(memory_id)}/restore", memory_of, query=self._change(user_id))

    def retract(self, memory_id: _Id, reason: str, *, user_id: str = "") -> Mapping[str, Any]:
        """Take a memory back for good: neither extraction nor consolidation brings the same claim again."""
        path = f"{_path(memory_id)}/retract"
        return self._call("retract", "POST", path, _any, query=self._change(user_id), body={"reason": reason})

    def history(self, memory_id: _Id, *, user_id: str = "") -> list[Version]:
        """Return the life of a memory, oldest step first. Raises NotFound."""
        return self._call(
            "history",
            "GET",
            f"{_path(memory_id)}/history",
            lambda found: [version_of(one) for one in found["versions"]],
            query=self._scope(user_id),
            reads=True,
        )

    # -- of a scope ----------------------------------------------------------------------------

    def delete_all(self, *, user_id: str = "", agent_id: str | None = None, purge: bool = False) -> int:
        """Delete everything of a user, or of one agent of a user; return how many memories went."""
        purging = "true" if purge else None
        query = {**self._change(self._user(user_id)), "agent_id": agent_id, "purge": purging}
        return self._call("delete_all", "DELETE", "", lambda found: int(found["deleted"]), query=query)

    def every(self, *, user_id: str = "", page: int = 200, **filters: Any) -> Iterator[Memory]:
        """Yield all memories of a listing, page after page, newest first."""
        cursor: str | None = None
        while True:
            found = self.list(user_id=user_id, limit=page, cursor=cursor, **filters)
            yield from found.memories
            cursor = found.next_cursor
            if cursor is None:
                return

    def jobs(self, *, state: Literal["pending", "running", "dead"] | None = None) -> Sequence[Mapping[str, Any]]:
        """Return background work that waits, runs or has failed for good."""
        request = self._request("jobs", "GET", "/v1/jobs", query={"state": state}, reads=True)
        return well_formed("jobs", lambda: [_any(job) for job in document(self._sent(request))["jobs"]])

    def health(self) -> Mapping[str, Any]:
        """Return the state of the service and its parts. Raises Unavailable when it is not well."""
        return well_formed(
            "health", lambda: _any(document(self._sent(self._request("health", "GET", "/health", reads=True))))
        )

    # Last, because its name hides the type `list` from what follows in the class.
    def list(
        self,
        *,
        user_id: str = "",
        agent_id: str | None = None,
        memory_type: str | None = None,
        tags: Sequence[str] = (),
        state: Literal["live", "deleted", "all"] = "live",
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """Return one page of a user's memories, newest first; `cursor` is the `next_cursor` of the one before."""
        query = {
            "user_id": self._user(user_id),
            "agent_id": agent_id,
            "memory_type": memory_type,
            "tags": tags,
            "state": state,
            "limit": str(limit),
            "cursor": cursor,
        }
        return self._call("list", "GET", "", page_of, query=query, reads=True)

    # -- how -----------------------------------------------------------------------------------

    def _user(self, user_id: str) -> str:
        found = user_id or self._user_id
        if not found:
            raise InvalidInput("user_id is needed, here or for the whole client", field="user_id")
        return found

    def _owner(self, user_id: str, agent_id: str) -> dict[str, str]:
        agent = agent_id or self._agent_id
        if not agent:
            raise InvalidInput("agent_id is needed, here or for the whole client", field="agent_id")
        return {"user_id": self._user(user_id), "agent_id": agent}

    def _owner_of(self, memory: Mapping[str, Any], user_id: str, agent_id: str) -> dict[str, str]:
        return self._owner(memory.get("user_id") or user_id, memory.get("agent_id") or agent_id)

    def _scope(self, user_id: str) -> dict[str, Any]:
        return {"user_id": user_id or self._user_id or None}

    def _change(self, user_id: str) -> dict[str, Any]:
        return {**self._scope(user_id), "actor": self._agent_id or None}

    def _call(self, operation: str, method: str, path: str, read: Callable[[Any], T], **options: Any) -> T:
        response = self._send(operation, method, path, **options)
        return well_formed(operation, lambda: read(document(response)))

    def _send(self, operation: str, method: str, path: str, **options: Any) -> Response:
        return self._sent(self._request(operation, method, f"/v1/memories{path}", **options))

    def _request(
        self,
        operation: str,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        reads: bool = False,
        once: bool = False,
    ) -> Request:
        given = urlencode({name: value for name, value in (query or {}).items() if value is not None}, doseq=True)
        headers = {} if body is None else {"content-type": "application/json"}
        if once:
            headers["idempotency-key"] = secrets.token_hex(16)
        return Request(
            operation=operation,
            method=method,
            path=f"{path}?{given}" if given else path,
            body=None if body is None else encode(plain(body)),
            reads=reads,
            headers=headers,
        )

    def _sent(self, request: Request) -> Response:
        def attempt() -> Response:
            response = self._transport.send(request, timeout_s=self._timeout_s)
            error = error_of(response)
            if error is not None:
                raise error
            return response

        return retrying(attempt, self._retry)


def _path(memory_id: _Id) -> str:
    try:
        return f"/{UUID(str(memory_id))}"
    except ValueError as e:
        raise InvalidInput(f"memory_id {str(memory_id)[:80]!r} is not the id of a memory", field="memory_id") from e


def _any(found: Any) -> Mapping[str, Any]:
    return dict(found)
