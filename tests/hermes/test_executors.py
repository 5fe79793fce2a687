"""The executors as they are put together from settings, against a real endpoint on loopback."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memex.config import load
from memex.core.redact import redact
from memex.extract.pipeline import TURN, work_of_said
from memex.extract.types import Said
from memex.hermes.assembly import Parts, assemble
from memex.protocol.models import RecallRequest
from tests.hermes.support import Model, configure

_ANSWER = '```json\n[{"content": "主人周五晚上部署", "keywords": ["周五"], "topic": "部署"}]\n```'


def with_turn(home: Path, **settings: Any) -> Parts:
    (home / "memex.json").write_text(json.dumps(settings), encoding="utf-8")
    parts = assemble(load(home, {}), {})
    said = [Said("user", "主人偏好周五晚上部署")]
    parts.queue.put(TURN, work_of_said(said, occurred_at=datetime.now(UTC), trigger="turn", origin={}))
    return parts


@pytest.mark.parametrize("source", ["plugin", "hermes"])
def test_http_lm_asks_its_own_endpoint_or_the_host_s_and_writes_to_neither(
    tmp_path: Path, model: Model, source: str
) -> None:
    model.reply = lambda _: _ANSWER
    if source == "hermes":
        configure(tmp_path, model)
        (tmp_path / "auth.json").write_text('{"credential_pool": {}}', encoding="utf-8")
        settings = {"extract_lm_source": "hermes"}
    else:
        (tmp_path / ".env").write_text("MEMEX_EXTRACT_LM_KEY=sk-of-the-plugin\n", encoding="utf-8")
        settings = {"extract_lm_url": f"{model.url}/v1", "extract_lm_model": "small"}
    files = {p: hashlib.sha256(p.read_bytes()).digest() for p in tmp_path.iterdir() if p.suffix != ".db"}
    parts = with_turn(tmp_path, extract_backend="http_lm", **settings)
    assert parts.pipeline.extract().facts == 1
    found = parts.backend.recall(RecallRequest(keywords=["周五"])).records
    parts.close()
    assert [(r.content, r.topic) for r in found] == [("主人周五晚上部署", "部署")]
    assert model.keys == [f"Bearer sk-of-the-{'host' if source == 'hermes' else 'plugin'}"]
    assert model.requests[0]["model"] == ("fake-model" if source == "hermes" else "small")
    assert all(hashlib.sha256(p.read_bytes()).digest() == digest for p, digest in files.items())


@pytest.mark.parametrize(("status", "reason"), [(401, "check address, key and model"), (500, "says 500")])
def test_an_endpoint_that_refuses_leaves_the_turn_in_the_queue_with_the_reason(
    tmp_path: Path, model: Model, status: int, reason: str
) -> None:
    model.status = status
    parts = with_turn(tmp_path, extract_backend="http_lm", extract_lm_url=f"{model.url}/v1", extract_lm_model="m")
    assert parts.pipeline.extract().waiting == 1
    (entry,) = parts.queue.entries()
    parts.close()
    assert (entry.status, entry.attempts) == ("pending", 1)
    assert reason in entry.error


def test_auto_falls_back_to_rules(tmp_path: Path, model: Model) -> None:
    model.status = 503
    parts = with_turn(tmp_path, extract_backend="auto", extract_lm_url=f"{model.url}/v1", extract_lm_model="m")
    assert parts.pipeline.extract().facts == 1
    (found,) = parts.backend.recall(RecallRequest(keywords=["部署"])).records
    parts.close()
    assert found.content == "主人偏好周五晚上部署"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key sk-proj-abcdefghijklmnop123456 end", "key [redacted] end"),
        ("我的令牌ghp_abcdefghijklmnopqrstuvwxyz0123456789在这里", "我的令牌[redacted]在这里"),
        ("postgresql://ann:hunter2@db/x", "postgresql://ann:[redacted]@db/x"),
        ("password: hunter22", "password: [redacted]"),
        ("密码是 hunter22，别忘了", "密码是 [redacted]，别忘了"),
        ("パスワードは hunter22 です", "パスワードは [redacted] です"),
        ("the password is important to me", "the password is important to me"),
        ("I work on sk-learn and the api key rotation.", "I work on sk-learn and the api key rotation."),
        ("https://example.com/a:b@c", "https://example.com/a:b@c"),
    ],
)
def test_secrets_are_masked_and_prose_is_not(text: str, expected: str) -> None:
    assert redact(text)[0] == expected
