"""The reference design, to compare with: what one would write first, in as few lines as it takes.

FastAPI and uvicorn, one ONNX inference per request in a pool of 16 threads with native threads as ONNX
Runtime chooses them, asyncpg with 5..20 connections, vectors as text, an ivfflat index (lists = 100) made
on the empty table, three times top_k candidates by cosine, reranked in Python with a 30-day half-life.
Same REST bodies and same model as memex. Run: `REFERENCE_DSN=... python -m bench.reference PORT MODEL_DIR`.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import uuid
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from bench.model import PlainModel
from memex_server.ports import Role

__all__ = ["build"]

_SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS memories (
    id uuid PRIMARY KEY, agent_id text NOT NULL, user_id text NOT NULL, content text NOT NULL,
    memory_type text NOT NULL, importance real NOT NULL, embedding vector(384) NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX IF NOT EXISTS memories_scope ON memories (agent_id, user_id);
CREATE INDEX IF NOT EXISTS memories_embedding ON memories
    USING ivfflat (embedding vector_cosine_ops) WITH (lists = 100);
"""
_INSERT = "INSERT INTO memories VALUES ($1, $2, $3, $4, $5, $6, $7::text::vector) RETURNING created_at"
_SEARCH = """
SELECT id, content, memory_type, importance, created_at, 1 - (embedding <=> $1::text::vector) AS similarity
FROM memories WHERE agent_id = $2 AND user_id = $3 ORDER BY embedding <=> $1::text::vector LIMIT $4
"""


class Store(BaseModel):
    """Body of a store."""

    agent_id: str
    user_id: str
    content: str
    importance: float = 1.0
    memory_type: str = "episodic"


class Search(BaseModel):
    """Body of a search."""

    agent_id: str
    user_id: str
    query: str
    top_k: int = 10
    alpha: float = 0.7


def build(dsn: str, folder: Path) -> FastAPI:
    """Return the application."""
    threads = ThreadPoolExecutor(16)
    model = PlainModel(folder, threads=0)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with asyncpg.create_pool(dsn, min_size=5, max_size=20) as pool:
            await pool.execute(_SCHEMA)
            app.state.pool = pool
            yield

    app = FastAPI(lifespan=lifespan)

    async def embed(text: str, role: Role) -> str:
        vector = await asyncio.get_running_loop().run_in_executor(threads, model.embed_one, text, role)
        return "[" + ",".join(map(str, vector.tolist())) + "]"

    @app.get("/health/ready")
    async def ready() -> dict[str, str]:
        return {"status": "ok"}

    @app.post("/v1/memories", status_code=201)
    async def store(body: Store) -> dict[str, Any]:
        vector, new_id = await embed(body.content, "passage"), uuid.uuid4()
        created_at = await app.state.pool.fetchval(
            _INSERT, new_id, body.agent_id, body.user_id, body.content, body.memory_type, body.importance, vector
        )
        return {**body.model_dump(), "id": new_id, "created_at": created_at, "score": None}

    @app.post("/v1/memories/search")
    async def search(body: Search) -> dict[str, Any]:
        vector, now = await embed(body.query, "query"), datetime.now(UTC)
        rows = await app.state.pool.fetch(_SEARCH, vector, body.agent_id, body.user_id, body.top_k * 3)
        results = []
        for row in map(dict, rows):
            age_days = (now - row["created_at"]).total_seconds() / 86_400
            recency = math.exp(-math.log(2) / 30 * age_days)
            row["score"] = body.alpha * row.pop("similarity") + (1 - body.alpha) * recency
            results.append(row)
        results = sorted(results, key=lambda r: r["score"], reverse=True)[: body.top_k]
        return {"results": results, "query": body.query, "total": len(results)}

    return app


if __name__ == "__main__":
    app = build(os.environ["REFERENCE_DSN"], Path(sys.argv[2]))
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
