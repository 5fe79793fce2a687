"""Rows, verdicts and the written report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from bench.harness.report import failed_row, machine_facts, row, text_table, write_report


@pytest.mark.parametrize(
    ("value", "floor", "sense", "holds"),
    [
        (3.0, 3.0, "at least", True),
        (2.99, 3.0, "at least", False),
        (40.0, 40.0, "at most", True),
        (40.1, 40.0, "at most", False),
        (0.0, 0.0, "at most", True),
        (1.0, None, "at least", None),
    ],
)
def test_a_row_holds_on_the_right_side_of_its_floor(
    value: float, floor: float | None, sense: Literal["at least", "at most"], holds: bool | None
) -> None:
    assert row("x", value, "ms", floor=floor, sense=sense).holds is holds


def test_what_was_not_measured_does_not_hold_and_says_why() -> None:
    failed = failed_row("big_scope", "no data in /nowhere")
    assert failed.holds is False
    assert failed.value is None
    assert "no data" in failed.detail


def test_the_report_has_every_row_the_machine_and_the_command(tmp_path: Path) -> None:
    rows = [row("検索 p95", 12.345, "ms", floor=40, sense="at most", detail="a|b"), failed_row("kill9", "why")]
    facts = machine_facts()
    path = write_report(tmp_path, rows, facts, "python -m bench", "2026-11-29", "one", latest=True)
    text = path.read_text(encoding="utf-8")
    assert "| 検索 p95 | 12.3 | ms | at most 40 | yes | a\\|b |" in text
    assert "| kill9 | - |" in text
    assert "not measured: why" in text
    assert "python -m bench" in text
    assert facts["versions"]["onnxruntime"] in text
    assert (tmp_path / "latest.md").read_text(encoding="utf-8") == text
    data = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert data["rows"][0]["value"] == 12.345
    assert data["machine"]["cores"] >= 1


def test_a_partial_run_does_not_become_the_latest(tmp_path: Path) -> None:
    write_report(tmp_path, [row("x", 1, "y")], {}, "c", "w", "part", latest=False)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["part.json", "part.md"]


def test_the_table_marks_what_does_not_hold() -> None:
    table = text_table([row("slow", 2, "x", floor=3), row("fast", 4, "x", floor=3)])
    lines = table.splitlines()
    assert lines[1].endswith("NO")
    assert lines[2].endswith("yes")
