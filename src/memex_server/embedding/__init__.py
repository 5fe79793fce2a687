"""Embedders behind the port of `memex_server.ports`: chosen and wrapped by `build_embedder`."""

from __future__ import annotations

from pathlib import Path

from memex.protocol.errors import SetupError

from ..ports import VectorCache
from ..settings import EmbeddingSettings
from .base import LoadableEmbedder
from .batching import BatchingEmbedder
from .cache import CachingEmbedder, MemoryVectorCache, TieredVectorCache
from .callbacks import Callbacks
from .cards import BUNDLED
from .redis_cache import RedisVectorCache
from .setup import Progress, ensure_built

__all__ = ["Callbacks", "LoadableEmbedder", "Progress", "build_embedder", "ensure_model", "is_built"]

# Endpoints answer faster per text in large requests; a bundled model does not.
_HTTP_RUN_TOKENS = 16_000
_HTTP_RUN_TEXTS = 64
_HTTP_RUNS_AT_ONCE = 4


def ensure_model(settings: EmbeddingSettings, *, data_path: Path, progress: Progress) -> None:
    """Build the chosen model into the data directory if it is a bundled one and not there yet.

    Raises:
        SetupError: it cannot be built; the message says what to do.
    """
    if not settings.embedding_base_url and settings.embedding_model in BUNDLED:
        ensure_built(BUNDLED[settings.embedding_model], data_path, progress)


def is_built(settings: EmbeddingSettings, *, data_path: Path) -> bool:
    """Whether nothing is left to be built: the chosen model is there, or is none that memex builds."""
    if settings.embedding_base_url or settings.embedding_model not in BUNDLED:
        return True
    from .store import MODEL_FILE, model_folder

    return (model_folder(data_path, BUNDLED[settings.embedding_model]) / MODEL_FILE).exists()


def build_embedder(
    settings: EmbeddingSettings, *, data_path: Path, threads: int, callbacks: Callbacks | None = None
) -> LoadableEmbedder:
    """Return the chosen embedder with batching and caching around it; nothing is loaded yet.

    Raises:
        SetupError: the settings name a model that there is not, or a package is missing.
    """
    callbacks = callbacks or Callbacks()
    remote = bool(settings.embedding_base_url)
    inner = _http(settings) if remote else _local(settings.embedding_model, data_path, threads)
    if remote:
        embedder: LoadableEmbedder = BatchingEmbedder(
            inner,
            callbacks=callbacks,
            run_tokens=_HTTP_RUN_TOKENS,
            run_texts=_HTTP_RUN_TEXTS,
            runs_at_once=_HTTP_RUNS_AT_ONCE,
        )
    else:
        embedder = BatchingEmbedder(inner, callbacks=callbacks, runs_at_once=threads)
    tiers = _tiers(settings, callbacks)
    if not tiers:
        return embedder
    cache = tiers[0] if len(tiers) == 1 else TieredVectorCache(tiers)
    return CachingEmbedder(embedder, cache, callbacks=callbacks)


def _local(name: str, data_path: Path, threads: int) -> LoadableEmbedder:
    if name in BUNDLED:
        from .onnx import OnnxEmbedder
        from .store import model_folder

        return OnnxEmbedder(BUNDLED[name], model_folder(data_path, BUNDLED[name]), threads)
    if "/" not in name:
        raise SetupError(
            f"unknown EMBEDDING_MODEL {name!r}: bundled are {', '.join(sorted(BUNDLED))}; a fastembed model has "
            "the form owner/name; for a model at an endpoint set EMBEDDING_BASE_URL"
        )
    from .fastembed import FastembedEmbedder

    cache_dir = data_path / "models" / "fastembed"
    model_dir = cache_dir / name.replace("/", "--")
    return FastembedEmbedder(
        name, cache_dir=cache_dir, threads=threads, model_dir=model_dir if model_dir.is_dir() else None
    )


def _http(settings: EmbeddingSettings) -> LoadableEmbedder:
    from .http import HttpEmbedder

    return HttpEmbedder(
        settings.embedding_base_url,
        settings.embedding_model,
        api_key=settings.embedding_api_key,
        dim=settings.embedding_dim,
    )


def _tiers(settings: EmbeddingSettings, callbacks: Callbacks) -> list[VectorCache]:
    tiers: list[VectorCache] = []
    if settings.embedding_cache_size:
        tiers.append(MemoryVectorCache(settings.embedding_cache_size))
    if settings.redis_url:
        tiers.append(RedisVectorCache(settings.redis_url, callbacks=callbacks))
    return tiers
