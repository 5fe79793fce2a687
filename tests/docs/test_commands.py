"""The commands of the pages work as they stand there, and answer what the pages show."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.acceptance.served import Served
from tests.docs.commands import Example, examples, page_commands, run

pytestmark = pytest.mark.timeout(180)

# Of each page, in order: the status of its curl commands, as its text says or implies.
_STATUSES = {
    "README.md": [201, 200],
    "README.zh.md": [201, 200],
    "README.ja.md": [201, 200],
    "docs/howto/lifecycle.md": [201],
    "docs/howto/protocol.md": [200, 200, 200, 200, 200, 200],
    "docs/howto/bulk.md": [200],
}


@pytest.mark.parametrize("page", _STATUSES)
def test_the_commands_of_a_page_succeed_and_answer_what_it_shows(checkout: Path, plain: Served, page: str) -> None:
    # Pages share users, so each begins with none.
    assert plain.call("DELETE", "/v1/memories?user_id=user-123&purge=true").status == 200
    found = examples(checkout / page)
    answers = [run(example, plain.port) for example in found]
    assert [status for status, _ in answers] == _STATUSES[page]
    for example, (_, answer) in zip(found, answers, strict=True):
        for shown in example.shown:
            assert _differences(json.loads(shown), answer) == []
    if page.startswith("README"):
        stored, search = answers[0][1], answers[1][1]
        assert search["results"][0]["id"] == stored["id"]
        assert isinstance(search["results"][0]["score"], float)


def _differences(shown: Any, answer: Any, at: str = "answer") -> list[str]:
    """Compare what a page shows with an answer: the page may leave out fields, ids, times and texts after `…` differ."""
    if isinstance(shown, dict):
        return [
            difference
            for name, value in shown.items()
            for difference in (
                _differences(value, answer[name], f"{at}.{name}") if name in answer else [f"{at}.{name} is not there"]
            )
        ]
    if isinstance(shown, list):
        if len(shown) != len(answer):
            return [f"{at} has {len(answer)} items"]
        return [d for i, value in enumerate(shown) for d in _differences(value, answer[i], f"{at}[{i}]")]
    name = at.rpartition(".")[2]
    if name in {"id", "created_at"} or (isinstance(shown, str) and shown.endswith("…")):
        return [] if isinstance(answer, str) and answer else [f"{at} is {answer!r}"]
    if isinstance(shown, float) and isinstance(answer, float):
        return [] if abs(shown - answer) <= 0.02 else [f"{at} is {answer}"]
    return [] if shown == answer else [f"{at} is {answer!r}, the page shows {shown!r}"]


def test_repeating_the_bulk_request_stores_nothing_twice_and_another_under_its_key_is_409(
    checkout: Path, plain: Served
) -> None:
    (example,) = examples(checkout / "docs/howto/bulk.md")
    assert run(example, plain.port) == run(example, plain.port)
    changed = Example(example.command.replace("Lisbon", "Porto"))
    assert run(changed, plain.port)[0] == 409


def test_commands_are_read_across_lines_and_outputs_are_not_commands() -> None:
    page = "```console\n$ make run\nmemex listens\n$ curl -d '{\n  \"a\": 1}' \\\n  x\n```\ntext\n```json\n{}\n```\n"
    assert page_commands(page) == [Example("make run"), Example("curl -d '{\n  \"a\": 1}' \\\n  x", ["{}\n"])]


@pytest.mark.parametrize("page", ["README.md", "README.zh.md", "README.ja.md"])
def test_make_knows_the_commands_of_the_page(checkout: Path, page: str) -> None:
    text = (checkout / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|\$ )make ([a-z]+)\b", text))
    targets = set(re.findall(r"^([a-z]+):", (checkout / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"run", "test"} <= named <= targets


def test_every_link_of_a_page_leads_to_a_file(checkout: Path) -> None:
    broken = []
    for page in _pages(checkout):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            if "://" not in target and not Path(urljoin(f"{page.parent}/", target)).exists():
                broken.append(f"{page.relative_to(checkout)}: {target}")
    assert broken == []


def _pages(checkout: Path) -> list[Path]:
    return [*checkout.glob("*.md"), *(checkout / "docs").rglob("*.md"), checkout / "bench" / "README.md"]


def test_the_generated_pages_are_up_to_date(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(checkout / "scripts" / "reference.py"), "--check"],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
