"""What the Hermes plugin costs a conversation: its hooks, recall in its own file, and loading it."""

from __future__ import annotations

import asyncio
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import memex
from bench.environment import Environment
from bench.harness.report import Row, row
from bench.harness.stats import latency
from memex.backend.local import LocalBackend
from memex.config import save
from memex.protocol.models import Level, LmPolicy, PreExtracted, RecallRequest, StoreRequest
from memex.provider import MemexProvider

__all__ = ["QUESTIONS", "facts", "hermes"]

QUESTIONS = (
    "什么时候部署任务3？",
    "what does Ada deploy in the evening on server12?",
    "さくらが好きなレシピは何ですか",
    "the user plans project0 on Friday and Tom decided on server1 in March",
)
# As Hermes loads a plugin: by its path, under a name of the host's, with nothing but the standard library.
_LOAD = """
import importlib.util, sys, time
started = time.perf_counter()
folder = sys.argv[1]
spec = importlib.util.spec_from_file_location("its_name", f"{folder}/__init__.py", submodule_search_locations=[folder])
module = importlib.util.module_from_spec(spec)
sys.modules["its_name"] = module
spec.loader.exec_module(module)
class Host:
    def register_memory_provider(self, provider):
        self.provider = provider
module.register(Host())
print((time.perf_counter() - started) * 1000)
"""


def facts(chance: random.Random, count: int, now: datetime) -> Iterator[StoreRequest]:
    """Yield facts in three languages; words are as unequal as in life (Zipf)."""
    people = ["主人", "Ada", "Tom", "さくら", "the user", "小明"]
    things = [f"{stem}{n}" for n in range(1500) for stem in ("project", "server", "任务", "资料", "会議", "レシピ")]
    weights = [1 / (rank + 10) for rank in range(len(things))]
    verbs = ["偏好", "decided on", "is allergic to", "住在", "が好きな", "deploys", "决定使用", "plans"]
    days = ["周五晚上", "on Friday", "来週の月曜日", "in March", "明年五月", "in the evening"]
    picked = iter(chance.choices(things, weights, k=3 * count))
    for number in range(count):
        one, two, three = next(picked), next(picked), next(picked)
        said = f"{chance.choice(people)} {chance.choice(verbs)} {one} {chance.choice(days)}"
        text = f"{said}, {two} {three} n{number}"
        yield StoreRequest(
            content=text,
            occurred_at=now - timedelta(days=300 * chance.random()),
            level=Level.FACT,
            lm_policy=LmPolicy.SKIP,
            pre_extracted=PreExtracted(content=text, keywords=[one]),
        )


async def hermes(env: Environment) -> list[Row]:
    """Hooks on the turn path, local recall among 50,000 facts, and the load of the plugin in a new interpreter."""
    with _a_host_with_a_model():
        hooks = await asyncio.to_thread(_hooks, env)
    return [*hooks, *await asyncio.to_thread(_recall, env), await asyncio.to_thread(_load, env)]


def _hooks(env: Environment) -> list[Row]:
    home = env.work_dir / "hermes"
    save(home, {"prefetch_wait_s": 0})
    plugin = MemexProvider(environ={})
    plugin.initialize("s1", hermes_home=str(home), platform="cli", agent_context="primary")
    memory = plugin._memory  # noqa: SLF001 - its thread has to be idle between two calls, as it is in a conversation
    assert memory is not None
    messages = [{"role": "user", "content": f"sentence {n} about sushi"} for n in range(200)]
    hooks: dict[str, Callable[[int], object]] = {
        "on_turn_start": lambda n: plugin.on_turn_start(n, f"what about project {n} and 周五部署{n}?"),
        "prefetch": lambda n: plugin.prefetch(f"what about project {n} and 周五部署{n}?"),
        "on_memory_write": lambda n: plugin.on_memory_write("add", "user", f"entry number {n} on tea"),
        "on_pre_compress": lambda _: plugin.on_pre_compress(messages),
        "on_session_end": lambda _: plugin.on_session_end(messages),
        "on_session_switch": lambda n: plugin.on_session_switch(f"s{n}", reset=True),
        "system_prompt_block": lambda _: plugin.system_prompt_block(),
    }
    runs = env.scale(200, 20)
    measured = {name: _times_s(hook, runs, lambda: memory.settle(10)) for name, hook in hooks.items()}
    turn = _times_s(lambda n: plugin.sync_turn(f"Project {n} is due.", f"Noted {n}."), runs, lambda: memory.settle(10))
    plugin.shutdown()
    p95_ms = {name: latency(times).p95_ms for name, times in measured.items()}
    detail = ", ".join(f"{name} {value:.2f}" for name, value in p95_ms.items())
    return [
        row("hermes: slowest hook of the turn path, p95", max(p95_ms.values()), "ms", floor=5, sense="at most",
            detail=f"{detail}; the wait for recall not counted"),
        row("hermes: sync_turn until the turn is on disk, p95", latency(turn).p95_ms, "ms",
            detail="in the host's own thread, after the turn"),
    ]  # fmt: skip


@contextmanager
def _a_host_with_a_model() -> Iterator[None]:
    """Put in place what of Hermes the plugin looks for, so that it plans; the model finds nothing."""
    model = ModuleType("agent.auxiliary_client")
    model.call_llm = lambda **_: "[]"  # type: ignore[attr-defined]
    model.extract_content_or_reasoning = str  # type: ignore[attr-defined]
    with patch.dict(sys.modules, {"agent": ModuleType("agent"), "agent.auxiliary_client": model}):
        yield


def _recall(env: Environment) -> list[Row]:
    count = env.scale(50_000, 2_000)
    backend = LocalBackend(env.work_dir / "large" / "memex.db")
    for request in facts(random.Random(env.seed), count, datetime.now(UTC)):
        backend.store(request)
    asked = [RecallRequest(query=question) for question in QUESTIONS]
    for question in asked:
        backend.recall(question)
    runs = env.scale(400, 40)
    wall = latency(_times_s(lambda n: backend.recall(asked[n % len(asked)]), runs))
    own = latency(_times_s(lambda n: backend.recall(asked[n % len(asked)]), runs, clock=time.thread_time))
    backend.close()
    return [
        row(f"hermes: local recall among {count:,} facts, p95", wall.p95_ms, "ms", floor=20, sense="at most",
            detail=f"{wall}; the thread's own time: {own}"),
    ]  # fmt: skip


def _load(env: Environment) -> Row:
    command = [sys.executable, "-I", "-S", "-c", _LOAD, str(Path(memex.__file__).parent)]
    runs = [
        float(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)
        for _ in range(env.scale(20, 3))
    ]
    return row(
        "hermes: load of the plugin, median", statistics.median(runs), "ms", floor=100, sense="at most",
        detail=f"{len(runs)} new interpreters, standard library only; fastest {min(runs):.0f}, slowest {max(runs):.0f}",
    )  # fmt: skip


def _times_s(
    call: Callable[[int], object],
    runs: int,
    between: Callable[[], object] = lambda: None,
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return how long each call took; `between` is not counted."""
    times = []
    for number in range(runs):
        started = clock()
        call(number)
        times.append(clock() - started)
        between()
    return times
