"""Connections: how they are set up, and how the driver's errors become memex's own."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import asyncpg
from pgvector.asyncpg import register_vector

from memex.protocol.errors import MemexError, SetupError, Unavailable

__all__ = ["Database", "DatabaseFacts", "open_database", "safe_dsn", "search_path", "translated", "vector_space"]

_SERVICE_ROLE = "memex_service"
_EVERY_TENANT = "*"  # what the policies let through for maintenance, so no tenant may have this name
# Names or addresses with ports, separated by commas; may be empty.
_HOST = re.compile(r"((\[[\da-fA-F:.%]+\]|[\w.%-]*)(:\d*)?(,|$))*")
# What asyncpg gives to a connection at start survives its RESET ALL on release; SET would not.
_SESSION = {
    "application_name": "memex",
    "plan_cache_mode": "force_generic_plan",  # every statement is written so that one plan is right
    "jit": "off",
    # All reads go by an index, and the vector index must win over sorting whatever the table's size.
    "enable_seqscan": "off",
    "enable_sort": "off",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "300",
    "hnsw.max_scan_tuples": "60000",
    "ivfflat.iterative_scan": "relaxed_order",
    "ivfflat.probes": "20",
    "ivfflat.max_probes": "1000",
}


def vector_space(model_id: str, dim: int) -> str:
    """Return the schema that holds the vectors of one model, and of no other."""
    return f"memex_{hashlib.sha256(f'{model_id} {dim}'.encode()).hexdigest()[:12]}"


def search_path(extension_schema: str, vectors: str) -> str:
    """Return the schemas to look in: memex's own, the model's, and the one that holds pgvector's types."""
    return f'memex, {vectors}, "{extension_schema}", public'


def safe_dsn(dsn: str) -> str:
    """Return where a DSN points to, without user and password, or less if they cannot be told apart from it."""
    # An unescaped "/", "?" or "#" in a password ends the host part too early, so the last "@" decides.
    place = dsn.rpartition("@")[2] if "@" in dsn else dsn.partition("://")[2]
    host, slash, rest = place.partition("/")
    if not _HOST.fullmatch(host):
        return "(its host cannot be read)"
    return f"{host or 'local socket'}{slash}{re.split('[?#]', rest)[0]}"


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn every error of the driver into one of memex's, keeping it as the cause."""
    try:
        yield
    except MemexError:
        raise
    except asyncpg.InvalidAuthorizationSpecificationError as e:
        raise Unavailable("the database refuses memex: no such role, or not its password", retry_after_s=5) from e
    except asyncpg.InvalidCatalogNameError as e:
        raise Unavailable("the database server has no database of this name", retry_after_s=5) from e
    except asyncpg.TooManyConnectionsError as e:
        raise Unavailable("the database has no connection left", retry_after_s=1) from e
    except asyncpg.DiskFullError as e:
        raise Unavailable("the database's disk is full; nothing was written", retry_after_s=60) from e
    except asyncpg.UndefinedTableError as e:
        raise Unavailable(
            "the embedding model of this database was changed: restart memex with the new one", retry_after_s=60
        ) from e
    except asyncpg.QueryCanceledError as e:
        raise Unavailable("the database took too long; nothing was written", retry_after_s=2) from e
    except (
        asyncpg.PostgresConnectionError,
        asyncpg.InterfaceError,
        asyncpg.InternalClientError,
        asyncpg.OperatorInterventionError,
        asyncpg.InsufficientResourcesError,
        asyncpg.ReadOnlySQLTransactionError,
        asyncpg.CannotConnectNowError,
        asyncpg.ObjectNotInPrerequisiteStateError,
        OSError,
        TimeoutError,
    ) as e:
        raise Unavailable("the database does not answer", retry_after_s=1) from e


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What the pool must know of the database."""

    search_path: str
    extension_schema: str
    bypasses_rls: bool


class Database:
    """A pool whose connections know the schema, the tenant and the vector types."""

    def __init__(self, pool: asyncpg.Pool, *, tenant_id: str, acquire_timeout_s: float) -> None:
        self._pool = pool
        self._acquire_timeout_s = acquire_timeout_s
        self.tenant_id = tenant_id

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        """Lend a connection; errors inside are translated. Never hold one while embedding."""
        with translated():
            async with self._pool.acquire(timeout=self._acquire_timeout_s) as connection:
                yield connection

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        """Lend a connection inside a transaction."""
        async with self.connection() as connection, connection.transaction():
            yield connection

    def usage(self) -> tuple[int, int]:
        """Return (connections in use, connections idle)."""
        idle = self._pool.get_idle_size()
        return self._pool.get_size() - idle, idle

    async def close(self, *, timeout_s: float = 5.0) -> None:
        """Close all connections, the busy ones by force after `timeout_s`. Safe to call twice."""
        try:
            await asyncio.wait_for(self._pool.close(), timeout_s)
        except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self._pool.terminate()


async def open_database(
    dsn: str,
    *,
    tenant_id: str,
    min_size: int,
    max_size: int,
    acquire_timeout_s: float,
    statement_timeout_s: float,
    facts: DatabaseFacts,
) -> Database:
    """Open the pool on a database that `migrate.prepare_database` has prepared.

    Raises:
        SetupError: the DSN cannot be used at all.
        Unavailable: the database does not answer.
    """
    if tenant_id == _EVERY_TENANT:
        raise SetupError("MEMEX_TENANT must not be '*': it would see the memories of all tenants")
    session = _SESSION | {
        "search_path": facts.search_path,
        "memex.tenant": tenant_id,
        "statement_timeout": str(int(statement_timeout_s * 1000)),
    }
    if facts.bypasses_rls:  # of the DSN's role: step down, so that it applies
        session["role"] = _SERVICE_ROLE

    async def prepare(connection: asyncpg.Connection) -> None:
        await register_vector(connection, schema=facts.extension_schema)
        await connection.set_type_codec("jsonb", encoder=_to_json, decoder=_from_json, schema="pg_catalog")

    with translated():
        try:
            pool: Any = await asyncpg.create_pool(
                dsn,
                min_size=min_size,
                max_size=max_size,
                init=prepare,
                reset=_keep,
                server_settings=session,
                command_timeout=statement_timeout_s + 5,
                max_inactive_connection_lifetime=300,
                timeout=10,
            )
        except (ValueError, asyncpg.ClientConfigurationError) as e:
            # Without its cause, whose text quotes parts of the DSN, maybe the password.
            raise SetupError(f"DATABASE_URL cannot be used: {type(e).__name__} at {safe_dsn(dsn)}") from None
    return Database(pool, tenant_id=tenant_id, acquire_timeout_s=acquire_timeout_s)


def _from_json(text: str) -> Any:
    return json.loads(text, parse_int=_whole)


def _whole(digits: str) -> int | float:
    # jsonb writes 1e300 out as 301 digits; what was stored as a whole number has at most 64 bits.
    value = int(digits)
    return value if -(2**63) <= value < 2**64 else float(value)


async def _keep(connection: Any) -> None:
    """Do nothing when a connection comes back: no session state is ever changed, so none must be reset."""


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
