"""MCP over HTTP: no session, so neither several workers nor a restart trouble a client."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.served import Services
from tests.faces.doors import mcp_http

pytestmark = pytest.mark.timeout(240)


async def test_a_restart_under_a_live_client_is_survived_whichever_worker_answers(services: Services) -> None:
    with services.running() as served:
        async with mcp_http(served) as door:
            texts = [f"note {n} 笔记 メモ" for n in range(8)]
            stored = await asyncio.gather(*(door.do("store_memory", content=text, user_id="u") for text in texts))
            assert {outcome.code for outcome in stored} == {"ok"}
            assert (await asyncio.to_thread(served.stop))[0] == 0
            served.env["WORKERS"] = "2"
            await asyncio.to_thread(served.start)
            found = await door.do("search_memories", query=texts[3], user_id="u", top_k=1)
            assert found.value["results"][0]["content"] == texts[3]
            assert (await door.do("count_memories", user_id="u")).value["count"] == len(texts)
