"""Puts the best of a search in the order of a reranker, if it answers in time; else their order stands."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from memex.core.memory import Hit, SearchMode, SearchRequest
from memex.protocol.errors import Unavailable

from .ports import Observer, Reranker, RerankOutcome

__all__ = ["Reranking", "reordered", "reranks"]

_LOG = logging.getLogger(__name__)


def reranks(request: SearchRequest, mode: SearchMode) -> bool:
    """Whether a search may be reranked: not if it asks for a formula of its own."""
    return mode is SearchMode.HYBRID and request.alpha is None and request.weights is None


class Reranking:
    """A reranker and its deadline; tells of an outage once."""

    def __init__(self, reranker: Reranker, *, candidates: int, deadline_s: float, observer: Observer) -> None:
        self._reranker = reranker
        self._candidates = candidates
        self._deadline_s = deadline_s
        self._observer = observer
        self._down = False

    @property
    def down(self) -> bool:
        """Whether it did not answer when it was asked last."""
        return self._down

    def depth(self, top_k: int) -> int:
        """Return how many hits are wanted before reranking, to have the best `top_k` after it."""
        return max(top_k, self._candidates)

    async def apply(self, query: str, hits: Sequence[Hit], top_k: int) -> tuple[list[Hit], bool]:
        """Return the best `top_k` of `hits`, and whether the reranker has scored them."""
        texts = [hit.highlight or hit.memory.content for hit in hits]
        scores: Sequence[float] | None = None
        outcome: RerankOutcome = "scored"
        reason = ""
        try:
            async with asyncio.timeout(self._deadline_s):
                scores = await self._reranker.score(query, texts)
        except TimeoutError:
            outcome, reason = "late", f"no answer within {self._deadline_s:g} s"
        except Unavailable as e:
            outcome, reason = "failed", str(e)
        self._observer.reranked(outcome)
        self._tell(outcome, reason)
        return reordered(hits, scores, outcome)[:top_k], outcome == "scored"

    def _tell(self, outcome: RerankOutcome, reason: str) -> None:
        down = outcome != "scored"
        if down and not self._down:
            _LOG.warning(
                "the reranker does not answer; searches keep their order",
                extra={"action": "reranker_down", "outcome": outcome, "reason": reason},
            )
        elif self._down and not down:
            _LOG.info("the reranker answers again", extra={"action": "reranker_up"})
        self._down = down


def reordered(hits: Sequence[Hit], scores: Sequence[float] | None, outcome: RerankOutcome) -> list[Hit]:
    """Return the hits by `scores`, which become theirs (ties: as they were), or as they are without.

    Explanations gain what the reranker said, and the score and rank before it.
    """
    order = list(range(len(hits)))
    if scores is not None:
        order.sort(key=lambda at: -scores[at])
    reranked = []
    for at in order:
        hit, score = hits[at], None if scores is None else float(scores[at])
        explanation = hit.explanation
        if explanation is not None:
            said = {"outcome": outcome, "score": score, "fused_score": hit.score, "fused_rank": at + 1}
            explanation = {**explanation, "reranker": said}
        reranked.append(replace(hit, score=hit.score if score is None else score, explanation=explanation))
    return reranked
