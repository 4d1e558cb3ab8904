"""Studies as jobs: asked for, made by a worker, taken over where one was lost, kept, and shown to owners alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import Forbidden, NotFound
from quintain.core.people import OPERATOR
from quintain.core.texts import Text
from quintain.reports.plain import from_plain, to_plain
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import JobRun, run_all
from quintain.services.study import studies
from quintain.services.study.study_jobs import make_study
from quintain.services.study.whole import whole_report
from quintain.stats.comparing.transfer import TransferRows
from quintain.web.report_files import in_words
from tests.boards import add_sentences
from tests.codings import coding_site, person
from tests.released import unlike_texts
from tests.web_support import browser_of, on_one_line, post, running, token_for

SOURCE = "data/test@1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A judged round and a data set."""
    workspace = coding_site(tmp_path_factory.mktemp("studies"))
    yield workspace
    workspace.close()


def work(workspace: Workspace) -> int:
    """Do the jobs that wait, as a worker would."""
    return run_all(workspace.session, workspace.blobs, job_handlers())


def test_a_report_is_kept_with_its_texts(made: Workspace) -> None:
    """What comes back is the same report, and can still be said in German."""
    with made.session() as db:
        report = whole_report(db, made.blobs, OPERATOR, "mood/1")
    again = from_plain(json.loads(json.dumps(to_plain(report))))
    assert again == report
    assert isinstance(again.title, Text)
    assert in_words(again, "de")[0].title == in_words(report, "de")[0].title != again.title


def test_an_owner_asks_a_worker_makes_and_the_page_shows(made: Workspace) -> None:
    """Nothing is computed when somebody looks; the page follows the job, then shows the report and its files."""
    owner = browser_of(made, "olga")
    page = "/tasks/mood/studies/rounds/1"
    assert "No report yet" in owner.get(page).text
    assert f'href="{page}"' in owner.get("/tasks/mood/rounds/1").text
    assert post(owner, page, page).headers["location"] == page
    waiting = owner.get(f"{page}?following=1")
    assert "waits for a worker" in waiting.text
    assert "hx-refresh" not in waiting.headers
    assert work(made) == 1
    assert owner.get(f"{page}?following=1").headers["hx-refresh"] == "true"
    shown = on_one_line(owner.get(page))
    assert "All about round mood/1" in shown
    assert "Make it anew" in shown
    assert owner.get(f"{page}/download?format=md").text.startswith("# All about round mood/1")
    for name in ("xenia", "rita"):
        assert browser_of(made, name).get(page).status_code == 403
    assert owner.get("/tasks/mood/studies/data/none").status_code == 404
    assert owner.get("/tasks/mood/studies/shop/1").status_code == 404


def test_a_worker_goes_on_where_another_was_lost(made: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that are done are written down, and not made again by who takes the job over."""
    saved: list[Mapping[str, Any]] = []
    monkeypatch.setattr(JobRun, "save", lambda run, checkpoint: saved.append(dict(checkpoint)))
    with made.session() as db:
        studies.start_study(db, person(db, "olga"), "mood", SOURCE)
    assert work(made) == 1
    first = saved[0]
    assert len(first) == 1
    with made.session() as db:
        before = studies.get_study(db, OPERATOR, "mood", SOURCE).report

    def never(*_given: object) -> None:
        raise AssertionError("the part was made already")

    monkeypatch.setattr("quintain.services.study.whole.artefact_sections", never)
    run = JobRun(0, 0, 2, studies.KIND, f"mood {SOURCE}", {}, first, made.session, made.blobs, _Unset())
    make_study(run)
    assert run.total == 100
    with made.session() as db:
        assert studies.get_study(db, OPERATOR, "mood", SOURCE).report == before


class _Unset:
    """A worker that is not to end."""

    @staticmethod
    def is_set() -> bool:
        return False


def test_what_cannot_be_studied_is_said_on_the_page(made: Workspace) -> None:
    """A data set with too few examples: the job fails, and the page has the reason and the way to try again."""
    owner = browser_of(made, "olga")
    page = "/tasks/mood/studies/data/few@1"
    with made.session() as db:
        with pytest.raises(Forbidden):
            studies.start_study(db, person(db, "xenia"), "mood", SOURCE)
        with pytest.raises(NotFound):
            studies.kept_report(db, OPERATOR, "mood", "data/few")
    post(owner, page, page)
    work(made)
    shown = on_one_line(owner.get(page))
    assert "could not be made" in shown
    assert "nothing to study in mood/few@1" in shown
    assert "Make the report" in shown


def test_client_and_commands(made: Workspace, cli: Callable[..., Result], tmp_path: Path) -> None:
    """The same verbs for programs: start, follow, fetch."""
    at = ("--workspace", made.settings.workspace)
    with running(made) as url, Client(url, token_for(made, "olga")) as owner:
        started = owner.start_study("mood", "rounds", "1", seed=2)
        assert started.job is not None
        assert started.job.going
        work(made)
        found = owner.study("mood", "rounds", "1")
        assert found.report is not None
        assert found.job is not None
        assert found.job.state == "done"
        assert "All about" in owner.download_study("mood", "rounds/1", tmp_path / "report.html").read_text()
    again = json.loads(cli(*at, "study", "start", "mood", "rounds/1", "--json").stdout)
    assert again["job"]["state"] == "queued"
    assert "is queued" in cli(*at, "study", "kept", "mood", "rounds/1").stderr
    assert json.loads(cli(*at, "study", "kept", "mood", "rounds/1", "--json").stdout)["source"] == "rounds/1"
    assert cli(*at, "study", "kept", "mood", "data/few").exit_code == 1


def test_data_sets_are_compared_by_a_worker(made: Workspace, tmp_path: Path) -> None:
    """The page of reports offers the data sets; two that are chosen are compared by a job, and one alone is refused."""
    labels = ("positive", "negative")
    rows = [{"text": f"{text} twice", "answer": labels[at % 2]} for at, text in enumerate(unlike_texts(40))]
    with made.session() as db:
        add_sentences(db, made.blobs, person(db, "olga"), tmp_path, "more", rows)
    owner = browser_of(made, "olga")
    assert 'name="sets" value="test"' in owner.get("/tasks/mood/reports").text
    chosen = owner.get("/tasks/mood/studies/compare?sets=test&sets=more")
    page = chosen.headers["location"]
    assert page == "/tasks/mood/studies/compared/test@1+more@1"
    assert "test@1, more@1 compared" in owner.get(page).text
    post(owner, page, page)
    assert work(made) >= 1
    shown = on_one_line(owner.get(page))
    assert "quintain study compare mood/test@1 mood/more@1" in shown
    for name in ("test", "more"):
        assert f'href="/tasks/mood/data/{name}"' in shown
        assert owner.get(f"/tasks/mood/data/{name}").status_code == 200
    for wrong in ("sets=test", "sets=test&sets=test@1", ""):
        assert owner.get(f"/tasks/mood/studies/compare?{wrong}").status_code in {400, 404, 422}, wrong


def test_a_comparison_goes_on_where_a_worker_was_lost(made: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of the matrix are written down as they are done, and only those that are left are learned by the next."""
    subject = "mood compared/test@1+few@1"
    saved: dict[str, Any] = {}
    monkeypatch.setattr(JobRun, "save", lambda run, checkpoint: saved.update(checkpoint))
    learned: list[str] = []
    row = TransferRows.row

    def counted(self: TransferRows, train: str, *given: Any) -> Any:
        learned.append(train)
        if len(learned) == 2:
            raise KeyboardInterrupt
        return row(self, train, *given)

    monkeypatch.setattr(TransferRows, "row", counted)

    def run(checkpoint: Mapping[str, Any]) -> JobRun:
        return JobRun(0, 0, 2, studies.KIND, subject, {}, checkpoint, made.session, made.blobs, _Unset())

    with pytest.raises(KeyboardInterrupt):
        make_study(run({}))
    assert (learned, len(saved)) == (["test@1", "few@1"], 1)
    make_study(run(saved))
    assert learned == ["test@1", "few@1", "few@1"]
