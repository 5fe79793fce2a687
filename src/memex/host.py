"""The one file that touches Hermes: everything optional is looked for when needed, and may be absent.

Hermes 0.19.0 lacks some of it (RecallStatus), and a cron job or a plain shell lacks all of it.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["call_model", "has_model", "hosted", "in_context", "read_yaml", "recall_status", "runtime_provider"]

C = TypeVar("C")


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


def runtime_provider() -> Mapping[str, Any] | None:
    """Return the host's resolved model endpoint (base_url, api_key, api_mode, model), or None outside Hermes."""
    try:
        from hermes_cli.runtime_provider import resolve_runtime_provider
    except ImportError:
        return None
    found: Mapping[str, Any] = resolve_runtime_provider()
    return found


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
