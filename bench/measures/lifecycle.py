"""The lifecycle: how well the rules judge, kill -9 while memories are condensed, and a simulated month."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from bench.environment import Environment, NotMeasurable
from bench.harness.http import call
from bench.harness.process import Service, running
from bench.harness.report import Row, row
from bench.harness.retrieval import load_dataset
from memex.core.claims import relation
from memex.core.contradiction import contradicts
from memex.core.summarize import summarize
from memex_server.embedding.cards import bundled_model
from memex_server.embedding.onnx import Encoder
from memex_server.embedding.store import read_model
from memex_server.worth import load_worth, texts_judged
from tests.labelled import LANGUAGES, score_contradictions, score_gate, score_pairs

__all__ = ["gate", "kill9_condensing", "month"]

_FLOOR = 0.9
_RIGHTLY_OVER = 0.95  # a memory that is wrongly taken for over is lost to searches
_BATCH = 100
_AGENT = "bench"


async def gate(env: Environment) -> list[Row]:
    """Precision and recall of the gate, and of merging at the model's threshold, on the labelled sets."""
    found = []
    model = bundled_model("multilingual-e5-small")
    encoder = Encoder(read_model(env.model_dir()), threads=1)
    worth = load_worth(model.card.id)
    if worth is None:
        raise NotMeasurable(f"worth.json is not of {model.card.id}")

    def rated(text: str) -> float:
        texts = texts_judged(text)
        return worth.judge(texts, encoder.embed(texts, "passage")).value

    for name in ("importance", "importance-unseen"):
        for language in LANGUAGES:
            for what, rating, least in (("", rated, _FLOOR), (" by rules alone", None, None)):
                score = score_gate(f"{name}-{language}", rating)
                label = f"gate{what}: {name} {language}"
                detail = f"{score.total} lines; wrong: {' | '.join(score.wrong)[:200]}"
                found.append(row(f"{label}, precision", score.precision, "", floor=least, detail=detail))
                found.append(row(f"{label}, recall", score.recall, "", floor=least))
    floor = (model.card.similarity_floor + model.card.similarity_ceiling) / 2

    def same(a: str, b: str) -> bool:
        one, other = encoder.embed([a, b], "passage")
        cosine = float(one @ other)
        near = cosine >= model.card.duplicate_threshold
        return cosine >= floor and relation(b, a, near=near) not in {"other", "negates"}

    def cosine_alone(a: str, b: str) -> bool:
        one, other = encoder.embed([a, b], "passage")
        return float(one @ other) >= model.card.duplicate_threshold

    for language in LANGUAGES:
        for label, judge, least in (("model and words", same, _FLOOR), ("cosine alone", cosine_alone, None)):
            score = score_pairs(language, judge)
            error = len(score.wrong) / score.total
            detail = f"error {error:.3f}; wrong: {' | '.join(score.wrong)[:200]}"
            name = f"pairs {language}, {label}"
            found.append(row(f"{name}: precision", score.precision, "", floor=least, detail=detail))
            found.append(row(f"{name}: recall", score.recall, "", floor=least))
    found += _contradictions()
    texts = [f"Caroline told Melanie about trip number {n} to lake {n * 7} with her dog." for n in range(50)]
    took = []
    for _ in range(200):
        started = time.process_time()
        summarize(texts)
        took.append(time.process_time() - started)
    found.append(row("summary of 50 memories", sorted(took)[100] * 1e3, "ms CPU", floor=2.0, sense="at most"))
    return found


def _contradictions() -> list[Row]:
    found = []
    for language in LANGUAGES:
        for name in ("contradictions-ordinary", "contradictions-unseen"):
            score = score_contradictions(f"{name}-{language}", lambda new, old: contradicts(new, old) is not None)
            detail = f"{score.total} pairs; wrong: {' | '.join(score.wrong)[:200]}"
            found.append(row(f"{name} {language}: precision", score.precision, "", floor=_RIGHTLY_OVER, detail=detail))
            found.append(row(f"{name} {language}: recall", score.recall, ""))
    return found


async def kill9_condensing(env: Environment) -> list[Row]:
    """50 kills at random moments while memories are condensed: each is live, or archived under one live summary."""
    kills = env.scale(50, 3)
    rng = random.Random(env.seed)
    memex = env.memex(
        "condensing",
        SUMMARIZATION_ENABLED="true",
        SUMMARIZATION_THRESHOLD="20",
        SUMMARIZATION_BATCH_SIZE="10",
        SUMMARIZATION_INTERVAL_SECONDS="0.1",
    )
    notes: Counter[str] = Counter()
    wanted: list[set[str]] = []
    memex.start()
    try:
        await memex.wait_ready()
        for kill in range(kills):
            # A user for each kill: the job of the one before may still be leased to the dead process.
            user = f"kill-{kill}"
            texts = [f"Ann walked to lake number {n} on day {kill} with her dog." for n in range(150)]
            await _store(memex, user, [{"content": text} for text in texts])
            wanted.append(set(texts))
            await asyncio.sleep(rng.uniform(0, 1.0))
            memex.kill()
            memex.start()
            await memex.wait_ready()
            notes.update(await _condition(memex, user, wanted[-1]))
        await memex.stop(timeout_s=30)
    finally:
        memex.kill()
    detail = f"{kills} kills, {notes['live']} live and {notes['archived']} archived right after"
    return [
        row("kill9 condensing: lost", notes["lost"], "memories", floor=0, sense="at most", detail=detail),
        row("kill9 condensing: twice", notes["twice"], "memories", floor=0, sense="at most"),
        row("kill9 condensing: archived under nothing", notes["orphaned"], "memories", floor=0, sense="at most"),
        row("kill9 condensing: kills between the first and the last batch", notes["partly"], f"of {kills}"),
    ]


async def month(env: Environment) -> list[Row]:
    """One user, 6,000 turns of conversation over 30 days; what is live afterwards, and what is still found."""
    folder = env.conversations / "locomo" / "dev"
    if not folder.is_dir():
        raise NotMeasurable("the public conversations are not there")
    data = load_dataset(folder, "locomo")
    size = env.scale(6_000, 400)
    groups = list(data.memories)
    turns = [(group, turn) for group in groups for turn in data.memories[group]]
    turns = [turns[n % len(turns)] for n in range(size)]
    start = datetime(2026, 1, 1, tzinfo=UTC)
    body = []
    for n, (group, turn) in enumerate(turns):
        round_ = n // max(1, min(size, sum(map(len, data.memories.values()))))
        at = start + timedelta(days=30) * (n / size)
        text = turn["text"] if round_ == 0 else f"{turn['text']} (again, {round_})"
        body.append({"content": text, "occurred_at": at.isoformat(), "session_id": f"{group}-{turn['session']}"})
    ids = {turn["id"] for _, turn in turns}
    queries = [q for group in groups for q in data.queries[group] if data.evidence[q["id"]] <= ids]
    queries = queries[: env.scale(300, 40)]
    text_of = {turn["id"]: turn["text"] for _, turn in turns}
    found = []
    figures: dict[str, tuple[float, float]] = {}
    for name, enabled in (("with", "true"), ("without", "false")):
        settings = {"SUMMARIZATION_ENABLED": enabled, "SUMMARIZATION_INTERVAL_SECONDS": "1"}
        async with running(env.memex(f"month-{name}", **settings)) as memex:
            for first in range(0, size, _BATCH):
                await _store(memex, "month", body[first : first + _BATCH])
            if enabled == "true":
                await _settled(memex)
            listed = await _list(memex, "month", "live")
            episodic = sum(m["memory_type"] == "episodic" for m in listed)
            doubled = len(listed) - len({(m["memory_type"], m["content"], m["occurred_at"]) for m in listed})
            figures[name] = await _recall(memex, queries, data.evidence, text_of)
            if enabled == "true":
                found += [
                    row("month: exact duplicates", doubled, "memories", floor=0, sense="at most"),
                    row("month: live episodic memories", episodic, "memories", floor=100, sense="at most",
                        detail=f"{size} turns, {len(listed)} live in all"),
                ]  # fmt: skip
    for name, (recall, words) in figures.items():
        label = f"month {name} consolidation"
        found.append(row(f"{label}: evidence in the 10 best", 100 * recall, "%", detail=f"{len(queries)} questions"))
        found.append(row(f"{label}: evidence's words in the 10 best", 100 * words, "%"))
    return found


async def _store(memex: Service, user: str, memories: list[dict[str, Any]]) -> None:
    body = {"memories": [{"agent_id": _AGENT, "user_id": user, **memory} for memory in memories]}
    answer = await call(memex.port, "POST", "/v1/memories/batch", body, timeout_s=600)
    if answer.status != 200 or answer.json()["failed"]:
        raise RuntimeError(f"batch: HTTP {answer.status} {answer.body[:300]!r}")


async def _list(memex: Service, user: str, state: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        path = f"/v1/memories?user_id={user}&state={state}&limit=200" + (f"&cursor={quote(cursor)}" if cursor else "")
        page = (await call(memex.port, "GET", path)).json()
        found += page["memories"]
        cursor = page["next_cursor"]
        if not cursor:
            return found


async def _condition(memex: Service, user: str, wanted: set[str]) -> Counter[str]:
    listed = [m for m in await _list(memex, user, "all") if m["deleted_at"] is None]
    live = {m["id"] for m in listed if m["condensed_into"] is None}
    own = [m for m in listed if m["content"] in wanted and m["memory_type"] == "episodic"]
    times = Counter(m["content"] for m in own)
    archived = [m for m in own if m["condensed_into"] is not None]
    return Counter(
        lost=sum(text not in times for text in wanted),
        twice=sum(count > 1 for count in times.values()),
        orphaned=sum(m["condensed_into"] not in live for m in archived),
        live=len(own) - len(archived),
        archived=len(archived),
        partly=0 < len(archived) < len(wanted) - 20,
    )


async def _settled(memex: Service) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        shown = await _list(memex, "month", "live")
        if sum(m["memory_type"] == "episodic" for m in shown) <= 100:
            return
        await asyncio.sleep(1)
    raise RuntimeError("the scope is not below the threshold after 300 s")


async def _recall(memex: Service, queries: list[Any], evidence: Any, text_of: dict[str, str]) -> tuple[float, float]:
    """Share of the evidence that stands word for word in the ten best, and share of its words that do."""
    whole = words = 0.0
    for query in queries:
        body = {"user_id": "month", "query": query["text"], "top_k": 10}
        results = (await call(memex.port, "POST", "/v1/memories/search", body)).json()["results"]
        shown = "\n".join(result["content"] for result in results)
        known = set(shown.lower().split())
        wanted = [text_of[memory_id] for memory_id in evidence[query["id"]]]
        whole += sum(text in shown for text in wanted) / len(wanted)
        said = [set(text.lower().split()) for text in wanted]
        words += sum(len(one & known) / max(len(one), 1) for one in said) / len(said)
    return whole / max(len(queries), 1), words / max(len(queries), 1)
