"""Fixtures of the tests that run `memex serve`."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memex_server.embedding.cards import BUNDLED
from memex_server.postgres.embedded import EmbeddedServer
from memex_server.postgres.migrate import prepare_database
from tests.acceptance.served import Served, Services

__all__ = ["plain", "prototype", "services", "show_output"]


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    # Not pytest's own folder: that one is closed to other accounts, and its long name would not hold a socket.
    folder = Path(tempfile.mkdtemp(prefix="memex-acc-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _services(model: Path, prototype: Path) -> Iterator[Services]:
    with _folder() as folder:
        made = Services(folder, model, prototype)
        try:
            yield made
        finally:
            made.clean_up()


@pytest.fixture(scope="session")
def prototype() -> Iterator[Path]:
    """A data directory with a migrated database: most services begin on a copy, which is there much sooner."""
    with _folder() as folder:
        server = EmbeddedServer(folder)
        server.acquire()
        try:
            asyncio.run(prepare_database(server.dsn, BUNDLED["multilingual-e5-small"].card))
        finally:
            server.release()
        for log in [folder / "postgres" / "startup.log", *(folder / "postgres" / "log").glob("*")]:
            log.unlink(missing_ok=True)  # a copy is to tell of its own life only
        yield folder


@pytest.fixture(scope="module")
def services(model_folder: Path, prototype: Path) -> Iterator[Services]:
    """Makes services; everything is ended and removed after the module."""
    with _services(model_folder, prototype) as made:
        yield made


@pytest.fixture(scope="session")
def plain(model_folder: Path, prototype: Path) -> Iterator[Served]:
    """One service with default settings, for all tests that do not harm it and mind only users of their own."""
    with _services(model_folder, prototype) as made, made.running() as served:
        yield served


def show_output(item: pytest.Item, report: pytest.TestReport) -> None:
    """Add to a failed test what its services printed."""
    if not report.failed:
        return
    found = getattr(item, "funcargs", {}).values()
    served = [one for value in found if isinstance(value, Services) for one in value.all[-3:]]
    for one in [*served, *(value for value in found if isinstance(value, Served) and value not in served)]:
        report.sections.append((f"memex serve on {one.data_dir}", one.output()[-6000:]))
        report.sections.append(("its embedded server", one.database_log()[-2000:]))
