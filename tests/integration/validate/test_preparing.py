"""A validation of many attempts is opened by a worker, some at a time, and a worker that dies is made up for."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.core.people import Actor, RoleName
from quintain.core.validation import ValidationState
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_all
from quintain.services.validate import handing_out, preparing, validations
from quintain.settings import Settings
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.tables import Job, Slot, ValidationItem
from tests.judged_rounds import REF, attempt, make_round
from tests.people import make_person
from tests.validation_support import make_judges

TEXTS = 11
# A worker that takes in three attempts at a time and is killed when it has written down that it did so twice.
DYING = """
import os, sys
from pathlib import Path
from quintain.compose import create_workspace
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs import running
from quintain.services.validate import preparing
from quintain.settings import Settings
preparing.AT_A_TIME = 3
save, saved = running.JobRun.save, []
def save_and_die(run, checkpoint):
    save(run, checkpoint)
    saved.append(checkpoint)
    if len(saved) == 2:
        os._exit(9)
running.JobRun.save = save_and_die
workspace = create_workspace(Settings(workspace=Path(sys.argv[1]), database_url=sys.argv[2]))
running.run_all(workspace.session, workspace.blobs, job_handlers())
"""


@pytest.fixture
def opened(db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round with more attempts than are taken in while somebody waits, whose judging was opened."""
    monkeypatch.setattr(validations, "AT_ONCE", TEXTS - 1)
    monkeypatch.setattr(preparing, "AT_A_TIME", 3)
    writer = make_person(db, "wanda", RoleName.WORKER)
    make_round(
        db, owner, [attempt(writer, f"{number} feels positive", "positive", "negative") for number in range(TEXTS)]
    )


def counts(db: Session) -> tuple[int, int]:
    """Count the items and the slots."""
    db.rollback()
    return db.scalar(select(func.count(ValidationItem.id))) or 0, db.scalar(select(func.count(Slot.id))) or 0


def test_nobody_judges_while_attempts_are_taken_in(
    db: Session, workspace: Workspace, owner: Actor, opened: None
) -> None:
    """The owner sees how far it is; judges get pages when all is there, and not before."""
    (judge,) = make_judges(db, 1)
    assert validations.find(db, REF).state is ValidationState.PREPARING
    standing = preparing.preparation(db, owner, REF)
    assert standing is not None
    assert standing.state == "queued"
    with pytest.raises(Conflict):
        handing_out.claim_page(db, judge, REF)
    with pytest.raises(Conflict):
        validations.set_state(db, owner, REF, ValidationState.PAUSED)
    run_all(workspace.session, workspace.blobs, job_handlers())
    assert counts(db) == (TEXTS, 5 * TEXTS)
    assert preparing.preparation(db, owner, REF) is None
    assert handing_out.claim_page(db, judge, REF) is not None


def test_a_killed_worker_is_made_up_for(
    db: Session, workspace: Workspace, settings: Settings, owner: Actor, opened: None
) -> None:
    """What was taken in stays; the next worker goes on after it, and nothing is there twice."""
    command = [
        sys.executable,
        "-c",
        DYING,
        str(settings.workspace),
        str(db.get_bind().engine.url.render_as_string(False)),
    ]
    assert subprocess.run(command, check=False, timeout=120).returncode == 9
    assert counts(db) == (6, 30)
    with transaction(db):  # its lease runs out
        db.execute(update(Job).where(Job.kind == validations.PREPARE).values(lease_until=now() - timedelta(seconds=1)))
    run_all(workspace.session, workspace.blobs, job_handlers())
    assert counts(db) == (TEXTS, 5 * TEXTS)
    assert validations.find(db, REF).state is ValidationState.OPEN
    (job,) = db.scalars(select(Job).where(Job.kind == validations.PREPARE))
    assert (job.state, job.attempts, job.done) == ("done", 2, TEXTS)
