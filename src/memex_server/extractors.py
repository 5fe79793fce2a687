"""Extraction for the service: the rules of `memex.extract`, or a language model at an endpoint, beside the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from memex.extract.lm import Endpoint, FirstThatWorks, LmExtractor, chat_answer, chat_request
from memex.extract.rules import Rules
from memex.extract.types import Extractor, Said
from memex.protocol.models import LmPolicy, PreExtracted
from memex.protocol.wire import Request
from memex.transport.http import HttpTransport, base_url_of

__all__ = ["ServiceExtractor", "model_at"]

_MAX_CHARS = 12_000  # of one record; more is a document, of which the end is read


class ServiceExtractor:
    """Implements `record_ports.FactExtractor` by rules, and by `model` where there is one."""

    def __init__(self, model: Extractor | None = None) -> None:
        self._by_rules = Rules()
        self._by_model = model
        self._at_best = self._by_rules if model is None else FirstThatWorks([model, self._by_rules])

    @property
    def has_model(self) -> bool:
        """See the port."""
        return self._by_model is not None

    async def extract(self, role: str, text: str, policy: LmPolicy) -> Sequence[PreExtracted]:
        """See the port."""
        extractor: Extractor = self._at_best
        if policy is LmPolicy.SKIP:
            extractor = self._by_rules
        elif policy is LmPolicy.FORCE and self._by_model is not None:
            extractor = self._by_model
        drafts = await asyncio.to_thread(extractor.extract, [Said(role, text)])
        return [PreExtracted(content=draft.content, keywords=draft.keywords, topic=draft.topic) for draft in drafts]


def model_at(base_url: str, *, api_key: str, model: str, deadline_s: float) -> Extractor:
    """Return the extractor that asks a model at an OpenAI-compatible endpoint; `deadline_s` is for one answer.

    Raises:
        SetupError: the address cannot be used.
    """
    endpoint = Endpoint(base_url_of(base_url, name="LLM_BASE_URL"), model, api_key)
    transport = HttpTransport(endpoint.base_url)

    def ask(chat: Sequence[Mapping[str, str]]) -> str:
        _, headers, body = chat_request(endpoint, chat)
        request = Request(operation="chat", method="POST", path="/chat/completions", body=body, headers=headers)
        answer = transport.send(request, timeout_s=deadline_s)
        return chat_answer(answer.status, answer.body)

    return LmExtractor("llm", ask, max_chars=_MAX_CHARS)
