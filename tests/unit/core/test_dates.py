from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memex.core.dates import DateRange, dates_named

NOW = datetime(2023, 10, 22, 10, tzinfo=UTC)  # a Sunday


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("What did James try on 9 July, 2022?", "2022-07-09", "2022-07-09"),
        ("How did she feel on October 25, 2022?", "2022-10-25", "2022-10-25"),
        ("on July 4th", "2023-07-04", "2023-07-04"),
        ("on December 24", "2022-12-24", "2022-12-24"),
        ("2023-05-08", "2023-05-08", "2023-05-08"),
        ("in June", "2023-06-01", "2023-06-30"),
        ("last May", "2023-05-01", "2023-05-31"),
        ("last October", "2022-10-01", "2022-10-31"),
        ("during September 2022", "2022-09-01", "2022-09-30"),
        ("in summer 2022", "2022-06-01", "2022-08-31"),
        ("in the winter", "2022-12-01", "2023-02-28"),
        ("in 2022", "2022-01-01", "2022-12-31"),
        ("yesterday", "2023-10-21", "2023-10-21"),
        ("three days ago", "2023-10-19", "2023-10-19"),
        ("2 weeks ago", "2023-10-05", "2023-10-11"),
        ("last week", "2023-10-09", "2023-10-15"),
        ("last month", "2023-09-01", "2023-09-30"),
        ("last year", "2022-01-01", "2022-12-31"),
        ("last Friday", "2023-10-20", "2023-10-20"),
        ("two weeks before 9 July 2023", "2023-06-22", "2023-06-28"),
        ("2022年7月9日", "2022-07-09", "2022-07-09"),
        ("我在5月2日提到过什么？", "2023-05-02", "2023-05-02"),
        ("去年五月", "2022-05-01", "2022-05-31"),
        ("去年十二月三日", "2022-12-03", "2022-12-03"),
        ("２０２２年", "2022-01-01", "2022-12-31"),
        ("上个月", "2023-09-01", "2023-09-30"),
        ("上週", "2023-10-09", "2023-10-15"),
        ("昨天我们聊了什么", "2023-10-21", "2023-10-21"),
        ("三天前", "2023-10-19", "2023-10-19"),
        ("先月どこに行った？", "2023-09-01", "2023-09-30"),
        ("一昨日", "2023-10-20", "2023-10-20"),
        ("1週間前", "2023-10-12", "2023-10-18"),
        ("昨年の夏", "2022-01-01", "2022-12-31"),
    ],
)
def test_a_named_date_is_resolved_against_now(text: str, start: str, end: str) -> None:
    assert dates_named(text, NOW) == [DateRange(date.fromisoformat(start), date.fromisoformat(end))]


@pytest.mark.parametrize(
    "text",
    [
        "What may I do?",
        "31 June",
        "march on",
        "today",
        "今天",
        "room 2050b",
        "12345",
        "",
        "一天",
        "???",
    ],
)
def test_what_is_no_date_names_none(text: str) -> None:
    assert dates_named(text, NOW) == []


def test_several_dates_are_all_named_once() -> None:
    found = dates_named("from 1 May 2023 to May 3, 2023, that is 2023-05-03", NOW)
    assert set(found) == {
        DateRange(date(2023, 5, 1), date(2023, 5, 1)),
        DateRange(date(2023, 5, 3), date(2023, 5, 3)),
    }
    assert len(found) == 2


@given(st.text(), st.datetimes(timezones=st.just(UTC)))
def test_any_text_gives_ranges_in_order(text: str, now: datetime) -> None:
    assert all(span.start <= span.end for span in dates_named(text, now))


@given(
    st.sampled_from(["999 years ago", "99年前", "999 months before 1 January 1900", "29 February"]),
    st.datetimes(timezones=st.just(UTC)),
)
def test_dates_beyond_the_calendar_are_left_out(text: str, now: datetime) -> None:
    assert all(span.start <= span.end for span in dates_named(text, now))


def test_distance_is_counted_in_days_outside_the_range() -> None:
    span = DateRange(date(2023, 5, 1), date(2023, 5, 31))
    assert [span.distance_days(date(2023, *day)) for day in ((4, 30), (5, 1), (5, 31), (6, 10))] == [1, 0, 0, 10]
