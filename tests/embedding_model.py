"""The converted embedding model for tests: built once per machine, not per run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import platformdirs
import pytest

from memex_server.embedding.cards import BUNDLED
from memex_server.embedding.onnx import Encoder
from memex_server.embedding.setup import ensure_built
from memex_server.embedding.store import read_model

__all__ = ["encoder", "model_folder"]


@pytest.fixture(scope="session")
def model_folder(outer_environment: Mapping[str, str]) -> Path:
    """The folder of multilingual-e5-small, under MEMEX_TEST_MODEL_DIR or the default data directory."""
    data_path = Path(outer_environment.get("MEMEX_TEST_MODEL_DIR") or platformdirs.user_data_path("memex"))
    return ensure_built(BUNDLED["multilingual-e5-small"], data_path, lambda _step, _share: None)


@pytest.fixture(scope="session")
def encoder(model_folder: Path) -> Encoder:
    """The loaded model; loading takes a second, so all tests of a run share it."""
    return Encoder(read_model(model_folder), threads=1)
