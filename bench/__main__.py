"""`python -m bench [NAME...] [--quick]`: run measurements, print the table, write it to bench/results."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.environment import Environment
from bench.harness.report import Row, failed_row, machine_facts, text_table, write_report
from bench.measures import MEASURES, OPTIONAL

__all__ = ["main"]

_HERE = Path(__file__).resolve().parent
_CONVERSATIONS = _HERE.parent.parent / "shared" / "bench" / "data"


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 if everything that was measured holds, 1 otherwise."""
    options = _parser().parse_args(argv)
    names = options.names or [name for name in MEASURES if name not in OPTIONAL]
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are: {', '.join(MEASURES)}", file=sys.stderr)
        return 2
    command = "python -m bench " + " ".join([*options.names, *(["--quick"] if options.quick else [])])
    facts = machine_facts()
    work_dir = Path(options.work_dir or tempfile.mkdtemp(prefix="memex-bench-"))
    work_dir.mkdir(parents=True, exist_ok=True)
    env = Environment(work_dir=work_dir, conversations=options.conversations, quick=options.quick, seed=options.seed)
    rows: list[Row] = []
    try:
        for name in names:
            rows += _run(name, env)
    finally:
        if not options.work_dir:
            shutil.rmtree(work_dir, ignore_errors=True)
    facts["load_average_1min_after"] = machine_facts()["load_average_1min"]
    when = datetime.now(UTC)
    stem = when.strftime("%Y-%m-%d" if not options.names and not options.quick else "%Y-%m-%d-%H%M%S-partial")
    report = write_report(
        options.results,
        rows,
        facts,
        command.strip(),
        when.strftime("%Y-%m-%d %H:%M UTC"),
        stem,
        latest=not options.names and not options.quick,
    )
    print(f"\n{text_table(rows)}\n\nwritten to {report}")
    return 1 if any(r.holds is False for r in rows) else 0


def _run(name: str, env: Environment) -> list[Row]:
    print(f"{name} ...", file=sys.stderr, flush=True)
    started = time.perf_counter()
    rows: list[Row]
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            rows = runner.run(MEASURES[name](env))
    except Exception as e:  # noqa: BLE001 - one measurement that fails must not cost the others; its row says why
        traceback.print_exc()
        rows = [failed_row(name, f"{type(e).__name__}: {e}")]
    print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    again = f"python -m bench {name}{' --quick' if env.quick else ''}"
    rows = [dataclasses.replace(r, command=again) for r in rows]
    print(text_table(rows), file=sys.stderr, flush=True)
    return rows


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # not on Windows
        return None
    return uvloop.new_event_loop


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(MEASURES)}")
    parser.add_argument("--quick", action="store_true", help="small: shows that it runs; not to quote")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work-dir", help="keep data and logs here (default: a temporary folder, removed at the end)")
    parser.add_argument("--conversations", type=Path, default=_CONVERSATIONS, help="folder of the public conversations")
    parser.add_argument("--results", type=Path, default=_HERE / "results", help="where the reports go")
    return parser


if __name__ == "__main__":
    sys.exit(main())
