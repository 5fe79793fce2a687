"""MemoryService: the one object behind every face."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Literal
from uuid import UUID

from memex import __version__
from memex.core.filters import compile_metadata
from memex.core.memory import (
    MAX_BATCH,
    BatchItem,
    DeleteReceipt,
    Hit,
    Memory,
    MemoryType,
    NewMemory,
    Page,
    Patch,
    Recalls,
    SearchMode,
    SearchRequest,
    SearchResult,
    Stored,
    Version,
    utc,
)
from memex.core.render import Rendered, render
from memex.core.text import term_hash, terms
from memex.core.traits import asks_when
from memex.protocol.errors import InvalidInput, NotFound, Unavailable

from .checks import check_budget, check_key, check_new, check_patch, check_scope, check_search, refusal_of
from .explain import explained
from .forgetting import Forgetting
from .ids import request_fingerprint
from .indexing import embed_query, index_texts, possible_names, without_names
from .ports import IdempotencyKey, PreparedMemory, Query
from .ranking import Plan, named_days, plan_weights, rank, usual_cosine
from .records import Records
from .reranked import reranks
from .retraction import Retracting

__all__ = ["MemoryService"]

_MAX_QUERY_TERMS = 256  # the rest of a longer query is repetition or a pasted document


class MemoryService(Retracting, Forgetting):
    """Stores, finds, changes and forgets memories. Raises only `memex.protocol.errors`."""

    @cached_property
    def records(self) -> Records:
        """The calls of the unified protocol."""
        return Records(
            self._record_parts,
            memories=self._repo,
            embedder=self._embedder,
            search=self._search_unlimited,
            limit=self._limit,
            clock=self._clock,
            ids=self._ids,
            observer=self._observer,
            half_life_days=self._half_life_days,
        )

    # -- storing -------------------------------------------------------------------------------

    async def store(self, new: NewMemory, *, idempotency_key: str | None = None) -> Stored:
        """Store one memory, or count the repeat of one that is there.

        Raises:
            InvalidInput, Conflict, RateLimited, Unavailable.
        """
        check_new(new, self._clock())
        if idempotency_key is not None:
            check_key(idempotency_key)
        [item] = await self._store([new], idempotency_key)
        return item

    async def store_batch(
        self, news: Sequence[NewMemory | Exception], *, idempotency_key: str | None = None
    ) -> list[BatchItem]:
        """Store many at once; an invalid item is refused by itself, the others are stored together.

        Items that a face could not even parse come as the exception that says why.

        Raises:
            InvalidInput, Conflict, RateLimited, Unavailable: nothing was stored.
        """
        if idempotency_key is not None:
            check_key(idempotency_key)
        if len(news) > MAX_BATCH:
            raise InvalidInput(f"a batch has up to {MAX_BATCH:,} memories, not {len(news):,}", field="memories")
        now = self._clock()
        items: dict[int, BatchItem] = {}
        valid: list[tuple[int, NewMemory]] = []
        for index, new in enumerate(news):
            error = new if isinstance(new, Exception) else refusal_of(new, now)
            if error is not None:
                items[index] = BatchItem(index, error=error)
            elif isinstance(new, NewMemory):
                valid.append((index, new))
        stored = await self._store([new for _, new in valid], idempotency_key) if valid else []
        for (index, _), one in zip(valid, stored, strict=True):
            items[index] = BatchItem(index, stored=one)
        return [items[index] for index in range(len(news))]

    async def _store(self, news: Sequence[NewMemory], idempotency_key: str | None) -> list[Stored]:
        await self._limit(f"agent {news[0].agent_id}", "write")
        key = None
        if idempotency_key is not None:
            key = IdempotencyKey(idempotency_key, request_fingerprint(news))
            done = await self._repo.replay(key)
            if done is not None:
                return done
        indexes = await index_texts(self._embedder, [new.content for new in news])
        now = self._clock()
        prepared = [PreparedMemory(self._ids(now), new, index) for new, index in zip(news, indexes, strict=True)]
        stored = await self._repo.store(prepared, now=now, key=key)
        for outcome, count in Counter("created" if one.created else "duplicate" for one in stored).items():
            self._observer.operation("create", outcome, count)
        return stored

    # -- searching -----------------------------------------------------------------------------

    async def search(self, request: SearchRequest) -> SearchResult:
        """Find what answers the query, best first.

        Raises:
            InvalidInput, RateLimited, Unavailable.
        """
        mode, weights = self._planned(request)
        agent_id = request.filters.agent_id
        await self._limit(f"agent {agent_id}" if agent_id else f"user {request.user_id}", "search")
        return await self._answered(request, mode, weights)

    async def _search_unlimited(self, request: SearchRequest) -> SearchResult:
        return await self._answered(request, *self._planned(request))

    def _planned(self, request: SearchRequest) -> tuple[SearchMode, dict[str, float]]:
        check_search(request)
        try:
            compile_metadata(request.filters.metadata)
            return plan_weights(
                request.mode, request.alpha, request.weights, default_alpha=self._default_alpha, fusion=self._fusion
            )
        except ValueError as e:
            raise InvalidInput(str(e), field="metadata" if request.weights is None else "weights") from e

    async def _answered(self, request: SearchRequest, mode: SearchMode, weights: dict[str, float]) -> SearchResult:
        possible = [] if mode is SearchMode.KEYWORD else possible_names(request.query)
        names = {term_hash(name): name for name in possible}
        scope = await self._repo.scope(request.user_id, list(names))
        version, asked = scope.version, repr(request)
        result = self._answers.get(asked, version)
        if result is None:
            now = self._clock()
            plan = Plan(
                fusion=self._fusion,
                usual_cosine=usual_cosine(self._embedder.card),
                asks_when=asks_when(request.query),
                days=named_days(request.query, utc(request.now) if request.now else now),
                mode=mode,
                weights=weights,
                half_life_days=request.half_life_days
                or (self._fusion.half_life_days if mode is SearchMode.HYBRID else self._half_life_days),
                now=utc(request.now) if request.now else now,
            )
            about = without_names(request.query, {names[speaker] for speaker in scope.speakers})
            result, settled = await self._find(request, plan, version, now, about)
            if settled:
                self._answers.put(asked, version, plan.half_life_days, result)
        self._recalls.note((hit.memory for hit in result.hits), self._clock())
        self._observer.operation("search", "found" if result.hits else "empty")
        return result

    async def _find(
        self, request: SearchRequest, plan: Plan, version: int, now: datetime, about: str
    ) -> tuple[SearchResult, bool]:
        """Return the answer, and whether it would be the same a moment later; the vector is of `about`."""
        reranking = self._reranking if reranks(request, plan.mode) else None
        wanted = reranking.depth(request.top_k) if reranking else request.top_k
        started = time.perf_counter()
        vector = None
        if plan.mode is not SearchMode.KEYWORD:
            vector = await embed_query(self._embedder, about)
        started = self._stage("embed", started)
        counts = Counter() if plan.mode is SearchMode.SEMANTIC else Counter(terms(request.query))
        words = tuple(counts)[:_MAX_QUERY_TERMS]
        query = Query(
            user_id=request.user_id,
            version=version,
            filters=request.filters,
            valid_at=utc(request.filters.as_of) if request.filters.as_of else now,
            vector=vector,
            terms=[term_hash(word) for word in words],
            repeats=[counts[word] for word in words],
            wanted=wanted,
        )
        candidates = await self._repo.candidates(query)
        started = self._stage("candidates", started)
        ranked = rank(candidates, plan, wanted)
        started = self._stage("rank", started)
        ids = [UUID(bytes=bytes(candidates.ids[row])) for row in ranked.rows]
        found = await self._repo.fetch(query, ids, candidates.passage[ranked.rows].tolist()) if ids else {}
        started = self._stage("fetch", started)
        hits = []
        for at, memory_id in enumerate(ids):
            if memory_id in found:  # else deleted between the two looks
                one = found[memory_id]
                highlight = one.memory.content[slice(*one.span)] if one.span else None
                explanation = explained(candidates, ranked, at, plan, words) if request.explain else None
                hits.append(Hit(one.memory, float(ranked.scores[at]), highlight, explanation))
        settled = True
        if reranking and hits:
            hits, settled = await reranking.apply(request.query, hits, request.top_k)
            self._stage("rerank", started)
        return SearchResult(hits, request.query), settled

    def _stage(self, stage: str, started: float) -> float:
        now = time.perf_counter()
        self._observer.search_stage(stage, now - started)
        return now

    # -- for a prompt --------------------------------------------------------------------------

    async def context(self, request: SearchRequest, *, token_budget: int) -> Rendered:
        """Return what answers the query as one fenced block of text for a prompt, of at most so many tokens.

        Raises:
            InvalidInput, RateLimited, Unavailable.
        """
        check_budget(token_budget)
        found = await self.search(request)
        return render((hit.memory for hit in found.hits), token_budget=token_budget)

    # -- by id ---------------------------------------------------------------------------------

    async def get(self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None) -> Memory:
        """Return one live memory. Raises InvalidInput, NotFound, Unavailable."""
        check_scope(user_id, agent_id)
        memory = await self._repo.get(memory_id, user_id=user_id, agent_id=agent_id)
        if memory.expires_at is not None and memory.expires_at <= self._clock():
            raise NotFound(f"memory {memory_id} has expired")
        return memory

    async def recalls(self, memory: Memory) -> Recalls:
        """Return how often and when searches found a memory. Raises Unavailable."""
        return await self._recalls.of(memory)

    async def flush_recalls(self) -> None:
        """Write down what searches found lately. Raises Unavailable."""
        await self._recalls.flush()

    async def patch(
        self,
        memory_id: UUID,
        patch: Patch,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        actor: str | None = None,
    ) -> Memory:
        """Change what the patch gives and keep the rest; `actor` (else the agent) is who does it.

        Raises:
            InvalidInput, NotFound, Conflict, Unavailable.
        """
        check_patch(patch, self._clock())
        check_scope(user_id, agent_id)
        index = None
        if isinstance(patch.content, str):
            [index] = await index_texts(self._embedder, [patch.content])

        async def run() -> Memory:
            return await self._repo.patch(
                memory_id, patch, index, user_id=user_id, agent_id=agent_id, actor=actor or agent_id, now=self._clock()
            )

        memory = await self._apart(run, actor or agent_id)
        self._observer.operation("update", "updated")
        return memory

    async def delete(
        self,
        memory_id: UUID,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        actor: str | None = None,
        purge: bool = False,
    ) -> DeleteReceipt | None:
        """Delete one memory, for good and with a receipt if `purge`. Raises InvalidInput, NotFound, Unavailable."""
        check_scope(user_id, agent_id)

        async def run() -> DeleteReceipt | None:
            now = self._clock()
            if purge:
                return await self._repo.purge(
                    memory_id, user_id=user_id, agent_id=agent_id, actor=actor or agent_id, now=now
                )
            await self._repo.delete(memory_id, user_id=user_id, agent_id=agent_id, actor=actor or agent_id, now=now)
            return None

        receipt = await self._apart(run, actor or agent_id)
        self._observer.operation("delete", "purged" if purge else "deleted")
        return receipt

    async def history(
        self, memory_id: UUID, *, user_id: str | None = None, agent_id: str | None = None
    ) -> list[Version]:
        """Return what became of a memory, oldest first. Raises InvalidInput, NotFound, Unavailable."""
        check_scope(user_id, agent_id)
        return await self._repo.history(memory_id, user_id=user_id, agent_id=agent_id)

    # -- of a scope ----------------------------------------------------------------------------

    async def delete_scope(
        self, *, user_id: str, agent_id: str | None = None, actor: str | None = None, purge: bool = False
    ) -> int:
        """Delete everything of a scope; return how many memories went. Raises InvalidInput, Unavailable."""
        check_scope(user_id, agent_id)
        n = await self._repo.delete_scope(
            user_id=user_id, agent_id=agent_id, actor=actor or agent_id, purge=purge, now=self._clock()
        )
        self._observer.operation("delete", "purged" if purge else "deleted")
        return n

    async def count(self, *, user_id: str, agent_id: str | None = None) -> int:
        """Return how many live memories the scope has. Raises InvalidInput, Unavailable."""
        check_scope(user_id, agent_id)
        return await self._repo.count(user_id=user_id, agent_id=agent_id, now=self._clock())

    async def tidy(self, *, tombstone_days: float, limit: int = 1000) -> Mapping[str, int]:
        """Do the housekeeping that is due now; see `MemoryRepo.tidy`. Raises Unavailable."""
        return await self._repo.tidy(now=self._clock(), tombstone_days=tombstone_days, limit=limit)

    # -- state ---------------------------------------------------------------------------------

    async def health(self) -> Mapping[str, Any]:
        """Return {"status", "version", "database", "embedding"} and {"llm", "reranker"} if there are any.

        An outage is told, not raised: without the database, unavailable; of the others, as of the last use, degraded.
        """
        card = self._embedder.card
        state: dict[str, Any] = {"version": __version__, "embedding": {"model": card.id, "dim": card.dim}}
        helpers = self._helpers()
        state |= {part: {"status": status} for part, status in helpers.items()}
        try:
            database = await self._repo.health()
        except Unavailable as e:
            return {"status": "unavailable", **state, "database": {"status": "unavailable", "detail": str(e)}}
        status = "degraded" if "degraded" in helpers.values() else "ok"
        return {"status": status, **state, "database": {"status": "ok", **database}}

    async def ready(self) -> bool:
        """Whether a request would be served now: the database answers and the model is loaded."""
        try:
            await self._repo.health()
            await self._embedder.embed(["ready"], "query")
        except Unavailable:
            return False
        return True

    # Last, because its name hides the type `list` from what follows in the class.
    async def list(
        self,
        *,
        user_id: str,
        agent_id: str | None = None,
        memory_type: MemoryType | None = None,
        tags: Sequence[str] = (),
        state: Literal["live", "deleted", "all"] = "live",
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """Return a page of memories, newest first. Raises InvalidInput, also for a bad cursor, and Unavailable."""
        check_scope(user_id, agent_id, tags)
        try:
            before = UUID(cursor) if cursor is not None else None
        except ValueError as e:
            raise InvalidInput("cursor must be the next_cursor of an earlier page", field="cursor") from e
        memories = await self._repo.list(
            user_id=user_id,
            agent_id=agent_id,
            memory_type=memory_type,
            tags=tags,
            state=state,
            before=before,
            limit=limit + 1,
            now=self._clock(),
        )
        more = len(memories) > limit
        return Page(memories[:limit], str(memories[limit - 1].id) if more else None)
