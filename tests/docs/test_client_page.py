"""The Python of the client's page runs as it stands there, and prints what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.served import Served

pytestmark = pytest.mark.timeout(180)
_BLOCKS = re.compile(r"^```python\n(.*?)^```\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_client_page_print_what_it_shows(checkout: Path, plain: Served) -> None:
    assert plain.call("DELETE", "/v1/memories?user_id=user-456&purge=true").status == 200
    page = (checkout / "docs" / "howto" / "client.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    blocks = _BLOCKS.findall(page.replace("http://127.0.0.1:8000", f"http://127.0.0.1:{plain.port}"))
    assert len(blocks) == page.count("```python")
    for code, shown in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "client.md", "exec"), names)
        assert out.getvalue() == shown
