"""A cross-encoder of a few kilobytes, made here: it counts the words of the query that a text repeats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
import tokenizers
from onnx import TensorProto, helper
from tokenizers import models, normalizers, pre_tokenizers, processors

__all__ = ["write_cross_encoder", "write_tokenizer"]

_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
_PIECE = "[a-z0-9]+|."


def write_cross_encoder(
    folder: Path,
    corpus: Sequence[str],
    *,
    max_tokens: int | None = None,
    columns: int | None = 1,
    with_types: bool = True,
    integer: int = TensorProto.INT64,
) -> Path:
    """Write model.onnx and tokenizer.json that know the words of `corpus` (for Chinese and Japanese: characters).

    `columns` is the second dimension of the output, None for none. Without types the graph counts the
    known tokens of both, whatever they are.
    """
    write_tokenizer(folder, corpus, max_tokens=max_tokens)
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if with_types else [])]
    inputs = [helper.make_tensor_value_info(name, integer, ["n", "length"]) for name in names]
    shape: list[str | int | None] = ["n"] if columns is None else ["n", columns]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)
    last = 0 if columns is None else columns
    nodes, constants = _overlap(integer, last) if with_types else _length(integer, last)
    graph = helper.make_graph(nodes, "words", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


def write_tokenizer(folder: Path, corpus: Sequence[str], *, max_tokens: int | None = None) -> None:
    """Write tokenizer.json: a word is a token, and so is any character that is no letter of the Latin alphabet."""
    words = sorted({piece for text in corpus for piece in re.findall(_PIECE, text.lower())} - {" "})
    vocabulary = {word: at for at, word in enumerate([*_SPECIALS, *words])}
    made = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.add_special_tokens(_SPECIALS)
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(tokenizers.Regex(_PIECE), "isolated")]
    )
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    if max_tokens is not None:
        made.enable_truncation(max_tokens)
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))


def _known(integer: int) -> tuple[list[Any], list[Any]]:
    constants = [
        helper.make_tensor("last_special", integer, [], [len(_SPECIALS) - 1]),
        helper.make_tensor("axis1", TensorProto.INT64, [1], [1]),
        helper.make_tensor("axis2", TensorProto.INT64, [1], [2]),
        helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("eight", TensorProto.FLOAT, [], [8.0]),
        helper.make_tensor("four", TensorProto.FLOAT, [], [4.0]),
    ]
    nodes = [
        helper.make_node("Greater", ["input_ids", "last_special"], ["a_word"]),
        helper.make_node("Cast", ["attention_mask"], ["attended"], to=TensorProto.BOOL),
        helper.make_node("And", ["a_word", "attended"], ["live"]),
    ]
    return nodes, constants


def _overlap(integer: int, columns: int) -> tuple[list[Any], list[Any]]:
    """Logit: 8 * (share of the query's words that the text has) - 4."""
    nodes, constants = _known(integer)
    nodes += [
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.BOOL),
        helper.make_node("Not", ["second"], ["first"]),
        helper.make_node("And", ["live", "first"], ["asked"]),
        helper.make_node("And", ["live", "second"], ["said"]),
        helper.make_node("Unsqueeze", ["input_ids", "axis2"], ["down"]),
        helper.make_node("Unsqueeze", ["input_ids", "axis1"], ["across"]),
        helper.make_node("Equal", ["down", "across"], ["same"]),
        helper.make_node("Unsqueeze", ["asked", "axis2"], ["asked_down"]),
        helper.make_node("Unsqueeze", ["said", "axis1"], ["said_across"]),
        helper.make_node("And", ["asked_down", "said_across"], ["both"]),
        helper.make_node("And", ["same", "both"], ["match"]),
        helper.make_node("Cast", ["match"], ["match_f"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["match_f"], ["found"], axes=[2], keepdims=0),
        helper.make_node("ReduceSum", ["found", "axis1"], ["n_found"], keepdims=1),
        helper.make_node("Cast", ["asked"], ["asked_f"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["asked_f", "axis1"], ["n_asked"], keepdims=1),
        helper.make_node("Max", ["n_asked", "one"], ["n_at_least"]),
        helper.make_node("Div", ["n_found", "n_at_least"], ["share"]),
        helper.make_node("Mul", ["share", "eight"], ["scaled"]),
        helper.make_node("Sub", ["scaled", "four"], ["score"]),
    ]
    return [*nodes, _shaped(columns)], constants


def _length(integer: int, columns: int) -> tuple[list[Any], list[Any]]:
    """Logit: the number of known tokens less four."""
    nodes, constants = _known(integer)
    nodes += [
        helper.make_node("Cast", ["live"], ["live_f"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["live_f", "axis1"], ["n_live"], keepdims=1),
        helper.make_node("Sub", ["n_live", "four"], ["score"]),
    ]
    return [*nodes, _shaped(columns)], constants


def _shaped(columns: int) -> Any:
    if columns == 0:
        return helper.make_node("Squeeze", ["score", "axis1"], ["logits"])
    return helper.make_node("Concat", ["score"] * columns, ["logits"], axis=1)
