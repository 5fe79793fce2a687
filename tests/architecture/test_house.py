"""The rules hold for every module, and each of them is able to fail."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture import rules
from tests.architecture.rules import Module

SRC_LIMIT_LINES = 400
TEST_LIMIT_LINES = 600
# Files above the limit, with their size. An entry may only be lowered or removed.
EXCEPTIONS: dict[str, int] = {}

Rule = Callable[[Module], list[str]]


def complaints(rule: Rule, modules: list[Module]) -> list[str]:
    return [complaint for module in modules for complaint in rule(module)]


def check(rule: Rule, modules: list[Module]) -> None:
    """Fail with one complaint to a line if any module breaks the rule."""
    found = complaints(rule, modules)
    assert not found, "\n" + "\n".join(found)


def planted(name: str, source: str, *, is_package: bool = False) -> Module:
    return Module(name, source, is_package)


def test_memex_imports_the_standard_library_only(client_modules: list[Module]) -> None:
    check(rules.standard_library_only, client_modules)


@pytest.mark.parametrize("package", ["memex", "memex_server"])
def test_every_part_imports_only_what_lies_below_it(package: str, all_modules: list[Module]) -> None:
    check(rules.layers, [m for m in all_modules if m.package == package])


def test_core_and_protocol_are_pure(client_modules: list[Module]) -> None:
    pure = [m for m in client_modules if m.part in {"core", "protocol"}]
    assert len(pure) >= 4
    check(rules.impure, pure)


@pytest.mark.parametrize(
    "rule", [rules.exports, rules.docstrings, rules.swallowed, rules.marks], ids=lambda r: r.__name__
)
def test_every_module_keeps_the_rule(rule: Rule, all_modules: list[Module]) -> None:
    check(rule, all_modules)


def test_sql_lives_in_sql_files(server_modules: list[Module]) -> None:
    check(rules.sql_strings, server_modules)


def test_no_file_grows_beyond_one_idea(root: Path) -> None:
    found: dict[str, int] = {}
    for folder, limit in (("src", SRC_LIMIT_LINES), ("tests", TEST_LIMIT_LINES)):
        lines = {
            path.relative_to(root).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
            for suffix in ("*.py", "*.sql")
            for path in (root / folder).rglob(suffix)
        }
        assert lines
        exceptions = {path: count for path, count in EXCEPTIONS.items() if path.startswith(f"{folder}/")}
        found |= dict.fromkeys(rules.sizes(lines, limit, exceptions), 0)
    assert list(found) == []


def test_the_changelog_speaks_of_the_current_version(root: Path) -> None:
    version = re.search(r'__version__ = "([^"]+)"', (root / "src/memex/_version.py").read_text(encoding="utf-8"))
    assert version is not None
    assert re.search(
        rf"^## \[{re.escape(version[1])}\]", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_every_decision_record_is_in_the_index(root: Path) -> None:
    records = sorted(p.name for p in (root / "docs/adr").glob("[0-9]*.md"))
    index = (root / "docs/adr/README.md").read_text(encoding="utf-8")
    assert [int(name[:4]) for name in records] == list(range(1, len(records) + 1))
    assert re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", index) == records
    for name in records:
        text = (root / "docs/adr" / name).read_text(encoding="utf-8")
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"], name


def test_the_lock_pins_every_package_by_hash_and_names_no_host(root: Path) -> None:
    lock = (root / "requirements.lock").read_text(encoding="utf-8")
    assert re.search(r"://|^-|@ |file:", lock, re.MULTILINE) is None
    pins = re.split(r"\n(?=[a-z0-9])", lock.split("\n", 1)[1])
    assert len(pins) > 50
    for pin in pins:
        assert re.match(r"[a-z0-9.-]+==\S+( ; .+)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n?)+$", pin), pin[:120]


def test_every_dependency_is_in_the_lock(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dependencies"] == []
    lock = (root / "requirements.lock").read_text(encoding="utf-8")
    for extra in ("server", "dev"):
        for requirement in project["optional-dependencies"][extra]:
            name = re.split(r"[<>=;\[ ]", requirement)[0].lower()
            assert re.search(rf"^{re.escape(name)}==", lock, re.MULTILINE), name
    assert not re.search(r"^(torch|tensorflow|nvidia-.*)==", lock, re.MULTILINE)


@pytest.mark.parametrize(
    ("rule", "name", "source"),
    [
        (rules.standard_library_only, "memex.client", "import httpx"),
        (rules.standard_library_only, "memex.core.text", "from numpy import array"),
        (rules.standard_library_only, "memex.client", "def f():\n    import memex_server.wiring"),
        (rules.standard_library_only, "memex.cli", "import memex_server.wiring"),
        (rules.standard_library_only, "memex.hermes.host", "from agent.memory_provider import MemoryProvider"),
        (
            rules.standard_library_only,
            "memex.provider",
            "def f():\n    from agent.memory_provider import MemoryProvider",
        ),
        (rules.standard_library_only, "memex.client", "import importlib\nimportlib.import_module('httpx')"),
        (rules.layers, "memex.core.text", "from memex.protocol import errors"),
        (rules.layers, "memex.core.text", "from memex import protocol"),
        (rules.layers, "memex.core.text", "from ..protocol.errors import NotFound"),
        (rules.layers, "memex.core.text", "from .. import protocol"),
        (rules.layers, "memex.core.text", "from .. import __version__"),
        (rules.layers, "memex.core.text", "def f():\n    from ..client import Client"),
        (rules.layers, "memex.protocol.models", "import memex.core.memory"),
        (rules.layers, "memex.extract.rules", "from memex.transport import http"),
        (rules.layers, "memex.transport.http", "from memex.core import text"),
        (rules.layers, "memex.unheard_of", "x = 1"),
        (rules.layers, "memex_server.service", "from memex_server.postgres.repo import Repo"),
        (rules.layers, "memex_server.service", "from .settings import Settings"),
        (rules.layers, "memex_server.service", "from memex.extract import rules"),
        (rules.layers, "memex_server.ports", "from memex_server.service import MemoryService"),
        (rules.layers, "memex_server.ranking", "from memex_server.postgres import repo"),
        (rules.layers, "memex_server.postgres.repo", "from ..embedding import cards"),
        (rules.layers, "memex_server.embedding.onnx", "from memex_server.service import MemoryService"),
        (rules.layers, "memex_server.http.app", "from memex_server.postgres import pool"),
        (rules.layers, "memex_server.http.app", "from ..embedding.onnx import Onnx"),
        (rules.layers, "memex_server.http.app", "from memex_server import wiring"),
        (rules.layers, "memex_server.mcp.tools", "from memex_server.http import schemas"),
        (rules.layers, "memex_server.unheard_of", "x = 1"),
        (rules.impure, "memex.core.scoring", "import time"),
        (rules.impure, "memex.core.scoring", "from datetime import datetime\nx = datetime.now()"),
        (rules.impure, "memex.protocol.ops", "def f(p):\n    return open(p)"),
        (rules.impure, "memex.core.memory", "import uuid\nx = uuid.uuid4()"),
        (rules.exports, "memex.client", "x = 1"),
        (rules.exports, "memex.client", "__all__ = ['a', 'b']\na = 1"),
        (rules.exports, "memex.client", "__all__ = ['a']\na = 1\ndef b(): ..."),
        (rules.exports, "memex.client", "__all__ = ['a']\na = 1\nif a:\n    class B: ..."),
        (rules.exports, "memex.client", "names = []\n__all__ = names + ['x']"),
        (rules.docstrings, "memex.client", "x = 1"),
        (rules.docstrings, "memex.client", "'''Doc.'''\ndef f(): ..."),
        (rules.docstrings, "memex.client", "'''Doc.'''\nclass C:\n    '''Doc.'''\n    async def f(self): ..."),
        (rules.swallowed, "memex.client", "try:\n    f()\nexcept Exception:\n    pass"),
        (rules.swallowed, "memex.client", "try:\n    f()\nexcept:\n    ..."),
        (
            rules.swallowed,
            "memex.client",
            "for x in y:\n    try:\n        f()\n    except (ValueError, BaseException):\n        continue",
        ),
        (rules.swallowed, "memex.client", "with contextlib.suppress(Exception):\n    f()"),
        (rules.marks, "memex.client", "x = 1  # TO" + "DO later"),
        (rules.marks, "memex.client", "'''FIX" + "ME: it lies'''"),
        (rules.marks, "memex.client", "def f():\n    raise NotImplementedError"),
        (rules.sql_strings, "memex_server.postgres.repo", "q = 'SELECT 1'"),
        (rules.sql_strings, "memex_server.postgres.repo", "q = 'select id from memories'"),
        (
            rules.sql_strings,
            "memex_server.postgres.repo",
            "q = f'UPDATE {t} SET x = 1 WHERE y'\nr = 'UPDATE t SET x = 1'",
        ),
        (rules.sql_strings, "memex_server.postgres.repo", "q = 'INSERT INTO t VALUES ($1)'"),
        (rules.sql_strings, "memex_server.postgres.repo", "q = f'DELETE FROM {t}'"),
        (rules.sql_strings, "memex_server.postgres.repo", "q = '''\n  WITH a AS (VALUES (1)) TABLE a'''"),
        (rules.sql_strings, "memex_server.postgres.repo", "q = 'SET LOCAL hnsw.ef_search = 100'"),
    ],
)
def test_a_planted_breach_is_found(rule: Rule, name: str, source: str) -> None:
    assert rule(planted(name, source)) != []


@pytest.mark.parametrize(
    ("rule", "name", "source"),
    [
        (rules.standard_library_only, "memex.cli", "def serve():\n    from memex_server.wiring import open_memex"),
        (
            rules.standard_library_only,
            "memex.hermes.host",
            "def f():\n    from agent.memory_provider import MemoryProvider",
        ),
        (
            rules.standard_library_only,
            "memex.client",
            "import json\nfrom . import protocol\nfrom memex.core import text",
        ),
        (
            rules.layers,
            "memex.extract.rules",
            "from memex.core import text\nfrom ..protocol import models\nfrom . import parse",
        ),
        (rules.layers, "memex.client", "from . import backend, extract\nfrom .core import text"),
        (
            rules.layers,
            "memex_server.service",
            "from memex.core.memory import Memory\nfrom .ports import Clock\nfrom memex_server import ranking",
        ),
        (
            rules.layers,
            "memex_server.http.app",
            "from memex import __version__\nfrom ..service import MemoryService\nfrom . import schemas",
        ),
        (
            rules.layers,
            "memex_server.postgres.repo",
            "from memex_server.postgres import pool\nfrom ..settings import DatabaseSettings",
        ),
        (rules.layers, "memex_server.wiring", "from . import http, postgres\nfrom memex.extract import rules"),
        (
            rules.impure,
            "memex.core.scoring",
            "import math\nfrom datetime import UTC, datetime\ndef f(now: datetime): return now.astimezone(UTC)",
        ),
        (rules.exports, "memex.core", "'''A folder.'''"),
        (rules.exports, "memex.client", "import os\nfrom a import b\n__all__ = ['C', 'b']\n_x = 1\nclass C: ..."),
        (rules.exports, "memex.client", "'''Doc.'''\nT = TypeVar('T')\n__all__ = ['f']\ndef f(x: T) -> T: ..."),
        (
            rules.sql_strings,
            "memex_server.postgres.migrate",
            "raise SetupError('run CREATE EXTENSION vector as a superuser')",
        ),
        (rules.exports, "memex", "__all__ = ['Lazy']\ndef __getattr__(name): ..."),
        (
            rules.docstrings,
            "memex.client",
            "'''Doc.'''\ndef _f(): ...\nclass C:\n    '''Doc.'''\n    def __init__(self): ...",
        ),
        (
            rules.swallowed,
            "memex.client",
            "try:\n    f()\nexcept OSError:\n    pass\ntry:\n    f()\nexcept Exception:\n    raise",
        ),
        (rules.marks, "memex.client", "x = 'method'  # a todo list"),
        (
            rules.sql_strings,
            "memex_server.service",
            "'''SELECT is spoken of here.'''\nx = 'Select a model or update the settings'",
        ),
    ],
)
def test_what_is_allowed_is_not_complained_of(rule: Rule, name: str, source: str) -> None:
    assert rule(planted(name, source)) == []


def test_an_exception_for_a_large_file_may_only_shrink() -> None:
    assert rules.sizes({"a.py": 400}, 400, {}) == []
    assert rules.sizes({"a.py": 401}, 400, {}) != []
    assert rules.sizes({"a.py": 450}, 400, {"a.py": 450}) == []
    assert rules.sizes({"a.py": 451}, 400, {"a.py": 450}) != []
    assert rules.sizes({"a.py": 449}, 400, {"a.py": 450}) != []
    assert rules.sizes({"a.py": 400}, 400, {"a.py": 450}) != []
    assert rules.sizes({}, 400, {"a.py": 450}) != []


def test_what_the_server_imports_is_declared(server_modules: list[Module]) -> None:
    """A package that is only there because another one needs it may vanish with the next version."""
    found = sorted(undeclared(server_modules))
    assert not found, "\n" + "\n".join(found)


def test_an_undeclared_import_is_found() -> None:
    module = planted("memex_server.http.app", "def f():\n    import requests.adapters")
    assert undeclared([module]) == {"memex_server.http.app:2: imports requests, which no extra declares"}


def undeclared(modules: list[Module]) -> set[str]:
    """Say which third-party imports no extra for users names."""
    root = Path(__file__).resolve().parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    declared = {
        re.split(r"[<>=;\[ ]", requirement)[0].lower()
        for extra, requirements in extras.items()
        if extra != "dev"
        for requirement in requirements
    }
    distributions = packages_distributions()
    found = set()
    for module in modules:
        for item in module.imports:
            name = item.name.partition(".")[0]
            if name in sys.stdlib_module_names or name in {"memex", "memex_server"}:
                continue
            if name == "pydantic_core":
                continue  # pinned exactly by pydantic, and documented as its lower half
            owners = {owner.lower().replace("_", "-") for owner in distributions.get(name, [name])}
            if not owners & declared:
                found.add(module.at(item.line, f"imports {name}, which no extra declares"))
    return found
