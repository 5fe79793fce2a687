"""Make `.venv/hermes`: the agent that the plugin's tests load it into, as tests/hermes/host.lock says.

Its packages bear names such as `agent` and `tools`, so it stays out of memex' own environment. What
was done is kept as a digest; a second call returns at once.
"""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import sys
from pathlib import Path

__all__ = ["main", "prepare"]

_TIMEOUT_S = 300


def prepare(root: Path) -> Path:
    """Return the Python of the host's environment, made or renewed where needed.

    Raises:
        OSError, subprocess.SubprocessError: it could not be made, without a network for instance.
    """
    lock = root / "tests" / "hermes" / "host.lock"
    venv = root / ".venv" / "hermes"
    python, stamp = venv / "bin" / "python", venv / ".memex-host"
    wanted = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not (python.exists() and stamp.exists() and stamp.read_text(encoding="ascii") == wanted):
            uv = [sys.executable, "-m", "uv"]
            _run([*uv, "venv", "-q", "--clear", "--python", sys.executable, venv])
            _run([*uv, "pip", "install", "-q", "--python", python, "--require-hashes", "-r", lock])
            stamp.write_text(wanted, encoding="ascii")
    return python


def main() -> int:
    """Prepare the host for the checkout that this file lies in; return the exit code."""
    try:
        prepare(Path(__file__).resolve().parent.parent)
    except (OSError, subprocess.SubprocessError) as e:
        print(f"setup: no Hermes to test the plugin in: {e}", file=sys.stderr)
        return 1
    return 0


def _run(command: list[str | Path]) -> None:
    subprocess.run(command, check=True, timeout=_TIMEOUT_S)


if __name__ == "__main__":
    sys.exit(main())
