"""Backing up and restoring by command: the demo comes back whole, and what is refused leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import inspect
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace, open_workspace
from quintain.core.people import OPERATOR
from quintain.services.access import audit
from quintain.services.house.backup import FAILED
from quintain.settings import Settings
from quintain.simulate.contest import play_contest
from quintain.simulate.demo import add_trial
from quintain.store import archive
from quintain.store.database import connect, transaction
from tests.backups import forge
from tests.people import make_person
from tests.web_support import browser_of

Run = Callable[..., Result]


def test_the_demo_is_restored(cli: Run, own_demo: Workspace, tmp_path: Path) -> None:
    """Every row and every blob of the demo comes back, those of its contest and its trial included."""
    demo = own_demo
    play_contest(demo)
    add_trial(demo, "sentiment")
    file, folder = tmp_path / "demo.zip", tmp_path / "deep" / "new"
    before = archive.row_counts(demo.engine)
    made = cli("--workspace", demo.settings.workspace, "backup", file, "--json")
    assert made.exit_code == 0, made.stderr
    assert json.loads(made.stdout)["verified"] is True
    done = cli("--workspace", folder, "restore", file)
    assert done.exit_code == 0, done.stderr
    restored = open_workspace(Settings(workspace=folder))
    try:
        after = archive.row_counts(restored.engine)
        assert after == {**before, "audit": before["audit"] + 1}
        assert restored.blobs.keys() == demo.blobs.keys()
        with archive.snapshot(demo.engine) as mine, archive.snapshot(restored.engine) as theirs:
            for table in set(before) - {"audit"}:
                assert list(theirs.rows(table)) == list(mine.rows(table)), table
            assert archive.JSON_NULL in [row["original_label"] for row in mine.rows("contest_rulings")]
    finally:
        restored.close()


def _cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def _forget_names(file: Path) -> None:
    forge(file, "users", lambda row: {**row, "name": None})


@pytest.fixture
def small_backup(quintain: Run, workspace: Workspace, db: Session, tmp_path: Path) -> Path:
    """A backup of a workspace with one person and one blob."""
    make_person(db, "wilma")
    workspace.blobs.put(b"a blob")
    file = tmp_path / "b.zip"
    assert quintain("backup", file).exit_code == 0
    return file


@pytest.fixture
def quintain(cli: Run, settings: Settings, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs a command on the workspace, on either kind of database."""
    if settings.database_url:
        monkeypatch.setenv("QUINTAIN_DATABASE_URL", settings.database_url)
    return lambda *arguments: cli("--workspace", settings.workspace, *arguments)


@pytest.mark.parametrize("spoil", [_cut_off, _forget_names])
@pytest.mark.parametrize("present", [[], ["deep"], ["deep", "deep/new", "deep/new/blobs", "deep/new/backups"]])
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_refused_restore_leaves_no_file(
    cli: Run, small_backup: Path, tmp_path: Path, spoil: Callable[[Path], None], present: list[str]
) -> None:
    """Folders, the database's files and blobs that were not there before are gone again, and the others are left."""
    spoil(small_backup)
    root = tmp_path / "root"
    for name in ["", *present]:
        (root / name).mkdir()
    refused = cli("--workspace", root / "deep" / "new", "restore", small_backup)
    assert refused.exit_code == 1
    assert "Nothing was changed" in refused.stderr
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*")) == sorted(present)


@pytest.mark.postgres
@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_refused_restore_makes_no_table(
    cli: Run,
    small_backup: Path,
    new_database: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An empty PostgreSQL database is as empty afterwards, and takes the whole backup."""
    url = new_database("postgres", template="template0")
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", url)
    spoilt = tmp_path / "spoilt.zip"
    spoilt.write_bytes(small_backup.read_bytes())
    _forget_names(spoilt)
    assert cli("--workspace", tmp_path / "new", "restore", spoilt).exit_code == 1
    assert not (tmp_path / "new").exists()
    engine = connect(url)
    assert inspect(engine).get_table_names() == []
    assert cli("--workspace", tmp_path / "new", "restore", small_backup).exit_code == 0
    assert archive.row_counts(engine)["users"] == 1
    engine.dispose()


def test_a_refused_restore_does_not_upgrade(cli: Run, small_backup: Path, tmp_path: Path) -> None:
    """Where rows would be replaced only by force, the database is not even brought to the newest migration."""
    folder = tmp_path / "old"
    assert cli("--workspace", folder, "restore", small_backup).exit_code == 0
    engine = connect(f"sqlite:///{folder / 'quintain.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0041'")
    assert "not empty" in cli("--workspace", folder, "restore", small_backup).stderr
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == "0041"
    engine.dispose()


def test_the_last_verified_backup_is_shown(quintain: Run, small_backup: Path, db: Session, tmp_path: Path) -> None:
    """Status and health name the last verified backup, and one that could not be verified since, until one is."""
    shown = quintain("status")
    assert "b.zip" in shown.stdout
    assert quintain("backup", tmp_path / "quick.zip", "--no-verify").stdout.rstrip().endswith("not verified.")
    assert json.loads(quintain("status", "--json").stdout)["status"]["backup"]["file"] == "b.zip"
    with transaction(db):
        audit.record(db, OPERATOR, FAILED, "c.zip", reason="table users comes back wrong")
    warned = quintain("status", "--check")
    assert warned.exit_code == 1
    assert "table users comes back wrong" in " ".join(warned.stdout.split())
    assert quintain("backup", tmp_path / "d.zip").exit_code == 0
    assert "comes back wrong" not in quintain("status").stdout


def test_the_health_page_warns_of_a_backup_that_failed(own_demo: Workspace) -> None:
    """An admin sees that none was verified yet, then the one that was, and a later one that could not be."""
    browser = browser_of(own_demo, "admin")
    assert "none yet" in browser.get("/admin/health").text
    with own_demo.session() as db, transaction(db):
        audit.record(db, OPERATOR, "backup.create", "monday.zip", verified=True)
    assert "monday.zip" in browser.get("/admin/health").text
    with own_demo.session() as db, transaction(db):
        audit.record(db, OPERATOR, FAILED, "c.zip", reason="table users comes back wrong")
    assert "table users comes back wrong" in browser.get("/admin/health").text
