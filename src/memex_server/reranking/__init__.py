"""Rerankers behind the port of `memex_server.ports`: chosen by `build_reranker`, none by default."""

from __future__ import annotations

from pathlib import Path

from ..ports import Reranker
from ..settings import RerankerSettings

__all__ = ["build_reranker"]


def build_reranker(settings: RerankerSettings, *, threads: int) -> Reranker | None:
    """Return the chosen reranker, ready to answer, or None if none is chosen. Blocks while a model loads.

    Raises:
        SetupError: the folder holds no cross-encoder that works, or the endpoint's address is none.
    """
    if settings.reranker_dir:
        from .onnx import OnnxReranker

        return OnnxReranker(Path(settings.reranker_dir).expanduser(), threads)
    if settings.reranker_base_url:
        from .http import HttpReranker

        return HttpReranker(settings.reranker_base_url, settings.reranker_model, api_key=settings.reranker_api_key)
    return None
