"""The embedding model as plainly as it can be run: tokenise, look up, run; no batching policy, no cache.

The reference design and the raw rate both use it, so all sides of a comparison compute the same function
from the same files. The session has ONNX Runtime's own defaults but for the number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memex_server.embedding.convert import build_model
from memex_server.embedding.store import read_model
from memex_server.embedding.tokens import UnigramTokenizer, windows
from memex_server.embedding.words import WordTable
from memex_server.onnx_runtime import onnxruntime
from memex_server.ports import FloatArray, Role

__all__ = ["Batch", "PlainModel", "model_dir"]


def model_dir(folder: Path) -> Path:
    """Build the model into `folder` unless it is there (5 to 25 s), and return the folder."""
    return build_model(folder, lambda _step, _share: None)


@dataclass(frozen=True, slots=True)
class Batch:
    """The graph's inputs for some texts, padded to the longest."""

    words: FloatArray
    mask: NDArray[np.int32]


class PlainModel:
    """Tokenise and run; safe to share between threads, as an ONNX Runtime session is."""

    def __init__(self, folder: Path, threads: int) -> None:
        """Load the model; `threads` 0 leaves the number to ONNX Runtime, as a service does that sets nothing."""
        files = read_model(folder)
        self._model = files.model
        self._tokenizer = UnigramTokenizer(files.tokenizer)
        self._words = WordTable(files.words, files.word_format, files.model.card.dim)
        self._words_lock = threading.Lock()  # the table has one reader at a time
        ort = onnxruntime()
        options = ort.SessionOptions()
        options.log_severity_level = 3
        if threads:
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
        self._session = ort.InferenceSession(str(files.encoder), options, providers=["CPUExecutionProvider"])

    def encode(self, texts: Sequence[str], role: Role) -> list[list[int]]:
        """Return the token ids of each text with the role's prefix; what is beyond the model's window is left out."""
        prefix, limit = self._model.prefix(role), self._model.card.max_tokens
        return [next(windows(self._tokenizer, prefix, text, limit)) for text in texts]

    def batch(self, rows: Sequence[Sequence[int]]) -> Batch:
        """Return the graph's inputs for token ids."""
        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros(ids.shape, np.int32)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        with self._words_lock:
            return Batch(self._words.look_up(ids), mask)

    def run(self, batch: Batch) -> FloatArray:
        """Return the pooled vectors of a batch, not normalised."""
        pooled: FloatArray = self._session.run(["pooled"], {"words": batch.words, "mask": batch.mask})[0]
        return pooled

    def embed_one(self, text: str, role: Role) -> FloatArray:
        """Return the normalised vector of a single text: what the reference design does per request."""
        pooled = self.run(self.batch(self.encode([text], role)))[0]
        vector: FloatArray = pooled / np.linalg.norm(pooled)
        return vector
