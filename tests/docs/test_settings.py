"""Pages name only settings that there are, with their true defaults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memex.config import describe as describe_agent
from memex_server.settings import describe

# Variables of the tools around memex, not of memex.
_OTHERS = {"BENCH_ARGS", "HERMES_HOME", "PYTEST_ARGS", "XDG_DATA_HOME"}
# Read by the client and its commands (docs/howto/client.md).
_OTHERS |= {"MEMEX_AGENT_ID", "MEMEX_API_TOKEN", "MEMEX_URL", "MEMEX_USER_ID"}
_PAGES = ["README.md", "README.zh.md", "README.ja.md", "CONTRIBUTING.md", "docs", "deploy", "bench/README.md"]
_NAME = re.compile(r"(?<![\w/.{-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w.-])")


def _names() -> set[str]:
    return {name for row in describe() for name in row["names"]}


def _agent_names() -> set[str]:
    return {name for row in describe_agent() for name in row["names"]}


def _files(checkout: Path) -> list[Path]:
    found: list[Path] = []
    for page in _PAGES:
        path = checkout / page
        found += (
            [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in {".md", ".yaml", ".yml"})
        )
    return found


def test_every_variable_that_a_page_names_is_a_setting(checkout: Path) -> None:
    known = _names() | _agent_names() | _OTHERS
    unknown = set()
    for path in _files(checkout):
        text = path.read_text(encoding="utf-8")
        # POSTGRES_ and GF_ belong to the containers beside memex; ${...} is filled in by compose.
        of_compose = set(re.findall(r"\$\{(\w+)", text))
        unknown |= {
            f"{path.relative_to(checkout)}: {name}"
            for name in set(_NAME.findall(text)) - known - of_compose
            if not name.startswith(("POSTGRES_", "GF_"))
        }
    assert unknown == set()


def test_every_setting_is_on_the_reference_page(checkout: Path) -> None:
    page = (checkout / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    assert {name for name in _names() if f"`{name}`" not in page} == set()


def test_every_setting_of_the_agent_is_on_its_page(checkout: Path) -> None:
    page = (checkout / "docs" / "reference" / "agent-settings.md").read_text(encoding="utf-8")
    assert {name for name in _agent_names() if f"| `{name}` |" not in page} == set()


@pytest.mark.parametrize("page", ["README.md", "README.zh.md", "README.ja.md"])
def test_defaults_that_a_readme_gives_are_the_true_ones(checkout: Path, page: str) -> None:
    text = (checkout / page).read_text(encoding="utf-8")
    defaults = {name: row["default"] for row in describe() for name in row["names"]}
    pairs = {
        pair
        for names, values in re.findall(r"^\| (`[A-Z_`,、 ]+`) \| ([\d.,、 ]+) \|", text, re.MULTILINE)
        for pair in zip(re.findall(r"`([A-Z_]+)`", names), re.split(r", |、", values), strict=True)
    }
    assert {"MEMEX_PORT", "MEMEX_HOST", "WORKERS"} <= {name for name, _ in pairs}
    assert {(name, str(defaults[name])) for name, _ in pairs} == pairs
