"""Messages refuse what can never work, and bring the rest into one form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, cast

import pytest

from memex.core import memory as core
from memex.protocol import models
from memex.protocol.errors import InvalidInput, TooLarge
from memex.protocol.models import ExtractRequest, LinkRequest, PreExtracted, RecallRequest, StoreRequest

AT = datetime(2026, 9, 28, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: StoreRequest(content=" \n", occurred_at=AT), "content"),
        (lambda: StoreRequest(content="x", occurred_at=AT, level=cast(Any, "L9")), "level must be one of raw, fact"),
        (lambda: StoreRequest(content="x", occurred_at=AT, lm_policy=cast(Any, "maybe")), "lm_policy must be one of skip"),
        (lambda: StoreRequest(content="x", occurred_at=AT, tags=["t" * 129]), "tags"),
        (lambda: StoreRequest(content="x", occurred_at=AT, tags="一个"), "a list of strings"),
        (lambda: PreExtracted(content="　"), "pre_extracted.content"),
        (lambda: PreExtracted(content="x", keywords=[str(n) for n in range(65)]), "65 entries"),
        (lambda: PreExtracted(content="x", topic="题" * 129), "topic"),
        (lambda: RecallRequest(keywords=["x"], top_k=0), "top_k must be 1 to 50"),
        (lambda: RecallRequest(query="x" * 8_193), "8,193 characters"),
        (lambda: RecallRequest(keywords=["x"], time_from=AT, time_to=AT), "time_to must be after"),
        (lambda: RecallRequest(keywords=["x"], mode=cast(Any, "fuzzy")), "precise, cluster"),
        (lambda: LinkRequest(from_id="a", to_id=" a "), "itself"),
        (lambda: LinkRequest(from_id="", to_id="b"), "from_id"),
        (lambda: LinkRequest(from_id="a", to_id="b", weight=float("inf")), "finite"),
        (lambda: ExtractRequest(limit=1_001), "limit must be 1 to 1,000"),
    ],
)  # fmt: skip
def test_what_can_never_work_is_refused_with_what_would(make: Any, what: str) -> None:
    with pytest.raises(InvalidInput, match=what):
        make()


def test_a_text_that_is_too_long_is_too_large() -> None:
    with pytest.raises(TooLarge, match="65,537"):
        StoreRequest(content="x" * 65_537, occurred_at=AT)


def test_words_are_trimmed_and_kept_once_in_order() -> None:
    request = RecallRequest(keywords=["部署", " 周五 ", "", "部署"], query="  何時？ ")
    assert (list(request.keywords), request.query) == (["部署", "周五"], "何時？")


def test_times_are_in_utc_and_a_naive_one_is_read_as_utc() -> None:
    east = timezone(timedelta(hours=8))
    for given in (datetime(2026, 9, 28, 10), datetime(2026, 9, 28, 18, tzinfo=east)):  # noqa: DTZ001
        assert StoreRequest(content="x", occurred_at=given).occurred_at == AT


@pytest.mark.parametrize(
    ("request_", "empty"),
    [
        (RecallRequest(), True),
        (RecallRequest(keywords=["", " "], query="\n"), True),
        (RecallRequest(keywords=["周五"]), False),
        (RecallRequest(query="何時"), False),
    ],
)
def test_a_recall_knows_whether_it_asks_for_anything(request_: RecallRequest, empty: bool) -> None:
    assert request_.is_empty is empty


def test_the_topic_is_not_repeated_among_the_tags() -> None:
    pre = PreExtracted(content="x", topic="ops")
    assert list(StoreRequest(content="x", occurred_at=AT, tags=["ops", "b"], pre_extracted=pre).tags) == ["b"]


def test_limits_are_those_of_the_other_faces() -> None:
    for name in ("MAX_CONTENT_CHARS", "MAX_QUERY_CHARS", "MAX_TOP_K"):
        assert getattr(models, name) == getattr(core, name)
    assert models.MAX_KEYWORD_CHARS == core.MAX_TAG_CHARS
    assert models.MAX_KEYWORDS < core.MAX_TAGS  # so that a topic has room among them
