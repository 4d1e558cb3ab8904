"""Jobs on the page, over the API and from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable

from click.testing import Result

from quintain.compose import Workspace
from quintain.services.jobs import queue
from tests.web_support import browser_of, on_one_line, post


def test_a_job_is_followed_and_cancelled(own_demo: Workspace, cli: Callable[..., Result]) -> None:
    """Owners see a job and cancel it with a button; others see none; program and command say the same."""
    with own_demo.session() as db:
        number = queue.ask(db, "count", "sentiment/r1", task="sentiment").id
        other = queue.ask(db, "count", "elsewhere/r9", task="elsewhere").id
    owner, worker = browser_of(own_demo, "demo-owner"), browser_of(own_demo, "demo-worker")
    assert "sentiment/r1" in on_one_line(owner.get("/jobs"))
    assert "There are none." in on_one_line(worker.get("/jobs"))
    assert worker.get(f"/api/v1/jobs/{number}").status_code == 404
    post(owner, "/jobs", f"/jobs/{number}/cancel")
    assert owner.get(f"/api/v1/jobs/{number}").json()["state"] == "cancelled"
    assert [job["id"] for job in owner.get("/api/v1/jobs").json()["jobs"]] == [other, number]
    folder = str(own_demo.settings.workspace)
    listed = json.loads(cli("--workspace", folder, "jobs", "list", "--unfinished", "--json").stdout)
    assert [job["id"] for job in listed["jobs"]] == [other]
    assert cli("--workspace", folder, "jobs", "cancel", str(other)).exit_code == 0
    assert json.loads(cli("--workspace", folder, "status", "--check", "--json").stdout)["figures"]["faults"] == []
