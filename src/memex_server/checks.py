"""What the service accepts, whatever face it comes through; each refusal says what would be right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from memex.core.filters import invalid_metadata_reason
from memex.core.forgetting import Policy
from memex.core.lifecycle import Candidate
from memex.core.memory import (
    LEAST_RATING,
    MAX_CONTENT_CHARS,
    MAX_ID_CHARS,
    MAX_QUERY_CHARS,
    MAX_SOURCE_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    MAX_TOP_K,
    MOST_RATING,
    NewMemory,
    Patch,
    SearchRequest,
    utc,
)
from memex.core.text import invalid_reason, is_blank
from memex.protocol.errors import InvalidInput

__all__ = [
    "MAX_TOKEN_BUDGET",
    "MIN_TOKEN_BUDGET",
    "check_budget",
    "check_candidate",
    "check_key",
    "check_new",
    "check_patch",
    "check_policy",
    "check_reason",
    "check_scope",
    "check_search",
    "refusal_of",
]

_MAX_KEY_CHARS = 255
MIN_TOKEN_BUDGET = 64
MAX_TOKEN_BUDGET = 200_000


def check_new(new: NewMemory, now: datetime) -> None:
    """Refuse a new memory that cannot be stored `now`. Raises InvalidInput."""
    _id("agent_id", new.agent_id)
    _id("user_id", new.user_id)
    _content("content", new.content)
    _number("importance", new.importance, 0, 2)
    _tags(new.tags)
    _metadata(new.metadata)
    _optional_text("source", new.source)
    _optional_text("session_id", new.session_id)
    _time("occurred_at", new.occurred_at)
    _expiry(new.expires_at, now)


def check_budget(token_budget: int) -> None:
    """Refuse a budget that holds no memory, or more than a prompt can. Raises InvalidInput."""
    _number("token_budget", token_budget, MIN_TOKEN_BUDGET, MAX_TOKEN_BUDGET)


def check_candidate(candidate: Candidate) -> None:
    """Refuse a candidate that cannot be judged. Raises InvalidInput."""
    _id("agent_id", candidate.agent_id)
    _id("user_id", candidate.user_id)
    _content("text", candidate.text)
    _tags(candidate.tags)
    _optional_text("source", candidate.source)
    _optional_text("session_id", candidate.session_id)
    _time("occurred_at", candidate.occurred_at)
    if candidate.threshold is not None:
        _number("threshold", candidate.threshold, LEAST_RATING, MOST_RATING)
    if candidate.similarity is not None:
        _number("dedup_similarity", candidate.similarity, 0, 1)


def check_reason(reason: str | None) -> None:
    """Refuse a reason that cannot be kept. Raises InvalidInput."""
    if reason is not None:
        _text("reason", reason, MAX_SOURCE_CHARS)


def check_policy(policy: Policy) -> None:
    """Refuse a policy that makes no sense. Raises InvalidInput."""
    _number("max_age_days", policy.max_age_days, 0, 36_500)
    _number("max_idle_days", policy.max_idle_days, 0, 36_500)
    _number("max_memories", policy.max_memories, 0, 2**31)
    _number("importance_floor", policy.importance_floor, 0, 3)


def refusal_of(new: NewMemory, now: datetime) -> InvalidInput | None:
    """Return what `check_new` raises, or None."""
    try:
        check_new(new, now)
    except InvalidInput as e:
        return e
    return None


def check_patch(patch: Patch, now: datetime) -> None:
    """Refuse changes that cannot be stored `now`. Raises InvalidInput."""
    if isinstance(patch.content, str):
        _content("content", patch.content)
    if isinstance(patch.importance, int | float):
        _number("importance", patch.importance, 0, 2)
    if isinstance(patch.tags, tuple):
        _tags(patch.tags)
    if isinstance(patch.metadata, Mapping):
        _metadata(patch.metadata)
    for name in ("source", "session_id"):
        value = getattr(patch, name)
        if isinstance(value, str):
            _optional_text(name, value)
    if isinstance(patch.occurred_at, datetime):
        _time("occurred_at", patch.occurred_at)
    if isinstance(patch.expires_at, datetime):
        _expiry(patch.expires_at, now)


def check_scope(user_id: str | None, agent_id: str | None, tags: Iterable[str] = ()) -> None:
    """Refuse names that no memory can have. Raises InvalidInput."""
    for field, value in (("user_id", user_id), ("agent_id", agent_id)):
        if value is not None:
            _id(field, value)
    _tags(tags)


def check_key(key: str) -> None:
    """Refuse an idempotency key that cannot be kept. Raises InvalidInput."""
    _id("Idempotency-Key", key, _MAX_KEY_CHARS)


def check_search(request: SearchRequest) -> None:
    """Refuse a search that makes no sense. Raises InvalidInput."""
    filters = request.filters
    _id("user_id", request.user_id)
    _text("query", request.query, MAX_QUERY_CHARS)
    _number("top_k", request.top_k, 1, MAX_TOP_K)
    if filters.agent_id is not None:
        _id("agent_id", filters.agent_id)
    if request.alpha is not None:
        _number("alpha", request.alpha, 0, 1)
        if request.weights is not None:
            raise InvalidInput("give alpha or weights, not both", field="alpha")
    if request.half_life_days is not None and not 0 < request.half_life_days < math.inf:
        raise InvalidInput("half_life_days must be above 0", field="half_life_days")
    _tags(filters.tags)
    for name, value in (("now", request.now), ("as_of", filters.as_of)):
        _time(name, value)
    for name, value in (("time_from", filters.time_from), ("time_to", filters.time_to)):
        _time(name, value)
    if filters.time_from and filters.time_to and utc(filters.time_to) < utc(filters.time_from):
        raise InvalidInput("time_to must not be before time_from", field="time_to")


def _text(field: str, value: str, most: int) -> None:
    if not 1 <= len(value) <= most:
        raise InvalidInput(f"{field} must have 1 to {most:,} characters, not {len(value):,}", field=field)
    _storable(field, value)


def _optional_text(field: str, value: str | None) -> None:
    if value is not None and field == "session_id":
        _id(field, value)
    elif value is not None:
        _text(field, value, MAX_SOURCE_CHARS)


def _id(field: str, value: str, most: int = MAX_ID_CHARS) -> None:
    _text(field, value, most)
    _visible(field, value)


def _content(field: str, value: str) -> None:
    _text(field, value, MAX_CONTENT_CHARS)
    _visible(field, value)


def _visible(field: str, value: str) -> None:
    if is_blank(value):
        raise InvalidInput(f"{field} must not be blank: it has no character that can be seen", field=field)


def _storable(field: str, value: str) -> None:
    reason = invalid_reason(value)
    if reason:
        raise InvalidInput(f"{field} {reason}", field=field)


def _number(field: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:  # refuses nan too
        raise InvalidInput(f"{field} must be {least} to {most}, not {value}", field=field)


def _tags(tags: Iterable[str]) -> None:
    listed = list(tags)
    if len(listed) > MAX_TAGS:
        raise InvalidInput(f"at most {MAX_TAGS} tags, not {len(listed)}", field="tags")
    for tag in listed:
        _text("tags", tag, MAX_TAG_CHARS)


def _metadata(metadata: Mapping[str, Any]) -> None:
    reason = invalid_metadata_reason(metadata)
    if reason:
        raise InvalidInput(f"metadata {reason}", field="metadata")


def _time(field: str, value: datetime | None) -> None:
    if value is None:
        return
    try:
        utc(value)
    except OverflowError as e:
        raise InvalidInput(f"{field} is outside the years 1 to 9999 in UTC", field=field) from e


def _expiry(value: datetime | None, now: datetime) -> None:
    _time("expires_at", value)
    if value is not None and utc(value) <= now:
        shown = utc(value).isoformat(timespec="seconds")
        raise InvalidInput(
            f"expires_at must be in the future, not {shown}: the memory would be gone at once", field="expires_at"
        )
