from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from memex.protocol.errors import SetupError, Unavailable
from memex_server.reranking.http import HttpReranker

KEY = "sk-very-secret"
TEXTS = ["green tea", "我喜欢普洱茶", "お茶が好きです"]
Handler = Callable[[httpx.Request], httpx.Response]


def reranker(handler: Handler, *, model: str = "m") -> HttpReranker:
    return HttpReranker(
        "http://user:hidden@rerank.test:9/v2/?token=hush", model, api_key=KEY, transport=httpx.MockTransport(handler)
    )


def answering(answer: Any, *, status: int = 200) -> Handler:
    return lambda _request: httpx.Response(status, json=answer)


def rows(*scores: float, name: str = "relevance_score") -> list[dict[str, float]]:
    return [{"index": at, name: score} for at, score in enumerate(scores)]


async def test_a_named_model_is_asked_for_in_the_form_of_cohere() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"results": rows(0.1, 0.9, 0.5)[::-1]})

    made = HttpReranker("http://rerank.test:9/v2/", "m", api_key=KEY, transport=httpx.MockTransport(handler))
    assert await made.score("喝什么茶？", TEXTS) == [0.1, 0.9, 0.5]
    assert str(seen[0].url) == "http://rerank.test:9/v2/rerank"
    assert seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(seen[0].content) == {"model": "m", "query": "喝什么茶？", "documents": TEXTS, "top_n": 3}


async def test_without_a_name_the_form_is_that_of_text_embeddings_inference() -> None:
    seen: list[Any] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        return httpx.Response(200, json=rows(0.1, 0.9, 0.5, name="score"))

    assert await reranker(handler, model="").score("お茶", TEXTS) == [0.1, 0.9, 0.5]
    assert seen == [{"query": "お茶", "texts": TEXTS}]


async def test_logits_become_scores_between_0_and_1() -> None:
    made = reranker(answering({"results": rows(-2.0, 0.0, 1000.0)}))
    assert await made.score("tea", TEXTS) == pytest.approx([0.119203, 0.5, 1.0], abs=1e-6)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "tea",
        7,
        {},
        {"results": None},
        {"results": rows(0.1, 0.2)},
        {"results": rows(0.1, 0.2, 0.3, 0.4)},
        {"results": [*rows(0.1, 0.2), {"index": 1, "relevance_score": 0.3}]},
        {"results": [*rows(0.1, 0.2), {"index": 3, "relevance_score": 0.3}]},
        {"results": [*rows(0.1, 0.2), {"index": -1, "relevance_score": 0.3}]},
        {"results": [*rows(0.1, 0.2), {"index": "2", "relevance_score": 0.3}]},
        {"results": [*rows(0.1, 0.2), {"index": 2, "relevance_score": "0.3"}]},
        {"results": [*rows(0.1, 0.2), {"index": 2, "relevance_score": True}]},
        {"results": [*rows(0.1, 0.2), {"index": 2, "relevance_score": None}]},
        {"results": [*rows(0.1, 0.2), {"index": 2, "relevance_score": 10**400}]},
        {"results": [*rows(0.1, 0.2), {"index": 2}]},
        {"results": [*rows(0.1, 0.2), 0.3]},
        [0.1, 0.2, 0.3],
    ],
    ids=repr,
)
async def test_an_answer_that_is_not_one_score_for_each_text_is_an_outage(answer: Any) -> None:
    with pytest.raises(Unavailable, match=r"http://rerank\.test:9 does not answer with one score for each of 3 texts"):
        await reranker(answering(answer)).score("tea", TEXTS)


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff\xfe", b'{"results": [{"index": 0, "relevance_score": NaN}]}'])
async def test_an_answer_that_is_no_json_or_not_a_number_is_an_outage(body: bytes) -> None:
    with pytest.raises(Unavailable, match="one score for each"):
        await reranker(lambda _request: httpx.Response(200, content=body)).score("tea", TEXTS[:1])


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (400, "status 400$"),
        (401, "MEMEX_RERANKER_API_KEY"),
        (403, "MEMEX_RERANKER_API_KEY"),
        (404, "MEMEX_RERANKER_BASE_URL and MEMEX_RERANKER_MODEL"),
        (307, "status 307$"),
        (429, "status 429$"),
        (500, "status 500$"),
    ],
)
async def test_a_refusal_is_an_outage_that_tells_its_status_and_no_secret(
    status: int, hint: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with pytest.raises(Unavailable, match=hint) as raised:
        await reranker(answering({"error": f"bad key {KEY} for {TEXTS[0]}"}, status=status)).score("tea", TEXTS)
    for secret in (KEY, "hidden", "hush", TEXTS[0]):
        assert secret not in str(raised.value) + caplog.text


async def test_an_endpoint_that_is_down_is_an_outage_and_asked_once() -> None:
    calls: list[int] = []

    def handler(_request: httpx.Request) -> httpx.Response:
        calls.append(1)
        raise httpx.ConnectError("refused")

    with pytest.raises(Unavailable, match=r"http://rerank\.test:9 does not answer \(ConnectError\)"):
        await reranker(handler).score("tea", TEXTS)
    assert calls == [1]


@pytest.mark.parametrize("address", ["rerank.test/v1", "ftp://rerank.test", "http://", "http://[::1", "https:///v1"])
def test_a_bad_address_is_refused_at_start(address: str) -> None:
    with pytest.raises(SetupError, match="MEMEX_RERANKER_BASE_URL"):
        HttpReranker(address, "m")
