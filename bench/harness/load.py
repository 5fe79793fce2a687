"""A closed loop of N clients: each sends its next request when the last one was answered."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from bench.harness.http import Connection, Response, encode
from bench.harness.stats import Latency, latency

__all__ = ["Call", "LoadResult", "run_load", "search_call", "store_call"]

AGENT = "bench"


@dataclass(frozen=True, slots=True)
class Call:
    """One encoded request, its kind for the statistics, and the text in it."""

    kind: str
    payload: bytes
    text: str = ""


@dataclass(slots=True)
class LoadResult:
    """What a run of load did; `errors` counts everything that was not a 2xx answer."""

    elapsed_s: float = 0.0
    samples_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    texts: list[str] = field(default_factory=list)

    @property
    def completed(self) -> int:
        """Calls that were answered 2xx."""
        return sum(len(samples) for samples in self.samples_s.values())

    @property
    def rate(self) -> float:
        """Answered calls per second."""
        return self.completed / self.elapsed_s if self.elapsed_s else 0.0

    def latency(self, kind: str) -> Latency:
        """Return the latency summary of one kind of call."""
        return latency(self.samples_s[kind])

    def __str__(self) -> str:
        kinds = "; ".join(f"{kind} {latency(s)}" for kind, s in sorted(self.samples_s.items()) if s)
        return f"{self.rate:.1f}/s, errors {dict(self.errors) or 0}; {kinds}"


def store_call(user_id: str, content: str, **extra: object) -> Call:
    """Return the call that stores one memory."""
    body = {"agent_id": AGENT, "user_id": user_id, "content": content, **extra}
    return Call("store", encode("POST", "/v1/memories", body), content)


def search_call(user_id: str, query: str, **extra: object) -> Call:
    """Return the call that searches one user's memory."""
    body = {"agent_id": AGENT, "user_id": user_id, "query": query, "top_k": 10, **extra}
    return Call("search", encode("POST", "/v1/memories/search", body), query)


async def run_load(
    port: int,
    calls: Iterable[Call],
    *,
    clients: int,
    duration_s: float,
    timeout_s: float = 60.0,
    on_response: Callable[[Call, Response], None] | None = None,
) -> LoadResult:
    """Send `calls` from `clients` connections until they are used up or `duration_s` has passed.

    The clock runs until the last request in flight was answered, so a rate never counts work that
    was not waited for.
    """
    result = LoadResult()
    source = iter(calls)
    started = time.perf_counter()
    deadline = started + duration_s
    await asyncio.gather(*(_client(port, source, deadline, timeout_s, result, on_response) for _ in range(clients)))
    result.elapsed_s = time.perf_counter() - started
    return result


async def _client(
    port: int,
    source: Iterator[Call],
    deadline: float,
    timeout_s: float,
    result: LoadResult,
    on_response: Callable[[Call, Response], None] | None,
) -> None:
    connection = Connection(port)
    now = time.perf_counter
    try:
        for one in source:
            sent = now()
            if sent >= deadline:
                return
            try:
                response = await connection.request(one.payload, timeout_s)
            except OSError as e:  # TimeoutError is one
                result.errors[type(e).__name__] += 1
                continue
            if 200 <= response.status < 300:
                result.samples_s[one.kind].append(now() - sent)
                result.texts.append(one.text)
            else:
                result.errors[f"HTTP {response.status}"] += 1
            if on_response is not None:
                on_response(one, response)
    finally:
        connection.close()
