"""Embeds with ONNX Runtime, in threads of its own."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from memex.protocol.errors import SetupError, Unavailable

from ..ports import FloatArray, ModelCard, Role
from .base import normalised
from .cards import BundledModel
from .store import ModelFiles, read_model
from .tokens import Tokenizer, UnigramTokenizer, WordPieceTokenizer, windows
from .words import WordTable

__all__ = ["Encoder", "OnnxEmbedder", "group_by_length"]

_T = TypeVar("_T")

# Measured with int8 on AVX2: tokens per second rise until about 128 tokens share a run and fall
# beyond 512; a small run also lets others in sooner.
_RUN_TOKENS = 128


@dataclass(frozen=True, slots=True)
class _Window:
    text: int
    ids: list[int]


class Encoder:
    """The loaded model: tokenizer, word table and graph. Blocking; see `OnnxEmbedder` for use in the service."""

    def __init__(self, files: ModelFiles, threads: int) -> None:
        self.model = files.model
        kinds: dict[str, Callable[[Path], Tokenizer]] = {"unigram": UnigramTokenizer, "wordpiece": WordPieceTokenizer}
        self._tokenizer = kinds[files.model.tokenizer](files.tokenizer)
        self._words = WordTable(files.words, files.word_format, files.model.card.dim)
        self._words_lock = threading.Lock()
        self._session = _session(files.encoder, threads)

    def windows(self, texts: Sequence[str], role: Role) -> list[_Window]:
        """Return the token windows of all texts, in their order."""
        prefix, limit = self.model.prefix(role), self.model.card.max_tokens
        return [
            _Window(index, ids)
            for index, text in enumerate(texts)
            for ids in windows(self._tokenizer, prefix, text, limit)
        ]

    def run(self, group: Sequence[Sequence[int]]) -> FloatArray:
        """Return the mean of the token vectors of each window, not normalised, shape (len(group), dim)."""
        longest = max(len(ids) for ids in group)
        ids = np.zeros((len(group), longest), dtype=np.int64)
        mask = np.zeros((len(group), longest), dtype=np.int32)
        for row, window in enumerate(group):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        with self._words_lock:
            words = self._words.look_up(ids)
        pooled: FloatArray = self._session.run(["pooled"], {"words": words, "mask": mask})[0]
        return pooled

    def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        """Return the vectors of `texts`, all in this thread."""
        found = self.windows(texts, role)
        sums = np.zeros((len(texts), self.model.card.dim), dtype=np.float32)
        for group in group_by_length([len(w.ids) for w in found], _RUN_TOKENS):
            _add(sums, [found[i] for i in group], self.run([found[i].ids for i in group]))
        return normalised(sums)


class OnnxEmbedder:
    """A bundled model behind the `Embedder` port.

    Queries and passages have a thread each, so that a query never waits for the passages of a
    large batch; the native threads under both are shared and bounded by `threads`. The model is
    loaded once, by the first call or by `load`.
    """

    def __init__(
        self, model: BundledModel, model_dir: Path, threads: int, *, loader: Callable[[], Encoder] | None = None
    ) -> None:
        self._model = model
        self._loader = loader or (lambda: Encoder(read_model(model_dir), threads))
        self._lock = threading.Lock()
        self._encoder: Encoder | None = None
        self._closed = False
        self._lanes: dict[Role, ThreadPoolExecutor] = {
            "query": ThreadPoolExecutor(1, thread_name_prefix="memex-embed-query"),
            "passage": ThreadPoolExecutor(1, thread_name_prefix="memex-embed-passage"),
        }

    @property
    def card(self) -> ModelCard:
        """The model's card; known before the model is loaded."""
        return self._model.card

    @property
    def loaded(self) -> bool:
        """Whether the next call runs at once."""
        return self._encoder is not None

    async def load(self) -> None:
        """Load the model unless it is loaded.

        Raises:
            SetupError: the model folder is missing or damaged.
        """
        await self._in_lane("query", self._ready)

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        """Return one normalised vector per text; long texts are pooled from windows.

        Each run is a job of its own in the thread, so that concurrent calls take turns.

        Raises:
            Unavailable: the embedder is closed, or the runtime failed.
            SetupError: the model folder is missing or damaged.
        """
        sums = np.zeros((len(texts), self.card.dim), dtype=np.float32)
        if not texts:
            return sums
        found = await self._in_lane(role, lambda: self._ready().windows(texts, role))
        for indexes in group_by_length([len(w.ids) for w in found], _RUN_TOKENS):
            group = [found[i] for i in indexes]
            pooled = await self._in_lane(role, functools.partial(self._run, [w.ids for w in group]))
            _add(sums, group, pooled)
        return normalised(sums)

    async def close(self) -> None:
        """Stop the threads and let go of the model; a run that has begun is finished first."""
        self._closed = True
        for lane in self._lanes.values():
            await asyncio.to_thread(lane.shutdown, cancel_futures=True)
        self._encoder = None

    def _ready(self) -> Encoder:
        with self._lock:
            if self._encoder is None:
                self._encoder = self._loader()
            return self._encoder

    def _run(self, group: list[list[int]]) -> FloatArray:
        return self._ready().run(group)

    async def _in_lane(self, role: Role, job: Callable[[], _T]) -> _T:
        if self._closed:
            raise Unavailable("the embedder is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._lanes[role], job)
        except (SetupError, Unavailable):
            raise
        except RuntimeError as e:  # ONNX Runtime's errors derive from it
            raise Unavailable(f"embedding failed: {e}") from e


def group_by_length(lengths: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """Yield the indexes of `lengths` in groups of like length, each of at most `max_tokens` when padded.

    One that is longer makes a group of its own. Padding is at most a quarter of a group, or eight tokens a row.
    """
    group: list[int] = []
    shortest = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[index]
        if group and (length * (len(group) + 1) > max_tokens or length > max(shortest * 4 // 3, shortest + 8)):
            yield group
            group = []
        if not group:
            shortest = length
        group.append(index)
    if group:
        yield group


def _add(sums: FloatArray, group: Sequence[_Window], pooled: FloatArray) -> None:
    """Add each window's mean to its text, weighted by its length."""
    for window, vector in zip(group, pooled, strict=True):
        sums[window.text] += vector * len(window.ids)


def _session(path: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Idle native threads would otherwise burn the core that the event loop needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Both keep the buffers of every shape seen; texts have all lengths, so they would only grow.
    options.enable_mem_pattern = False
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
