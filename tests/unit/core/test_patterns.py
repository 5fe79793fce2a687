"""Patterns are compiled when they are first used; all of them are patterns."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import memex.core
from memex.core.patterns import compile_all, lazy


def test_every_pattern_of_the_core_compiles() -> None:
    for module in pkgutil.iter_modules(memex.core.__path__):
        importlib.import_module(f"memex.core.{module.name}")
    assert compile_all() > 500


def test_a_pattern_does_what_a_compiled_one_does() -> None:
    pattern = lazy(r"(?P<what>[a-z京]+)(\d)", 2)  # re.IGNORECASE
    assert pattern.pattern == r"(?P<what>[a-z京]+)(\d)"
    assert [m["what"] for m in pattern.finditer("A1 京2 3")] == ["A", "京"]
    assert pattern.sub(r"\2", "A1 京2") == "1 2"
    assert pattern.split("xA1y") == ["", "xA", "1", "y"]
    assert (pattern.search("東") is None, pattern.groups, pattern.groupindex["what"]) == (True, 2, 1)


_COUNT = """
import memex_server.http.app, memex_server.wiring
from memex.core import patterns

def compiled(pattern):
    try:
        return bool(type(pattern).search.__get__(pattern))
    except AttributeError:
        return False

print(sum(map(compiled, patterns._KNOWN)), len(patterns._KNOWN))
"""


def test_loading_the_service_compiles_next_to_none() -> None:
    command = [sys.executable, "-c", _COUNT]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    compiled, known = map(int, told.split())
    assert known > 500
    assert compiled <= 10
