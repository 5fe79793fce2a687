"""`memex serve` as a process of its own: own data directory, own port, bounded waits, all output in files."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil

__all__ = [
    "MEMEX",
    "READY_S",
    "Answer",
    "Served",
    "Services",
    "Unready",
    "call",
    "everything_of",
    "free_port",
    "remember",
    "tell",
    "together",
    "until",
]

MEMEX = str(Path(sys.executable).parent / "memex")
READY_S = 90.0  # on a machine that is busy with other things; an idle one needs two
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the parsed body."""
        return json.loads(self.body)


class Unready(Exception):
    """The service ended or did not get ready in time; carries its output."""


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def until(what: str, condition: Callable[[], object], timeout_s: float = READY_S) -> float:
    """Wait until `condition` is true; return the seconds it took, or fail."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < timeout_s, f"not within {timeout_s:.0f} s: {what}"
        time.sleep(_POLL_S)
    return time.monotonic() - started


def tell(text: str) -> None:
    """Print a measurement; `pytest -rP` shows it."""
    sys.stdout.write(f"{text}\n")


def call(
    port: int,
    method: str,
    path: str,
    body: object = None,
    *,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 60.0,
) -> Answer:
    """Make one request on a connection of its own. Raises OSError when it is lost."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    payload = None if body is None else json.dumps(body, ensure_ascii=False).encode()
    sent = {"Content-Type": "application/json"} if payload is not None else {}
    try:
        connection.request(method, path, payload, {**sent, **(headers or {})})
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    except http.client.HTTPException as e:
        raise ConnectionResetError(f"{type(e).__name__}: {e}") from e
    finally:
        connection.close()


def remember(port: int, content: str, user: str = "u", headers: Mapping[str, str] | None = None) -> Answer:
    """Store one memory."""
    return call(port, "POST", "/v1/memories", {"agent_id": "a", "user_id": user, "content": content}, headers=headers)


def everything_of(port: int, user: str) -> list[dict[str, Any]]:
    """Return all memories of a user, page by page."""
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        answer = call(port, "GET", f"/v1/memories?user_id={user}&limit=200&cursor={quote(cursor)}" if cursor else
                      f"/v1/memories?user_id={user}&limit=200")  # fmt: skip
        assert answer.status == 200, answer
        page = answer.json()
        found += page["memories"]
        cursor = page["next_cursor"] or ""
        if not cursor:
            return found


def together(calls: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """Make all calls at once, each in a thread of its own."""
    with ThreadPoolExecutor(len(calls)) as threads:
        return [future.result() for future in [threads.submit(one) for one in calls]]


class Served:
    """One `memex serve`; may be started, stopped, killed and started again on its data directory."""

    def __init__(self, folder: Path, data_dir: Path, env: Mapping[str, str], user: str | None = None) -> None:
        self.folder = folder
        self.data_dir = data_dir
        self.user = user
        self.port = int(env.get("MEMEX_PORT") or free_port())
        self.env = {
            "PATH": os.defpath,
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "MEMEX_DATA_DIR": str(data_dir),
            "MEMEX_MCP_PORT": str(free_port()),
            "RATE_LIMIT_WRITES_PER_MINUTE": "0",
            "RATE_LIMIT_SEARCHES_PER_MINUTE": "0",
            **env,
            "MEMEX_PORT": str(self.port),
        }
        self._starts = 0
        self._process: subprocess.Popen[bytes] | None = None

    # -- life ----------------------------------------------------------------------------------

    def start(self, *, wait: bool = True) -> float:
        """Start the process; with `wait` until it is ready. Return the seconds it took."""
        self._starts += 1
        command = [MEMEX, "serve"]
        if self.user is not None:
            entry = pwd.getpwnam(self.user)
            command = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups", *command]
        with self._file("out").open("wb") as out, self._file("err").open("wb") as err:
            self._process = subprocess.Popen(
                command, env=self.env, cwd="/", stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
        return self.wait_ready() if wait else 0.0

    def wait_ready(self, timeout_s: float = READY_S) -> float:
        """Wait until it says that it is ready; return the seconds it took."""
        started = time.monotonic()
        while not self.is_ready():
            if not self.alive or time.monotonic() - started > timeout_s:
                raise Unready(f"memex serve on {self.data_dir} is not ready\n{self.output()}")
            time.sleep(_POLL_S)
        return time.monotonic() - started

    def is_ready(self) -> bool:
        """Whether `/health/ready` says so now."""
        with contextlib.suppress(OSError):
            return self.call("GET", "/health/ready", timeout_s=10).status == 200
        return False

    def stop(self, number: int = signal.SIGTERM, timeout_s: float = 30.0) -> tuple[int, float]:
        """Send a signal; return exit status and seconds until the end."""
        started = time.monotonic()
        os.kill(self.pid, number)
        return self.wait_end(timeout_s), time.monotonic() - started

    def wait_end(self, timeout_s: float = READY_S) -> int:
        """Wait for the end of the process; return its exit status."""
        assert self._process is not None
        return self._process.wait(timeout=timeout_s)

    def kill(self) -> None:
        """Kill -9 the process and its workers, as a crash of the machine would; the database goes on."""
        if self._process is not None and self._process.poll() is None:
            victims = [*self.workers(), psutil.Process(self._process.pid)]
            for victim in victims:
                with contextlib.suppress(psutil.NoSuchProcess):
                    victim.kill()
            self._process.wait(timeout=30)

    def clean_up(self) -> None:
        """Leave nothing running, whatever the test did."""
        self.kill()
        pid = self.postmaster()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)
                until("the embedded server is gone", lambda: self.postmaster() is None, 30)

    # -- what is seen of it --------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """Process id of the process that was started."""
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def workers(self) -> list[psutil.Process]:
        """Return the worker processes; none if the first process serves itself."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return [child for child in psutil.Process(self.pid).children() if "spawn_main" in " ".join(child.cmdline())]
        return []

    def postmaster(self) -> int | None:
        """Return the process id of the embedded server if it runs."""
        try:
            pid = int((self.data_dir / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])
            running = psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except (FileNotFoundError, ValueError, psutil.NoSuchProcess):
            return None
        return pid if running else None

    def stdout(self) -> str:
        """Return what the last start printed."""
        return self._file("out").read_text(encoding="utf-8", errors="replace")

    def stderr(self) -> str:
        """Return what the last start said beside it."""
        return self._file("err").read_text(encoding="utf-8", errors="replace")

    def output(self) -> str:
        """Return everything that it ever printed."""
        return "\n".join(
            f"--- {path.name}\n{path.read_text(encoding='utf-8', errors='replace')}"
            for path in sorted(self.folder.glob("serve-*"))
        )

    def database_log(self) -> str:
        """Return all that the embedded server wrote into its log files."""
        logs = [*(self.data_dir / "postgres" / "log").glob("*"), self.data_dir / "postgres" / "startup.log"]
        return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in logs if path.exists())

    def _file(self, kind: str) -> Path:
        return self.folder / f"serve-{self.port}-{self._starts}.{kind}"

    # -- requests ------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: object = None, **options: Any) -> Answer:
        """Make one request."""
        return call(self.port, method, path, body, **options)

    def remember(self, content: str, user: str = "u", headers: Mapping[str, str] | None = None) -> Answer:
        """Store one memory."""
        return remember(self.port, content, user, headers)

    def search(self, query: str, user: str = "u", **more: object) -> list[dict[str, Any]]:
        """Return the results of a search."""
        answer = self.call("POST", "/v1/memories/search", {"user_id": user, "query": query, **more})
        assert answer.status == 200, answer
        results: list[dict[str, Any]] = answer.json()["results"]
        return results


class Services:
    """Makes `Served` objects below one folder, each with the prepared model in its data directory.

    `prototype` is a data directory whose database is made, for those that are to be ready soon.
    """

    def __init__(self, folder: Path, model: Path, prototype: Path) -> None:
        self.folder = folder
        self._model = model
        self._prototype = prototype
        self.all: list[Served] = []

    def prepared(self, data_dir: Path, user: str | None = None) -> Path:
        """Put the model into a data directory, by links where the file system has them; return the directory."""
        target = data_dir / "models" / self._model.name
        if not target.exists():
            target.mkdir(parents=True)
            for file in self._model.iterdir():
                try:
                    os.link(file, target / file.name)
                except OSError:
                    shutil.copy(file, target / file.name)
        if user is not None:
            for path in (data_dir, data_dir / "models", target):
                shutil.chown(path, user)
        return data_dir

    def new(
        self,
        env: Mapping[str, str] | None = None,
        *,
        name: str = "data",
        data_dir: Path | None = None,
        user: str | None = None,
        fresh: bool = True,
    ) -> Served:
        """Return a service that is not started yet, on a data directory of its own unless one is given.

        If not `fresh`, its database is there and migrated already.
        """
        folder = self.folder / f"s{len(self.all)}"
        folder.mkdir()
        if user is not None:
            shutil.chown(folder, user)
        served = Served(folder, self.prepared(data_dir or folder / name, user), env or {}, user)
        if not fresh and "DATABASE_URL" not in served.env:
            parts = [self._prototype / part for part in ("postgres", "postgres.lock", "postgres.users")]
            subprocess.run(["cp", "-a", *parts, served.data_dir], check=True)  # keeps the owner, as shutil does not
        self.all.append(served)
        return served

    @contextlib.contextmanager
    def running(self, env: Mapping[str, str] | None = None, *, fresh: bool = False, **options: Any) -> Iterator[Served]:
        """Run a new service for the time of a test."""
        served = self.new(env, fresh=fresh, **options)
        try:
            served.start()
            yield served
        finally:
            served.clean_up()

    def clean_up(self) -> None:
        """End everything."""
        for served in self.all:
            served.clean_up()
