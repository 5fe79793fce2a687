"""All settings, read once from a mapping by `from_env`; nothing is read at import.

Each setting is read as `MEMEX_<NAME>`; those with `bare=True` also without the prefix (the
prefixed form wins). The dataclass fields below are the whole list: the reference page is
generated from them.
"""

from __future__ import annotations

import dataclasses
import difflib
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import urlsplit

from memex.config import describe as describe_agent
from memex.core.memory import LEAST_RATING, MOST_RATING
from memex.protocol.errors import SetupError

from .setting import env_names, parse, setting

__all__ = [
    "DatabaseSettings",
    "EmbeddingSettings",
    "LanguageModelSettings",
    "LifecycleSettings",
    "RankingSettings",
    "RateLimitSettings",
    "RerankerSettings",
    "ServerSettings",
    "Settings",
    "describe",
    "from_env",
]

_LOG = logging.getLogger(__name__)

# Read by other parts of the distribution (client, plugin, tests), not by the service.
_FOREIGN = frozenset({"MEMEX_URL", "MEMEX_HOME", *(name for row in describe_agent() for name in row["names"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSettings:
    """Where the memories live."""

    database_url: str = setting(
        "",
        "PostgreSQL DSN (16+, pgvector 0.8+); empty: an embedded server in the data directory",
        bare=True,
        secret=True,
    )
    db_min_pool_size: int = setting(5, "connections kept open, per process", bare=True, least=1, most=1000)
    db_max_pool_size: int = setting(20, "most connections, per process", bare=True, least=1, most=1000)
    db_acquire_timeout_s: float = setting(
        30.0, "how long a request waits for a connection before it is answered 503", least=0.1, most=600
    )
    db_statement_timeout_s: float = setting(30.0, "longest run of one SQL statement", least=0.1, most=3600)
    vector_index: str = setting(
        "hnsw",
        "index over the vectors of large scopes; ivfflat is made once 10,000 are to go into it",
        bare=True,
        choices=("hnsw", "ivfflat", "none"),
    )
    exact_scope_limit: int = setting(
        10_000,
        "scopes of up to this many memories are searched exactly, larger ones by the index",
        least=0,
        most=10_000_000,
    )
    scope_cache_mb: int = setting(
        48,
        "memory for scopes that are searched often, in MB per process; 0: none",
        least=0,
        most=1_000_000,
    )
    tombstone_days: float = setting(30.0, "days until a deleted memory is purged", least=0, most=36_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """How texts become vectors."""

    embedding_model: str = setting(
        "multilingual-e5-small",
        "`multilingual-e5-small`, `minilm`, a fastembed model (`BAAI/bge-small-en-v1.5`), "
        "or the name of a model at EMBEDDING_BASE_URL",
        bare=True,
    )
    embedding_base_url: str = setting(
        "", "OpenAI-compatible endpoint to embed with, e.g. http://127.0.0.1:11434/v1", bare=True
    )
    embedding_api_key: str = setting("", "key for EMBEDDING_BASE_URL", bare=True, secret=True)
    embedding_dim: int = setting(
        0, "dimension of the endpoint's vectors; 0: ask it once at start", bare=True, least=0, most=4000
    )
    worker_thread_pool_size: int = setting(
        0,
        "native threads for embedding, per process; 0: the machine's cores divided by WORKERS",
        bare=True,
        least=0,
        most=256,
    )
    embedding_cache_size: int = setting(20_000, "vectors kept in memory, per process", least=0, most=10_000_000)
    redis_url: str = setting("", "Redis to share the vector cache between processes", bare=True, secret=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingSettings:
    """Defaults of a search."""

    default_alpha: float = setting(
        0.7, "weight of similarity in mode `semantic` when a search gives no alpha", bare=True, least=0, most=1
    )
    recency_decay_days: float = setting(
        30.0, "half-life of recency in days, in the formula with alpha", bare=True, least=0.001, most=36_500
    )
    hybrid_half_life_days: float = setting(
        14.0, "half-life of recency in days, in mode `hybrid`", least=0.001, most=36_500
    )
    recency_factor: float = setting(
        1.0, "how many times its measured weight recency has in mode `hybrid`; 0: none", least=0, most=100
    )
    importance_factor: float = setting(
        1.0, "how many times its measured weight importance has in mode `hybrid`; 0: none", least=0, most=100
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerSettings:
    """What orders the best hits of mode `hybrid` anew; nothing unless a folder or an endpoint is given."""

    reranker_dir: str = setting("", "folder of a cross-encoder, with model.onnx and tokenizer.json")
    reranker_base_url: str = setting(
        "", "endpoint to rerank with, without its `/rerank`, e.g. http://127.0.0.1:8080/v1"
    )
    reranker_api_key: str = setting("", "key for MEMEX_RERANKER_BASE_URL", secret=True)
    reranker_model: str = setting(
        "", "model at MEMEX_RERANKER_BASE_URL; empty: the one of a text-embeddings-inference server"
    )
    reranker_candidates: int = setting(30, "how many hits the reranker is given", least=1, most=200)
    reranker_deadline_s: float = setting(
        0.5, "how long a search waits for the reranker before its order stands as it was", least=0.001, most=60
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitSettings:
    """Calls per agent in any 60 seconds; 0 means no limit."""

    rate_limit_writes_per_minute: int = setting(
        60, "writes per agent and minute; 0: no limit", bare=True, least=0, most=100_000
    )
    rate_limit_searches_per_minute: int = setting(
        120, "searches per agent and minute; 0: no limit", bare=True, least=0, most=100_000
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings:
    """What is worth remembering, what is condensed, what may fade."""

    remember_threshold: float = setting(
        7.0, "rating (1 to 10) from which the gate remembers", least=LEAST_RATING, most=MOST_RATING
    )
    summarization_enabled: bool = setting(
        True,  # noqa: FBT003 - every setting gives its default first
        "condense old episodic memories in the background",
        bare=True,
    )
    summarization_threshold: int = setting(
        100,
        "episodic memories of one agent for one user above which the oldest are condensed",
        bare=True,
        least=1,
        most=1_000_000,
    )
    summarization_batch_size: int = setting(50, "memories that become one summary", bare=True, least=2, most=1_000)
    summarization_interval_seconds: float = setting(
        300.0, "seconds between two looks for what to condense", bare=True, least=0.1, most=86_400
    )
    forget_after_days: float = setting(0.0, "memories older than this are forgotten; 0: never", least=0, most=36_500)
    forget_idle_days: float = setting(
        0.0, "memories not stored, changed or found for so long are forgotten; 0: never", least=0, most=36_500
    )
    forget_over_memories: int = setting(
        0,
        "memories that one user may have; the weakest beyond are forgotten; 0: any number",
        least=0,
        most=2_000_000_000,
    )
    forget_importance_floor: float = setting(
        1.5,
        "memories of this importance (0 to 2) or above are never forgotten by age, idleness or number",
        least=0,
        most=3,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModelSettings:
    """An optional language model that rates and condenses candidates and extracts facts; without it nothing is sent."""

    llm_base_url: str = setting(
        "", "OpenAI-compatible endpoint, e.g. http://127.0.0.1:11434/v1; empty: none", bare=True
    )
    llm_api_key: str = setting("", "key for LLM_BASE_URL", bare=True, secret=True)
    llm_model: str = setting("", "name of the model at LLM_BASE_URL", bare=True)
    llm_deadline_s: float = setting(
        8.0, "how long the model may take in all, retries included, before rules decide", least=0.1, most=120
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where and how the service listens."""

    host: str = setting("127.0.0.1", "address to listen on")
    port: int = setting(8000, "port of REST; 0: any free one", least=0, most=65_535)
    mcp_port: int = setting(8001, "port of MCP, served at /mcp/; 0: any free one", least=0, most=65_535)
    api_token: str = setting(
        "",
        "bearer token that every request over HTTP must carry, health and metrics excepted; "
        "needed to listen beyond loopback",
        secret=True,
    )
    user_id: str = setting(
        "",
        "whose memory the unified protocol and MCP calls without `user_id` are about, and whom calls by a memory's id "
        "are then limited to; empty: the account that memex runs under, without that limit",
    )
    agent_id: str = setting(
        "",
        "the agent of the unified protocol and of MCP calls without `agent_id`; empty: `memex` there, here the "
        "client's own name",
    )
    workers: int = setting(1, "worker processes", bare=True, least=1, most=256)
    tenant: str = setting("default", "the tenant that this service stores for; row-level security keeps tenants apart")
    data_dir: str = setting("", "data directory; empty: the platform's user data folder")
    max_body_bytes: int = setting(67_108_864, "largest request body", least=1024, most=2**40)
    log_level: str = setting("INFO", "least severe level that is logged", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
    log_format: str = setting("json", "`json` lines or `text` for people", choices=("json", "text"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the composition root needs."""

    database: DatabaseSettings = DatabaseSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    ranking: RankingSettings = RankingSettings()
    reranker: RerankerSettings = RerankerSettings()
    rate_limit: RateLimitSettings = RateLimitSettings()
    lifecycle: LifecycleSettings = LifecycleSettings()
    llm: LanguageModelSettings = LanguageModelSettings()
    server: ServerSettings = ServerSettings()

    @property
    def data_path(self) -> Path:
        """The data directory as an absolute path (it may not exist yet)."""
        if self.server.data_dir:
            return Path(self.server.data_dir).expanduser().resolve()
        import platformdirs  # the one use; keeps `--help` free of it

        return Path(platformdirs.user_data_path("memex"))

    @property
    def embedding_threads(self) -> int:
        """Native threads of one process, so that all workers together fill the machine once."""
        chosen = self.embedding.worker_thread_pool_size
        return chosen or max(1, len(os.sched_getaffinity(0)) // self.server.workers)


def from_env(env: Mapping[str, str], *, warn: bool = True) -> Settings:
    """Build `Settings` from environment variables.

    With `warn`, unknown `MEMEX_` names are logged as warnings with the nearest known name.

    Raises:
        SetupError: a value does not parse or is out of range; the message names the variable.
    """
    groups: dict[str, Any] = {}
    known = set(_FOREIGN)
    for group in dataclasses.fields(Settings):
        cls: Any = type(group.default)
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for f in dataclasses.fields(cls):
            names = env_names(f)
            known.update(names)
            name = next((n for n in names if n in env), None)
            if name is not None:
                values[f.name] = parse(name, env[name], hints[f.name], f.metadata)
        groups[group.name] = cls(**values)
    for name in sorted(n for n in env if warn and n.startswith("MEMEX_") and n not in known):
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        _LOG.warning("unknown setting %s is ignored%s", name, hint)
    settings = Settings(**groups)
    db = settings.database
    if db.db_min_pool_size > db.db_max_pool_size:
        raise SetupError(
            f"DB_MIN_POOL_SIZE ({db.db_min_pool_size}) must not exceed DB_MAX_POOL_SIZE ({db.db_max_pool_size})"
        )
    if settings.reranker.reranker_dir and settings.reranker.reranker_base_url:
        raise SetupError("MEMEX_RERANKER_DIR and MEMEX_RERANKER_BASE_URL are both given: unset one of them")
    if settings.llm.llm_base_url and not settings.llm.llm_model:
        raise SetupError("LLM_BASE_URL needs LLM_MODEL, the name of the model at that endpoint")
    if not settings.server.tenant.strip():
        raise SetupError("MEMEX_TENANT must not be blank")
    if db.database_url and not _is_postgres_url(db.database_url):
        raise SetupError(
            "DATABASE_URL: expected postgresql://user:password@host:port/database, "
            "with %XX for special characters in user and password"
        )
    return settings


def describe() -> list[dict[str, Any]]:
    """Return every setting as {group, names, type, default, doc, choices}, in order of definition."""
    rows = []
    for group in dataclasses.fields(Settings):
        cls: Any = type(group.default)
        hints = get_type_hints(cls)
        for f in dataclasses.fields(cls):
            rows.append(
                {
                    "group": group.name,
                    "field": f.name,
                    "names": env_names(f),
                    "type": hints[f.name].__name__,
                    "default": f.default,
                    "doc": f.metadata["doc"],
                    "choices": f.metadata["choices"],
                    "secret": f.metadata["secret"],
                }
            )
    return rows


def _is_postgres_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    # A bare `#`, `?` or `/` in a password ends the authority early; the `@` then stands in what follows.
    return parts.scheme in {"postgresql", "postgres"} and "@" not in parts.path + parts.query + parts.fragment
