"""Parts of the repository's transactions: what a row must be, what a patch makes of it, and trying again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import asyncpg

from memex.core.memory import UNSET, NewMemory, Patch, utc
from memex.protocol.errors import NotFound, Unavailable

from ..ports import Archived

__all__ = ["affected", "apart", "found", "patched", "retried"]

T = TypeVar("T")
_ATTEMPTS = 5  # for a transaction that lost a deadlock; each waits longer


def patched(old: NewMemory, patch: Patch) -> NewMemory:
    """Return `old` with the changes of `patch`."""
    changes = {f.name: getattr(patch, f.name) for f in fields(patch)}
    changes = {name: utc(value) if isinstance(value, datetime) else value for name, value in changes.items()}
    return replace(old, **{name: value for name, value in changes.items() if value is not UNSET})


def found(row: Any, memory_id: UUID) -> Any:
    """Return a row that is there. Raises NotFound."""
    if row is None:
        raise NotFound(f"no memory {memory_id} in this scope")
    return row


def apart(row: Any) -> Any:
    """Return the row of a memory that does not stand condensed in a summary. Raises Archived."""
    if row["condensed_into"] is not None:
        raise Archived(row["id"], row["condensed_into"])
    return row


def affected(status: str) -> int:
    """Return the number of rows that a command's status tells."""
    return int(status.rsplit(" ", 1)[-1])


async def retried(run: Callable[[], Awaitable[T]]) -> T:
    """Run a transaction again when the database broke a tie between two of them. Raises Unavailable."""
    for attempt in range(_ATTEMPTS):
        try:
            return await run()
        except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError) as e:
            if attempt == _ATTEMPTS - 1:
                raise Unavailable("too many writers of the same memories at once", retry_after_s=1) from e
            await asyncio.sleep(0.01 * 2**attempt)
    raise AssertionError("unreachable")
