from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hermes.support import Model, Service, hermes_home


@pytest.fixture
def home(tmp_path: Path, checkout: Path) -> Path:
    """A Hermes folder with the plugin linked into it."""
    return hermes_home(tmp_path / "hermes home", checkout)


@pytest.fixture
def service() -> Iterator[Service]:
    """A remote backend that a test can break."""
    with Service() as running:
        yield running


@pytest.fixture
def model() -> Iterator[Model]:
    """A model endpoint with answers from the test."""
    with Model() as running:
        yield running


@pytest.fixture(scope="session")
def hermes_python(checkout: Path) -> Path:
    """The Python of the agent's environment, which `make test` prepares."""
    python = checkout / ".venv" / "hermes" / "bin" / "python"
    if not python.exists():
        pytest.skip("no Hermes to load the plugin: `make test` installs it into .venv/hermes, given a network")
    return python
