from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import pytest

from memex_server.footprint import give_back


def _resident_mib() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="not glibc")
def test_freed_memory_goes_back_to_the_system() -> None:
    held = [bytes([n % 256]) * 2_000 for n in range(60_000)]
    kept = held[::500]  # so that what is freed lies between what is not
    del held
    before = _resident_mib()
    give_back()
    assert before - _resident_mib() >= 60
    assert len(kept) == 120


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[None] = []

    def without_trim(name: None) -> object:
        loaded.append(name)
        return object()

    monkeypatch.setattr(ctypes, "CDLL", without_trim)
    give_back()
    assert loaded == [None]
