"""Locust user classes: agents with think time, and saturation.

    locust -f bench/locustfile.py --host http://127.0.0.1:8000 --headless -u 50 -r 10 -t 60s Realistic
    locust -f bench/locustfile.py --host http://127.0.0.1:8000 --headless -u 500 -r 50 -t 60s Saturation

Start the service without limits (RATE_LIMIT_WRITES_PER_MINUTE=0 RATE_LIMIT_SEARCHES_PER_MINUTE=0), or 429 is
what is measured.
"""

from __future__ import annotations

import itertools
import random

from locust import FastHttpUser, between, constant, task

from bench.harness.texts import questions, sentences

__all__ = ["Realistic", "Saturation"]

_numbers = itertools.count()


class _Agent(FastHttpUser):
    abstract = True

    def on_start(self) -> None:
        """Give each simulated agent a user, and texts that no other agent sends."""
        number = next(_numbers)
        seed = number * 1_000_003 + random.randrange(1_000_000)
        self._scope = {"agent_id": "locust", "user_id": f"locust-{number % 50}"}
        self._statements = sentences(seed)
        self._questions = questions(seed)

    @task(3)
    def search(self) -> None:
        """Ask something new."""
        body = {**self._scope, "query": next(self._questions), "top_k": 10}
        self.client.post("/v1/memories/search", json=body)

    @task(1)
    def store(self) -> None:
        """Remember something new."""
        self.client.post("/v1/memories", json={**self._scope, "content": next(self._statements)})


class Realistic(_Agent):
    """An agent that thinks for 100 to 300 ms between calls; three searches to a write."""

    wait_time = between(0.1, 0.3)


class Saturation(_Agent):
    """An agent that does not wait: finds the ceiling."""

    wait_time = constant(0)
