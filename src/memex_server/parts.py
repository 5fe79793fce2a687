"""What every use case of the service stands on: the ports, the clock, the rules."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakValueDictionary

from cachetools import LRUCache

from memex.core.forgetting import Policy
from memex.core.importance import DEFAULT_THRESHOLD
from memex.core.reading import Statement
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

_READ_CHARS = 1_000_000


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
        # Claims that were retracted, as they were read: each candidate of their user is compared with all of them.
        self._read: LRUCache[str, Statement] = LRUCache(_READ_CHARS, getsizeof=lambda claim: len(claim.text))
        self._condenser = condenser
        self._condenser_down = False  # when it was asked last
        self._upkeep = upkeep
        self._record_parts = records
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def _reading(self, text: str) -> Statement:
        """Return a text as it is read, which takes some tenths of a millisecond the first time."""
        known = self._read.get(text)
        if known is None:
            known = self._read[text] = Statement(text)
        return known

    def _helpers(self) -> dict[str, str]:
        """Return how the parts that can be done without were when they were used last."""
        down: dict[str, bool] = {}
        if self._condenser is not None:
            down["llm"] = self._condenser_down
        if self._reranking is not None:
            down["reranker"] = self._reranking.down
        return {part: "degraded" if is_down else "ok" for part, is_down in down.items()}

    async def _limit(self, agent_key: str, operation: Literal["write", "search"]) -> None:
        try:
            await self._limiter.check(agent_key, operation)
        except RateLimited:
            self._observer.rate_limited(operation)
            raise
