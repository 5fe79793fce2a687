"""memex: one long-term memory for AI agents. This package imports the standard library only.

from memex import Memex

memory = Memex(user_id="user-123", agent_id="my-agent")

The folder is also a plugin of the Hermes agent, which finds it by the name register_memory_provider
and loads it under a name of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .client import Memex
    from .core.memory import Hit, Memory, Page, Stored, Version, Weights
    from .protocol.errors import (
        Conflict,
        InvalidInput,
        MemexError,
        NotFound,
        RateLimited,
        SetupError,
        TooLarge,
        Unauthorized,
        Unavailable,
    )
    from .rest import BatchOutcome, Context, Remembered
    from .transport.retry import Retry

__all__ = [
    "BatchOutcome",
    "Conflict",
    "Context",
    "Hit",
    "InvalidInput",
    "Memex",
    "MemexError",
    "Memory",
    "NotFound",
    "Page",
    "RateLimited",
    "Remembered",
    "Retry",
    "SetupError",
    "Stored",
    "TooLarge",
    "Unauthorized",
    "Unavailable",
    "Version",
    "Weights",
    "__version__",
    "register",
]

# Where each public name lives; it is imported when it is first used, so that `import memex` costs nothing.
_HOMES = {
    "client": ("Memex",),
    "core.memory": ("Hit", "Memory", "Page", "Stored", "Version", "Weights"),
    "protocol.errors": (
        "Conflict", "InvalidInput", "MemexError", "NotFound", "RateLimited", "SetupError", "TooLarge", "Unauthorized",
        "Unavailable",
    ),
    "rest": ("BatchOutcome", "Context", "Remembered"),
    "transport.retry": ("Retry",),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def register(ctx: Any) -> None:
    """Hand the memory provider to Hermes, and name the model slots that it uses where the host keeps such a list."""
    from .hermes.host import hosted, offer_model_slots
    from .provider import MemexProvider

    ctx.register_memory_provider(hosted(MemexProvider)())
    offer_model_slots(ctx, ("memory_plan", "memory_extract"))
