"""The table of word vectors, memory-mapped: only the rows that a text needs are read."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..ports import FloatArray
from .e5_weights import BLOCK_BYTES, BLOCK_WEIGHTS, dequantise

__all__ = ["WordFormat", "WordTable"]

WordFormat = Literal["q4", "float16"]

# The kernel maps up to 64 KiB around each touched row; so at most about 16 MiB of the file count as resident.
_ROWS_BEFORE_RELEASE = 256


class WordTable:
    """Rows of word vectors in a file without header; one reader at a time."""

    def __init__(self, path: Path, fmt: WordFormat, dim: int) -> None:
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._advise("MADV_RANDOM")  # rows are scattered: reading ahead would read for nothing
        self._format = fmt
        row_bytes = dim // BLOCK_WEIGHTS * BLOCK_BYTES if fmt == "q4" else dim * 2
        self._rows = np.frombuffer(self._map, dtype=np.uint8).reshape(-1, row_bytes)
        self._taken = 0

    def look_up(self, ids: NDArray[np.int64]) -> FloatArray:
        """Return the vectors of `ids` as float32 of shape (*ids.shape, dim)."""
        rows = self._rows[ids.ravel()]
        self._taken += len(rows)
        if self._taken > _ROWS_BEFORE_RELEASE:
            self._advise("MADV_DONTNEED")  # the pages stay in the system's cache, which all processes share
            self._taken = 0
        vectors = dequantise(rows) if self._format == "q4" else rows.view(np.float16).astype(np.float32)
        return vectors.reshape(*ids.shape, -1)

    def _advise(self, advice: str) -> None:
        value = getattr(mmap, advice, None)  # absent on Windows
        if value is not None:
            self._map.madvise(value)
