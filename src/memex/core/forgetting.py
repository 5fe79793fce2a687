"""Which memories may fade: by expiry, age, inactivity and a budget for each user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from .scoring import recency

__all__ = ["Fading", "Kept", "Policy", "fading"]

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When memories go. 0 switches a rule off; all but expiry spare what is pinned or as important as the floor.

    `max_age_days` counts from the event, `max_idle_days` from when it was last stored, changed or
    found. `max_memories` is how many one user (or one agent of a user) may have.
    """

    max_age_days: float = 0.0
    max_idle_days: float = 0.0
    max_memories: int = 0
    importance_floor: float = 1.5
    half_life_days: float = 30.0

    @property
    def active(self) -> bool:
        """Whether any rule beside expiry is on."""
        return bool(self.max_age_days or self.max_idle_days or self.max_memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What forgetting looks at in one current memory; `used_at` is when it was last stored, changed or found."""

    id: UUID
    content: str
    importance: float
    occurred_at: datetime
    updated_at: datetime
    used_at: datetime
    pinned: bool
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Fading:
    """A memory that would go, and why."""

    memory: Kept
    reason: str


def fading(memories: Sequence[Kept], policy: Policy, now: datetime) -> list[Fading]:
    """Return what the policy lets go now, each with its first reason; pinned memories only when they expired.

    Over the budget those go first whose importance, faded by age (half of it after `half_life_days`), is least.
    """
    gone: list[Fading] = []
    rest: list[Kept] = []
    for memory in memories:
        reason = _reason(memory, policy, now)
        if reason is None:
            rest.append(memory)
        else:
            gone.append(Fading(memory, reason))
    surplus = len(rest) - policy.max_memories
    if policy.max_memories and surplus > 0:
        free = [memory for memory in rest if not _spared(memory, policy)]
        free.sort(key=lambda m: (_strength(m, policy, now), m.occurred_at, m.id))
        gone += [Fading(m, f"over the budget of {policy.max_memories} memories") for m in free[:surplus]]
    return gone


def _reason(memory: Kept, policy: Policy, now: datetime) -> str | None:
    if memory.expires_at is not None and memory.expires_at <= now:
        return "it expired"
    if _spared(memory, policy):
        return None
    if policy.max_age_days and _days(memory.occurred_at, now) > policy.max_age_days:
        return f"older than {policy.max_age_days:g} days"
    if policy.max_idle_days and _days(max(memory.used_at, memory.occurred_at), now) > policy.max_idle_days:
        return f"not stored, changed or found for {policy.max_idle_days:g} days"
    return None


def _spared(memory: Kept, policy: Policy) -> bool:
    return memory.pinned or memory.importance >= policy.importance_floor


def _strength(memory: Kept, policy: Policy, now: datetime) -> float:
    return memory.importance * recency(_days(memory.occurred_at, now), policy.half_life_days)


def _days(since: datetime, now: datetime) -> float:
    return (now - since).total_seconds() / _DAY_S
