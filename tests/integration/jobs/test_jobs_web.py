"""Jobs on the page, over the API and from the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from click.testing import Result

from quintain.compose import Workspace
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs import queue
from quintain.web.pages.job_words import titles
from tests.web_support import browser_of, on_one_line, post


def test_a_job_is_followed_and_cancelled(own_demo: Workspace, cli: Callable[..., Result]) -> None:
    """Owners see a job and cancel it with a button; others see none; program and command say the same."""
    with own_demo.session() as db:
        number = queue.enqueue(db, "count", "sentiment/r1", task="sentiment").id
        other = queue.enqueue(db, "count", "elsewhere/r9", task="elsewhere").id
    owner, worker = browser_of(own_demo, "demo-owner"), browser_of(own_demo, "demo-worker")
    assert "sentiment/r1" in on_one_line(owner.get("/jobs"))
    assert "Nothing is being done" in on_one_line(worker.get("/jobs"))
    assert worker.get(f"/api/v1/jobs/{number}").status_code == 404
    post(owner, "/jobs", f"/jobs/{number}/cancel")
    assert owner.get(f"/api/v1/jobs/{number}").json()["state"] == "cancelled"
    assert [job["id"] for job in owner.get("/api/v1/jobs").json()["jobs"]] == [other, number]
    folder = str(own_demo.settings.workspace)
    listed = json.loads(cli("--workspace", folder, "jobs", "list", "--unfinished", "--json").stdout)
    assert [job["id"] for job in listed["jobs"]] == [other]
    assert cli("--workspace", folder, "jobs", "cancel", str(other)).exit_code == 0
    assert json.loads(cli("--workspace", folder, "status", "--check", "--json").stdout)["figures"]["faults"] == []


def test_every_job_has_a_name_and_leads_to_what_came_of_it(own_demo: Workspace) -> None:
    """No kind is shown by its key, and no line of the list is a dead end."""
    assert titles(str).keys() == job_handlers().keys()
    subjects = {"study": "sentiment data/test@1", "figure:round": "sentiment/1", "comparison": "1:2"}
    subjects["figure:report models"] = "sentiment?kind=models&sight=public&seed=0"
    kinds = (
        "comparison",
        "figure:board",
        "figure:report models",
        "figure:round",
        "figure:trial report",
        "figure:validation",
        "review",
        "study",
    )
    with own_demo.session() as db:
        for kind in (*kinds, "study"):
            queue.enqueue(db, kind, subjects.get(kind, "sentiment/mixed"), task="sentiment")
    owner = browser_of(own_demo, "demo-owner")
    listed = on_one_line(owner.get("/jobs"))
    links = re.findall(r'<td> <a href="/tasks/sentiment/([^"]+)">', listed)
    there = {"board", "compare", "reports/models", "studies/data/test@1"}
    # The smallest demo has no round, no validation and no trial.
    assert {*links} == there | {"rounds/1", "validation/mixed", "trials/mixed/report"}
    for link in there:
        assert owner.get(f"/tasks/sentiment/{link}").status_code == 200, link
    assert "figure:" not in listed
