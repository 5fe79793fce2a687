"""Kill -9 of the service and of Postgres under write load: what was acknowledged is there, and nothing twice."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import quote

from bench.environment import Environment, NotMeasurable
from bench.harness.database import postmaster_pid
from bench.harness.http import Connection, call, encode
from bench.harness.load import AGENT
from bench.harness.process import Service, ServiceFailed
from bench.harness.report import Row, row
from bench.harness.texts import sentences

__all__ = ["Ledger", "kill9", "verdict"]

_WRITERS = 8
_USER = "kill9"
# How long the service may take to come back by itself after its database was killed.
_RECOVERY_S = 20.0


@dataclass(slots=True)
class Ledger:
    """What the writers know: the id that each text was acknowledged with, and the texts left in doubt."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    in_doubt: list[str] = field(default_factory=list)


def verdict(ledger: Ledger, stored: list[tuple[str, str]]) -> dict[str, int]:
    """Compare the ledger with the (id, text) pairs of a listing; all counts must be zero.

    `lost`: acknowledged and not there. `other_id`: there under another id than was acknowledged.
    `twice`: texts that are there more than once.
    """
    ids = {text: memory_id for memory_id, text in stored}
    times = Counter(text for _, text in stored)
    return {
        "lost": sum(1 for text in ledger.acknowledged if text not in ids),
        "other_id": sum(1 for text, memory_id in ledger.acknowledged.items() if ids.get(text, memory_id) != memory_id),
        "twice": sum(1 for count in times.values() if count > 1),
    }


async def kill9(env: Environment) -> list[Row]:
    """20 kills of the service and 20 of Postgres; texts in doubt are sent again with their Idempotency-Key."""
    times = env.scale(20, 3)
    rng = random.Random(env.seed)
    ledger = Ledger()
    texts = sentences(9)
    notes: Counter[str] = Counter()
    memex = env.memex("kill9")
    memex.start()
    try:
        await memex.wait_ready()
        for victim in ["service"] * times + ["postgres"] * times:
            await _strike(env, memex, victim, rng.uniform(0.3, 1.5), ledger, texts, notes)
            await _send_again(memex.port, ledger)
        stored = await _list_all(memex.port)
        await memex.stop(timeout_s=30)
    finally:
        memex.kill()
    found = verdict(ledger, stored)
    detail = f"{2 * times} kills, {len(ledger.acknowledged)} acknowledged, {len(stored)} stored; {dict(notes)}"
    return [
        row("kill9: acknowledged writes lost", found["lost"], "memories", floor=0, sense="at most", detail=detail),
        row("kill9: under another id", found["other_id"], "memories", floor=0, sense="at most"),
        row("kill9: stored twice", found["twice"], "memories", floor=0, sense="at most"),
        row(
            "kill9: service came back by itself after Postgres was killed",
            notes["recovered by itself"],
            f"of {times}",
            floor=times,
        ),
    ]


async def _strike(
    env: Environment,
    memex: Service,
    victim: str,
    after_s: float,
    ledger: Ledger,
    texts: Iterator[str],
    notes: Counter[str],
) -> None:
    stop = asyncio.Event()
    writers = [asyncio.create_task(_write(memex.port, texts, ledger, stop)) for _ in range(_WRITERS)]
    await asyncio.sleep(after_s)
    if victim == "service":
        memex.kill()
        stop.set()
        await asyncio.gather(*writers)
        memex.start()
        await memex.wait_ready()
        return
    pid = postmaster_pid(env.data_dir(memex))
    if pid is None:
        stop.set()
        await asyncio.gather(*writers)
        raise NotMeasurable("no postmaster.pid under the data directory: is DATABASE_URL set?")
    os.kill(pid, signal.SIGKILL)
    await asyncio.sleep(0.5)  # go on writing while the database is away
    stop.set()
    await asyncio.gather(*writers)
    try:
        await memex.wait_ready(_RECOVERY_S)
        notes["recovered by itself"] += 1
    except ServiceFailed:
        notes["restarted by hand"] += 1
        memex.kill()
        memex.start()
        await memex.wait_ready()


async def _write(port: int, texts: Iterator[str], ledger: Ledger, stop: asyncio.Event) -> None:
    connection = Connection(port)
    try:
        while not stop.is_set():
            text = next(texts)
            if not await _send(connection, text, ledger):
                ledger.in_doubt.append(text)
                await asyncio.sleep(0.02)  # the service is down; do not spin on refused connections
    finally:
        connection.close()


async def _send(connection: Connection, text: str, ledger: Ledger) -> bool:
    # The key is the text's own, so a repeat after a lost answer is the same request.
    key = hashlib.sha256(text.encode()).hexdigest()
    body = {"agent_id": AGENT, "user_id": _USER, "content": text}
    with suppress(OSError):
        request = encode("POST", "/v1/memories", body, {"Idempotency-Key": key})
        response = await connection.request(request, timeout_s=30)
        if response.status in {200, 201}:
            ledger.acknowledged[text] = response.json()["id"]
            return True
    return False


async def _send_again(port: int, ledger: Ledger) -> None:
    connection = Connection(port)
    try:
        while ledger.in_doubt:
            if not await _send(connection, ledger.in_doubt[-1], ledger):
                raise RuntimeError("the service is ready but does not store")
            ledger.in_doubt.pop()
    finally:
        connection.close()


async def _list_all(port: int) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    cursor = ""
    while True:
        path = f"/v1/memories?user_id={_USER}&limit=200" + (f"&cursor={quote(cursor)}" if cursor else "")
        response = await call(port, "GET", path)
        if response.status != 200:
            raise RuntimeError(f"list: HTTP {response.status} {response.body[:300]!r}")
        page = response.json()
        found += [(m["id"], m["content"]) for m in page["memories"]]
        cursor = page["next_cursor"]
        if not cursor:
            return found
