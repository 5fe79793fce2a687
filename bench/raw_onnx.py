"""How fast ONNX Runtime itself embeds given texts on this machine: the limit that no service can pass.

Only `session.run` is timed: tokenising, looking up words and padding are done before. The texts are sorted by
length, and the best of several batch sizes and ways to use the cores is taken. Run by itself it prints all ways:
`python -m bench.raw_onnx [TEXTS]`.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.harness.stats import Latency, latency
from bench.harness.texts import sentences
from bench.model import PlainModel, model_dir
from memex_server.ports import Role

__all__ = ["BATCH_SIZES", "WAYS", "RawRate", "RawRunner"]

BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)
# (native threads per run, runs at once): one core, both cores in one run, both cores by two runs.
WAYS = ((1, 1), (2, 1), (1, 2))


@dataclass(frozen=True, slots=True)
class RawRate:
    """The best rate and the way it was reached."""

    texts_per_s: float
    batch_size: int
    threads: int
    parallel: int

    def __str__(self) -> str:
        way = f"{self.parallel} x {self.threads} thread(s)"
        return f"{self.texts_per_s:.1f} texts/s (batch {self.batch_size}, {way})"


class RawRunner:
    """Keeps one loaded model for each number of native threads."""

    def __init__(self, folder: Path) -> None:
        self._models = {threads: PlainModel(folder, threads) for threads in sorted({t for t, _ in WAYS})}

    def tune(self, texts: Sequence[str], role: Role = "passage") -> RawRate:
        """Try every way and batch size on `texts`; return the fastest."""
        return max(
            (self.rate(texts, batch, threads, parallel, role) for threads, parallel in WAYS for batch in BATCH_SIZES),
            key=lambda r: r.texts_per_s,
        )

    def rate(
        self, texts: Sequence[str], batch_size: int, threads: int, parallel: int, role: Role = "passage"
    ) -> RawRate:
        """Time all `texts` once, in batches of `batch_size` sorted by length."""
        model = self._models[threads]
        encoded = sorted(model.encode(texts, role), key=len, reverse=True)
        batches = [model.batch(encoded[i : i + batch_size]) for i in range(0, len(encoded), batch_size)]
        model.run(batches[0])  # the first run of a shape allocates
        with ThreadPoolExecutor(parallel) as pool:
            started = time.perf_counter()
            for _ in pool.map(model.run, batches):
                pass
            elapsed_s = time.perf_counter() - started
        return RawRate(len(texts) / elapsed_s, batch_size, threads, parallel)

    def again(self, texts: Sequence[str], way: RawRate, role: Role = "passage") -> RawRate:
        """Measure a way found by `tune` again on these texts."""
        return self.rate(texts, way.batch_size, way.threads, way.parallel, role)

    def one_by_one(self, texts: Sequence[str], role: Role = "query") -> Latency:
        """Return the latency of tokenising and running one text at a time, at the better number of threads."""
        found = []
        for model in self._models.values():
            samples_s = []
            for text in texts:
                started = time.perf_counter()
                model.embed_one(text, role)
                samples_s.append(time.perf_counter() - started)
            found.append(latency(samples_s))
        return min(found, key=lambda one: one.p50_ms)


def main() -> None:
    """Print the rate of every way on generated texts."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as scratch:
        runner = RawRunner(model_dir(Path(scratch) / "model"))
        texts = list(itertools.islice(sentences(1), count))
        rates = [runner.rate(texts, batch, *way) for way in WAYS for batch in BATCH_SIZES]
        for rate in rates:
            print(rate)
        print(f"best: {max(rates, key=lambda r: r.texts_per_s)}")
        print(f"one by one, with tokenising: {runner.one_by_one(texts)}")


if __name__ == "__main__":
    main()
