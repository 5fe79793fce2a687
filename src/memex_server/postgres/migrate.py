"""Brings a database to the schema that this memex needs, whoever else tries the same at once."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import asyncpg

from memex.protocol.errors import SetupError

from ..ports import ModelCard
from .pool import DatabaseFacts, safe_dsn, search_path, translated, vector_space
from .queries import load

__all__ = ["Migration", "create_vectors", "grant_vectors", "migrations", "prepare_database"]

_LOG = logging.getLogger(__name__)
_LOCK = 7_365_109_883_412  # any constant; all memex processes use the same
_LEAST_SERVER = 160_000
_LEAST_VECTOR = (0, 8)
_LOCK_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file of SQL; its hash is recorded, so that a later change of it is noticed."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """Hash of the text."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations() -> list[Migration]:
    """Return the migrations that ship with this memex, in order."""
    found = []
    for entry in files(__package__).joinpath("migrations").iterdir():
        match = re.fullmatch(r"(\d{4})_(\w+)\.sql", entry.name)
        if match:
            found.append(Migration(int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    return sorted(found, key=lambda m: m.number)


async def prepare_database(dsn: str, card: ModelCard, *, pin: bool = True) -> DatabaseFacts:
    """Migrate the database at `dsn` and pin its embedding model, or if not `pin` leave the pin as it is.

    Raises:
        SetupError: version, extension, rights or the pinned model do not fit; the message says which.
        Unavailable: the database does not answer.
    """
    with translated():
        try:
            connection = await asyncpg.connect(dsn, timeout=10, command_timeout=600)
        except (ValueError, asyncpg.ClientConfigurationError) as e:
            # Without its cause, whose text quotes parts of the DSN, maybe the password.
            raise SetupError(f"DATABASE_URL cannot be used: {type(e).__name__} at {safe_dsn(dsn)}") from None
        try:
            return await _prepare(connection, card, pin=pin)
        except asyncpg.InsufficientPrivilegeError as e:
            raise SetupError(f"the role of DATABASE_URL lacks a right that memex needs: {e}") from e
        finally:
            await connection.close(timeout=5)


async def _prepare(connection: asyncpg.Connection, card: ModelCard, *, pin: bool) -> DatabaseFacts:
    sql = load("setup")
    facts: Any = await connection.fetchrow(sql["facts"])
    if facts["server_version"] < _LEAST_SERVER:
        raise SetupError(f"PostgreSQL {facts['server_version_text']} is too old: memex needs 16 or newer")
    await connection.execute(sql["set_lock_timeout"], f"{_LOCK_TIMEOUT_S}s")
    try:
        await connection.execute(sql["lock"], _LOCK)
    except asyncpg.LockNotAvailableError as e:
        raise SetupError(f"another memex has been migrating this database for {_LOCK_TIMEOUT_S} s") from e
    if facts["vector_version"] is None:
        await _create_extension(connection, facts["role"])
        facts = await connection.fetchrow(sql["facts"])
    version = tuple(int(n) for n in facts["vector_version"].split(".")[:2])
    if version < _LEAST_VECTOR:
        raise SetupError(
            f"pgvector {facts['vector_version']} is too old: memex needs 0.8 or newer; "
            "upgrade it, then run: ALTER EXTENSION vector UPDATE"
        )
    await connection.execute(sql["create_schema"])
    await connection.execute(sql["create_ledger"])
    await connection.execute(sql["set_path"], search_path(facts["vector_schema"], vector_space(card.id, card.dim)))
    await _apply(connection)
    if pin:
        await _pin_model(connection, card)
        if facts["bypasses_rls"]:
            await _prepare_role(connection, card)
    return DatabaseFacts(
        search_path=search_path(facts["vector_schema"], vector_space(card.id, card.dim)),
        extension_schema=facts["vector_schema"],
        bypasses_rls=facts["bypasses_rls"],
    )


async def _create_extension(connection: asyncpg.Connection, role: str) -> None:
    try:
        await connection.execute(load("setup")["create_extension"])
    except asyncpg.InsufficientPrivilegeError as e:
        raise SetupError(
            f"role {role} may not create the extension pgvector: as a superuser, run in this database: "
            "CREATE EXTENSION vector"
        ) from e
    except (asyncpg.UndefinedFileError, asyncpg.FeatureNotSupportedError) as e:
        raise SetupError(
            "the PostgreSQL server lacks the extension pgvector (0.8 or newer): install its package "
            "(Debian: postgresql-<version>-pgvector), or unset DATABASE_URL to use the embedded server"
        ) from e


async def _apply(connection: asyncpg.Connection) -> None:
    sql = load("setup")
    applied = {row["number"]: row for row in await connection.fetch(sql["applied"])}
    shipped = migrations()
    newer = sorted(set(applied) - {m.number for m in shipped})
    if newer:
        raise SetupError(
            f"this database was migrated by a newer memex (migration {newer[-1]}): upgrade memex, or use another one"
        )
    for migration in shipped:
        row = applied.get(migration.number)
        if row is None:
            async with connection.transaction():
                await connection.execute(migration.sql)
                await connection.execute(sql["record"], migration.number, migration.name, migration.sha256)
            _LOG.info("migrated", extra={"action": "migrate", "migration": f"{migration.number:04}_{migration.name}"})
        elif row["sha256"] != migration.sha256:
            raise SetupError(
                f"migration {migration.number:04}_{migration.name} is not the one that was applied here: "
                "reinstall memex in the version that made this database, then upgrade"
            )


async def _pin_model(connection: asyncpg.Connection, card: ModelCard) -> None:
    sql = load("setup")
    pinned = await connection.fetchrow(sql["pinned_model"])
    if pinned is None:
        async with connection.transaction():
            await create_vectors(connection, card)
            await connection.execute(sql["pin_model"], card.id, card.dim)
        return
    if (pinned["model_id"], pinned["dim"]) != (card.id, card.dim):
        raise SetupError(
            f"this database holds vectors of {pinned['model_id']} ({pinned['dim']} dimensions), but memex is set to "
            f"{card.id} ({card.dim}): set EMBEDDING_MODEL={pinned['model_id']}, or run `memex reembed` to change it"
        )


async def create_vectors(connection: asyncpg.Connection, card: ModelCard) -> None:
    """Make the schema and table for the vectors of a model, if they are not there."""
    vectors, schema = load("vectors"), vector_space(card.id, card.dim)
    steps = (
        "create_schema",
        "create_table",
        "store_plain",
        "create_places",
        "enable_rls",
        "force_rls",
        "drop_policy",
        "create_policy",
    )
    for name in steps:
        await connection.execute(vectors[name].format(schema=schema, dim=int(card.dim)))


async def grant_vectors(connection: asyncpg.Connection, card: ModelCard) -> None:
    """Let the service's role use the vectors of a model."""
    for name in ("grant_schema", "grant_tables"):
        await connection.execute(load("vectors")[name].format(schema=vector_space(card.id, card.dim)))


async def _prepare_role(connection: asyncpg.Connection, card: ModelCard) -> None:
    sql = load("setup")
    if not await connection.fetchval(sql["role_exists"]):
        # Roles belong to the whole server: another database's memex may make it at this moment.
        with contextlib.suppress(asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
            await connection.execute(sql["create_role"])
    await connection.execute(sql["grant_schema"])
    await connection.execute(sql["grant_tables"])
    await grant_vectors(connection, card)
