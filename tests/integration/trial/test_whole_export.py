"""One file has all of a trial, and both the report and Python read it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

import quintain as qt
from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.data.trials import read_trial, write_trial
from quintain.library.trials import write_tables
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.reporting import arms_of, open_pool
from quintain.services.trial.rubric import grade, next_to_grade
from quintain.services.trial.stages import close_stage
from quintain.services.trial.trials import OpenTrial, open_trial, put_trial
from quintain.store.blobs import Blobs
from tests.collecting import writers
from tests.people import make_person
from tests.validation_support import judge_all, make_judges

QUIZ = 'name = "quiz"\nkind = "multiple-choice"\ntitle = "Quiz"'
WHERE = ("quiz", "first")
PROTOCOL = """
name = "graded"
workers = 2
[[stages]]
name = "small"
writing = {items = 1, sessions = 1}
[[stages]]
name = "grades"
grading = {of = "small", grades = 1, least = 0}
[[stages]]
name = "last"
writing = {items = 2, sessions = 1, final = true, justification = true}
[validation]
votes = 2
sample = 0
"""
GRADE = {"answerable": "yes", "reading": "whole", "creative": "little", "distractors": "no"}
WHY = (
    "The bridge stands in the last line alone.",
    "Hurried people pick the wind, which opens paragraph two.",
    "Nobody says who tied the rope until the storm is over.",
    "Two piers have nearly the same name, and only one is near the mill.",
)


def _run(db: Session, blobs: Blobs, passages: Path) -> list[str]:
    """Let two people write, be graded, write again and be judged; give the passages of the data."""
    put_task(db, OPERATOR, QUIZ)
    put_trial(db, OPERATOR, *WHERE, [PROTOCOL])
    open_trial(db, blobs, OPERATOR, *WHERE, OpenTrial(file=passages))
    people, shown = writers(db, 2), []
    for stage in ("small", "last"):
        for at, one in enumerate(people):
            enter(db, one, *WHERE)
            session = start_session(db, blobs, one, f"quiz/{trial_part(db, one, *WHERE).round}")
            for number in range(session.allowed):
                own = {"question": f"What held on day {at}{number}?", "options": ["A rope", f"Pier {at}", "Wind"]}
                inputs = {**session.prompt.inputs, **own}
                token = f"{stage}{at}{number}"
                submit_attempt(
                    db, blobs, one, session.key, inputs, target=1, token=token, justification=WHY[2 * at + number]
                )
                shown += [session.prompt.inputs["passage"]] if stage == "last" else []
            trial_part(db, one, *WHERE)
        if stage == "small":
            close_stage(db, OPERATOR, *WHERE, "graded", "small")
            expert = make_person(db, "eva", RoleName.EXPERT)
            while (item := next_to_grade(db, expert, *WHERE)) is not None:
                grade(db, expert, *WHERE, stage=item.stage, item=item.item, answers=GRADE)
            close_stage(db, OPERATOR, *WHERE, "graded", "grades")
    open_pool(db, OPERATOR, *WHERE)
    judge_all(db, make_judges(db, 2), lambda _: "1", ref="quiz/trial-first")
    return shown


def test_one_file_has_texts_grades_and_judgements(workspace: Workspace, tmp_path: Path) -> None:
    """What leaves has texts, arm, stage, writer, grades and judgements, and nobody's name; it is read back."""
    passages = tmp_path / "passages.csv"
    passages.write_text("passage\n" + "".join(f"The rope of pier {n} held all night.\n" for n in range(8)))
    with workspace.session() as db:
        shown = _run(db, workspace.blobs, passages)
        arms = arms_of(db, workspace.blobs, OPERATOR, *WHERE)
    file = tmp_path / "first.json"
    write_trial(arms, file)
    assert read_trial([file]) == arms
    assert "writer-" not in file.read_text()
    (arm,) = json.loads(file.read_text())["arms"]
    assert [len(arm["items"]), len(arm["earlier"])] == [4, 2]
    item = arm["items"][0]
    assert item["inputs"]["passage"] in shown
    assert item["inputs"]["options"] == ["A rope", "Pier 0", "Wind"]
    assert (item["stage"], item["label"]) == ("last", "1")
    assert [label for _, label in item["judgements"]] == ["1", "1"]
    (given,) = arm["earlier"][0]["grades"]
    assert (given["answers"], given["expert"]) == (GRADE, True)

    found = qt.trial(file, draws=5)
    assert any("graded" in str(fact.value) for fact in found.report.facts)
    assert found.table.filter(found.table["data"])["question"].to_list()[0] == "What held on day 00?"
    assert found.table["stage"].to_list() == ["small", "small", "last", "last", "last", "last"]
    assert found.judgements.height == 8
    assert found.grades.height == 2 * len(GRADE)
    assert "graded: 4 items" in repr(found)
    with pytest.raises(qt.BadInput):
        qt.trial()
    rows = write_tables([file], tmp_path / "tables")
    assert rows == {"items.jsonl": 6, "judgements.csv": 8, "grades.csv": 8}
    labels = qt.aggregate(tmp_path / "tables" / "judgements.csv")
    assert labels.table.height == 4
