"""Builds the ONNX graph of a BERT-like encoder with int8 matrices.

Inputs are the looked-up word vectors and a mask, not token ids: the word table stays outside, in
a memory-mapped file, because it is several times larger than the encoder. The output is the mean
over the tokens, not yet normalised, so that windows of one text can be pooled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ..ports import FloatArray

__all__ = ["EncoderShape", "EncoderWeights", "Linear", "Norm", "build_encoder"]

_OPSET = 20
_IR_VERSION = 10
_FUSED = "com.microsoft"  # the fused operators that ONNX Runtime adds to the standard ones

# 7 bits, not 8: without VNNI, x86 adds pairs of uint8 * int8 products in 16 bits, and 2 * 255 * 127 saturates.
_LARGEST_WEIGHT = 64


@dataclass(frozen=True, slots=True)
class Linear:
    """A dense layer: weight (outputs, inputs) and bias (outputs)."""

    weight: FloatArray
    bias: FloatArray


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer normalisation: scale and shift."""

    scale: FloatArray
    shift: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderShape:
    """The dimensions of the encoder."""

    hidden: int
    layers: int
    heads: int
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderWeights:
    """Where the weights of an encoder come from; called layer by layer, so that few are in memory.

    `linear` names: q, k, v, attention_out, ff_in, ff_out. `norm` names: embedding (layer 0),
    attention, out. `positions` already contain the token type's vector.
    """

    positions: FloatArray
    linear: Callable[[int, str], Linear]
    norm: Callable[[int, str], Norm]


class _Graph:
    """Collects nodes and constants; every method returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.constant("step", np.array(1 / 127, np.float32))
        self.constant("middle", np.array(128, np.uint8))
        self.constant("tiny", np.array(1e-9, np.float32))
        self.constant("last_axis", np.array([-1], np.int64))

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], name: str, *, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def split(self, source: str, names: list[str]) -> list[str]:
        self.nodes.append(
            helper.make_node("Split", [source], names, name=f"{source}_split", axis=-1, num_outputs=len(names))
        )
        return names

    def linear(self, source: str, name: str, layer: Linear) -> str:
        """Product in int8: one scale per output for the weights, one per token for the activations.

        A scale per token instead of one per tensor (as dynamic quantisation has it) makes the
        vector of a text the same whatever it is batched with, and three times as exact.
        """
        scales = np.abs(layer.weight).max(axis=1) / _LARGEST_WEIGHT
        scales[scales == 0] = 1
        weight = np.round(layer.weight / scales[:, None]).astype(np.int8)
        quantised, size = self._quantised(source)
        inputs = [
            quantised,
            self.constant(f"{name}_weight", weight.T),
            "step",
            self.constant(f"{name}_scale", scales.astype(np.float32)),
            "middle",
            self.constant(f"{name}_zero", np.zeros(len(scales), np.int8)),
        ]
        product = self.node("MatMulIntegerToFloat", inputs, f"{name}_product", domain=_FUSED)
        scaled = self.node("Mul", [product, size], f"{name}_scaled")
        return self.node("Add", [scaled, self.constant(f"{name}_bias", layer.bias)], name)

    def _quantised(self, source: str) -> tuple[str, str]:
        """Return each token's values as uint8 around 128, and the size by which they were divided."""
        absolute = self.node("Abs", [source], f"{source}_absolute")
        largest = self.node("ReduceMax", [absolute, "last_axis"], f"{source}_largest", keepdims=1)
        size = self.node("Max", [largest, "tiny"], f"{source}_size")
        unit = self.node("Div", [source, size], f"{source}_unit")
        return self.node("QuantizeLinear", [unit, "step", "middle"], f"{source}_quantised"), size

    def norm(self, source: str, name: str, norm: Norm, epsilon: float) -> str:
        inputs = [source, self.constant(f"{name}_scale", norm.scale), self.constant(f"{name}_shift", norm.shift)]
        return self.node("LayerNormalization", inputs, name, axis=-1, epsilon=epsilon)

    def add_norm(self, source: str, residual: str, name: str, norm: Norm, epsilon: float) -> str:
        inputs = [
            source,
            residual,
            self.constant(f"{name}_scale", norm.scale),
            self.constant(f"{name}_shift", norm.shift),
        ]
        return self.node("SkipLayerNormalization", inputs, name, domain=_FUSED, epsilon=epsilon)


def build_encoder(shape: EncoderShape, weights: EncoderWeights, progress: Callable[[float], None]) -> onnx.ModelProto:
    """Return the model: `words` float32 (batch, tokens, hidden) and `mask` int32 (batch, tokens) -> `pooled`.

    `progress` is called with the share of layers done.
    """
    graph = _Graph()
    x = _embedding(graph, shape, weights)
    for index in range(shape.layers):
        x = _layer(graph, x, index, shape, weights)
        progress((index + 1) / shape.layers)
    _mean(graph, x)
    dims = ["batch", "tokens"]
    proto = helper.make_graph(
        graph.nodes,
        "encoder",
        [
            helper.make_tensor_value_info("words", TensorProto.FLOAT, [*dims, shape.hidden]),
            helper.make_tensor_value_info("mask", TensorProto.INT32, dims),
        ],
        [helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["batch", shape.hidden])],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)]
    return helper.make_model(proto, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="memex")


def _embedding(graph: _Graph, shape: EncoderShape, weights: EncoderWeights) -> str:
    graph.constant("positions", weights.positions)
    graph.constant("index_0", np.array([0], np.int64))
    graph.node("Shape", ["words"], "token_count", start=1, end=2)
    graph.node("Slice", ["positions", "index_0", "token_count", "index_0"], "positions_used")
    graph.node("Add", ["words", "positions_used"], "embedded")
    return graph.norm("embedded", "embedded_norm", weights.norm(0, "embedding"), shape.epsilon)


def _layer(graph: _Graph, x: str, index: int, shape: EncoderShape, weights: EncoderWeights) -> str:
    def name(part: str) -> str:
        return f"layer{index}_{part}"

    # One matrix product for the three projections: fewer, larger products use the cores better.
    q, k, v = (weights.linear(index, part) for part in "qkv")
    joint = Linear(np.concatenate([q.weight, k.weight, v.weight]), np.concatenate([q.bias, k.bias, v.bias]))
    projected = graph.split(graph.linear(x, name("qkv"), joint), [name("q"), name("k"), name("v")])
    attended = graph.node(
        "MultiHeadAttention",
        [*projected, "", "mask"],
        name("attended"),
        domain=_FUSED,
        num_heads=shape.heads,
    )
    mixed = graph.linear(attended, name("attention_out"), weights.linear(index, "attention_out"))
    y = graph.add_norm(mixed, x, name("attention_norm"), weights.norm(index, "attention"), shape.epsilon)
    wide = graph.linear(y, name("ff_in"), weights.linear(index, "ff_in"))
    active = graph.node("Gelu", [wide], name("gelu"), approximate="none")
    narrow = graph.linear(active, name("ff_out"), weights.linear(index, "ff_out"))
    return graph.add_norm(narrow, y, name("norm"), weights.norm(index, "out"), shape.epsilon)


def _mean(graph: _Graph, x: str) -> None:
    graph.constant("axis_1", np.array([1], np.int64))
    graph.constant("axis_2", np.array([2], np.int64))
    graph.node("Cast", ["mask"], "mask_float", to=TensorProto.FLOAT)
    graph.node("Unsqueeze", ["mask_float", "axis_2"], "mask_column")
    graph.node("Mul", [x, "mask_column"], "masked")
    graph.node("ReduceSum", ["masked", "axis_1"], "summed", keepdims=0)
    graph.node("ReduceSum", ["mask_float", "axis_1"], "counted", keepdims=1)
    graph.node("Div", ["summed", "counted"], "pooled")
