"""The sources under judgement, read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.rules import Module, modules

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def client_modules() -> list[Module]:
    return modules(ROOT / "src", "memex")


@pytest.fixture(scope="session")
def server_modules() -> list[Module]:
    return modules(ROOT / "src", "memex_server")


@pytest.fixture(scope="session")
def all_modules(client_modules: list[Module], server_modules: list[Module]) -> list[Module]:
    return client_modules + server_modules
