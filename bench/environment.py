"""What a measurement gets: how large to be, where to work, and how to start the services under test."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.harness.database import plain_postgres
from bench.harness.process import Service, free_port, running
from bench.model import model_dir
from memex_server.embedding.cards import bundled_model
from memex_server.embedding.store import model_folder

__all__ = ["Environment", "NotMeasurable"]

_ROOT = Path(__file__).resolve().parent.parent


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


class NotMeasurable(Exception):
    """A measurement cannot run here; says what is missing."""


@dataclass(frozen=True, slots=True)
class Environment:
    """`quick` makes every measurement small: good to see that it runs, not to quote."""

    work_dir: Path
    conversations: Path
    quick: bool = False
    seed: int = 1

    def model_dir(self) -> Path:
        """Return the folder of the built model; it is built once for all services of a run."""
        return model_dir(model_folder(self.work_dir / "model", bundled_model("multilingual-e5-small")))

    def scale(self, full: int, quick: int) -> int:
        """Return the size to use."""
        return quick if self.quick else full

    def memex(self, name: str, **settings: str) -> Service:
        """Return a memex that keeps its data under `name`; not started yet."""
        program = Path(sys.executable).with_name("memex")
        if not program.exists():
            raise NotMeasurable(f"{program} is missing: install the project into this environment")
        port = free_port()
        data_dir = self.work_dir / f"memex-{name}"
        data_dir.mkdir(parents=True, exist_ok=True)
        built = self.model_dir()
        own = model_folder(data_dir, bundled_model("multilingual-e5-small"))
        if not own.exists():
            shutil.copytree(built, own, copy_function=_link)
        env = {
            # Whatever the caller's shell has set: a measurement never writes into somebody's database.
            "DATABASE_URL": "",
            "MEMEX_DATABASE_URL": "",
            "REDIS_URL": "",
            "MEMEX_REDIS_URL": "",
            "MEMEX_PORT": str(port),
            "MEMEX_MCP_PORT": "0",
            "MEMEX_DATA_DIR": str(data_dir),
            "MEMEX_LOG_LEVEL": "WARNING",
            "RATE_LIMIT_WRITES_PER_MINUTE": "0",
            "RATE_LIMIT_SEARCHES_PER_MINUTE": "0",
            # It archives what was stored and is looked for; `month` and `kill9_condensing` measure that.
            "SUMMARIZATION_ENABLED": "false",
            **settings,
        }
        return Service("memex", [str(program), "serve"], env, port, self.work_dir / f"memex-{name}.log")

    def data_dir(self, service: Service) -> Path:
        """Return the data directory of a memex made here."""
        return Path(service.env["MEMEX_DATA_DIR"])

    @asynccontextmanager
    async def reference(self) -> AsyncIterator[Service]:
        """Run the reference design on a PostgreSQL of its own, both new."""
        port = free_port()
        with plain_postgres(self.work_dir / f"reference-{port}") as dsn:
            env = {"REFERENCE_DSN": dsn, "PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])}
            command = [sys.executable, "-m", "bench.reference", str(port), str(self.model_dir())]
            async with running(Service("reference", command, env, port, self.work_dir / "reference.log")) as service:
                yield service
