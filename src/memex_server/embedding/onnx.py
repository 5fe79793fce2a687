"""Embeds with ONNX Runtime, in threads of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import numpy as np

from memex.protocol.errors import SetupError, Unavailable

from ..onnx_runtime import onnxruntime
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
        # The tokenizer takes longest, most of a second; the rest is loaded beside it.
        with ThreadPoolExecutor(1) as beside:
            tokenizer = beside.submit(kinds[files.model.tokenizer], files.tokenizer)
            self._words = WordTable(files.words, files.word_format, files.model.card.dim)
            self._words_lock = threading.Lock()
            self._shared = _session(files.encoder, 1)
            self._alone = _session(files.encoder, threads) if threads > 1 else self._shared
            self._tokenizer = tokenizer.result()

    def windows(self, texts: Sequence[str], role: Role) -> list[_Window]:
        """Return the token windows of all texts, in their order."""
        prefix, limit = self.model.prefix(role), self.model.card.max_tokens
        return [
            _Window(index, ids)
            for index, text in enumerate(texts)
            for ids in windows(self._tokenizer, prefix, text, limit)
        ]

    def run(self, group: Sequence[Sequence[int]], *, alone: bool = False) -> FloatArray:
        """Return the mean of the token vectors of each window, not normalised, shape (len(group), dim).

        `alone` spreads the run over all threads, which is the quickest answer when nothing else runs;
        runs side by side get more done on a thread each.
        """
        longest = max(len(ids) for ids in group)
        ids = np.zeros((len(group), longest), dtype=np.int64)
        mask = np.zeros((len(group), longest), dtype=np.int32)
        for row, window in enumerate(group):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        with self._words_lock:
            words = self._words.look_up(ids)
        session = self._alone if alone else self._shared
        pooled: FloatArray = session.run(["pooled"], {"words": words, "mask": mask})[0]
        return pooled

    def embed(self, texts: Sequence[str], role: Role, *, alone: bool = False) -> FloatArray:
        """Return one normalised vector per text; long texts are pooled from windows."""
        found = self.windows(texts, role)
        sums = np.zeros((len(texts), self.model.card.dim), dtype=np.float32)
        for group in group_by_length([len(w.ids) for w in found], _RUN_TOKENS):
            pooled = self.run([found[i].ids for i in group], alone=alone)
            for i, vector in zip(group, pooled, strict=True):
                sums[found[i].text] += vector * len(found[i].ids)
        return normalised(sums)


class OnnxEmbedder:
    """A bundled model behind the `Embedder` port.

    Queries and passages have `threads` threads each, so that a query never waits for the passages
    of a large batch; the system shares the cores among them. A call that comes alone uses all of
    them. The model is loaded once, by the first call or by `load`.
    """

    def __init__(
        self, model: BundledModel, model_dir: Path, threads: int, *, loader: Callable[[], Encoder] | None = None
    ) -> None:
        self._model = model
        self._loader = loader or (lambda: Encoder(read_model(model_dir), threads))
        self._lock = threading.Lock()
        self._encoder: Encoder | None = None
        self._closed = False
        self._running = 0
        self._lanes: dict[Role, ThreadPoolExecutor] = {
            role: ThreadPoolExecutor(threads, thread_name_prefix=f"memex-embed-{role}") for role in get_args(Role)
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

        Raises:
            Unavailable: the embedder is closed, or the runtime failed.
            SetupError: the model folder is missing or damaged.
        """
        if not texts:
            return np.zeros((0, self.card.dim), dtype=np.float32)
        alone = not self._running
        return await self._in_lane(role, lambda: self._ready().embed(texts, role, alone=alone))

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

    async def _in_lane(self, role: Role, job: Callable[[], _T]) -> _T:
        if self._closed:
            raise Unavailable("the embedder is closed")
        self._running += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._lanes[role], job)
        except (SetupError, Unavailable):
            raise
        except Exception as e:  # ONNX Runtime's errors have no base of their own
            raise Unavailable(f"embedding failed: {e}") from e
        finally:
            self._running -= 1


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


def _session(path: Path, threads: int) -> Any:
    runtime = onnxruntime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # A sleeping thread is woken some 200 times a run, which takes longer than what it then does; so
    # they spin, but only while something runs: idle, they would burn the core of the event loop.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    # Both keep the buffers of every shape seen; texts have all lengths, so they would only grow.
    options.enable_mem_pattern = False
    options.enable_cpu_mem_arena = False
    return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
