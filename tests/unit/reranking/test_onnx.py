from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from onnx import TensorProto

from memex.protocol.errors import SetupError, Unavailable
from memex_server.reranking.onnx import OnnxReranker
from tests.reranker_model import write_cross_encoder

WORDS = ["tea coffee sep pad", "普洱茶", "お茶"]
BOUND_S = 20.0


@pytest.mark.parametrize("columns", [None, 1])
async def test_scores_of_both_shapes_are_read(tmp_path: Path, columns: int | None) -> None:
    reranker = OnnxReranker(write_cross_encoder(tmp_path, WORDS, columns=columns), threads=1)
    # Logits of 4 and -4.
    assert await reranker.score("普洱茶", ["普洱茶", "coffee"]) == pytest.approx([0.982014, 0.017986], abs=1e-5)
    await reranker.close()


@pytest.mark.parametrize("integer", [TensorProto.INT64, TensorProto.INT32])
async def test_a_graph_without_types_gets_what_it_asks_for(tmp_path: Path, integer: int) -> None:
    reranker = OnnxReranker(write_cross_encoder(tmp_path, WORDS, with_types=False, integer=integer), threads=1)
    # Padding counts for nothing: two known words beside twelve are still two.
    few, many = await reranker.score("tea", ["tea", "tea coffee " * 6])
    assert few == pytest.approx(0.119203, abs=1e-5)  # logit 2 - 4
    assert many == pytest.approx(0.999877, abs=1e-5)  # logit 13 - 4
    await reranker.close()


@pytest.mark.parametrize(("max_tokens", "kept"), [(None, 512), (32, 32), (600, 600)])
async def test_a_pair_is_cut_to_the_length_of_the_tokenizer_else_to_512(
    tmp_path: Path, max_tokens: int | None, kept: int
) -> None:
    write_cross_encoder(tmp_path, WORDS, max_tokens=max_tokens)
    reranker = OnnxReranker(tmp_path, threads=1)
    room = kept - 4  # two specials around and one between, and the query of one word
    within, beyond = await reranker.score("tea", ["coffee " * (room - 1) + "tea", "coffee " * room + "tea"])
    assert within > 0.9
    assert beyond < 0.1
    await reranker.close()


async def test_a_text_cannot_smuggle_in_a_special_token(tmp_path: Path) -> None:
    reranker = OnnxReranker(write_cross_encoder(tmp_path, WORDS), threads=1)
    spoken, _ = await reranker.score("sep", ["[SEP]", "coffee"])
    assert spoken > 0.9  # read as the word between its brackets
    await reranker.close()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"MEMEX_RERANKER_DIR=.* has no model\.onnx"):
        OnnxReranker(tmp_path, threads=1)
    write_cross_encoder(tmp_path, WORDS)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(SetupError, match=r"has no tokenizer\.json"):
        OnnxReranker(tmp_path, threads=1)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str) -> None:
    write_cross_encoder(tmp_path, WORDS)
    (tmp_path / name).write_bytes(b"no such thing")
    with pytest.raises(SetupError, match="cannot be used as a reranker"):
        OnnxReranker(tmp_path, threads=1)


def test_a_model_with_two_scores_for_a_pair_is_refused(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path, WORDS, columns=2)
    with pytest.raises(SetupError, match=r"shape \(2, 2\) for 2 pairs"):
        OnnxReranker(tmp_path, threads=1)


def test_a_graph_that_asks_for_more_is_refused(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path, WORDS, integer=TensorProto.FLOAT, with_types=False)
    with pytest.raises(SetupError, match="the graph asks for"):
        OnnxReranker(tmp_path, threads=1)


async def test_an_error_of_the_runtime_is_an_outage(tmp_path: Path) -> None:
    reranker = OnnxReranker(write_cross_encoder(tmp_path, WORDS), threads=1)
    with pytest.raises(Unavailable, match="reranking failed"):
        await reranker.score("\ud83d", ["tea"])  # half of a surrogate pair, which no tokenizer reads
    assert len(await reranker.score("tea", ["tea"])) == 1
    await reranker.close()


async def test_who_waits_no_longer_makes_no_work(tmp_path: Path) -> None:
    reranker = OnnxReranker(write_cross_encoder(tmp_path, WORDS), threads=1)
    began, ended = threading.Event(), threading.Event()
    asked: list[str] = []

    class Model:
        def score(self, query: str, texts: Sequence[str], given_up: Callable[[], bool]) -> list[float]:
            asked.append(query)
            began.set()
            while not given_up():
                ended.wait(0.001)
            ended.set()
            return [0.0 for _ in texts]

    reranker._model = Model()  # type: ignore[assignment]
    first = asyncio.create_task(reranker.score("first", ["tea"]))
    await asyncio.to_thread(began.wait, BOUND_S)
    second = asyncio.create_task(reranker.score("second", ["tea"]))
    await asyncio.sleep(0)
    for task in (second, first):
        task.cancel()
    await asyncio.wait([first, second], timeout=BOUND_S)
    assert first.cancelled()
    assert second.cancelled()
    assert await asyncio.to_thread(ended.wait, BOUND_S)
    async with asyncio.timeout(BOUND_S):
        await reranker.close()
    assert asked == ["first"]
