"""Several `memex serve` on one data directory share one database, and the last one out stops it."""

from __future__ import annotations

import pytest

from tests.acceptance.served import Services

pytestmark = pytest.mark.timeout(240)


def test_each_finds_what_the_other_stores_goes_on_without_it_and_the_last_one_out_stops_the_server(
    services: Services,
) -> None:
    one = services.new()
    two = services.new(data_dir=one.data_dir)
    try:
        for served in (one, two):  # at once, on an empty data directory
            served.start(wait=False)
        for served in (one, two):
            served.wait_ready()
        texts = ["Tom picks us up at the airport", "我不喝咖啡，下午最喜欢喝普洱茶", "会議は水曜日の午後です"]
        for text in texts:
            stored = one.remember(text)
            assert stored.status == 201
            assert two.search(text)[0]["id"] == stored.json()["id"]
            again = two.remember(text)
            assert (again.status, again.json()["id"]) == (200, stored.json()["id"])

        stored = one.remember("stored by the one that dies")
        assert stored.status == 201
        one.kill()
        assert two.remember("stored by the one that lives").status == 201
        assert two.search("stored by the one that dies")[0]["id"] == stored.json()["id"]
        one.start()
        assert {m["content"] for m in one.search("stored by", mode="keyword")} == {
            "stored by the one that dies",
            "stored by the one that lives",
        }

        server = one.postmaster()
        assert two.stop()[0] == 0
        assert one.postmaster() == server, "the server went with the first one out"
        assert one.remember("the other one goes on").status == 201
        assert one.stop()[0] == 0
        assert one.postmaster() is None, "a killed process still counted as a user of the server"
    finally:
        one.kill()
        two.kill()
        one.clean_up()
