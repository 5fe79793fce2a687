"""`memex mcp`: quick to answer, quiet on standard output, a good neighbour on a shared data directory."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.acceptance.served import Served, Services, tell, until
from tests.acceptance.talker import Talker

pytestmark = pytest.mark.timeout(240)

Talk = Callable[..., Talker]


@pytest.fixture
def talk(services: Services) -> Iterator[Talk]:
    """Starts `memex mcp` on an environment; whatever is left is killed."""
    started: list[Talker] = []

    def start(env: Mapping[str, str], *arguments: str) -> Talker:
        started.append(Talker(env, services.folder, arguments))
        return started[-1]

    yield start
    for talker in started:
        talker.clean_up()


@pytest.fixture(scope="module")
def used(services: Services) -> Served:
    """A data directory that has been used before; nothing runs on it."""
    return services.new()


def test_the_first_start_of_all_answers_the_handshake_within_two_seconds(services: Services, talk: Talk) -> None:
    times = []
    for number in range(3):
        env = services.new().env | {"MEMEX_DATA_DIR": str(services.folder / f"empty-{number}")}
        talker = talk(env)
        assert talker.greet()["serverInfo"]["name"] == "memex"
        assert len(talker.ask("tools/list")["tools"]) == 9
        times.append(time.monotonic() - talker.started)
        assert talker.kill(signal.SIGTERM) == 0
    tell(f"ready for tools/list after {', '.join(f'{t:.2f}' for t in times)} s")
    assert min(times) < 2


def test_three_agents_and_a_service_share_one_directory_however_they_end(services: Services, talk: Talk) -> None:
    served = services.new()
    try:
        one, two, three = (talk(served.env) for _ in range(3))
        served.start(wait=False)
        for talker in (one, two, three):
            talker.greet()
        texts = {"I like green tea": one, "我周五晚上部署": two, "会議は水曜日です": three}
        for text, talker in texts.items():
            assert talker.call("save_memory", text=text, user_id="u")["outcome"] in {"stored", "merged"}
        served.wait_ready()
        postmaster = served.postmaster()
        for text in texts:
            for talker in (one, two, three):
                assert talker.call("search_memory", query=text, user_id="u")["results"][0]["content"] == text
            assert served.search(text)[0]["content"] == text

        assert one.kill(signal.SIGTERM) == 0
        assert two.call("count_memories", user_id="u")["count"] == 3
        assert two.close() == 0
        assert three.kill(signal.SIGKILL) == -signal.SIGKILL
        assert {memory["content"] for memory in served.search("tea 部署 会議")} == set(texts)
        four = talk(served.env)
        four.greet()
        assert four.call("count_memories", user_id="u")["count"] == 3
        assert served.postmaster() == postmaster, "the server went with one of its users"

        assert served.stop()[0] == 0
        assert served.postmaster() == postmaster
        saved = four.call("save_memory", text="I am allergic to peanuts", user_id="u")
        assert "id" in saved, saved
        assert four.close() == 0
        assert served.postmaster() is None, "the last one out stops the server"
    finally:
        served.clean_up()


def test_a_client_that_leaves_while_the_database_starts_leaves_no_server_behind(used: Served, talk: Talk) -> None:
    served = used
    talker = talk(served.env)
    talker.greet()
    until("the database is being made", (served.data_dir / "postgres.lock").exists)
    assert talker.close() == 0
    assert served.postmaster() is None
    again = talk(served.env)
    again.greet()
    assert again.call("count_memories")["count"] == 0
    assert again.close() == 0
    assert served.postmaster() is None


def test_calls_written_before_the_end_of_input_are_all_answered(used: Served, talk: Talk) -> None:
    talker = talk(used.env | {"MEMEX_LOG_LEVEL": "DEBUG"}, "--profile", "coding")
    talker.greet()
    ids = {
        talker.send("tools/call", {"name": "save_memory", "arguments": {"text": f"fact {n}", "user_id": "piped"}})
        for n in range(5)
    }
    listed = talker.send("tools/list")
    assert talker.process.stdin is not None
    talker.process.stdin.close()
    answers = {}
    while (message := talker.read()) is not None:
        answers[message["id"]] = message["result"]
    assert set(answers) == ids | {listed}
    assert not [answer for request_id, answer in answers.items() if request_id in ids and answer["isError"]]
    assert [tool["name"] for tool in answers[listed]["tools"]] == ["save_memory", "search_memory", "retract_memory"]
    assert talker.process.wait(30) == 0
    assert talker.errors(), "at DEBUG there is something to say, and standard output had none of it"


def test_a_line_that_is_no_message_is_an_error_and_the_conversation_goes_on(used: Served, talk: Talk) -> None:
    talker = talk(used.env)
    talker.greet()
    for line in (b"hello\n", b"\xff\xfe\n", b"[]\n", b'{"jsonrpc": "2.0", "id": 77, "method": "nonesuch"}\n'):
        talker.write(line)
    errors = []
    request_id = talker.send("tools/call", {"name": "count_memories", "arguments": {}})
    while (message := talker.read()) is not None and message.get("id") != request_id:
        errors.append(message)
    assert message is not None
    assert message["result"]["structuredContent"]["count"] == 0
    told = [(error["id"], error["error"]["code"]) for error in errors]
    # In any order: the first three are answered at once, the last by the SDK.
    assert sorted(told, key=str) == [(77, -32601), (None, -32600), (None, -32700), (None, -32700)]
    assert talker.close() == 0


def test_a_database_that_is_down_is_told_by_each_call_and_the_next_one_tries_again(
    services: Services, talk: Talk
) -> None:
    served = services.new({"DATABASE_URL": "postgresql://me:hunter2@127.0.0.1:9/db"})
    talker = talk(served.env)
    talker.greet()
    for _ in range(2):
        result = talker.ask("tools/call", {"name": "search_memory", "arguments": {"query": "x"}})
        assert result["isError"], "an error must not look like an empty result"
        assert result["content"][0]["text"].startswith("unavailable: the database does not answer")
    assert "hunter2" not in talker.errors()
    assert talker.close() == 0
