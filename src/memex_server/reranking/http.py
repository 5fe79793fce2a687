"""Reranks by an HTTP endpoint: Cohere, Jina, vLLM, llama.cpp, or Hugging Face's text-embeddings-inference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np

from memex.protocol.errors import SetupError, Unavailable

from .scores import sigmoid

__all__ = ["HttpReranker"]

_HINTS = {
    401: ": check MEMEX_RERANKER_API_KEY",
    403: ": check MEMEX_RERANKER_API_KEY",
    404: ": check MEMEX_RERANKER_BASE_URL and MEMEX_RERANKER_MODEL",
    405: ": check MEMEX_RERANKER_BASE_URL",
}


class HttpReranker:
    """A reranker behind `{base_url}/rerank`. The API key appears in no error and no log.

    An endpoint that serves many models is asked by the name of one, in the form that Cohere
    introduced; without a name, in that of text-embeddings-inference, which serves one. Nothing is
    tried twice: the fused order is there already.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str = "",
        timeout_s: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`timeout_s` only bounds what a caller without a deadline waits. Raises SetupError for a bad address."""
        self._url = _address(base_url)
        self._place = f"{self._url.scheme}://{self._url.netloc.decode()}"  # no user, password or query
        self._model = model
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {}, timeout=timeout_s, transport=transport
        )

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score between 0 and 1 for each text, higher is better.

        Raises:
            Unavailable: the reranker is closed; the endpoint does not answer, refuses, or answers nonsense.
        """
        if self._client.is_closed:
            raise Unavailable("the reranker is closed")
        if not texts:
            return []
        body: dict[str, Any] = {"query": query}
        if self._model:
            body |= {"model": self._model, "documents": list(texts), "top_n": len(texts)}
        else:
            body |= {"texts": list(texts)}
        try:
            response = await self._client.post(self._url, json=body)
        except httpx.TransportError as e:
            raise Unavailable(f"the reranking endpoint {self._place} does not answer ({type(e).__name__})") from e
        if not response.is_success:  # the body is not quoted: services repeat the key or the text in it
            status = response.status_code
            raise Unavailable(
                f"the reranking endpoint {self._place} answers with status {status}{_HINTS.get(status, '')}"
            )
        try:
            return _scores(response.json(), len(texts))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as e:
            raise Unavailable(
                f"the reranking endpoint {self._place} does not answer with one score for each of {len(texts)} texts"
            ) from e

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _address(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as e:
        raise SetupError("MEMEX_RERANKER_BASE_URL is no URL; expected e.g. http://127.0.0.1:8080/v1") from e
    if url.scheme not in {"http", "https"} or not url.host:
        raise SetupError("MEMEX_RERANKER_BASE_URL: expected http:// or https://, e.g. http://127.0.0.1:8080/v1")
    return url.copy_with(path=f"{url.path.rstrip('/')}/rerank")


def _scores(answer: Any, count: int) -> list[float]:
    """Return the scores in the order of the texts; raises ValueError and its like for anything but one for each."""
    rows = answer["results"] if isinstance(answer, dict) else answer
    found: dict[int, float] = {}
    for row in rows:
        score = row["relevance_score"] if "relevance_score" in row else row["score"]
        if type(row["index"]) is not int or type(score) not in {int, float} or not math.isfinite(score):
            raise ValueError("an index or a score is no number")
        found[row["index"]] = float(score)
    if len(rows) != count or found.keys() != set(range(count)):
        raise ValueError("some texts have no score")
    scores = [found[at] for at in range(count)]
    # Some servers (llama.cpp) hand out the model's logits as they are.
    if min(scores) < 0 or max(scores) > 1:
        scores = sigmoid(np.array(scores)).tolist()
    return scores
