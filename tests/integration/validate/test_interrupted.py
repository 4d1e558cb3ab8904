"""A worker that is killed, and a disk that is full: facts stay whole, pages answer, and the work is taken up again."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, func, select, text, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Unavailable
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.validation import ValidationState
from quintain.services.access.links import make_link, redeem_link
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_all
from quintain.services.validate.console import intake, manage, prepare
from quintain.services.validate.quality import review, validation_figures
from quintain.settings import Settings
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.tables import (
    Attempt,
    AuditEntry,
    ItemFigure,
    Job,
    Judgement,
    JudgeStanding,
    ValidationItem,
    ValidationReview,
)
from tests import judged_rounds
from tests.people import make_person
from tests.validation_support import REF, judge_all, make_ground, make_judges, truth
from tests.web_support import PASSWORD, browser_of

ATTEMPTS = 60
# A worker that is killed when it has set judgements aside and is about to write its review down.
DYING = """
import os, sys
from pathlib import Path
from quintain.compose import create_workspace
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs import running
from quintain.services.validate.quality import review
from quintain.settings import Settings
review._summary = lambda *given: os._exit(9)
workspace = create_workspace(Settings(workspace=Path(sys.argv[1]), database_url=sys.argv[2]))
running.run_all(workspace.session, workspace.blobs, job_handlers())
"""


def count(db: Session, table: Any) -> int:
    """Count the rows of a table, as they are now."""
    db.rollback()
    return db.scalar(select(func.count()).select_from(table)) or 0


def let_leases_run_out(db: Session) -> None:
    """Have every job that a worker held be free again."""
    with transaction(db):
        held = update(Job).where(Job.state == "running")
        db.execute(held.values(lease_until=now() - timedelta(seconds=1)).execution_options(synchronize_session=False))


def test_a_review_whose_worker_is_killed_is_made_up_for(
    db: Session, workspace: Workspace, settings: Settings, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge who was caught is set aside once, and there is one review, by the owner who asked for it."""
    monkeypatch.setattr(validation_figures, "VALIDATION", replace(validation_figures.VALIDATION, at_once=0))
    rule = 'automatic = true\n[[rules]]\nrule = "disagreement"\nlimit = 0.5\nleast = 5\n'
    make_ground(db, owner, 12, rule)
    judge_all(db, make_judges(db, 5), [truth, truth, truth, truth, lambda inputs: "mixed"])
    with transaction(db):
        db.execute(update(Job).values(state="cancelled").execution_options(synchronize_session=False))
    reviews, standings, given = count(db, ValidationReview), count(db, JudgeStanding), count(db, Judgement)
    review.ask_review(db, owner, REF)
    place = [str(settings.workspace), db.get_bind().engine.url.render_as_string(False)]
    assert subprocess.run([sys.executable, "-c", DYING, *place], check=False, timeout=120).returncode == 9
    assert (count(db, ValidationReview), count(db, Judgement)) == (reviews, given)
    assert count(db, JudgeStanding) == standings + 1
    let_leases_run_out(db)
    run_all(workspace.session, workspace.blobs, job_handlers())
    assert count(db, ValidationReview) == reviews + 1
    assert count(db, JudgeStanding) == standings + 1
    by = db.scalars(select(AuditEntry.actor).where(AuditEntry.action == "validation.review")).all()
    assert by[-1] == owner.name


@contextmanager
def full_disk(workspace: Workspace) -> Iterator[None]:
    """A database that cannot grow by a page."""

    def stop_growing(connection: Any, record: Any) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # that is, as large as it is

    event.listen(workspace.engine, "connect", stop_growing)
    workspace.engine.dispose()
    try:
        yield
    finally:
        event.remove(workspace.engine, "connect", stop_growing)
        workspace.engine.dispose()


def shrink(workspace: Workspace) -> None:
    """Leave no room in the pages that there are: they get so small that a table of some rows needs more of them."""
    workspace.engine.dispose()
    file = workspace.engine.url.database
    assert file
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for step in ("PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM"):
            connection.execute(step)


@pytest.fixture
def on_sqlite(db: Session) -> None:
    """Only SQLite can be told how large it may get."""
    if db.get_bind().dialect.name != "sqlite":
        pytest.skip("the disk of a PostgreSQL server is its own")


def test_opening_goes_on_when_the_disk_has_room_again(
    db: Session, workspace: Workspace, owner: Actor, on_sqlite: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job says what is the matter, no attempt is lost, the console answers; asked again, it takes all in."""
    monkeypatch.setattr(intake, "AT_ONCE", 10)
    monkeypatch.setattr(prepare, "AT_A_TIME", 20)
    writer = make_person(db, "wanda", RoleName.WORKER)
    texts = [f"{number} feels positive {'very ' * 60}" for number in range(ATTEMPTS)]
    made = [judged_rounds.attempt(writer, one, "positive", "negative") for one in texts]
    judged_rounds.make_round(db, owner, made)
    redeem_link(db, make_link(db, OPERATOR, owner.name).token, PASSWORD)
    client = browser_of(workspace, owner.name)
    ref = judged_rounds.REF
    page = f"/tasks/{ref.partition('/')[0]}/validation/{ref.partition('/')[2]}"
    db.close()
    with full_disk(workspace):
        with suppress(Unavailable):
            run_all(workspace.session, workspace.blobs, {prepare.PREPARE: prepare.prepare})
        assert client.get(page).status_code == 200
        assert count(db, Attempt) == ATTEMPTS
        assert count(db, ValidationItem) < ATTEMPTS
        assert db.scalar(text("PRAGMA integrity_check")) == "ok"
        db.close()
    let_leases_run_out(db)
    manage.open_validation(db, owner, ref)
    run_all(workspace.session, workspace.blobs, job_handlers())
    assert count(db, ValidationItem) == ATTEMPTS
    assert manage.find_validation(db, ref).state is ValidationState.OPEN


def test_the_console_answers_on_a_full_disk(db: Session, workspace: Workspace, owner: Actor, on_sqlite: None) -> None:
    """Figures that cannot be kept are shown all the same, and are kept when there is room."""
    make_ground(db, owner, 40, "[gold]\nrate = 0")
    judge_all(db, make_judges(db, 5))
    redeem_link(db, make_link(db, OPERATOR, owner.name).token, PASSWORD)
    client = browser_of(workspace, owner.name)
    task, _, name = REF.partition("/")
    with transaction(db):
        db.execute(text("DELETE FROM item_figures"))
        db.execute(text("DELETE FROM kept_figures"))
    given = count(db, Judgement)
    db.close()
    shrink(workspace)
    with full_disk(workspace):
        page = client.get(f"/tasks/{task}/validation/{name}")
        assert page.status_code == 200
        assert f"{given}" in page.text
        assert count(db, Judgement) == given
        assert count(db, ItemFigure) == 0
        db.close()
    assert client.get(f"/tasks/{task}/validation/{name}").status_code == 200
    assert count(db, ItemFigure) == 40
