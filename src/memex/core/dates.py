"""Dates that a question names ("last May", "去年五月", "two weeks before 9 July"), as ranges of days.

Ranges feed a soft signal: a memory near one of them gains, none is excluded. A date without its
year means the latest one before `now`. "Today" is no such range: it says when is asked, not what about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from .fold import canonical
from .patterns import lazy

__all__ = ["DateRange", "dates_named"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        1,
    )
    for name in names
}
_WEEKDAYS = {
    name: number
    for number, name in enumerate(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
}
_COUNT_WORDS = (
    "|a an one 一|two couple 两 二|three few 三|four 四|five 五|six 六"
    "|seven 七|eight 八|nine 九|ten 十|eleven 十一|twelve 十二"
)
_COUNTS = {word: number for number, words in enumerate(_COUNT_WORDS.split("|")) for word in words.split()}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_UNITS_WIDE = {"天": "day", "日": "day", "周": "week", "星期": "week", "週": "week", "月": "month", "年": "year"}

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_COUNT = "|".join(word for word in _COUNTS if word.isascii())
_WIDE = "[一二两三四五六七八九十]"


@dataclass(frozen=True, slots=True)
class DateRange:
    """Days from `start` to `end`, both included."""

    start: date
    end: date

    def distance_days(self, day: date) -> int:
        """Return how many days `day` lies outside; 0 within."""
        return max(0, (self.start - day).days, (day - self.end).days)


def dates_named(text: str, now: datetime) -> list[DateRange]:
    """Return the days, months, years and spans that `text` names, resolved against `now`, in no double."""
    rest = canonical(text).casefold()
    today = now.date()
    found: dict[DateRange, None] = {}
    for pattern, resolve in _RULES:
        for match in pattern.finditer(rest):
            try:
                span = _moved(rest, match, resolve(match, today))
            except (ValueError, OverflowError):  # 31 June, year 0: no date after all
                continue
            found[span] = None
            # Blanked, so that no later rule reads a part of it again; the length stays, and so do the positions.
            rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
    return list(found)


_Resolve = Callable[[re.Match[str], date], DateRange]
_MOVE = lazy(rf"\b(\d{{1,3}}|{_COUNT})(?: of)? (day|week|month|year)s? (before|after|prior to)(?: the)? *\Z")


def _moved(text: str, match: re.Match[str], span: DateRange) -> DateRange:
    """Apply "two weeks before" in front of a date."""
    move = _MOVE.search(text, max(0, match.start() - 40), match.start())
    if move is None:
        return span
    days = _count(move[1]) * _UNIT_DAYS[move[2]] * (1 if move[3] == "after" else -1)
    slack = timedelta(days=_UNIT_DAYS[move[2]] // 2)
    return DateRange(span.start + timedelta(days=days) - slack, span.end + timedelta(days=days) + slack)


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS[word]


def _day(year: int, month: int, day: int) -> DateRange:
    return DateRange(date(year, month, day), date(year, month, day))


def _months(year: int, month: int, count: int = 1) -> DateRange:
    last = year * 12 + month - 1 + count
    return DateRange(date(year, month, 1), date(last // 12, last % 12 + 1, 1) - timedelta(days=1))


def _full_year(year: int) -> DateRange:
    return DateRange(date(year, 1, 1), date(year, 12, 31))


def _latest(today: date, make: Callable[[int], DateRange]) -> DateRange:
    this = make(today.year)
    return this if this.start <= today else make(today.year - 1)


def _ago(today: date, count: int, unit: str) -> DateRange:
    middle = today - timedelta(days=count * _UNIT_DAYS[unit])
    slack = timedelta(days=_UNIT_DAYS[unit] // 2)
    return DateRange(middle - slack, middle + slack)


def _period(today: date, back: int, unit: str) -> DateRange:
    """The calendar day, week, month or year that lies `back` such units in the past."""
    if unit == "day":
        start = today - timedelta(days=back)
        return DateRange(start, start)
    if unit == "week":
        start = today - timedelta(days=today.weekday() + 7 * back)
        return DateRange(start, start + timedelta(days=6))
    if unit == "month":
        index = today.year * 12 + today.month - 1 - back
        return _months(index // 12, index % 12 + 1)
    return _full_year(today.year - back)


def _named_day(match: re.Match[str], today: date) -> DateRange:
    month, day = _MONTHS[match["month"]], int(match["day"])
    if match["year"]:
        return _day(int(match["year"]), month, day)
    return _latest(today, lambda year: _day(year, month, day))


def _named_month(match: re.Match[str], today: date) -> DateRange:
    month = _MONTHS[match["month"]]
    if match["year"]:
        return _months(int(match["year"]), month)
    if match["when"] == "last" and month == today.month:
        return _months(today.year - 1, month)
    return _latest(today, lambda year: _months(year, month))


def _season(match: re.Match[str], today: date) -> DateRange:
    first = _SEASONS[match["season"]]
    if match["year"]:
        return _months(int(match["year"]), first, 3)
    return _latest(today, lambda year: _months(year, first, 3))


def _weekday(match: re.Match[str], today: date) -> DateRange:
    back = (today.weekday() - _WEEKDAYS[match[1]] - 1) % 7 + 1
    return _period(today, back, "day")


_WIDE_YEARS = {"去": 1, "昨": 1, "今": 0, "前": 2}


def _wide_date(match: re.Match[str], today: date) -> DateRange:
    """2022年7月9日, 去年五月, 7月9日, 2022年."""
    relative, month, day = match["relative"], match["month"], match["day"]
    year = int(match["year"]) if match["year"] else today.year - _WIDE_YEARS[relative] if relative else None
    if month is None:
        if year is None:
            raise ValueError("neither year nor month")
        return _full_year(year)
    number = _count(month)
    make: Callable[[int], DateRange] = (
        (lambda y: _day(y, number, _count(day))) if day else (lambda y: _months(y, number))
    )
    return make(year) if year is not None else _latest(today, make)


def _wide_ago(match: re.Match[str], today: date) -> DateRange:
    return _ago(today, _count(match[1]), _UNITS_WIDE[match[2]])


_WIDE_PERIODS: dict[str, tuple[int, str]] = {
    "前天": (2, "day"),
    "一昨日": (2, "day"),
    "おととい": (2, "day"),
    "昨天": (1, "day"),
    "昨日": (1, "day"),
    "昨晚": (1, "day"),
    "昨夜": (1, "day"),
    "きのう": (1, "day"),
    "上上周": (2, "week"),
    "先々週": (2, "week"),
    "上周": (1, "week"),
    "上週": (1, "week"),
    "上个星期": (1, "week"),
    "上星期": (1, "week"),
    "先週": (1, "week"),
    "这周": (0, "week"),
    "这週": (0, "week"),
    "本周": (0, "week"),
    "今週": (0, "week"),
    "上上个月": (2, "month"),
    "先々月": (2, "month"),
    "上个月": (1, "month"),
    "上月": (1, "month"),
    "先月": (1, "month"),
    "这个月": (0, "month"),
    "本月": (0, "month"),
    "今月": (0, "month"),
    "前年": (2, "year"),
    "一昨年": (2, "year"),
    "去年": (1, "year"),
    "昨年": (1, "year"),
    "今年": (0, "year"),
}
_NARROW_PERIODS = {"the day before yesterday": 2, "yesterday": 1, "last night": 1}


def _rules() -> Iterator[tuple[re.Pattern[str], _Resolve]]:
    """Yield patterns, the most specific first: what one has read, the next does not see."""
    year = r"(?:,? *(?:of +)?(?P<year>(?:19|20)\d\d)\b)?"
    day = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
    yield (
        lazy(r"\b((?:19|20)\d\d)[-/.]([01]?\d)[-/.]([0-3]?\d)\b"),
        lambda m, _: _day(int(m[1]), int(m[2]), int(m[3])),
    )
    yield lazy(rf"\b{day} *(?:of +)?(?P<month>{_MONTH})\b\.?{year}"), _named_day
    yield lazy(rf"\b(?P<month>{_MONTH})\b\.? +(?:the +)?{day}\b(?!:){year}"), _named_day
    yield (
        lazy(rf"\b(?:(?P<when>last|this|in|of|during|since|until|by|early|late|mid) +)(?P<month>{_MONTH})\b\.?{year}"),
        _named_month,
    )
    yield (
        lazy(rf"(?P<when>)\b(?P<month>{_MONTH})\b\.?,? *(?:of +)?(?P<year>(?:19|20)\d\d)\b"),
        _named_month,
    )
    yield (
        lazy(rf"\b(?:last|this|in|the|of|during) +(?:the +)?(?P<season>spring|summer|autumn|fall|winter)\b{year}"),
        _season,
    )
    yield (
        lazy(rf"\b(\d{{1,3}}|{_COUNT})(?: of)? (day|week|month|year)s? ago\b"),
        lambda m, today: _ago(today, _count(m[1]), m[2]),
    )
    narrow = "|".join(_NARROW_PERIODS)
    yield lazy(rf"\b({narrow})\b"), lambda m, today: _period(today, _NARROW_PERIODS[m[1]], "day")
    yield (
        lazy(r"\b(last|this|past|previous) (week|month|year)\b"),
        lambda m, today: _period(today, 0 if m[1] == "this" else 1, m[2]),
    )
    yield lazy(rf"\b(?:last|on|this past) ({'|'.join(_WEEKDAYS)})\b"), _weekday
    yield lazy(r"\b((?:19|20)\d\d)\b(?!年)"), lambda m, _: _full_year(int(m[1]))
    number = rf"(?:\d{{1,2}}|十?{_WIDE})"
    yield (
        lazy(
            rf"(?:(?P<year>(?:19|20)\d\d)年|(?P<relative>[去昨今前])年)的?(?:(?P<month>{number})月(?:(?P<day>{number})[日号])?)"
        ),
        _wide_date,
    )
    yield (
        lazy(rf"(?P<year>)(?P<relative>)(?<![\d{_WIDE[1:-1]}])(?P<month>{number})月(?:(?P<day>{number})[日号])?"),
        _wide_date,
    )
    yield lazy(r"(?P<year>(?:19|20)\d\d)年(?P<relative>)(?P<month>(?!))?(?P<day>(?!))?"), _wide_date
    yield lazy(rf"(\d{{1,3}}|十?{_WIDE})(?:个|か|ヶ|ケ)?(天|日|星期|周|週|月|年)(?:间|之)?前"), _wide_ago
    wide = "|".join(sorted(_WIDE_PERIODS, key=len, reverse=True))
    yield lazy(f"({wide})"), lambda m, today: _period(today, *_WIDE_PERIODS[m[1]])


_RULES = tuple(_rules())
