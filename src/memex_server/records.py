"""The unified protocol's calls on the memories of one user.

A record is a memory: what was said is an episodic one, everything above it a semantic one. So every
face sees what the protocol stored, and the protocol recalls what other faces stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from memex.core.memory import (
    MAX_QUERY_CHARS,
    MAX_TOP_K,
    Filters,
    Hit,
    Memory,
    MemoryType,
    NewMemory,
    SearchMode,
    SearchRequest,
    SearchResult,
)
from memex.core.recall import keyword_key, named_keys, recall_score, registered_relevance
from memex.protocol.errors import NotFound
from memex.protocol.models import (
    ExtractRequest,
    ExtractResult,
    Group,
    Level,
    Link,
    LinkRequest,
    LinkResult,
    LmPolicy,
    RecallMode,
    RecallRequest,
    RecallResult,
    Record,
    StoreRequest,
    StoreResult,
)

from .checks import check_new
from .extraction import Extraction
from .ids import IdSource
from .indexing import index_texts
from .lifecycle_ports import LifecycleRepo
from .ports import Clock, Embedder, Observer, PreparedMemory, Query
from .ranking import certainty
from .record_ports import Description, Edge, FactExtractor, NewRecord, RecordRepo

__all__ = ["Limit", "Owner", "RecordParts", "Records", "Search"]

Search = Callable[[SearchRequest], Awaitable[SearchResult]]
Limit = Callable[[str, Literal["write", "search"]], Awaitable[None]]

_REGISTERED = 200  # records looked at that are registered under a keyword of the request
# BM25 as a share of what could be: a text of usual length that holds every term once reaches this.
_FULL_MATCH = 1 / 2.2
# A search always finds something; what is less like an answer than unrelated texts usually are only fills a prompt.
_LEAST_SIMILAR = 0.5
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory the protocol is about, and as which agent it stores."""

    user_id: str
    agent_id: str


@dataclass(frozen=True, slots=True)
class RecordParts:
    """What records need that nothing else of the service does."""

    repo: RecordRepo
    extractor: FactExtractor
    owner: Owner


class Records:
    """Stores, recalls, gets, links and extracts records. Raises only `memex.protocol.errors`.

    `caller` is whom a call counts for in the rate limit.
    """

    def __init__(
        self,
        parts: RecordParts,
        *,
        memories: LifecycleRepo,
        embedder: Embedder,
        search: Search,
        limit: Limit,
        clock: Clock,
        ids: IdSource,
        observer: Observer,
        half_life_days: float,
    ) -> None:
        """`search` and `limit` are the service's own: a search that counts for nobody, and the rate limit."""
        self._owner = parts.owner
        self._repo = parts.repo
        self._memories = memories
        self._embedder = embedder
        self._search = search
        self._limit = limit
        self._clock = clock
        self._ids = ids
        self._observer = observer
        self._half_life_days = half_life_days
        self._extraction = Extraction(
            repo=parts.repo, memories=memories, extractor=parts.extractor, keep=self._keep, link=self._link, clock=clock
        )

    @property
    def has_model(self) -> bool:
        """Whether facts are extracted by a language model."""
        return self._extraction.has_model

    def now(self) -> datetime:
        """Return the service's time, for a record that comes without one."""
        return self._clock()

    async def store(self, request: StoreRequest, *, caller: str) -> StoreResult:
        """Keep a record, or renew the one of the same text and level.

        Raises:
            InvalidInput, RateLimited, Unavailable.
        """
        new = _memory(request, self._owner)
        check_new(new, self._clock())
        await self._limit(caller, "write")
        [result] = await self._keep([(request, new)])
        return result

    async def _keep(self, items: Sequence[tuple[StoreRequest, NewMemory]]) -> list[StoreResult]:
        indexes = await index_texts(self._embedder, [new.content for _, new in items])
        now = self._clock()
        records = [
            NewRecord(
                PreparedMemory(self._ids(now), new, index),
                Description(level=request.level, topic=request.topic, keywords=request.keywords),
                sorted({key for keyword in request.keywords if (key := keyword_key(keyword))}),
                _waits(request),
            )
            for (request, new), index in zip(items, indexes, strict=True)
        ]
        results = []
        for stored, described in await self._repo.store(records, now=now):
            self._observer.operation("create", "created" if stored.created else "duplicate")
            results.append(
                StoreResult(memory_id=str(stored.memory.id), level=described.level, deduplicated=not stored.created)
            )
        return results

    async def recall(self, request: RecallRequest, *, caller: str) -> RecallResult:
        """Return what answers the request; nothing if it asks for nothing. Raises RateLimited, Unavailable."""
        await self._limit(caller, "search")
        if request.is_empty:
            return RecallResult()
        scored: dict[UUID, tuple[float, Memory]] = {}
        for relevance, memory in [
            *await self._by_registry(request),
            *await self._by_words(request),
            *await self._by_meaning(request),
        ]:
            age_days = (self._clock() - memory.occurred_at).total_seconds() / _DAY_S
            score = recall_score(relevance, age_days, self._half_life_days)
            if memory.id not in scored or score > scored[memory.id][0]:
                scored[memory.id] = (score, memory)
        ranked = sorted(scored.values(), key=lambda found: found[1].id)
        ranked.sort(key=lambda found: found[1].created_at, reverse=True)
        ranked.sort(key=lambda found: found[0], reverse=True)
        best = ranked[: request.top_k]
        described = await self._repo.describe(self._owner.user_id, [memory.id for _, memory in best])
        records = tuple(_record(memory, described.get(memory.id), score=score) for score, memory in best)
        groups: tuple[Group, ...] = ()
        if request.mode is RecallMode.CLUSTER:
            topics = dict.fromkeys(record.topic for record in records)
            groups = tuple(Group(key=t, records=tuple(r for r in records if r.topic == t)) for t in topics)
        return RecallResult(records=records, groups=groups)

    async def _by_registry(self, request: RecallRequest) -> list[tuple[float, Memory]]:
        """Resolve keywords, and what the query names, by the registry."""
        keys = {key for text in (*request.keywords, request.query) for key in named_keys(text)}
        query = Query(
            user_id=self._owner.user_id,
            version=0,
            filters=_filters(request),
            valid_at=self._clock(),
            vector=None,
            terms=(),
            repeats=(),
            wanted=_REGISTERED,
        )
        found = await self._repo.registered(query, sorted(keys), _REGISTERED) if keys else []
        return [(registered_relevance(under, request.keywords, request.query), memory) for memory, under in found]

    async def _by_words(self, request: RecallRequest) -> list[tuple[float, Memory]]:
        """Look for the words of the keywords in the texts."""
        if not request.keywords:
            return []
        found = await self._search(
            SearchRequest(
                user_id=self._owner.user_id,
                query=" ".join(request.keywords)[:MAX_QUERY_CHARS],
                top_k=MAX_TOP_K,
                mode=SearchMode.KEYWORD,
                filters=_filters(request),
            )
        )
        return [(min(1.0, hit.score / _FULL_MATCH), hit.memory) for hit in found.hits]

    async def _by_meaning(self, request: RecallRequest) -> list[tuple[float, Memory]]:
        """Search as any face does for a query; keywords are not guessed at, because that always finds something.

        No more than are wanted, so that freshness may reorder the best, but not put others in their place.
        """
        if not request.query:
            return []
        found = await self._search(
            SearchRequest(
                user_id=self._owner.user_id,
                query=request.query,
                top_k=request.top_k,
                mode=SearchMode.HYBRID,
                filters=_filters(request),
                explain=True,
            )
        )
        similar = [(_similarity(hit), hit.memory) for hit in found.hits]
        best = max((similarity for similarity, _ in similar), default=0.0)
        return [(certainty(one, best), memory) for one, memory in similar if one >= _LEAST_SIMILAR]

    async def get(self, memory_id: str) -> Record:
        """Return one record of any level, by its id or by the one that its payload gives it.

        Raises:
            NotFound, Unavailable.
        """
        memory = await self._memory(memory_id)
        described = await self._repo.describe(memory.user_id, [memory.id])
        links = await self._repo.links(memory.user_id, memory.id)
        return _record(memory, described.get(memory.id), links=links)

    async def link(self, request: LinkRequest, *, caller: str) -> LinkResult:
        """Make an edge between two records, once. Raises NotFound, RateLimited, Unavailable."""
        await self._limit(caller, "write")
        ends = [(await self._memory(end)).id for end in (request.from_id, request.to_id)]
        return await self._link(self._owner.user_id, Edge(ends[0], ends[1], request.relation, request.weight))

    async def _link(self, user_id: str, edge: Edge) -> LinkResult:
        now = self._clock()
        return await self._repo.link(user_id, edge, link_id=self._ids(now), now=now)

    async def extract(self, request: ExtractRequest, *, caller: str) -> ExtractResult:
        """Extract facts now. Raises NotFound, RateLimited, Unavailable."""
        await self._limit(caller, "write")
        ids = [(await self._memory(memory_id)).id for memory_id in request.memory_ids]
        return await self._extraction.run(request, user_id=self._owner.user_id, ids=ids)

    async def extract_due(self, limit: int = 20) -> ExtractResult:
        """Extract facts from what waits for it, of all users: the work of the resident worker. Raises Unavailable."""
        return await self._extraction.run(ExtractRequest(limit=limit), user_id=None, ids=())

    async def _memory(self, memory_id: str) -> Memory:
        memory = await self._by_id(_uuid(memory_id))
        if memory is None:
            memory = await self._by_id(await self._repo.find(self._owner.user_id, memory_id))
        if memory is None:
            raise NotFound(f"there is no record {memory_id[:80]}")
        if memory.expires_at is not None and memory.expires_at <= self._clock():
            raise NotFound(f"record {memory_id[:80]} has expired")
        return memory

    async def _by_id(self, memory_id: UUID | None) -> Memory | None:
        if memory_id is None:
            return None
        try:
            return await self._memories.get(memory_id, user_id=self._owner.user_id, agent_id=None)
        except NotFound:
            return None


def _memory(request: StoreRequest, owner: Owner) -> NewMemory:
    session = request.payload.get("session_id")
    tags = (*request.tags, request.topic) if request.topic else tuple(request.tags)
    return NewMemory(
        agent_id=owner.agent_id,
        user_id=owner.user_id,
        content=request.text,
        memory_type=MemoryType.EPISODIC if request.level is Level.RAW else MemoryType.SEMANTIC,
        occurred_at=request.occurred_at,
        renewable=True,
        tags=tags,
        metadata=request.payload,
        source=request.source_type,
        session_id=session if isinstance(session, str) and session else None,
    )


def _waits(request: StoreRequest) -> bool:
    if request.lm_policy is LmPolicy.AUTO:
        return request.level is Level.RAW and request.pre_extracted is None
    return request.lm_policy is LmPolicy.FORCE


def _filters(request: RecallRequest) -> Filters:
    return Filters(tags=tuple(request.dimensions), time_from=request.time_from, time_to=request.time_to)


def _record(
    memory: Memory, described: Description | None, *, score: float | None = None, links: Sequence[Link] = ()
) -> Record:
    if described is None:  # stored through another face
        described = Description(level=Level.RAW if memory.memory_type is MemoryType.EPISODIC else Level.FACT)
    return Record(
        memory_id=str(memory.id),
        content=memory.content,
        score=score,
        level=described.level,
        topic=described.topic,
        keywords=described.keywords,
        occurred_at=memory.occurred_at,
        created_at=memory.created_at,
        source_type=memory.source or "",
        tags=tuple(tag for tag in memory.tags if tag != described.topic),
        payload=memory.metadata,
        links=links,
    )


def _similarity(hit: Hit) -> float:
    """Return what the search found without recency, which the protocol's own formula adds."""
    parts = (hit.explanation or {})["components"]
    return float(parts["similarity"]["value"])


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
