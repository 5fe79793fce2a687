"""Embedders behind the port of `memex_server.ports`: chosen and wrapped by `build_embedder`."""

from __future__ import annotations

from pathlib import Path

from ..ports import Embedder
from ..settings import EmbeddingSettings

__all__ = ["build_embedder", "ensure_model"]


def ensure_model(settings: EmbeddingSettings, data_path: Path, progress) -> None:
    from .cards import BUNDLED
    from .convert import build_model
    from .store import model_folder

    if not settings.embedding_base_url and settings.embedding_model in BUNDLED:
        model = BUNDLED[settings.embedding_model]
        build_model(model_folder(data_path, model), progress, name=model.name)


def build_embedder(settings: EmbeddingSettings, *, data_path: Path, threads: int, callbacks=None) -> Embedder:
    from .cards import bundled_model
    from .onnx import OnnxEmbedder
    from .store import model_folder

    model = bundled_model(settings.embedding_model)
    return OnnxEmbedder(model, model_folder(data_path, model), threads)
