"""What cannot work is refused with one line that says what to do, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.served import Served, Services, everything_of, free_port, until

pytestmark = pytest.mark.timeout(180)

_AS_ROOT = os.geteuid() == 0


def _refusal(served: Served, *, quickly_s: float = 60.0) -> str:
    """Start it, which must fail; return the one line that it says."""
    served.start(wait=False)
    assert served.wait_end(quickly_s) == 1, served.output()
    assert served.stdout() == ""
    lines = served.stderr().splitlines()
    assert len(lines) == 1, lines
    assert served.postmaster() is None
    return lines[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_MAX_POOL_SIZE", "abc"),
        ("WORKERS", "0"),
        ("VECTOR_INDEX", "foo"),
        ("MEMEX_PORT", "123456"),
        ("DEFAULT_ALPHA", "nan"),
        ("MEMEX_LOG_LEVEL", "loud"),
        ("DATABASE_URL", "host=127.0.0.1 password=hunter2"),
        ("DATABASE_URL", "postgresql://u:hun#ter2@127.0.0.1:9/d"),
        ("DATABASE_URL", "postgresql://u:hunter2@[::1/d"),
        ("EMBEDDING_MODEL", "nonesuch"),
    ],
)
def test_a_bad_setting_is_named(services: Services, name: str, value: str) -> None:
    served = services.new()
    served.env[name] = value
    line = _refusal(served)
    assert line.startswith("memex: ")
    assert name in line
    assert "hun" not in line


def test_a_damaged_model_is_named(services: Services) -> None:
    served = services.new({"MEMEX_LOG_LEVEL": "ERROR"})  # what is migrated is told before
    [words] = served.data_dir.glob("models/*/words.bin")
    words.unlink()  # it may be a link to one that others use
    words.write_bytes(b"half a file")
    line = _refusal(served)
    assert "words.bin" in line
    assert "delete that folder" in line


def test_a_port_that_is_taken_is_named_with_the_variable_and_no_database_is_left(services: Services) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        served = services.new({"MEMEX_PORT": str(other.getsockname()[1])})
        line = _refusal(served)
    assert f"cannot listen on 127.0.0.1:{served.port}: Address already in use" in line
    assert "MEMEX_PORT" in line
    assert not (served.data_dir / "postgres").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_database_that_is_down_is_named_without_its_password(services: Services, workers: str) -> None:
    port = free_port()
    served = services.new({"DATABASE_URL": f"postgresql://me:hunter2@127.0.0.1:{port}/db", "WORKERS": workers})
    served.start(wait=False)
    assert served.wait_end() == 1
    lines = served.stderr().splitlines()
    assert 1 <= len(lines) <= int(workers)
    assert set(lines) == {f"memex: cannot start: the database does not answer (127.0.0.1:{port}/db)"}
    assert served.stdout() == ""


@pytest.mark.parametrize("place", ["/proc/memex", "/dev/null/memex"])
def test_a_data_directory_that_cannot_be_made_is_named(services: Services, place: str) -> None:
    served = services.new()
    served.env["MEMEX_DATA_DIR"] = place
    assert place in _refusal(served)


@pytest.mark.skipif(not _AS_ROOT, reason="only root can give a folder to somebody else")
@pytest.mark.parametrize("model", [True, False], ids=["with the model", "empty"])
def test_a_data_directory_of_somebody_else_is_named(services: Services, model: bool) -> None:
    served = services.new(user="nobody")
    if not model:
        served.data_dir = served.folder / "empty"
        served.data_dir.mkdir()
        served.env["MEMEX_DATA_DIR"] = str(served.data_dir)
    os.chown(served.data_dir, 0, 0)
    line = _refusal(served)
    assert str(served.data_dir) in line
    assert "Permission denied" in line
    assert {path.name for path in served.data_dir.iterdir()} <= {"models"}


@contextlib.contextmanager
def _small_disk(folder: Path, size: str) -> Iterator[Path]:
    if not _AS_ROOT:
        pytest.skip("only root can mount a small disk")
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.decode()[-100:]}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _on_small_disk(services: Services, disk: Path) -> Served:
    (disk / "data").mkdir()
    (disk / "data" / "models").symlink_to(services.prepared(services.folder / "model") / "models")
    return services.new(data_dir=disk / "data")


def test_a_disk_too_small_for_a_database_is_one_line_and_leaves_no_half_database(services: Services) -> None:
    with _small_disk(services.folder / "tiny", "20m") as disk:
        served = _on_small_disk(services, disk)
        assert "No space left on device" in _refusal(served)
        assert {path.name for path in served.data_dir.iterdir()} <= {"models", "postgres.lock", "postgres.users"}


def test_a_disk_that_fills_up_refuses_writes_and_goes_on_when_there_is_room_again(services: Services) -> None:
    with _small_disk(services.folder / "disk", "300m") as disk:
        served = _on_small_disk(services, disk)
        try:
            served.start()
            filler = disk / "filler"
            with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(b"\0" * 65536)
            stored: dict[str, str] = {}
            refused: list[int] = []
            for number in range(300):
                content = f"磁盘 note {number}"
                padding = "".join(f"{number:03}{i:05}" for i in range(8000))  # 64 KB that do not compress away
                body = {
                    "agent_id": "a",
                    "user_id": "u",
                    "content": content,
                    "metadata": {f"k{i}": padding[i * 600 : i * 600 + 600] for i in range(40)},
                }
                answer = served.call("POST", "/v1/memories", body)
                if answer.status == 201:
                    stored[answer.json()["id"]] = content
                    continue
                refused.append(answer.status)
                assert answer.status == 503, answer
                assert int(answer.headers["retry-after"]) >= 1
                if len(refused) == 3:
                    break
            assert len(refused) == 3, "the disk never filled up"
            filler.unlink()
            until("it stores again", lambda: served.remember("there is room again").status in {200, 201}, 60)
            listed = {m["id"]: m["content"] for m in everything_of(served.port, "u")}
            assert {key: listed.get(key) for key in stored} == stored
            assert served.stop()[0] == 0
        finally:
            served.clean_up()
