"""Services under test: ready, killed, ended, and what is said when they fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.harness.http import call
from bench.harness.process import Service, ServiceFailed, free_port, running
from bench.harness.trivial import trivial_command


def trivial(log: Path) -> Service:
    port = free_port()
    return Service("trivial", trivial_command(port), {}, port, log)


async def test_a_service_runs_answers_and_is_gone_afterwards(tmp_path: Path) -> None:
    async with running(trivial(tmp_path / "log"), timeout_s=20) as service:
        assert (await call(service.port, "GET", "/anything")).json() == {"status": "ok"}
        assert service.resident_bytes() > 1_000_000
    assert not service.alive


async def test_a_killed_service_starts_again_on_the_same_port(tmp_path: Path) -> None:
    async with running(trivial(tmp_path / "log"), timeout_s=20) as service:
        first = service.pid
        service.kill()
        assert not service.alive
        service.start()
        await service.wait_ready(20)
        assert service.pid != first


async def test_a_service_that_ends_at_once_is_reported_with_its_last_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('端口被占用')"]
    service = Service("broken", command, {"PYTHONIOENCODING": "utf-8"}, free_port(), tmp_path / "log")
    with pytest.raises(ServiceFailed, match="端口被占用"):
        async with running(service, timeout_s=20):
            pass


async def test_a_service_that_never_gets_ready_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    service = Service("mute", command, {}, free_port(), tmp_path / "log")
    with pytest.raises(ServiceFailed, match="not ready within"):
        async with running(service, timeout_s=0.3):
            pass
    assert not service.alive
