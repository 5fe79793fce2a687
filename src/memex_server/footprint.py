"""Gives memory that nobody uses back to the system."""

from __future__ import annotations

import ctypes

__all__ = ["give_back"]


def give_back() -> None:
    """Return what the C library keeps of freed memory; with another one than glibc, nothing is to be done.

    After large bodies and batches glibc holds on to what they needed, for as long as anything small lies above it.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
