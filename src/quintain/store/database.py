"""Connections and transactions, on SQLite and on PostgreSQL.

Reading happens in short deferred transactions. Writing goes through `transaction`, which on SQLite takes the write
lock at once (`BEGIN IMMEDIATE`): two writers then wait for each other instead of failing half-way.

What a database complains about is turned into our own errors here, so that no caller needs to know a driver.
"""

from __future__ import annotations

import functools
import hashlib
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import URL, Connection, Engine, ExceptionContext, Executable, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DataError, NoSuchModuleError, OperationalError
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, OutOfOrder, QuintainError, Unavailable
from quintain.core.texts import Text
from quintain.store.state import OPTION, State

BUSY_TIMEOUT_MS = 30_000
ANALYSED_ROWS = 1000
POOL_SIZE = 10
POOL_OVERFLOW = 20
POOL_WAIT_S = 10.0  # for a connection, where all are in use
RETRY_S = 5  # what whoever asks is told to wait, where the database is busy or away
COLLIDED = {"40P01", "40001"}  # a deadlock, and what could not be put in an order
TRIES = 6
FIRST_WAIT_S = 0.01
_LOCK = text("SELECT pg_advisory_xact_lock(:number)")

Params = ParamSpec("Params")
Found = TypeVar("Found")


class Collision(Unavailable):
    """Two transactions stood in each other's way, and the database has undone this one; nothing was written."""

    code = "collision"


def connect(url: str, state: State | None = None) -> Engine:
    """Open the database at *url*: `sqlite:///path/to/file` or `postgresql://…`. Nothing is asked of it yet.

    It carries *state*, what the workspace remembers.
    """
    address = _address(url)
    try:
        engine = _open_sqlite(address) if address.drivername == "sqlite" else _open_postgres(address)
    except ModuleNotFoundError as error:
        raise Unavailable(
            "The driver for this database is not installed ({name}).",
            name=error.name,
            remedy="Install it with: pip install 'quintain[postgres]'.",
        ) from error
    event.listen(engine, "handle_error", _explain)
    engine.update_execution_options(**{OPTION: state or State()})
    return engine


def _address(url: str) -> URL:
    forms = Text("Use sqlite:///path/to/file or postgresql://user:password@host/database.")
    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise BadInput("The address of the database cannot be read.", remedy=forms) from error
    if address.drivername in {"postgresql", "postgres", "postgresql+psycopg"}:
        return address.set(drivername="postgresql+psycopg")
    if address.drivername == "sqlite":
        return address
    raise BadInput(
        "Quintain does not work on a database of kind '{drivername}'.", drivername=address.drivername, remedy=forms
    )


def _open_postgres(address: URL) -> Engine:
    from quintain.store.postgres import open_postgres  # needs the driver, which SQLite does without

    try:
        return open_postgres(
            address,
            pool_size=POOL_SIZE,
            max_overflow=POOL_OVERFLOW,
            pool_timeout=POOL_WAIT_S,
            json_serializer=_to_json,
            hide_parameters=True,  # they hold texts, addresses and keys, and an error goes to the log
            connect_args={"connect_timeout": 10, "application_name": "quintain"},
        )
    except NoSuchModuleError as error:
        raise OutOfOrder("This database cannot be opened: {error}", error=error) from error


def _open_sqlite(address: URL) -> Engine:
    engine = create_engine(
        address,
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=POOL_WAIT_S,
        json_serializer=_to_json,
        hide_parameters=True,
        connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_MS / 1000},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        # The driver's own idea of when to begin is switched off; `begin` below says BEGIN itself.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "foreign_keys=ON",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def driver_rows(db: Session, query: Executable, size: int) -> Iterator[Sequence[Any]]:
    """Yield the rows of *query* as the driver's own tuples, *size* at a time, of plain numbers and texts.

    PostgreSQL keeps what was not fetched yet on its own side, as SQLite does.
    """
    result = db.connection().execute(query, execution_options={"stream_results": True})
    if first := result.fetchmany(1):  # one is fetched beforehand, and would be missing at the driver
        yield [tuple(row) for row in first]
    while result.cursor is not None and (rows := result.cursor.fetchmany(size)):
        yield rows
    result.close()


def refresh_statistics(engine: Engine) -> None:
    """Let SQLite look at its tables, so that it chooses indices by what is in them; PostgreSQL does so by itself.

    It looks at a part of each index, which takes milliseconds however large the tables are.
    """
    if engine.dialect.name != "sqlite":
        return
    with engine.connect().execution_options(writing=True) as connection:
        connection.exec_driver_sql(f"PRAGMA analysis_limit={ANALYSED_ROWS}")
        connection.exec_driver_sql("ANALYZE")
        connection.commit()
    engine.dispose()  # a connection reads what is known of the tables when it is opened


@contextmanager
def transaction(db: Session) -> Iterator[Session]:
    """Run the block as one transaction: all of it is kept, or none.

    A service that calls another one takes it into its own transaction: the inner block is undone alone when it
    fails and the outer one goes on, and is kept only when the outer one is.
    """
    if db.info.get("in_transaction"):
        with db.begin_nested():
            yield db
        return
    if db.in_transaction():
        db.commit()  # end the reading that went before, so that writing starts from what is true now
    db.info["in_transaction"] = True
    try:
        db.connection(execution_options={"writing": True})
        yield db
        db.commit()
    except BaseException:
        db.rollback()
        raise
    finally:
        db.info["in_transaction"] = False


def repeated(
    verb: Callable[Concatenate[Session, Params], Found],
) -> Callable[Concatenate[Session, Params], Found]:
    """Make a verb that begins again where its transaction collided with another one; inside one, its caller's does.

    Those who collided wait for times of their own, so that they do not meet again.
    """

    @functools.wraps(verb)
    def try_again(db: Session, /, *args: Params.args, **named: Params.kwargs) -> Found:
        for attempt in range(0 if db.info.get("in_transaction") else TRIES - 1):
            try:
                return verb(db, *args, **named)
            except Collision:
                time.sleep(FIRST_WAIT_S * 2**attempt * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
        return verb(db, *args, **named)

    return try_again


def lock(db: Session, name: str) -> None:
    """Let nobody else past the lock called *name* until this transaction ends, for what is checked and then done.

    On SQLite there is nothing to do: a transaction that writes has the whole database to itself.
    """
    if db.get_bind().dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
        db.execute(_LOCK, {"number": number})


def ping(db: Session) -> None:
    """Ask the database for nothing in particular; raise Unavailable where it does not answer."""
    db.rollback()
    db.execute(text("SELECT 1"))


def _to_json(value: Any) -> str:
    # PostgreSQL refuses NaN, and SQLite would keep it as something that no other JSON reader takes.
    return json.dumps(value, allow_nan=False)


def _explain(context: ExceptionContext) -> None:
    """Translate what the database complains about into our own words, where a person can do something about it."""
    error = _translate(context)
    if error is not None:
        raise error from context.original_exception


def _translate(context: ExceptionContext) -> QuintainError | None:
    problem = context.sqlalchemy_exception or context.original_exception
    reason = str(context.original_exception).strip()
    if isinstance(problem, DataError | OverflowError | UnicodeEncodeError):
        return BadInput(
            "A value cannot be stored: {reason}",
            reason=reason.splitlines()[0],
            remedy="Shorten it, or remove characters that are not text.",
        )
    if getattr(context.original_exception, "sqlstate", None) in COLLIDED:
        return Collision("Others were at work on the same.", remedy="Try again in a moment.")
    if isinstance(problem, OperationalError):
        return _translate_operational(reason, context)
    return None


def _translate_operational(reason: str, context: ExceptionContext) -> QuintainError | None:
    where = context.engine.url.render_as_string(hide_password=True) if context.engine else Text("the database")
    if "disk is full" in reason or "No space left" in reason:
        return OutOfOrder(
            "The disk of {where} is full; nothing was written.",
            where=where,
            remedy="Free some space and retry.",
            page="Tell the operator.",
        )
    if "database is locked" in reason:
        return Unavailable(
            "The database is busy with another writer.", retry_after=RETRY_S, remedy="Try again in a moment."
        )
    if "readonly" in reason or "read-only" in reason:
        return OutOfOrder(
            "{where} can be read here, but not written.",
            where=where,
            remedy="Ask whose folder it is for the right to write, or work on a copy: quintain restore a backup of it.",
            page="Tell the operator.",
        )
    if "unable to open" in reason:
        return OutOfOrder(
            "{where} cannot be opened: {reason}.",
            where=where,
            reason=reason,
            remedy="Check that the folder is there and ours.",
            page="Tell the operator.",
        )
    if context.connection is None or context.is_disconnect:
        return OutOfOrder(
            "The database at {where} does not answer: {reason}",
            where=where,
            reason=reason.splitlines()[0],
            retry_after=RETRY_S,
            remedy="Check QUINTAIN_DATABASE_URL and that the server runs.",
            page="Try again in a moment, or tell the operator.",
        )
    return None
