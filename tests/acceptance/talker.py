"""One `memex mcp` process, spoken to line by line as a client does."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.acceptance.served import MEMEX, READY_S

__all__ = ["Talker"]

_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "talker", "version": "1"}}


class Talker:
    """Starts the process; every line that it writes must be a message of the protocol."""

    def __init__(self, env: Mapping[str, str], folder: Path, arguments: Sequence[str] = ()) -> None:
        self.started = time.monotonic()
        self._log = folder / f"talker-{time.monotonic_ns()}.err"
        with self._log.open("wb") as err:
            self.process = subprocess.Popen(
                [MEMEX, "mcp", *arguments], env=dict(env), cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=err, start_new_session=True,
            )  # fmt: skip
        self._rest = b""
        self._count = 0

    def send(self, method: str, params: object = None, *, notify: bool = False) -> int:
        """Write one message; return its id."""
        self._count += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if not notify:
            message["id"] = self._count
        self.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        return self._count

    def write(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, timeout_s: float = READY_S) -> dict[str, Any] | None:
        """Return the next message, None when the process has closed its end."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._rest:
            handle = self.process.stdout.fileno()
            ready, _, _ = select.select([handle], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no answer within {timeout_s} s\n{self.errors()}"
            data = os.read(handle, 65_536)
            if not data:
                assert not self._rest, f"half a message: {self._rest!r}"
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", f"not the protocol: {line!r}"
        return dict(message)

    def ask(self, method: str, params: object = None) -> dict[str, Any]:
        """Make one request and return its result."""
        request_id = self.send(method, params)
        answer = self.read()
        assert answer is not None, self.errors()
        assert answer["id"] == request_id
        result: dict[str, Any] = answer["result"]
        return result

    def greet(self) -> dict[str, Any]:
        """Shake hands."""
        result = self.ask("initialize", _HELLO)
        self.send("notifications/initialized", notify=True)
        return result

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool that must succeed; return its structured result."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result["isError"], result
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    def close(self, timeout_s: float = 30) -> int:
        """Close the client's end; return the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout_s)

    def kill(self, number: int = signal.SIGKILL) -> int:
        """Send a signal; return the exit status."""
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        return self.process.wait(30)

    def clean_up(self) -> None:
        """Leave nothing running and nothing open."""
        self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def errors(self) -> str:
        """Return what it wrote to standard error."""
        return self._log.read_text(encoding="utf-8", errors="replace")
