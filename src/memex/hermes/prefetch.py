"""Recall for the turn that begins: in the background, for exactly this question, waited for only so long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..core.fence import fenced
from ..core.text import terms
from ..protocol.models import Level, Record
from . import host

__all__ = ["Prefetch", "is_trivial", "lines", "normal"]

_MAX_OUTSTANDING = 3  # recalls that hang in a dead service; more would only pile up threads
_MAX_LINE_CHARS = 500
_MAX_BLOCK_CHARS = 4_000  # the host keeps the block in the history for good
_MAX_TRIVIAL_CHARS = 24
_TRIVIAL_WORDS = """
    ok okay k yes no y n yep nope sure thanks thank you thx ty hi hello hey bye good great nice cool fine done go
    continue stop next please 好 好的 嗯 是 是的 不 不是 对 谢谢 你好 您好 继续 可以 行 再见 はい いいえ うん
    ありがとう こんにちは おはよう 続けて 了解 わかりました お願いします
"""
_TRIVIAL = frozenset(_TRIVIAL_WORDS.split())


def normal(query: str) -> str:
    """Return the form in which two queries are the same."""
    return " ".join(query.split()).casefold()


def is_trivial(query: str) -> bool:
    """Whether a query asks for nothing that memory could answer: "ok", "谢谢", a slash command, only symbols."""
    text = normal(query).strip(" .!?,。！？、，~～")
    if not text or text.startswith("/") or not any(character.isalnum() for character in text):
        return True
    return len(text) <= _MAX_TRIVIAL_CHARS and all(word in _TRIVIAL for word in text.split())


def lines(records: Sequence[Record]) -> list[str]:
    """Return one line for each record, with its day; what an earlier line says already is left out."""
    shown: list[str] = []
    said: list[str] = []
    for record in records:
        text = " ".join(record.content.split())
        if any(text in earlier for earlier in said):
            continue
        said.append(text)
        role = str(record.payload.get("role") or "") if record.level is Level.RAW else ""
        about = [record.occurred_at.date().isoformat()] if record.occurred_at else []
        about += [f"{role} said"] if role else []
        cut = text if len(text) <= _MAX_LINE_CHARS else f"{text[: _MAX_LINE_CHARS - 1]}…"
        shown.append(f"[{', '.join(about)}] {cut}" if about else cut)
    return shown


@dataclass(slots=True)
class _Recall:
    """One recall under way. `records` None: it has not ended, or it failed."""

    query: str
    generation: int
    ended: threading.Event = field(default_factory=threading.Event)
    records: Sequence[Record] | None = None


class Prefetch:
    """Recalls by `recall(query)` in a thread. None from it is a failure, which is not "nothing is remembered"."""

    def __init__(
        self, recall: Callable[[str], Sequence[Record] | None], *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._recall = recall
        self._now = now
        self._lock = threading.Lock()
        self._generation = 0
        self._outstanding = 0
        self._current: _Recall | None = None
        self.count = 0  # of the last block, for the host's indicator

    def start(self, query: str) -> None:
        """Begin a recall, unless one for this query runs or is there, or too many hang."""
        if is_trivial(query) or not terms(query):
            return
        key = normal(query)
        with self._lock:
            current = self._current
            if (
                current is not None
                and current.query == key
                and not (current.ended.is_set() and current.records is None)
            ):
                return
            if self._outstanding >= _MAX_OUTSTANDING:
                return
            self._outstanding += 1
            begun = self._current = _Recall(key, self._generation)
        host.in_context(lambda: self._run(begun, query), "memex-recall")

    def block(self, query: str, wait_s: float) -> str:
        """Return the fenced block for `query`, waiting at most `wait_s`; "" if nothing was found in time."""
        deadline = self._now() + wait_s
        self.count = 0
        self.start(query)
        with self._lock:
            current = self._current
        if current is None or current.query != normal(query):
            return ""
        current.ended.wait(max(0.0, deadline - self._now()))
        with self._lock:
            if current.generation != self._generation or current.records is None:
                return ""
            records = current.records
            self._current = None  # told once; the same question later is asked again
        shown = lines(records)
        block = fenced(shown, max_chars=_MAX_BLOCK_CHARS)
        self.count = block.count("\n- ")
        return block

    def forget(self) -> None:
        """Drop what was recalled: another conversation begins, and a late answer must not reach it."""
        with self._lock:
            self._generation += 1
            self._current = None
            self.count = 0

    def _run(self, begun: _Recall, query: str) -> None:
        try:
            begun.records = self._recall(query)
        finally:
            begun.ended.set()
            with self._lock:
                self._outstanding -= 1
