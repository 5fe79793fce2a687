"""What a memory backend is to the agent's side: six calls, whatever carries them out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

from .models import (
    ExtractRequest,
    ExtractResult,
    Health,
    LinkRequest,
    LinkResult,
    RecallRequest,
    RecallResult,
    Record,
    StoreRequest,
    StoreResult,
)

__all__ = ["Backend"]


class Backend(ABC):
    """Six calls, from any thread. They block, and raise only `memex.protocol.errors`.

    What a caller did wrong is InvalidInput, NotFound, Conflict or TooLarge; Unauthorized and
    Forbidden mean that the settings are wrong; RateLimited and Unavailable pass, so the call may be tried again later.
    """

    name: str = "backend"

    @abstractmethod
    def health(self) -> Health:
        """Return how the backend is. Raises Unavailable when it cannot be asked."""

    @abstractmethod
    def store(self, request: StoreRequest) -> StoreResult:
        """Keep a record durably before returning.

        The same text on the same level is one record: it keeps its id and takes the later `occurred_at`.
        """

    @final
    def recall(self, request: RecallRequest) -> RecallResult:
        """Return what answers the request: score descending, then created_at descending, then id.

        A request without a keyword and without a query is answered here: with nothing.
        """
        return RecallResult() if request.is_empty else self._recall(request)

    @abstractmethod
    def _recall(self, request: RecallRequest) -> RecallResult:
        """Answer a request that asks for something."""

    @abstractmethod
    def get(self, memory_id: str) -> Record:
        """Return one record of any level. Raises NotFound."""

    @abstractmethod
    def link(self, request: LinkRequest) -> LinkResult:
        """Make an edge between two records, or find it made. Raises NotFound when an end is missing."""

    @abstractmethod
    def extract(self, request: ExtractRequest) -> ExtractResult:
        """Extract facts from records that wait for it, now."""

    def close(self) -> None:  # noqa: B027 - most backends hold nothing
        """Release what the backend holds. Safe to call twice."""
