"""Write the lock files: every package pinned, with hashes.

- requirements.lock: the extras `server` and `dev`, what `make setup` installs;
- deploy/requirements.lock: `server` and the build backend, what the container image installs; the same
  versions, since it is resolved under the first one as a constraint.

They name no package index: whoever installs them uses the index that their pip is set up with, and the
hashes decide whether what came is what was meant.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["HEADER", "main"]

HEADER = "# Made by `make lock` from pyproject.toml. Do not edit.\n"
_HOW = "--universal --python-version 3.11 --generate-hashes --quiet".split()
_PLAIN = "--no-annotate --no-header --no-emit-index-url --no-emit-find-links".split()


def main() -> int:
    """Resolve for every supported Python and platform; return the exit code."""
    root = Path(__file__).resolve().parent.parent
    try:
        _write(root, "requirements.lock", "pyproject.toml", "--extra=server", "--extra=dev", "--upgrade")
        under = "--constraints=requirements.lock"
        _write(root, "deploy/requirements.lock", "pyproject.toml", "-", "--extra=server", under, more="hatchling\n")
    except subprocess.CalledProcessError as error:
        print(f"lock: uv ended with code {error.returncode}; its message is above", file=sys.stderr)
        return 1
    return 0


def _write(root: Path, target: str, *arguments: str, more: str = "") -> None:
    command = [sys.executable, "-m", "uv", "pip", "compile", *arguments, *_HOW, *_PLAIN]
    done = subprocess.run(command, cwd=root, input=more, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    (root / target).write_text(HEADER + done.stdout, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
