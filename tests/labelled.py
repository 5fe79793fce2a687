"""The labelled sets of tests/data, and how well the rules do on them; the benchmarks print the same figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memex.core.importance import DEFAULT_THRESHOLD, rate

__all__ = ["LANGUAGES", "Score", "pairs", "rows", "score_contradictions", "score_gate", "score_pairs"]

LANGUAGES = ("en", "zh", "ja")
_DATA = Path(__file__).resolve().parent / "data"


@dataclass(frozen=True, slots=True)
class Score:
    """How often the positive answer was right, how many positives were found, and what was judged wrongly."""

    precision: float
    recall: float
    wrong: list[str]
    total: int


def rows(name: str) -> list[list[str]]:
    """The tab-separated fields of a file of tests/data."""
    return [line.split("\t") for line in (_DATA / f"{name}.tsv").read_text(encoding="utf-8").splitlines() if line]


def pairs(language: str) -> list[tuple[str, str, str]]:
    """Label (same, related, different), and two texts."""
    return [(label, a, b) for label, a, b in rows(f"pairs-{language}")]


def score_gate(name: str, rated: Callable[[str], float] | None = None) -> Score:
    """What a scorer, by default the rules, keeps of a set at the default threshold."""
    judge = rated or (lambda text: rate(text).value)
    return _score([(label == "keep", judge(text) >= DEFAULT_THRESHOLD, text) for label, text in rows(name)])


def score_pairs(language: str, same: Callable[[str, str], bool]) -> Score:
    """What a judge of pairs takes for the same."""
    return _score([(label == "same", same(a, b), f"{a} | {b}") for label, a, b in pairs(language)])


def score_contradictions(name: str, over: Callable[[str, str], bool]) -> Score:
    """What a judge of (new, old) takes for the end of the old one, in the pairs of a set."""
    told = rows(name)
    return _score([(label == "over", over(new, old), f"{old} | {new}") for label, old, new in told])


def _score(judged: list[tuple[bool, bool, str]]) -> Score:
    hits = sum(wanted and got for wanted, got, _ in judged)
    found, positives = sum(got for _, got, _ in judged), sum(wanted for wanted, _, _ in judged)
    wrong = [text for wanted, got, text in judged if wanted != got]
    return Score(hits / max(found, 1), hits / positives, wrong, len(judged))
