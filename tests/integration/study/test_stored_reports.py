"""Reports of much: a worker makes them, they are kept by what may be seen, and shown with their time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden, Unavailable
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.core.records.report import Report
from quintain.services.access.actors import actor_of, find_user
from quintain.services.house.job_kinds import figure_kinds, job_handlers
from quintain.services.jobs import figures, queue
from quintain.services.jobs.running import run_all
from quintain.services.models.registry import set_visibility
from quintain.services.study import stored_reports
from quintain.services.study.models import models_report
from quintain.services.study.reports import ReportRequest, make_report
from quintain.services.study.stored_reports import FIGURES, PENDING, shown_report
from quintain.services.validate.judging.retraction import stop_judging
from quintain.store.database import transaction
from quintain.store.tables import Attempt, AttemptNote
from tests.integration.jobs.test_exports import at_work
from tests.studied import studied_workspace
from tests.web_support import browser_of, copy_demo, made_once, on_one_line, running, token_for

MODELS = ReportRequest("mood", "models")
COMPARE = ReportRequest("mood", "compare", (1,), ("old",))
RELABEL = ReportRequest("mood", "relabel", validation="1")


@pytest.fixture
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with a judged round and a validation, of its own for each test."""
    workspace = made_once(tmp_path_factory, "studied", studied_workspace, login_attempts=1000)
    yield workspace
    workspace.close()


@pytest.fixture
def evaluated(evaluated_site: Workspace, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with two models that have been run, to change."""
    workspace = copy_demo(evaluated_site, tmp_path / "evaluated")
    yield workspace
    workspace.close()


@pytest.fixture
def much(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is so much to read that every report is left to workers."""
    monkeypatch.setattr(figures, "REST", 0.0)  # nor does the next one wait for the machine to rest
    monkeypatch.setattr(stored_reports, "FIGURES", {name: replace(one, at_once=-1) for name, one in FIGURES.items()})


def person(db: Session, name: str) -> Actor:
    """Give the person called *name*."""
    return actor_of(db, find_user(db, name))


def work(workspace: Workspace, db: Session) -> int:
    """Do what waits, and have *db* see what came of it."""
    db.rollback()
    done = run_all(workspace.session, workspace.blobs, job_handlers())
    db.rollback()
    return done


def reports_asked(db: Session) -> int:
    """Count the jobs that make reports; the server has others done beside them."""
    return sum(one.kind.startswith("figure:report") for one in queue.list_jobs(db, OPERATOR).jobs)


def take_back(db: Session) -> None:
    """Have a text of a round taken back."""
    with transaction(db):
        attempt = db.scalars(select(Attempt)).first()
        assert attempt is not None
        db.add(AttemptNote(attempt_id=attempt.id, user_id=attempt.user_id, kind="retracted"))
        db.flush()
        stop_judging(db, attempt.id)


@pytest.mark.parametrize("wanted", [COMPARE, RELABEL, ReportRequest("mood", "workers", validation="1")])
def test_a_small_site_is_always_up_to_date(judged: Workspace, wanted: ReportRequest) -> None:
    """Of few facts a report is made while somebody waits, and knows what has just happened; no worker is asked."""
    with judged.session() as db:
        before = shown_report(db, judged.blobs, OPERATOR, wanted)
        assert before.fresh
        assert before.report == make_report(db, judged.blobs, OPERATOR, wanted)
        take_back(db)
        after = shown_report(db, judged.blobs, OPERATOR, wanted)
        assert after.report == make_report(db, judged.blobs, OPERATOR, wanted)
        assert after.report != before.report
        assert queue.list_jobs(db, OPERATOR).jobs == ()


@pytest.mark.usefixtures("much")
@pytest.mark.parametrize("wanted", [COMPARE, RELABEL, ReportRequest("mood", "workers", validation="1")])
def test_a_worker_makes_a_large_report_once(judged: Workspace, wanted: ReportRequest) -> None:
    """The first look asks for it, the next ones wait for the same; it is what a command makes, until facts arrive."""
    with judged.session() as db:
        first = shown_report(db, judged.blobs, OPERATOR, wanted)
        assert (first.report, first.fresh) == (None, False)
        with pytest.raises(Unavailable, match="is being made") as caught:
            first.require_report()
        assert caught.value.code == PENDING
        assert shown_report(db, judged.blobs, person(db, "olga"), wanted).job == first.job
        assert work(judged, db) == 1
        made = shown_report(db, judged.blobs, person(db, "olga"), wanted)
        assert made.fresh
        assert made.report == make_report(db, judged.blobs, OPERATOR, wanted)
        assert work(judged, db) == 0
        with pytest.raises(Forbidden):
            shown_report(db, judged.blobs, person(db, "rita"), wanted)
        assert figures.check(db, judged.blobs, OPERATOR, figure_kinds()).faults == ()


@pytest.mark.usefixtures("much")
def test_a_text_that_was_taken_back_is_not_shown_any_more(judged: Workspace) -> None:
    """An older report that may quote it is held back until the next is there; one that quotes nobody is shown on."""
    workers = ReportRequest("mood", "workers", validation="1")
    with judged.session() as db:
        for wanted in (COMPARE, RELABEL, workers):
            shown_report(db, judged.blobs, OPERATOR, wanted)
        work(judged, db)
        take_back(db)
        for wanted in (COMPARE, RELABEL):
            shown = shown_report(db, judged.blobs, OPERATOR, wanted)
            assert (shown.report, shown.fresh) == (None, False)
        outrun = shown_report(db, judged.blobs, OPERATOR, workers)
        assert not outrun.fresh
        assert as_of(outrun.report).endswith("UTC; more has come in since")


def as_of(report: Report | None) -> str:
    """Give what a report says of its time; nothing where it is up to date."""
    return "".join(one.value for one in report.facts if one.title == "As of") if report else ""


@pytest.mark.usefixtures("much")
def test_everybody_shares_the_report_on_models(evaluated: Workspace) -> None:
    """All who see the same share one job; owners see more; who has a private model has a report of their own."""
    with evaluated.session() as db:
        jobs = {
            name: shown_report(db, evaluated.blobs, actor, MODELS).job
            for name, actor in {"nobody": ANONYMOUS, "boris": person(db, "boris"), "olga": person(db, "olga")}.items()
        }
        assert jobs["nobody"] == jobs["boris"] != jobs["olga"]
        work(evaluated, db)
        for actor in (ANONYMOUS, person(db, "olga")):
            shown = shown_report(db, evaluated.blobs, actor, MODELS)
            assert shown.report == models_report(db, evaluated.blobs, actor, "mood")
        set_visibility(db, OPERATOR, "mood/brittle", "private")
        assert shown_report(db, evaluated.blobs, ANONYMOUS, MODELS).report is None  # it would name the model
        assert as_of(shown_report(db, evaluated.blobs, person(db, "olga"), MODELS).report)
        assert shown_report(db, evaluated.blobs, person(db, "bert"), MODELS).report is None
        work(evaluated, db)
        for actor in (ANONYMOUS, person(db, "bert"), person(db, "olga")):
            shown = shown_report(db, evaluated.blobs, actor, MODELS)
            assert shown.report == models_report(db, evaluated.blobs, actor, "mood")


@pytest.mark.usefixtures("much")
def test_anybody_starts_no_more_than_one_report(evaluated: Workspace) -> None:
    """A seed makes another report: of much, only owners choose it. What the kind does not ask for makes no other."""
    with evaluated.session() as db:
        with pytest.raises(Forbidden, match="choose the seed"):
            shown_report(db, evaluated.blobs, ANONYMOUS, replace(MODELS, seed=1))
        for more in ({"rounds": (1, 2)}, {"harvests": ("x",)}, {"validation": "y"}):
            shown_report(db, evaluated.blobs, ANONYMOUS, replace(MODELS, **more))
        assert reports_asked(db) == 1
        shown_report(db, evaluated.blobs, person(db, "olga"), replace(MODELS, seed=1))
        assert reports_asked(db) == 2


def test_of_few_runs_anybody_may_choose_the_seed(evaluated: Workspace) -> None:
    """A small report is made at once, whatever is asked for, and nothing of it is kept."""
    with evaluated.session() as db:
        shown = shown_report(db, evaluated.blobs, ANONYMOUS, replace(MODELS, seed=1))
        assert shown.report == models_report(db, evaluated.blobs, ANONYMOUS, "mood", seed=1)


@pytest.mark.usefixtures("much")
def test_what_cannot_be_made_is_refused_before_a_worker_is_asked(judged: Workspace) -> None:
    """A missing choice, names that are too long together: no job is there afterwards."""
    wrong = [replace(COMPARE, rounds=(), harvests=()), replace(RELABEL, validation=""), replace(COMPARE, seed=10**250)]
    with judged.session() as db:
        for wanted in wrong:
            with pytest.raises(BadInput):
                shown_report(db, judged.blobs, OPERATOR, wanted)
        assert queue.list_jobs(db, OPERATOR).jobs == ()


@pytest.mark.usefixtures("much")
def test_a_report_that_fails_says_why(judged: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits hears of it, and the next attempt is on its way."""

    def fail(*_: object) -> Report:
        raise BadInput("These are 99 groups of texts.")

    monkeypatch.setattr(stored_reports, "make_report", fail)
    with judged.session() as db:
        shown_report(db, judged.blobs, OPERATOR, COMPARE)
        work(judged, db)
        shown = shown_report(db, judged.blobs, OPERATOR, COMPARE)
        with pytest.raises(Unavailable, match="could not be made: These are 99 groups"):
            shown.require_report()
        assert [one.state for one in queue.list_jobs(db, OPERATOR).jobs] == ["queued", "failed"]


@pytest.mark.usefixtures("much")
def test_a_page_follows_the_job(judged: Workspace) -> None:
    """It says that a worker makes the report, looks again by itself, and has the report and its files then."""
    browser = browser_of(judged, "olga")
    address = "/tasks/mood/reports/compare?rounds=1&harvests=old"
    waiting = browser.get(address)
    assert "A report on its way" in waiting.text
    assert 'hx-get="/tasks/mood/reports/compare?rounds=1&amp;harvests=old"' in waiting.text
    assert browser.get(address.replace("compare?", "compare/download?")).status_code == 503
    listed = on_one_line(browser.get("/jobs"))
    assert '<a href="/tasks/mood/reports/compare?rounds=1&amp;harvests=old">' in listed
    with judged.session() as db:
        work(judged, db)
    there = browser.get(address).text
    assert "in 100.0% of pairs" in there
    assert "hx-trigger" not in there.partition("<main")[2]
    assert browser.get(address.replace("compare?", "compare/download?")).status_code == 200


@pytest.mark.usefixtures("much")
def test_the_client_waits_for_a_report(judged: Workspace, tmp_path: Path) -> None:
    """Meanwhile the server answers 202 with where it will be, to whoever may ask; then it is a record, or a file."""
    anybody = browser_of(judged)
    waiting = anybody.get("/api/v1/tasks/mood/reports/models")
    assert (waiting.status_code, waiting.headers["location"]) == (202, "/api/v1/tasks/mood/reports/models")
    with running(judged) as url, Client(url, token_for(judged, "olga")) as client, at_work(judged, job_handlers()):
        assert client.report("mood", "relabel", validation="old").key == "relabel"
        kept = client.download_report("mood", "compare", tmp_path / "r.html", rounds=[1], harvests=["old"])
        assert "data-spec" in kept.read_text()
    assert anybody.get("/api/v1/tasks/mood/reports/models").json()["key"] == "models"
