from __future__ import annotations

from pathlib import Path

import pytest

from memex.protocol.errors import SetupError
from memex_server.reranking import build_reranker
from memex_server.reranking.http import HttpReranker
from memex_server.reranking.onnx import OnnxReranker
from memex_server.settings import from_env
from tests.reranker_model import write_cross_encoder


def test_there_is_none_unless_one_is_asked_for() -> None:
    settings = from_env({}).reranker
    assert build_reranker(settings, threads=1) is None
    assert (settings.reranker_candidates, settings.reranker_deadline_s) == (30, 0.5)


async def test_a_folder_or_an_endpoint_is_chosen_by_setting(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path, ["tea", "普洱茶", "お茶"])
    local = build_reranker(from_env({"MEMEX_RERANKER_DIR": str(tmp_path)}).reranker, threads=1)
    remote = build_reranker(from_env({"MEMEX_RERANKER_BASE_URL": "http://rerank.test/v1"}).reranker, threads=1)
    assert isinstance(local, OnnxReranker)
    assert isinstance(remote, HttpReranker)
    await local.close()
    await remote.close()


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"MEMEX_RERANKER_DIR": "/x", "MEMEX_RERANKER_BASE_URL": "http://y"}, "are both given: unset one"),
        ({"MEMEX_RERANKER_CANDIDATES": "0"}, "MEMEX_RERANKER_CANDIDATES='0': expected 1 to 200"),
        ({"MEMEX_RERANKER_CANDIDATES": "201"}, "MEMEX_RERANKER_CANDIDATES='201': expected 1 to 200"),
        ({"MEMEX_RERANKER_DEADLINE_S": "0"}, "MEMEX_RERANKER_DEADLINE_S='0': expected"),
    ],
)
def test_settings_that_cannot_work_are_refused(env: dict[str, str], message: str) -> None:
    with pytest.raises(SetupError, match=message):
        from_env(env)
