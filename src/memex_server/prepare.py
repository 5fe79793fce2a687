"""What has to be there before the first start: the data directory and the embedding model."""

from __future__ import annotations

import sys

from memex.protocol.errors import SetupError

from .embedding import ensure_model
from .settings import Settings

__all__ = ["prepare"]


def prepare(settings: Settings) -> None:
    """Make what is missing, with progress on stderr; returns at once when all is there. Raises SetupError."""
    try:
        settings.data_path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise SetupError(f"cannot make the data directory {settings.data_path}: {e.strerror}") from e
    ensure_model(settings.embedding, data_path=settings.data_path, progress=_progress)


def _progress(step: str, share: float) -> None:
    on_terminal = sys.stderr.isatty()
    end = "\n" if share >= 1 or not on_terminal else ""
    sys.stderr.write(f"{chr(13) if on_terminal else ''}memex: {step:<40} {share:4.0%}{end}")
    sys.stderr.flush()
