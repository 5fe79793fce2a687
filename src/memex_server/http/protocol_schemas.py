"""What the unified protocol accepts. Unknown fields are ignored, so that newer callers are understood."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, Strict

from memex.protocol.models import (
    MAX_EXTRACT,
    MAX_KEYWORDS,
    MAX_QUERY_CHARS,
    ExtractRequest,
    Level,
    LinkRequest,
    LmPolicy,
    PreExtracted,
    RecallMode,
    RecallRequest,
    StoreRequest,
)
from memex_server.http import fields as f

__all__ = ["EXAMPLES", "ExtractIn", "GetIn", "LinkIn", "PreExtractedIn", "RecallIn", "StoreIn"]

_Words = Annotated[list[f.Word], Field(max_length=MAX_KEYWORDS)]


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class PreExtractedIn(_Lenient):
    """What the caller has extracted already."""

    content: f.Content | None = Field(None, description="The text to keep; absent: the content around it.")
    keywords: _Words | None = Field(None, description="Words that find the record, whether or not its text holds them.")
    topic: f.Word | None = Field(None, description="What it is about, in a few words.")


class StoreIn(_Lenient):
    """One record to keep."""

    content: f.Content = Field(description="The text to keep, unless it was extracted already.")
    source_type: f.Source | None = Field(None, description="Where it comes from; absent: memory.")
    occurred_at: f.Instant | None = Field(None, description="When it happened; absent: now. Freshness counts from it.")
    level: Level | None = Field(None, description="raw (absent): what was said; fact, summary, meta: what is true.")
    pre_extracted: PreExtractedIn | None = Field(None, description="What the caller has extracted already.")
    lm_policy: LmPolicy | None = Field(
        None, description="skip: no extraction; auto (absent): from raw records; force: in any case."
    )
    tags: _Words | None = Field(None, description="Labels.")
    payload: f.Metadata | None = Field(None, description="The caller's own; returned as it is.")

    def to_request(self, now: datetime) -> StoreRequest:
        """Return the message; one without a time happened `now`. Raises InvalidInput, TooLarge."""
        pre = self.pre_extracted
        return StoreRequest(
            content=self.content,
            occurred_at=self.occurred_at or now,
            source_type=self.source_type or "memory",
            level=self.level or Level.RAW,
            lm_policy=self.lm_policy or LmPolicy.AUTO,
            tags=self.tags or (),
            payload=self.payload or {},
            pre_extracted=PreExtracted(
                content=pre.content or self.content, keywords=pre.keywords or (), topic=pre.topic or ""
            )
            if pre
            else None,
        )


class RecallIn(_Lenient):
    """A question."""

    keywords: _Words | None = Field(None, description="Words to look for, first in the registry of keywords.")
    query: Annotated[f.Text, Field(max_length=MAX_QUERY_CHARS)] | None = Field(None, description="A question in words.")
    top_k: f.TopK | None = Field(None, description="Absent: 5.")
    mode: RecallMode | None = Field(None, description="precise (absent): one list; cluster: groups by topic.")
    dimensions: _Words | None = Field(None, description="Tags or topics that a record must all carry.")
    time_from: f.Instant | None = Field(None, description="Only what happened at or after this.")
    time_to: f.Instant | None = Field(None, description="Only what happened before this.")

    def to_request(self) -> RecallRequest:
        """Return the message. Raises InvalidInput."""
        return RecallRequest(
            keywords=self.keywords or (),
            query=self.query or "",
            top_k=self.top_k or 5,
            mode=self.mode or RecallMode.PRECISE,
            dimensions=self.dimensions or (),
            time_from=self.time_from,
            time_to=self.time_to,
        )


class GetIn(_Lenient):
    """The id of one record."""

    memory_id: f.Id = Field(description="The record's id, or the memory_id in its payload.")


class LinkIn(_Lenient):
    """An edge."""

    from_id: f.Id = Field(
        validation_alias=AliasChoices("from_id", "source_id"), description="Where the edge begins; also source_id."
    )
    to_id: f.Id = Field(
        validation_alias=AliasChoices("to_id", "target_id"), description="Where the edge ends; also target_id."
    )
    relation: f.Word | None = Field(None, description="Absent: related.")
    weight: Annotated[float, Strict(), Field(allow_inf_nan=False)] | None = Field(None, description="Absent: 1.")

    def to_request(self) -> LinkRequest:
        """Return the message. Raises InvalidInput."""
        weight = 1.0 if self.weight is None else self.weight
        return LinkRequest(from_id=self.from_id, to_id=self.to_id, relation=self.relation or "related", weight=weight)


class ExtractIn(_Lenient):
    """What to extract from."""

    limit: Annotated[f.Whole, Field(ge=1, le=MAX_EXTRACT)] | None = Field(None, description="Absent: 20.")
    memory_ids: Annotated[list[f.Id], Field(max_length=MAX_EXTRACT)] | None = Field(
        None, description="Extract from these, whether or not they wait; absent: from what waits."
    )
    lm_policy: LmPolicy | None = Field(
        None, description="skip: by rules; force: by a language model or not at all; auto (absent): by what there is."
    )

    def to_request(self) -> ExtractRequest:
        """Return the message. Raises InvalidInput."""
        return ExtractRequest(
            limit=self.limit or 20, memory_ids=self.memory_ids or (), lm_policy=self.lm_policy or LmPolicy.AUTO
        )


_ID = "01a22959-2eaf-7000-abd0-61d29793f5ad"
EXAMPLES: dict[str, dict[str, Any]] = {
    "store": {
        "fact": {
            "summary": "A fact that was extracted already",
            "value": {
                "content": "主人偏好周五晚上部署",
                "source_type": "manual",
                "occurred_at": "2026-05-26T10:30:00Z",
                "level": "fact",
                "pre_extracted": {
                    "content": "主人偏好周五晚上部署",
                    "keywords": ["周五", "部署"],
                    "topic": "部署习惯",
                },
                "lm_policy": "skip",
                "payload": {"trigger": "manual"},
            },
        }
    },
    "recall": {"keywords": {"summary": "By keywords", "value": {"keywords": ["周五", "部署"], "top_k": 5}}},
    "get": {"id": {"summary": "By id", "value": {"memory_id": _ID}}},
    "link": {
        "source": {
            "summary": "A fact and its source",
            "value": {"from_id": _ID, "to_id": "01a22958-0000-7000-abd0-61d29793f5ad", "relation": "extracted_from"},
        }
    },
    "extract": {"due": {"summary": "From what waits", "value": {"limit": 20}}},
}
