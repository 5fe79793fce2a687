"""What every test stands on: no setting of the person at the keyboard reaches it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

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
