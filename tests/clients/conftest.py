from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.acceptance.fixtures import plain, services, show_output
from tests.embedding_model import model_folder

__all__ = ["model_folder", "plain", "services"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    show_output(item, report)
    return report
