"""A person starts memex, uses the line that it prints, and ends it."""

from __future__ import annotations

import os
import pwd
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import psutil
import pytest

from memex import __version__
from tests.acceptance.served import MEMEX, READY_S, Served, Services, tell, until

pytestmark = pytest.mark.timeout(240)

_STOP_S = 10.0
_AS_ROOT = os.geteuid() == 0
_NOBODY = "nobody"


def _first_line_and_curl(served: Served) -> tuple[str, str]:
    until("the address is printed", lambda: served.stdout().count("\n") >= 2)
    first, second = served.stdout().splitlines()
    return first, second.removeprefix("try: ")


def test_the_printed_curl_line_stores_and_the_second_start_is_quick_and_finds_it(services: Services) -> None:
    served = services.new()
    first_s = served.start()
    first, curl = _first_line_and_curl(served)
    assert first.startswith(f"memex {__version__} listens on http://127.0.0.1:{served.port} ")
    done = subprocess.run(
        ["bash", "-c", curl + r" -s -w '\n%{http_code}'"], capture_output=True, encoding="utf-8", timeout=60, check=True
    )
    assert done.stdout.endswith("\n201"), done.stdout

    status, stop_s = served.stop()
    assert status == 0
    assert stop_s <= _STOP_S
    assert served.postmaster() is None

    second_s = served.start()
    tell(f"first start {first_s:.1f} s, second {second_s:.1f} s (goal: 3 s when idle), stop {stop_s:.1f} s")
    assert second_s < READY_S / 2
    assert served.search("green tea", user="me")[0]["content"] == "I like green tea."
    assert "database system was shut down at" in served.database_log()
    assert not re.search("interrupted|recovery in progress|not properly shut down", served.database_log())
    status, stop_s = served.stop(signal.SIGINT)
    assert (status, served.postmaster()) == (0, None)
    assert stop_s <= _STOP_S


def _press_ctrl_c_twice(served: Served) -> None:
    server = served.postmaster()
    assert server is not None
    workers = served.workers()
    started = time.monotonic()
    os.killpg(served.pid, signal.SIGINT)
    time.sleep(0.05)  # a person's second thought
    os.killpg(served.pid, signal.SIGINT)
    assert served.wait_end(30) == 0
    assert time.monotonic() - started <= _STOP_S
    until("the embedded server is gone", lambda: served.postmaster() is None, 5)
    assert not [worker for worker in workers if worker.is_running()]
    assert "Traceback" not in served.stderr()


def test_ctrl_c_pressed_twice_in_a_terminal_ends_everything(services: Services) -> None:
    served = services.new({"WORKERS": "2"}, fresh=False)
    served.start()
    assert len(served.workers()) == 2
    _press_ctrl_c_twice(served)


def test_a_signal_during_the_start_ends_everything_cleanly(services: Services) -> None:
    served = services.new()
    served.start(wait=False)
    until("the embedded server starts", lambda: served.postmaster() is not None)
    status, _ = served.stop(timeout_s=60)
    assert (status, served.postmaster()) == (0, None)
    served.start()
    assert not re.search("interrupted|not properly shut down", served.database_log())
    served.stop()


def _send_half(port: int, content: str) -> tuple[socket.socket, bytes]:
    """Send all but the last 10 bytes of a store; return the connection and those bytes."""
    body = f'{{"agent_id": "a", "user_id": "u", "content": "{content}"}}'.encode()
    head = f"POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(head.encode() + b"\r\n" + body[:-10])
    return connection, body[-10:]


def test_a_request_in_flight_is_finished_at_sigterm_and_a_stuck_one_does_not_hold_the_end(services: Services) -> None:
    served = services.new(fresh=False)
    served.start()
    connection, rest = _send_half(served.port, "途中で止まっても消えない記憶")
    stuck, _ = _send_half(served.port, "never sent to its end")
    until("both are in flight", lambda: b"http_requests_inprogress 3.0" in served.call("GET", "/metrics").body)
    started = time.monotonic()
    os.kill(served.pid, signal.SIGTERM)

    def is_closed() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", served.port)) != 0

    until("no new connection is taken", is_closed, 10)
    connection.sendall(rest)
    answer = connection.recv(65536)
    connection.close()
    assert answer.startswith(b"HTTP/1.1 201 ")
    assert served.wait_end(30) == 0
    took_s = time.monotonic() - started
    stuck.close()
    tell(f"stop with a stuck client {took_s:.1f} s")
    assert took_s <= _STOP_S
    assert served.postmaster() is None
    served.start()
    assert [m["content"] for m in served.search("消えない記憶")] == ["途中で止まっても消えない記憶"]
    served.stop()


@pytest.mark.skipif(not _AS_ROOT, reason="only root can become somebody else")
def test_an_ordinary_user_starts_it_in_a_folder_with_spaces_and_chinese(services: Services) -> None:
    probe = subprocess.run(
        ["setpriv", f"--reuid={pwd.getpwnam(_NOBODY).pw_uid}", "--clear-groups", MEMEX, "--version"],
        capture_output=True,
        cwd="/",
        env={"PATH": os.defpath},
        timeout=60,
        check=False,
    )
    if probe.returncode != 0:
        pytest.skip(f"the environment is closed to {_NOBODY}: {probe.stderr.decode()[-200:]}")
    served = services.new(name="我的 记忆 données", user=_NOBODY)
    served.start()
    server = served.postmaster()
    assert server is not None
    assert {psutil.Process(pid).username() for pid in (served.pid, server)} == {_NOBODY}
    assert served.remember("部署只在周五晚上进行").status == 201
    assert len(served.search("什么时候部署")) == 1
    status, stop_s = served.stop()
    assert (status, served.postmaster()) == (0, None)
    assert stop_s <= _STOP_S


def test_the_own_user_starts_it_in_a_folder_with_spaces_quotes_and_japanese_and_its_files_are_closed_to_others(
    services: Services,
) -> None:
    with services.running(name='it\'s a "記憶", 100 %', fresh=True) as served:
        cluster: Path = served.data_dir / "postgres"
        assert cluster.stat().st_mode & 0o077 == 0
        sockets = [c.laddr for c in psutil.Process(served.pid).net_connections("inet") if c.status == "LISTEN"]
        assert {a.ip for a in sockets} == {"127.0.0.1"}
        assert served.port in {a.port for a in sockets}
        assert len(sockets) == 2, "REST and MCP"
        assert served.remember("会議は水曜日の午後三時から").status == 201
        assert len(served.search("会議はいつ")) == 1
        assert served.stop()[0] == 0


def test_a_data_directory_with_a_very_long_name_works_and_closing_the_terminal_ends_everything(
    services: Services,
) -> None:
    served = services.new(name="x" * 120, fresh=False)
    # Tests under nohup would hand down that this signal is ignored, which memex rightly keeps to.
    outer = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        served.start()
    finally:
        signal.signal(signal.SIGHUP, outer)
    assert served.remember("too long for a socket's address").status == 201
    status, stop_s = served.stop(signal.SIGHUP)
    assert (status, served.postmaster()) == (0, None)
    assert stop_s <= _STOP_S


def test_sixteen_first_requests_at_once_load_the_model_once_and_ctrl_c_pressed_twice_ends_it(
    services: Services,
) -> None:
    served = services.new(fresh=False)
    served.start(wait=False)

    def is_open() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", served.port)) == 0

    until("the port is open", is_open)
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda i=i: statuses.append(served.remember(f"first request {i}").status))
        for i in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(READY_S)
    assert statuses == [201] * 16
    memory = psutil.Process(served.pid).memory_info().rss / 2**20
    tell(f"resident after 16 first requests: {memory:.0f} MiB")
    assert memory < 400
    assert served.workers() == []
    served.wait_ready()
    _press_ctrl_c_twice(served)
