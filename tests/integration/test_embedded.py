"""The embedded server: shared by its users, back after a crash, in any folder that can be written."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memex.core.memory import Memory
from memex.protocol.errors import SetupError, Unavailable
from memex.testing import FrozenClock
from memex_server.postgres.embedded import EmbeddedServer
from memex_server.postgres.migrate import prepare_database
from memex_server.testing import HashingEmbedder
from tests.acceptance.served import until
from tests.integration.support import found, make_service, memory, opened, query, value

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL's own account can reach, also when root runs the tests."""
    path = Path(tempfile.mkdtemp(prefix="memex-embedded-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def postmaster(data_dir: Path) -> int:
    return int((data_dir / "postgres" / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])


def gone(pid: int, *, within_s: float) -> bool:
    """Whether the process ends in time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], within_s)[0])
    finally:
        os.close(handle)


async def test_a_killed_server_comes_back_with_everything_acknowledged(folder: Path, clock: FrozenClock) -> None:
    server = EmbeddedServer(folder)
    await asyncio.to_thread(server.acquire)
    try:
        facts = await prepare_database(server.dsn, HashingEmbedder().card)
        async with opened(server.dsn, facts, max_size=3) as database:
            service = make_service(database, clock)
            acknowledged: list[Memory] = []
            killed = asyncio.Event()

            async def write(writer: int) -> None:
                for n in range(10_000):
                    try:
                        acknowledged.append((await service.store(memory(f"note {writer} {n} 笔记"))).memory)
                    except Unavailable:
                        return
                    if len(acknowledged) == 40:
                        killed.set()

            writers = [asyncio.create_task(write(n)) for n in range(3)]
            async with asyncio.timeout(60):
                await killed.wait()
            old = postmaster(folder)
            os.kill(old, signal.SIGKILL)
            async with asyncio.timeout(60):
                await asyncio.gather(*writers)
            await asyncio.to_thread(server.ensure_running)
            assert postmaster(folder) != old
            for note in acknowledged:
                assert (await service.get(note.id)).content == note.content
            last = acknowledged[-1].content
            assert await found(service, last, top_k=1) == [last]
            assert (await service.store(memory("after"))).created
            assert await value(server.dsn, "SELECT count(*) = count(DISTINCT same_key) FROM memories")
    finally:
        await asyncio.to_thread(server.release)


def test_two_handles_share_one_server_and_the_last_one_stops_it(folder: Path) -> None:
    first, second = EmbeddedServer(folder), EmbeddedServer(folder)
    first.acquire()
    pid = postmaster(folder)
    second.acquire()
    assert postmaster(folder) == pid
    assert first.dsn == second.dsn
    first.release()
    first.release()
    assert second.is_running()
    assert asyncio.run(value(second.dsn, "SELECT 1")) == 1
    second.release()
    assert not second.is_running()
    assert gone(pid, within_s=20)
    assert not (folder / "postgres" / "postmaster.pid").exists()
    again = EmbeddedServer(folder)
    again.acquire()
    assert asyncio.run(value(again.dsn, "SELECT 1")) == 1
    again.release()
    assert not again.is_running()


def test_what_was_in_memory_is_read_again_after_a_start(folder: Path) -> None:
    blocks = (
        "SELECT count(*) FROM pg_buffercache "
        "WHERE relfilenode = pg_relation_filenode('filled') AND relforknumber = 0 AND reldatabase = "
        "(SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    server = EmbeddedServer(folder)
    server.acquire()
    for statement in (
        "CREATE EXTENSION pg_buffercache",
        "CREATE TABLE filled AS SELECT n, repeat('笔记', 100) FROM generate_series(1, 2000) n",
    ):
        asyncio.run(query(server.dsn, statement))
    held = asyncio.run(value(server.dsn, blocks))
    assert held > 50
    server.release()
    server.acquire()
    try:
        until("the table is in memory again", lambda: asyncio.run(value(server.dsn, blocks)) == held, 30)
    finally:
        server.release()


def test_a_killed_user_does_not_keep_the_server(folder: Path) -> None:
    script = (
        "import pathlib, sys, time\n"
        "from memex_server.postgres.embedded import EmbeddedServer\n"
        "EmbeddedServer(pathlib.Path(sys.argv[1])).acquire()\n"
        "server = EmbeddedServer(pathlib.Path(sys.argv[1])); server.acquire()\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == "ready\n"
        ours = EmbeddedServer(folder)
        ours.acquire()
        user.kill()
        user.wait(20)
        assert ours.is_running()
        ours.release()
        assert not ours.is_running()


def test_handles_that_start_at_once_make_one_server(folder: Path) -> None:
    async def start() -> list[str]:
        servers = [EmbeddedServer(folder) for _ in range(4)]
        await asyncio.gather(*(asyncio.to_thread(server.acquire) for server in servers))
        versions = [await value(server.dsn, "SHOW data_directory") for server in servers]
        await asyncio.gather(*(asyncio.to_thread(server.release) for server in servers))
        assert not servers[0].is_running()
        return versions

    assert set(asyncio.run(start())) == {str(folder / "postgres")}
    assert list(folder.glob("postgres.new-*")) == []


@pytest.mark.parametrize(
    "name",
    ["with space", "中文 データ", 'it\'s 100% "mine", really', "x" * 120, "a=b&c?d#e@f:g"],
    ids=["space", "non-ASCII", "quotes and comma", "long", "signs"],
)
def test_any_name_of_a_folder_will_do(folder: Path, name: str) -> None:
    server = EmbeddedServer(folder / name)
    server.acquire()
    try:
        assert asyncio.run(value(server.dsn, "SHOW data_directory")) == str(folder / name / "postgres")
    finally:
        server.release()
    assert not server.is_running()


def test_a_data_directory_that_cannot_be_used_is_a_clear_error(folder: Path) -> None:
    occupied = folder / "a file"
    occupied.write_text("not a folder", encoding="utf-8")
    for path in (occupied, occupied / "below"):
        with pytest.raises(SetupError) as caught:
            EmbeddedServer(path).acquire()
        assert str(path) in str(caught.value)
    if os.geteuid() != 0:  # root may write everywhere
        closed = folder / "closed"
        closed.mkdir(mode=0o500)
        with pytest.raises(SetupError, match="cannot use the data directory"):
            EmbeddedServer(closed / "data").acquire()


def test_a_cluster_of_another_version_is_not_touched(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.acquire()
    server.release()
    version = folder / "postgres" / "PG_VERSION"
    kept = version.read_text(encoding="ascii")
    version.write_text("9\n", encoding="ascii")
    with pytest.raises(SetupError, match="PostgreSQL 9"):
        EmbeddedServer(folder).acquire()
    version.write_text(kept, encoding="ascii")
    server.acquire()
    assert server.is_running()
    server.release()
