"""A real PostgreSQL server for the tests: private, in a temporary folder, gone afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import psycopg

TEMPLATE = "quintain_template"


class PostgresServer:
    """A cluster made by initdb, reached through a socket in its own folder; nothing listens on the network.

    It forgets on a power cut, which makes tests quicker; a *durable* one does not, for measurements.
    """

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self.folder = folder
        self.durable = durable
        self.data = folder / "data"
        self._databases = 0

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
        _run(_binary("pg_ctl"), "-D", str(self.data), "-m", "immediate", "stop")

    def url(self, database: str) -> str:
        """Give the address of *database* as Quintain takes it."""
        return f"postgresql://quintain@/{database}?host={self.folder}"

    def create(self, template: str | None = TEMPLATE) -> str:
        """Make a fresh database, a copy of *template*, and give its address."""
        self._databases += 1
        name = f"test_{self._databases}" if template else TEMPLATE
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            copy = f" TEMPLATE {template} STRATEGY FILE_COPY" if template else ""
            connection.execute(f"CREATE DATABASE {name}{copy}")
        return self.url(name)

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
