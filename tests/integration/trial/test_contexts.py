"""Contexts of a trial: the passage alone, as many as are needed, and of those that no other round has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.data.plan import ImportPlan
from quintain.services.collect.rounds.manage import put_round
from quintain.services.collect.rounds.prompts import import_prompts
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.data.datasets import import_dataset
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.trials import OpenTrial, open_trial, put_trial
from quintain.store.blobs import Blobs
from quintain.store.tables import CrowdRound, Prompt
from tests.collecting import TASK, writers

QUIZ = 'name = "quiz"\nkind = "multiple-choice"\ntitle = "Quiz"'
ARM = """
name = "{name}"
workers = 3
[[stages]]
name = "writing"
writing = {{items = 2, sessions = 2, final = true, pay = 350}}
"""
GENRES = ("letters", "travel")


def _passage(number: int) -> str:
    return f"Letter {number} came by the boat of day {7 * number}, and nobody on pier {number % 5} had asked for it."


def _questions(folder: Path, passages: int) -> Path:
    """Write a file of finished questions, two on each passage."""
    rows = [
        {
            "passage": _passage(number // 2),
            "question": f"What came on day {number}?",
            "options": ["A letter", "A boat", f"Pier {number}"],
            "answer": 0,
            "genre": GENRES[number // 2 % 2],
        }
        for number in range(2 * passages)
    ]
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture
def quiz(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A task of questions with a data set of 40 of them on 20 passages, and two drafts of trials."""
    put_task(db, owner, QUIZ)
    plan = ImportPlan(role="train", tag_columns=("genre",))
    import_dataset(db, blobs, owner, "quiz", "old", _questions(tmp_path, 20), plan)
    put_trial(db, owner, "quiz", "first", [ARM.format(name="plain")], title="Questions on letters")
    put_trial(db, owner, "quiz", "second", [ARM.format(name="plain"), ARM.format(name="other")])


def _prompts(db: Session) -> list[Prompt]:
    query = select(Prompt).join(CrowdRound, CrowdRound.round_id == Prompt.round_id).order_by(Prompt.id)
    return [*db.scalars(query)]


def test_a_writer_gets_the_passage_and_nothing_that_others_asked(
    db: Session, blobs: Blobs, owner: Actor, quiz: None
) -> None:
    """The form is empty but for the passage; two questions are written on it, and the second begins from nothing."""
    open_trial(db, blobs, owner, "quiz", "first", OpenTrial("quiz/old"))
    assert {tuple(one.inputs) for one in _prompts(db)} == {("passage",)}
    assert {one.answer for one in _prompts(db)} == {None}
    (writer,) = writers(db, 1)
    enter(db, writer, "quiz", "first")
    session = start_session(db, blobs, writer, f"quiz/{trial_part(db, writer, 'quiz', 'first').round}")
    assert session.prompt is not None
    assert [*session.prompt.inputs] == ["passage"]
    assert (session.draft, session.allowed, session.attempts_left) == ({}, 2, 2)
    passage = session.prompt.inputs["passage"]
    for number, asked in enumerate(["Who was not asked?", "When did it come?"]):
        inputs = {"passage": passage, "question": asked, "options": ["Nobody", "The pier", f"Day {number}"]}
        verdict = submit_attempt(db, blobs, writer, session.key, inputs, target=0, token=f"t{number}")
        assert verdict.edit_distance is None  # there was nothing to edit
    assert start_session(db, blobs, writer, session.round).prompt.inputs["passage"] != passage


def test_a_trial_takes_what_it_needs_and_the_next_one_has_the_rest(
    db: Session, blobs: Blobs, owner: Actor, quiz: None
) -> None:
    """3 people with 2 sessions need 6 of 20; two arms take 12 of the rest; a third trial hears whose they are."""
    open_trial(db, blobs, owner, "quiz", "first", OpenTrial("quiz/old"))
    first = {one.inputs["passage"] for one in _prompts(db)}
    assert len(first) == 6
    assert sorted(tag for one in _prompts(db) for tag in one.tags) == ["genre:letters"] * 3 + ["genre:travel"] * 3
    open_trial(db, blobs, owner, "quiz", "second", OpenTrial("quiz/old"))
    assert len(_prompts(db)) == len({one.inputs["passage"] for one in _prompts(db)}) == 18
    put_trial(db, owner, "quiz", "third", [ARM.format(name=name) for name in ("a", "b", "c")])
    with pytest.raises(BadInput) as refused:
        open_trial(db, blobs, owner, "quiz", "third", OpenTrial("quiz/old"))
    message = str(refused.value)
    assert "20 different contexts, of which 2 are free, and 3 rounds need one each" in message
    assert "trial “second” has 12, trial “Questions on letters” has 6" in message
    assert "prompt" not in message


def test_at_most_so_many_are_taken(db: Session, blobs: Blobs, owner: Actor, quiz: None) -> None:
    """Whoever wants to keep some for another trial says how many; each round has one all the same."""
    open_trial(db, blobs, owner, "quiz", "second", OpenTrial("quiz/old", most=5))
    assert len(_prompts(db)) == 5
    assert len({one.round_id for one in _prompts(db)}) == 2


def test_contexts_come_from_a_file_of_passages(
    db: Session, blobs: Blobs, owner: Actor, quiz: None, tmp_path: Path
) -> None:
    """Passages without questions need no data set; a column says the genre; a file beside a data set is refused."""
    file = tmp_path / "passages.csv"
    file.write_text("passage,genre\n" + "".join(f'"{_passage(n)}",{GENRES[n % 2]}\n' for n in range(100, 108)))
    with pytest.raises(BadInput, match="one of them"):
        open_trial(db, blobs, owner, "quiz", "first", OpenTrial("quiz/old", file=file))
    open_trial(db, blobs, owner, "quiz", "first", OpenTrial(file=file))
    found = _prompts(db)
    assert len(found) == 6
    assert {one.corpus for one in found} == {"passages.csv"}
    assert {tag for one in found for tag in one.tags} == {"genre:letters", "genre:travel"}
    bad = tmp_path / "bad.csv"
    bad.write_text("text\nhello\n")
    with pytest.raises(BadInput, match="passage"):
        open_trial(db, blobs, owner, "quiz", "second", OpenTrial(file=bad))


def test_a_round_takes_contexts_of_finished_questions(
    db: Session, blobs: Blobs, owner: Actor, quiz: None, tmp_path: Path
) -> None:
    """Of 16 questions on 8 passages a round takes 8 passages; a task of single texts has no contexts."""
    made = put_round(db, owner, 'task = "quiz"\ntitle = "Ask"\ntargets = {mode = "none"}')
    report = import_prompts(db, owner, made.ref, _questions(tmp_path, 8), contexts=True)
    assert (report.rows, report.added, report.repeated) == (16, 8, 8)
    assert {tuple(one.inputs) for one in db.scalars(select(Prompt))} == {("passage",)}
    put_task(db, owner, TASK)
    texts = put_round(db, owner, 'task = "mood"\ntitle = "Write"\ntargets = {mode = "none"}')
    file = tmp_path / "texts.csv"
    file.write_text("text\nhello\n")
    with pytest.raises(BadInput, match="texts of their own"):
        import_prompts(db, owner, texts.ref, file, contexts=True)
