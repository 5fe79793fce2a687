"""Fixtures of the tests that run `memex serve`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.served import Served, Services

__all__ = ["plain", "services", "show_output"]


@pytest.fixture(scope="module")
def services(model_folder: Path) -> Iterator[Services]:
    """Makes services; everything is ended and removed after the module."""
    # Not pytest's own folder: that one is closed to other accounts, and its long name would not hold a socket.
    folder = Path(tempfile.mkdtemp(prefix="memex-acc-", dir="/tmp"))
    folder.chmod(0o755)
    made = Services(folder, model_folder)
    try:
        yield made
    finally:
        made.clean_up()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def plain(services: Services) -> Iterator[Served]:
    """One service with default settings for the tests of a module that do not harm it."""
    with services.running() as served:
        yield served


def show_output(item: pytest.Item, report: pytest.TestReport) -> None:
    """Add to a failed test what its services printed."""
    services = getattr(item, "funcargs", {}).get("services")
    if not report.failed or not isinstance(services, Services):
        return
    for served in services.all[-3:]:
        report.sections.append((f"memex serve on {served.data_dir}", served.output()[-6000:]))
        report.sections.append(("its embedded server", served.database_log()[-2000:]))
