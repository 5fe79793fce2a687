"""Memories as text for a prompt: one fenced, numbered block within a budget, and how to know such text again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from .claims import relation
from .fence import CLOSE, NOTE, OPEN, holds_recalled, inert, without_recalled
from .memory import Memory
from .passages import estimate_tokens
from .patterns import lazy
from .text import content_hash

__all__ = ["Rendered", "is_rendered", "render", "without_rendered"]

_MAX_COMPARED = 50  # memories of one block that are compared with each other by what they claim
_ELLIPSIS = "…"
_LEAST_LINE_TOKENS = 40  # a memory is cut to fit only if about this much of it can be shown

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LINE = lazy(
    rf"^[^\S\n]*(?:[-*>]\s*)?\d+\. \[(?:episodic|semantic|procedural), \d{{4}}-\d\d-\d\d, {_UUID}\].*$", re.MULTILINE
)
_NOTE_LINE = lazy(rf"^\s*{re.escape(NOTE)}\s*$", re.MULTILINE)
_STRAY = lazy(r"</?memex-memory>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A block of text, the ids of the memories in it in their order, and its estimated size in tokens."""

    text: str
    ids: Sequence[UUID]
    tokens: int


def render(memories: Iterable[Memory], *, token_budget: int) -> Rendered:
    """Return as many memories as fit into `token_budget` estimated tokens, in the order given (best first).

    Memories that say the same as one before them are left out. A line is cut only if it is the first
    that does not fit and a good part of it does. Without any memory the text is empty.
    """
    lines: list[str] = []
    shown: list[Memory] = []
    seen: set[bytes] = set()
    used = estimate_tokens(f"{OPEN}\n{NOTE}\n{CLOSE}\n")
    for memory in memories:
        key = content_hash(memory.content)
        if key in seen or any(relation(memory.content, m.content) == "equal" for m in shown[:_MAX_COMPARED]):
            continue
        head = f"{len(lines) + 1}. [{memory.memory_type.value}, {memory.occurred_at:%Y-%m-%d}, {memory.id}] "
        line = head + inert(memory.content)
        cost = estimate_tokens(line + "\n")
        if used + cost > token_budget:
            line = _cut(head, line, token_budget - used)
            if not line:
                continue
            cost = token_budget - used
        seen.add(key)
        shown.append(memory)
        lines.append(line)
        used += cost
    if not lines:
        return Rendered("", [], 0)
    text = "\n".join([OPEN, NOTE, *lines, CLOSE])
    return Rendered(text, [memory.id for memory in shown], estimate_tokens(text))


def is_rendered(text: str) -> bool:
    """Whether a text holds anything that `render` made."""
    return holds_recalled(text) or bool(_LINE.search(text) or _NOTE_LINE.search(text))


def without_rendered(text: str) -> str:
    """Return what a text holds beside what `render` made; empty if that was all."""
    text = without_recalled(text)
    for pattern in (_LINE, _NOTE_LINE, _STRAY):
        text = pattern.sub("", text)
    return text.strip()


def _cut(head: str, line: str, budget: int) -> str:
    """Return the beginning of `line` that costs at most `budget` tokens, or nothing if that is too little."""
    if budget < estimate_tokens(head) + _LEAST_LINE_TOKENS:
        return ""
    low, high = len(head), len(line)
    while low < high:  # the longest that fits
        middle = (low + high + 1) // 2
        if estimate_tokens(line[:middle] + _ELLIPSIS + "\n") <= budget:
            low = middle
        else:
            high = middle - 1
    return line[:low] + _ELLIPSIS
