from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from memex.protocol.errors import SetupError
from memex_server.embedding import build_embedder, ensure_model
from memex_server.embedding.batching import BatchingEmbedder
from memex_server.embedding.cache import CachingEmbedder
from memex_server.embedding.fastembed import FastembedEmbedder
from memex_server.embedding.http import HttpEmbedder
from memex_server.embedding.onnx import OnnxEmbedder
from memex_server.ports import FloatArray
from memex_server.settings import EmbeddingSettings


class FakeFastembed:
    """What memex uses of the package fastembed."""

    loads: ClassVar[list[tuple[str, dict[str, object]]]] = []

    def __init__(self, model: str, **options: object) -> None:
        self.loads.append((model, options))

    @staticmethod
    def list_supported_models() -> list[dict[str, object]]:
        return [{"model": "BAAI/bge-small-en-v1.5", "dim": 3, "description": "English"}]

    def query_embed(self, texts: list[str]) -> Iterator[FloatArray]:
        return (np.array([len(text), 0, 4], np.float32) for text in texts)

    def passage_embed(self, texts: list[str]) -> Iterator[FloatArray]:
        return (np.array([len(text), 1, 0], np.float32) for text in texts)


@pytest.fixture
def fastembed(monkeypatch: pytest.MonkeyPatch) -> type[FakeFastembed]:
    module = type(sys)("fastembed")
    module.TextEmbedding = FakeFastembed  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", module)
    monkeypatch.setattr(FakeFastembed, "loads", [])
    return FakeFastembed


def settings(**values: object) -> EmbeddingSettings:
    return EmbeddingSettings(**values)  # type: ignore[arg-type]


async def test_the_default_is_the_bundled_model_batched_and_cached(tmp_path: Path) -> None:
    made = build_embedder(settings(), data_path=tmp_path, threads=1)
    assert isinstance(made, CachingEmbedder)
    assert isinstance(made._inner, BatchingEmbedder)
    assert isinstance(made._inner._inner, OnnxEmbedder)
    assert (made.card.dim, made.loaded) == (384, False)
    await made.close()


async def test_without_cache_there_is_no_cache(tmp_path: Path) -> None:
    made = build_embedder(settings(embedding_cache_size=0), data_path=tmp_path, threads=1)
    assert isinstance(made, BatchingEmbedder)
    await made.close()


async def test_a_base_url_chooses_the_endpoint_whatever_the_model_is_called(tmp_path: Path) -> None:
    chosen = settings(embedding_base_url="http://embed.test/v1", embedding_dim=7, embedding_cache_size=0)
    made = build_embedder(chosen, data_path=tmp_path, threads=1)
    assert isinstance(made, BatchingEmbedder)
    assert isinstance(made._inner, HttpEmbedder)
    assert made.card.dim == 7
    ensure_model(chosen, data_path=tmp_path, progress=lambda *_: pytest.fail("nothing is to be built"))
    await made.close()


async def test_a_name_with_an_owner_is_a_fastembed_model(tmp_path: Path, fastembed: type[FakeFastembed]) -> None:
    chosen = settings(embedding_model="BAAI/bge-small-en-v1.5", embedding_cache_size=0)
    made = build_embedder(chosen, data_path=tmp_path, threads=2)
    assert fastembed.loads == []
    queries = await made.embed(["abc", "long " * 1000], "query")
    passages = await made.embed(["普洱茶"], "passage")
    np.testing.assert_allclose(queries[0], [0.6, 0, 0.8], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(np.concatenate([queries, passages]), axis=1), 1, atol=1e-5)
    assert fastembed.loads == [
        ("BAAI/bge-small-en-v1.5", {"cache_dir": str(tmp_path / "models" / "fastembed"), "threads": 2})
    ]
    await made.close()


async def test_a_local_fastembed_folder_is_used_without_network(tmp_path: Path, fastembed: type[FakeFastembed]) -> None:
    folder = tmp_path / "models" / "fastembed" / "BAAI--bge-small-en-v1.5"
    folder.mkdir(parents=True)
    made = build_embedder(settings(embedding_model="BAAI/bge-small-en-v1.5"), data_path=tmp_path, threads=1)
    await made.load()
    assert fastembed.loads[0][1]["specific_model_path"] == str(folder)
    await made.close()


@pytest.mark.parametrize("name", ["no-such-model", "owner/no-such-model"])
def test_an_unknown_model_is_refused_by_name(tmp_path: Path, fastembed: type[FakeFastembed], name: str) -> None:
    with pytest.raises(SetupError, match=name):
        build_embedder(settings(embedding_model=name), data_path=tmp_path, threads=1)


def test_a_missing_fastembed_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(SetupError, match=r"memex\[fastembed\]"):
        FastembedEmbedder("owner/model", cache_dir=tmp_path, threads=1)
