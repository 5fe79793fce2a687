"""Writes what was measured as a page and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

__all__ = ["COLUMNS", "Scores", "header", "line", "write_page", "write_picture"]

Scores = Mapping[str, Sequence[float]]
# R@10 of each set, and more of locomo.
COLUMNS = (
    "locomo", "R@5", "MRR", "multi-hop", "beam-100k", "realmem", "memorybank-en", "memorybank-zh",
    "memorybank-q.zh-m.en", "madial-zh", "jsquad",
)  # fmt: skip
_BASELINES = ("keyword alone", "meaning alone", "as shipped")

_PAGE = """# Retrieval, as measured

Made by `python -m bench.fit --report` (`--ablation` adds a row without each signal), which needs the public
conversations beside the checkout.
Development halves, one configuration for all, no LLM, no network; R@10 in percent unless the column says
otherwise. Through REST the same is measured by `python -m bench retrieval` (last run: `results/`).

![R@10 of each set](retrieval.svg)

{table}

- *fitted*: anew, by the softmax loss over candidates. *polished*: what ships, changed weight by weight for R@10
  itself, as long as recency earns 2.8 points on realmem and no set falls below its floor; `--write` makes it ship.
  The other rows are fitted.
- *left out, 5 folds*: fitted again without the conversations that are scored.
- *kind of data left out*: fitted again without the whole set and its like: what to expect of conversations
  unlike all of these.
- *recency x n*: with n times the shipped weight of recency.
- *without ...* (with `--ablation`): fitted again (5 folds) without that signal: what it is worth.

What each signal is and why it holds for any conversation stands in `docs/howto/ranking.md`.
"""


def header() -> str:
    """Return the head of the table."""
    return "| R@10 | " + " | ".join(COLUMNS) + " |\n|---|" + "---:|" * len(COLUMNS)


def line(what: str, scores: Scores) -> str:
    """Return one line of the table."""
    cells = []
    for column in COLUMNS:
        mean = float(np.mean(scores[column])) if column in scores else None
        cells.append("" if mean is None else f"{mean:.3f}" if column == "MRR" else f"{100 * mean:.1f}")
    return f"| {what} | " + " | ".join(cells) + " |"


def write_page(rows: Mapping[str, Scores], path: Path) -> None:
    """Write the table with what it means."""
    table = "\n".join([header(), *(line(what, scores) for what, scores in rows.items())])
    path.write_text(_PAGE.format(table=table), encoding="utf-8")


def write_picture(rows: Mapping[str, Scores], path: Path) -> None:
    """Draw R@10 of each set: the two single signals and the ranking as shipped."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    sets = [column for column in COLUMNS if column not in {"R@5", "MRR"} and column in rows[_BASELINES[0]]]
    mpl.rcParams["svg.hashsalt"] = "memex"  # the same picture from the same figures
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(_BASELINES)
    for i, (what, colour) in enumerate(zip(_BASELINES, ("#b8c4ce", "#7a92a8", "#1f4e79"), strict=True)):
        heights = [100 * float(np.mean(rows[what][column])) for column in sets]
        bars = axes.bar([x + (i - 1) * width for x in range(len(sets))], heights, width, label=what, color=colour)
        axes.bar_label(bars, fmt="%.0f", fontsize=7)
    axes.set_xticks(range(len(sets)), sets, rotation=20, ha="right", fontsize=8)
    axes.set_ylabel("R@10 (%)")
    axes.set_ylim(0, 112)
    axes.legend(ncols=len(_BASELINES), loc="upper left", frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="svg", metadata={"Date": None})
