"""Two memories stood beside each other if both were there at one time, saying what they say now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memex.core.coexistence import stood_beside
from memex.core.memory import MemoryType, Version

START = datetime(2026, 6, 1, tzinfo=UTC)


def history(*steps: str) -> list[Version]:
    """Make a history of steps such as "3 deleted": the day and what was done; "5 updated 茶" with another text."""
    versions: list[Version] = []
    text = "私は東京に住んでいます"
    for number, step in enumerate(steps, 1):
        day, action, *new = step.split(" ")
        text = new[0] if new else text
        at = START + timedelta(days=int(day))
        versions.append(
            Version(
                version=number, action=action, at=at, actor=None, reason=None, content=text, importance=1.0,
                memory_type=MemoryType.SEMANTIC, tags=(), metadata={},
            )
        )  # fmt: skip
    return versions


@pytest.mark.parametrize(
    ("one", "other", "beside"),
    [
        (["1 created"], ["2 created"], True),
        (["1 created", "3 deleted"], ["2 created"], True),
        (["1 created", "3 deleted"], ["2 created", "3 deleted", "4 restored"], True),
        (["1 created", "3 deleted"], ["2 created", "2 deleted", "4 restored"], False),
        (["1 created", "3 deleted"], ["3 created"], False),
        (["1 created", "3 deleted"], ["5 created"], False),
        (["4 created", "6 deleted"], ["1 created", "2 deleted", "7 restored"], False),
        (["1 created", "3 deleted", "5 restored", "9 deleted"], ["4 created"], True),
        (["1 created", "3 superseded", "5 reinstated"], ["3 created", "5 deleted"], False),
        (["1 created", "9 deleted"], ["2 created", "9 deleted", "10 restored", "11 updated 茶"], False),
        (["1 created", "9 deleted"], ["2 created", "4 updated 茶", "9 deleted", "10 restored"], True),
        (["1 created"], [], False),
    ],
)
def test_both_were_there_at_one_time(one: list[str], other: list[str], beside: bool) -> None:
    assert stood_beside(history(*one), history(*other)) is beside
    assert stood_beside(history(*other), history(*one)) is beside
