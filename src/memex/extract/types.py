"""What extraction takes and gives, and what an executor is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ..protocol.models import Level, LmPolicy, PreExtracted, StoreRequest

__all__ = ["EXTRACTION_TRIGGERS", "Extractor", "FactDraft", "Said", "store_request"]


# The `trigger` in the payload of facts that a machine took out of a conversation.
EXTRACTION_TRIGGERS = frozenset({"turn", "session_end", "pre_compress", "extract"})


@dataclass(frozen=True, slots=True)
class Said:
    """One utterance: who ("user", "assistant") and what."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDraft:
    """A fact before it is stored: one statement that stands on its own, the words that find it, its topic."""

    content: str
    keywords: tuple[str, ...] = ()
    topic: str = ""


class Extractor(Protocol):
    """Makes facts of a conversation."""

    @property
    def name(self) -> str:
        """What it is called in settings and in the queue."""

    def extract(self, said: Sequence[Said]) -> list[FactDraft]:
        """Return the facts, [] if there are none.

        Raises:
            Unavailable, RateLimited: it cannot work now.
            SetupError: it cannot work as configured.
        """


def store_request(
    draft: FactDraft, *, occurred_at: datetime, source_type: str, trigger: str, origin: dict[str, str]
) -> StoreRequest:
    """Return the request that stores a draft as a fact which nobody extracts from again (L2 contract 2.1)."""
    return StoreRequest(
        content=draft.content,
        occurred_at=occurred_at,
        source_type=source_type,
        level=Level.FACT,
        pre_extracted=PreExtracted(content=draft.content, keywords=draft.keywords, topic=draft.topic),
        lm_policy=LmPolicy.SKIP,
        payload={"trigger": trigger, **origin},
    )
