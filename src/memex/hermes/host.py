"""The one file that touches Hermes: everything optional is looked for when needed, and may be absent.

Hermes 0.19.0 lacks some of it (RecallStatus), and a cron job or a plain shell lacks all of it.
"""

from __future__ import annotations

import contextvars
import functools
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

__all__ = [
    "call_model",
    "guarded",
    "has_model",
    "home",
    "hosted",
    "in_context",
    "offer_model_slots",
    "read_yaml",
    "recall_status",
]

C = TypeVar("C")
P = ParamSpec("P")
R = TypeVar("R")

_LOG = logging.getLogger(__name__)


def guarded(default: R) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a hook that logs an error and returns `default`, instead of raising it into the conversation."""

    def wrap(method: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(method)
        def hook(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return method(*args, **kwargs)
            except Exception:  # noqa: BLE001 - nothing that memory does may end a turn
                _LOG.exception("memex: %s failed; the conversation goes on without it", method.__name__)
                return default

        return hook

    return wrap


def hosted(cls: type[C]) -> type[C]:
    """Return `cls` as a subclass of Hermes' MemoryProvider too, or as it is without Hermes."""
    try:
        from agent.memory_provider import MemoryProvider
    except ImportError:
        return cls
    return type(cls.__name__, (cls, MemoryProvider), {"__module__": cls.__module__, "__doc__": cls.__doc__})


def recall_status(label: str, count: int) -> Any:
    """Return Hermes' RecallStatus, or None where the host has none (0.19.0)."""
    try:
        from agent.memory_provider import RecallStatus
    except ImportError:
        return None
    return RecallStatus(provider_label=label, count=count)


def has_model() -> bool:
    """Whether the host's auxiliary model can be called from this process."""
    try:
        from agent.auxiliary_client import call_llm
    except ImportError:
        return False
    return callable(call_llm)


def call_model(task: str, messages: Sequence[Mapping[str, str]], timeout_s: float) -> str:
    """Ask the host's auxiliary model; return its text. Raises whatever the host raises (no key, no network …).

    The host's time limit is per attempt; whoever calls keeps the total.
    """
    from agent.auxiliary_client import call_llm, extract_content_or_reasoning

    answer = call_llm(task=task, messages=[dict(message) for message in messages], timeout=timeout_s)
    return str(extract_content_or_reasoning(answer) or "")


def home() -> Path | None:
    """Return Hermes' folder as Hermes itself sees it (profiles included), or None outside Hermes."""
    try:
        from hermes_constants import get_hermes_home
    except ImportError:
        return None
    return Path(get_hermes_home())


def offer_model_slots(ctx: Any, names: Sequence[str]) -> None:
    """Name model slots in the host's settings; 0.19.0 has no such list, and knows the slots without it."""
    offer = getattr(ctx, "register_auxiliary_task", None)
    if not callable(offer):
        return
    for name in names:
        try:
            offer(key=name, display_name=f"memex: {name}", description="makes facts of conversations", defaults={})
        except Exception:  # noqa: BLE001 - a slot is a nicety; the provider is registered already
            _LOG.debug("memex: the host refused the model slot %s", name, exc_info=True)


def read_yaml(path: Path) -> Mapping[str, Any]:
    """Return a YAML file's mapping; {} if it is absent or no mapping, or PyYAML is not installed.

    Raises:
        ValueError: the file is no YAML.
    """
    try:
        import yaml
    except ImportError:
        return {}
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError:
        return {}
    except yaml.YAMLError as e:
        raise ValueError(f"{path} is no YAML") from e
    return found if isinstance(found, dict) else {}


def in_context(target: Callable[[], object], name: str) -> threading.Thread:
    """Start a daemon thread that sees the caller's context variables (profile, secrets, live model)."""
    context = contextvars.copy_context()
    thread = threading.Thread(target=lambda: context.run(target), name=name, daemon=True)
    thread.start()
    return thread
