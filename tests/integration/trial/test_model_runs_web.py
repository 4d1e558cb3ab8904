"""Models on a trial's items by page, for programs and by command."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.client import Client
from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.jobs.figures import handler_of
from quintain.services.jobs.running import run_all as run_jobs
from quintain.services.trial import stored_report
from quintain.settings import Settings
from tests.integration.trial.modelled import begin, judge, run_all
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, on_one_line, post, running, token_for

PLACE = "/tasks/mood/trials/words"


def site(folder: Path) -> Workspace:
    """Make a workspace in which a trial has been written, with an owner who has a password."""
    made = create_workspace(Settings(workspace=folder / "site", login_attempts=1000))
    with made.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
        begin(db, made.blobs, owner, folder)
    return made


def judge_pool(workspace: Workspace) -> None:
    """Let everything be judged."""
    with workspace.session() as db:
        judge(db, OPERATOR)


def run_queued(workspace: Workspace, folder: Path) -> None:
    """Let a worker do what waits."""
    with workspace.session() as db:
        run_all(db, workspace, folder)


def refuse_too_early(client: TestClient) -> None:
    """Models are not asked before judging is over, and the page says why."""
    assert "Run the models on it" not in client.get(PLACE).text
    post(client, PLACE, f"{PLACE}/pool")
    refused = post(client, PLACE, f"{PLACE}/models", models="")
    assert refused.status_code == 409
    assert "16 items of mood/trial-words still wait for judgements." in on_one_line(refused)


def test_an_owner_runs_models_on_every_surface(tmp_path: Path, cli: Callable[..., Result]) -> None:
    """The page says what waits and how far each is; client and commands do the same; the report has the models."""
    workspace = site(tmp_path)
    at = ("--workspace", str(workspace.settings.workspace))
    with browser_of(workspace, "olga") as client:
        refuse_too_early(client)
        judge_pool(workspace)
        unknown = post(client, PLACE, f"{PLACE}/models", models="mood/absent")
        assert unknown.status_code == 404
        assert 'value="mood/absent"' in unknown.text
        asked = post(client, PLACE, f"{PLACE}/models", models="lexicon")
        assert asked.status_code == 303
        page = on_one_line(client.get(PLACE))
        assert "lexicon@1" in page
        assert "0 of 16" in page
        assert "Not finished yet, so without a figure: lexicon@1" in client.get(f"{PLACE}/report").text
        with running(workspace) as address, Client(address, token_for(workspace, "olga")) as there:
            found = there.run_trial_models("mood/words")
            assert [one.model for one in found.runs] == ["lexicon@1", "majority@1"]
            assert there.trial_models("mood/words") == found
        run_queued(workspace, tmp_path)
        told = json.loads(cli(*at, "trial", "models", "mood/words", "--json").stdout)
        assert {one["state"] for one in told["runs"]} == {"done"}
        again = json.loads(cli(*at, "trial", "run-models", "mood/words", "--model", "lexicon", "--json").stdout)
        assert again == told
        report = client.get(f"{PLACE}/report").text
        assert "gap to majority@1" in report
        assert "Differences between arms" in report
    file = tmp_path / "words.json"
    told = json.loads(cli(*at, "trial", "export", "mood/words", file, "--json").stdout)
    assert told["items"] == {"easy": 8, "hard": 8}
    assert "gap to lexicon@1" in cli("trial", "report", file, "--json").stdout


def test_the_page_of_a_large_report_waits_for_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says that the report is being made and looks again by itself; the file is refused until it is there."""
    large = replace(stored_report.REPORT, at_once=1)
    monkeypatch.setattr(stored_report, "REPORT", large)
    workspace = site(tmp_path)
    with workspace.session() as db:
        judge(db, OPERATOR)
    with browser_of(workspace, "olga") as client:
        page = client.get(f"{PLACE}/report").text
        assert "This is being computed for the first time." in page
        assert 'hx-trigger="every 3s"' in page
        assert client.get(f"{PLACE}/report/download?format=md").status_code == 503
        assert run_jobs(workspace.session, workspace.blobs, {large.job: handler_of(large)}) == 1
        there = client.get(f"{PLACE}/report?following=1")
        assert there.headers["hx-refresh"] == "true"
        assert "How hard is what each arm gave?" in there.text
        assert "Made " in there.text
        assert client.get(f"{PLACE}/report/download?format=md").status_code == 200
