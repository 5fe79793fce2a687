"""Example request bodies of the documentation."""

from __future__ import annotations

from typing import Any

__all__ = ["BATCH", "CONSOLIDATE", "CONTEXT", "FORGET", "PATCH", "REMEMBER", "RETRACT", "SEARCH", "STORE"]

_PREFERENCE = {
    "agent_id": "my-agent",
    "user_id": "user-123",
    "content": "User prefers concise responses and dislikes verbose explanations.",
    "memory_type": "semantic",
    "importance": 1.2,
}
_EVENT = {
    "agent_id": "my-agent",
    "user_id": "user-123",
    "content": "主人偏好周五晚上部署。",
    "occurred_at": "2026-05-26T10:30:00Z",
    "tags": ["deploy"],
    "metadata": {"channel": "chat"},
    "session_id": "session-7",
}

STORE: dict[str, Any] = {
    "preference": {"summary": "A preference", "value": _PREFERENCE},
    "event": {"summary": "An event with its time, tags and metadata", "value": _EVENT},
}
BATCH: dict[str, Any] = {"two": {"summary": "Two memories", "value": {"memories": [_PREFERENCE, _EVENT]}}}
SEARCH: dict[str, Any] = {
    "formula": {
        "summary": "Similarity and recency by the formula",
        "value": {
            "agent_id": "my-agent",
            "user_id": "user-123",
            "query": "how does this user like to communicate",
            "top_k": 5,
            "alpha": 0.7,
        },
    },
    "hybrid": {
        "summary": "Meaning and words, filtered and explained",
        "value": {
            "user_id": "user-123",
            "query": "周五部署",
            "mode": "hybrid",
            "tags": ["deploy"],
            "time_from": "2026-05-01T00:00:00Z",
            "explain": True,
        },
    },
}
PATCH: dict[str, Any] = {
    "importance": {"summary": "Only the importance", "value": {"importance": 2.0}},
    "text": {"summary": "A new text, and no source", "value": {"content": "User likes short answers.", "source": None}},
}
REMEMBER: dict[str, Any] = {
    "preference": {
        "summary": "A preference, kept",
        "value": {"user_id": "user-123", "text": "用户偏好 Go，明确不要 Java 方案", "agent_id": "my-agent"},
    },
    "thanks": {"summary": "Thanks, skipped", "value": {"user_id": "user-123", "text": "谢谢，辛苦了"}},
}
RETRACT: dict[str, Any] = {"why": {"summary": "With a reason", "value": {"reason": "a misunderstanding"}}}
CONSOLIDATE: dict[str, Any] = {
    "try": {"summary": "Show what would be written", "value": {"user_id": "user-123", "dry_run": True}}
}
FORGET: dict[str, Any] = {
    "age": {"summary": "What is older than a year", "value": {"user_id": "user-123", "max_age_days": 365.0}}
}
CONTEXT: dict[str, Any] = {
    "prompt": {
        "summary": "Up to 500 tokens",
        "value": {"user_id": "user-123", "query": "how to deploy", "token_budget": 500},
    }
}
