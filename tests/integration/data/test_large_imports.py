"""Large files are imported by a worker, who can be told to stop; files that hold too much are refused at every door."""

from __future__ import annotations

import gzip
import io
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace, open_workspace
from quintain.core.cells import CellState
from quintain.core.people import OPERATOR
from quintain.data.limits import FileLimits
from quintain.services.data import datasets, import_jobs
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs import queue
from quintain.services.jobs.running import JobRun, run_all
from quintain.web.app import create_app
from tests.web_support import browser_of, csrf_of, token_for

TASK = "sentiment"
FORM = {"name": "large", "role": "test", "language": "en"}


def _csv(rows: int) -> bytes:
    return b"text,answer\n" + b"".join(b"A film, number %d.,positive\n" % n for n in range(rows)).replace(b", n", b" n")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count a file of some kilobytes among the large ones."""
    monkeypatch.setattr(import_jobs, "AT_ONCE", FileLimits(1000, 100_000))


@pytest.fixture
def api(own_demo: Workspace) -> TestClient:
    """The API, for the demo's owner."""
    headers = {"authorization": f"Bearer {token_for(own_demo, 'demo-owner')}"}
    return TestClient(create_app(own_demo), headers=headers)


def _work(workspace: Workspace) -> int:
    return run_all(workspace.session, workspace.blobs, {import_jobs.JOB: job_handlers()[import_jobs.JOB]})


def _send(api: TestClient, data: bytes, name: str = "large.csv", **fields: str) -> Any:
    return api.post(f"/api/v1/tasks/{TASK}/datasets", data={**FORM, **fields}, files={"file": (name, data)})


def _versions(workspace: Workspace) -> list[str]:
    with workspace.session() as db:
        return [one.ref for one in datasets.list_versions(db, OPERATOR, TASK) if one.dataset == "large"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_worker_imports_a_large_file(own_demo: Workspace, api: TestClient, small: None, packed: bool) -> None:
    """The API answers with the job, and the version is the same as if it had been imported at once."""
    data = gzip.compress(_csv(300)) if packed else _csv(300)
    answer = _send(api, data, "large.csv.gz" if packed else "large.csv")
    assert answer.status_code == 202, answer.text
    assert _versions(own_demo) == []
    assert _work(own_demo) == 1
    job = api.get(answer.headers["location"]).json()
    assert (job["state"], job["result"]) == ("done", {"ref": "sentiment/large@1", "rows": 300, "new": True})
    with own_demo.session() as db:
        made = datasets.get_version(db, OPERATOR, "sentiment/large@1")
    assert (made.rows, made.created_by, made.meta["source"]) == (300, "demo-owner", "large.csv" + ".gz" * packed)


def test_a_small_file_is_imported_at_once(own_demo: Workspace, api: TestClient) -> None:
    """Nobody waits for a worker where a second is enough."""
    answer = _send(api, _csv(3))
    assert (answer.status_code, answer.json()["rows"]) == (201, 3)


def test_a_page_leads_to_the_job(own_demo: Workspace, small: None) -> None:
    """The form leads to the job's page, which names it, can cancel it, and leads on to the data set."""
    browser = browser_of(own_demo, "demo-owner")
    page = f"/tasks/{TASK}/data/import"
    fields = {"csrf": csrf_of(browser, page), **FORM}
    answer = browser.post(page, data=fields, files={"file": ("large.csv", _csv(300))})
    assert answer.status_code == 303, answer.text
    place = answer.headers["location"].partition("?")[0]
    assert place.startswith("/jobs/")
    shown = browser.get(place).text
    assert "Import of a data set" in shown
    assert "cancel" in shown.lower()
    _work(own_demo)
    assert f"/tasks/{TASK}/data/large" in browser.get(place).text
    assert _versions(own_demo) == ["sentiment/large@1"]


def test_what_is_wrong_is_said_before_a_worker_is_asked(api: TestClient, small: None) -> None:
    """What cannot be is refused at once."""
    assert _send(api, _csv(300), name="large.csv", role="train", score="true").status_code == 422
    assert api.get("/api/v1/jobs").json()["jobs"] == []


def test_a_job_says_which_rows_are_wrong(own_demo: Workspace, api: TestClient, small: None) -> None:
    """The reason of a job that failed names the first rows and leaves nothing."""
    answer = _send(api, _csv(300) + b"too,many,cells\n")
    _work(own_demo)
    job = api.get(answer.headers["location"]).json()
    assert job["state"] == "failed"
    assert "row 302" in job["reason"]
    assert _versions(own_demo) == []


@pytest.mark.parametrize("when", ["waiting", "reading", "keeping"])
def test_a_cancelled_import_leaves_nothing(
    own_demo: Workspace, api: TestClient, small: None, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Cancelled before it began, while it reads, or just before it is kept: there is no version."""
    number = _send(api, _csv(300)).json()["id"]

    def cancel() -> None:
        with own_demo.session() as db:
            queue.cancel(db, OPERATOR, number)

    if when == "waiting":
        cancel()
    elif when == "reading":
        tell = JobRun.report_progress

        def told(run: JobRun, done: int, total: int) -> None:
            cancel()
            run.lost.set()
            tell(run, done, total)

        monkeypatch.setattr(JobRun, "report_progress", told)
    else:
        write = datasets.write_examples

        def written(*arguments: Any, **named: Any) -> Any:
            report = write(*arguments, **named)
            cancel()
            return report

        monkeypatch.setattr(datasets, "write_examples", written)
    _work(own_demo)
    assert api.get(f"/api/v1/jobs/{number}").json()["state"] == CellState.CANCELLED.value
    assert _versions(own_demo) == []


def test_a_second_import_waits_for_its_turn(own_demo: Workspace, api: TestClient, small: None) -> None:
    """While one into the same data set waits, another is refused instead of being forgotten."""
    assert _send(api, _csv(300)).status_code == 202
    again = _send(api, _csv(400))
    assert (again.status_code, "waits already" in again.text) == (409, True)


def test_a_file_that_was_thrown_away_is_missed(own_demo: Workspace, api: TestClient, small: None) -> None:
    """A job that was left for days says that its file is to be sent again."""
    number = _send(api, _csv(300)).json()["id"]
    for kept in (own_demo.blobs.root / "passing").iterdir():
        kept.unlink()
    _work(own_demo)
    assert "thrown away" in api.get(f"/api/v1/jobs/{number}").json()["reason"]


@pytest.fixture
def limited(own_demo: Workspace) -> Workspace:
    """The demo with an operator who allows little."""
    return open_workspace(replace(own_demo.settings, import_rows=100, import_mib=1))


def test_what_holds_too_much_is_refused_by_page_and_api(limited: Workspace) -> None:
    """Both name the limit, before anything is kept."""
    headers = {"authorization": f"Bearer {token_for(limited, 'demo-owner')}"}
    data = gzip.compress(_csv(101))
    answer = _send(TestClient(create_app(limited), headers=headers), data, "large.csv.gz")
    assert (answer.status_code, "holds more than 100 rows" in answer.text) == (422, True)
    browser = browser_of(limited, "demo-owner")
    page = f"/tasks/{TASK}/data/import"
    fields = {"csrf": csrf_of(browser, page), **FORM}
    shown = browser.post(page, data=fields, files={"file": ("large.csv.gz", data)})
    assert (shown.status_code, "holds more than 100 rows" in shown.text) == (422, True)
    assert _versions(limited) == []
    limited.close()


def test_what_is_large_goes_by_what_it_unpacks_to(api: TestClient, tmp_path: Path) -> None:
    """A .csv.gz of some kilobytes with 100,001 rows is a worker's, and so is a .zip file of many times its size."""
    rows = gzip.compress(b"text,answer\n" + b"x,positive\n" * 100_001)
    assert len(rows) < 10_000
    assert _send(api, rows, "large.csv.gz").status_code == 202
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("large.csv", b"text,answer\n" + b"x" * (17 << 20) + b",positive\n")
    path = tmp_path / "large.zip"
    path.write_bytes(archive.getvalue())
    assert import_jobs.is_large(path)


def test_an_archive_is_imported_by_a_worker(own_demo: Workspace, api: TestClient, small: None) -> None:
    """It is unpacked there, and the version is what its file holds."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("large.csv", _csv(300))
    answer = _send(api, archive.getvalue(), "large.zip")
    assert answer.status_code == 202, answer.text
    assert _work(own_demo) == 1
    assert api.get(answer.headers["location"]).json()["result"]["rows"] == 300


def test_what_a_request_reads_is_held_to_less(own_demo: Workspace, api: TestClient) -> None:
    """Items, gold, prompts, samples and pairs of 100,001 rows are refused before any is read, and how to is said."""
    assert own_demo.limits_at_once == FileLimits(64 << 20, 100_000, at_once=True)
    rows = gzip.compress(b"text,answer\n" + b"x,positive\n" * 100_001)
    began = time.process_time()
    answer = api.post(f"/api/v1/tasks/{TASK}/harvests", data={"title": "x"}, files={"file": ("much.csv.gz", rows)})
    assert (answer.status_code, "holds more than 100,000 rows" in answer.text) == (422, True), answer.text
    assert "by the command" in answer.json()["error"]["remedy"]
    assert time.process_time() - began < 2
