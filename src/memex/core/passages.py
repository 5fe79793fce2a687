"""Splitting long texts at the ends of paragraphs and sentences, in English, Chinese and Japanese."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .patterns import lazy

__all__ = ["Span", "estimate_tokens", "passages", "sentences"]

# What one character costs in tokens of a multilingual SentencePiece vocabulary, by kind.
_TOKENS_PER_LETTER = 1 / 4.2
_TOKENS_PER_WIDE = 1 / 1.6  # Han, kana, Hangul
_TOKENS_PER_DIGIT = 1 / 2
_TOKENS_PER_SYMBOL = 1.0

_WIDE = lazy("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U000323af]")
_DIGIT = lazy(r"\d")
_SYMBOL = lazy(r"[^\w\s]|_")

# A sentence ends at CJK end marks with the brackets that close after them, at a line end, or at
# Latin end marks before a space (so not within "3.11" or "example.com").
_ENDS = lazy(
    "[。！？｡…]+[」』”’）)】》\"']*"
    r"|(?<!\b[A-Z])(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bMrs)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)"
    "[.!?]+[\"'”’)\\]]*(?=\\s|\\Z)"
    r"|\n"
)
_PARAGRAPH_END = lazy(r"\n[^\S\n]*\n\s*\Z")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text: `text[start:end]`."""

    start: int
    end: int


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` costs; rather too many than too few."""
    return int(_cost(text)) + 1


def _cost(text: str) -> float:
    """Additive: the cost of two parts is the cost of the whole, so that sums of units hold."""
    wide = len(_WIDE.findall(text))
    digits = len(_DIGIT.findall(text))
    symbols = len(_SYMBOL.findall(text))
    letters = len(text) - wide - digits - symbols
    return (
        wide * _TOKENS_PER_WIDE
        + digits * _TOKENS_PER_DIGIT
        + symbols * _TOKENS_PER_SYMBOL
        + letters * _TOKENS_PER_LETTER
    )


def passages(text: str, *, max_tokens: int = 256, overlap: int = 0) -> list[Span]:
    """Split `text` into spans of at most `max_tokens` estimated tokens; together they cover it.

    Spans end at paragraphs where that leaves them at least half full, else at sentences, else
    (no sentence end in reach) between words or characters. `overlap` is how many tokens of whole
    sentences a span may repeat from the one before it. A short text, also an empty one, is one span.

    Raises:
        ValueError: `max_tokens` is below 8 or `overlap` is not below half of it.
    """
    if max_tokens < 8 or not 0 <= overlap <= max_tokens // 2:
        raise ValueError(f"max_tokens={max_tokens} must be >= 8 and overlap={overlap} within 0..max_tokens / 2")
    if _cost(text) < max_tokens:
        return [Span(0, len(text))]
    units = [unit for span in _sentence_spans(text) for unit in _cut(text, span, max_tokens)]
    costs = [_cost(text[unit.start : unit.end]) for unit in units]
    spans: list[Span] = []
    first = done = 0  # units[first:done] are repeated from the span before
    while done < len(units):
        last, total = done, sum(costs[first:done])
        while last < len(units) and total + costs[last] < max_tokens:
            total += costs[last]
            last += 1
        if last < len(units):
            last = _paragraph_end(text, units, costs, (first, done, last), max_tokens / 2)
        spans.append(Span(units[first].start, units[last - 1].end))
        done = last
        first = _overlap_start(costs, first, done, overlap, max_tokens)
    return spans


def _paragraph_end(text: str, units: list[Span], costs: list[float], window: tuple[int, int, int], least: float) -> int:
    first, done, last = window
    total = sum(costs[first:last])
    for end in range(last, done, -1):
        if total < least:
            break
        if _PARAGRAPH_END.search(text, units[end - 1].start, units[end - 1].end):
            return end
        total -= costs[end - 1]
    return last


def _overlap_start(costs: list[float], first: int, done: int, overlap: int, max_tokens: int) -> int:
    start, total = done, 0.0
    following = costs[done] if done < len(costs) else 0.0
    while start - 1 > first:
        total += costs[start - 1]
        if total > overlap or total + following >= max_tokens:
            break
        start -= 1
    return start


def _cut(text: str, span: Span, max_tokens: int) -> Iterator[Span]:
    """Yield `span` in pieces below the budget, each ending after a space if one is near its end."""
    start = span.start
    while True:
        # No more characters than this can fit, whatever they are.
        reach = min(span.end, start + int(max_tokens / _TOKENS_PER_LETTER) + 1)
        while (cost := _cost(text[start:reach])) >= max_tokens:
            reach = start + max(1, int((reach - start) * min(0.9, (max_tokens - 1) / cost)))
        if reach == span.end:
            yield Span(start, reach)
            return
        for space in range(reach, start + (reach - start) * 3 // 4, -1):
            if text[space - 1].isspace():
                reach = space
                break
        yield Span(start, reach)
        start = reach


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, trimmed, without empty ones."""
    return [part for span in _sentence_spans(text) if (part := text[span.start : span.end].strip())]


def _sentence_spans(text: str) -> Iterator[Span]:
    """Yield spans that cover `text` without gaps; the space after a sentence belongs to it."""
    start = 0
    for match in _ENDS.finditer(text):
        end = match.end()
        while end < len(text) and text[end].isspace():
            end += 1
        if end > start:
            yield Span(start, end)
            start = end
    if start < len(text):
        yield Span(start, len(text))
