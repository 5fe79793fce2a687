"""Embeds by any endpoint that speaks OpenAI's embeddings call."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from memex.protocol.errors import InvalidInput, SetupError, Unavailable

from ..ports import FloatArray, ModelCard, Role
from .base import pool, split_text, token_estimate

__all__ = ["HttpEmbedder", "retry_delay_s", "role_prefix"]

_PARTS_PER_REQUEST = 64
# Most models end at 512 tokens, and endpoints cut what is longer without a word; this leaves room for a wrong estimate.
_PART_TOKENS = 400
_ATTEMPTS = 3
_LONGEST_DELAY_S = 5.0
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})

# Models that were trained with a different prefix for the two roles, by a part of their name.
_PREFIXES: dict[str, dict[Role, str]] = {
    "e5": {"query": "query: ", "passage": "passage: "},
    "nomic-embed": {"query": "search_query: ", "passage": "search_document: "},
}


def role_prefix(model: str, role: Role) -> str:
    """Return what the model wants to see before a text of this role."""
    name = model.lower()
    words = name.replace("/", "-").replace("_", "-").split("-")
    for part, prefixes in _PREFIXES.items():
        if part in words or ("-" in part and part in name):
            return prefixes[role]
    return ""


def retry_delay_s(attempt: int, retry_after: str | None, jitter: float) -> float:
    """Return how long to wait before attempt number `attempt` + 1 (from 1); `jitter` is in [0, 1).

    The endpoint's own Retry-After in seconds counts when it is longer, up to a limit.
    """
    delay = 0.25 * 2.0 ** (attempt - 1) * (0.5 + jitter)
    asked = float(retry_after) if retry_after and retry_after.isdecimal() else 0.0
    return min(max(delay, asked), _LONGEST_DELAY_S)


class HttpEmbedder:
    """A model behind an HTTP endpoint. The API key appears in no error and no log."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str = "",
        dim: int = 0,
        timeout_s: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._place = _place(base_url)
        self._model = model
        self._dim = dim
        self._sleep = sleep
        self._jitter = jitter
        self._asked = False
        self._asking = asyncio.Lock()
        self._closed = False
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, 5.0)),
            transport=transport,
        )

    @property
    def card(self) -> ModelCard:
        """The model's card. Of a foreign model nothing is known but its name, so the calibration is a guess.

        Raises:
            Unavailable: the dimension was not given and `load` has not asked for it yet.
        """
        if not self._dim:
            raise Unavailable(
                f"the dimension of {self._model} is not known yet; set EMBEDDING_DIM to start without asking"
            )
        return ModelCard(
            id=f"openai:{self._model}",
            dim=self._dim,
            max_tokens=_PART_TOKENS,
            languages="as the model",
            similarity_floor=0.2,
            similarity_ceiling=0.9,
            duplicate_threshold=0.92,
        )

    @property
    def loaded(self) -> bool:
        """Whether the endpoint has answered once."""
        return self._asked

    async def load(self) -> None:
        """Ask the endpoint for one vector, which tells the dimension if it was not given.

        Raises:
            SetupError: the endpoint refuses, or answers with another dimension than EMBEDDING_DIM.
            Unavailable: it does not answer now.
        """
        async with self._asking:
            if not self._asked:
                vectors = await self._request(["dimension"])
                self._dim = self._dim or vectors.shape[1]
                self._check(vectors)
                self._asked = True

    async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
        """Return one normalised vector per text; long texts are split and pooled.

        Raises:
            Unavailable: the endpoint does not answer, or answers nonsense.
            InvalidInput: it refuses these texts.
            SetupError: it refuses the key or the model, or gives another dimension than expected.
        """
        if self._closed:
            raise Unavailable("the embedder is closed")
        if not self._dim:
            await self.load()
        if not texts:
            return np.empty((0, self._dim), dtype=np.float32)
        prefix = role_prefix(self._model, role)
        parts = [(index, part) for index, text in enumerate(texts) for part in split_text(text, _PART_TOKENS)]
        rows = []
        for chunk in _chunks(parts, _PARTS_PER_REQUEST):
            rows.append(await self._request([prefix + part or " " for _, part in chunk]))
            self._check(rows[-1])
        owners = [index for index, _ in parts]
        weights = [token_estimate(part) + 1 for _, part in parts]
        self._asked = True
        return pool(np.concatenate(rows), owners, weights, len(texts))

    async def close(self) -> None:
        """Close the connections."""
        self._closed = True
        await self._client.aclose()

    def _check(self, vectors: FloatArray) -> None:
        if vectors.shape[1] != self._dim:
            raise SetupError(
                f"{self._place} answers for {self._model} with vectors of dimension {vectors.shape[1]}, expected "
                f"{self._dim}: set EMBEDDING_DIM={vectors.shape[1]}, or another EMBEDDING_MODEL"
            )

    async def _request(self, texts: list[str]) -> FloatArray:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        attempt = 0
        while True:
            attempt += 1
            response, failure = await self._post(body)
            if response is not None and response.status_code not in _RETRIED:
                return _vectors(_accepted(response, self._place, self._model), len(texts), self._place)
            if attempt == _ATTEMPTS:
                reason = type(failure).__name__ if response is None else f"status {response.status_code}"
                raise Unavailable(f"the embedding endpoint {self._place} does not answer ({reason})") from failure
            after = response.headers.get("retry-after") if response is not None else None
            await self._sleep(retry_delay_s(attempt, after, self._jitter()))

    async def _post(self, body: dict[str, Any]) -> tuple[httpx.Response | None, httpx.TransportError | None]:
        try:
            return await self._client.post(self._url, json=body), None
        except httpx.TransportError as e:
            return None, e


def _place(base_url: str) -> str:
    """Return scheme, host and port: the URL's user, password and query may be secrets."""
    parts = urlsplit(base_url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}"


def _accepted(response: httpx.Response, place: str, model: str) -> httpx.Response:
    # The body is not quoted: services repeat the key or the text in it.
    status = response.status_code
    if status in {401, 403}:
        raise SetupError(f"the embedding endpoint {place} refuses the key (status {status}): check EMBEDDING_API_KEY")
    if status in {404, 405}:
        raise SetupError(
            f"the embedding endpoint {place} has no such call or no model {model!r} (status {status}): "
            "check EMBEDDING_BASE_URL and EMBEDDING_MODEL"
        )
    if status in {400, 413, 422}:
        raise InvalidInput(f"the embedding endpoint {place} refuses the text (status {status})")
    if not response.is_success:
        raise Unavailable(f"the embedding endpoint {place} answers with status {status}")
    return response


def _vectors(response: httpx.Response, count: int, place: str) -> FloatArray:
    try:
        rows: list[dict[str, Any]] = response.json()["data"]
        ordered = sorted(enumerate(rows), key=lambda pair: int(pair[1].get("index", pair[0])))
        vectors = np.array([row["embedding"] for _, row in ordered], dtype=np.float32)
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise Unavailable(f"the embedding endpoint {place} answers with something that is no list of vectors") from e
    if len(vectors) != count:
        raise Unavailable(f"the embedding endpoint {place} answers with {len(vectors)} vectors for {count} texts")
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise Unavailable(f"the embedding endpoint {place} answers with vectors that are not finite numbers")
    return vectors


def _chunks(parts: list[tuple[int, str]], size: int) -> Iterator[list[tuple[int, str]]]:
    for start in range(0, len(parts), size):
        yield parts[start : start + size]
