"""Extraction for the service: the rules of `memex.extract`, or a language model at an endpoint, beside the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memex.extract.rules import Rules
from memex.extract.types import Extractor, Said
from memex.protocol.models import PreExtracted

__all__ = ["ServiceExtractor"]


class ServiceExtractor:
    """Implements `record_ports.FactExtractor` by rules, and by `model` where there is one."""

    def __init__(self, model: Extractor | None = None) -> None:
        self._rules = Rules()
        self._model = model

    @property
    def has_model(self) -> bool:
        """See the port."""
        return self._model is not None

    async def extract(self, role: str, text: str, *, by_rules: bool) -> Sequence[PreExtracted]:
        """See the port."""
        extractor = self._rules if by_rules or self._model is None else self._model
        drafts = await asyncio.to_thread(extractor.extract, [Said(role, text)])
        return [PreExtracted(content=draft.content, keywords=draft.keywords, topic=draft.topic) for draft in drafts]
