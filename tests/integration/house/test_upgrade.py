"""A workspace of the oldest revision that is known comes up to date with all that is in it; what is older is refused.

`tests/data/workspace-0041.zip` was written by `quintain backup` at that revision: a contest, contrast projects of six
kinds, a round, a validation, pay, and two addresses that later migrations take out of accounts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.core.people import OPERATOR, RoleName
from quintain.services.contest.contests import find_contest
from quintain.services.data.content import preview
from quintain.services.house import backup_file
from quintain.services.house.backup import restore_backup, upgrade_workspace
from quintain.services.pay import ledger
from quintain.services.pay.earnings import my_earnings
from quintain.store import archive, migrate
from quintain.store.tables import AttemptNote, Cell, User
from tests.backups import rewrite
from tests.people import find_or_make_person

FILE = Path(__file__).parents[2] / "data" / "workspace-0041.zip"
Bring = Callable[[Workspace, Session], None]
pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("all_migrations")]


def restored(workspace: Workspace, db: Session) -> None:
    """Restore the backup."""
    restore_backup(db, workspace.blobs, OPERATOR, FILE)


def upgraded(workspace: Workspace, db: Session) -> None:
    """Put the backup there as it is, and upgrade the workspace."""
    with backup_file.opened(FILE) as backup:
        archive.replace_all(workspace.engine, backup.migration, backup.tables, backup.rows, to=backup.migration)
        for key in backup.manifest["blobs"]:
            workspace.blobs.put(backup.bundle.read(f"blobs/{key}"))
    assert migrate.current(workspace.engine) == "0041"
    report = upgrade_workspace(db, workspace.blobs, OPERATOR, workspace.settings.workspace / "backups")
    assert (report.migrations[0], report.migrations[-1]) == ("0042", migrate.newest())
    assert report.backup is not None
    assert report.backup.verified


@pytest.mark.parametrize("bring", [restored, upgraded])
def test_a_workspace_of_the_oldest_revision_comes_up_to_date(workspace: Workspace, db: Session, bring: Bring) -> None:
    """Restored or upgraded in place: the tables are today's, everything that was there can be read and counted.

    A fooled model waits for its writer's word, and two addresses are taken out: one that nobody can write to, and the
    second name of a mailbox.
    """
    bring(workspace, db)
    assert migrate.differences(workspace.engine) == []
    owner = find_or_make_person(db, "olga", RoleName.OWNER)
    writer = find_or_make_person(db, "writer-0", RoleName.WORKER)
    assert find_contest(db, "duel/spring").spec.title == "Build it, break it"
    assert "soup" in str(preview(db, workspace.blobs, owner, "mood/test@1"))
    assert [earning.amount for earning in my_earnings(db, writer)] == [10] * 4
    assert ledger.check(db, OPERATOR).ok
    counts = archive.row_counts(workspace.engine)
    with backup_file.opened(FILE) as backup:
        before = {name: rows for name, rows in backup.info().rows.items() if rows and name != "audit"}
    assert {name: counts[name] for name in before} == before
    assert {cell.state for cell in db.scalars(select(Cell))} == {"done"}
    emails = {user.name: user.email for user in db.scalars(select(User)) if user.name in ("ada", "jim", "jo")}
    assert emails == {"ada": "ada@example.org", "jim": None, "jo": None}
    assert [note.text for note in db.scalars(select(AttemptNote))] == ["not answered"]


def test_an_older_database_is_refused(workspace: Workspace) -> None:
    """It is left alone, and the message says what brings it up to date."""
    with workspace.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0023'"))
    with pytest.raises(Conflict) as refused:
        migrate.upgrade(workspace.engine)
    assert refused.value.message.values == {"revision": "0023", "first": "0041", "commit": migrate.BASELINE_COMMIT}
    assert migrate.current(workspace.engine) == "0023"


def test_an_older_backup_is_refused(workspace: Workspace, db: Session, tmp_path: Path) -> None:
    """Nothing of the workspace is touched, and the message says how the backup can be brought up to date."""
    find_or_make_person(db, "ada", RoleName.ADMIN)
    older = tmp_path / "older.zip"
    older.write_bytes(FILE.read_bytes())
    rewrite(older, "manifest.json", lambda data: json.dumps({**json.loads(data), "migration": "0023"}).encode())
    with pytest.raises(Conflict) as refused:
        restore_backup(db, workspace.blobs, OPERATOR, older, force=True)
    assert migrate.BASELINE_COMMIT in str(refused.value.remedy)
    assert [user.name for user in db.scalars(select(User))] == ["ada"]
