"""What fades, by which rule; what is pinned or important stays."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memex.core.forgetting import Kept, Policy, fading

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def kept(n: int = 1, days: float = 0, **fields: Any) -> Kept:
    at = NOW - timedelta(days=days)
    memory = Kept(
        id=UUID(int=n),
        content="x",
        importance=1,
        occurred_at=at,
        updated_at=at,
        used_at=at,
        pinned=False,
        expires_at=None,
    )
    return dataclasses.replace(memory, **fields)


@pytest.mark.parametrize(
    ("memory", "policy", "reason"),
    [
        (kept(days=9999), Policy(), None),
        (kept(expires_at=NOW), Policy(), "it expired"),
        (kept(expires_at=NOW, pinned=True), Policy(), "it expired"),
        (kept(days=31), Policy(max_age_days=30), "older than 30 days"),
        (kept(days=29), Policy(max_age_days=30), None),
        (kept(days=31, pinned=True), Policy(max_age_days=30), None),
        (kept(days=31, importance=1.5), Policy(max_age_days=30), None),
        (kept(days=31, importance=1.5), Policy(max_age_days=30, importance_floor=3), "older than 30 days"),
        (kept(days=31), Policy(max_idle_days=30), "not stored, changed or found for 30 days"),
        (kept(days=31, used_at=NOW), Policy(max_idle_days=30), None),
    ],
)
def test_a_rule_lets_go(memory: Kept, policy: Policy, reason: str | None) -> None:
    assert [one.reason for one in fading([memory], policy, NOW)] == ([] if reason is None else [reason])


def test_over_the_budget_the_weakest_go() -> None:
    memories = [kept(1, days=100), kept(2, days=1), kept(3, days=100, importance=1.4), kept(4, days=200, pinned=True)]
    gone = fading(memories, Policy(max_memories=3), NOW)
    assert [(one.memory.id, one.reason) for one in gone] == [(UUID(int=1), "over the budget of 3 memories")]
