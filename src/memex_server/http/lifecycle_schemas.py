"""What the REST face accepts for the lifecycle: candidates, retractions, consolidation, forgetting, context."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, Strict

from memex.core.forgetting import Policy
from memex.core.lifecycle import Candidate
from memex.core.memory import LEAST_RATING, MAX_TOP_K, MOST_RATING, Filters, MemoryType, SearchRequest
from memex_server.checks import MAX_TOKEN_BUDGET, MIN_TOKEN_BUDGET
from memex_server.http import fields as f

__all__ = [
    "DEFAULT_AGENT",
    "ConsolidateIn",
    "ContextIn",
    "DryRunQuery",
    "ForgetIn",
    "JobsQuery",
    "RememberIn",
    "RetractIn",
]

DEFAULT_AGENT = "memex"  # remembers for those who give no agent
_DEFAULT_BUDGET = 1_000
_NAIVE = "a time without an offset is read as UTC"

_Rating = Annotated[float, Strict(), Field(ge=LEAST_RATING, le=MOST_RATING, allow_inf_nan=False)]
_Cosine = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
_Days = Annotated[float, Strict(), Field(ge=0, le=36_500, allow_inf_nan=False)]
_Floor = Annotated[float, Strict(), Field(ge=0, le=3, allow_inf_nan=False)]
_UserId = Annotated[f.Id, Field(description="Whose memory it is.", examples=["user-123"])]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RememberIn(_Strict):
    """A candidate for memory: the gate decides what becomes of it."""

    user_id: _UserId
    text: Annotated[f.Content, Field(description="What was said.", examples=["用户偏好 Go，明确不要 Java 方案"])]
    agent_id: Annotated[
        f.Id, Field(description="The agent that remembers; it is compared with what this agent knows.")
    ] = DEFAULT_AGENT
    kind: Annotated[MemoryType, Field(description="What it would be stored as.", examples=["semantic"])] = (
        MemoryType.SEMANTIC
    )
    source: Annotated[f.Source | None, Field(description="Where it comes from.", examples=["chat"])] = None
    session_id: Annotated[f.SessionId | None, Field(description="The conversation.", examples=["session-7"])] = None
    tags: Annotated[f.Tags, Field(description="Labels.", examples=[["style"]]), Field(default_factory=list)]
    occurred_at: Annotated[
        f.Instant | None, Field(description=f"When it was said; {_NAIVE}.", examples=["2026-05-26T10:30:00Z"])
    ] = None
    threshold: Annotated[
        _Rating | None,
        Field(
            description="Rating from which it is kept; 1 keeps all. Absent: the service's.",
            examples=[7],
        ),
    ] = None
    dedup_similarity: Annotated[
        _Cosine | None,
        Field(
            description="Cosine from which another memory may say the same (its words decide). Absent: the model's.",
            examples=[0.92],
        ),
    ] = None
    supersedes: Annotated[UUID | None, Field(description="A memory that this one corrects.", examples=[None])] = None

    def to_candidate(self) -> Candidate:
        """Return what the service judges."""
        return Candidate(
            user_id=self.user_id,
            text=self.text,
            agent_id=self.agent_id,
            memory_type=self.kind,
            source=self.source,
            session_id=self.session_id,
            occurred_at=self.occurred_at,
            tags=tuple(self.tags),
            threshold=self.threshold,
            similarity=self.dedup_similarity,
            supersedes=self.supersedes,
        )


class RetractIn(_Strict):
    """Why a claim is taken back."""

    reason: Annotated[
        f.Source | None, Field(description="Why; it is in the history.", examples=["a misunderstanding"])
    ] = None


class ConsolidateIn(_Strict):
    """Which scopes to condense now."""

    user_id: _UserId
    agent_id: Annotated[f.Id | None, Field(description="Only this agent's memories.", examples=["my-agent"])] = None
    dry_run: Annotated[f.Flag, Field(description="Only show what would be written.", examples=[True])] = False


class DryRunQuery(_Strict):
    """Whether to do it or only to tell."""

    dry_run: Annotated[f.QueryFlag, Field(description="Only list what would go.", examples=[True])] = False


class ForgetIn(_Strict):
    """Whose memories may go, and by which policy; what is absent is the service's setting."""

    user_id: _UserId
    agent_id: Annotated[f.Id | None, Field(description="Only this agent's memories.", examples=["my-agent"])] = None
    max_age_days: Annotated[_Days | None, Field(description="Older ones go; 0: never.", examples=[365.0])] = None
    max_idle_days: Annotated[
        _Days | None,
        Field(description="Those not stored, changed or found for so long go; 0: never.", examples=[180.0]),
    ] = None
    max_memories: Annotated[
        Annotated[f.Whole, Field(ge=0, le=2**31 - 1)] | None,
        Field(description="The weakest beyond so many go; 0: any number.", examples=[10_000]),
    ] = None
    importance_floor: Annotated[
        _Floor | None, Field(description="From this importance (0 to 2) on nothing but expiry counts.", examples=[1.5])
    ] = None

    def to_policy(self, standard: Policy) -> Policy:
        """Return the policy, with the service's for what is absent."""
        given = self.model_dump(exclude={"user_id", "agent_id"}, exclude_none=True)
        return Policy(
            max_age_days=given.get("max_age_days", standard.max_age_days),
            max_idle_days=given.get("max_idle_days", standard.max_idle_days),
            max_memories=given.get("max_memories", standard.max_memories),
            importance_floor=given.get("importance_floor", standard.importance_floor),
            half_life_days=standard.half_life_days,
        )


class JobsQuery(_Strict):
    """Which jobs to list."""

    state: Annotated[
        Literal["pending", "running", "dead"] | None, Field(description="Only these.", examples=["dead"])
    ] = None
    limit: Annotated[f.Limit, Field(description="How many at most.", examples=[50])] = 50


class ContextIn(_Strict):
    """A question, the answer to which goes into a prompt."""

    user_id: _UserId
    query: Annotated[f.Query, Field(description="What the prompt is about.", examples=["how to deploy"])]
    token_budget: Annotated[
        Annotated[f.Whole, Field(ge=MIN_TOKEN_BUDGET, le=MAX_TOKEN_BUDGET)],
        Field(description="Size of the block in estimated tokens.", examples=[1_000]),
    ] = _DEFAULT_BUDGET
    agent_id: Annotated[f.Id | None, Field(description="Only this agent's memories.", examples=["my-agent"])] = None
    top_k: Annotated[f.TopK, Field(description="How many memories at most.", examples=[20])] = MAX_TOP_K
    memory_type: Annotated[MemoryType | None, Field(description="Only this type.", examples=["semantic"])] = None
    tags: Annotated[
        f.Tags, Field(description="Only with all of these.", examples=[["style"]]), Field(default_factory=list)
    ]
    as_of: Annotated[
        f.Instant | None,
        Field(description=f"What was valid at this moment; {_NAIVE}.", examples=["2026-05-26T10:30:00Z"]),
    ] = None

    def to_request(self) -> SearchRequest:
        """Return the search behind it."""
        return SearchRequest(
            user_id=self.user_id,
            query=self.query,
            top_k=self.top_k,
            filters=Filters(
                agent_id=self.agent_id, memory_type=self.memory_type, tags=tuple(self.tags), as_of=self.as_of
            ),
        )
