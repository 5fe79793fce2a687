"""Reranks with a cross-encoder from a folder, by ONNX Runtime in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memex.protocol.errors import SetupError, Unavailable

from ..onnx_runtime import onnxruntime
from .scores import sigmoid

__all__ = ["OnnxReranker"]

_MODEL_FILE = "model.onnx"
_TOKENIZER_FILE = "tokenizer.json"
_USUAL_MAX_TOKENS = 512  # of a pair, where the tokenizer does not tell
_RUN_PAIRS = 8  # between two runs a search that waits no longer is noticed
# What a graph may ask for, and what the tokenizer calls it.
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class _CrossEncoder:
    """The loaded model: tokenizer and graph. Blocking, and for one caller at a time."""

    def __init__(self, folder: Path, threads: int) -> None:
        import tokenizers

        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / _TOKENIZER_FILE))
        # The longer of the two is cut: a query may be a pasted document.
        limit = (self._tokenizer.truncation or {}).get("max_length", _USUAL_MAX_TOKENS)
        self._tokenizer.enable_truncation(limit, strategy="longest_first")
        self._pad_id = (self._tokenizer.padding or {}).get("pad_id", 0)
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # "[SEP]" in a memory is text
        self._session = _session(folder / _MODEL_FILE, threads)
        self._types = {each.name: each.type for each in self._session.get_inputs()}
        unknown = {name: kind for name, kind in self._types.items() if name not in _INPUTS or kind not in _INTEGERS}
        if unknown:
            raise ValueError(f"the graph asks for {unknown}, known are {', '.join(_INPUTS)} as integers")
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]

    def score(self, query: str, texts: Sequence[str], given_up: Callable[[], bool]) -> list[float]:
        """Return a score for each text.

        Raises:
            Unavailable: nobody waits for it any more.
            ValueError: the model does not put out one finite number for each pair.
        """
        pairs = [self._tokenizer.encode(query, text) for text in texts]
        logits = np.zeros(len(pairs))
        # Pairs of like length share a run, so that little of it is padding.
        order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].ids))
        for start in range(0, len(order), _RUN_PAIRS):
            if given_up():
                raise Unavailable("the reranking was given up")
            run = order[start : start + _RUN_PAIRS]
            logits[run] = self._run([pairs[at] for at in run])
        if not np.isfinite(logits).all():
            raise ValueError("the model puts out scores that are not finite numbers")
        scores: list[float] = sigmoid(logits).tolist()
        return scores

    def _run(self, pairs: Sequence[Any]) -> NDArray[np.float64]:
        longest = max(len(pair.ids) for pair in pairs)
        feed = {}
        for name, kind in self._types.items():
            pad = self._pad_id if name == "input_ids" else 0
            column = np.full((len(pairs), longest), pad, dtype=_INTEGERS[kind])
            for row, pair in enumerate(pairs):
                column[row, : len(pair.ids)] = getattr(pair, _INPUTS[name])
            feed[name] = column
        logits = self._session.run([self._output], feed)[0]
        if logits.shape not in {(len(pairs),), (len(pairs), 1)}:
            raise ValueError(f"the model puts out shape {logits.shape} for {len(pairs)} pairs, not one score for each")
        numbers: NDArray[np.float64] = logits.reshape(-1).astype(np.float64)
        return numbers


class OnnxReranker:
    """A cross-encoder (`model.onnx`, `tokenizer.json`) behind the `Reranker` port.

    Searches take turns, each on all threads: what is done in time is so sooner than side by side, and
    what waits beyond its deadline never starts.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        """Load the model and try it; takes a moment.

        Raises:
            SetupError: a file is missing, or it is no cross-encoder with one score for a pair.
        """
        for name in (_MODEL_FILE, _TOKENIZER_FILE):
            if not (folder / name).is_file():
                raise SetupError(
                    f"MEMEX_RERANKER_DIR={str(folder)!r} has no {name}: expected the folder of a cross-encoder, "
                    f"with {_MODEL_FILE} and {_TOKENIZER_FILE}"
                )
        try:
            self._model = _CrossEncoder(folder, threads)
            self._model.score("ready", ["ready", "a longer text"], lambda: False)
        except Exception as e:  # the libraries raise bare ones
            raise SetupError(f"MEMEX_RERANKER_DIR={str(folder)!r} cannot be used as a reranker: {e}") from e
        self._lane = ThreadPoolExecutor(1, thread_name_prefix="memex-rerank")
        self._closed = False

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score between 0 and 1 for each text, higher is better; stops soon when cancelled.

        Raises:
            Unavailable: the reranker is closed, or the runtime failed.
        """
        if self._closed:
            raise Unavailable("the reranker is closed")
        left = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._lane, self._model.score, query, texts, lambda: self._closed or left.is_set()
            )
        except Unavailable:
            raise
        except Exception as e:  # the libraries raise bare ones
            raise Unavailable(f"reranking failed: {e}") from e
        finally:
            left.set()

    async def close(self) -> None:
        """Stop the thread; a run that has begun is finished first, others are given up."""
        self._closed = True
        await asyncio.to_thread(self._lane.shutdown)


def _session(path: Path, threads: int) -> Any:
    runtime = onnxruntime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin between runs would burn the core of the event loop; buffers of every shape only grow.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.enable_mem_pattern = False
    options.enable_cpu_mem_arena = False
    return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
