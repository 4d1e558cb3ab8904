"""Trials over HTTP: an owner runs one, people take part on their page, an expert grades; and for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import Result

import quintain as qt
from quintain.client import Client
from quintain.compose import Workspace
from quintain.data.trials import read_trial
from quintain.simulate.demo import NAME, add_trial
from tests.integration.trial.life import PLAIN, TRAINED
from tests.web_support import browser_of, copy_demo, on_one_line, post, running, token_for
from tests.write_site import begin, send


@pytest.fixture(scope="module")
def workspace(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the demo with a simulated trial."""
    made = copy_demo(demo, tmp_path_factory.mktemp("trial") / "demo")
    add_trial(made, "sentiment")
    return made


@pytest.fixture
def owner(workspace: Workspace) -> Iterator[TestClient]:
    """The owner at a browser."""
    with browser_of(workspace, "demo-owner") as client:
        yield client


@pytest.fixture
def worker(workspace: Workspace) -> Iterator[TestClient]:
    """A worker at a browser."""
    with browser_of(workspace, "demo-worker") as client:
        yield client


def test_the_report_of_the_demo_is_one_click_from_home(workspace: Workspace) -> None:
    """Whoever comes by finds the link on the card of the task, and reads the report; files of it, too."""
    with browser_of(workspace) as client:
        page = client.get("/").text
        link = f"/tasks/sentiment/trials/{NAME}/report"
        assert link in page
        report = client.get(link)
        assert report.status_code == 200
        assert "Where do people leave?" in report.text
        assert r"\toprule" in client.get(f"{link}/download?format=tex").text
        assert "simulated people" in client.get(f"/tasks/sentiment/trials/{NAME}").text
        again = client.get(f"/api/v1/tasks/sentiment/trials/{NAME}/report").json()
        assert [one["key"] for one in again["sections"]][:3] == ["results", "differences", "difficulty"]
    add_trial(workspace, "sentiment")  # a second start of the demo adds no second trial


def test_a_trial_from_beginning_to_letter(owner: TestClient, worker: TestClient) -> None:
    """The owner begins with one arm; the worker enters, is trained, writes; the owner grades and sends a letter."""
    home = "/tasks/sentiment/trials"
    for client in (owner, worker):
        assert client.get(home).status_code == 200
    refused = post(owner, home, home, name="A b", toml=TRAINED)
    assert refused.status_code == 422
    assert "a name of up to" in refused.text
    made = post(owner, home, home, name="one", title="Words of mood", toml=TRAINED)
    assert made.headers["location"] == f"{home}/one"
    place = f"{home}/one"
    assert worker.get(place).status_code == 404
    assert post(owner, place, f"{place}/open", source="", models="").status_code == 303
    page = worker.get(place).text
    assert "Take part" in page
    assert "trained" not in page
    post(worker, place, f"{place}/enter")
    step = worker.get(f"{place}/tutorial").text
    assert "Which is harder?" in step
    post(worker, f"{place}/tutorial", f"{place}/tutorial", quiz="first", step=1, answer="second")
    page = worker.get(place).text
    round_ = re.search(r"/tasks/sentiment/rounds/(\d+)/write", page)
    assert round_
    address = begin(worker, f"/tasks/sentiment/rounds/{round_[1]}")
    answer = send(worker, address, in_text="The kiln had cooled before anybody came to look.", answer="negative")
    assert "Done: thank you!" in answer.text
    assert "The kiln had cooled" in worker.get("/work").text  # no model said anything to it
    final = f"/tasks/sentiment/rounds/{int(round_[1]) + 1}"  # they have not come so far
    for path in (final, f"{final}/write", f"{final}/eligibility", f"/api/v1{final}", f"/api/v1{final}/readiness"):
        assert (owner.get(path).status_code, worker.get(path).status_code) == (200, 404), path
    assert "You have done your part for now" in worker.get(place).text
    post(owner, place, f"{place}/stage", arm="trained", stage="tutorial")
    grading = owner.get(f"{place}/grade").text
    assert "The kiln had cooled" in grading
    item = re.search(r'name="item" value="(\d+)"', grading)
    assert item
    fields = {"q-answerable": "yes", "q-reading": "whole", "q-creative": "very", "q-distractors": "yes"}
    names = "answerable,reading,creative,distractors"
    post(owner, f"{place}/grade", f"{place}/grade", stage="grades", item=item[1], questions=names, **fields)
    assert "Nothing waits for your grade now." in owner.get(f"{place}/grade").text
    assert post(owner, place, f"{place}/stage", arm="trained", stage="grades").status_code == 303
    assert f"{place}/letters/trained/qualify" in owner.get(place).text
    assert "There is no letter here." in owner.get(f"{place}/letters/trained/qualify").text  # everybody goes on
    assert post(owner, place, f"{place}/stage", arm="trained", stage="qualify").status_code == 303
    letters = f"{place}/letters/trained/feedback"
    assert "You have qualified for the next round." in owner.get(letters).text
    post(owner, letters, letters, person="demo-worker", text="A fine sentence.")
    post(owner, place, f"{place}/stage", arm="trained", stage="feedback")
    page = worker.get(place).text
    assert "A fine sentence." in page
    post(worker, place, f"{place}/reply", stage="feedback", text="Thank you!", appeal="1")
    assert "Appeal:" in owner.get(letters).text
    assert "closed" in on_one_line(owner.get(place))


def test_strangers_are_kept_out_over_http(worker: TestClient) -> None:
    """A worker sees no letters, closes no stage, and opens nothing; a trial that is none is not found.

    Nobody enters a simulated trial, which workers do not even find while a real one runs.
    """
    place = f"/tasks/sentiment/trials/{NAME}"
    assert worker.get(f"{place}/letters/crowd/feedback-1").status_code == 403
    for action in ("open", "close", "pool", "stage"):
        assert post(worker, place, f"{place}/{action}", arm="crowd", stage="tutorial").status_code == 403
    assert worker.get("/tasks/sentiment/trials/nothing").status_code == 404
    assert post(worker, place, f"{place}/enter").status_code in {404, 409}


def test_programs_do_the_same(workspace: Workspace, tmp_path: Path) -> None:
    """With the client: put, open, enter, look at one's part, leave, take all of it home, list."""
    with running(workspace) as url:
        owner = Client(url, token_for(workspace, "demo-owner"))
        made = owner.put_trial("sentiment/by-program", [PLAIN], title="Plain")
        assert (made.state, [one.name for one in made.arms]) == ("draft", ["plain"])
        assert owner.open_trial("sentiment/by-program").state == "open"
        worker = Client(url, token_for(workspace, "demo-worker"))
        assert worker.trial("sentiment/by-program").arms == []
        part = worker.enter_trial("sentiment/by-program")
        assert (part.what, part.stage, part.sessions_left) == ("work", "writing", 2)
        assert worker.leave_trial("sentiment/by-program").what == "end"
        assert owner.trial("sentiment/by-program").arms[0].people == 1
        file = owner.export_trial("sentiment/by-program", tmp_path / "by-program.json")
        assert [arm.name for arm in read_trial([file])] == ["plain"]
        with pytest.raises(qt.Forbidden):
            worker.export_trial("sentiment/by-program", tmp_path / "no.json")
        assert "by-program" in [one.name for one in worker.trials("sentiment")]


def test_commands_do_the_same(workspace: Workspace, tmp_path: Path, cli: Callable[..., Result]) -> None:
    """From the shell: put, open, status, close a stage, list, report."""
    path = tmp_path / "plain.toml"
    path.write_text(PLAIN)
    where = ("--workspace", workspace.settings.workspace, "trial")
    ref = "sentiment/by-shell"
    for command in (("put", ref, path), ("open", ref), ("close-stage", ref, "plain", "writing"), ("status", ref)):
        result = cli(*where, *command)
        assert result.exit_code == 0, result.output
    assert "closed" in result.output
    listed = json.loads(cli(*where, "list", "sentiment", "--json").stdout)
    assert {"by-shell", NAME} <= {one["name"] for one in listed}
    told = cli(*where, "report-of", f"sentiment/{NAME}", "--out", tmp_path / "report")
    assert "for a question of the final round" in told.output
    assert (tmp_path / "report" / "report.html").exists()
    assert json.loads(cli(*where, "costs", ref, "--json").stdout)["arms"][0]["arm"] == "plain"
    assert "plain" in cli(*where, "costs", ref).output
    assert cli(*where, "status", "sentiment").exit_code == 1
    assert cli(*where, "judge", ref).exit_code == 1
    assert cli(*where, "letters", ref, "plain", "writing").exit_code == 1
    assert cli(*where, "close", ref).exit_code == 0


def test_a_panel_sends_people_in_and_gets_them_back(
    workspace: Workspace, owner: TestClient, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """The owner sets doors up on the page; somebody comes, writes, and goes back with a code; programs know them."""
    home = "/tasks/sentiment/trials"
    post(owner, home, home, name="paneled", toml=PLAIN)
    place = f"{home}/paneled"
    post(owner, place, f"{place}/open", source="", models="")
    wrong = post(owner, place, f"{place}/doors", entry_provider="panel", entry_id_parameter="", batch="none")
    assert wrong.status_code == 422
    post(owner, place, f"{place}/doors", entry_provider="panel", entry_id_parameter="pid", entry_completion_code="C7")
    found = re.search(r"/enter/([\w-]+)\?pid=", owner.get(place).text)
    assert found
    with browser_of(workspace) as client:
        arrived = client.get(f"/enter/{found[1]}?pid=P5", follow_redirects=False)
        assert arrived.headers["location"] == place
        post(client, place, f"{place}/enter")
        assert "Return and finish" not in client.get(place).text
        assert client.get(f"{place}/complete").status_code == 409
        assert client.get(f"{place}/grade/complete").status_code == 404
        round_ = re.search(r"/tasks/sentiment/rounds/(\d+)/write", client.get(place).text)
        assert round_
        address = begin(client, f"/tasks/sentiment/rounds/{round_[1]}")
        send(client, address, in_text="The ferry had left before the bell was rung.", answer="negative")
        assert "Return and finish" in client.get(place).text
        assert "C7" in client.get(f"{place}/complete").text
    path = tmp_path / "doors.toml"
    path.write_text('[grading]\nprovider = "prolific"\ncompletion_code = "G1"\n')
    where = ("--workspace", workspace.settings.workspace, "trial", "doors", "sentiment/paneled")
    assert "to take part: no door" in cli(*where, path, "--yes", "--remove", "entry").output
    assert "PROLIFIC_PID" in json.loads(cli(*where, "--json").stdout)["grading"]
    with running(workspace) as url:
        program = Client(url, token_for(workspace, "demo-owner"))
        assert program.trial_doors("sentiment/paneled").entry is None
        assert program.put_trial_doors("sentiment/paneled", path.read_text()).batch == 10
