"""Against a small server that speaks just enough of the Redis protocol, over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import pytest

from memex.protocol.errors import SetupError
from memex_server.embedding.callbacks import Callbacks
from memex_server.embedding.redis_cache import RedisVectorCache

BOUND_S = 5.0


class TinyRedis:
    """GET-like and SET-like commands on a dictionary; `mute` makes it hear and not answer."""

    def __init__(self) -> None:
        self.data: dict[bytes, bytes] = {}
        self.expiry: dict[bytes, bytes] = {}
        self.mute = False
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                count = int((await reader.readuntil(b"\r\n"))[1:])
                command = []
                for _ in range(count):
                    size = int((await reader.readuntil(b"\r\n"))[1:])
                    command.append((await reader.readexactly(size + 2))[:-2])
                if not self.mute:
                    writer.write(self.reply(command))
                    await writer.drain()
        writer.close()

    def reply(self, command: list[bytes]) -> bytes:  # in RESP3
        name, *args = command
        match name.upper():
            case b"MGET":
                values = [self.data.get(key) for key in args]
                return b"*%d\r\n" % len(values) + b"".join(
                    b"_\r\n" if v is None else b"$%d\r\n%s\r\n" % (len(v), v) for v in values
                )
            case b"SET":
                self.data[args[0]] = args[1]
                self.expiry[args[0]] = args[3]
                return b"+OK\r\n"
            case b"PING":
                return b"+PONG\r\n"
            case b"HELLO":
                return b"%1\r\n$5\r\nproto\r\n:3\r\n"
            case _:
                return b"+OK\r\n"

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture
async def server() -> AsyncIterator[TinyRedis]:
    tiny = TinyRedis()
    listener = await asyncio.start_server(tiny.handle, "127.0.0.1", 0)
    tiny.port = listener.sockets[0].getsockname()[1]
    yield tiny
    listener.close()
    await tiny.stop()


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
async def failures() -> list[str]:
    return []


@pytest.fixture
async def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cache(server: TinyRedis, failures: list[str], clock: Clock) -> AsyncIterator[RedisVectorCache]:
    made = RedisVectorCache(
        f"redis://:hidden@127.0.0.1:{server.port}/0",
        callbacks=Callbacks(on_cache_failure=failures.append),
        timeout_s=0.5,
        connect_timeout_s=2.0,
        pause_s=5.0,
        clock_s=clock,
    )
    assert await made.connect()
    yield made
    await made.close()


async def test_what_is_stored_is_found_by_another_process(cache: RedisVectorCache, server: TinyRedis) -> None:
    await cache.set_many([(b"a", b"\x00\xff\r\n"), (b"b", b"2")])
    other = RedisVectorCache(f"redis://127.0.0.1:{server.port}", timeout_s=0.5)
    assert await other.get_many([b"a"]) == [None]  # not connected yet: nobody waits for that
    assert await other.connect()
    assert await other.get_many([b"b", b"missing", b"a"]) == [b"2", None, b"\x00\xff\r\n"]
    await other.close()


async def test_keys_have_a_namespace_and_expire(cache: RedisVectorCache, server: TinyRedis) -> None:
    await cache.set_many([(b"a", b"1")])
    assert list(server.data) == [b"memex:vector:a"]
    assert int(server.expiry[b"memex:vector:a"]) > 86_400


async def test_a_redis_that_hangs_is_a_miss_within_the_timeout_and_told_once(
    cache: RedisVectorCache, server: TinyRedis, failures: list[str], clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    server.mute = True
    async with asyncio.timeout(BOUND_S):
        assert await cache.get_many([b"a"]) == [None]
        assert await cache.get_many([b"a"]) == [None]  # within the pause it is not asked at all
        await cache.set_many([(b"a", b"1")])
        assert len(failures) == 1
        clock.now_s = 6.0
        assert not await cache.connect()
    assert len(failures) == 2
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.action for record in warnings] == ["redis_cache_down"]  # type: ignore[attr-defined]
    assert "hidden" not in caplog.text


async def test_a_redis_that_comes_back_is_used_again(
    cache: RedisVectorCache, server: TinyRedis, failures: list[str], clock: Clock
) -> None:
    server.mute = True
    await cache.get_many([b"a"])
    server.mute = False
    clock.now_s = 6.0
    await cache.set_many([(b"a", b"0")])  # begins to connect
    async with asyncio.timeout(BOUND_S):
        while await cache.get_many([b"a"]) != [b"1"]:
            await cache.set_many([(b"a", b"1")])
            await asyncio.sleep(0)
    assert len(failures) == 1


async def test_a_redis_that_is_not_there_is_a_miss(failures: list[str]) -> None:
    listener = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    listener.close()
    await listener.wait_closed()
    cache = RedisVectorCache(f"redis://127.0.0.1:{port}", callbacks=Callbacks(on_cache_failure=failures.append))
    assert not await cache.connect()
    assert await cache.get_many([b"a", b"b"]) == [None, None]
    assert failures == ["ConnectionError"]
    await cache.close()


def test_a_url_that_is_none_is_refused_without_its_password() -> None:
    with pytest.raises(SetupError, match="REDIS_URL") as caught:
        RedisVectorCache("http://:hidden@nowhere")
    assert "hidden" not in str(caught.value)
