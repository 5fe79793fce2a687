from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest

from memex.protocol.errors import InvalidInput, SetupError, Unavailable
from memex_server.background import running


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Unavailable("gone"), 1),  # an outage is told once
        (SetupError("not there"), 1),
        (InvalidInput("a bug"), 3),
        (ValueError("a bug"), 3),
        (ExceptionGroup("bugs", [KeyError("x")]), 3),
    ],
)
async def test_work_that_fails_is_told_and_tried_again(
    error: Exception, told: int, caplog: pytest.LogCaptureFixture
) -> None:
    outcomes: Iterator[Exception | None] = iter([error, error, error, None])
    done = asyncio.Event()

    async def work() -> None:
        outcome = next(outcomes, None)
        if outcome is not None:
            raise outcome
        done.set()

    with caplog.at_level(logging.WARNING, logger="memex_server.background"):
        async with asyncio.timeout(10), running("count", work, 0):
            await done.wait()
    records = [(vars(record)["action"], record.exc_info is not None) for record in caplog.records]
    assert records == [("count", told == 3)] * told


async def test_work_ends_with_its_context() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with asyncio.timeout(10):
        async with running("wait", work, 0):
            await begun.wait()
        assert ended.is_set()
