from __future__ import annotations

from tests.embedding_model import model_folder

__all__ = ["model_folder"]
