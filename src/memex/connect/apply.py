"""Carries out changes of files: all or nothing visible, with what was there kept, and undone exactly.

For every connection a record holds each file as it was and a hash of what it became. If the file is
still what it became, undoing brings back every byte; if somebody changed it since, only the entry goes.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..protocol.errors import SetupError

__all__ = ["Change", "diff_of", "forget", "missing_folders", "read", "read_record", "undo", "write", "write_record"]


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; None: it is not there."""

    path: Path
    before: str | None
    after: str | None


def read(path: Path) -> str | None:
    """Return a file's text, None if it is not there. Raises SetupError."""
    try:
        return path.read_bytes().decode("utf-8")  # bytes, so that line ends stay as they are
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as e:
        raise SetupError(f"{path} is not UTF-8 text; nothing was changed") from e
    except OSError as e:
        raise SetupError(f"cannot read {path}: {e.strerror}") from e


def write(path: Path, text: str | None) -> None:
    """Put `text` in the place of a file at once, or take the file away. Raises SetupError."""
    target = path.resolve()  # a link to the file in somebody's dotfiles stays a link
    try:
        if text is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode("utf-8"))
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as e:
        raise SetupError(f"cannot write {path}: {e.strerror}") from e


def diff_of(change: Change) -> str:
    """Return a change as a unified diff."""
    before, after = ((text or "").splitlines(keepends=True) for text in (change.before, change.after))
    return "".join(difflib.unified_diff(before, after, str(change.path), str(change.path)))


def missing_folders(paths: Sequence[Path]) -> list[Path]:
    """Return the folders that writing these files will make, deepest first."""
    missing = {folder for path in paths for folder in path.resolve().parents if not folder.exists()}
    return sorted(missing, key=lambda folder: -len(folder.parts))


def write_record(file: Path, changes: Sequence[Change], folders: Sequence[Path]) -> None:
    """Keep what a connection changed; readable by its owner only, since settings of clients may hold secrets."""
    rows = [{"path": str(c.path), "before": c.before, "after": _hash(c.after)} for c in changes]
    document = {"version": 1, "changes": rows, "folders": [str(folder) for folder in folders]}
    write(file, json.dumps(document, indent=2, ensure_ascii=False))
    file.chmod(0o600)


def read_record(file: Path) -> dict[str, Any] | None:
    """Return {"changes", "folders"}, None if there is no such connection. Raises SetupError."""
    text = read(file)
    if text is None:
        return None
    try:
        record: dict[str, Any] = json.loads(text)
        return {"changes": record["changes"], "folders": record["folders"]}
    except (ValueError, KeyError, TypeError) as e:
        raise SetupError(f"{file} is damaged; delete it, and take memex out of the client's settings by hand") from e


def undo(row: dict[str, Any], without: Callable[[str], str | None]) -> Change:
    """Return the change that takes one file back; `without` removes the entry from a text that changed since."""
    path = Path(row["path"])
    now = read(path)
    if now is None:
        return Change(path, None, None)
    return Change(path, now, row["before"] if _hash(now) == row["after"] else without(now))


def forget(file: Path, folders: Sequence[str]) -> None:
    """Delete a record, and the folders that the connection made as far as they are empty."""
    file.unlink(missing_ok=True)
    for folder in folders:
        with contextlib.suppress(OSError):  # somebody else uses it by now
            Path(folder).rmdir()


def _hash(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest()
