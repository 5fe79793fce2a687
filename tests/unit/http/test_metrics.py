"""Metrics of one process, and of several together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from memex_server.metrics import MULTIPROC_ENV, Metrics, prepare_multiprocess

WORKER = """
import os, sys
from memex_server.metrics import Metrics
metrics = Metrics()
metrics.request_started()
metrics.request_started()
metrics.request_finished("GET", "/h", 200, 0.02)
metrics.pool(active=1, idle=4)
metrics.operation("store", "created", 3)
print(os.getpid(), flush=True)
sys.stdin.readline()
"""
READER = """
import sys
from pathlib import Path
from memex_server.metrics import Metrics, forget_worker
for pid in sys.argv[2:]:
    forget_worker(int(pid), Path(sys.argv[1]))
print(Metrics().render()[0].decode())
"""


def value(text: str, series: str) -> float:
    (line,) = [line for line in text.splitlines() if line.startswith(series + " ")]
    return float(line.rpartition(" ")[2])


def test_everything_that_is_recorded_is_shown() -> None:
    metrics = Metrics()
    metrics.request_started()
    metrics.request_finished("POST", "/v1/memories", 201, 0.004)
    metrics.embedded("query", 3, 0.012)
    metrics.embedding_failed("passage", "unavailable")
    metrics.cache_looked_up(hits=2, misses=1)
    metrics.operation("search", "ok")
    metrics.pool(active=2, idle=3)
    metrics.rate_limited("write")
    metrics.reranked("late")
    metrics.search_stage("embed", 0.003)

    text = metrics.render()[0].decode()

    expected = {
        'http_requests_total{handler="/v1/memories",method="POST",status="2xx"}': 1,
        'http_request_duration_seconds_bucket{handler="/v1/memories",le="0.005",method="POST"}': 1,
        'http_request_duration_seconds_bucket{handler="/v1/memories",le="0.0025",method="POST"}': 0,
        "http_requests_inprogress": 0,
        'memex_embedding_duration_seconds_count{operation="query"}': 1,
        "memex_embedding_batch_size_sum": 3,
        'memex_embedding_errors_total{kind="unavailable",operation="passage"}': 1,
        'memex_embedding_cache_total{result="hit"}': 2,
        'memex_embedding_cache_total{result="miss"}': 1,
        'memex_operations_total{operation="search",outcome="ok"}': 1,
        'memex_db_pool_connections{state="active"}': 2,
        'memex_db_pool_connections{state="idle"}': 3,
        'memex_rate_limited_total{operation="write"}': 1,
        'memex_rerankings_total{outcome="late"}': 1,
        'memex_search_duration_seconds_count{stage="embed"}': 1,
    }
    assert {series: value(text, series) for series in expected} == expected


def test_two_metrics_objects_do_not_share_counts() -> None:
    one, other = Metrics(), Metrics()
    one.operation("store", "created")

    assert b'operation="store"' not in other.render()[0]


def test_workers_are_summed_and_a_dead_ones_gauges_are_dropped(tmp_path: Path) -> None:
    env = {**os.environ}  # noqa: TID251 - a worker inherits its parent's environment
    shared = tmp_path / "指標 metrics"
    shared.mkdir()
    (shared / "counter_1.db").write_bytes(b"left by a former run")
    prepare_multiprocess(shared, env)
    assert env[MULTIPROC_ENV] == str(shared)
    assert list(shared.iterdir()) == []

    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    pids = []
    for worker in workers:
        assert worker.stdout is not None
        pids.append(worker.stdout.readline().strip())

    def read(*dead: str) -> str:
        reader = [sys.executable, "-c", READER, str(shared), *dead]
        return subprocess.run(reader, env=env, capture_output=True, text=True, timeout=30, check=True).stdout

    alive = read()
    for worker in workers:
        worker.communicate("\n", timeout=30)
    after = read(pids[0])

    requests = 'http_requests_total{handler="/h",method="GET",status="2xx"}'
    created = 'memex_operations_total{operation="store",outcome="created"}'
    pool = 'memex_db_pool_connections{state="idle"}'
    assert [value(alive, name) for name in (requests, created, pool, "http_requests_inprogress")] == [2, 6, 8, 2]
    assert [value(after, name) for name in (requests, created, pool, "http_requests_inprogress")] == [2, 6, 4, 1]
