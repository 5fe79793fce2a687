from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from memex.protocol.errors import InvalidInput, Unavailable
from memex_server.embedding.batching import BatchingEmbedder
from memex_server.embedding.callbacks import Callbacks
from memex_server.ports import FloatArray, Role
from memex_server.testing import HashingEmbedder

from .support import BOUND_S, SteeredEmbedder


@pytest.fixture
async def inner() -> SteeredEmbedder:
    return SteeredEmbedder()


async def settle() -> None:
    """Let every task that can run do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def expected(texts: list[str]) -> np.ndarray:
    return await HashingEmbedder(8).embed(texts, "query")


async def test_a_lone_text_runs_at_once(inner: SteeredEmbedder) -> None:
    await asyncio.wait_for(BatchingEmbedder(inner).embed(["one"], "query"), BOUND_S)
    assert inner.runs == [["one"]]


async def test_what_comes_while_a_run_executes_shares_the_next(inner: SteeredEmbedder) -> None:
    embedder = BatchingEmbedder(inner)
    inner.gate.clear()
    first = asyncio.create_task(embedder.embed(["first"], "query"))
    await asyncio.wait_for(inner.started.wait(), BOUND_S)
    others = [asyncio.create_task(embedder.embed([f"text {n}"], "query")) for n in range(10)]
    await settle()
    inner.gate.set()
    answers = await asyncio.wait_for(asyncio.gather(first, *others), BOUND_S)
    assert len(inner.runs) == 2
    np.testing.assert_array_equal(np.concatenate(answers[1:]), await expected([f"text {n}" for n in range(10)]))


async def test_several_runs_go_on_at_once_and_no_more(inner: SteeredEmbedder) -> None:
    embedder = BatchingEmbedder(inner, runs_at_once=2)
    inner.gate.clear()
    calls = []
    for n in range(5):
        calls.append(asyncio.create_task(embedder.embed([f"text {n}"], "query")))
        await settle()
    assert inner.runs == [["text 0"], ["text 1"]]
    inner.gate.set()
    answers = await asyncio.wait_for(asyncio.gather(*calls), BOUND_S)
    assert len(inner.runs) == 3
    np.testing.assert_array_equal(np.concatenate(answers), await expected([f"text {n}" for n in range(5)]))


async def test_a_call_that_comes_in_the_moment_the_last_one_is_answered_is_served() -> None:
    embedder = BatchingEmbedder(HashingEmbedder(8), runs_at_once=1)
    for n in range(20):
        answer = await asyncio.wait_for(embedder.embed([f"text {n}"], "query"), BOUND_S)
        np.testing.assert_array_equal(answer, await expected([f"text {n}"]))


async def test_a_large_batch_is_cut_into_bounded_runs_and_keeps_its_order(inner: SteeredEmbedder) -> None:
    texts = [f"{n} 文" * (n % 17 + 1) for n in range(1000)]
    vectors = await asyncio.wait_for(
        BatchingEmbedder(inner, run_texts=16, run_tokens=200).embed(texts, "passage"), BOUND_S
    )
    assert max(map(len, inner.runs)) <= 16
    assert sorted(t for run in inner.runs for t in run) == sorted(texts)
    np.testing.assert_array_equal(vectors, await expected(texts))


async def test_a_run_holds_texts_of_like_length(inner: SteeredEmbedder) -> None:
    texts = ["short", "long text " * 20] * 8
    await BatchingEmbedder(inner, run_texts=8, run_tokens=10_000).embed(texts, "passage")
    assert [set(run) for run in inner.runs] == [{"short"}, {"long text " * 20}]


async def test_a_query_does_not_wait_for_a_run_of_passages(inner: SteeredEmbedder) -> None:
    class Lanes(SteeredEmbedder):
        async def embed(self, texts: Sequence[str], role: Role) -> FloatArray:
            return await (super().embed(texts, role) if role == "passage" else HashingEmbedder(8).embed(texts, role))

    lanes = Lanes()
    lanes.gate.clear()
    embedder = BatchingEmbedder(lanes)
    batch = asyncio.create_task(embedder.embed(["passage"] * 1000, "passage"))
    await asyncio.wait_for(lanes.started.wait(), BOUND_S)
    assert (await asyncio.wait_for(embedder.embed(["query"], "query"), BOUND_S)).shape == (1, 8)
    assert not batch.done()
    lanes.gate.set()
    await asyncio.wait_for(batch, BOUND_S)


async def test_a_lone_passage_gets_into_the_next_run_beside_a_batch_of_a_thousand(inner: SteeredEmbedder) -> None:
    embedder = BatchingEmbedder(inner, run_texts=8)
    inner.gate.clear()
    batch = asyncio.create_task(embedder.embed([f"text {n}" for n in range(1000)], "passage"))
    await asyncio.wait_for(inner.started.wait(), BOUND_S)
    lone = asyncio.create_task(embedder.embed(["lone passage that is longer than all others"], "passage"))
    await settle()
    inner.gate.set()
    await asyncio.wait_for(lone, BOUND_S)
    assert any("lone" in text for text in inner.runs[1])
    await asyncio.wait_for(batch, BOUND_S)


async def test_a_cancelled_caller_takes_its_waiting_texts_along_and_harms_nobody(inner: SteeredEmbedder) -> None:
    embedder = BatchingEmbedder(inner, run_texts=4)
    inner.gate.clear()
    gone = asyncio.create_task(embedder.embed(["gone"] * 100, "passage"))
    await asyncio.wait_for(inner.started.wait(), BOUND_S)
    stays = asyncio.create_task(embedder.embed(["stays"], "passage"))
    await settle()
    gone.cancel()
    inner.gate.set()
    assert (await asyncio.wait_for(stays, BOUND_S)).shape == (1, 8)
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert sum(text == "gone" for run in inner.runs for text in run) == 4


async def test_a_refused_text_fails_its_own_caller_only(inner: SteeredEmbedder) -> None:
    errors: list[tuple[str, str]] = []
    embedder = BatchingEmbedder(inner, callbacks=Callbacks(on_error=lambda *row: errors.append(row)))
    calls = [["good"], ["bad 文"], ["also good", "良い"]]
    answers = await asyncio.gather(*(embedder.embed(texts, "passage") for texts in calls), return_exceptions=True)
    assert isinstance(answers[1], InvalidInput)
    np.testing.assert_array_equal(answers[0], await expected(calls[0]))
    np.testing.assert_array_equal(answers[2], await expected(calls[2]))
    assert errors == [("passage", "invalid_input")] * 2


async def test_an_outage_fails_all_in_the_run_without_asking_again() -> None:
    inner = SteeredEmbedder(error=Unavailable("down"))
    embedder = BatchingEmbedder(inner)
    answers = await asyncio.gather(*(embedder.embed([f"bad {n}"], "query") for n in range(5)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Unavailable] * 5
    assert len(inner.runs) == 1


async def test_after_an_error_the_next_call_works(inner: SteeredEmbedder) -> None:
    embedder = BatchingEmbedder(inner)
    with pytest.raises(InvalidInput):
        await embedder.embed(["bad"], "query")
    assert (await asyncio.wait_for(embedder.embed(["good"], "query"), BOUND_S)).shape == (1, 8)


async def test_each_run_is_reported(inner: SteeredEmbedder) -> None:
    runs: list[tuple[str, int, float]] = []
    ticks = iter([10.0, 12.5])
    embedder = BatchingEmbedder(
        inner, callbacks=Callbacks(on_run=lambda *row: runs.append(row)), clock_s=lambda: next(ticks)
    )
    await embedder.embed(["a", "b"], "query")
    assert runs == [("query", 2, 2.5)]


async def test_closing_fails_those_who_wait(inner: SteeredEmbedder) -> None:
    embedder = BatchingEmbedder(inner, run_texts=1)
    inner.gate.clear()
    running = asyncio.create_task(embedder.embed(["runs"], "query"))
    await asyncio.wait_for(inner.started.wait(), BOUND_S)
    waiting = asyncio.create_task(embedder.embed(["waits"], "query"))
    await settle()
    closing = asyncio.create_task(embedder.close())
    await settle()
    inner.gate.set()
    await asyncio.wait_for(closing, BOUND_S)
    with pytest.raises(Unavailable):
        await asyncio.wait_for(waiting, BOUND_S)
    assert running.done()
    await asyncio.gather(running, return_exceptions=True)
