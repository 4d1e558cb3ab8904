"""The queue of runs as whoever looks after the house sees it: at work, stuck, waiting and for what."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import Result
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.evaluate.cells import lifecycle
from quintain.services.evaluate.cells.queue import run_queue
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.tables import Cell
from tests.evaluation import add_data, add_model, add_task
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, on_one_line


@pytest.fixture
def waiting(workspace: Workspace, db: Session, owner: Actor, builder: Actor, tmp_path: Path) -> list[int]:
    """The ids of the cells of one model on one data set, all queued."""
    add_task(db, owner)
    add_data(db, workspace.blobs, owner, tmp_path)
    add_model(db, workspace.blobs, builder, tmp_path)
    lifecycle.fill(db)
    found = [row.cell.id for row in queries.rows(db)]
    db.rollback()
    return found


@pytest.mark.both_databases
def test_what_runs_is_told_from_what_is_stuck(db: Session, owner: Actor, waiting: list[int]) -> None:
    """A held lease is work, one that ran out is stuck; without any worker the queue is idle; only admins look."""
    idle = run_queue(db, OPERATOR)
    assert (idle.idle, idle.running, idle.stuck, idle.states) == (True, [], [], {"queued": len(waiting)})
    with transaction(db):
        for cell, minutes in zip(waiting[:2], (5, -5), strict=True):
            row = db.get_one(Cell, cell)
            row.state, row.worker = "running", f"w{cell}"
            row.started_at, row.lease_until = now(), now() + timedelta(minutes=minutes)
        db.get_one(Cell, waiting[2]).waits_for = "sandbox"
        row = db.get_one(Cell, waiting[3])
        row.state, row.finished_at = "failed", now()
    found = run_queue(db, OPERATOR)
    assert [(one.id, one.worker) for one in found.running] == [(waiting[0], f"w{waiting[0]}")]
    assert [one.id for one in found.stuck] == [waiting[1]]
    assert [(one.waits_for, one.runs) for one in found.waiting] == [("", len(waiting) - 4), ("sandbox", 1)]
    assert (found.failed, found.idle) == (1, False)
    with pytest.raises(Forbidden):
        run_queue(db, owner)


def test_page_and_command_say_that_nobody_works(
    workspace: Workspace,
    db: Session,
    waiting: list[int],
    cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Runs that wait while no worker is there are a warning on the health page and in `status`."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    make_person(db, "ada", RoleName.ADMIN)
    redeem_link(db, make_link(db, OPERATOR, "ada").token, PASSWORD)
    page = on_one_line(browser_of(workspace, "ada").get("/admin/health"))
    assert "and no worker is at them" in page
    assert f"{len(waiting)} runs wait for their turn" in page
    said = cli("--workspace", workspace.settings.workspace, "status").stdout
    assert f"{len(waiting)} waiting" in said
    assert "quintain worker" in said
