"""Lets concurrent callers share runs of the model, in small and fair runs."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast, get_args

import numpy as np

from memex.protocol.errors import MemexError, Unavailable

from ..ports import FloatArray, ModelCard, Role
from .base import LoadableEmbedder, token_estimate
from .callbacks import Callbacks

__all__ = ["BatchingEmbedder"]

# About a tenth of a second of one core: what a newcomer waits at most before its first texts run.
_RUN_TOKENS = 256
_RUN_TEXTS = 32


class _Call:
    """One caller: its texts shortest first (so that a run has texts of like length), and what is done of them."""

    def __init__(self, texts: Sequence[str], dim: int, done: asyncio.Future[FloatArray]) -> None:
        self.texts = texts
        self.done = done
        self.vectors = np.empty((len(texts), dim), dtype=np.float32)
        self.costs = [token_estimate(text) + 2 for text in texts]
        self.waiting = deque(sorted(range(len(texts)), key=self.costs.__getitem__))
        self.missing = len(texts)

    def deliver(self, index: int, vector: FloatArray) -> None:
        self.vectors[index] = vector
        self.missing -= 1
        if not self.missing and not self.done.done():
            self.done.set_result(self.vectors)

    def fail(self, error: Exception) -> None:
        self.waiting.clear()
        if not self.done.done():
            self.done.set_exception(error)


_Item = tuple[_Call, int]


class BatchingEmbedder:
    """Wraps an embedder: while runs execute, the next is collected; an idle one starts at once.

    Queries and passages have a queue and `runs_at_once` runners each, so a query waits for queries only. Within
    a queue the callers take turns text by text, so that a lone text does not wait for a batch of a
    thousand. A caller that goes away takes its waiting texts along.
    """

    def __init__(
        self,
        inner: LoadableEmbedder,
        *,
        callbacks: Callbacks | None = None,
        run_tokens: int = _RUN_TOKENS,
        run_texts: int = _RUN_TEXTS,
        runs_at_once: int = 1,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._callbacks = callbacks or Callbacks()
        self._run_tokens = run_tokens
        self._run_texts = run_texts
        self._runs_at_once = runs_at_once
        self._clock_s = clock_s
        self._queues: dict[Role, deque[_Call]] = {role: deque() for role in get_args(Role)}
        self._runners: dict[Role, set[asyncio.Task[None]]] = {role: set() for role in get_args(Role)}
        self._closed = False

    @property
    def card(self) -> ModelCard:
        """The card of the wrapped embedder."""
        return self._inner.card

    @property
    def loaded(self) -> bool:
        """Whether the next call runs at once."""
        return self._inner.loaded

    async def load(self) -> None:
        """Make the wrapped embedder ready."""
        await self._inner.load()

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        """Return one vector per text; an error of this call's texts does not touch other calls.

        Raises:
            Unavailable: the embedder is closed, or cannot answer now.
        """
        if self._closed:
            raise Unavailable("the embedder is closed")
        if not texts:
            return np.empty((0, self.card.dim), dtype=np.float32)
        call = _Call(texts, self.card.dim, asyncio.get_running_loop().create_future())
        self._queues[role].append(call)
        runners = self._runners[role]
        if len(runners) < self._runs_at_once:
            runners.add(asyncio.create_task(self._serve(role)))
        return await call.done

    async def close(self) -> None:
        """Fail what still waits and close the wrapped embedder."""
        self._closed = True
        for queue in self._queues.values():
            while queue:
                queue.popleft().fail(Unavailable("the embedder is closed"))
        await asyncio.gather(*itertools.chain(*self._runners.values()), return_exceptions=True)
        await self._inner.close()

    async def _serve(self, role: Role) -> None:
        queue = self._queues[role]
        try:
            while queue:
                items = self._collect(queue)
                if items:
                    await self._run(items, role)
        finally:
            # Here, not when the task is seen to be done: a call in between would find no runner for it.
            self._runners[role].remove(cast("asyncio.Task[None]", asyncio.current_task()))

    def _collect(self, queue: deque[_Call]) -> list[_Item]:
        """Take the next run off the queue, one text of each caller in turn, until the run is full."""
        items: list[_Item] = []
        tokens = 0
        while queue and len(items) < self._run_texts:
            call = queue[0]
            if call.done.done() or not call.waiting:  # cancelled, failed, or all its texts are taken
                queue.popleft()
                continue
            cost = call.costs[call.waiting[0]]
            if items and tokens + cost > self._run_tokens:
                break
            items.append((call, call.waiting.popleft()))
            tokens += cost
            queue.rotate(-1)
        return items

    async def _run(self, items: list[_Item], role: Role) -> None:
        started_s = self._clock_s()
        try:
            vectors = await self._inner.embed([call.texts[index] for call, index in items], role)
        except Exception as e:  # noqa: BLE001 - whatever it is, it belongs to the callers
            self._callbacks.on_error(role, e.code if isinstance(e, MemexError) else type(e).__name__)
            await self._blame(items, role, e)
            return
        self._callbacks.on_run(role, len(items), self._clock_s() - started_s)
        for (call, index), vector in zip(items, vectors, strict=True):
            call.deliver(index, vector)

    async def _blame(self, items: list[_Item], role: Role, error: Exception) -> None:
        """Fail the caller whose text it was: with several in the run, each runs again alone.

        An outage is nobody's text, so it fails them all.
        """
        calls = list(dict.fromkeys(call for call, _ in items))
        if len(calls) == 1 or isinstance(error, Unavailable):
            for call in calls:
                call.fail(error)
            return
        for call in calls:
            await self._run([item for item in items if item[0] is call], role)
