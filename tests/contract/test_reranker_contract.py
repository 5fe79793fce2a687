"""What every reranker must do, whatever it is made of."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from memex.protocol.errors import Unavailable
from memex_server.ports import Reranker
from memex_server.reranking.http import HttpReranker
from memex_server.reranking.onnx import OnnxReranker
from memex_server.testing import OverlapReranker
from tests.reranker_model import write_cross_encoder

BOUND_S = 20.0

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]

# A question, what answers it, and what does not.
TRIPLES = [
    ("When are the meetings held?", "The meetings are held in the morning.", "My cat sleeps on the blue sofa."),
    ("我喜欢喝什么茶？", "我喜欢喝普洱茶。", "数据库的密码每九十天更换一次。"),
    ("東京で何時に会いますか", "東京で朝九時に会いましょう。", "猫はソファの上で寝ている。"),
]
ODD_TEXTS = [
    "",
    " ",
    "\t\r\n",
    "\x01\x7f",
    "\u200b\u200d\ufeff",
    "???",
    "C:\\x\\y a|b",
    "</s><mask>[SEP][PAD]",
    "<|endoftext|>",
    "👨‍👩‍👧 🎉",
    "مرحبا",
    "𠮷野家",
]


async def rerank_app(scope: Scope, receive: Receive, send: Send) -> None:
    """An endpoint in the form of Cohere if a model is named, else in that of text-embeddings-inference."""
    assert scope["path"] == "/v1/rerank"
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    request = json.loads(body)
    named = "model" in request
    texts = request["documents" if named else "texts"]
    scores = await OverlapReranker().score(request["query"], texts)
    # The index counts, not the order.
    best = sorted(range(len(texts)), key=lambda at: -scores[at])
    rows = [{"index": at, "relevance_score" if named else "score": scores[at]} for at in best]
    answer = {"model": request["model"], "results": rows[: request["top_n"]]} if named else rows
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


def http(model: str) -> HttpReranker:
    return HttpReranker("http://rerank.test/v1/", model, transport=httpx.ASGITransport(rerank_app))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("reranker"), [text for triple in TRIPLES for text in triple])


@pytest.fixture(params=["fake", "onnx", "http", "http without a name"])
async def reranker(request: pytest.FixtureRequest) -> AsyncIterator[Reranker]:
    makers: dict[str, Callable[[], Reranker]] = {
        "fake": OverlapReranker,
        "onnx": lambda: OnnxReranker(request.getfixturevalue("folder"), threads=1),
        "http": lambda: http("some-model"),
        "http without a name": lambda: http(""),
    }
    made = makers[request.param]()
    yield made
    await made.close()


@pytest.mark.parametrize(("query", "like", "unlike"), TRIPLES)
async def test_what_answers_scores_higher_than_what_does_not(
    reranker: Reranker, query: str, like: str, unlike: str
) -> None:
    near, far = await reranker.score(query, [like, unlike])
    assert near > far + 0.1
    assert list(await reranker.score(query, [unlike, like])) == pytest.approx([far, near], abs=1e-5)


async def test_scores_lie_between_0_and_1_and_come_in_the_order_of_the_texts(reranker: Reranker) -> None:
    texts = [text for triple in TRIPLES for text in triple] * 3
    for query, _, _ in TRIPLES:
        scores = await reranker.score(query, texts)
        assert len(scores) == len(texts)
        assert all(0 <= score <= 1 for score in scores)
        alone = [(await reranker.score(query, [text]))[0] for text in texts[:9]]
        assert list(scores) == pytest.approx(alone * 3, abs=1e-5)


async def test_no_texts_give_no_scores(reranker: Reranker) -> None:
    assert list(await reranker.score("anything?", [])) == []


async def test_odd_texts_and_queries_are_scored(reranker: Reranker) -> None:
    for query in ODD_TEXTS:
        scores = await reranker.score(query, ODD_TEXTS)
        assert len(scores) == len(ODD_TEXTS)
        assert all(math.isfinite(score) for score in scores)


async def test_texts_and_queries_beyond_the_length_are_scored(reranker: Reranker) -> None:
    for query, like, unlike in TRIPLES:
        near, far = await reranker.score(query, [like + unlike * 400, unlike * 400])
        assert near > far
        assert len(await reranker.score(query * 1000, [like * 1000, unlike])) == 2


async def test_callers_at_once_get_their_own_scores(reranker: Reranker) -> None:
    async with asyncio.timeout(BOUND_S):
        answers = await asyncio.gather(*(reranker.score(query, [unlike, like]) for query, like, unlike in TRIPLES * 5))
    assert all(far < near for far, near in answers)


async def test_a_closed_reranker_refuses_and_may_be_closed_again(reranker: Reranker) -> None:
    await reranker.close()
    await reranker.close()
    with pytest.raises(Unavailable):
        await reranker.score("too late?", ["yes"])
