"""Bring a database to the shape that this version of Quintain needs.

The migrations are shipped inside the package; the first makes all tables as they were at its revision. All that are
missing run in one transaction, so that a database is either as it was or as it should be, and under a lock, so that two
servers that start together do not both run them.

Every start asks whether something is missing, so that much is answered without Alembic, which is slow to import.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

import quintain.store.tables  # noqa: F401 - importing the tables completes the metadata
from quintain.core.errors import Conflict
from quintain.store.base import Base
from quintain.store.search_index import is_index

if TYPE_CHECKING:
    from alembic.config import Config

FOLDER = Path(__file__).parent / "migrations"
BASELINE_COMMIT = "10400d3"  # the last that has the migrations from before the first of ours
LOCK = 7_851_846_114  # any number that nobody else uses for an advisory lock in the same database


def upgrade(engine: Engine) -> list[str]:
    """Run the missing migrations and give their names, oldest first."""
    with alone(engine) as connection:
        missing = _missing(revision_of(connection))
        if missing:
            upgrade_on(connection)
    return missing


def upgrade_on(connection: Connection, revision: str = "head") -> None:
    """Run the missing migrations up to *revision* inside the transaction that *connection* is in."""
    from alembic import command
    from alembic.util import CommandError

    config = _config()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, revision)
    except CommandError as error:
        raise _not_known(revision) from error


def require_current(engine: Engine) -> None:
    """Refuse to work on a database that has not been brought up to date."""
    missing = pending(engine)
    if missing:
        raise Conflict(
            "The database needs {n} migrations before this version of Quintain can use it.",
            n=len(missing),
            remedy="Run `quintain upgrade`, which makes a backup first; or `quintain init` where it is empty.",
        )


def pending(engine: Engine) -> list[str]:
    """List the migrations that have not been run, oldest first."""
    return migration_state(engine)[1]


def current(engine: Engine) -> str | None:
    """Return the name of the newest migration that was run; None for an empty database."""
    with engine.connect() as connection:
        return revision_of(connection)


def migration_state(engine: Engine) -> tuple[str | None, list[str]]:
    """Return both at once: the newest migration that was run, and those that were not."""
    with engine.connect() as connection:
        at = revision_of(connection)
        return at, _missing(at)


def newest() -> str:
    """Return the name of the newest migration of this version of Quintain."""
    return _known()[-1]


def differences(engine: Engine) -> list[object]:
    """List what differs between the database and the tables in the code: nothing, after `upgrade`."""
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    with engine.connect() as connection:
        options = {"compare_type": True, "include_name": lambda name, *_: not is_index(name)}
        context = MigrationContext.configure(connection, opts=options)
        return list(compare_metadata(context, Base.metadata))


def _missing(at: str | None) -> list[str]:
    known = _known()
    if at is None:
        return known
    if at not in known:
        raise _not_known(at)
    return known[known.index(at) + 1 :]


def _not_known(revision: str) -> Conflict:
    """Return the refusal of a database or backup that is older or newer than what is known here."""
    first = _known()[0]
    if revision.isdecimal() and revision < first:
        return Conflict(
            "What is at migration {revision} is too old for this version of Quintain, which begins at {first}.",
            revision=revision,
            first=first,
            remedy="Run `quintain upgrade` with commit {commit} of Quintain first, then with this version. "
            "A backup: restore it with that commit, upgrade there, and back it up again.",
            commit=BASELINE_COMMIT,
        )
    return Conflict(
        "What is at migration '{revision}' was written by a newer version of Quintain, which knows that migration.",
        revision=revision,
        remedy="Install that version, or restore an older backup.",
    )


def _known() -> list[str]:
    """List our migrations, oldest first. Their files are named after them: `0002_evaluation.py`."""
    return sorted(path.name.partition("_")[0] for path in (FOLDER / "versions").glob("[0-9]*_*.py"))


def revision_of(connection: Connection) -> str | None:
    """Return the name of the newest migration that was run on the database of *connection*."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


@contextmanager
def alone(engine: Engine) -> Iterator[Connection]:
    """Yield a connection inside a transaction that no other migration or restore shares."""
    with engine.connect().execution_options(writing=True) as connection:
        sqlite = connection.dialect.name == "sqlite"
        if sqlite:
            # A table that is rebuilt is dropped and renamed, which foreign keys would not allow. Only outside of
            # a transaction can they be switched off, hence on the driver's own connection.
            _pragma(connection, "foreign_keys=OFF")
        try:
            with connection.begin():
                if not sqlite:
                    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
                yield connection
                if sqlite:
                    _check_references(connection)
        finally:
            if sqlite:
                _pragma(connection, "foreign_keys=ON")


def _pragma(connection: Connection, setting: str) -> None:
    driver = connection.connection.dbapi_connection
    if driver is not None:
        cursor = driver.cursor()
        cursor.execute(f"PRAGMA {setting}")
        cursor.close()


def _check_references(connection: Connection) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if broken:
        raise Conflict(
            "The migration would leave {n} rows in {broken} that point to nothing; it was undone.",
            n=len(broken),
            broken=broken[0][0],
            remedy="Restore a backup, or report this as a bug.",
        )


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
