"""The unified protocol on `memex serve`: its token, its worker, and what outlives a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memex.backend.remote import RemoteBackend
from memex.protocol.errors import InvalidInput, Unauthorized
from memex.protocol.models import Level, LmPolicy, PreExtracted, RecallRequest, StoreRequest
from memex.testing import FrozenClock
from memex.transport.http import HttpTransport
from memex.transport.retry import NO_RETRY
from tests.acceptance.served import Served, Services, until
from tests.hermes.support import memory, provider

pytestmark = pytest.mark.timeout(240)
TOKEN = "a-long-random-text-1234567890"
NOW = FrozenClock().now


def backend(served: Served, token: str = TOKEN) -> RemoteBackend:
    return RemoteBackend(HttpTransport(f"http://127.0.0.1:{served.port}", token=token), timeout_s=60, retry=NO_RETRY)


def test_a_plugin_stores_is_understood_and_finds_again_after_a_crash(services: Services, tmp_path: Path) -> None:
    env = {"MEMEX_API_TOKEN": TOKEN, "MEMEX_USER_ID": "ann", "RATE_LIMIT_SEARCHES_PER_MINUTE": "0"}
    with services.running(env) as served:
        remote = backend(served)
        assert remote.health().ok
        with pytest.raises(Unauthorized):
            backend(served, "wrong").store(StoreRequest(content="x", occurred_at=NOW))
        with pytest.raises(InvalidInput):
            remote.store(StoreRequest(content="a\x00b", occurred_at=NOW))

        text = "主人偏好周五晚上部署"
        fact = remote.store(
            StoreRequest(
                content=text,
                occurred_at=NOW,
                level=Level.FACT,
                lm_policy=LmPolicy.SKIP,
                pre_extracted=PreExtracted(content=text, keywords=["发布窗口"], topic="部署习惯"),
            )
        )
        said = remote.store(StoreRequest(content="From now on, please always answer me in French.", occurred_at=NOW))
        (tmp_path / ".env").write_text(f"MEMORY_API_TOKEN={TOKEN}\n", encoding="utf-8")
        settings = {"backend_kind": "remote", "api_url": f"http://127.0.0.1:{served.port}"}
        agent = provider(tmp_path, settings=settings)
        agent.sync_turn("我的猫叫咪咪。", "好的。", session_id="s1")
        assert memory(agent).settle(30)
        served.kill()
        agent.sync_turn("My dog is called Rex.", "Noted, Rex.", session_id="s1")
        assert agent.prefetch("What is my dog called?") == ""
        agent.shutdown()
        served.start()

        agent = provider(tmp_path, "s2")  # the next conversation delivers what the last one could not
        assert memory(agent).settle(30)
        assert "我的猫叫咪咪" in agent.prefetch("我的猫叫什么名字？")
        assert "My dog is called Rex" in agent.prefetch("What is my dog called?")
        found = json.loads(agent.handle_tool_call("memory_search", {"keywords": ["Rex"]}))["items"]
        assert [item["content"] for item in found].count("My dog is called Rex.") == 1
        agent.shutdown()
        again = backend(served)
        assert [r.memory_id for r in again.recall(RecallRequest(keywords=["发布窗口"])).records] == [fact.memory_id]
        assert [r.content for r in again.recall(RecallRequest(query="いつデプロイしますか？", top_k=1)).records] == [
            text
        ]
        until("the worker has extracted the fact", lambda: again.get(said.memory_id).links, 60)
        [link] = again.get(said.memory_id).links
        extracted = again.get(link.from_id)
        assert (extracted.level, "French" in extracted.content) == (Level.FACT, True)
