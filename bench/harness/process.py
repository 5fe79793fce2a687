"""Services under test as child processes: own port, own data directory, bounded waits."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil

from bench.harness.http import call

__all__ = ["Service", "ServiceFailed", "free_port", "running"]

_POLL_S = 0.05
_LOG_TAIL_CHARS = 2_000


class ServiceFailed(Exception):
    """A service under test did not start, did not get ready or did not stop; says why, with the end of its log."""


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Service:
    """One service under test. Start, kill and start again as often as needed; data stays in its directory."""

    def __init__(self, name: str, command: Sequence[str], env: Mapping[str, str], port: int, log: Path) -> None:
        self.name = name
        self.command = list(command)
        self.env = {**os.environ, **env}
        self.port = port
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id of the running service."""
        if self._process is None:
            raise ServiceFailed(f"{self.name} was not started")
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process; does not wait for it to be ready."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, env=self.env, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    async def wait_ready(self, timeout_s: float = 180.0) -> float:
        """Wait until `GET /health/ready` answers 200; return the seconds it took.

        Raises:
            ServiceFailed: the process ended or did not get ready in time.
        """
        started = time.perf_counter()
        while (waited_s := time.perf_counter() - started) < timeout_s:
            if not self.alive:
                raise ServiceFailed(f"{self.name} ended while starting\n{self.log_tail()}")
            with suppress(OSError):
                if (await call(self.port, "GET", "/health/ready", timeout_s=5.0)).status == 200:
                    return waited_s
            await asyncio.sleep(_POLL_S)
        raise ServiceFailed(f"{self.name} was not ready within {timeout_s:.0f} s\n{self.log_tail()}")

    async def stop(self, timeout_s: float = 15.0) -> float:
        """Send SIGTERM and wait; return the seconds it took.

        Raises:
            ServiceFailed: it had to be killed.
        """
        if self._process is None or self._process.poll() is not None:
            return 0.0
        started = time.perf_counter()
        self._process.send_signal(signal.SIGTERM)
        while (waited_s := time.perf_counter() - started) < timeout_s:
            if self._process.poll() is not None:
                return waited_s
            await asyncio.sleep(_POLL_S)
        self.kill()
        raise ServiceFailed(f"{self.name} did not stop within {timeout_s:.0f} s of SIGTERM\n{self.log_tail()}")

    def kill(self) -> None:
        """Kill -9 the service and its worker processes, but not the database (which is a daemon of its own)."""
        if self._process is None or self._process.poll() is not None:
            return
        for process in [*_workers(self._process.pid), psutil.Process(self._process.pid)]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait(timeout=10)

    def resident_bytes(self) -> int:
        """Return the resident memory of the service and its workers, without Postgres."""
        total = 0
        for process in [psutil.Process(self.pid), *_workers(self.pid)]:
            with suppress(psutil.NoSuchProcess):
                total += int(process.memory_info().rss)
        return total

    def log_tail(self) -> str:
        """Return the end of the service's log."""
        return self.log.read_text(errors="replace")[-_LOG_TAIL_CHARS:] if self.log.exists() else ""


@asynccontextmanager
async def running(service: Service, timeout_s: float = 180.0) -> AsyncIterator[Service]:
    """Start a service, wait until it is ready, and stop it at the end, whatever happened between."""
    service.start()
    try:
        await service.wait_ready(timeout_s)
        yield service
    except BaseException:
        service.kill()
        raise
    else:
        await service.stop()


def _workers(pid: int) -> list[psutil.Process]:
    try:
        children = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [child for child in children if not _is_postgres(child)]


def _is_postgres(process: psutil.Process) -> bool:
    try:
        return process.name().startswith("postgres")
    except psutil.NoSuchProcess:
        return True  # gone: nothing to kill or to count
