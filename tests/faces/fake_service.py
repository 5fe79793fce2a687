"""A service in memory, as small as the contract allows, for tests of faces."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

from memex.core.forgetting import Kept, Policy, fading
from memex.core.lifecycle import Candidate, Outcome, Remembered
from memex.core.memory import (
    BatchItem,
    DeleteReceipt,
    Hit,
    Memory,
    NewMemory,
    Page,
    Patch,
    Recalls,
    SearchRequest,
    SearchResult,
    Stored,
    Unset,
    Version,
)
from memex.core.render import Rendered, render
from memex.protocol.errors import Conflict, InvalidInput, MemexError, NotFound
from memex.protocol.models import (
    ExtractRequest,
    ExtractResult,
    LinkRequest,
    LinkResult,
    RecallRequest,
    RecallResult,
    Record,
    StoreRequest,
    StoreResult,
)
from memex.testing import FakeBackend
from memex_server.consolidation import Summary
from memex_server.forgetting import Forgotten
from memex_server.lifecycle_ports import Job
from memex_server.service import MemoryService

Memories = list[Memory]  # names for types, since a method below is called `list`
Versions = list[Version]

START = datetime(2026, 5, 26, 10, 30, tzinfo=UTC)
JOB = Job(
    id=UUID(int=7),
    kind="consolidate",
    key="k",
    payload={"user_id": "ann", "agent_id": "scout"},
    state="dead",
    attempts=6,
    run_at=START,
    last_error="the database does not answer",
    created_at=START,
    updated_at=START,
)


class FakeRecords:
    """The shipped fake backend, called as the service is."""

    has_model = False

    def __init__(self) -> None:
        self.backend = FakeBackend(self.now)
        self.callers: list[str] = []

    def now(self) -> datetime:
        return START

    async def store(self, request: StoreRequest, *, caller: str) -> StoreResult:
        self.callers.append(caller)
        return self.backend.store(request)

    async def recall(self, request: RecallRequest, *, caller: str) -> RecallResult:
        return self.backend.recall(request)

    async def get(self, memory_id: str) -> Record:
        return self.backend.get(memory_id)

    async def link(self, request: LinkRequest, *, caller: str) -> LinkResult:
        return self.backend.link(request)

    async def extract(self, request: ExtractRequest, *, caller: str) -> ExtractResult:
        return self.backend.extract(request)


class FakeService:
    """Keeps memories in a dict; `failure`, when set, is raised by every call."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything, also methods that a test replaced."""
        self.__dict__.clear()
        self.memories: dict[UUID, Memory] = {}
        self.versions: dict[UUID, list[Version]] = {}
        self.keys: dict[str, tuple[Any, Stored]] = {}
        self.searches: list[SearchRequest] = []
        self.recalled: dict[UUID, Recalls] = {}
        self.failure: Exception | None = None
        self.database = "ok"
        self.is_ready = True
        self.kept = FakeRecords()
        self._count = itertools.count(1)

    @property
    def records(self) -> FakeRecords:
        """The calls of the unified protocol."""
        self._fail()
        return self.kept

    def as_service(self) -> MemoryService:
        """Itself, for functions that are declared for the real one."""
        return cast(MemoryService, self)

    async def store(self, new: NewMemory, *, idempotency_key: str | None = None) -> Stored:
        self._fail()
        if idempotency_key in self.keys:
            body, stored = self.keys[idempotency_key]
            if body != new:
                raise Conflict("the Idempotency-Key was used with another body", existing_id=str(stored.memory.id))
            return stored
        for memory in self.memories.values():
            same = (memory.agent_id, memory.user_id, memory.content, memory.memory_type)
            if (
                memory.deleted_at is None
                and same == (new.agent_id, new.user_id, new.content, new.memory_type)
                and new.occurred_at in {None, memory.occurred_at}
            ):
                return Stored(
                    self._keep(dataclasses.replace(memory, occurrences=memory.occurrences + 1), "repeat"), False
                )
        n = next(self._count)
        at = START + timedelta(seconds=n)
        memory = Memory(
            id=UUID(int=n),
            agent_id=new.agent_id,
            user_id=new.user_id,
            content=new.content,
            importance=new.importance,
            memory_type=new.memory_type,
            tags=new.tags,
            metadata=new.metadata,
            source=new.source,
            session_id=new.session_id,
            occurred_at=new.occurred_at or at,
            created_at=at,
            updated_at=at,
            expires_at=new.expires_at,
            pinned=new.pinned,
            occurrences=1,
            valid_from=None,
            valid_to=None,
            superseded_by=None,
            condensed_into=None,
            deleted_at=None,
        )
        stored = Stored(self._keep(memory, "store"), True)
        if idempotency_key is not None:
            self.keys[idempotency_key] = (new, stored)
        return stored

    async def store_batch(
        self, news: Sequence[NewMemory | Exception], *, idempotency_key: str | None = None
    ) -> list[BatchItem]:
        self._fail()
        items = []
        for index, new in enumerate(news):
            if isinstance(new, Exception):
                items.append(BatchItem(index, error=new))
                continue
            try:
                items.append(BatchItem(index, stored=await self.store(new)))
            except MemexError as e:
                items.append(BatchItem(index, error=e))
        return items

    async def search(self, request: SearchRequest) -> SearchResult:
        self._fail()
        self.searches.append(request)
        words = set(request.query.casefold().split())
        hits = []
        for memory in self._scope(request.user_id, request.filters.agent_id):
            score = len(words & set(memory.content.casefold().split())) / len(words or {""})
            explanation = {"overlap": score} if request.explain else None
            hits.append(Hit(memory, score, explanation=explanation))
        hits.sort(key=lambda hit: -hit.score)
        return SearchResult(hits[: request.top_k], request.query)

    async def recalls(self, memory: Memory) -> Recalls:
        self._fail()
        return self.recalled.get(memory.id, Recalls())

    async def get(self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None) -> Memory:
        self._fail()
        return self._one(memory_id, user_id, agent_id)

    async def list(
        self,
        *,
        user_id: str,
        agent_id: str | None = None,
        memory_type: str | None = None,
        tags: Sequence[str] = (),
        state: str = "live",
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        self._fail()
        if cursor is not None and not (cursor.isascii() and cursor.isdigit()):
            raise InvalidInput("the cursor is not one of memex", field="cursor")
        start = int(cursor or 0)
        found = [
            memory
            for memory in reversed(self.memories.values())
            if memory.user_id == user_id
            and agent_id in {None, memory.agent_id}
            and memory_type in {None, memory.memory_type}
            and set(tags) <= set(memory.tags)
            and state in {"all", "live" if memory.deleted_at is None else "deleted"}
        ]
        more = start + limit < len(found)
        return Page(found[start : start + limit], str(start + limit) if more else None)

    async def patch(
        self,
        memory_id: UUID,
        patch: Patch,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        actor: str | None = None,
    ) -> Memory:
        self._fail()
        memory = self._one(memory_id, user_id, agent_id)
        changes = {f.name: getattr(patch, f.name) for f in dataclasses.fields(patch)}
        given = {name: value for name, value in changes.items() if not isinstance(value, Unset)}
        return self._keep(dataclasses.replace(memory, **given), "patch")

    async def delete(
        self,
        memory_id: UUID,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        actor: str | None = None,
        purge: bool = False,
    ) -> DeleteReceipt | None:
        self._fail()
        memory = self._one(memory_id, user_id, agent_id)
        if purge:
            del self.memories[memory_id]
            sha = hashlib.sha256(memory.content.encode()).hexdigest()
            return DeleteReceipt(id=memory_id, content_sha256=sha, purged_at=START, purged_by=actor or agent_id)
        self._keep(dataclasses.replace(memory, deleted_at=START), "delete")
        return None

    async def restore(
        self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None, actor: str | None = None
    ) -> Memory:
        self._fail()
        memory = self._one(memory_id, user_id, agent_id, deleted=True)
        return self._keep(dataclasses.replace(memory, deleted_at=None), "restore", actor)

    async def history(self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None) -> Versions:
        self._fail()
        self._one(memory_id, user_id, agent_id, deleted=None)
        return self.versions[memory_id]

    async def delete_scope(
        self, *, user_id: str, agent_id: str | None = None, actor: str | None = None, purge: bool = False
    ) -> int:
        self._fail()
        found = self._scope(user_id, agent_id)
        for memory in found:
            await self.delete(memory.id, purge=purge)
        return len(found)

    async def count(self, *, user_id: str, agent_id: str | None = None) -> int:
        self._fail()
        return len(self._scope(user_id, agent_id))

    # -- lifecycle -----------------------------------------------------------------------------

    policy = Policy()

    async def remember(self, candidate: Candidate) -> Remembered:
        self._fail()
        if "thank" in candidate.text.casefold():
            return Remembered(Outcome.SKIPPED, None, 1.0, None, "small talk")
        if candidate.supersedes is not None:
            self._one(candidate.supersedes, candidate.user_id, None)
        new = NewMemory(agent_id=candidate.agent_id, user_id=candidate.user_id, content=candidate.text)
        stored = await self.store(new)
        outcome = Outcome.STORED if stored.created else Outcome.MERGED
        return Remembered(outcome, stored.memory.id, 7.0, 0.5, "preference; it is new")

    async def retract(
        self,
        memory_id: UUID,
        *,
        reason: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        actor: str | None = None,
    ) -> Memory:
        self._fail()
        memory = self._one(memory_id, user_id, agent_id)
        return self._keep(dataclasses.replace(memory, deleted_at=START), "retracted", actor)

    async def undo_retraction(
        self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None, actor: str | None = None
    ) -> Memory | None:
        return await self.restore(memory_id, user_id=user_id, agent_id=agent_id, actor=actor)

    async def consolidate(
        self, *, user_id: str, agent_id: str | None = None, dry_run: bool = False
    ) -> Sequence[Summary]:
        self._fail()
        found = self._scope(user_id, agent_id)
        return [Summary(None if dry_run else m.id, m.agent_id, m.content, [m.id]) for m in found[:1]]

    async def undo_consolidation(
        self, summary_id: UUID, *, user_id: str | None = None, agent_id: str | None = None, actor: str | None = None
    ) -> Sequence[UUID]:
        self._fail()
        return [self._one(summary_id, user_id, agent_id).id]

    async def forget(
        self, *, user_id: str, agent_id: str | None = None, policy: Policy, dry_run: bool = False
    ) -> Forgotten:
        self._fail()
        kept = [
            Kept(
                id=m.id,
                content=m.content,
                importance=m.importance,
                occurred_at=m.occurred_at,
                updated_at=m.updated_at,
                used_at=m.updated_at,
                pinned=m.pinned,
                expires_at=m.expires_at,
            )
            for m in self._scope(user_id, agent_id)
        ]
        gone = fading(kept, policy, START)
        return Forgotten(gone, 0 if dry_run else len(gone))

    async def jobs(self, *, state: str | None = None, limit: int = 100) -> Sequence[Job]:
        self._fail()
        return [] if state == "running" else [JOB][:limit]

    async def retry_job(self, job_id: UUID) -> Job:
        self._fail()
        if job_id != JOB.id:
            raise NotFound(f"no dead job {job_id}")
        return dataclasses.replace(JOB, state="pending")

    async def context(self, request: SearchRequest, *, token_budget: int) -> Rendered:
        found = await self.search(request)
        return render([hit.memory for hit in found.hits], token_budget=token_budget)

    async def health(self) -> Mapping[str, Any]:
        return {
            "status": "ok" if self.database == "ok" else "unavailable",
            "version": "0",
            "database": {"status": self.database},
            "embedding": {"status": "ok"},
        }

    async def ready(self) -> bool:
        return self.is_ready

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _keep(self, memory: Memory, action: str, actor: str | None = None) -> Memory:
        self.memories[memory.id] = memory
        steps = self.versions.setdefault(memory.id, [])
        steps.append(
            Version(
                version=len(steps) + 1,
                action=action,
                at=memory.updated_at,
                actor=actor or memory.agent_id,
                reason=None,
                content=memory.content,
                importance=memory.importance,
                memory_type=memory.memory_type,
                tags=memory.tags,
                metadata=memory.metadata,
            )
        )
        return memory

    def _scope(self, user_id: str, agent_id: str | None) -> Memories:
        return [
            memory
            for memory in self.memories.values()
            if memory.user_id == user_id and agent_id in {None, memory.agent_id} and memory.deleted_at is None
        ]

    def _one(
        self, memory_id: UUID, user_id: str | None, agent_id: str | None, *, deleted: bool | None = False
    ) -> Memory:
        memory = self.memories.get(memory_id)
        if (
            memory is None
            or user_id not in {None, memory.user_id}
            or agent_id not in {None, memory.agent_id}
            or (deleted is not None and (memory.deleted_at is not None) != deleted)
        ):
            raise NotFound(f"there is no memory {memory_id} in this scope")
        return memory
