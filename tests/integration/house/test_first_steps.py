"""The way from an empty task to its first round: each step leads to the next, and training takes one click."""

from __future__ import annotations

import threading

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.core.people import OPERATOR
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_next
from quintain.services.models import baselines
from quintain.services.models.registry import list_names
from tests.integration.data.test_import_preview import hidden, look, reviews
from tests.web_support import browser_of, csrf_of, on_one_line, post

TASK = "/tasks/hotels"


@pytest.fixture
def owner(own_demo: Workspace) -> TestClient:
    """The owner of the starter tasks."""
    return browser_of(own_demo, "demo-owner")


def make_task(owner: TestClient) -> None:
    """Make a task from a file."""
    page = look(owner, "/tasks/new/file", reviews(90), "Hotel reviews.csv").text
    data = {
        "csrf": csrf_of(owner, "/tasks/new/file"),
        "kept": hidden(page, "kept"),
        "kept_name": hidden(page, "kept_name"),
        "kind": "text-classification",
        "name": "hotels",
        "title": "Hotels",
        "language": "en",
        "column-text": "Review",
        "column-answer": "Stars",
        "value": ["1", "2", "3", "4", "5"],
        "label": ["bad", "bad", "bad", "good", "good"],
    }
    assert owner.post("/tasks/new/file", data=data).status_code == 303


def do_jobs(workspace: Workspace) -> None:
    """Do what waits, as a worker does."""
    while run_next(workspace.session, workspace.blobs, job_handlers(), "test", threading.Event()):
        pass


def test_each_step_leads_to_the_next(own_demo: Workspace, owner: TestClient) -> None:
    """Data, models, board, round: the button of the next step stands above everything else."""
    made = post(
        owner,
        "/tasks/new",
        "/tasks/new",
        as_form="1",
        kind="text-classification",
        name="hotels-0",
        title="Hotels",
        **{"label-name": ["good", "bad"], "label-gloss": ["", ""]},
    )
    assert made.status_code == 303
    assert "/tasks/hotels-0/data/import" in owner.get("/tasks/hotels-0").text
    make_task(owner)
    page = owner.get(TASK).text
    assert f'action="{TASK}/train/baselines"' in page
    assert post(owner, TASK, f"{TASK}/train/baselines").headers["location"] == TASK
    assert "being trained" in on_one_line(owner.get(TASK))
    do_jobs(own_demo)
    with own_demo.session() as db:
        names = {name for _, name in list_names(db, OPERATOR, "hotels")}
        assert names >= {"majority", "tfidf", "ngram", "lexicon"}
        with pytest.raises(Conflict, match="is there already"):
            baselines.ask_baselines(db, OPERATOR, "hotels")
    assert f'href="{TASK}/rounds/new"' in owner.get(TASK).text


def test_only_owners_see_the_steps(own_demo: Workspace, owner: TestClient) -> None:
    """A reader sees none of it, and may not train."""
    make_task(owner)
    worker = browser_of(own_demo, "demo-worker")
    assert "first-steps" not in worker.get(TASK).text
    assert post(worker, "/account", f"{TASK}/train/baselines").status_code == 403


def test_without_training_data_nothing_is_trained(own_demo: Workspace, owner: TestClient) -> None:
    """The refusal says what is missing."""
    fields = {"label-name": ["good", "bad"], "label-gloss": ["", ""]}
    post(
        owner, "/tasks/new", "/tasks/new", as_form="1", kind="text-classification", name="bare", title="Bare", **fields
    )
    with own_demo.session() as db, pytest.raises(Conflict, match="no open data to train on"):
        baselines.ask_baselines(db, OPERATOR, "bare")


def test_an_owner_sees_where_the_newest_round_stands(owner: TestClient) -> None:
    """Once there is a round, its stations and their next step stand on the first page."""
    assert "station-steps" in owner.get("/tasks/sentiment").text
