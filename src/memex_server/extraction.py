"""Makes facts of records that wait for it: claimed, extracted, stored, linked to their source, settled.

Each step may be repeated: a worker that dies between two of them loses nothing, because its claim
runs out and the same facts are stored once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from memex.core.memory import Memory, MemoryType, NewMemory
from memex.core.reading import Statement
from memex.core.reclaiming import reclaims_any
from memex.core.redact import redact
from memex.protocol.errors import MemexError, NotFound
from memex.protocol.models import (
    ExtractRequest,
    ExtractResult,
    Level,
    LinkResult,
    LmPolicy,
    PreExtracted,
    StoreRequest,
    StoreResult,
)

from .lifecycle_ports import LifecycleRepo
from .ports import Clock
from .record_ports import Claimed, Edge, FactExtractor, RecordRepo

__all__ = ["EXTRACTED_FROM", "Extraction", "Keep"]

EXTRACTED_FROM = "extracted_from"
_LEASE = timedelta(minutes=5)  # a language model may take a minute for a record
_ATTEMPTS = 3
_FIRST_PAUSE = timedelta(seconds=30)
_MAX_ERROR_CHARS = 500

_Item = tuple[StoreRequest, NewMemory]
Keep = Callable[[Sequence[_Item]], Awaitable[list[StoreResult]]]


class Extraction:
    """Runs one round of extraction. `keep` and `link` store without counting for anybody."""

    def __init__(
        self,
        *,
        repo: RecordRepo,
        memories: LifecycleRepo,
        extractor: FactExtractor,
        keep: Keep,
        link: Callable[[str, Edge], Awaitable[LinkResult]],
        clock: Clock,
    ) -> None:
        self._repo = repo
        self._memories = memories
        self._extractor = extractor
        self._keep = keep
        self._link = link
        self._clock = clock

    @property
    def has_model(self) -> bool:
        """Whether there is a language model."""
        return self._extractor.has_model

    async def run(self, request: ExtractRequest, *, user_id: str | None, ids: Sequence[UUID]) -> ExtractResult:
        """Extract from `ids` of `user_id`, or from up to `request.limit` records that are due (of all users: None).

        A record that cannot be extracted now is tried again later, three times in all; then it is failed.
        The answer's message says why the last one failed.

        Raises:
            NotFound: one of `ids` is no record.
            Unavailable: the store does not answer.
        """
        if request.lm_policy is LmPolicy.FORCE and not self.has_model:
            return ExtractResult(
                status="unavailable", message="this service extracts by rules: it has no language model"
            )
        now = self._clock()
        if ids and user_id is not None:
            claimed = await self._repo.claim_these(user_id, ids, until=now + _LEASE)
        else:
            claimed = await self._repo.claim(limit=request.limit, user_id=user_id, now=now, until=now + _LEASE)
        facts: dict[str, None] = {}
        extracted = failed = 0
        message = ""
        for one in claimed:
            try:
                found = await self._extract(one, request.lm_policy)
            except MemexError as e:
                failed += 1
                message = f"{e.code}: {e}"[:_MAX_ERROR_CHARS]
                await self._fail(one, message)
                continue
            await self._repo.settle(one, retry_at=None, error=None)
            extracted += bool(found)
            facts.update(dict.fromkeys(found))
        return ExtractResult(
            claimed=len(claimed), extracted=extracted, failed=failed, facts=tuple(facts), message=message
        )

    async def _extract(self, one: Claimed, policy: LmPolicy) -> list[str]:
        try:
            source = await self._memories.get(one.memory_id, user_id=one.user_id, agent_id=None)
        except NotFound:  # deleted while it waited
            return []
        role = source.metadata.get("role")
        drafts = await self._extractor.extract(role if isinstance(role, str) else "user", source.content, policy)
        items = await self._wanted(source, [_fact(source, draft) for draft in drafts]) if drafts else []
        stored = await self._keep(items) if items else []
        for fact in stored:
            await self._link(source.user_id, Edge(UUID(fact.memory_id), source.id, EXTRACTED_FROM, 1.0))
        return [fact.memory_id for fact in stored]

    async def _wanted(self, source: Memory, items: Sequence[_Item]) -> list[_Item]:
        """Leave out what was deleted or retracted: it does not come back by itself."""
        buried = await self._repo.buried([new for _, new in items])
        retracted = [Statement(claim.content) for claim in await self._memories.retractions(source.user_id)]
        return [
            item
            for item, gone in zip(items, buried, strict=True)
            if not gone and not reclaims_any(item[1].content, retracted)
        ]

    async def _fail(self, one: Claimed, error: str) -> None:
        again = self._clock() + _FIRST_PAUSE * 4 ** (one.attempts - 1)
        retry_at = again if one.attempts < _ATTEMPTS else None
        await self._repo.settle(one, retry_at=retry_at, error=error)


def _fact(source: Memory, draft: PreExtracted) -> _Item:
    draft = replace(draft, content=redact(draft.content)[0])
    carried = {name: source.metadata[name] for name in ("role", "platform") if name in source.metadata}
    request = StoreRequest(
        content=draft.content,
        occurred_at=source.occurred_at,
        source_type=source.source or "memory",
        level=Level.FACT,
        lm_policy=LmPolicy.SKIP,
        pre_extracted=draft,
        payload={"trigger": "extract", **carried},
    )
    new = NewMemory(
        agent_id=source.agent_id,
        user_id=source.user_id,
        content=draft.content,
        memory_type=MemoryType.SEMANTIC,
        occurred_at=source.occurred_at,
        renewable=True,
        tags=(draft.topic,) if draft.topic else (),
        metadata=request.payload,
        source=request.source_type,
        session_id=source.session_id,
    )
    return request, new
