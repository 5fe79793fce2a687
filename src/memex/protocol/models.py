"""The messages of the unified protocol as frozen values, which refuse what can never work.

Every backend, local or remote, takes and returns these. Times are aware and in UTC; a naive one is
read as UTC. A record lives on a `Level`: what was said (raw), what is true (fact), and what was
made of many (summary, meta).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from .errors import InvalidInput, TooLarge

__all__ = [
    "MAX_CONTENT_CHARS",
    "MAX_EXTRACT",
    "MAX_KEYWORDS",
    "MAX_KEYWORD_CHARS",
    "MAX_QUERY_CHARS",
    "MAX_TOP_K",
    "PROTOCOL_VERSION",
    "SUPERSEDES",
    "ExtractRequest",
    "ExtractResult",
    "Group",
    "Health",
    "Level",
    "Link",
    "LinkRequest",
    "LinkResult",
    "LmPolicy",
    "PreExtracted",
    "RecallMode",
    "RecallRequest",
    "RecallResult",
    "Record",
    "StoreRequest",
    "StoreResult",
    "utc",
]

PROTOCOL_VERSION = "2.1"

# The same limits as in REST v1, so that no face takes what another refuses.
MAX_CONTENT_CHARS = 65_536
MAX_QUERY_CHARS = 8_192
MAX_TOP_K = 50
# A keyword is a word or a name; more or longer ones are a text, which belongs into the content.
MAX_KEYWORDS = 64
MAX_KEYWORD_CHARS = 128
MAX_EXTRACT = 1_000

SUPERSEDES = "supersedes"

E = TypeVar("E", bound=StrEnum)


class Level(StrEnum):
    """Which layer a record belongs to."""

    RAW = "raw"
    FACT = "fact"
    SUMMARY = "summary"
    META = "meta"


class LmPolicy(StrEnum):
    """Whether the backend extracts facts from a record: never, as it sees fit, or in any case."""

    SKIP = "skip"
    AUTO = "auto"
    FORCE = "force"


class RecallMode(StrEnum):
    """The shape of a recall's answer: one ranked list, or groups of one topic each."""

    PRECISE = "precise"
    CLUSTER = "cluster"


def utc(value: datetime) -> datetime:
    """Return `value` in UTC; a naive time is read as UTC already."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreExtracted:
    """What the caller has extracted already: the record's own text, the words that find it, its topic.

    Raises:
        InvalidInput, TooLarge: blank content, or keywords beyond the limits.
    """

    content: str
    keywords: Sequence[str] = ()
    topic: str = ""

    def __post_init__(self) -> None:
        _check_content(self.content, "pre_extracted.content")
        _set(self, "keywords", _words(self.keywords, "pre_extracted.keywords"))
        _set(self, "topic", self.topic.strip())
        if len(self.topic) > MAX_KEYWORD_CHARS:
            raise InvalidInput(f"topic is longer than {MAX_KEYWORD_CHARS} characters", field="pre_extracted.topic")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequest:
    """One record to keep. `occurred_at` has no default: what has no time of its own sinks below what has.

    With `pre_extracted` its content is what is kept on `level`. The topic is not repeated among the tags.
    `payload` is the caller's own (trigger, role, session_id, platform, src_store_id …), returned as it is.

    Raises:
        InvalidInput, TooLarge: see the message.
    """

    content: str
    occurred_at: datetime
    source_type: str = "memory"
    level: Level = Level.RAW
    pre_extracted: PreExtracted | None = None
    lm_policy: LmPolicy = LmPolicy.AUTO
    tags: Sequence[str] = ()
    payload: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_content(self.content, "content")
        _set(self, "occurred_at", utc(self.occurred_at))
        _set(self, "level", _member(Level, self.level, "level"))
        _set(self, "lm_policy", _member(LmPolicy, self.lm_policy, "lm_policy"))
        _set(self, "tags", tuple(tag for tag in _words(self.tags, "tags") if tag != self.topic))

    @property
    def text(self) -> str:
        """What is kept and found: the extracted text if there is one, else the content."""
        return self.pre_extracted.content if self.pre_extracted else self.content

    @property
    def keywords(self) -> Sequence[str]:
        """The words that the caller wants this record to be found by."""
        return self.pre_extracted.keywords if self.pre_extracted else ()

    @property
    def topic(self) -> str:
        """The topic that the caller named, or ""."""
        return self.pre_extracted.topic if self.pre_extracted else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreResult:
    """The id of the record, its level, and whether it was there already (then it was renewed)."""

    memory_id: str
    level: Level = Level.RAW
    deduplicated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A question: keywords, a sentence, or both. Without either the answer is empty, never everything.

    `dimensions`: only records that carry all of these as tag or as topic. Times are event times,
    from inclusive, to exclusive.

    Raises:
        InvalidInput: see the message.
    """

    keywords: Sequence[str] = ()
    query: str = ""
    top_k: int = 5
    mode: RecallMode = RecallMode.PRECISE
    dimensions: Sequence[str] = ()
    time_from: datetime | None = None
    time_to: datetime | None = None

    def __post_init__(self) -> None:
        if len(self.query) > MAX_QUERY_CHARS:
            raise InvalidInput(
                f"query has {len(self.query):,} characters, more than {MAX_QUERY_CHARS:,}", field="query"
            )
        if not 1 <= self.top_k <= MAX_TOP_K:
            raise InvalidInput(f"top_k must be 1 to {MAX_TOP_K}, not {self.top_k}", field="top_k")
        _set(self, "query", self.query.strip())
        _set(self, "mode", _member(RecallMode, self.mode, "mode"))
        _set(self, "keywords", _words(self.keywords, "keywords"))
        _set(self, "dimensions", _words(self.dimensions, "dimensions"))
        for name in ("time_from", "time_to"):
            value = getattr(self, name)
            _set(self, name, utc(value) if value is not None else None)
        if self.time_from and self.time_to and self.time_to <= self.time_from:
            raise InvalidInput("time_to must be after time_from", field="time_to")

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked: no keyword and no query."""
        return not self.keywords and not self.query


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An edge between two records."""

    link_id: str
    from_id: str
    to_id: str
    relation: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A kept record. `recall` sets its score, `get` its links; a backend may leave most fields empty."""

    memory_id: str
    content: str
    score: float | None = None
    level: Level = Level.RAW
    topic: str = ""
    keywords: Sequence[str] = ()
    occurred_at: datetime | None = None
    created_at: datetime | None = None
    source_type: str = ""
    tags: Sequence[str] = ()
    payload: Mapping[str, Any] = field(default_factory=dict)
    links: Sequence[Link] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Records of one topic, best first."""

    key: str
    records: Sequence[Record]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """What was found, best first; in mode `cluster` the same records also by group."""

    records: Sequence[Record] = ()
    groups: Sequence[Group] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRequest:
    """An edge from one record to another; the same edge again changes its weight only.

    `supersedes` says that `to_id` holds no longer: recall leaves it out from now on, `get` still has it.

    Raises:
        InvalidInput: an id or the relation is blank, a record is linked to itself, or the weight is no number.
    """

    from_id: str
    to_id: str
    relation: str = "related"
    weight: float = 1.0

    def __post_init__(self) -> None:
        for name in ("from_id", "to_id", "relation"):
            value = getattr(self, name).strip()
            if not value or len(value) > MAX_KEYWORD_CHARS:
                raise InvalidInput(f"{name} must be 1 to {MAX_KEYWORD_CHARS} characters", field=name)
            _set(self, name, value)
        if self.from_id == self.to_id:
            raise InvalidInput("a record cannot be linked to itself", field="to_id")
        if not math.isfinite(self.weight):
            raise InvalidInput("weight must be a finite number", field="weight")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkResult:
    """The edge's id, the same for the same edge; `created` False when it was there."""

    link_id: str
    created: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractRequest:
    """Extract facts now: from `memory_ids`, or from up to `limit` records that wait for it.

    `lm_policy`: skip extracts by rules, force by a language model or not at all, auto by what there is.

    Raises:
        InvalidInput: `limit` is out of range.
    """

    limit: int = 20
    memory_ids: Sequence[str] = ()
    lm_policy: LmPolicy = LmPolicy.AUTO

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_EXTRACT:
            raise InvalidInput(f"limit must be 1 to {MAX_EXTRACT:,}, not {self.limit}", field="limit")
        _set(self, "memory_ids", _words(self.memory_ids, "memory_ids", most=MAX_EXTRACT))
        _set(self, "lm_policy", _member(LmPolicy, self.lm_policy, "lm_policy"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractResult:
    """How many records were taken, gave facts, and failed; the ids of the facts.

    `status` is "unavailable" from a backend that cannot extract (and that is no failure of the call).
    """

    claimed: int = 0
    extracted: int = 0
    failed: int = 0
    facts: Sequence[str] = ()
    status: str = "ok"
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a backend is, what it speaks, and what it can do (`lm`: it extracts with a language model)."""

    status: str
    version: str = ""
    protocol: str = ""
    lm: bool = False
    levels: Sequence[Level] = tuple(Level)
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the backend says of itself that it works."""
        return self.status.lower() in {"ok", "healthy", "up", "pass", "alive"}


def _set(instance: object, name: str, value: object) -> None:
    object.__setattr__(instance, name, value)


def _check_content(content: str, name: str) -> None:
    # Spaces, controls and zero-width characters: what nobody can see.
    if all(unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp", "Zs"} for char in content):
        raise InvalidInput(f"{name} must not be blank", field=name)
    if len(content) > MAX_CONTENT_CHARS:
        raise TooLarge(f"{name} has {len(content):,} characters, more than {MAX_CONTENT_CHARS:,}")


def _words(words: Iterable[str], name: str, *, most: int = MAX_KEYWORDS) -> tuple[str, ...]:
    """Return the words without blanks and repeats, in order."""
    if isinstance(words, str):
        raise InvalidInput(f"{name} must be a list of strings, not one string", field=name)
    kept = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    if len(kept) > most:
        raise InvalidInput(f"{name} has {len(kept):,} entries, more than {most:,}", field=name)
    for word in kept:
        if len(word) > MAX_KEYWORD_CHARS:
            raise InvalidInput(f"an entry of {name} is longer than {MAX_KEYWORD_CHARS} characters", field=name)
    return kept


def _member(kind: type[E], value: str, name: str) -> E:
    try:
        return kind(value)
    except ValueError as e:
        known = ", ".join(member.value for member in kind)
        raise InvalidInput(f"{name} must be one of {known}, not {str(value)[:40]!r}", field=name) from e
