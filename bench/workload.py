"""The calls that load is made of: which user, which text, how many searches to a write."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

from bench.harness.http import Connection, encode
from bench.harness.load import AGENT, Call, run_load, search_call, store_call
from bench.harness.retrieval import batch_ids
from bench.harness.texts import questions, sentences

__all__ = [
    "USERS",
    "batch_calls",
    "fill_by_batch",
    "fill_one_by_one",
    "fill_texts",
    "mixed",
    "repeated_searches",
    "stores",
]

USERS = tuple(f"user-{i}" for i in range(50))
_FILL_SEED = 1_000_000  # apart from the seeds of the load, so that no text of the load is known already
_BATCH = 100


def fill_texts(count: int) -> list[str]:
    """Return the texts that a service holds before the load starts."""
    return list(itertools.islice(sentences(_FILL_SEED), count))


async def fill_one_by_one(port: int, count: int) -> None:
    """Store `count` memories over all users with single requests.

    Raises:
        RuntimeError: not all were stored.
    """
    calls = [store_call(USERS[i % len(USERS)], text) for i, text in enumerate(fill_texts(count))]
    result = await run_load(port, calls, clients=16, duration_s=600)
    if result.completed != count:
        raise RuntimeError(f"filling stored {result.completed} of {count}: {dict(result.errors)}")


async def fill_by_batch(port: int, texts: Sequence[str], users: Sequence[str] = USERS) -> None:
    """Store texts over `users` with batches.

    Raises:
        RuntimeError: not all were stored.
    """
    connection = Connection(port)
    try:
        for i, one in enumerate(batch_calls(texts, users)):
            response = await connection.request(one.payload, timeout_s=300)
            if not 200 <= response.status < 300:
                raise RuntimeError(f"batch {i}: HTTP {response.status} {response.body[:300]!r}")
            list(batch_ids(response.json(), len(texts[i * _BATCH : (i + 1) * _BATCH])))
    finally:
        connection.close()


def batch_calls(texts: Sequence[str], users: Sequence[str]) -> Iterator[Call]:
    """Yield the calls that store `texts` in batches of 100, dealt over `users`."""
    dealt = [{"agent_id": AGENT, "user_id": users[i % len(users)], "content": text} for i, text in enumerate(texts)]
    for start in range(0, len(dealt), _BATCH):
        yield Call("batch", encode("POST", "/v1/memories/batch", {"memories": dealt[start : start + _BATCH]}))


def stores(seed: int, count: int) -> list[Call]:
    """Return `count` single writes, all texts different."""
    return [store_call(USERS[i % len(USERS)], t) for i, t in enumerate(itertools.islice(sentences(seed), count))]


def mixed(seed: int, count: int, *, search_share: float = 0.75, distinct_queries: int | None = None) -> list[Call]:
    """Return writes and searches in random order, all texts different.

    With `distinct_queries` the searches draw from that many queries (each of one user) instead.
    """
    rng = random.Random(f"mix-{seed}")
    statements, asked = sentences(seed), questions(seed)
    repeated = None if distinct_queries is None else repeated_searches(distinct_queries)
    calls = []
    for _ in range(count):
        user = rng.choice(USERS)
        if rng.random() >= search_share:
            calls.append(store_call(user, next(statements)))
        elif repeated is not None:
            calls.append(rng.choice(repeated))
        else:
            calls.append(search_call(user, next(asked)))
    return calls


def repeated_searches(count: int) -> list[Call]:
    """Return `count` searches that are the same in every run, as agents repeat themselves."""
    pool = itertools.islice(questions(0), count)
    return [search_call(USERS[i % len(USERS)], query) for i, query in enumerate(pool)]
