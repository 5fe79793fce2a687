"""ONNX Runtime, which reports to its maker unless it is told not to before it is loaded."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["onnxruntime"]


def onnxruntime() -> Any:
    """Return the package, with its telemetry off: nothing that memex does leaves the machine."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251 - the library has no other way
    import onnxruntime as package

    return package
