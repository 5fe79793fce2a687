"""What every test stands on: no setting of the person at the keyboard reaches it."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, settings

from tests.acceptance.fixtures import plain, prototype, services, show_output
from tests.databases import postgres, template
from tests.embedding_model import encoder, model_folder
from tests.live import live_service

# Of the whole session, so here: a fixture that several folders imported would be made anew for each of them.
__all__ = ["encoder", "live_service", "model_folder", "plain", "postgres", "prototype", "services", "template"]

gc.disable()  # nothing of what is imported and collected is garbage, and looking for it takes a quarter of the time

# How long an example takes is what others on the machine make of it; a test has a time limit.
settings.register_profile("memex", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("memex")

_ROOT = Path(__file__).resolve().parent.parent
# As the test run was started; the fixtures below hand it out, tests themselves run without it.
_OUTER = MappingProxyType(dict(os.environ))  # noqa: TID251 - the one place that looks


def _is_setting(name: str) -> bool:
    bare = (
        "DATABASE_URL",
        "REDIS_URL",
        "DB_",
        "DEFAULT_ALPHA",
        "RECENCY_",
        "RATE_LIMIT_",
        "EMBEDDING_",
        "VECTOR_INDEX",
    )
    return name.startswith(("MEMEX_", "SUMMARIZATION_", "WORKER", "PG", *bare))


# At import, so that fixtures of every scope, and the processes that they start, are clean too.
for _name in [name for name in _OUTER if _is_setting(name)]:
    del os.environ[_name]  # noqa: TID251


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    show_output(item, report)
    return report


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what a test before left behind in the environment."""
    for name in [name for name in os.environ if _is_setting(name)]:  # noqa: TID251
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def outer_environment() -> Mapping[str, str]:
    """The environment of whoever started the tests; for finding the prepared model, not for settings."""
    return _OUTER


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds src, tests and deploy."""
    return _ROOT


@pytest.fixture(scope="session")
def bench_data() -> Path:
    """The public conversations, kept beside the checkout; a test that needs them is skipped without."""
    folder = _ROOT.parent / "shared" / "bench" / "data"
    if not folder.is_dir():
        pytest.skip("the public conversations are not beside this checkout")
    return folder
