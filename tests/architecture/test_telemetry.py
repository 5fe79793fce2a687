"""Nothing leaves the machine: the runtime's reporting to its maker is off wherever memex loads it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_LOAD = "from memex_server.onnx_runtime import onnxruntime; print(onnxruntime().__version__)"


def test_loading_the_runtime_keeps_no_record_to_be_sent(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOAD], env={"HOME": str(tmp_path)}, timeout=50, check=True, capture_output=True
    )
    assert done.stdout
    assert list(tmp_path.rglob("*onnxruntime*")) == []


def test_nothing_else_loads_it(root: Path) -> None:
    loading = re.compile(r"^\s*(?:import onnxruntime\b|from onnxruntime\b)", re.MULTILINE)
    found = [path.name for path in (root / "src").rglob("*.py") if loading.search(path.read_text(encoding="utf-8"))]
    assert found == ["onnx_runtime.py"]
