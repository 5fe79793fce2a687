"""What is in the source folders is in the wheel, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
    return zipfile.ZipFile(next(target.glob("memex-*.whl")))


def test_the_wheel_holds_every_file_of_both_packages(root: Path, wheel: zipfile.ZipFile) -> None:
    expected = {
        path.relative_to(root / "src").as_posix()
        for path in (root / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == expected
    assert {"memex/py.typed", "memex_server/py.typed"} <= packed


def test_the_bare_wheel_asks_for_no_other_package(wheel: zipfile.ZipFile) -> None:
    name = next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    metadata = Parser().parsestr(wheel.read(name).decode("utf-8"))
    required = metadata.get_all("Requires-Dist") or []
    assert [line for line in required if "extra ==" not in line] == []
    assert {"server", "fastembed", "dev"} == set(metadata.get_all("Provides-Extra") or [])
    assert metadata["Requires-Python"] == ">=3.11"
