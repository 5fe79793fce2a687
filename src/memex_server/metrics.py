"""What Prometheus sees. HTTP metrics are named as prometheus-fastapi-instrumentator names them.

With several worker processes the parent calls `prepare_multiprocess` before it starts them: each
worker then writes to files in one directory and any of them answers for all. prometheus_client
decides at its import whether it does so; therefore it is imported only inside `Metrics`.
"""

from __future__ import annotations

import shutil
from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .ports import RerankOutcome

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

__all__ = ["MULTIPROC_ENV", "NO_HANDLER", "Metrics", "forget_worker", "prepare_multiprocess"]

MULTIPROC_ENV = "PROMETHEUS_MULTIPROC_DIR"
NO_HANDLER = "none"  # the one label value of all paths that no route knows

_HTTP_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_EMBED_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24)
_STAGE_BUCKETS_S = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 4.096)
_BATCH_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def prepare_multiprocess(directory: Path, env: MutableMapping[str, str]) -> None:
    """Empty `directory` and name it in `env`, in the parent, before any worker starts or imports the client."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    env[MULTIPROC_ENV] = str(directory)


def forget_worker(pid: int, directory: Path) -> None:
    """Drop the gauges of a worker that has died; its counts stay."""
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(pid, str(directory))  # type: ignore[no-untyped-call]


class Metrics:
    """All metric objects of one process, in a registry of its own."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, values

        # Asks the client what it decided at its import, which is what counts from then on.
        self._shared = values.ValueClass is not values.MutexValue
        self._registry = registry = CollectorRegistry()
        if not self._shared:
            ProcessCollector(registry=registry)
        self._requests = Counter(
            "http_requests_total",
            "Requests by handler, status class and method.",
            ("handler", "status", "method"),
            registry=registry,
        )
        self._request_s = Histogram(
            "http_request_duration_seconds",
            "Latency by handler and method.",
            ("handler", "method"),
            buckets=_HTTP_BUCKETS_S,
            registry=registry,
        )
        self._in_flight = Gauge(
            "http_requests_inprogress", "Requests being served.", registry=registry, multiprocess_mode="livesum"
        )
        self._embedding_s = Histogram(
            "memex_embedding_duration_seconds",
            "Time of one call of the model.",
            ("operation",),
            buckets=_EMBED_BUCKETS_S,
            registry=registry,
        )
        self._embedding_batch = Histogram(
            "memex_embedding_batch_size", "Texts per call of the model.", buckets=_BATCH_BUCKETS, registry=registry
        )
        self._embedding_errors = Counter(
            "memex_embedding_errors_total", "Failed calls of the model.", ("operation", "kind"), registry=registry
        )
        self._cache = Counter("memex_embedding_cache_total", "Look-ups of vectors.", ("result",), registry=registry)
        self._operations = Counter(
            "memex_operations_total", "Operations on memories.", ("operation", "outcome"), registry=registry
        )
        self._pool = Gauge(
            "memex_db_pool_connections",
            "Connections of the database pool.",
            ("state",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._rate_limited = Counter(
            "memex_rate_limited_total", "Calls refused by the rate limit.", ("operation",), registry=registry
        )
        self._reranked = Counter(
            "memex_rerankings_total", "Searches that asked the reranker.", ("outcome",), registry=registry
        )
        self._search_s = Histogram(
            "memex_search_duration_seconds",
            "Time of a search by stage.",
            ("stage",),
            buckets=_STAGE_BUCKETS_S,
            registry=registry,
        )
        self._consolidations = Counter(
            "memex_consolidation_runs_total",
            "Runs of the summariser over one scope: condensed, skipped, failed.",
            ("outcome",),
            registry=registry,
        )
        self._consolidated = Counter(
            "memex_consolidated_memories_total", "Memories that were condensed into summaries.", registry=registry
        )
        self._consolidation_s = Histogram(
            "memex_consolidation_duration_seconds",
            "Time to condense one batch.",
            buckets=_HTTP_BUCKETS_S,
            registry=registry,
        )
        # Finding a labelled child takes a lock and a tuple of strings; per request that is most of the cost.
        self._http_children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def request_started(self) -> None:
        """Count a request in flight."""
        self._in_flight.inc()

    def request_finished(self, method: str, handler: str, status: int, duration_s: float) -> None:
        """Count an answered request. `handler` is the route's template, or `NO_HANDLER`."""
        self._in_flight.dec()
        status_class = status // 100
        key = (method, handler, status_class)
        children = self._http_children.get(key)
        if children is None:
            children = self._http_children[key] = (
                self._requests.labels(handler, f"{status_class}xx", method),
                self._request_s.labels(handler, method),
            )
        children[0].inc()
        children[1].observe(duration_s)

    def embedded(self, operation: Literal["query", "passage"], texts: int, duration_s: float) -> None:
        """Record one call of the model with `texts` texts."""
        self._embedding_s.labels(operation).observe(duration_s)
        self._embedding_batch.observe(texts)

    def embedding_failed(self, operation: Literal["query", "passage"], kind: str) -> None:
        """Count a failed call; `kind` is the error's class or code, never its text."""
        self._embedding_errors.labels(operation, kind).inc()

    def cache_looked_up(self, *, hits: int, misses: int) -> None:
        """Count look-ups in the vector cache."""
        if hits:
            self._cache.labels("hit").inc(hits)
        if misses:
            self._cache.labels("miss").inc(misses)

    def cache_failed(self, kind: str) -> None:
        """Count a shared cache that did not answer."""
        self._embedding_errors.labels("cache", kind).inc()

    def operation(self, operation: str, outcome: str, count: int = 1) -> None:
        """Count operations on memories: store, search, delete ... by outcome: created, duplicate, ok, an error code."""
        self._operations.labels(operation, outcome).inc(count)

    def pool(self, *, active: int, idle: int) -> None:
        """Set the state of this process's database pool."""
        self._pool.labels("active").set(active)
        self._pool.labels("idle").set(idle)

    def rate_limited(self, operation: Literal["write", "search"]) -> None:
        """Count a refused call."""
        self._rate_limited.labels(operation).inc()

    def reranked(self, outcome: RerankOutcome) -> None:
        """Count a search that asked the reranker: scored, late, failed."""
        self._reranked.labels(outcome).inc()

    def search_stage(self, stage: str, duration_s: float) -> None:
        """Record one stage of a search: embed, candidates, rank, fetch, rerank."""
        self._search_s.labels(stage).observe(duration_s)

    def consolidated(self, outcome: str, memories: int, duration_s: float) -> None:
        """Count one run of the summariser over one scope."""
        self._consolidations.labels(outcome).inc()
        self._consolidated.inc(memories)
        self._consolidation_s.observe(duration_s)

    def render(self) -> tuple[bytes, str]:
        """Return the exposition and its content type; with several workers, the sum of all. Reads files then."""
        from prometheus_client import CollectorRegistry, exposition, multiprocess

        registry = self._registry
        if self._shared:
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return exposition.generate_latest(registry), exposition.CONTENT_TYPE_LATEST
