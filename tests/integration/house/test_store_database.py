"""Writing from many places loses nothing, and what a database complains about is said in our words."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError, ProgrammingError, StatementError
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Unavailable
from quintain.core.people import OPERATOR
from quintain.services.access import audit
from quintain.store.database import connect, refresh_statistics, transaction
from quintain.store.tables import AuditEntry, Notification, User
from tests.integration.house.writers import write

pytestmark = pytest.mark.both_databases
PROCESSES, TIMES = 6, 25


def _count(db: Session) -> int:
    db.rollback()
    return db.scalar(select(func.count()).select_from(AuditEntry)) or 0


def _record_and_fail(db: Session, action: str) -> None:
    with transaction(db):
        audit.record(db, OPERATOR, action)
        db.flush()
        raise RuntimeError


def _add_shared(db: Session) -> None:
    with transaction(db):
        db.add(User(name="shared", display_name="0"))


def test_processes_that_write_together_lose_nothing(workspace: Workspace, db: Session) -> None:
    """Six processes add rows and count up one shared value: every row and every count is there."""
    _add_shared(db)
    url = workspace.engine.url.render_as_string(hide_password=False)
    fork = multiprocessing.get_context("fork")
    running = [fork.Process(target=write, args=(url, f"w{number}", TIMES)) for number in range(PROCESSES)]
    for process in running:
        process.start()
    for process in running:
        process.join(timeout=100)
    assert [process.exitcode for process in running] == [0] * PROCESSES
    assert _count(db) == PROCESSES * TIMES
    assert db.scalar(select(User.display_name)) == str(PROCESSES * TIMES)


def test_threads_that_write_together_lose_nothing(workspace: Workspace, db: Session) -> None:
    """Sixteen threads, more than the pool keeps open, share one engine and wait for each other."""
    _add_shared(db)

    def work(number: int) -> None:
        for _ in range(10):
            with workspace.session() as mine, transaction(mine):
                audit.record(mine, OPERATOR, "write", str(number))
                shared = mine.scalars(select(User).with_for_update()).one()
                shared.display_name = str(int(shared.display_name) + 1)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))
    assert _count(db) == 160
    assert db.scalar(select(User.display_name)) == "160"


def test_readers_do_not_wait_for_a_writer(workspace: Workspace, db: Session) -> None:
    """While one transaction has written and not ended, others read what was there before it."""
    with transaction(db):
        audit.record(db, OPERATOR, "first")
        db.flush()
        seen: list[int] = []
        with workspace.session() as other:
            thread = threading.Thread(target=lambda: seen.append(_count(other)))
            thread.start()
            thread.join(timeout=10)
        assert seen == [0]
    assert _count(db) == 1


def test_a_transaction_is_kept_whole_or_not_at_all(db: Session) -> None:
    """An error in the middle undoes what came before it."""
    with pytest.raises(RuntimeError):
        _record_and_fail(db, "half")
    assert _count(db) == 0


def test_an_inner_transaction_is_undone_alone(db: Session) -> None:
    """A service that catches the failure of another one keeps its own work, and nothing of the other's."""
    with transaction(db):
        audit.record(db, OPERATOR, "outer")
        with pytest.raises(RuntimeError):
            _record_and_fail(db, "inner")
    db.rollback()
    assert list(db.scalars(select(AuditEntry.action))) == ["outer"]


def test_an_inner_transaction_is_kept_only_with_the_outer(db: Session) -> None:
    """What an inner service did is undone when the outer one fails."""

    def outer() -> None:
        with transaction(db):
            with transaction(db):
                audit.record(db, OPERATOR, "inner")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        outer()
    assert _count(db) == 0


def test_facts_are_neither_changed_nor_deleted(db: Session) -> None:
    """An entry of the log stays as it was written, whoever tries."""
    with transaction(db):
        audit.record(db, OPERATOR, "first")

    def change(delete: bool) -> None:
        with transaction(db):
            entry = db.scalars(select(AuditEntry)).one()
            if delete:
                db.delete(entry)
            else:
                entry.action = "second"

    for delete in (True, False):
        with pytest.raises(TypeError, match="AuditEntry is a fact"):
            change(delete)
    db.expire_all()
    assert list(db.scalars(select(AuditEntry.action))) == ["first"]


def test_foreign_keys_are_enforced(db: Session) -> None:
    """A row cannot point to a person who is not there, on SQLite as on PostgreSQL."""
    with pytest.raises(IntegrityError), transaction(db):
        db.add(Notification(user_id=4711, kind="x", text="x"))


def test_times_come_back_in_utc(db: Session) -> None:
    """A stored moment has its time zone again when it is read."""
    with transaction(db):
        audit.record(db, OPERATOR, "now")
    db.expire_all()
    assert str(db.scalars(select(AuditEntry)).one().at.tzinfo) == "UTC"


def test_json_comes_back_as_it_was(db: Session) -> None:
    """Nested details survive, in whatever script they are written."""
    details = {"list": [1, 2.5, None, True], "text": "naïve – 日本語 🎠", "zero": "a\u0000b"}
    with transaction(db):
        audit.record(db, OPERATOR, "json", **details)
    db.expire_all()
    assert db.scalars(select(AuditEntry)).one().details == details


def test_json_takes_no_nan(db: Session) -> None:
    """A number that JSON does not have is refused on both databases, not stored as something unreadable."""
    with pytest.raises((ValueError, StatementError)), transaction(db):
        audit.record(db, OPERATOR, "json", value=float("nan"))
    assert _count(db) == 0


@pytest.mark.parametrize("name", ["lone \ud800 surrogate"])
def test_what_is_not_text_is_bad_input(db: Session, name: str) -> None:
    """Characters that cannot be encoded are the giver's fault, and named so."""
    with pytest.raises(BadInput, match="cannot be stored"):
        db.scalar(select(User).where(User.name == name))


def test_numbers_that_do_not_fit_are_bad_input(db: Session) -> None:
    """An id beyond what the database counts to is refused without a traceback."""
    with pytest.raises(BadInput, match="cannot be stored"):
        db.execute(select(User).where(User.id == 10**30)).all()


@pytest.mark.postgres
def test_zero_characters_are_bad_input_on_postgresql(postgres_server: object, db: Session, database: str) -> None:
    """PostgreSQL keeps no NUL in a text; whoever sends one is told so."""
    if database == "postgres":
        with pytest.raises(BadInput, match="NUL"):
            db.scalar(select(User).where(User.name == "a\x00b"))
    else:
        assert db.scalar(select(User).where(User.name == "a\x00b")) is None


def test_sqlite_is_set_up_for_many_writers(tmp_path: Path) -> None:
    """Write-ahead log, foreign keys and a busy timeout are on in every connection."""
    engine = connect(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.connect() as connection:
        values = [
            connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "foreign_keys", "busy_timeout")
        ]
    engine.dispose()
    assert values == ["wal", 1, 30_000]


def test_sqlite_knows_its_tables_after_a_look(tmp_path: Path) -> None:
    """Its planner has statistics then, which it never makes by itself; what was written meanwhile is left alone."""
    engine = connect(f"sqlite:///{tmp_path / 'seen.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT)")
        connection.exec_driver_sql("CREATE INDEX ix_word ON word (text)")
        connection.exec_driver_sql("INSERT INTO word (text) VALUES ('a'), ('a'), ('b')")
    refresh_statistics(engine)
    with engine.connect() as connection:
        known = connection.exec_driver_sql("SELECT idx, stat FROM sqlite_stat1 WHERE tbl = 'word'").all()
    engine.dispose()
    assert known == [("ix_word", "3 2")]


@pytest.mark.parametrize("url", ["mysql://localhost/x", "nonsense", "", "sqlite+aiosqlite:///x", "http://["])
def test_a_wrong_address_is_bad_input(url: str) -> None:
    """An address of another kind of database, or none at all, is refused with the forms that work."""
    with pytest.raises(BadInput) as caught:
        connect(url)
    assert "postgresql://" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    "url", ["sqlite:////nowhere/at/all/quintain.db", "postgresql://someone:secret@127.0.0.1:1/quintain"]
)
def test_a_database_that_is_not_there_is_unavailable(url: str) -> None:
    """A folder that is missing or a server that does not answer is explained, without the password."""
    engine = connect(url)
    with pytest.raises(Unavailable) as caught:
        engine.connect()
    assert caught.value.remedy
    assert "secret" not in str(caught.value)


@pytest.mark.postgres
def test_statements_stay_prepared_when_a_reading_ends(postgres_server: object, db: Session, database: str) -> None:
    """A question that is asked again and again is planned once on PostgreSQL, though every reading is rolled back."""
    if database != "postgres":
        pytest.skip("SQLite keeps its statements itself")
    for _ in range(10):
        assert _count(db) == 0
        db.rollback()
    prepared = text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%FROM audit%'")
    assert db.scalar(prepared) == 1
    with pytest.raises(ProgrammingError):
        db.execute(text("SELECT * FROM nowhere"))
    assert _count(db) == 0


@pytest.mark.postgres
def test_what_is_rolled_back_is_undone(workspace: Workspace, db: Session) -> None:
    """A row that was written and not kept is gone, on a connection that is used again."""
    for _ in range(3):
        db.add(User(name="gone", display_name="x"))
        db.flush()
        db.rollback()
        with workspace.session() as other:
            assert other.scalar(select(func.count()).select_from(User).where(User.name == "gone")) == 0


@pytest.mark.postgres
def test_a_connection_that_broke_while_idle_is_replaced(
    postgres_server: object, workspace: Workspace, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart of PostgreSQL nobody sees an error: a connection that lay idle is tried before it is used."""
    if database != "postgres":
        pytest.skip("there is no connection to lose")
    monkeypatch.setattr("quintain.store.postgres.IDLE_S", 0.0)
    with workspace.session() as one, workspace.session() as other:
        kept, lost = (session.scalar(text("SELECT pg_backend_pid()")) for session in (other, one))
        one.close()
        other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": lost})
        assert one.scalar(text("SELECT pg_backend_pid()")) not in {kept, lost}


def test_a_database_that_may_only_be_read_says_so(tmp_path: Path) -> None:
    """The message speaks of writing, not of opening: the file is there and can be read."""
    engine = connect(f"sqlite:///{tmp_path / 'kept.db'}")
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")  # what a mount or an owner forbids, for root too
        with pytest.raises(Unavailable, match="can be read here, but not written"):
            connection.exec_driver_sql("CREATE TABLE t (a INTEGER)")
