"""Models on the final items of a trial that ran here: asked for, run, and read by the report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.core.records.figures import Estimate
from quintain.core.records.report import Report
from quintain.data.trials import write_trial
from quintain.services.data.content import preview, scan
from quintain.services.data.datasets import get_version
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.cells import lifecycle
from quintain.services.evaluate.cells.progress import explain
from quintain.services.models.registry import withdraw
from quintain.services.plain.reports.trial_measures import ReportOptions
from quintain.services.plain.reports.trials import report as report_of_file
from quintain.services.study.whole import whole_report
from quintain.services.tasks.board_settings import let_score
from quintain.services.trial.model_runs import get_models, run_models
from quintain.services.trial.participation import enter
from quintain.services.trial.reporting import arms_of, open_pool, report
from quintain.services.validate.quality.unqualify import unqualify
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as cell_queries
from tests.integration.trial.modelled import WHERE, begin, judge, run_all, write
from tests.refusals import refusal
from tests.validation_support import make_judges

ITEMS = "mood/trial-words-items"
# How far a model is behind people on an arm's items, from the exported file and nothing else.
SCRIPT = """
import collections, json, sys
file, arm, model = sys.argv[1:]
found = next(one for one in json.load(open(file))["arms"] if one["name"] == arm)
human = right = items = 0
for item in found["items"]:
    votes = collections.Counter(label for judge, label in item["judgements"])
    gold, number = votes.most_common(1)[0]
    assert number == 5, "all agree in this trial"
    if gold != found["invalid"]:
        items += 1
        human += 1
        right += item["predictions"][model] == gold
print(items, human / items - right / items)
"""


def cell_of(found: Report, arm: str, where: str, column: str) -> object:
    """Give one cell of the table of results."""
    table = next(one for one in found.sections if one.key == "results").tables[0]
    place = [one.title for one in table.columns].index(column)
    return next(row[place] for row in table.rows if row[0] == arm and row[1] == where)


def value_of(found: Report, arm: str, where: str, column: str) -> float:
    """Give the value of a figure in the table of results."""
    figure = cell_of(found, arm, where, column)
    assert isinstance(figure, Estimate)
    assert figure.value is not None
    return figure.value


@pytest.mark.both_databases
def test_models_are_run_and_the_report_says_on_which_arm_they_are_behind(
    db: Session, blobs: Blobs, workspace: Workspace, owner: Actor, tmp_path: Path
) -> None:
    """Figures stand once runs are done; one of them comes out the same from the export by a plain script."""
    people = begin(db, blobs, owner, tmp_path)
    with pytest.raises(Conflict, match="in a pool"):
        run_models(db, blobs, owner, *WHERE)
    open_pool(db, owner, *WHERE)
    with pytest.raises(Conflict, match="16 items of mood/trial-words still wait"):
        run_models(db, blobs, owner, *WHERE)
    judge(db, owner)
    before = report(db, blobs, owner, *WHERE)
    assert "No model has been run on these items" in str(before.sections[0].findings)
    assert before.sections[1].findings[0].startswith("No model has answered")
    assert before.sections[1].tables == []
    with pytest.raises(Forbidden):
        run_models(db, blobs, people[0], *WHERE)
    asked = run_models(db, blobs, owner, *WHERE)
    assert [(one.model, one.state) for one in asked.runs] == [("lexicon@1", "queued"), ("majority@1", "queued")]
    assert (asked.dataset, asked.items, asked.waiting, asked.later) == (f"{ITEMS}@1", 16, 0, 0)
    waiting = report(db, blobs, owner, *WHERE)
    assert "Not finished yet, so without a figure: lexicon@1, majority@1." in waiting.sections[0].findings
    assert "lexicon@1" not in [one.title for one in waiting.sections[0].tables[0].columns]
    run_all(db, workspace, tmp_path)
    found = report(db, blobs, owner, *WHERE)
    for where in ("judged often", "at least 4 of 5 votes agree", "all 5 votes agree"):
        assert value_of(found, "easy", where, "gap to lexicon@1") == pytest.approx(0.0)
        assert value_of(found, "hard", where, "gap to lexicon@1") > 0.5
        assert value_of(found, "hard", where, "People") == pytest.approx(1.0)
    rows = next(one for one in found.sections if one.key == "differences").tables[0].rows
    assert {row[3] for row in rows} == {"lexicon@1", "majority@1"}
    assert all(row[5] is not None for row in rows)
    write_trial(arms_of(db, blobs, owner, *WHERE), tmp_path / "words.json")
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "words.json"), "hard", "lexicon@1"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert cell_of(found, "hard", "judged often", "N") == pytest.approx(int(told[0]))
    assert value_of(found, "hard", "judged often", "gap to lexicon@1") == pytest.approx(float(told[1]))
    again = report_of_file([tmp_path / "words.json"], ReportOptions(sample=4))
    assert again.sections[1].tables == next(one for one in found.sections if one.key == "differences").tables
    whole = whole_report(db, blobs, owner, "mood/words")
    assert next(one for one in whole.sections if one.key == "differences").tables[0].rows == rows
    withdraw(db, owner, "mood/lexicon")
    rested = report(db, blobs, owner, *WHERE)
    assert next(one for one in rested.sections if one.key == "differences").tables[0].rows == rows


def test_nothing_of_labels_or_arms_is_in_what_models_and_workers_see(
    db: Session, blobs: Blobs, workspace: Workspace, owner: Actor, tmp_path: Path
) -> None:
    """The data set is hidden, has no tags and no meta, does not score, and is run only by models that were asked."""
    people = begin(db, blobs, owner, tmp_path)
    judge(db, owner)
    run_models(db, blobs, owner, *WHERE, ["lexicon"])
    version = get_version(db, owner, ITEMS)
    assert (version.hidden, version.scores, version.role) == (True, False, "test")
    with refusal(Forbidden, "inputs_closed"):
        preview(db, blobs, people[0], ITEMS)
    set_inputs(db, owner, ITEMS, "open")
    page = preview(db, blobs, people[0], ITEMS)
    assert not page.answers
    assert {*page.examples[0]} == {"id", "text", "tags", "group"}
    assert all(not one["tags"] and one["group"] is None for one in page.examples)
    with pytest.raises(Forbidden):
        scan(db, blobs, people[0], ITEMS, answers=True)
    table = pl.read_parquet(blobs.path(version.blob))
    assert table["id"].is_sorted()
    assert table["meta"].null_count() == table.height
    assert "easy" not in table.write_json()
    assert table["answer"].null_count() == table["text"].str.contains("harbour").sum() > 0
    lifecycle.fill(db, "mood")
    assert [one.model for one in get_models(db, owner, *WHERE).runs] == ["lexicon@1"]
    assert "asks for" in explain(db, owner, "mood/majority", ITEMS).summary
    assert [one.cell.variant for one in cell_queries.rows(db, dataset_version_id=version.id)] == ["plain"]
    let_score(db, owner, ITEMS)  # from then on it is a test set like any other
    lifecycle.fill(db, "mood")
    assert {one.model for one in get_models(db, owner, *WHERE).runs} == {"lexicon@1", "majority@1"}


def test_judges_who_were_unqualified_do_not_count(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Their judgements are set aside in the trial's report as they are in the labels of its pool."""
    begin(db, blobs, owner, tmp_path)
    judge(db, owner)
    before = [len(item.judgements) for arm in arms_of(db, blobs, owner, *WHERE) for item in arm.items]
    assert {*before} == {5}
    unqualify(db, owner, "mood/trial-words", ["judge0"], reason="test")
    after = [len(item.judgements) for arm in arms_of(db, blobs, owner, *WHERE) for item in arm.items]
    assert {*after} == {4}


def test_what_came_later_and_what_failed_has_no_figure(
    db: Session, blobs: Blobs, workspace: Workspace, owner: Actor, tmp_path: Path
) -> None:
    """A failed run is said and tried again when asked; items judged after the runs take every model's figure away."""
    begin(db, blobs, owner, tmp_path)
    judge(db, owner)
    with pytest.raises(NotFound, match="absent"):
        run_models(db, blobs, owner, *WHERE, ["mood/absent"])
    run_models(db, blobs, owner, *WHERE)
    with transaction(db):
        for row in cell_queries.rows(db, task="mood"):
            if row.model.name == "majority":
                row.cell.state = "failed"
    run_all(db, workspace, tmp_path)
    found = report(db, blobs, owner, *WHERE)
    assert "Failed, so without a figure: majority@1." in found.sections[0].findings
    with transaction(db):
        for row in cell_queries.rows(db, task="mood", states=["failed"]):
            row.cell.state = "cancelled"
    assert "Cancelled, so without a figure: majority@1." in report(db, blobs, owner, *WHERE).sections[0].findings
    assert value_of(found, "hard", "judged often", "lexicon@1") < 0.5
    assert {one.model: one.state for one in run_models(db, blobs, owner, *WHERE).runs}["majority@1"] == "queued"
    run_all(db, workspace, tmp_path)
    (late,) = make_judges(db, 1, "late")

    enter(db, late, *WHERE)
    write(db, blobs, late)
    judge(db, owner, "more")
    assert get_models(db, owner, *WHERE).later == 4
    found = report(db, blobs, owner, *WHERE)
    assert any("judged after models were run" in one for one in found.sections[0].findings)
    assert "lexicon@1" not in [one.title for one in found.sections[0].tables[0].columns]
    assert run_models(db, blobs, owner, *WHERE, ["lexicon@1"]).dataset == f"{ITEMS}@2"
    run_all(db, workspace, tmp_path)
    found = report(db, blobs, owner, *WHERE)
    titles = [one.title for one in found.sections[0].tables[0].columns]
    assert "lexicon@1" in titles
    assert "majority@1" not in titles
