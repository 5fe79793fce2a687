"""The memory of one running agent: recall for its turns, and a queue that its turns are safe in.

What is called on the turn path appends to the queue or starts a thread; the backend is asked by
threads only, tool calls excepted.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..backend.breaker import BreakerState
from ..backend.remote import RemoteBackend
from ..config import Config
from ..core.repeats import Repeats
from ..extract.parse import clean, said_of
from ..extract.pipeline import MIRROR, PLAN, STORE, TURN, work_of_said
from ..extract.rules import entity_words
from ..extract.types import FactDraft, Said
from ..notify import Notifier
from ..protocol.documents import store_document
from ..protocol.errors import MemexError
from ..protocol.models import Level, LmPolicy, RecallRequest, Record, StoreRequest
from .assembly import assemble
from .breakers import Noted
from .prefetch import Prefetch, normal
from .tools import Tools
from .writer import Writer

__all__ = ["AgentMemory"]

_LOG = logging.getLogger(__name__)
_MAX_QUERY_CHARS = 1_000


class AgentMemory:
    """Built when an agent begins. `may_write` is False where what is said is not the user's (cron, subagents).

    Raises:
        SetupError: no backend is to be asked, and why.
    """

    def __init__(
        self,
        config: Config,
        environ: Mapping[str, str],
        notifier: Notifier,
        *,
        session_id: str,
        platform: str,
        may_write: bool,
    ) -> None:
        self._config = config
        self._parts = assemble(config, environ)
        self._notifier = notifier
        self._noted = Noted(config.home)
        self._session_id = session_id
        self._platform = platform
        self._may_write = may_write
        self._keeps = may_write and config.capture_mode != "off"
        self._compacted = False
        self._told = Repeats()
        self._planned = Repeats(most=20_000)
        self._unplanned: deque[tuple[list[Any], str, dict[str, str]]] = deque()
        self._prefetch = Prefetch(self._recall)
        self._writer = Writer(self._work)
        self.tools = Tools(
            self._parts.backend,
            default_top_k=config.top_k,
            max_content_chars=config.max_content_chars,
            origin=functools.partial(self._origin, ""),
            queue_store=self._queue_store if may_write else None,
            polish=self._polish,
        )
        if may_write and config.queue_path.exists():
            self._writer.wake()  # what an earlier process left

    @property
    def recalled(self) -> int:
        """How many memories the last block held."""
        return self._prefetch.count

    def expect(self, message: str) -> None:
        """Begin to recall for a message."""
        self._prefetch.start(message[:_MAX_QUERY_CHARS])

    def block(self, query: str) -> str:
        """Return the fenced block for a query, after at most MEMEX_PREFETCH_WAIT; "" for nothing."""
        return self._prefetch.block(query[:_MAX_QUERY_CHARS], self._config.prefetch_wait_s)

    def switch(self, session_id: str, *, begins_anew: bool, compacted: bool) -> None:
        """Go on in another session, at an earlier point of this one, or after its context was compacted."""
        if begins_anew or (session_id and session_id != self._session_id):
            self._prefetch.forget()
            self._told.clear()
            self._compacted = False
        self._compacted = self._compacted or compacted
        self._session_id = session_id or self._session_id

    def keep_turn(self, user: str, assistant: str, session_id: str = "") -> None:
        """Put a completed turn into the queue; it is on disk when this returns."""
        if not self._keeps:
            return
        config, session, now = self._config, session_id or self._session_id, datetime.now(UTC)
        said = [
            Said(role, clean(text)[: config.max_content_chars])
            for role, text in (("user", user), ("assistant", assistant))
            if config.capture_mode in {"all", role}
        ]
        long_enough = [one for one in said if len(one.text) >= config.min_length]
        said = [one for one in long_enough if self._told.is_new(session, one.role, one.text)]
        if not said:
            return
        requests = [self._raw(one, session, now) for one in said]
        work: list[tuple[str, Mapping[str, Any]]] = [(STORE, {"requests": [store_document(r) for r in requests]})]
        about = work_of_said(said, occurred_at=now, trigger="turn", origin=self._origin(session))
        if self._parts.extracts_here:
            work.append((TURN, about))
        if config.lm_plan == "turn" and self._parts.planner is not None:
            work.append((PLAN, about))
        self._queue(work)

    def mirror(self, action: str, target: str, content: str, metadata: Mapping[str, Any]) -> None:
        """Follow a write of the host's own memory: add, replace or remove."""
        if not self._keeps or action not in {"add", "replace", "remove"}:
            return
        text, old = clean(content), clean(str(metadata.get("old_text") or ""))
        if action == "add" and not (text and self._told.is_new("builtin", target, text)):
            return  # the host tells of an add that changed nothing, too
        data = {
            "action": action,
            "target": target,
            "content": text,
            "old_text": old or (text if action == "remove" else ""),
            "previous_content": clean(str(metadata.get("previous_content") or "")),
            "occurred_at": datetime.now(UTC).isoformat(),
            "origin": self._origin(str(metadata.get("session_id") or "")),
        }
        # On the turn path, so not synced: the host has the entry on its own disk.
        self._parts.queue.put(MIRROR, data, synced=False)
        self._writer.wake()

    def plan(self, messages: Sequence[Any], trigger: str) -> None:
        """Have the writer plan a transcript: reading a long one takes too long on the turn path.

        Until it has, the plan is only in memory; the turns themselves are on disk already.
        """
        if self._keeps and self._config.lm_plan == "event" and self._parts.planner is not None:
            self._unplanned.append((list(messages), trigger, self._origin()))
            self._writer.wake()

    def settle(self, timeout_s: float) -> bool:
        """Wait until the queue had a pass since the last call; return whether it had."""
        return self._writer.settle(timeout_s)

    def close(self, timeout_s: float) -> None:
        """End the writer, waiting at most `timeout_s`; what it leaves stays in the queue."""
        self._writer.close(timeout_s)
        self._note({})  # the next agent begins with closed ones
        self._parts.close()

    def _origin(self, session_id: str = "") -> dict[str, str]:
        return {"session_id": session_id or self._session_id, "platform": self._platform}

    def _raw(self, said: Said, session: str, now: datetime) -> StoreRequest:
        # Facts are about what the user says; the assistant's words are kept and found, not mined.
        mined = said.role == "user" and not self._parts.extracts_here
        return StoreRequest(
            content=said.text,
            occurred_at=now,
            source_type=self._config.source_type,
            level=Level.RAW,
            lm_policy=LmPolicy.AUTO if mined else LmPolicy.SKIP,
            payload={"trigger": "turn", "role": said.role, **self._origin(session)},
        )

    def _queue(self, work: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        self._parts.queue.put_all(work)
        self._writer.wake()

    def _queue_store(self, request: StoreRequest) -> None:
        self._queue([(STORE, {"requests": [store_document(request)]})])

    def _queue_plans(self) -> None:
        """Queue plans of what none has covered yet: one transcript comes through several hooks, and grows."""
        while self._unplanned:
            messages, trigger, origin = self._unplanned.popleft()
            session = origin["session_id"]
            said = [one for one in said_of(messages) if self._planned.is_new(session, one.role, one.text)]
            if not any(one.role == "user" for one in said):
                continue
            text = json.dumps([session, [[one.role, one.text] for one in said]])
            key = f"plan-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
            data = work_of_said(said, occurred_at=datetime.now(UTC), trigger=trigger, origin=origin)
            self._parts.queue.put(PLAN, data, key=key)

    def _polish(self, content: str) -> FactDraft | None:
        """With MEMEX_LM_PLAN=store, have the host's model name keywords and topic of an explicit fact."""
        return self._parts.polish(content) if self._config.lm_plan == "store" else None

    def _recall(self, query: str) -> Sequence[Record] | None:
        """Ask the backend; runs in a thread of `Prefetch`."""
        config = self._config
        keywords = entity_words(query)[: config.max_keywords]
        request = RecallRequest(query=query, keywords=keywords, top_k=min(50, 2 * config.top_k))
        try:
            found = self._parts.backend.recall(request).records
        except MemexError as e:
            self._outage("recall", str(e))
            return None
        self._well("recall")
        here = "" if self._compacted else self._session_id  # what this session said stands in its context already
        seen = [r for r in found if not (r.level is Level.RAW and here and r.payload.get("session_id") == here)]
        return [r for r in seen if normal(r.content) != normal(query)][: config.top_k]

    def _work(self, stop: Callable[[], bool]) -> bool:
        """Work the queue off once; return whether something is left that another pass may do."""
        self._queue_plans()
        delivered = self._parts.pipeline.deliver(stop=stop)
        if delivered.error:
            self._outage("delivery", delivered.error)
            return True
        self._well("delivery")
        if self._writer.closing:
            return True  # a model may take longer than the host waits; the next process extracts
        extracted = self._parts.pipeline.extract(stop=stop)
        if delivered.done and self._config.backend_kind == "local" and not self._parts.extracts_here:
            self._parts.pipeline.trigger()
        return bool(delivered.waiting or extracted.waiting)

    def _outage(self, part: str, error: str) -> None:
        text = f"{error}. The conversation goes on without memory; what is said waits to be stored"
        self._notifier.trouble("the backend", text, part=part)
        self._note_breakers()

    def _well(self, part: str) -> None:
        self._notifier.well("the backend", part=part)
        self._note_breakers()

    def _note_breakers(self) -> None:
        if isinstance(self._parts.backend, RemoteBackend):
            self._note(self._parts.backend.breakers())

    def _note(self, breakers: Mapping[str, BreakerState]) -> None:
        try:
            self._noted.note(breakers, datetime.now(UTC))
        except OSError as e:
            _LOG.debug("memex: the breakers' state is not written: %s", e)
