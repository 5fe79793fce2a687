"""The queue of work to do: a JSONL file that is its own audit log.

Each line says what became of one entry; the lines of an id, merged in order, are its state. Lines
are appended and synced under a lock, so an entry is safe once `put` returns, and a line that a
crash cut short is passed over. One process at a time works on a lane (a set of kinds); the kernel
lets go of its lock when it dies, so what it was at is found as `claimed` by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["Entry", "Lane", "Queue", "Status"]

_COMPACT_BYTES = 1_000_000
_KEPT_DONE = 200  # finished entries that a compaction leaves as the log


class Status(StrEnum):
    """Where an entry is on its way."""

    PENDING = "pending"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of work: `data` is its kind's own; `attempts` counts what was begun and may not have ended."""

    id: str
    kind: str
    data: Mapping[str, Any]
    status: Status = Status.PENDING
    attempts: int = 0
    error: str = ""
    at: str = ""  # when it came
    last_at: str = ""  # when it was last spoken of


class Queue:
    """One queue file. Every call may come from any thread or process.

    Raises (any call):
        OSError: the file cannot be read or written.
    """

    def __init__(self, path: Path, *, clock: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        self.path = path
        self._clock = clock
        self._new_id = new_id
        self._compacted_bytes = 0

    def put(self, kind: str, data: Mapping[str, Any], *, key: str = "", synced: bool = True) -> bool:
        """Append work; return whether it was new. With a `key` the same work is taken once only.

        Without `synced` it survives the process, but maybe not a power failure, and costs no wait for the disk.
        """
        with self._locked("file"):
            if key and key in self._read():
                return False
            file = self._append(self._fresh(kind, data, key))
        _finish(file, synced=synced)
        return True

    def put_all(self, work: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Append several pieces of work, (kind, data), in one go, synced."""
        with self._locked("file"):
            file = self._append(*(self._fresh(kind, data) for kind, data in work))
        _finish(file)

    def _fresh(self, kind: str, data: Mapping[str, Any], key: str = "") -> dict[str, Any]:
        return {"id": key or self._new_id(), "kind": kind, "status": Status.PENDING.value, "data": data}

    def entries(self) -> list[Entry]:
        """Return all entries that the file knows of, in order of their coming.

        Without the lock, so that looking creates nothing: a line that is being written is passed over.
        """
        return list(self._read().values())

    def stats(self) -> dict[str, Any]:
        """Return counts by kind and status, the oldest open entry's time, and the last errors."""
        found = self.entries()
        by_kind: dict[str, Counter[str]] = {}
        for entry in found:
            by_kind.setdefault(entry.kind, Counter())[entry.status.value] += 1
        waiting = [entry for entry in found if entry.status in {Status.PENDING, Status.CLAIMED}]
        errors = [{"id": e.id, "kind": e.kind, "status": e.status.value, "error": e.error} for e in found if e.error]
        return {
            "path": str(self.path),
            "open": len(waiting),
            "kinds": {kind: dict(counts) for kind, counts in sorted(by_kind.items())},
            "oldest_open_at": min((entry.at for entry in waiting), default=None),
            "errors": errors[-5:],
        }

    @contextmanager
    def lane(self, name: str, kinds: frozenset[str]) -> Iterator[Lane | None]:
        """Lend the right to work on `kinds`; None while another thread or process has it."""
        with self._lock_file(name, wait=False) as held:
            yield Lane(self, kinds) if held else None

    def record(self, entry: Entry, *, data: Mapping[str, Any] | None = None) -> None:
        """Append the state of an entry, and its data if that has changed."""
        line = {"id": entry.id, "kind": entry.kind, "status": entry.status.value, "attempts": entry.attempts}
        with self._locked("file"):
            file = self._append({**line, "error": entry.error, **({"data": data} if data is not None else {})})
        _finish(file)

    def _append(self, *lines: Mapping[str, Any]) -> BinaryIO:
        """Write the lines; return the file, for `_finish` to sync when the lock is let go of."""
        at = self._clock().astimezone(UTC).isoformat()
        text = "".join(f"{json.dumps({'at': at, **line}, ensure_ascii=False)}\n" for line in lines)
        file = _open(self.path, os.O_APPEND)
        if not _ends_whole(self.path):
            file.write(b"\n")  # after a line that a crash cut short
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        size = file.tell()
        if size > _COMPACT_BYTES and size > 2 * self._compacted_bytes:
            self._compact()
        return file

    def _read(self) -> dict[str, Entry]:
        return _parsed(self._bytes())

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""

    def _compact(self) -> None:
        """Write the file anew: what is open or failed, and the last finished entries without their data."""
        found = self._read()
        done = [entry for entry in found.values() if entry.status is Status.DONE]
        for entry in done[:-_KEPT_DONE]:
            del found[entry.id]
        fresh = self.path.with_name(f"{self.path.name}.new")
        with _open(fresh, os.O_TRUNC) as file:
            for entry in found.values():
                line: dict[str, Any] = {"at": entry.at, "id": entry.id, "kind": entry.kind}
                line |= {"status": entry.status.value, "attempts": entry.attempts, "error": entry.error}
                if entry.status is not Status.DONE:
                    line["data"] = dict(entry.data)
                file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self._compacted_bytes = file.tell()  # much open work: not again before there is twice as much
        fresh.replace(self.path)

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        with self._lock_file(name, wait=True):
            yield

    @contextmanager
    def _lock_file(self, name: str, *, wait: bool) -> Iterator[bool]:
        """Hold a lock beside the queue: the queue's own file is replaced by a compaction."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _open(self.path.with_name(f".{self.path.name}.{name}.lock"), os.O_APPEND) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            try:
                yield True
            finally:
                with contextlib.suppress(OSError):
                    fcntl.flock(lock, fcntl.LOCK_UN)


class Lane:
    """Work on some kinds of entries while nobody else does."""

    def __init__(self, queue: Queue, kinds: frozenset[str]) -> None:
        self._queue = queue
        self._kinds = kinds

    def open_entries(self) -> list[Entry]:
        """Return what is to be done, in order. `claimed` entries are those that a dead process was at."""
        waiting = {Status.PENDING, Status.CLAIMED}
        return [e for e in self._queue.entries() if e.kind in self._kinds and e.status in waiting]

    def claim(self, entry: Entry) -> Entry:
        """Say that work on an entry begins."""
        return self._say(entry, status=Status.CLAIMED, attempts=entry.attempts + 1)

    def keep(self, entry: Entry, data: Mapping[str, Any]) -> Entry:
        """Save a result on the way, so that a crash from here on repeats nothing before it."""
        self._queue.record(entry, data=data)
        return replace(entry, data=data)

    def done(self, entry: Entry) -> Entry:
        """Say that an entry is finished."""
        return self._say(entry, status=Status.DONE, error="")

    def failed(self, entry: Entry, error: str) -> Entry:
        """Say that an entry is given up, and why."""
        return self._say(entry, status=Status.FAILED, error=error)

    def back(self, entry: Entry, error: str, *, counted: bool) -> Entry:
        """Put an entry back for later; an outage that is nobody's fault is not counted as an attempt."""
        attempts = entry.attempts if counted else max(0, entry.attempts - 1)
        return self._say(entry, status=Status.PENDING, attempts=attempts, error=error)

    def _say(self, entry: Entry, **changes: Any) -> Entry:
        changed = replace(entry, **changes)
        self._queue.record(changed)
        return changed


def _open(path: Path, flags: int) -> BinaryIO:
    """Open for writing, readable by the owner only: the queue holds what people said."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, 0o600), "wb")


def _parsed(written: bytes) -> dict[str, Entry]:
    """Merge the lines of each entry into its state."""
    found: dict[str, Entry] = {}
    for line in written.splitlines():
        try:
            event = json.loads(line)
            known = found.get(event["id"])
            found[event["id"]] = Entry(
                id=str(event["id"]),
                kind=str(event["kind"]),
                data=event.get("data", known.data if known else {}),
                status=Status(event["status"]),
                attempts=int(event.get("attempts", 0)),
                error=str(event.get("error", "")),
                at=known.at if known else str(event.get("at", "")),
                last_at=str(event.get("at", "")),
            )
        except (ValueError, LookupError, TypeError):
            continue  # cut short by a crash; what it would have said is done again
    return found


def _finish(file: BinaryIO, *, synced: bool = True) -> None:
    with file:
        if synced:
            os.fsync(file.fileno())


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
