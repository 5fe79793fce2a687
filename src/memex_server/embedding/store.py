"""The folder of a built model: which files, where, and whether they are whole."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from memex.protocol.errors import SetupError

from ..ports import FloatArray, Role
from .cards import BundledModel, bundled_model
from .words import WordFormat

__all__ = [
    "ENCODER_FILE",
    "LAYOUT",
    "MODEL_FILE",
    "WORDS_FILE",
    "ModelFiles",
    "Reference",
    "check_references",
    "describe_model",
    "model_folder",
    "pack_vector",
    "read_model",
    "references",
    "tokenizer_file",
]

# Counts up when the files change in kind; it is part of the folder's name, so a new version builds anew.
LAYOUT = 1
MODEL_FILE = "model.json"
ENCODER_FILE = "encoder.onnx"
WORDS_FILE = "words.bin"

# int8 keeps 0.998 and more of a text's vector; below this it is another model, or a broken one.
_LEAST_COSINE = 0.98
_PIECE_BYTES = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """Where the parts of a built model are."""

    model: BundledModel
    encoder: Path
    words: Path
    tokenizer: Path
    word_format: WordFormat


@dataclass(frozen=True, slots=True)
class Reference:
    """A text and the vector that the original model gives it (a byte per component, so not quite of length 1)."""

    role: Role
    text: str
    vector: FloatArray


def model_folder(data_path: Path, model: BundledModel) -> Path:
    """Return the folder of this model under the data directory."""
    return data_path / "models" / f"{model.name}-{LAYOUT}"


def tokenizer_file(model: BundledModel) -> str:
    """Return the name of the tokenizer's file."""
    return "sentencepiece.model" if model.tokenizer == "unigram" else "tokenizer.json"


def describe_model(folder: Path, model: BundledModel, word_format: WordFormat) -> str:
    """Return the text of `model.json` for the files in `folder`."""
    names = [ENCODER_FILE, WORDS_FILE, tokenizer_file(model)]
    return json.dumps(
        {
            "layout": LAYOUT,
            "name": model.name,
            "card": dataclasses.asdict(model.card),
            "word_format": word_format,
            "sha256": {name: _sha256(folder / name) for name in names},
        },
        indent=2,
    )


def read_model(folder: Path) -> ModelFiles:
    """Return the files of the model in `folder` after comparing their checksums.

    Raises:
        SetupError: the model was never built, or a file is missing or damaged.
    """
    try:
        description = json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))
        model = bundled_model(description["name"])
        damaged = [name for name, digest in description["sha256"].items() if _sha256(folder / name) != digest]
        word_format = description["word_format"]
    except FileNotFoundError as e:
        missing = Path(e.filename).name
        raise SetupError(f"the embedding model in {folder} is not complete ({missing} is missing); {_REPAIR}") from e
    except (KeyError, ValueError, TypeError, AttributeError) as e:
        raise SetupError(f"{folder / MODEL_FILE} is damaged; {_REPAIR}") from e
    if damaged:
        raise SetupError(f"the embedding model in {folder} is damaged ({', '.join(damaged)}); {_REPAIR}")
    return ModelFiles(
        model=model,
        encoder=folder / ENCODER_FILE,
        words=folder / WORDS_FILE,
        tokenizer=folder / tokenizer_file(model),
        word_format=word_format,
    )


_REPAIR = "delete that folder, and memex builds it again at its next start"


def references(model: BundledModel) -> list[Reference]:
    """Return what the original model answers to a few texts."""
    source = resources.files(__package__) / "references" / f"{model.name}.json"
    rows = json.loads(source.read_text(encoding="utf-8"))
    return [Reference(row["role"], row["text"], _unpack_vector(row["vector"])) for row in rows]


def check_references(expected: Sequence[Reference], actual: FloatArray) -> None:
    """Compare vectors with those of the original model.

    Raises:
        SetupError: one differs too much; the message names the text and the cosine.
    """
    for reference, vector in zip(expected, actual, strict=True):
        norms = float(np.linalg.norm(reference.vector) * np.linalg.norm(vector))
        cosine = float(reference.vector @ vector) / norms if norms else 0.0
        if not cosine >= _LEAST_COSINE:  # also refuses nan
            raise SetupError(
                f"the embedding model gives a wrong vector for {reference.text!r} "
                f"(cosine {cosine:.3f} with the original, at least {_LEAST_COSINE} expected); {_REPAIR}"
            )


def pack_vector(vector: FloatArray) -> str:
    """Return a vector as base64 of one byte per component."""
    return base64.b64encode(np.round(vector * (127 / np.abs(vector).max())).astype(np.int8).tobytes()).decode()


def _unpack_vector(packed: str) -> FloatArray:
    return np.frombuffer(base64.b64decode(packed), dtype=np.int8).astype(np.float32)


def _sha256(path: Path) -> str:
    # In large pieces: after each of them this thread queues for the interpreter, which at a start is busy importing.
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()
