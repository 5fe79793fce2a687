"""The measurements by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from bench.environment import Environment
from bench.harness.report import Row
from bench.measures import durability, lifecycle, plugin, quality, scale, speed, strain

__all__ = ["MEASURES", "OPTIONAL", "Measure"]

Measure = Callable[[Environment], Coroutine[Any, Any, list[Row]]]

MEASURES: Mapping[str, Measure] = {
    "generator": strain.generator,
    "five_questions": quality.five_questions,
    "throughput_unique": speed.throughput_unique,
    "throughput_repeated": speed.throughput_repeated,
    "searches_repeated": speed.searches_repeated,
    "single_writes": speed.single_writes,
    "batch_writes": speed.batch_writes,
    "single_search_latency": speed.single_search_latency,
    "clients_250": strain.clients_250,
    "rss": strain.rss,
    "retrieval": quality.retrieval,
    "retrieval_single": quality.retrieval_single,
    "big_scope": scale.big_scope,
    "kill9": durability.kill9,
    "gate": lifecycle.gate,
    "kill9_condensing": lifecycle.kill9_condensing,
    "month": lifecycle.month,
    "hermes": plugin.hermes,
    "million": scale.million,
}

# Takes long; runs only when named.
OPTIONAL = frozenset({"million", "retrieval_single"})
