"""One handler, two formats, no secrets."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from memex_server.logs import configure_logging, log_access, redact, request_id


@pytest.fixture(autouse=True)
def _restore_root() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("postgresql://memex:pa:ss%40@db:5432/memex", "postgresql://memex:***@db:5432/memex"),
        ("redis://:geheim@127.0.0.1", "redis://:***@127.0.0.1"),
        ("接続先はpostgres://u:密码@h/dです", "接続先はpostgres://u:***@h/dです"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("authorization: basic dXNlcjpwYXNz", "authorization: basic ***"),
        ("http://127.0.0.1:8000/docs", "http://127.0.0.1:8000/docs"),
        ("mail me@example.org", "mail me@example.org"),
    ],
)
def test_passwords_and_tokens_are_taken_out(line: str, kept: str) -> None:
    assert redact(line) == kept


def test_json_lines_carry_the_request_id_and_the_extra_fields() -> None:
    stream = io.StringIO()
    configure_logging("INFO", "json", stream)
    token = request_id.set("r-1")
    logging.getLogger("memex.test").warning("cannot reach %s", "postgres://u:secret@h/d", extra={"action": "db.down"})
    log_access(logging.getLogger("memex.test"), logging.INFO, {"method": "GET", "route": "/h", "status": 200})
    request_id.reset(token)
    logging.getLogger("memex.test").debug("too fine")

    first, second = [json.loads(line) for line in stream.getvalue().splitlines()]

    assert first["message"] == "cannot reach postgres://u:***@h/d"
    assert [first[name] for name in ("level", "logger", "action", "request_id")] == [
        "WARNING", "memex.test", "db.down", "r-1",
    ]  # fmt: skip
    assert [second[name] for name in ("action", "method", "route", "status", "request_id")] == [
        "http.request", "GET", "/h", 200, "r-1",
    ]  # fmt: skip
    assert first["time"][:10] == second["time"][:10]


def test_text_lines_are_for_people() -> None:
    stream = io.StringIO()
    configure_logging("INFO", "text", stream)
    logging.getLogger("memex.test").info("起動しました")
    fields = {"method": "GET", "route": "/h", "status": 200, "duration_ms": 1.5}
    log_access(logging.getLogger("memex.test"), logging.INFO, fields)

    first, second = stream.getvalue().splitlines()

    assert first.endswith("INFO    memex.test [None] 起動しました")
    assert second.endswith("request GET /h 200 1.5 ms")


def test_uvicorn_logs_through_the_same_handler_but_not_its_access_lines() -> None:
    stream = io.StringIO()
    logging.getLogger("uvicorn.error").addHandler(logging.StreamHandler(io.StringIO()))
    configure_logging("INFO", "json", stream)
    logging.getLogger("uvicorn.error").info("Started")
    logging.getLogger("uvicorn.access").info("GET /?user_id=u")

    assert [json.loads(line)["message"] for line in stream.getvalue().splitlines()] == ["Started"]


def test_configuring_twice_does_not_double_the_lines() -> None:
    stream = io.StringIO()
    configure_logging("INFO", "json", stream)
    configure_logging("INFO", "json", stream)
    logging.getLogger("memex.test").info("once")

    assert len(stream.getvalue().splitlines()) == 1
