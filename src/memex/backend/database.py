"""The local backend's SQLite file: opening, migrating, and one door for reading and for writing."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.statements import named_statements
from ..protocol.errors import SetupError, Unavailable

__all__ = ["Database"]

_BUSY_TIMEOUT_S = 5.0  # another process (a cron job beside the agent) writes for milliseconds
_MIGRATION = re.compile(r"(\d{4})_\w+\.sql\Z")


class Database:
    """One file, one connection for reading and one for writing, each used by one thread at a time.

    In WAL mode neither waits for the other. The file is opened on first use.

    Raises (any call):
        Unavailable: the file is locked for too long, its disk is full, or it is damaged.
        SetupError: it was made by a newer memex.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = {"read": threading.Lock(), "write": threading.Lock()}
        self._open: dict[str, sqlite3.Connection] = {}
        folder = Path(__file__).parent
        self.statements = named_statements((folder / "local.sql").read_text(encoding="utf-8"))

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for reading; what it sees during one statement is of one moment."""
        with self._lock["read"], self._translated():
            yield self._connection("read")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection within one transaction: all of it happens, or nothing."""
        with self._lock["write"], self._translated():
            connection = self._connection("write")
            connection.execute(self.statements["begin"])
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        for kind, lock in self._lock.items():
            with lock:
                connection = self._open.pop(kind, None)
                if connection is not None:
                    connection.close()

    def _connection(self, kind: str) -> sqlite3.Connection:
        if kind not in self._open:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if not self._path.exists():
                self._path.touch(mode=0o600)  # what an agent remembers is its owner's alone
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            try:
                connection.row_factory = sqlite3.Row
                connection.execute("PRAGMA journal_mode = WAL")
                # What is acknowledged is on disk, also when the power goes.
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA cache_size = -16384")  # KiB: the index of some 50,000 facts stays warm
                self._migrate(connection)
            except BaseException:
                connection.close()
                raise
            self._open[kind] = connection
        return self._open[kind]

    def _migrate(self, connection: sqlite3.Connection) -> None:
        steps = sorted(
            (int(match[1]), path)
            for path in (Path(__file__).parent / "migrations").iterdir()
            if (match := _MIGRATION.match(path.name))
        )
        newest = steps[-1][0]
        if _version(connection) == newest:
            return
        connection.execute(self.statements["begin"])  # two processes may open a new file at once
        try:
            version = self._known_version(connection, newest)
            for number, path in steps:
                if number > version:
                    for statement in _split(path.read_text(encoding="utf-8")):
                        connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {newest}")
        except BaseException:
            connection.rollback()
            raise
        connection.commit()

    def _known_version(self, connection: sqlite3.Connection, newest: int) -> int:
        version = _version(connection)
        if version > newest:
            raise SetupError(f"{self._path} was made by a newer memex (schema {version}, this one knows {newest})")
        return version

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as e:
            raise Unavailable(f"{self._path}: {e}") from e


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _split(script: str) -> list[str]:
    """Return the statements of a script: each ends with `;` at the end of a line."""
    code = "\n".join(line.split("--")[0] for line in script.splitlines())
    return [statement.strip() for statement in re.split(r";\s*\n", f"{code}\n") if statement.strip()]
