"""What every embedder must do, whatever it is made of."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from memex.protocol.errors import Unavailable
from memex_server.embedding import LoadableEmbedder
from memex_server.embedding.batching import BatchingEmbedder
from memex_server.embedding.cache import CachingEmbedder, MemoryVectorCache
from memex_server.embedding.cards import BUNDLED
from memex_server.embedding.http import HttpEmbedder
from memex_server.embedding.onnx import Encoder, OnnxEmbedder
from memex_server.embedding.store import read_model
from memex_server.ports import Role
from memex_server.testing import HashingEmbedder

BOUND_S = 50.0

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]

ODD_TEXTS = [
    "",
    " ",
    "\t\r\n",
    "\x01\x7f",
    "\u200b\u200d\ufeff",
    "???",
    "C:\\x\\y",
    "a|b",
    "</s><mask>",
    "<|endoftext|>",
    "👨‍👩‍👧 🎉",
    "مرحبا",
    "ﬁ ½ ㍿ Å",
    "\ud83d",  # half of a surrogate pair, as careless clients send it
    "𠮷野家",
]


async def openai_app(scope: Scope, receive: Receive, send: Send) -> None:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    request = json.loads(body)
    vectors = await HashingEmbedder().embed(request["input"], "passage")
    # Out of order on purpose, and not of length 1: the index counts, and the client normalises.
    rows = [{"index": i, "embedding": (v * 3).tolist()} for i, v in enumerate(vectors)][::-1]
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"data": rows}).encode()})


def http() -> HttpEmbedder:
    return HttpEmbedder("http://embed.test/v1", "some-model", transport=httpx.ASGITransport(openai_app))


@pytest.fixture(params=["fake", "onnx", "onnx in batches", "onnx with cache", "http", "http with both"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[LoadableEmbedder]:
    def onnx() -> OnnxEmbedder:
        encoder = request.getfixturevalue("encoder")
        return OnnxEmbedder(encoder.model, Path("unused"), threads=1, loader=lambda: encoder)

    makers: dict[str, Callable[[], LoadableEmbedder]] = {
        "fake": HashingEmbedder,
        "onnx": onnx,
        "onnx in batches": lambda: BatchingEmbedder(onnx()),
        "onnx with cache": lambda: CachingEmbedder(onnx(), MemoryVectorCache(100)),
        "http": http,
        "http with both": lambda: CachingEmbedder(BatchingEmbedder(http()), MemoryVectorCache(100)),
    }
    made = makers[request.param]()
    async with asyncio.timeout(BOUND_S):
        await made.load()
    yield made
    await made.close()


@pytest.mark.parametrize("role", ["query", "passage"])
async def test_vectors_are_float32_rows_of_length_one_in_the_order_of_the_texts(
    embedder: LoadableEmbedder, role: Role
) -> None:
    texts = [
        "where is the coffee?",
        "我喜欢普洱茶",
        "東京で会いましょう",
        "x",
        "a rather longer text about a database " * 8,
    ]
    vectors = await embedder.embed(texts, role)
    assert vectors.shape == (len(texts), embedder.card.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_allclose((await embedder.embed([text], role))[0], vector, atol=1e-5)


async def test_no_texts_give_no_rows(embedder: LoadableEmbedder) -> None:
    vectors = await embedder.embed([], "passage")
    assert vectors.shape == (0, embedder.card.dim)
    assert vectors.dtype == np.float32


async def test_the_same_text_twice_in_a_call_has_the_same_vector(embedder: LoadableEmbedder) -> None:
    vectors = await embedder.embed(["猫が好きです", "dogs", "猫が好きです"], "passage")
    np.testing.assert_array_equal(vectors[0], vectors[2])


async def test_odd_texts_get_a_finite_vector(embedder: LoadableEmbedder) -> None:
    vectors = await embedder.embed(ODD_TEXTS, "passage")
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("filler", "fact"),
    [
        ("The weather report says that it may rain in the hills. ", "The vault code is 4711, ask Zoë for it."),
        ("今天的会议讨论了很多无关紧要的事情。", "保险柜的密码是四七一一，请问佐伊。"),
        ("今日の会議では重要でないことがたくさん話されました。", "金庫の暗証番号は四七一一です。"),
    ],
)
async def test_the_last_line_of_a_long_text_changes_its_vector(
    embedder: LoadableEmbedder, filler: str, fact: str
) -> None:
    body = filler * (2_000 // len(filler))
    plain, with_fact, query = await embedder.embed([body, f"{body}\n{fact * 6}", fact], "passage")
    assert float(plain @ with_fact) < 0.99999
    assert float(query @ with_fact) > float(query @ plain)


@pytest.mark.parametrize(
    ("query", "like", "unlike"),
    [
        ("When are the meetings held?", "The meetings are held in the morning.", "My cat sleeps on the blue sofa."),
        ("我喜欢喝什么茶？", "我喜欢喝普洱茶。", "数据库的密码每九十天更换一次。"),
        ("東京で何時に会いますか", "東京で朝九時に会いましょう。", "猫はソファで寝ています。"),
    ],
)
async def test_a_similar_text_is_nearer_than_a_dissimilar_one(
    embedder: LoadableEmbedder, query: str, like: str, unlike: str
) -> None:
    question = (await embedder.embed([query], "query"))[0]
    near, far = await embedder.embed([like, unlike], "passage")
    assert float(question @ near) > float(question @ far) + 0.02


async def test_sixteen_callers_at_once_get_their_own_vectors(embedder: LoadableEmbedder) -> None:
    texts = [f"memory number {n} 第{n}条" for n in range(16)]
    async with asyncio.timeout(BOUND_S):
        answers = await asyncio.gather(*(embedder.embed([text], "passage") for text in texts))
    expected = await embedder.embed(texts, "passage")
    np.testing.assert_allclose(np.concatenate(answers), expected, atol=1e-5)


async def test_a_closed_embedder_refuses_and_may_be_closed_again(embedder: LoadableEmbedder) -> None:
    await embedder.close()
    await embedder.close()
    with pytest.raises(Unavailable):
        await embedder.embed(["too late"], "query")


async def test_sixteen_first_requests_load_the_model_once(model_folder: Path) -> None:
    loads: list[Encoder] = []

    def load() -> Encoder:
        loads.append(Encoder(read_model(model_folder), threads=1))
        return loads[-1]

    embedder = OnnxEmbedder(BUNDLED["multilingual-e5-small"], model_folder, threads=1, loader=load)
    roles: list[Role] = ["query", "passage"] * 8
    async with asyncio.timeout(BOUND_S):
        await asyncio.gather(*(embedder.embed([f"text {n}"], role) for n, role in enumerate(roles)))
    assert len(loads) == 1
    assert embedder.loaded
    await embedder.close()
