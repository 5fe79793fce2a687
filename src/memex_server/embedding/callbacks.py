"""What the embedders report; the composition root connects it to the metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..ports import Role

__all__ = ["Callbacks"]


def _no_run(_operation: Role, _texts: int, _duration_s: float) -> None:
    """Report nothing."""


def _no_error(_operation: Role, _kind: str) -> None:
    """Report nothing."""


def _no_lookup(_hits: int, _misses: int) -> None:
    """Report nothing."""


def _no_cache_failure(_kind: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """Called in the event loop, so they must not block.

    `on_run(operation, texts, duration_s)` after each run of the model, `on_error(operation, kind)` after
    a failed one (`kind` is a code, never a text), `on_lookup(hits, misses)` after each look-up of
    vectors, `on_cache_failure(kind)` when a shared cache does not answer.
    """

    on_run: Callable[[Role, int, float], None] = _no_run
    on_error: Callable[[Role, str], None] = _no_error
    on_lookup: Callable[[int, int], None] = _no_lookup
    on_cache_failure: Callable[[str], None] = _no_cache_failure
