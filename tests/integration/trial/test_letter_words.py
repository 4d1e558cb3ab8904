"""Letters speak in the words of the rubric, quote items as their writers saw them, and name no best among equals."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import pytest
from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.protocols.default_rubric import default_rubric
from quintain.protocols.rubric import FIGURE_2
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.letters import letters
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.rubric import grade, next_to_grade
from quintain.services.trial.stages import close_stage
from quintain.services.trial.trials import open_trial, put_trial
from quintain.store.blobs import Blobs
from quintain.tasks.contract import KINDS, kind_of
from quintain.tasks.definition import parse_task
from tests.collecting import writers
from tests.people import make_person

QUIZ = 'name = "quiz"\nkind = "multiple-choice"\ntitle = "Quiz"'
MOOD = 'name = "mood"\nkind = "text-classification"\ntitle = "Mood"\nlabels = ["bad", "good"]'
WHERE = ("quiz", "first")
PROTOCOL = """
name = "graded"
workers = 4
[[stages]]
name = "small"
writing = {items = 2, sessions = 1}
[[stages]]
name = "grades"
grading = {of = "small", grades = 1, least = 0}
[[stages]]
name = "letter"
feedback = {by = "grades"}
[[stages]]
name = "last-of-all"
writing = {items = 2, sessions = 4, final = true}
"""
GOOD = {"answerable": "yes", "reading": "whole", "creative": "little", "distractors": "yes"}
_numbers = count(1)


def _passage() -> str:
    number = next(_numbers)
    return f"Keeper {number} lit lamp {7 * number} at dusk. " + "Nobody on the far shore had asked for a light. " * 20


def _letter(db: Session, blobs: Blobs, owner: Actor, grades: list[Mapping[str, str]]) -> str:
    """Let one person write two items, an expert grade them so, and give the letter that is going to be sent."""
    put_task(db, owner, QUIZ)
    put_trial(db, owner, *WHERE, [PROTOCOL])
    open_trial(db, blobs, owner, *WHERE)
    (writer,) = writers(db, 1)
    enter(db, writer, *WHERE)
    session = start_session(db, blobs, writer, f"quiz/{trial_part(db, writer, *WHERE).round}")
    for number, asked in enumerate(["Who lit it?", "When was dusk that day?"]):
        inputs = {"passage": _passage(), "question": asked, "options": ["The keeper", "Nobody", f"Lamp {number}"]}
        submit_attempt(db, blobs, writer, session.key, inputs, target=1, token=f"t{number}")
    trial_part(db, writer, *WHERE)
    close_stage(db, owner, *WHERE, "graded", "small")
    expert = make_person(db, "eva", RoleName.EXPERT)
    for answers in grades:
        item = next_to_grade(db, expert, *WHERE)
        assert item is not None
        grade(db, expert, *WHERE, stage=item.stage, item=item.item, answers=answers)
    close_stage(db, owner, *WHERE, "graded", "grades")
    (letter,) = letters(db, owner, *WHERE, "graded", "letter")
    return letter.text


def test_a_wrong_label_is_not_called_ambiguous(db: Session, blobs: Blobs, owner: Actor) -> None:
    """The letter says what graders chose, of how many grades, and quotes the item with its options and their mark."""
    text = _letter(db, blobs, owner, [GOOD | {"answerable": "wrong-label"}, GOOD])
    assert "ambiguous." not in text
    assert "“Is the question answerable and unambiguous?” Of the grades of your items: “Yes” 50%, “No” 0%" in text
    assert "Graders said “Yes, but the label is wrong” (1 of 1) of this item:" in text
    lines = text.splitlines()
    assert "○ The keeper" in lines
    assert "● Nobody" in lines
    assert any(line.startswith("Passage: “Keeper") and line.endswith("…”") and len(line) < 80 for line in lines)
    assert "far shore had asked for a light. Nobody" not in text  # no whole passage
    assert "['" not in text
    assert "2 grades of 2 items of yours count here." in text
    assert (
        "0.75, all items of this round: 0.75, on average, on a scale from 0 (“Wouldn’t need to read it”) to 1" in text
    )
    assert "last-of-all" not in text
    assert "final" not in text
    assert "What comes next: you write again, 2 items in each of up to 4 sessions." in text


def test_of_equals_none_is_the_best(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Two items with the same grades are neither best nor weakest."""
    text = _letter(db, blobs, owner, [GOOD, GOOD])
    assert "highest" not in text
    assert "lowest" not in text


def test_the_best_and_the_weakest_are_told_apart(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Of two items with different scores each is quoted once, with its score and what it could have been."""
    text = _letter(db, blobs, owner, [GOOD, GOOD | {"reading": "none"}])
    assert text.count("this one has the highest score (3.08 of 4)") == 1
    assert text.count("this one has the lowest score (2.33 of 4)") == 1


@pytest.mark.parametrize("name", sorted(KINDS.names()))
def test_every_kind_has_a_rubric_in_its_words(name: str) -> None:
    """Only kinds with a question speak of one; names of questions and options are those of the paper for all kinds."""
    kind = KINDS.get(name)
    labels = "" if kind.fixed_labels or not kind.needs_labels else f"labels = {[*kind.starter_labels] or ['a', 'b']}\n"
    task = parse_task(f'name = "x"\nkind = "{name}"\ntitle = "X"\n{labels}')
    rubric = default_rubric(kind_of(task), task)
    names = [(each.name, {option.name for option in each.options}) for each in rubric]
    assert names == [(each.name, {option.name for option in each.options}) for each in FIGURE_2]
    asks = " ".join(each.ask for each in rubric)
    assert ("question" in asks) == any(field.name == "question" for field in kind_of(task).fields(task))
    if not kind_of(task).context(task):
        assert "passage" not in asks


def test_a_task_of_sentences_is_graded_as_such(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Graders of a trial on sentiment are asked about the text and its label."""
    put_task(db, owner, MOOD)
    put_trial(db, owner, "mood", "first", [PROTOCOL])
    open_trial(db, blobs, owner, "mood", "first")
    (writer,) = writers(db, 1)
    enter(db, writer, "mood", "first")
    session = start_session(db, blobs, writer, f"mood/{trial_part(db, writer, 'mood', 'first').round}")
    for number, text in enumerate(["The lamp never failed.", "What a dull shore it was."]):
        submit_attempt(db, blobs, writer, session.key, {"text": text}, target="good", token=f"t{number}")
    trial_part(db, writer, "mood", "first")
    close_stage(db, owner, "mood", "first", "graded", "small")
    item = next_to_grade(db, make_person(db, "eva", RoleName.EXPERT), "mood", "first")
    assert item is not None
    assert item.rubric[0].ask == "Would people agree on its label?"
    assert "question" not in " ".join(each.ask for each in item.rubric)
