"""Importing memex does nothing but define names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.rules import Module

# Imports the named modules and prints, as JSON, what our own module bodies did meanwhile: files
# written, sockets, processes and threads begun, and environment variables read. A deed belongs to the
# innermost module body on the stack, so what the standard library or a package does while it is being
# imported itself is not laid at our door, but `Path.home()` in one of our module bodies is.
_WATCH = """
import collections.abc, importlib, json, os, sys, threading
src, names = sys.argv[1], json.loads(sys.argv[2])
sys.path.insert(0, src)
deeds = []

def note(deed, ours_only=False):
    frame = sys._getframe(1)
    while frame and frame.f_code.co_name != "<module>":
        if ours_only and "site-packages" in frame.f_code.co_filename:
            return  # a library that looks at its own variables while we define a class with it
        frame = frame.f_back
    if frame and frame.f_code.co_filename.startswith(src):
        deeds.append(f"{frame.f_code.co_filename}:{frame.f_lineno}: {deed}")

BEGINS = {"os.mkdir", "os.rename", "os.remove", "os.putenv", "os.fork", "os.posix_spawn", "subprocess.Popen",
          "sqlite3.connect"}

def hook(event, args):
    if event == "open":
        path, mode, flags = args
        writes = (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or any(c in str(mode or "") for c in "wax+")
        if writes and path != os.devnull:
            note(f"writes {path}")
    elif event in BEGINS or event.startswith("socket."):
        note(f"{event} {args}")

class Spy(collections.abc.MutableMapping):
    def __init__(self, inner): self.inner = inner
    def __getitem__(self, key):
        note(f"reads {key}", ours_only=True)
        return self.inner[key]
    def __setitem__(self, key, value): self.inner[key] = value
    def __delitem__(self, key): del self.inner[key]
    def __len__(self): return len(self.inner)
    def __iter__(self):
        note("reads the whole environment", ours_only=True)
        return iter(self.inner)
    def copy(self): return dict(self)

def start(thread, begin=threading.Thread.start):
    note("starts a thread")
    begin(thread)

threading.Thread.start = start
os.environ = Spy(os.environ)
sys.addaudithook(hook)
for name in names:
    importlib.import_module(name)
print(json.dumps(deeds))
"""


def run(program: str, *arguments: str, bare: bool) -> str:
    """Run a program in a fresh interpreter; `bare` hides all installed packages from it."""
    flags = ["-I", "-S"] if bare else []
    command = [sys.executable, "-B", *flags, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def deeds(src: Path, names: list[str], *, bare: bool) -> list[str]:
    found = json.loads(run(_WATCH, str(src), json.dumps(names), bare=bare))
    assert isinstance(found, list)
    return found


def importable(modules: list[Module]) -> list[str]:
    return [m.name for m in modules if m.name.rpartition(".")[2] != "__main__"]


def test_memex_is_importable_without_any_installed_package(root: Path) -> None:
    program = "import sys; sys.path.insert(0, sys.argv[1]); import memex; print(memex.__version__)"
    assert run(program, str(root / "src"), bare=True).strip()


def test_importing_any_module_of_memex_does_nothing(root: Path, client_modules: list[Module]) -> None:
    names = importable(client_modules)
    assert "memex.core.memory" in names
    assert deeds(root / "src", names, bare=True) == []


def test_importing_any_module_of_the_server_does_nothing(root: Path, server_modules: list[Module]) -> None:
    names = importable(server_modules)
    assert "memex_server.settings" in names
    assert deeds(root / "src", names, bare=False) == []


@pytest.mark.parametrize(
    "source",
    [
        "import os\nx = os.environ.get('MEMEX_URL')",
        "import os\nx = os.getenv('MEMEX_URL')",
        "import os\nx = dict(os.environ)",
        "import pathlib\nx = pathlib.Path.home()",
        "import os\nos.makedirs(__file__ + '.d')",
        "open(__file__ + '.txt', 'w').close()",
        "import pathlib\npathlib.Path(__file__ + '.txt').write_text('x')",
        "import socket\nsocket.socket().close()",
        "import sqlite3\nsqlite3.connect(':memory:').close()",
        "import subprocess\nsubprocess.run(['true'])",
        "import threading\nt = threading.Thread(target=len, args=('',))\nt.start()\nt.join()",
    ],
)
def test_a_module_that_does_something_at_import_is_found(source: str, tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(source, encoding="utf-8")
    assert deeds(tmp_path, ["planted"], bare=True) != []


def test_the_names_in_all_can_be_had(root: Path, client_modules: list[Module]) -> None:
    program = (
        "import importlib, json, sys; sys.path.insert(0, sys.argv[1])\n"
        "for name in json.loads(sys.argv[2]):\n"
        "    module = importlib.import_module(name)\n"
        "    missing = [n for n in getattr(module, '__all__', ()) if not hasattr(module, n)]\n"
        "    if missing: print(name, missing)\n"
    )
    assert run(program, str(root / "src"), json.dumps(importable(client_modules)), bare=True) == ""
