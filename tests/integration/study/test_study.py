"""Reports of a workspace: prompts against blank pages, relabelled data, people, models class by class."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from sqlalchemy.orm import Session

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.people import ANONYMOUS, OPERATOR
from quintain.core.records.figures import Estimate
from quintain.core.records.report import Report, Table
from quintain.services.access.actors import actor_of, find_user
from quintain.services.study.compare import compare_report
from quintain.services.study.judged import relabel_report, workers_report
from quintain.services.study.models import models_report
from tests.studied import OLD, studied_workspace
from tests.web_support import browser_of, on_one_line, post, running, token_for


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The workspace that the reports are on."""
    workspace = studied_workspace(tmp_path_factory.mktemp("study"))
    yield workspace
    workspace.close()


@pytest.fixture
def session(judged: Workspace) -> Iterator[Session]:
    """A session on it."""
    with judged.session() as db:
        yield db


def table(report: Report, key: str) -> Table:
    """Find a table of a report."""
    return next(one for section in report.sections for one in section.tables if one.key == key)


def test_conditions_stand_beside_each_other_and_the_harvest(judged: Workspace, session: Session) -> None:
    """The round's texts are split by condition, its prompts are what edits count from, and a validation is a third."""
    found = compare_report(session, judged.blobs, OPERATOR, "mood", ["mood/1"], [OLD])
    assert [section.key for section in found.sections] == ["edits", "lengths", "vocabulary", "writers"]
    lengths = {row[0]: row[1] for row in table(found, "lengths-table").rows}
    assert lengths == {"mood/1: prompt": 12, "mood/1: none": 8, OLD: 5}
    edits = table(found, "edits-table").rows
    assert [(row[0], row[1]) for row in edits] == [("mood/1: prompt", 12)]
    assert isinstance(edits[0][2], Estimate)
    assert edits[0][2].value is not None
    assert 0.8 < edits[0][2].value < 1
    longer = found.sections[1].findings[0]
    assert longer.startswith("A text of mood/1: prompt is longer than one of mood/1: none in 100.0% of pairs")
    assert found.sections[3].findings[0].startswith("3 people wrote 20 texts")
    again = compare_report(session, judged.blobs, OPERATOR, "mood", ["mood/1"], [OLD])
    assert again == found


def test_what_cannot_be_compared_is_refused(judged: Workspace, session: Session) -> None:
    """No round, a round of another task, a harvest that is not there: each is said."""
    rita = actor_of(session, find_user(session, "rita"))
    with pytest.raises(BadInput, match="No round is named"):
        compare_report(session, judged.blobs, OPERATOR, "mood", [])
    with pytest.raises(BadInput, match="not of task mood"):
        compare_report(session, judged.blobs, OPERATOR, "mood", ["other/1"])
    with pytest.raises(NotFound):
        compare_report(session, judged.blobs, OPERATOR, "mood", ["mood/1"], ["mood/nowhere"])
    for call in (
        lambda: compare_report(session, judged.blobs, rita, "mood", ["mood/1"]),
        lambda: relabel_report(session, rita, OLD),
        lambda: workers_report(session, rita, OLD),
    ):
        with pytest.raises(Forbidden):
            call()


def test_old_labels_stand_against_new_ones(session: Session) -> None:
    """The matrix counts every item once, and what changed is shown with its votes."""
    found = relabel_report(session, OPERATOR, OLD)
    matrix = table(found, "matrix-table")
    titles = [one.title for one in matrix.columns]
    assert titles[1:] == ["negative", "neutral", "positive", "mixed", "no majority", "all"]
    assert matrix.rows == [["neutral", 1, 1, 0, 1, 1, 4], ["positive", 0, 0, 1, 0, 0, 1]]
    changed = {row[3]: (row[0], row[1], row[2]) for row in table(found, "changes-table").rows}
    assert changed == {
        "awful": ("neutral", "negative", "negative 4, neutral 1"),
        "so so": ("neutral", "mixed", "mixed 3, neutral 2"),
        "hm": ("neutral", "no majority", "negative 2, positive 2, neutral 1"),
    }
    assert "all: 2 of 5 items keep their label, 40.0%" in found.sections[0].findings[0]


def test_people_are_counted_and_not_named(session: Session) -> None:
    """Judges stand under other names, with how often they chose the label; of a round, its writers are counted, too."""
    found = workers_report(session, OPERATOR, OLD)
    rows = table(found, "agreement-table").rows
    assert len(rows) == 5
    assert all(str(row[0]).startswith("w-") and row[1] == 5 for row in rows)
    shares = sorted(row[2].value for row in rows if isinstance(row[2], Estimate) and row[2].value is not None)
    assert shares == [0.5, 0.75, 1.0, 1.0, 1.0]  # "hm" has no label and does not count
    assert "5 people gave 25 judgements" in found.sections[0].findings[0]
    of_round = workers_report(session, OPERATOR, "mood/1")
    assert [one.key for one in of_round.sections] == ["writers", "judges", "agreement"]


def test_the_commands_write_a_folder(judged: Workspace, tmp_path: Path, cli: Callable[..., Result]) -> None:
    """Each command prints its findings and writes the files; `--json` is the same report."""
    base = ["--workspace", judged.settings.workspace, "study"]
    for command in (["compare", "mood/1", "--harvest", OLD], ["relabel", OLD], ["workers", OLD]):
        done = cli(*base, *command, "--out", tmp_path / command[0])
        assert done.exit_code == 0, done.stderr
        assert "report.html shows it with its charts" in done.stderr
        kept = json.loads((tmp_path / command[0] / "report.json").read_text())
        assert json.loads(cli(*base, *command, "--json").stdout) == kept
        assert kept["sections"][0]["findings"][0] in done.stdout
    refused = cli(*base, "relabel", tmp_path / "votes.csv")
    assert refused.exit_code == 1
    assert "--old" in refused.stderr


def test_pages_show_the_same_report(judged: Workspace) -> None:
    """The page has findings, tables and charts; its files are attachments; a missing choice is said beside them."""
    client = browser_of(judged, "olga")
    home = on_one_line(client.get("/tasks/mood/reports"))
    assert 'name="rounds" value="1" checked' in home
    assert 'name="harvests" value="old"' in home
    page = client.get("/tasks/mood/reports/compare?rounds=1&harvests=old")
    assert page.status_code == 200
    assert "in 100.0% of pairs" in page.text
    assert 'class="chart" data-spec=' in page.text
    assert "/download?rounds=1&amp;harvests=old&amp;format=html" in page.text
    for form, start in (("html", "<!doctype html>"), ("md", "# Old and new"), ("tex", "% Old"), ("json", '{"key"')):
        sent = client.get(f"/tasks/mood/reports/relabel/download?validation=old&format={form}")
        assert sent.headers["content-disposition"] == f'attachment; filename="mood-relabel-old.{form}"'
        assert sent.text.startswith(start)
    assert client.get("/tasks/mood/reports/relabel/download?validation=old&format=zip").content[:2] == b"PK"
    assert client.get("/tasks/mood/reports/relabel/download?validation=old&format=pdf").status_code == 422
    refused = client.get("/tasks/mood/reports/compare")
    assert refused.status_code == 422
    assert "No round is named" in refused.text
    assert client.get("/tasks/mood/reports/nothing").status_code == 404


def test_a_page_speaks_german(judged: Workspace) -> None:
    """Findings, headings and the titles within charts are in the reader's language; labels stay as they are."""
    client = browser_of(judged, "olga")
    post(client, "/", "/language", language="de", next="/")
    page = client.get("/tasks/mood/reports/relabel?validation=old").text
    assert "Was ist aus den alten Labels geworden?" in page
    assert "Which old label" not in page
    assert "What became" not in page
    assert "negative 4, neutral 1" in page
    post(client, "/", "/language", language="en", next="/")


def test_readers_see_models_only(judged: Workspace) -> None:
    """Somebody without the role is offered the report on models, and refused the others."""
    for name in ("rita", None):
        client = browser_of(judged, name)
        home = client.get("/tasks/mood/reports").text
        assert "/tasks/mood/reports/models" in home
        assert "/tasks/mood/reports/compare" not in home
        assert client.get("/tasks/mood/reports/models").status_code == 200
        for address in ("compare?rounds=1", "relabel?validation=old", "workers?validation=1"):
            assert client.get(f"/tasks/mood/reports/{address}").status_code in {303, 401, 403}


def test_the_client_reads_and_keeps_reports(judged: Workspace, tmp_path: Path) -> None:
    """A report is a record, and a file of the wished format."""
    with running(judged) as url, Client(url, token_for(judged, "olga")) as client:
        choices = client.report_choices("mood")
        assert (choices.rounds, choices.validations) == ([1], ["1", "old"])
        found = client.report("mood", "relabel", validation="old")
        assert table(found, "matrix-table").rows[0][0] == "neutral"
        kept = client.download_report("mood", "compare", tmp_path / "r.html", rounds=[1], harvests=["old"])
        assert "data-spec" in kept.read_text()
        with pytest.raises(BadInput, match="No validation is named"):
            client.report("mood", "workers")


def test_models_are_scored_by_class_as_far_as_one_may_see(evaluated_site: Workspace) -> None:
    """Every class of every data set has its figures; on few hidden labels they are the owner's alone."""
    with evaluated_site.session() as db:
        owner = actor_of(db, find_user(db, "olga"))
        whole = models_report(db, evaluated_site.blobs, owner, "mood")
        seen = models_report(db, evaluated_site.blobs, ANONYMOUS, "mood")
    rows = table(whole, "classes-table").rows
    assert {row[1] for row in rows} == {"open@1", "secret@1"}
    assert {row[2] for row in rows} == {"negative", "positive"}
    assert {row[1] for row in table(seen, "classes-table").rows} == {"open@1"}
    assert "hidden labels" in seen.sections[0].note
    assert not whole.sections[0].note
    f1 = next(row[6] for row in rows if row[:3] == ["brittle@1", "open@1", "positive"])
    assert isinstance(f1, Estimate)
    assert f1.value is not None
    assert 0 < f1.value < 1
