"""Agent and cron job on one queue at once, and a kill in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memex.config import load
from memex.extract.pipeline import MAX_ATTEMPTS, TURN, work_of_said
from memex.extract.queue import Queue, Status
from memex.extract.types import Said
from memex.hermes.assembly import assemble, open_queue
from memex.hermes.status import report
from memex.protocol.models import RecallRequest
from tests.hermes.support import wait_for

pytestmark = pytest.mark.timeout(120)
_TURNS = 40

# Works the queue off with an executor that tells of each call, and is slow enough to be killed at it.
_WORKER = """
import os, sys, threading
from pathlib import Path
from memex.config import load
from memex.extract.pipeline import Pipeline
from memex.extract.types import FactDraft
from memex.hermes.assembly import open_backend, open_queue
from datetime import UTC, datetime
home, log = Path(sys.argv[1]), sys.argv[2]
class Slow:
    name = "slow"
    def extract(self, said):
        with open(log, "a") as file: file.write(f"{os.getpid()} {said[0].text}\\n")
        threading.Event().wait(0.02)
        return [FactDraft(content=f"Fact: {said[0].text}", keywords=(said[0].text.split()[-1],))]
config = load(home, {})
queue, backend = open_queue(config), open_backend(config)
pipeline = Pipeline(queue, backend, extractor=Slow(), planner=None, source_type="memory", clock=lambda: datetime.now(UTC))
print("ready", flush=True)
while queue.stats()["open"]:
    pipeline.extract(limit=5)
"""


def fill(home: Path) -> Queue:
    home.mkdir(exist_ok=True)
    queue = open_queue(load(home, {}))
    for number in range(_TURNS):
        said = [Said("user", f"turn number {number}")]
        queue.put(TURN, work_of_said(said, occurred_at=datetime.now(UTC), trigger="turn", origin={"session_id": "s1"}))
    return queue


def worker(home: Path, log: Path) -> subprocess.Popen[str]:
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _WORKER, str(home), str(log)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def facts(tmp_path: Path) -> Callable[[], list[str]]:
    def read() -> list[str]:
        parts = assemble(load(tmp_path, {}), {})
        try:
            return sorted(
                record.content
                for number in range(_TURNS)
                for record in parts.backend.recall(RecallRequest(keywords=[str(number)], top_k=50)).records
                if record.content == f"Fact: turn number {number}"
            )
        finally:
            parts.close()

    return read


def test_two_processes_and_a_kill_extract_each_turn_once(tmp_path: Path, facts: Callable[[], list[str]]) -> None:
    queue = fill(tmp_path)
    log = tmp_path / "calls"
    log.touch()
    first, second = worker(tmp_path, log), worker(tmp_path, log)
    wait_for(lambda: len(log.read_text(encoding="utf-8").splitlines()) >= 8, 30)
    busy = int(log.read_text(encoding="utf-8").splitlines()[-1].split()[0])
    victim, other = (first, second) if first.pid == busy else (second, first)
    os.kill(victim.pid, signal.SIGKILL)
    _, err = other.communicate(timeout=60)
    victim.communicate(timeout=10)

    assert (other.returncode, err) == (0, "")
    entries = queue.entries()
    assert Counter(entry.status for entry in entries) == {Status.DONE: _TURNS}
    calls = Counter(line.partition(" ")[2] for line in log.read_text(encoding="utf-8").splitlines())
    repeated = [text for text, count in calls.items() if count > 1]
    assert len(calls) == _TURNS
    assert len(repeated) <= 1  # what the killed one was at; its model call gave nothing
    assert facts() == sorted(f"Fact: turn number {number}" for number in range(_TURNS))


def test_a_turn_that_kills_its_worker_again_and_again_is_given_up_with_the_reason(tmp_path: Path) -> None:
    queue = open_queue(load(tmp_path, {}))
    queue.put(TURN, work_of_said([Said("user", "poison")], occurred_at=datetime.now(UTC), trigger="turn", origin={}))
    for _ in range(MAX_ATTEMPTS):  # each one dies between claim and end
        with queue.lane("extract", frozenset({TURN})) as lane:
            assert lane is not None
            lane.claim(lane.open_entries()[0])
    (tmp_path / "memex.json").write_text(json.dumps({"extract_backend": "rules"}), encoding="utf-8")
    parts = assemble(load(tmp_path, {}), {})
    assert parts.pipeline.extract().failed == 1
    parts.close()
    (entry,) = queue.entries()
    assert entry.status is Status.FAILED
    assert entry.error == f"interrupted {MAX_ATTEMPTS} times: the process ended while at it"


def test_the_cron_command_is_silent_and_shows_the_queue(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "memex.json").write_text(json.dumps({"extract_backend": "rules"}), encoding="utf-8")

    def memex(*words: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(sys.path), "HERMES_HOME": str(tmp_path)}
        command = [sys.executable, "-m", "memex.cli", "extract", *words]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)

    silent = memex("--once", "--quiet", "--limit", "30")
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")
    shown = memex("--once")
    assert shown.stdout.startswith("delivered 0, extracted 10 into 0 facts, failed 0, waiting 0")
    stats = json.loads(memex("--stats").stdout)
    assert stats["kinds"] == {"turn": {"done": _TURNS}}
    assert memex("--limit", "0").returncode == 2


def test_looking_at_the_queue_creates_nothing(tmp_path: Path) -> None:
    config = load(tmp_path / "none", {})
    assert open_queue(config).stats()["open"] == 0
    assert report(replace(config, backend_enabled="false"))["queue"]["open"] == 0
    assert not (tmp_path / "none").exists()
