"""Remembers vectors by model, role and text."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from memex.protocol.errors import Unavailable

from ..ports import FloatArray, ModelCard, Role, VectorCache
from .base import LoadableEmbedder
from .callbacks import Callbacks

__all__ = ["CachingEmbedder", "MemoryVectorCache", "TieredVectorCache", "vector_key"]

_Flight = asyncio.Future[FloatArray]


def vector_key(card: ModelCard, role: Role, text: str) -> bytes:
    """Return the key of one vector; it tells nothing about the text."""
    scope = hashlib.sha256(f"{card.id}\0{card.dim}\0{role}\0".encode())
    scope.update(text.encode("utf-8", "surrogatepass"))
    return scope.digest()


class MemoryVectorCache:
    """The most recently used vectors of this process, at most `max_items`."""

    def __init__(self, max_items: int) -> None:
        self._max_items = max_items
        self._items: OrderedDict[bytes, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._items)

    async def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the stored value or None for each key, and count those found as used."""
        found = [self._items.get(key) for key in keys]
        for key, value in zip(keys, found, strict=True):
            if value is not None:
                self._items.move_to_end(key)
        return found

    async def set_many(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Store all items; the longest unused make room."""
        for key, value in items:
            self._items[key] = value
            self._items.move_to_end(key)
        while len(self._items) > self._max_items:
            self._items.popitem(last=False)

    async def close(self) -> None:
        """Forget everything."""
        self._items.clear()


class TieredVectorCache:
    """Caches in a row, the nearest first; what only a farther one has is copied to the nearer ones."""

    def __init__(self, tiers: Sequence[VectorCache]) -> None:
        self._tiers = tuple(tiers)

    async def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of the nearest tier that has it, or None, for each key."""
        found: dict[bytes, bytes] = {}
        for depth, tier in enumerate(self._tiers):
            missing = [key for key in keys if key not in found]
            if not missing:
                break
            values = await tier.get_many(missing)
            fresh = [(key, value) for key, value in zip(missing, values, strict=True) if value is not None]
            found.update(fresh)
            if fresh:
                for nearer in self._tiers[:depth]:
                    await nearer.set_many(fresh)
        return [found.get(key) for key in keys]

    async def set_many(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Store all items in every tier."""
        for tier in self._tiers:
            await tier.set_many(items)

    async def close(self) -> None:
        """Close every tier."""
        for tier in self._tiers:
            await tier.close()


class CachingEmbedder:
    """Wraps an embedder: a known vector is not computed again, and one that is on its way is waited for.

    Vectors are kept as the float32 that they are, so an answer is the same with and without cache.
    """

    def __init__(self, inner: LoadableEmbedder, cache: VectorCache, *, callbacks: Callbacks | None = None) -> None:
        self._inner = inner
        self._cache = cache
        self._callbacks = callbacks or Callbacks()
        self._flights: dict[bytes, _Flight] = {}
        self._tasks: set[asyncio.Task[None]] = set()

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
        """Return one vector per text.

        Raises:
            Unavailable: the model or its endpoint cannot answer now.
        """
        if not texts:
            return np.empty((0, self.card.dim), dtype=np.float32)
        keys = [vector_key(self.card, role, text) for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        joined = {key: self._flights[key] for key in wanted if key in self._flights}
        own = {key: text for key, text in wanted.items() if key not in joined}
        repeated = len(texts) - len(own)
        if repeated:
            self._callbacks.on_lookup(repeated, 0)
        vectors = await _landed(self._start(own, role))
        landed = await asyncio.gather(*map(asyncio.shield, joined.values()), return_exceptions=True)
        failed = {}
        for key, vector in zip(joined, landed, strict=True):
            if isinstance(vector, BaseException):
                failed[key] = wanted[key]
            else:
                vectors[key] = vector
        # What another caller's batch failed on may be none of ours: those texts are tried once more by themselves.
        vectors.update(await _landed(self._start(failed, role)))
        return np.stack([vectors[key] for key in keys])

    async def close(self) -> None:
        """Close the wrapped embedder and the cache."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._inner.close()
        await self._cache.close()

    def _start(self, texts: dict[bytes, str], role: Role) -> dict[bytes, _Flight]:
        """Send these texts on their way in a task of their own: a caller that goes away does not stop it for others."""
        if not texts:
            return {}
        loop = asyncio.get_running_loop()
        flights: dict[bytes, _Flight] = {key: loop.create_future() for key in texts}
        self._flights.update(flights)
        task = loop.create_task(self._fly(texts, flights, role))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return flights

    async def _fly(self, texts: dict[bytes, str], flights: dict[bytes, _Flight], role: Role) -> None:
        try:
            missing = await self._look_up(texts, flights)
            if missing:
                vectors = await self._inner.embed([texts[key] for key in missing], role)
                for key, vector in zip(missing, vectors, strict=True):
                    flights[key].set_result(vector)
                await self._cache.set_many([(k, v.tobytes()) for k, v in zip(missing, vectors, strict=True)])
        except Exception as e:  # noqa: BLE001 - it is handed to the callers
            _fail(flights, e)
        finally:
            _fail(flights, Unavailable("the embedder is closed"))
            for key, flight in flights.items():
                if self._flights.get(key) is flight:
                    del self._flights[key]

    async def _look_up(self, texts: dict[bytes, str], flights: dict[bytes, _Flight]) -> list[bytes]:
        """Land what the cache has and return the keys that it has not."""
        size = self.card.dim * np.dtype(np.float32).itemsize
        missing = []
        for key, value in zip(texts, await self._cache.get_many(list(texts)), strict=True):
            if value is None or len(value) != size:  # a shared cache may hold anything
                missing.append(key)
            else:
                flights[key].set_result(np.frombuffer(value, dtype=np.float32))
        self._callbacks.on_lookup(len(texts) - len(missing), len(missing))
        return missing


def _fail(flights: dict[bytes, _Flight], error: Exception) -> None:
    for flight in flights.values():
        if not flight.done():
            flight.set_exception(error)
            flight.exception()  # counts as seen, also when every caller is gone


async def _landed(flights: dict[bytes, _Flight]) -> dict[bytes, FloatArray]:
    if flights:
        await asyncio.gather(*map(asyncio.shield, flights.values()))
    return {key: flight.result() for key, flight in flights.items()}
