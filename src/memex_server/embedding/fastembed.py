"""Embeds with any model that the package `fastembed` knows."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from memex.protocol.errors import SetupError, Unavailable

from ..onnx_runtime import onnxruntime
from ..ports import FloatArray, ModelCard, Role
from .base import pool, split_text, token_estimate

__all__ = ["FastembedEmbedder"]

_PART_TOKENS = 400  # fastembed cuts at the model's end, mostly 512; see `token_estimate`
_BATCH = 16


class FastembedEmbedder:
    """A fastembed model, in a thread of its own; loaded once, from `model_dir` without network where that exists."""

    def __init__(self, model: str, *, cache_dir: Path, threads: int, model_dir: Path | None = None) -> None:
        self._model = model
        self._options: dict[str, Any] = {"cache_dir": str(cache_dir), "threads": threads}
        if model_dir is not None:
            self._options["specific_model_path"] = str(model_dir)
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._closed = False
        self._card = _card(model)
        self._lane = ThreadPoolExecutor(1, thread_name_prefix="memex-embed")

    @property
    def card(self) -> ModelCard:
        """The model's card, from fastembed's list; known before the model is loaded."""
        return self._card

    @property
    def loaded(self) -> bool:
        """Whether the next call runs at once."""
        return self._loaded is not None

    async def load(self) -> None:
        """Load the model unless it is loaded; the first time it may be fetched from its hub.

        Raises:
            SetupError: it can neither be found nor fetched.
        """
        await self._run(self._ready)

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        """Return one normalised vector per text; long texts are split and pooled.

        Raises:
            Unavailable: the embedder is closed, or the runtime failed.
        """
        if not texts:
            return np.empty((0, self.card.dim), dtype=np.float32)
        parts = [(index, part) for index, text in enumerate(texts) for part in split_text(text, _PART_TOKENS)]
        rows = []
        for start in range(0, len(parts), _BATCH):
            chunk = [part for _, part in parts[start : start + _BATCH]]
            rows.append(await self._run(lambda chunk=chunk: self._vectors(chunk, role)))
        owners = [index for index, _ in parts]
        weights = [token_estimate(part) + 1 for _, part in parts]
        return pool(np.concatenate(rows), owners, weights, len(texts))

    async def close(self) -> None:
        """Stop the thread and let go of the model."""
        self._closed = True
        await asyncio.to_thread(self._lane.shutdown, cancel_futures=True)
        self._loaded = None

    def _vectors(self, texts: list[str], role: Role) -> FloatArray:
        model = self._ready()
        embed = model.query_embed if role == "query" else model.passage_embed
        return np.stack([np.asarray(vector, dtype=np.float32) for vector in embed(texts)])

    def _ready(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._model, self._options)
            return self._loaded

    async def _run(self, job: Any) -> Any:
        if self._closed:
            raise Unavailable("the embedder is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._lane, job)
        except RuntimeError as e:
            raise Unavailable(f"embedding failed: {e}") from e


def _text_embedding() -> Any:
    onnxruntime()
    try:
        from fastembed import TextEmbedding
    except ImportError as e:
        raise SetupError("this EMBEDDING_MODEL needs fastembed: pip install 'memex[fastembed]'") from e
    return TextEmbedding


def _card(model: str) -> ModelCard:
    known = {row["model"].lower(): row for row in _text_embedding().list_supported_models()}
    row = known.get(model.lower())
    if row is None:
        raise SetupError(f"unknown EMBEDDING_MODEL {model!r}: neither bundled with memex nor known to fastembed")
    return ModelCard(
        id=f"fastembed:{row['model']}",
        dim=int(row["dim"]),
        max_tokens=_PART_TOKENS,
        languages=str(row.get("description", "")),
        similarity_floor=0.4,
        similarity_ceiling=0.95,
        duplicate_threshold=0.92,
    )


def _load(model: str, options: dict[str, Any]) -> Any:
    try:
        return _text_embedding()(model, **options)
    except (OSError, ValueError) as e:
        place = options.get("specific_model_path") or options["cache_dir"]
        raise SetupError(
            f"cannot load {model} ({type(e).__name__}): put its files into {place}{os.sep}, or allow the hub once"
        ) from e
