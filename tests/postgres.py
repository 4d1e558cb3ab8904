"""A real PostgreSQL server for the tests: private, in a temporary folder, gone afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import psycopg
from psycopg import sql

TEMPLATE = "quintain_template"
# What changes whenever a table, a column, a constraint or a function is made or taken away.
SHAPE = " || ' ' || ".join(
    f"(SELECT count(*) || ' ' || sum({number}::bigint) FROM {catalogue})"
    for catalogue, number in [
        ("pg_class", "oid"),
        ("pg_attribute", "attnum"),
        ("pg_constraint", "oid"),
        ("pg_trigger", "oid"),
        ("pg_proc", "oid"),
    ]
)
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
BEGIN_AGAIN = (
    "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) "
    "FROM pg_sequences WHERE last_value IS NOT NULL"
)


class PostgresServer:
    """A cluster made by initdb, reached through a socket in its own folder; nothing listens on the network.

    It forgets on a power cut, which makes tests quicker; a *durable* one does not, for measurements.
    """

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self.folder = folder
        self.durable = durable
        self.data = folder / "data"
        self._databases = 0
        self._empty: list[str] = []  # addresses of databases that are as the template is
        self._keepers: dict[str, psycopg.Connection[tuple[str, ...]]] = {}  # stay open, and know the tables already
        self._shape = ""
        self._tables: list[str] = []

    def start(self) -> None:
        """Make the cluster and start it."""
        _hand_over(self.folder)
        _run(_binary("initdb"), "-D", str(self.data), "-U", "quintain", "--auth=trust", "-E", "UTF8", "--no-sync")
        self.resume()

    def resume(self) -> None:
        """Start a cluster that was made before."""
        options = f"-k {self.folder} -c listen_addresses= -c max_connections=300"
        options += "" if self.durable else " -c fsync=off -c full_page_writes=off"
        log = str(self.folder / "log")
        _run(_binary("pg_ctl"), "-D", str(self.data), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        """Stop the cluster."""
        for keeper in self._keepers.values():
            keeper.close()
        _run(_binary("pg_ctl"), "-D", str(self.data), "-m", "immediate", "stop")

    def url(self, database: str) -> str:
        """Give the address of *database* as Quintain takes it."""
        return f"postgresql://quintain@/{database}?host={self.folder}"

    def create(self, template: str | None = TEMPLATE, *, to_copy: bool = False) -> str:
        """Make a fresh database, a copy of *template*, and give its address.

        One that is *to_copy* in its turn is new: nobody may be connected to it.
        """
        if template == TEMPLATE and self._empty and not to_copy:
            return self._empty.pop()
        self._databases += 1
        name = f"test_{self._databases}" if template else TEMPLATE
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            copy = f" TEMPLATE {template} STRATEGY FILE_COPY" if template else ""
            connection.execute(f"CREATE DATABASE {name}{copy}")
        return self.url(name)

    def give_back(self, url: str) -> None:
        """Take back a database that was made of the empty template, for the next who wants one.

        Making one copies more than a thousand files, which took longer than most tests; emptying one is a few
        statements. One whose tables are no longer the template's is removed.
        """
        if not self._shape:
            with psycopg.connect(self.url(TEMPLATE), autocommit=True) as connection:
                self._shape = self._shape_of(connection)
                self._tables = [str(name) for (name,) in connection.execute(TABLES) if name != "alembic_version"]
        if self._emptied(url):
            self._empty.append(url)
        else:
            self.drop(url)

    def _shape_of(self, connection: psycopg.Connection[tuple[str, ...]]) -> str:
        """Say what would tell the tables of a database, and its migration, from others."""
        (shape,) = connection.execute(f"SELECT {SHAPE}, to_regclass('alembic_version')").fetchall()
        return f"{shape} {connection.execute('SELECT * FROM alembic_version').fetchall() if shape[1] else ''}"

    def _emptied(self, url: str) -> bool:
        """Empty all tables and begin all numbers again, if the tables are still those of the template."""
        if url not in self._keepers:
            self._keepers[url] = psycopg.connect(url, autocommit=True)
        keeper = self._keepers[url]
        keeper.execute(f"SELECT pg_terminate_backend(pid, 5000) {OTHERS}")
        if self._shape_of(keeper) != self._shape:
            self._keepers.pop(url).close()
            return False
        asked = sql.SQL(" UNION ALL ").join(
            sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(sql.Literal(name), sql.Identifier(name))
            for name in self._tables
        )
        keeper.execute("SET session_replication_role = replica")  # rows may be named by others
        for (name,) in keeper.execute(asked).fetchall():
            keeper.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
        keeper.execute(BEGIN_AGAIN)
        return True

    def drop(self, url: str) -> None:
        """Remove the database at *url*, whoever is still connected."""
        name = url.split("/")[3].partition("?")[0]
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _binary(name: str) -> str:
    # The folders of the system's packages come first: what lies in PATH may be a wrapper.
    candidates = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    found = str(candidates[0]) if candidates else shutil.which(name)
    if not found:
        raise RuntimeError(
            f"The tests need a PostgreSQL server, and '{name}' is in neither /usr/lib/postgresql/*/bin nor PATH. "
            "Install it (on Debian: apt install postgresql), or run scripts/test, which does."
        )
    return found


def _unprivileged() -> list[str]:
    """PostgreSQL refuses to run as root, so root becomes somebody else for it."""
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []


def _hand_over(folder: Path) -> None:
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)


def _run(*command: str) -> None:
    done = subprocess.run([*_unprivileged(), *command], capture_output=True, text=True, cwd="/", check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
