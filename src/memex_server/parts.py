"""What every use case of the service stands on: the ports, the clock, the rules."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakValueDictionary

from memex.core.forgetting import Policy
from memex.core.importance import DEFAULT_THRESHOLD
from memex.protocol.errors import RateLimited

from .answers import Answers
from .ids import IdSource
from .lifecycle_ports import Condenser, JobQueue, LifecycleRepo, UpkeepObserver
from .ports import Clock, Embedder, Observer, RateLimiter, RecallLog
from .ranking import Fusion
from .recalls import RecallCounter
from .records import RecordParts
from .reranked import Reranking
from .worth import Worth

__all__ = ["LifecycleRules", "Parts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleRules:
    """The numbers of the lifecycle: the gate's threshold (1 to 10), when and what to condense, what may fade."""

    remember_threshold: float = DEFAULT_THRESHOLD
    summarization_threshold: int = 100
    summarization_batch_size: int = 50
    policy: Policy = field(default_factory=Policy)


class Parts:
    """Holds what the use cases share; `MemoryService` is made of them."""

    def __init__(
        self,
        *,
        repo: LifecycleRepo,
        embedder: Embedder,
        limiter: RateLimiter,
        clock: Clock,
        ids: IdSource,
        default_alpha: float,
        half_life_days: float,
        observer: Observer,
        fusion: Fusion,
        answer_bytes: int,
        recall_log: RecallLog,
        reranking: Reranking | None = None,
        jobs: JobQueue,
        rules: LifecycleRules | None = None,
        worth: Worth | None = None,
        condenser: Condenser | None = None,
        upkeep: UpkeepObserver | None = None,
        records: RecordParts,
    ) -> None:
        """`half_life_days` and `default_alpha` hold for searches by the formula that do not give their own."""
        self._repo = repo
        self._embedder = embedder
        self._limiter = limiter
        self._clock = clock
        self._ids = ids
        self._default_alpha = default_alpha
        self._half_life_days = half_life_days
        self._observer = observer
        self._fusion = fusion
        self._answers = Answers(clock, max_bytes=answer_bytes)
        self._recalls = RecallCounter(recall_log)
        self._reranking = reranking
        self._jobs = jobs
        self._rules = rules or LifecycleRules()
        self._worth = worth
        self._condenser = condenser
        self._upkeep = upkeep
        self._record_parts = records
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def _limit(self, agent_key: str, operation: Literal["write", "search"]) -> None:
        try:
            await self._limiter.check(agent_key, operation)
        except RateLimited:
            self._observer.rate_limited(operation)
            raise
