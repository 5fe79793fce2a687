"""Forgetting: what the policy lets go becomes a tombstone, with the reason in its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memex.core.forgetting import Fading, Policy, fading

from .checks import check_policy, check_scope
from .parts import Parts

__all__ = ["Forgetting", "Forgotten"]

_USERS = 500
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What goes (or went) and why; `count` is how many did."""

    fading: Sequence[Fading]
    count: int


class Forgetting(Parts):
    """Letting memories go by policy."""

    @property
    def policy(self) -> Policy:
        """The service's own policy."""
        return self._rules.policy

    async def forget(
        self, *, user_id: str, agent_id: str | None = None, policy: Policy | None = None, dry_run: bool = False
    ) -> Forgotten:
        """Let go what the policy (default: the service's) says; with `dry_run` only tell.

        Raises:
            InvalidInput, Unavailable.
        """
        check_scope(user_id, agent_id)
        chosen = self._rules.policy if policy is None else policy
        check_policy(chosen)
        now = self._clock()
        due = fading(await self._repo.kept(user_id, agent_id), chosen, now)
        if dry_run:
            return Forgotten(due, 0)
        count = 0
        for start in range(0, len(due), _AT_ONCE):
            reasons = {f.memory.id: (f.memory.updated_at, f.reason) for f in due[start : start + _AT_ONCE]}
            count += await self._repo.forget(user_id, reasons, now=now)
        self._observer.operation("forget", "forgotten", count)
        return Forgotten(due, count)

    async def forget_by_policy(self) -> int:
        """Apply the service's policy to all users; return how many memories went. Raises Unavailable."""
        if not self._rules.policy.active:
            return 0
        count, after = 0, ""
        while users := await self._repo.users(after, _USERS):
            for user_id in users:
                count += (await self.forget(user_id=user_id)).count
            after = users[-1]
        return count
