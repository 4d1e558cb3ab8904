"""Releases of much: a worker looks at them and makes them, briefly in the way of others, and never by half."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import Conflict, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.jobs import JobStanding
from quintain.core.release import ReleaseSpec
from quintain.services.access.links import make_link, redeem_link
from quintain.services.data.datasets import list_versions
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs import queue
from quintain.services.jobs.running import run_all
from quintain.services.release import bundle, release_jobs, releases
from quintain.services.release.release_jobs import ask_release, queued_release
from quintain.services.validate.quality import judge_figures
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.validate import judgements as judgement_queries
from quintain.store.tables import Attempt, AttemptNote, Dataset, Job, ReleaseRow
from tests.integration.jobs.test_exports import at_work
from tests.people import make_person
from tests.released import REF, judged_round, mood_items
from tests.web_support import PASSWORD, browser_of, on_one_line, running, token_for

SPEC = ReleaseSpec(dev=18, test=18, checked=(), even=(), writers="any")
TOML = 'dev = 18\ntest = 18\nchecked = []\neven = []\nwriters = "any"'
HOME = "/tasks/mood/validation/1/release"
FORM = {"dev": "18", "test": "18", "writers": "any"}


@pytest.fixture
def judged(workspace: Workspace, db: Session, owner: Actor) -> Workspace:
    """A workspace with a judged round; its owner has a password."""
    judged_round(db, owner, mood_items(5))
    redeem_link(db, make_link(db, OPERATOR, owner.name).token, PASSWORD)
    db.commit()
    return workspace


@pytest.fixture
def much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that was judged is much, and every file long."""
    monkeypatch.setattr(release_jobs, "is_large", lambda db, validation: True)
    long = replace(bundle.BUNDLE_FILE, figure=replace(bundle.BUNDLE_FILE.figure, at_once=0))
    monkeypatch.setattr(bundle, "BUNDLE_FILE", long)


def work(workspace: Workspace, db: Session) -> int:
    """Do what waits, and have *db* see what came of it."""
    db.rollback()
    done = run_all(workspace.session, workspace.blobs, job_handlers())
    db.rollback()
    return done


def asked(db: Session, owner: Actor, *, look: bool = False) -> JobStanding:
    """Ask a worker for a release."""
    job = ask_release(db, owner, REF, SPEC, preview_only=look)
    assert job is not None
    return job


def test_judgements_are_read_once(
    judged: Workspace, db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking reads them a single time, and making a release no second time while others wait."""
    read = judgement_queries.table
    times = []

    def counting(within: Session, validation: int) -> Any:
        times.append(bool(within.info.get("in_transaction")))
        return read(within, validation)

    monkeypatch.setattr(judge_figures.queries, "table", counting)
    looked = releases.preview(db, judged.blobs, owner, REF, SPEC)
    assert times == [False]
    made = releases.release(db, judged.blobs, owner, REF, SPEC)
    assert times == [False, False]
    assert made.report == looked.report


def test_files_are_written_while_nobody_waits(
    judged: Workspace, db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No blob is put away inside of the transaction that keeps the versions."""
    put, within = judged.blobs.put_file, []

    def watched(path: Path) -> str:
        within.append(bool(db.info.get("in_transaction")))
        return put(path)

    monkeypatch.setattr(judged.blobs, "put_file", watched)
    releases.release(db, judged.blobs, owner, REF, SPEC)
    assert within == [False, False, False]


def test_only_what_is_released_may_not_change(
    judged: Workspace, db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tag on a text of the release stands in its way; what else writers say meanwhile does not."""
    solved = releases.plan_splits
    attempt = db.scalars(select(Attempt)).first()
    assert attempt is not None
    known = {"attempt_id": attempt.id, "user_id": attempt.user_id}

    def meanwhile(note: AttemptNote) -> Any:
        def plan(candidates: Any, spec: ReleaseSpec) -> Any:
            found = solved(candidates, spec)
            with judged.session() as other, transaction(other):
                other.add(note)
            return found

        return plan

    db.rollback()
    monkeypatch.setattr(releases, "plan_splits", meanwhile(AttemptNote(**known, kind="tags", tags=["x"])))
    with pytest.raises(Conflict, match="changed in the meantime"):
        releases.release(db, judged.blobs, owner, REF, SPEC)
    assert list_versions(db, owner) == []
    other_note = AttemptNote(**known, kind="explanation", text="because")
    monkeypatch.setattr(releases, "plan_splits", meanwhile(other_note))
    assert releases.release(db, judged.blobs, owner, REF, SPEC).number == 1


@pytest.mark.usefixtures("much")
def test_a_worker_looks_and_releases(judged: Workspace, db: Session, owner: Actor) -> None:
    """Both are asked for once, and give what is given at once of little; a second release is the first one."""
    job = asked(db, owner, look=True)
    assert asked(db, owner, look=True) == job
    with pytest.raises(Conflict, match="not ready yet"):
        release_jobs.require_release(queued_release(db, judged.blobs, owner, REF, job.id))
    assert work(judged, db) == 1
    looked = queued_release(db, judged.blobs, owner, REF, job.id)
    assert looked.spec == SPEC
    assert release_jobs.require_release(looked).number is None
    assert release_jobs.require_release(looked).report == releases.preview(db, judged.blobs, owner, REF, SPEC).report
    assert list_versions(db, owner) == []
    first = asked(db, owner)
    work(judged, db)
    made = release_jobs.require_release(queued_release(db, judged.blobs, owner, REF, first.id))
    assert (made.number, made.new) == (1, True)
    again = asked(db, owner)
    work(judged, db)
    same = release_jobs.require_release(queued_release(db, judged.blobs, owner, REF, again.id))
    assert (same.number, same.new, same.versions) == (1, False, made.versions)
    judged.blobs.drop_passing(now() + timedelta(seconds=1))
    with pytest.raises(NotFound, match="thrown away"):
        release_jobs.require_release(queued_release(db, judged.blobs, owner, REF, job.id))


@pytest.mark.usefixtures("much")
def test_only_owners_ask_a_worker(judged: Workspace, db: Session, owner: Actor) -> None:
    """Nobody else has it done or sees what came of it, and no job of another kind passes for one."""
    stranger = make_person(db, "sid", RoleName.WORKER)
    with pytest.raises(Forbidden):
        ask_release(db, stranger, REF, SPEC, preview_only=True)
    job = asked(db, owner, look=True)
    with pytest.raises(NotFound):
        queued_release(db, judged.blobs, stranger, REF, job.id)
    other = queue.enqueue(db, "study", "mood rounds/1", task="mood")
    with pytest.raises(NotFound, match="makes no release"):
        queued_release(db, judged.blobs, owner, REF, other.id)


@contextmanager
def killed(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, *, after: bool) -> Iterator[None]:
    """Have the worker die as it comes to a function, or has just come from it."""
    done = getattr(module, name)

    def die(*given: Any, **named: Any) -> Any:
        if after:
            done(*given, **named)
        raise SystemExit

    with monkeypatch.context() as deadly:
        deadly.setattr(module, name, die)
        with pytest.raises(SystemExit):
            yield


@pytest.mark.both_databases
@pytest.mark.usefixtures("much")
@pytest.mark.parametrize(
    ("module", "name", "after", "there"),
    [
        (releases, "write_made", True, 0),  # between two files
        (releases, "transaction", False, 0),  # all files are written, and nothing is kept
        (releases, "_recorded", True, 0),  # before the end of the transaction
        (release_jobs, "release", True, 1),  # all is kept, and nobody was told
    ],
)
def test_a_worker_that_dies_leaves_all_or_nothing(
    judged: Workspace,
    db: Session,
    owner: Actor,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    after: bool,
    there: int,
) -> None:
    """Wherever it dies, there is no release or the whole of it; the next worker ends with one."""
    job = asked(db, owner)
    with killed(monkeypatch, module, name, after=after):
        work(judged, db)
    db.rollback()
    assert db.scalar(select(func.count()).select_from(ReleaseRow)) == there
    assert db.scalar(select(func.count()).select_from(Dataset)) == 3 * there
    with transaction(db):
        db.execute(update(Job).values(lease_until=now() - timedelta(seconds=1)))
    assert work(judged, db) == 1
    made = release_jobs.require_release(queued_release(db, judged.blobs, owner, REF, job.id))
    assert (made.number, made.new) == (1, not there)
    assert len(list_versions(db, owner)) == 3


@pytest.mark.usefixtures("much")
def test_a_cancelled_release_is_not_made(
    judged: Workspace, db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelling while a worker has everything ready leaves nothing behind."""
    job, written = asked(db, owner), releases._written

    def meanwhile(*given: Any) -> Any:
        found = written(*given)
        with judged.session() as other:
            queue.cancel(other, owner, job.id)
        given[0].rollback()
        return found

    monkeypatch.setattr(releases, "_written", meanwhile)
    work(judged, db)
    assert queued_release(db, judged.blobs, owner, REF, job.id).job.state == "cancelled"
    assert list_versions(db, owner) == []


@pytest.mark.usefixtures("much")
def test_what_cannot_be_released_is_said_where_it_was_asked(judged: Workspace, db: Session, owner: Actor) -> None:
    """The page that follows the job has the reason, with what would work; the API refuses with it."""
    job = ask_release(db, owner, REF, replace(SPEC, dev=900, test=900), preview_only=True)
    assert job is not None
    work(judged, db)
    page = browser_of(judged, owner.name).get(f"{HOME}?job={job.id}")
    assert 'value="900"' in page.text
    assert "at most dev" in page.text
    with pytest.raises(Conflict, match="at most dev"):
        release_jobs.require_release(queued_release(db, judged.blobs, owner, REF, job.id))


@pytest.mark.usefixtures("much")
def test_pages_follow_the_worker(judged: Workspace, db: Session, owner: Actor) -> None:
    """Looking leads to a page with the progress, then to what it would be; releasing to the release and its ZIP."""
    browser = browser_of(judged, owner.name)
    token = {"csrf": browser.get(HOME).text.partition('name="csrf" value="')[2].partition('"')[0]}
    answer = browser.post(HOME, data={**token, **FORM})
    assert answer.status_code == 303
    place = answer.headers["location"]
    waiting = browser.get(place)
    assert 'hx-trigger="every 2s"' in waiting.text
    assert 'value="18"' in waiting.text
    assert "hx-refresh" not in browser.get(f"{place}&following=1").headers
    work(judged, db)
    assert browser.get(f"{place}&following=1").headers["hx-refresh"] == "true"
    looked = browser.get(place)
    assert "What it would be" in looked.text
    assert 'name="release" value="on"' in looked.text
    answer = browser.post(HOME, data={**token, **FORM, "release": "on"})
    work(judged, db)
    assert "Released." in on_one_line(browser.get(answer.headers["location"]))
    to_job = browser.get(f"{HOME}/1/bundle.zip")
    assert to_job.status_code == 303
    work(judged, db)
    sent = browser.get(f"{to_job.headers['location']}/file")
    assert sent.content[:2] == b"PK"
    assert sent.headers["content-type"] == "application/zip"
    assert sent.headers["content-disposition"].endswith('"mood-1-release-1-bundle.zip"')
    listed = on_one_line(browser.get("/jobs"))
    assert f'href="{answer.headers["location"]}"' in listed


@pytest.mark.usefixtures("much")
def test_the_client_waits_for_the_worker(judged: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """A look, a release and its ZIP come back as they do of little."""
    db.rollback()
    token = token_for(judged, owner.name)
    with running(judged) as url, Client(url, token) as client, at_work(judged, job_handlers()):
        looked = client.preview_release(REF, TOML)
        made = client.make_release(REF, TOML)
        kept = client.download_release(REF, 1, tmp_path / "all.zip")
    assert (looked.number, made.number) == (None, 1)
    assert looked.report == made.report
    assert kept.read_bytes()[:2] == b"PK"
