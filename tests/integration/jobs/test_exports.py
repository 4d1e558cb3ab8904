"""Long files are written by a worker and fetched from its job; short ones are sent at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import Conflict, Forbidden, NotFound, Unavailable
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.house.health import tidy
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs import exports, queue
from quintain.services.jobs.exports import ExportRequest, ask_export, stored_export
from quintain.services.jobs.running import Handlers, JobRun, keep_running, run_all
from quintain.services.validate.console import export as judged_export
from quintain.services.validate.quality.validation_figures import VALIDATION
from quintain.store.base import now
from tests.people import make_person
from tests.validation_support import REF, judge_all, make_ground, make_judges, truth
from tests.web_support import PASSWORD, browser_of, on_one_line, running, token_for

JUDGEMENTS = replace(judged_export.JUDGEMENTS_FILE, figure=replace(VALIDATION, at_once=0))
FILE = ExportRequest(JUDGEMENTS, REF, "csv")


@pytest.fixture
def database() -> str:
    """What is asked of the database is asked on both elsewhere."""
    return "sqlite"


@pytest.fixture
def owner(workspace: Workspace) -> Actor:
    """The owner of a validation of six items that two people have judged."""
    with workspace.session() as db:
        olga = make_person(db, "olga", RoleName.OWNER)
        make_ground(db, olga, 6, "automatic = false")
        judge_all(db, make_judges(db, 2), truth)
        redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    return olga


@pytest.fixture
def long_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is long."""
    monkeypatch.setattr(judged_export, "JUDGEMENTS_FILE", JUDGEMENTS)


@contextmanager
def at_work(workspace: Workspace, handlers: Handlers) -> Iterator[None]:
    """Have a worker at work."""
    stop = threading.Event()
    given = (workspace.session, workspace.blobs, handlers, "here", stop)
    worker = threading.Thread(target=keep_running, args=given)
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join()


def work(workspace: Workspace, db: Session | None = None) -> None:
    """Do what waits; what *db* reads afterwards is what has become of it."""
    if db is not None:
        db.rollback()
    run_all(workspace.session, workspace.blobs, job_handlers())


def test_a_long_file_is_written_once_and_kept(workspace: Workspace, owner: Actor, tmp_path: Path) -> None:
    """One job writes it however often it is asked for, until facts arrive; it is the file that a command writes."""
    with workspace.session() as db:
        first = ask_export(db, workspace.blobs, owner, FILE)
        assert first is not None
        assert ask_export(db, workspace.blobs, owner, FILE) == first
        with pytest.raises(Conflict, match="not written yet"):
            stored_export(db, workspace.blobs, owner, first.id)
        work(workspace, db)
        found = stored_export(db, workspace.blobs, owner, first.id)
        assert found.name == f"{REF.replace('/', '-')}-judgements.csv"
        rows = judged_export.export_judgements(db, owner, REF, tmp_path / "same.csv")
        assert found.path.read_bytes() == (tmp_path / "same.csv").read_bytes()
        again = ask_export(db, workspace.blobs, owner, FILE)
        assert again is not None
        assert (again.id, again.result["rows"], again.done) == (first.id, rows, rows)
        judge_all(db, make_judges(db, 1, "late"), truth)
        newer = ask_export(db, workspace.blobs, owner, FILE)
    assert newer is not None
    assert newer.id != first.id


def test_only_owners_get_the_file_and_only_for_a_day(workspace: Workspace, owner: Actor) -> None:
    """Who is no owner any more gets nothing of what they asked for; a day later nobody does, and no backup has it."""
    with workspace.session() as db:
        other = make_person(db, "otto", RoleName.WORKER)
        with pytest.raises(Forbidden):
            ask_export(db, workspace.blobs, other, FILE)
        job = ask_export(db, workspace.blobs, owner, FILE)
        assert job is not None
        work(workspace, db)
        with pytest.raises(Forbidden):
            stored_export(db, workspace.blobs, replace(owner, grants=frozenset()), job.id)
        with pytest.raises(NotFound):
            stored_export(db, workspace.blobs, other, job.id)
        kept = workspace.blobs.passing(queue.get_job(db, owner, job.id).result["kept"])
        assert kept is not None
        assert workspace.blobs.keys() == []
        workspace.blobs.drop_passing(now() - exports.KEPT)
        assert kept.exists()
        workspace.blobs.drop_passing(now() + timedelta(seconds=1))
        with pytest.raises(NotFound, match="thrown away"):
            stored_export(db, workspace.blobs, owner, job.id)
        anew = ask_export(db, workspace.blobs, owner, FILE)
    assert anew is not None
    assert anew.id != job.id


@pytest.mark.usefixtures("long_files")
def test_a_page_follows_the_job_and_gives_the_file(workspace: Workspace, owner: Actor) -> None:
    """The button leads to the job's page, which has the file once it is written, and says so when it is gone."""
    browser = browser_of(workspace, owner.name)
    task, _, name = REF.partition("/")
    page = browser.get(f"/tasks/{task}/validation/{name}/export?form=csv", follow_redirects=True)
    assert "A worker writes the file" in page.text
    assert 'hx-trigger="every 2s"' in page.text
    work(workspace)
    page = browser.get(page.url.path)
    assert "12 rows" in on_one_line(page)
    assert "hx-trigger" not in page.text
    sent = browser.get(f"{page.url.path}/file")
    assert sent.text.startswith("item,worker,label")
    assert sent.headers["content-disposition"].endswith('-judgements.csv"')
    workspace.blobs.drop_passing(now() + timedelta(seconds=1))
    assert "was thrown away" in browser.get(page.url.path).text
    assert browser.get(f"{page.url.path}/file").status_code == 404
    assert browser.get(f"/tasks/{task}/validation/{name}/export?form=xls").status_code == 422


@pytest.mark.usefixtures("long_files")
def test_a_client_waits_for_the_file(workspace: Workspace, owner: Actor, tmp_path: Path) -> None:
    """A program gets 202 and where the file will be; the client waits and writes it."""
    with (
        at_work(workspace, job_handlers()),
        running(workspace) as url,
        Client(url, token_for(workspace, owner.name)) as client,
    ):
        client.download_judgements(REF, tmp_path / "judged.csv")
        client.download_labels(REF, tmp_path / "labels.csv")  # short: sent at once
    assert len((tmp_path / "judged.csv").read_text().splitlines()) == 13
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 7
    assert sorted(one.name for one in tmp_path.glob("*.csv")) == ["judged.csv", "labels.csv"]
    browser = browser_of(workspace, owner.name)
    task, _, name = REF.partition("/")
    answer = browser.get(f"/api/v1/tasks/{task}/validations/{name}/judgements?format=csv")
    assert (answer.status_code, answer.json()["state"]) == (202, "done")
    assert browser.get(answer.headers["location"]).text == (tmp_path / "judged.csv").read_text()


@pytest.mark.usefixtures("long_files")
def test_a_client_hears_that_the_file_was_not_written(workspace: Workspace, owner: Actor, tmp_path: Path) -> None:
    """A job that fails ends the waiting, with its reason, and leaves no file."""

    def fail(run: JobRun) -> None:
        raise Unavailable("The disk is full.")

    with (
        at_work(workspace, {JUDGEMENTS.job: fail}),
        running(workspace) as url,
        Client(url, token_for(workspace, owner.name)) as client,
        pytest.raises(Unavailable, match="The disk is full"),
    ):
        client.download_judgements(REF, tmp_path / "judged.csv")
    assert list(tmp_path.glob("*judged*")) == []


def test_tidying_throws_old_files_away(workspace: Workspace, owner: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """What servers do now and then removes files that nobody fetched, also where no worker writes another one."""
    with workspace.session() as db:
        job = ask_export(db, workspace.blobs, owner, FILE)
        assert job is not None
        work(workspace, db)
        tidy(db, workspace.blobs)
        assert exports.is_stored(workspace.blobs, queue.get_job(db, owner, job.id))
        monkeypatch.setattr(exports, "KEPT", timedelta(seconds=-1))
        tidy(db, workspace.blobs)
        assert not exports.is_stored(workspace.blobs, queue.get_job(db, owner, job.id))
