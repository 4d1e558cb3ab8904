"""A validation of many attempts is opened by a worker, some at a time, and a worker that dies is made up for."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.core.people import Actor, RoleName
from quintain.core.validation import ValidationState
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_all
from quintain.services.validate.console import intake, manage, prepare
from quintain.services.validate.judging import claim_page
from quintain.settings import Settings
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.tables import Attempt, AttemptNote, AuditEntry, Job, Slot, ValidationItem
from tests.judged_rounds import REF, attempt, make_round
from tests.people import make_person
from tests.validation_support import answer_page, make_judges

TEXTS = 11
# A worker that takes in three attempts at a time and is killed in the midst of the third time.
DYING = """
import os, sys
from pathlib import Path
from quintain.compose import create_workspace
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs import running
from quintain.services.validate.console import prepare
from quintain.settings import Settings
prepare.BEFORE_ANYBODY = 3
save, saved = running.JobRun.save_within, []
def save_and_die(run, db, checkpoint):
    if len(saved) == 2:
        os._exit(9)
    save(run, db, checkpoint)
    saved.append(checkpoint)
running.JobRun.save_within = save_and_die
workspace = create_workspace(Settings(workspace=Path(sys.argv[1]), database_url=sys.argv[2]))
running.run_all(workspace.session, workspace.blobs, job_handlers())
"""


@pytest.fixture
def opened(db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round with more attempts than are taken in while somebody waits, whose judging was opened."""
    monkeypatch.setattr(intake, "AT_ONCE", TEXTS - 1)
    monkeypatch.setattr(prepare, "AT_A_TIME", 3)
    monkeypatch.setattr(prepare, "BEFORE_ANYBODY", 3)
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
    assert manage.find_validation(db, REF).state is ValidationState.PREPARING
    standing = prepare.preparation_of(db, manage.find_validation(db, REF))
    assert standing is not None
    assert standing.state == "queued"
    with pytest.raises(Conflict):
        claim_page.claim_page(db, judge, REF)
    with pytest.raises(Conflict):
        manage.set_state(db, owner, REF, ValidationState.PAUSED)
    run_all(workspace.session, workspace.blobs, job_handlers())
    assert counts(db) == (TEXTS, 5 * TEXTS)
    assert prepare.preparation_of(db, manage.find_validation(db, REF)) is None
    assert claim_page.claim_page(db, judge, REF) is not None


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
        db.execute(update(Job).where(Job.kind == manage.PREPARE).values(lease_until=now() - timedelta(seconds=1)))
    run_all(workspace.session, workspace.blobs, job_handlers())
    assert counts(db) == (TEXTS, 5 * TEXTS)
    assert manage.find_validation(db, REF).state is ValidationState.OPEN
    (job,) = db.scalars(select(Job).where(Job.kind == manage.PREPARE))
    assert (job.state, job.attempts, job.done) == ("done", 2, TEXTS)


def test_a_claim_takes_in_a_few_and_a_worker_the_rest(
    db: Session, workspace: Workspace, owner: Actor, opened: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has judged everything gets what was written since; what is too much for one request comes in by a job."""
    run_all(workspace.session, workspace.blobs, job_handlers())
    monkeypatch.setattr(claim_page, "AT_A_CLAIM", 2)
    monkeypatch.setattr(intake, "AT_ONCE", 2)
    writer = make_person(db, "willa", RoleName.WORKER)
    round_id = manage.find_validation(db, REF).round_id
    (judge,) = make_judges(db, 1)
    while (page := claim_page.claim_page(db, judge, REF)) is not None:
        answer_page(db, judge, page, lambda inputs: "positive")
    with transaction(db):
        for number in range(7):
            made = attempt(writer, f"later {number} feels positive", "positive", "negative")
            db.add(Attempt(round_id=round_id, **made))
    page = claim_page.claim_page(db, judge, REF)
    assert page is not None
    assert len(page.items) == 2
    assert counts(db)[0] == TEXTS + 2
    seen = manage.find_validation(db, REF).seen_to
    run_all(workspace.session, workspace.blobs, {intake.JOB: prepare.take_in})
    assert counts(db) == (TEXTS + 7, 5 * (TEXTS + 7))
    assert manage.find_validation(db, REF).seen_to != seen
    answer_page(db, judge, page, lambda inputs: "positive")
    page = claim_page.claim_page(db, judge, REF)
    assert page is not None
    assert len(page.items) == 5


def test_taking_in_leaves_out_what_was_retracted_meanwhile(
    db: Session, workspace: Workspace, owner: Actor, opened: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attempt that is taken back between the look and the writing does not come in."""
    run_all(workspace.session, workspace.blobs, job_handlers())
    writer = make_person(db, "willa", RoleName.WORKER)
    validation = manage.find_validation(db, REF)
    with transaction(db):
        late = Attempt(round_id=validation.round_id, **attempt(writer, "gone again", "positive", "negative"))
        db.add(late)
    look = intake.draw_often  # between the look and the writing

    def retract(*given: Any) -> dict[str, int]:
        with transaction(db):
            db.add(AttemptNote(attempt_id=late.id, user_id=writer.user_id, kind="retracted"))
        return look(*given)

    assert [one.id for one in intake.new_attempts(db, validation, since=validation.seen_to)] == [late.id]
    monkeypatch.setattr(intake, "draw_often", retract)
    assert intake.take_attempts(db, validation).added == 0
    assert counts(db)[0] == TEXTS
    assert manage.find_validation(db, REF).seen_to != validation.seen_to


def test_who_asked_stands_in_the_record(db: Session, workspace: Workspace, owner: Actor, opened: None) -> None:
    """What a worker did because an owner asked is the owner's act, not the operator's."""
    run_all(workspace.session, workspace.blobs, job_handlers())
    (entry,) = db.scalars(select(AuditEntry).where(AuditEntry.action == "validation.prepared"))
    assert entry.actor == owner.name
