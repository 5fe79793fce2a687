"""Make `.venv` in the checkout hold exactly what `requirements.lock` says, plus the checkout itself.

Started by make with any Python from 3.11 on; standard library only. What was done is kept in
`.venv/.memex-setup` as a digest of its inputs, so that a second call returns at once, whatever the
files' times say. Several calls may run at once: one works, the others wait for it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["SetupFailed", "digest", "main", "prepare"]

MINIMUM = (3, 11)
STAMP = ".memex-setup"


class SetupFailed(Exception):
    """The environment cannot be made; the message says what to do."""


def digest(root: Path, python_version: str) -> dict[str, str]:
    """Return what each step depends on: the interpreter, the locked packages, and the checkout.

    The checkout's own path counts, since an editable install and the scripts' first lines hold it.
    """
    packages = hashlib.sha256((root / "requirements.lock").read_bytes()).hexdigest()
    project = hashlib.sha256(str(root).encode())
    for name in ("pyproject.toml", "src/memex/_version.py"):
        project.update((root / name).read_bytes())
    return {"python": python_version, "packages": packages, "project": project.hexdigest()}


def prepare(root: Path) -> bool:
    """Bring `root/.venv` up to date; return whether anything had to be done.

    Raises:
        SetupFailed: this Python is too old or lacks ensurepip, or an install failed.
    """
    if sys.version_info[:2] < MINIMUM:
        raise SetupFailed(f"memex needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})")
    venv = root / ".venv"
    wanted = digest(root, _version())
    if _done(venv) == wanted:
        return False
    with (root / "requirements.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = _done(venv)  # again: another call may have finished while this one waited
        if done == wanted:
            return False
        if not _usable(venv, wanted["python"]):
            _create(venv)
            done = {}
        python = venv / "bin" / "python"
        if done.get("packages") != wanted["packages"]:
            _install(python, root)
            done = {"python": wanted["python"], "packages": wanted["packages"]}
            _write(venv, done)
        _say("installing memex from this checkout")
        _pip(python, root, "--no-deps", "--no-build-isolation", "-e", ".")
        _write(venv, wanted)
    return True


def main(arguments: list[str]) -> int:
    """Prepare the checkout that this file lies in; return the exit code.

    With `--check` do nothing, and return 0 only if there is nothing to do.
    """
    started = time.monotonic()
    root = Path(__file__).resolve().parent.parent
    if arguments == ["--check"]:
        return 0 if _done(root / ".venv") == digest(root, _version()) else 1
    try:
        changed = prepare(root)
    except SetupFailed as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    if changed:
        _say(f"environment ready in {time.monotonic() - started:.0f} s")
    return 0


def _version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def _done(venv: Path) -> dict[str, str]:
    try:
        found = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(venv: Path, state: dict[str, str]) -> None:
    fresh = venv / f"{STAMP}.new"
    fresh.write_text(json.dumps(state, indent=1), encoding="utf-8")
    fresh.replace(venv / STAMP)


def _usable(venv: Path, python_version: str) -> bool:
    """Whether `venv` holds a Python of the wanted version that can run pip."""
    python = venv / "bin" / "python"
    if not python.exists():
        return False
    probe = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False)
    return answer.returncode == 0 and answer.stdout.strip() == python_version


def _create(venv: Path) -> None:
    try:
        import ensurepip  # noqa: F401 - only to see whether it is there
        import venv as _  # noqa: F401
    except ImportError as error:
        raise SetupFailed(
            f"{sys.executable} has no '{error.name}'. On Debian and Ubuntu: apt-get install python{_version()}-venv"
        ) from error
    _say(f"creating .venv with Python {sys.version.split()[0]}")
    if venv.exists():
        shutil.rmtree(venv)
    made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise SetupFailed(f"cannot create .venv:\n{made.stdout}{made.stderr}".rstrip())


def _install(python: Path, root: Path) -> None:
    """Install the locked packages: by uv, or where that cannot be, by pip, which takes minutes instead of seconds."""
    lock = ["--no-deps", "--require-hashes", "-r"]  # it names all packages
    if not _own_index(python):
        _say("installing the locked packages")
        own = root / ".venv" / "uv.lock"
        own.write_text(_pinned("uv", (root / "requirements.lock").read_text(encoding="utf-8")), encoding="utf-8")
        compiled = ["--compile-bytecode"] if sys.dont_write_bytecode else []
        uv: list[str | Path] = [python, "-m", "uv", "pip", "install", "-q", "--python", python, *compiled]
        try:
            _pip(python, root, "--only-binary", ":all:", *lock, own)
            _run([*uv, *lock, "requirements.lock"], root, UV_HTTP_TIMEOUT="20")
        except SetupFailed as error:
            _say(f"{error}; pip does it instead")
        else:
            return
    _say("installing the locked packages with pip (a minute or two)")
    _pip(python, root, *lock, "requirements.lock")


def _own_index(python: Path) -> bool:
    """Whether pip is told to look elsewhere than on PyPI, of which uv knows nothing."""
    told = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    return re.search(r"\.(index-url|no-index)=", told.stdout) is not None


def _pinned(name: str, lock: str) -> str:
    found = re.search(rf"^{name}==(.*\\\n)*.*\n", lock, re.MULTILINE)
    return found[0] if found else ""


def _pip(python: Path, root: Path, *arguments: str | Path) -> None:
    # Python compiles what is imported, once; to compile all that is installed takes as long as to install it.
    lazily = [] if sys.dont_write_bytecode else ["--no-compile"]
    _run([python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *arguments, *lazily], root)


def _run(command: list[str | Path], root: Path, **settings: str) -> None:
    # PYTHONPATH would let packages of another environment count as installed.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        env["PIP_ROOT_USER_ACTION"] = "ignore"
    done = subprocess.run(command, cwd=root, env={**env, **settings}, check=False)
    if done.returncode != 0:
        raise SetupFailed(f"{command[2]} ended with code {done.returncode}; its message is above")


def _say(text: str) -> None:
    print(f"setup: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
