"""`memex connect` and `memex disconnect`: one client's settings, its skill and its hooks."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from shutil import which
from typing import Literal

from ..protocol.errors import SetupError
from .apply import Change, diff_of, forget, missing_folders, read, read_record, undo, write, write_record
from .clients import Client, Place, Scope, Server, place_of
from .hooks import with_hooks, without_hooks

__all__ = ["Language", "Request", "connect", "disconnect", "hermes_link", "record_of"]

Language = Literal["en", "zh"]
_COMMAND_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be connected, and how."""

    client: str
    scope: Scope
    place: Place
    server: Server
    records: Path  # the folder of records
    language: Language = "en"
    skill: bool = True
    hooks: Sequence[str] = ()  # the command of the hooks; empty: none
    dry_run: bool = False


def connect(request: Request) -> list[str]:
    """Connect a client; return lines that say what was done, or would be. Connecting again renews the connection.

    Raises:
        SetupError: the client cannot be connected in this way, or its settings are not readable.
    """
    if request.client == "hermes":
        return _connect_hermes(request)
    client = place_of(request.client, request.scope, request.place, request.server)
    if request.hooks and client.hooks is None:
        raise SetupError(f"{client.name} has no hooks that memex knows; leave --hooks out")
    if read_record(record_of(request)) is not None and not request.dry_run:
        disconnect(request)
    changes = [_changed(client.file, client.with_entry)]
    if request.skill and client.skills is not None:
        changes.append(_changed(client.skills / "memex" / "SKILL.md", lambda _text: _skill(request.language)))
    if request.hooks and client.hooks is not None:
        changes.append(_changed(client.hooks, lambda text: with_hooks(text, request.hooks)))
    by_command = bool(client.add) and which(client.add[0], path=request.place.env.get("PATH")) is not None
    if request.dry_run:
        shown = [f"would run: {' '.join(client.add)}"] if by_command else [diff_of(changes[0])]
        return shown + [diff_of(change) for change in changes[1:]]
    folders = missing_folders([change.path for change in changes])
    if by_command and _ran(client.add, request.place):
        changes[0] = Change(client.file, changes[0].before, read(client.file))
    else:
        write(client.file, changes[0].after)
    for change in changes[1:]:
        write(change.path, change.after)
    write_record(record_of(request), changes, folders)
    told = [f"{client.name}: wrote {change.path}" for change in changes if change.before != change.after]
    return [
        *told,
        f"{client.name}: `memex disconnect {client.name}` undoes it; {record_of(request)} holds what was there",
    ]


def disconnect(request: Request) -> list[str]:
    """Take back what `connect` did, and nothing else; return lines that say so. Raises SetupError."""
    if request.client == "hermes":
        return _disconnect_hermes(request)
    client = place_of(request.client, request.scope, request.place, request.server)
    record = read_record(record_of(request))
    if record is None:
        # Connected by hand or on another machine: the entry is taken out all the same.
        changes = [_changed(client.file, client.without_entry)]
        folders: list[str] = []
    else:
        # A project may have moved since, but the record says where the files were.
        changes = [undo(row, _remover(client, row["path"])) for row in record["changes"]]
        folders = record["folders"]
    changes = [change for change in changes if change.before is not None and change.before != change.after]
    if request.dry_run:
        return [diff_of(change) for change in changes]
    for change in changes:
        write(change.path, change.after)
    forget(record_of(request), folders)
    return [f"{client.name}: took memex out of {change.path}" for change in changes] or [
        f"{client.name}: was not connected"
    ]


def record_of(request: Request) -> Path:
    """Return the file that holds the record of a connection."""
    name = request.client
    if request.scope == "project":
        name += "-" + hashlib.sha256(os.fsencode(request.place.project)).hexdigest()[:12]
    return request.records / f"{name}.json"


def _changed(path: Path, change: Callable[[str], str]) -> Change:
    before = read(path)
    try:
        after = change(before or "")
    except SetupError as e:
        raise SetupError(f"{path}: {e}; nothing was changed") from e
    return Change(path, before, before if before is None and not after else after)


def _remover(client: Client, path: str) -> Callable[[str], str | None]:
    if Path(path) == client.file:
        return client.without_entry
    if Path(path) == client.hooks:
        return without_hooks
    return lambda text: text  # a skill that somebody has rewritten is theirs now


def _ran(command: Sequence[str], place: Place) -> bool:
    """Run a client's own command; False if it did not succeed, so that its file is written instead."""
    program = which(command[0], path=place.env.get("PATH")) or command[0]
    try:
        done = subprocess.run(  # noqa: S603 - the client's own program, no shell
            [program, *command[1:]], cwd=place.project, env=dict(place.env), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=_COMMAND_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _skill(language: Language) -> str:
    return resources.files(__package__).joinpath("skills", f"{language}.md").read_text(encoding="utf-8")


# -- hermes: the plugin is this package itself, so it is a link ------------------------------------


def hermes_link(place: Place) -> Path:
    """Return where Hermes looks for the plugin."""
    return place.folder("HERMES_HOME", ".hermes") / "plugins" / "memex"


def _connect_hermes(request: Request) -> list[str]:
    link, target = hermes_link(request.place), Path(__file__).resolve().parent.parent
    if link.is_symlink() and link.resolve() == target:
        return [f"hermes: {link} is there already"]
    if link.is_symlink() or link.exists():
        raise SetupError(f"{link} is there and is not this memex; move it away first")
    if request.dry_run:
        return [f"would link {link} to {target}"]
    folders = missing_folders([link])
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target, target_is_directory=True)
    except OSError as e:
        raise SetupError(f"cannot make {link}: {e.strerror}") from e
    write_record(record_of(request), [], folders)
    return [f"hermes: linked {link} to {target}; `hermes memory setup` chooses it"]


def _disconnect_hermes(request: Request) -> list[str]:
    link, target = hermes_link(request.place), Path(__file__).resolve().parent.parent
    if not link.is_symlink() or link.resolve() != target:
        return ["hermes: was not connected"]
    if request.dry_run:
        return [f"would remove the link {link}"]
    link.unlink()
    record = read_record(record_of(request))
    forget(record_of(request), record["folders"] if record else [])
    return [f"hermes: removed the link {link}"]
