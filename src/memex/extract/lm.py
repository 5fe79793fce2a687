"""Executors that ask a language model: the host's own (`session_lm`) or an endpoint (`http_lm`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..protocol.errors import RateLimited, SetupError, Unavailable
from .parse import messages, parse_facts
from .types import Extractor, FactDraft, Said

__all__ = ["Ask", "Endpoint", "FirstThatWorks", "LmExtractor", "chat_answer", "chat_request"]

Ask = Callable[[Sequence[Mapping[str, str]]], str]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint. The key goes to this address and nowhere else; "" sends none."""

    base_url: str
    model: str
    key: str = ""


class LmExtractor:
    """Asks a model by `ask` (messages in, text out), and reads its answer."""

    def __init__(self, name: str, ask: Ask, *, max_chars: int) -> None:
        self.name = name
        self._ask = ask
        self._max_chars = max_chars

    def extract(self, said: Sequence[Said]) -> list[FactDraft]:
        """Ask once. An answer that is no JSON counts as an outage of the model: the next may be one."""
        if not said:
            return []
        answer = self._ask(messages(said, self._max_chars))
        try:
            return parse_facts(answer)
        except ValueError as e:
            raise Unavailable(str(e)) from e


class FirstThatWorks:
    """Asks one executor after the other until one answers (`auto`)."""

    name = "auto"

    def __init__(self, extractors: Sequence[Extractor]) -> None:
        self._extractors = extractors

    def extract(self, said: Sequence[Said]) -> list[FactDraft]:
        """Return the first answer. Raises what the last one raised."""
        for extractor in self._extractors[:-1]:
            try:
                return extractor.extract(said)
            except (Unavailable, RateLimited, SetupError):
                continue
        return self._extractors[-1].extract(said)


def chat_request(endpoint: Endpoint, chat: Sequence[Mapping[str, str]]) -> tuple[str, dict[str, str], bytes]:
    """Return address, headers and body of a chat completion."""
    headers = {"Content-Type": "application/json"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    body = {"model": endpoint.model, "messages": list(chat), "temperature": 0, "stream": False}
    return f"{endpoint.base_url.rstrip('/')}/chat/completions", headers, json.dumps(body).encode()


def chat_answer(status: int, body: bytes) -> str:
    """Return the text of a chat completion.

    Raises:
        SetupError: the key, the address or the model is wrong (401, 403, 404, 400, 422).
        RateLimited: 429.
        Unavailable: any other status, or no completion.
    """
    if status == 429:
        raise RateLimited("the model's endpoint says 429", limit=0, remaining=0, retry_after_s=60.0)
    if status in {400, 401, 403, 404, 422}:
        raise SetupError(f"the model's endpoint says {status}: check address, key and model of the extraction")
    if status != 200:
        raise Unavailable(f"the model's endpoint says {status}")
    try:
        message = json.loads(body)["choices"][0]["message"]
        return str(message.get("content") or message.get("reasoning_content") or "")
    except (ValueError, LookupError, TypeError, AttributeError) as e:
        raise Unavailable("the model's endpoint did not answer with a chat completion") from e
