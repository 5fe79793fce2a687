"""What the REST face accepts: one model per body and per set of query parameters.

Unknown fields and unknown query parameters are errors. A time without an offset is read as UTC.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from memex.core.memory import (
    MAX_BATCH,
    UNSET,
    Filters,
    MemoryType,
    NewMemory,
    Patch,
    SearchMode,
    SearchRequest,
    Weights,
)
from memex.protocol.errors import InvalidInput
from memex_server.http import fields as f
from memex_server.http.errors import InvalidRequest, field_errors

__all__ = [
    "BatchIn",
    "ChangeQuery",
    "CountQuery",
    "DeleteQuery",
    "DeleteScopeQuery",
    "ListQuery",
    "PatchIn",
    "ScopeQuery",
    "SearchIn",
    "StoreIn",
    "WeightsIn",
]

_NAIVE = "a time without an offset is read as UTC"
_EXAMPLE_TIME = "2026-05-26T10:30:00Z"

_UserId = Annotated[f.Id, Field(description="Whose memory it is.", examples=["user-123"])]
_AgentId = Annotated[f.Id, Field(description="The agent that remembers.", examples=["my-agent"])]
_Content = Annotated[
    f.Content,
    Field(
        description="The text to remember, kept as it is.",
        examples=["User prefers concise responses and dislikes verbose explanations."],
    ),
]
_Importance = Annotated[f.Importance, Field(description="How much it matters: 0 (hardly) to 2 (very).", examples=[1.2])]
_MemoryType = Annotated[
    MemoryType,
    Field(
        description="episodic: an event or a turn. semantic: a fact or preference. procedural: how something is done.",
        examples=["semantic"],
    ),
]
_Tags = Annotated[f.Tags, Field(description="Labels, matched exactly.", examples=[["style", "preference"]])]
_Metadata = Annotated[
    f.Metadata,
    Field(
        description="Any JSON object; kept and returned as it is, null values too. Its keys never change the scope.",
        examples=[{"channel": "chat", "turn": 12}],
    ),
]
_Source = Annotated[f.Source | None, Field(description="Where it comes from.", examples=["chat"])]
_SessionId = Annotated[
    f.SessionId | None,
    Field(description="The conversation it belongs to; a number is kept as its digits.", examples=["session-7"]),
]
_OCCURRED_AT = Field(
    description=f"When it happened (recency counts from here); {_NAIVE}. Absent: now.", examples=[_EXAMPLE_TIME]
)
_ExpiresAt = Annotated[
    f.Instant | None,
    Field(
        description=f"After this it is forgotten; {_NAIVE}. Told again: the later one, or none if one has none.",
        examples=["2027-01-01T00:00:00Z"],
    ),
]
_Pinned = Annotated[f.Flag, Field(description="Exempt from forgetting.", examples=[False])]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoreIn(_Strict):
    """One memory to store."""

    agent_id: _AgentId
    user_id: _UserId
    content: _Content
    importance: _Importance = 1.0
    memory_type: _MemoryType = MemoryType.EPISODIC
    occurred_at: Annotated[f.Instant | None, _OCCURRED_AT] = None
    tags: _Tags = Field(default_factory=list)
    metadata: _Metadata = Field(default_factory=dict)
    source: _Source = None
    session_id: _SessionId = None
    expires_at: _ExpiresAt = None
    pinned: _Pinned = False

    def to_new(self) -> NewMemory:
        """Return what the service stores."""
        return NewMemory(
            agent_id=self.agent_id,
            user_id=self.user_id,
            content=self.content,
            importance=self.importance,
            memory_type=self.memory_type,
            occurred_at=self.occurred_at,
            tags=tuple(self.tags),
            metadata=self.metadata,
            source=self.source,
            session_id=self.session_id,
            expires_at=self.expires_at,
            pinned=self.pinned,
        )


def _keep_error(value: Any, handler: ValidatorFunctionWrapHandler) -> StoreIn | InvalidRequest:
    try:
        return cast(StoreIn, handler(value))
    except ValidationError as e:
        return InvalidRequest(field_errors(e))


class BatchIn(_Strict):
    """Up to 1,000 memories; each is checked and stored on its own."""

    memories: Annotated[
        list[Annotated[StoreIn, WrapValidator(_keep_error)]],
        Field(min_length=1, max_length=MAX_BATCH, description="The memories, each as in a single store."),
    ]

    def to_news(self) -> list[NewMemory | Exception]:
        """Return what the service stores, with the error in the place of each item that does not fit."""
        items = cast(list[StoreIn | InvalidRequest], self.memories)
        return [item.to_new() if isinstance(item, StoreIn) else item for item in items]


def _unset() -> Any:
    # A factory, since its value stays out of the documented schema and is not validated.
    return UNSET


class PatchIn(_Strict):
    """Changes to one memory: what is absent is kept; null clears a field that may be empty."""

    content: _Content = Field(default_factory=_unset)
    importance: _Importance = Field(default_factory=_unset)
    memory_type: _MemoryType = Field(default_factory=_unset)
    tags: _Tags = Field(default_factory=_unset)
    metadata: _Metadata = Field(default_factory=_unset)
    source: _Source = Field(default_factory=_unset)
    session_id: _SessionId = Field(default_factory=_unset)
    occurred_at: Annotated[f.Instant, _OCCURRED_AT] = Field(default_factory=_unset)
    expires_at: _ExpiresAt = Field(default_factory=_unset)
    pinned: _Pinned = Field(default_factory=_unset)

    def to_patch(self) -> Patch:
        """Return the changes; fields that the body did not name are UNSET."""
        return Patch(
            content=self.content,
            importance=self.importance,
            memory_type=self.memory_type,
            tags=tuple(self.tags) if "tags" in self.model_fields_set else UNSET,
            metadata=self.metadata,
            source=self.source,
            session_id=self.session_id,
            occurred_at=self.occurred_at,
            expires_at=self.expires_at,
            pinned=self.pinned,
        )


class WeightsIn(_Strict):
    """Weights of the parts of the score, on any scale; they are normalised to a sum of 1."""

    similarity: Annotated[f.Weight, Field(description="Nearness of meaning or words.", examples=[0.6])] = 0.0
    recency: Annotated[f.Weight, Field(description="Decay with age.", examples=[0.2])] = 0.0
    importance: Annotated[f.Weight, Field(description="The memory's importance.", examples=[0.2])] = 0.0
    graph: Annotated[f.Weight, Field(description="Nearness in the graph of entities.", examples=[0.0])] = 0.0


class SearchIn(_Strict):
    """A question to the memory of one user."""

    user_id: _UserId
    query: Annotated[
        f.Query,
        Field(description="What to look for; any text.", examples=["how does this user like to communicate"]),
    ]
    agent_id: Annotated[
        f.Id | None, Field(description="Only this agent's memories; absent: all of the user's.", examples=["my-agent"])
    ] = None
    top_k: Annotated[f.TopK, Field(description="How many results at most.", examples=[5])] = 10
    alpha: Annotated[
        f.Alpha | None,
        Field(
            description="Score = alpha * cosine similarity + (1 - alpha) * recency. Not together with `weights`.",
            examples=[0.7],
        ),
    ] = None
    weights: Annotated[
        WeightsIn | None, Field(description="Weights of the score's parts. Not together with `alpha`.")
    ] = None
    mode: Annotated[
        SearchMode | None,
        Field(
            description="hybrid: meaning and words. semantic: meaning. keyword: words. "
            "Absent: hybrid, or semantic when `alpha` is given. Words of Chinese and Japanese are compared by pairs of "
            "characters, so keyword alone does not find a single character within others.",
            examples=["hybrid"],
        ),
    ] = None
    memory_type: Annotated[MemoryType | None, Field(description="Only this type.", examples=["semantic"])] = None
    tags: Annotated[
        f.Tags,
        Field(description="Only memories that have all of these tags.", examples=[["style"]]),
        Field(default_factory=list),
    ]
    metadata: Annotated[
        f.MetadataFilter,
        Field(
            description="Only memories whose metadata meets these conditions, by key: a value (equal), or operators: "
            "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists.",
            examples=[{"channel": "chat", "turn": {"$gte": 9}}],
        ),
        Field(default_factory=dict),
    ]
    time_from: Annotated[
        f.Instant | None, Field(description=f"Only what happened at or after this; {_NAIVE}.", examples=[_EXAMPLE_TIME])
    ] = None
    time_to: Annotated[
        f.Instant | None,
        Field(description=f"Only what happened before this; {_NAIVE}.", examples=["2026-06-01T00:00:00Z"]),
    ] = None
    as_of: Annotated[
        f.Instant | None,
        Field(description=f"What was valid at this moment; {_NAIVE}. Absent: now.", examples=[_EXAMPLE_TIME]),
    ] = None
    now: Annotated[
        f.Instant | None,
        Field(description=f"The moment from which recency counts; {_NAIVE}. Absent: now.", examples=[_EXAMPLE_TIME]),
    ] = None
    explain: Annotated[f.Flag, Field(description="Add to each result how its score came about.", examples=[True])] = (
        False
    )
    half_life_days: Annotated[
        f.HalfLife | None,
        Field(description="Days in which recency halves; absent: the service's setting (30).", examples=[30.0]),
    ] = None

    def to_request(self) -> SearchRequest:
        """Return what the service searches.

        Raises:
            InvalidInput: two fields contradict each other.
        """
        weights = self.weights
        if weights is not None and self.alpha is not None:
            raise InvalidInput("give either alpha or weights, not both", field="alpha")
        if self.time_from and self.time_to and self.time_to < self.time_from:
            raise InvalidInput("time_to must not be before time_from", field="time_to")
        return SearchRequest(
            user_id=self.user_id,
            query=self.query,
            top_k=self.top_k,
            mode=self.mode,
            alpha=self.alpha,
            weights=None
            if weights is None
            else Weights(
                similarity=weights.similarity,
                recency=weights.recency,
                importance=weights.importance,
                graph=weights.graph,
            ),
            half_life_days=self.half_life_days,
            filters=Filters(
                agent_id=self.agent_id,
                memory_type=self.memory_type,
                tags=tuple(self.tags),
                metadata=self.metadata,
                time_from=self.time_from,
                time_to=self.time_to,
                as_of=self.as_of,
            ),
            now=self.now,
            explain=self.explain,
        )


_PURGE = Field(description="Erase at once and for good, instead of a tombstone of 30 days.", examples=[False])


class ScopeQuery(_Strict):
    """Whose memory the addressed one must be; another's is answered as unknown."""

    user_id: Annotated[f.Id | None, Field(description="Only if it is this user's.", examples=["user-123"])] = None
    agent_id: Annotated[f.Id | None, Field(description="Only if it is this agent's.", examples=["my-agent"])] = None


class _Change(_Strict):
    actor: Annotated[
        f.Id | None,
        Field(description="Who does it, for the history. Absent: agent_id, or rest.", examples=["my-agent"]),
    ] = None
    agent_id: str | None = None

    @property
    def who(self) -> str:
        """Who does it, as far as the caller tells; in the worst case that it came over REST."""
        return self.actor or self.agent_id or "rest"


class ChangeQuery(ScopeQuery, _Change):
    """Whose memory the addressed one must be, and who changes it."""


class DeleteQuery(ChangeQuery):
    """How to delete one memory."""

    purge: Annotated[f.QueryFlag, _PURGE] = False


class CountQuery(_Strict):
    """What to count."""

    user_id: _UserId
    agent_id: Annotated[
        f.Id | None, Field(description="Only this agent's; absent: all agents of the user.", examples=["my-agent"])
    ] = None


class DeleteScopeQuery(CountQuery, _Change):
    """Everything of a user, or of one agent of a user."""

    purge: Annotated[f.QueryFlag, _PURGE] = False


class ListQuery(CountQuery):
    """A page of memories, newest first."""

    memory_type: Annotated[MemoryType | None, Field(description="Only this type.", examples=["semantic"])] = None
    tags: Annotated[
        f.Tags,
        Field(description="Only with all of these; repeatable.", examples=[["style"]]),
        Field(default_factory=list),
    ]
    state: Annotated[
        Literal["live", "deleted", "all"],
        Field(description="Live memories, deleted ones that can be restored, or both.", examples=["live"]),
    ] = "live"
    limit: Annotated[f.Limit, Field(description="Size of the page.", examples=[50])] = 50
    cursor: Annotated[
        f.Cursor | None, Field(description="`next_cursor` of the page before.", examples=["b3BhcXVl"])
    ] = None
