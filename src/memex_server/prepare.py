"""What has to be there before the first start: the data directory and the embedding model."""

from __future__ import annotations

import errno
import os
import sys

from memex.protocol.errors import SetupError

from .embedding import Callbacks, LoadableEmbedder, build_embedder, ensure_model
from .metrics import Metrics
from .settings import Settings

__all__ = ["open_embedder", "prepare"]


def prepare(settings: Settings) -> None:
    """Make what is missing, with progress on stderr; returns at once when all is there. Raises SetupError."""
    try:
        settings.data_path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise SetupError(f"cannot make the data directory {settings.data_path}: {e.strerror}") from e
    if not os.access(settings.data_path, os.R_OK | os.W_OK | os.X_OK):
        raise SetupError(f"cannot use the data directory {settings.data_path}: {os.strerror(errno.EACCES)}")
    ensure_model(settings.embedding, data_path=settings.data_path, progress=_progress)


def open_embedder(settings: Settings, metrics: Metrics) -> LoadableEmbedder:
    """Return the embedder that the settings choose; nothing is loaded yet. Raises SetupError."""
    callbacks = Callbacks(
        on_run=metrics.embedded,
        on_error=metrics.embedding_failed,
        on_lookup=lambda hits, misses: metrics.cache_looked_up(hits=hits, misses=misses),
        on_cache_failure=metrics.cache_failed,
    )
    return build_embedder(
        settings.embedding, data_path=settings.data_path, threads=settings.embedding_threads, callbacks=callbacks
    )


def _progress(step: str, share: float) -> None:
    on_terminal = sys.stderr.isatty()
    end = "\n" if share >= 1 or not on_terminal else ""
    sys.stderr.write(f"{chr(13) if on_terminal else ''}memex: {step:<40} {share:4.0%}{end}")
    sys.stderr.flush()
