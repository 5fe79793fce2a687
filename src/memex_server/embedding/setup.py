"""Builds a bundled model in a process of its own, so that what the building needs is not kept by the service."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from memex.protocol.errors import SetupError

from .cards import BundledModel
from .store import MODEL_FILE, model_folder

__all__ = ["Progress", "ensure_built", "main"]

Progress = Callable[[str, float], None]  # what is being done, and the share of the whole that is done

_PROGRAM = f"import sys; from {__name__} import main; sys.exit(main(*sys.argv[1:]))"


def ensure_built(model: BundledModel, data_path: Path, progress: Progress) -> Path:
    """Return the model's folder; build it first if it is not there. Its checksums are compared when it is loaded.

    Raises:
        SetupError: it cannot be built; the message says what to do.
    """
    folder = model_folder(data_path, model)
    if not (folder / MODEL_FILE).exists():
        _build_apart(folder, model, progress)
    return folder


def _build_apart(folder: Path, model: BundledModel, progress: Progress) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(folder), model.name]
    error = ""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8") as child:  # noqa: S603
        assert child.stdout is not None  # noqa: S101 - for the type checker; it was asked for
        for line in child.stdout:
            told = json.loads(line)
            if "error" in told:
                error = told["error"]
            else:
                progress(told["step"], told["share"])
    if child.returncode:
        raise SetupError(error or f"building the embedding model {model.name} ended with status {child.returncode}")


def main(folder: str, name: str) -> int:
    """Build the model; tell progress and a refusal as JSON lines on stdout."""
    from .convert import build_model

    def tell(step: str, share: float) -> None:
        _say({"step": step, "share": share})

    try:
        build_model(Path(folder), tell, name=name)
    except SetupError as e:
        _say({"error": str(e)})
        return 1
    return 0


def _say(row: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()
