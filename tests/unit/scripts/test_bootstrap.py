"""Setting a checkout up: what makes it work again, and what it says when it cannot."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bootstrap import _own_index, _pinned, digest


@pytest.fixture
def bare_checkout(tmp_path: Path, checkout: Path) -> Path:
    root = tmp_path / "my memory 記憶"
    for name in ("Makefile", "requirements.lock", "pyproject.toml", "src/memex/_version.py", "scripts/bootstrap.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(checkout / name, root / name)
    return root


def run(program: list[str], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(program, cwd=cwd, env=env, capture_output=True, text=True, timeout=30, check=False)


def test_nothing_is_to_do_while_the_inputs_are_the_same(bare_checkout: Path) -> None:
    before = digest(bare_checkout, "3.11")
    (bare_checkout / "requirements.lock").touch()
    assert digest(bare_checkout, "3.11") == before


@pytest.mark.parametrize(
    ("name", "steps"),
    [("requirements.lock", {"packages"}), ("pyproject.toml", {"project"}), ("src/memex/_version.py", {"project"})],
)
def test_a_changed_file_renews_only_what_depends_on_it(bare_checkout: Path, name: str, steps: set[str]) -> None:
    before = digest(bare_checkout, "3.11")
    with (bare_checkout / name).open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    after = digest(bare_checkout, "3.11")
    assert {step for step in after if after[step] != before[step]} == steps


def test_another_python_or_another_place_renews_too(bare_checkout: Path) -> None:
    before = digest(bare_checkout, "3.11")
    assert digest(bare_checkout, "3.12")["python"] != before["python"]
    moved = bare_checkout.rename(bare_checkout.with_name("moved"))
    assert digest(moved, "3.11")["project"] != before["project"]


def test_uv_is_found_in_the_lock_with_its_hashes(checkout: Path) -> None:
    lock = (checkout / "requirements.lock").read_text(encoding="utf-8")
    first, *hashes = _pinned("uv", lock).splitlines()
    assert first.startswith("uv==")
    assert hashes
    assert all(line.lstrip().startswith("--hash=sha256:") for line in hashes if "# via" not in line)
    assert _pinned("nonesuch", lock) == ""


@pytest.mark.parametrize(
    ("config", "own"),
    [
        ("", False),
        ("[global]\ntimeout = 60\nextra-index-url = https://more.example/simple\n", False),
        ("[global]\nindex-url = https://mirror.example/simple\n", True),
        ("[install]\nno-index = true\n", True),
    ],
)
def test_an_index_of_ones_own_is_left_to_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, own: bool
) -> None:
    (tmp_path / "pip.conf").write_text(config, encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert _own_index(Path(sys.executable)) is own


def test_a_python_without_ensurepip_is_told_which_package_to_install(bare_checkout: Path) -> None:
    program = "import runpy, sys; sys.modules['ensurepip'] = None; runpy.run_path('scripts/bootstrap.py', run_name='__main__')"
    done = run([sys.executable, "-c", program], bare_checkout)
    assert done.returncode == 1
    assert "ensurepip" in done.stderr
    assert f"python3.{sys.version_info[1]}-venv" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (bare_checkout / ".venv").exists()


def _fake_python(folder: Path, name: str, *, new_enough: bool) -> None:
    path = folder / name
    path.write_text(
        f"#!/bin/sh\n[ \"$1\" = --version ] && echo 'Python 3.9.1'\nexit {0 if new_enough else 1}\n", encoding="utf-8"
    )
    path.chmod(0o755)


def _make_env(bare_checkout: Path, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `make env` with a PATH that holds only make, sh and the pythons of `folder`."""
    for tool in ("make", "sh"):
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    return run([str(folder / "make"), "env"], bare_checkout, PATH=str(folder), **env)


def test_a_machine_with_only_an_old_python_is_told_so(bare_checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    _fake_python(tmp_path / "bin", "python3", new_enough=False)
    done = _make_env(bare_checkout, tmp_path / "bin")
    assert done.returncode != 0
    assert "needs Python 3.11" in done.stderr
    assert "Python 3.9.1" in done.stderr


def test_python3_serves_when_it_is_new_enough_and_python311_is_missing(bare_checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    _fake_python(tmp_path / "bin", "python3", new_enough=True)
    assert _make_env(bare_checkout, tmp_path / "bin").returncode == 0


def test_a_chosen_python_that_is_too_old_is_refused_not_replaced(bare_checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    _fake_python(tmp_path / "bin", "python3", new_enough=True)
    _fake_python(tmp_path / "bin", "old", new_enough=False)
    done = _make_env(bare_checkout, tmp_path / "bin", PYTHON="old")
    assert done.returncode != 0
    assert "PYTHON=old" in done.stderr
