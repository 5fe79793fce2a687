from __future__ import annotations

from tests.embedding_model import encoder, model_folder

__all__ = ["encoder", "model_folder"]
