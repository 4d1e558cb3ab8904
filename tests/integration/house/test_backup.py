"""Backups are consistent while others write, whole or absent, and go from one kind of database to the other."""

from __future__ import annotations

import itertools
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import JSON, insert, select, text
from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace, open_workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, QuintainError, Unavailable
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access import accounts, audit, tokens
from quintain.services.access import sign_in as sessions
from quintain.services.house import backup_file
from quintain.services.house.backup import create_backup, last_backup, restore_backup, upgrade_workspace
from quintain.settings import Settings
from quintain.store import archive, migrate
from quintain.store.base import table_of
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import AuditEntry, Notification, User
from tests.backups import forge, rewrite


@pytest.fixture
def fill(db: Session, workspace: Workspace, admin: Actor) -> str:
    """Put some people, entries and a blob into the workspace; the fixture's value is an API token of the admin."""
    accounts.invite(db, admin, "wilma", display_name="Wilmä", roles=[RoleName.WORKER])
    sessions.start_session(db, admin)
    with transaction(db):
        audit.record(db, admin, "nested", details={"a": [1, None, "ü"]})
    workspace.blobs.put(b"a blob" * 1000)
    return tokens.create_token(db, admin, "before")[0]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def other(request: pytest.FixtureRequest, new_database: Callable[[str], str], tmp_path: Path) -> Iterator[Workspace]:
    """A second workspace, new and empty, on either kind of database."""
    settings = Settings(workspace=tmp_path / "other", database_url=new_database(str(request.param)))
    made = create_workspace(settings)
    yield made
    made.engine.dispose()


def _everything(workspace: Workspace) -> dict[str, list[dict[str, object]]]:
    with archive.snapshot(workspace.engine) as snapshot:
        return {name: list(snapshot.rows(name)) for name in snapshot.tables}


@pytest.mark.both_databases
def test_a_backup_restores_on_either_database(
    workspace: Workspace, db: Session, fill: str, other: Workspace, tmp_path: Path
) -> None:
    """All rows and blobs arrive, tokens still work, and new rows get new numbers."""
    before = _everything(workspace)
    made = create_backup(db, workspace.blobs, OPERATOR, tmp_path / "b.zip")
    assert (made.blobs, made.rows["users"], made.migration) == (1, 2, migrate.newest())
    with other.session() as there:
        assert restore_backup(there, other.blobs, OPERATOR, made.file).rows == made.rows
        after = _everything(other)
        assert [entry["action"] for entry in after["audit"][len(before["audit"]) :]] == ["backup.restore"]
        after["audit"] = after["audit"][: len(before["audit"])]
        assert after == before
        assert other.blobs.keys() == workspace.blobs.keys()
        assert tokens.actor_for_token(there, fill).is_admin
        newest = max(user.id for user in there.scalars(select(User)))
        assert accounts.invite(there, OPERATOR, "later")[0].id > newest


@pytest.mark.both_databases
def test_a_backup_is_one_moment(workspace: Workspace, db: Session, fill: str, tmp_path: Path) -> None:
    """While pairs of rows are written in one transaction each, a backup never holds half a pair."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        with workspace.session() as mine:
            while not stop.is_set():
                number += 1
                with transaction(mine):
                    mine.add(User(name=f"pair-{number}"))
                    audit.record(mine, OPERATOR, "pair", str(number))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        backups = [create_backup(db, workspace.blobs, OPERATOR, tmp_path / f"{n}.zip", verify=False) for n in range(5)]
    finally:
        stop.set()
        thread.join()
    seen = []
    for made in backups:
        with zipfile.ZipFile(made.file) as bundle:
            users = [json.loads(line)["name"] for line in bundle.open("tables/users.jsonl")]
            entries = [json.loads(line) for line in bundle.open("tables/audit.jsonl")]
        pairs = [f"pair-{entry['subject']}" for entry in entries if entry["action"] == "pair"]
        assert sorted(pairs) == sorted(name for name in users if name.startswith("pair-"))
        seen.append(len(pairs))
    assert seen == sorted(seen)
    assert seen[-1] > 0


@pytest.mark.both_databases
def test_what_is_there_is_not_replaced_by_accident(
    workspace: Workspace, db: Session, fill: str, tmp_path: Path
) -> None:
    """A file is overwritten, and a workspace replaced, only by force; then it is as it was at the backup."""
    file = create_backup(db, workspace.blobs, OPERATOR, tmp_path / "b.zip").file
    with pytest.raises(Conflict, match="there already"):
        create_backup(db, workspace.blobs, OPERATOR, file)
    create_backup(db, workspace.blobs, OPERATOR, file, force=True, verify=False)
    accounts.invite(db, OPERATOR, "later")
    with pytest.raises(Conflict, match="not empty"):
        restore_backup(db, workspace.blobs, OPERATOR, file)
    assert len(accounts.list_people(db, OPERATOR)) == 3
    restore_backup(db, workspace.blobs, OPERATOR, file, force=True)
    assert [person.name for person in accounts.list_people(db, OPERATOR)] == ["ada", "wilma"]
    assert migrate.differences(workspace.engine) == []


def test_only_admins_back_up_and_restore(workspace: Workspace, db: Session, worker: Actor, tmp_path: Path) -> None:
    """A backup holds everything about everybody."""
    for attempt in (create_backup, restore_backup, upgrade_workspace):
        with pytest.raises(Forbidden):
            attempt(db, workspace.blobs, worker, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _flip_a_byte(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[data.index(b"a bloba blob") + 20] ^= 1
    file.write_bytes(bytes(data))


def _lose_a_row(file: Path) -> None:
    rewrite(file, "tables/users.jsonl", lambda data: data.split(b"\n", 1)[1])


def _name_another_format(file: Path) -> None:
    rewrite(file, "manifest.json", lambda data: json.dumps({**json.loads(data), "format": 99}).encode())


def _spoil_the_manifest(file: Path) -> None:
    rewrite(file, "manifest.json", lambda data: b"[]")


def _come_from_the_future(file: Path) -> None:
    rewrite(file, "manifest.json", lambda data: json.dumps({**json.loads(data), "migration": "9999"}).encode())


def _be_something_else(file: Path) -> None:
    file.write_text("this is no backup")


def _be_missing(file: Path) -> None:
    file.unlink()


@pytest.mark.parametrize(
    "damage",
    [
        _truncate,
        _flip_a_byte,
        _lose_a_row,
        _name_another_format,
        _spoil_the_manifest,
        _come_from_the_future,
        _be_something_else,
        _be_missing,
    ],
)
def test_a_broken_backup_changes_nothing(
    workspace: Workspace, db: Session, fill: str, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """Whatever is wrong with the file, it is refused by name and the workspace stays as it is, even by force."""
    file = create_backup(db, workspace.blobs, OPERATOR, tmp_path / "b.zip", verify=False).file
    before = _everything(workspace)
    damage(file)
    with pytest.raises(QuintainError) as caught:
        restore_backup(db, workspace.blobs, OPERATOR, file, force=True)
    assert isinstance(caught.value, BadInput | Conflict)
    assert caught.value.remedy
    assert _everything(workspace) == before


@pytest.mark.both_databases
def test_rows_that_do_not_fit_change_nothing(workspace: Workspace, db: Session, fill: str, tmp_path: Path) -> None:
    """A failure in the middle of loading undoes all of it, the dropped tables too."""
    file = create_backup(db, workspace.blobs, OPERATOR, tmp_path / "b.zip", verify=False).file
    before = _everything(workspace)
    rows = {"users": [{"id": 1, "name": "x", "nonsense": True}]}
    with pytest.raises(BadInput, match="does not fit"):
        archive.replace_all(workspace.engine, migrate.newest(), rows, lambda name: rows[name])
    assert _everything(workspace) == before
    with backup_file.opened(file) as backup:
        backup.check(lambda what, done, total: None)
        assert backup.info().rows["users"] == 2


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.parametrize("where", ["rows", "blobs", "references"])
def test_a_refused_restore_adds_no_blob(
    workspace: Workspace,
    db: Session,
    fill: str,
    other: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    """Whether the database refuses the rows or the disk is full among the blobs, all is as it was."""
    workspace.blobs.put(b"another blob")
    file = create_backup(db, workspace.blobs, OPERATOR, tmp_path / "b.zip", verify=False).file
    kept = other.blobs.put(b"was here before")
    if where == "rows":
        forge(file, "users", lambda row: {**row, "name": None})
    elif where == "references":
        forge(file, "api_tokens", lambda row: {**row, "user_id": 999_999})
    else:
        _fill_the_disk(other.blobs, monkeypatch, after=1)
    before = _everything(other)
    with other.session() as there, pytest.raises(QuintainError):
        restore_backup(there, other.blobs, OPERATOR, file)
    assert _everything(other) == before
    assert other.blobs.keys() == [kept]
    assert sorted(path.name for path in other.blobs.root.iterdir()) == sorted([kept[:2], "scratch"])


def _fill_the_disk(blobs: Blobs, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let *blobs* take as many more as *after* says."""
    take, taken = Blobs.put_file, itertools.count()

    def put_file(self: Blobs, path: Path) -> str:
        if self is blobs and next(taken) >= after:
            raise Unavailable("The disk is full.")
        return take(self, path)

    monkeypatch.setattr(Blobs, "put_file", put_file)


def _lose_nulls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup_file._NullRanges, "plain", lambda self: {})


def _write_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    written = backup_file._NullRanges.written

    def other(self: backup_file._NullRanges, number: int, row: dict[str, Any]) -> dict[str, Any]:
        return {**written(self, number, row), **({"actor": "somebody else"} if "actor" in row else {})}

    monkeypatch.setattr(backup_file._NullRanges, "written", other)


def _have_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise Unavailable("The disk of {where} is full; nothing was written.", where="the scratch database")

    monkeypatch.setattr(archive, "replace_all", full)


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (_lose_nulls, "table notifications comes back"),
        (_write_other_rows, "table audit comes back"),
        (_have_no_room, "disk .* is full"),
    ],
)
def test_a_backup_that_could_not_be_restored_is_not_kept(
    workspace: Workspace,
    db: Session,
    admin: Actor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trouble: Callable[[pytest.MonkeyPatch], None],
    reason: str,
) -> None:
    """What does not come back as it was is refused before it counts; what was there stays, and the health says so."""
    _put_a_null(db, admin)
    file = create_backup(db, workspace.blobs, OPERATOR, tmp_path / "b.zip").file
    whole = file.read_bytes()
    with monkeypatch.context() as patch:
        trouble(patch)
        with pytest.raises(Unavailable, match=reason) as caught:
            create_backup(db, workspace.blobs, OPERATOR, file, force=True)
        assert "--no-verify" in str(caught.value.remedy)
        assert file.read_bytes() == whole
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
        last = last_backup(db, OPERATOR)
        assert (last.file, last.failed_at is not None) == ("b.zip", True)
        assert last.verified_at is not None
        assert create_backup(db, workspace.blobs, OPERATOR, file, force=True, verify=False).verified is False
    assert last_backup(db, OPERATOR).failed_at is not None
    assert create_backup(db, workspace.blobs, OPERATOR, file, force=True).verified
    assert last_backup(db, OPERATOR).failed_at is None


def _put_a_null(db: Session, reader: Actor) -> None:
    """Keep JSON's null in a column that could also lack a value."""
    with transaction(db):
        message = {"user_id": reader.user_id, "kind": "test", "text": "", "said": JSON.NULL}
        db.execute(insert(table_of(Notification)).values(message))


def test_a_damaged_blob_is_noticed_when_it_is_backed_up(
    workspace: Workspace, db: Session, fill: str, tmp_path: Path
) -> None:
    """A file of the workspace that changed by itself is named by its key, not found at the restore."""
    (key,) = workspace.blobs.keys()
    workspace.blobs.path(key).write_bytes(b"rotten")
    with pytest.raises(Unavailable, match=f"blob {key} has other content"):
        create_backup(db, workspace.blobs, OPERATOR, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_a_backup_that_cannot_be_written_leaves_nothing(workspace: Workspace, db: Session, tmp_path: Path) -> None:
    """A place that is no folder is named, and no partial file stays."""
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="not written"):
        create_backup(db, workspace.blobs, OPERATOR, tmp_path / "file" / "b.zip")
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


@pytest.mark.both_databases
def test_an_upgrade_backs_up_first(database: str, new_database: Callable[..., str], tmp_path: Path) -> None:
    """A database at the first migration is brought to the newest, and the archive brings its rows back, only here."""
    folder = tmp_path / "old"
    folder.mkdir()
    url = new_database(database, template="template0")
    workspace = open_workspace(Settings(workspace=folder, database_url=url), check=False)
    config = migrate._config()
    first = next(
        script.revision for script in ScriptDirectory.from_config(config).walk_revisions() if not script.down_revision
    )
    with migrate.alone(workspace.engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, first)
        connection.execute(text("INSERT INTO tasks (name, created_at) VALUES ('old', '2026-01-01 00:00:00')"))
    with workspace.session() as db:
        kept = workspace.blobs.put(b"stays where it is")
        done = upgrade_workspace(db, workspace.blobs, OPERATOR, folder / "backups")
        assert upgrade_workspace(db, workspace.blobs, OPERATOR, folder / "backups").migrations == ()
        if first == migrate.newest():
            assert done.backup is None
        else:
            assert done.migrations[-1] == migrate.newest()
            assert done.backup is not None
            assert f"blobs/{kept}" not in zipfile.ZipFile(done.backup.file).namelist()
            with pytest.raises(Conflict, match="1 of the 1 blobs"):
                restore_backup(db, Blobs(tmp_path / "elsewhere"), OPERATOR, done.backup.file, force=True)
            restored = restore_backup(db, workspace.blobs, OPERATOR, done.backup.file, force=True)
            assert (restored.migration, restored.rows["tasks"]) == (first, 1)
        assert migrate.differences(workspace.engine) == []
        assert db.scalar(text("SELECT name FROM tasks")) == "old"
    workspace.engine.dispose()


def test_a_database_that_was_not_upgraded_is_refused(workspace: Workspace) -> None:
    """Opening a workspace whose migrations are missing says which command to run."""
    with workspace.engine.begin() as connection:
        connection.execute(text("DELETE FROM alembic_version"))
    with pytest.raises(Conflict) as caught:
        open_workspace(workspace.settings)
    assert "quintain upgrade" in (caught.value.remedy or "")


def test_entries_survive_with_their_details(
    workspace: Workspace, db: Session, fill: str, other: Workspace, tmp_path: Path
) -> None:
    """JSON and letters beyond ASCII arrive as they were."""
    file = create_backup(db, workspace.blobs, OPERATOR, tmp_path / "b.zip").file
    with other.session() as there:
        restore_backup(there, other.blobs, OPERATOR, file)
        entry = there.scalars(select(AuditEntry).where(AuditEntry.action == "nested")).one()
        assert entry.details == {"details": {"a": [1, None, "ü"]}}
        assert there.scalar(select(User.display_name).where(User.name == "wilma")) == "Wilmä"
