from __future__ import annotations

import json
import logging
from collections.abc import Callable

import httpx
import numpy as np
import pytest

from memex.protocol.errors import InvalidInput, SetupError, Unavailable
from memex_server.embedding.http import HttpEmbedder, retry_delay_s, role_prefix

KEY = "sk-very-secret"
Handler = Callable[[httpx.Request], httpx.Response]


class Naps:
    """Counts the waits instead of waiting."""

    def __init__(self) -> None:
        self.taken_s: list[float] = []

    async def __call__(self, delay_s: float) -> None:
        self.taken_s.append(delay_s)


def embedder(handler: Handler, *, model: str = "m", dim: int = 0, naps: Naps | None = None) -> HttpEmbedder:
    return HttpEmbedder(
        "http://user:hidden@embed.test:9/v1/",
        model,
        api_key=KEY,
        dim=dim,
        transport=httpx.MockTransport(handler),
        sleep=naps or Naps(),
        jitter=lambda: 0.5,
    )


def answer(request: httpx.Request, dim: int = 3) -> httpx.Response:
    texts = json.loads(request.content)["input"]
    return httpx.Response(
        200, json={"data": [{"index": i, "embedding": [1.0, *[0.0] * (dim - 1)]} for i in range(len(texts))]}
    )


async def test_the_request_has_the_form_that_openai_documents() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return answer(request)

    await embedder(handler, dim=3).embed(["tea", "普洱茶"], "passage")
    assert str(seen[0].url.copy_with(userinfo=b"")) == "http://embed.test:9/v1/embeddings"
    assert json.loads(seen[0].content) == {"model": "m", "input": ["tea", "普洱茶"], "encoding_format": "float"}


async def test_the_key_is_sent_as_a_bearer_token() -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return answer(request)

    made = HttpEmbedder("http://embed.test/v1", "m", api_key=KEY, transport=httpx.MockTransport(handler))
    await made.load()
    assert seen == [f"Bearer {KEY}"]


async def test_the_dimension_is_asked_for_once() -> None:
    calls: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        return answer(request, dim=5)

    made = embedder(handler)
    with pytest.raises(Unavailable, match="EMBEDDING_DIM"):
        _ = made.card
    await made.load()
    await made.load()
    assert made.card.dim == 5
    assert len(calls) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_passing_outage_is_waited_out(status: int) -> None:
    replies = [status, status, 200]
    naps = Naps()

    def handler(request: httpx.Request) -> httpx.Response:
        code = replies.pop(0)
        return answer(request) if code == 200 else httpx.Response(code)

    assert (await embedder(handler, dim=3, naps=naps).embed(["a"], "query")).shape == (1, 3)
    assert naps.taken_s == [0.25, 0.5]


async def test_a_lasting_outage_is_unavailable_after_three_tries() -> None:
    calls: list[int] = []

    def handler(_request: httpx.Request) -> httpx.Response:
        calls.append(1)
        raise httpx.ConnectError("refused")

    with pytest.raises(Unavailable, match=r"embed\.test:9 does not answer \(ConnectError\)"):
        await embedder(handler, dim=3).embed(["a"], "query")
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, InvalidInput),
        (401, SetupError),
        (403, SetupError),
        (404, SetupError),
        (413, InvalidInput),
        (422, InvalidInput),
        (501, Unavailable),
    ],
)
async def test_a_refusal_is_told_at_once_without_key_text_or_body(
    status: int, error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    calls: list[int] = []

    def handler(_request: httpx.Request) -> httpx.Response:
        calls.append(1)
        return httpx.Response(status, text=f"wrong key {KEY} for 我的秘密")

    with pytest.raises(error) as caught:
        await embedder(handler, dim=3).embed(["我的秘密"], "query")
    assert len(calls) == 1
    for secret in (KEY, "我的秘密", "hidden"):
        assert secret not in str(caught.value)
        assert not [
            record for record in caplog.records if record.name.startswith("memex") and secret in record.getMessage()
        ]


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ({"data": [{"index": 0, "embedding": [1, 0, 0, 0]}]}, SetupError, "EMBEDDING_DIM=4"),
        ({"data": []}, Unavailable, "0 vectors for 1 texts"),
        ({"data": [{"embedding": [1, 0, 0]}, {"embedding": [1, 0, 0]}]}, Unavailable, "2 vectors for 1 texts"),
        ({"data": [{"embedding": [1, None, 0]}]}, Unavailable, "finite"),
        ({"data": [{"embedding": ["x"]}]}, Unavailable, "no list of vectors"),
        ({"data": [{"embedding": [1, 0]}, {"embedding": [1]}]}, Unavailable, "no list of vectors"),
        ({"error": "busy"}, Unavailable, "no list of vectors"),
        ([1], Unavailable, "no list of vectors"),
    ],
)
async def test_a_wrong_answer_is_a_clear_error(body: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        await embedder(lambda _request: httpx.Response(200, json=body), dim=3).embed(["a"], "query")


async def test_many_texts_are_sent_in_several_requests_and_stay_in_order() -> None:
    sizes: list[int] = []

    def handler(request: httpx.Request) -> httpx.Response:
        texts = json.loads(request.content)["input"]
        sizes.append(len(texts))
        rows = [{"index": i, "embedding": [float(text), 1.0]} for i, text in enumerate(texts)]
        return httpx.Response(200, json={"data": rows})

    vectors = await embedder(handler, dim=2).embed([str(n) for n in range(150)], "passage")
    assert sizes == [64, 64, 22]
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], range(150), rtol=1e-5)


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("e5_small", "query: ", "passage: "),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("text-embedding-3-small", "", ""),
        ("bge-m3", "", ""),
        ("qwen3-embedding-0.6b-e5x", "", ""),
    ],
)
def test_models_that_were_trained_with_prefixes_get_them(model: str, query: str, passage: str) -> None:
    assert (role_prefix(model, "query"), role_prefix(model, "passage")) == (query, passage)


@pytest.mark.parametrize(
    ("attempt", "retry_after", "jitter", "delay_s"),
    [
        (1, None, 0.0, 0.125),
        (1, None, 0.5, 0.25),
        (2, None, 0.5, 0.5),
        (1, "2", 0.5, 2.0),
        (1, "3600", 0.5, 5.0),  # an endpoint cannot park a caller for an hour
        (1, "Wed, 21 Oct 2026 07:28:00 GMT", 0.5, 0.25),
        (9, None, 0.5, 5.0),
    ],
)
def test_the_wait_doubles_with_jitter_and_honours_retry_after(
    attempt: int, retry_after: str | None, jitter: float, delay_s: float
) -> None:
    assert retry_delay_s(attempt, retry_after, jitter) == delay_s
