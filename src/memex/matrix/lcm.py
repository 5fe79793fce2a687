"""The conversation store of hermes-lcm (`lcm.db`), read only.

Writing is refused three times over: the file is opened `mode=ro`, `query_only` is on, and an
authorizer lets nothing pass but reading. A store is known by its columns, not by its version
number: versions in between stamp other numbers, and another program keeps another `lcm.db`.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

from ..core.statements import named_statements

__all__ = ["Conversations", "SourceState", "open_read_only", "text_digest"]

_NEEDED = {"store_id", "session_id", "role", "content", "timestamp"}
_BUSY_TIMEOUT_S = 1.0
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_PRAGMAS = {"table_info", "data_version", "busy_timeout"}


class SourceState(StrEnum):
    """Whether a conversation store can be pointed into."""

    READY = "ready"
    ABSENT = "absent"  # no such file, or it cannot be opened
    UNKNOWN = "unknown"  # there is a file, yet not one of hermes-lcm


def text_digest(text: str) -> bytes:
    """Return the SHA-256 of exactly this text; a pointer is followed only to a text with the same one."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class Conversations:
    """One `lcm.db`. Every call opens and closes it, for a long reader would keep its writer from checkpoints."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def state(self) -> SourceState:
        """Say whether there is such a store. Never raises."""
        try:
            with _connected(self.path) as connection:
                return _recognised(connection)
        except FileNotFoundError:
            return SourceState.ABSENT
        except sqlite3.OperationalError:
            return SourceState.ABSENT
        except sqlite3.DatabaseError:  # a file, but no database
            return SourceState.UNKNOWN

    def find(self, session_id: str, role: str, text: str) -> int | None:
        """Return the id of the newest message of that session and role with exactly this text, or None."""
        return self.find_all([(session_id, role, text)])[0]

    def find_all(self, wanted: list[tuple[str, str, str]]) -> list[int | None]:
        """Return the id for each (session, role, text); all None where the store is absent or unknown."""
        nothing: list[int | None] = [None] * len(wanted)
        if not wanted:
            return nothing
        try:
            with _connected(self.path) as connection:
                if _recognised(connection) is not SourceState.READY:
                    return nothing
                statement = _statements()["newest_equal"]
                rows = [connection.execute(statement, key).fetchone() for key in wanted]
        except (OSError, sqlite3.DatabaseError):
            return nothing
        return [int(row[0]) if row else None for row in rows]

    def read(self, pointers: list[tuple[int, bytes]]) -> list[str | None]:
        """Return the text behind each (store id, digest); None where it is gone or another text stands there."""
        nothing: list[str | None] = [None] * len(pointers)
        if not pointers:
            return nothing
        try:
            with _connected(self.path) as connection:
                if _recognised(connection) is not SourceState.READY:
                    return nothing
                statement = _statements()["text"]
                texts = [connection.execute(statement, (store_id,)).fetchone() for store_id, _ in pointers]
        except (OSError, sqlite3.DatabaseError):
            return nothing
        return [
            row[0] if row and isinstance(row[0], str) and text_digest(row[0]) == digest else None
            for row, (_, digest) in zip(texts, pointers, strict=True)
        ]


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a database so that nothing but reading is possible.

    Raises:
        FileNotFoundError: there is no such file.
        sqlite3.DatabaseError: it cannot be opened or is no database.
    """
    if not path.is_file():
        raise FileNotFoundError(path)
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=_BUSY_TIMEOUT_S)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA data_version").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        wal = path.with_name(f"{path.name}-wal")
        if wal.exists() and wal.stat().st_size:
            raise  # without the log the newest messages would be missing, and nobody would know
        # A folder that may not be written to: SQLite cannot place its shared memory there.
        connection = sqlite3.connect(f"{address}&immutable=1", uri=True, timeout=_BUSY_TIMEOUT_S)
    connection.set_authorizer(_only_reading)
    return connection


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_read_only(path)) as connection:
        yield connection


def _only_reading(action: int, first: str | None, _second: str | None, _database: str | None, _by: str | None) -> int:
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_OK if first in _PRAGMAS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READS else sqlite3.SQLITE_DENY


def _recognised(connection: sqlite3.Connection) -> SourceState:
    columns = {row[1] for row in connection.execute("PRAGMA table_info(messages)")}
    return SourceState.READY if columns >= _NEEDED else SourceState.UNKNOWN


def _statements() -> dict[str, str]:
    return named_statements(Path(__file__).with_name("lcm.sql").read_text(encoding="utf-8"))
