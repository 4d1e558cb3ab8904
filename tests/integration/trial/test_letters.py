"""Letters to those who do not go on can be changed before they go out; the shell edits, replies and answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.notify import list_notifications
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.letters import edit_letter, letters, note_reply
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.stages import close_stage, readmit
from quintain.services.trial.trials import open_trial, put_trial
from quintain.store.blobs import Blobs
from tests.collecting import TASK, writers
from tests.integration.trial.life import TRAINED, WHERE, grade_all, train
from tests.people import make_person

AT = {"arm": "trained", "stage": "qualify"}


def _graded(db: Session, blobs: Blobs, owner: Actor) -> list[Actor]:
    """Let four people write and an expert grade, so that the qualification can be closed."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [TRAINED])
    open_trial(db, blobs, owner, *WHERE)
    people = writers(db, 4)
    for one in people:
        enter(db, one, *WHERE)
        train(db, blobs, one)
        trial_part(db, one, *WHERE)
    close_stage(db, owner, *WHERE, "trained", "tutorial")
    grade_all(db, make_person(db, "eva", RoleName.EXPERT))
    assert letters(db, owner, *WHERE, *AT.values()) == []  # nothing is decided while grades can change
    close_stage(db, owner, *WHERE, "trained", "grades")
    return people


@pytest.mark.both_databases
def test_a_letter_to_somebody_turned_away_can_be_changed_before(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Before the qualification is closed its owner reads who will not go on and why; what they write is sent."""
    people = {one.name: one for one in _graded(db, blobs, owner)}
    drafts = letters(db, owner, *WHERE, *AT.values())
    assert len(drafts) == 2
    assert all("You do not go on" in one.text and not one.sent for one in drafts)
    first, second = (one.person for one in drafts)
    edit_letter(db, owner, *WHERE, **AT, person=first, text="We are sorry.")
    passing = next(one for one in people if one not in {first, second})
    with pytest.raises(NotFound, match="no letter to"):
        edit_letter(db, owner, *WHERE, **AT, person=passing, text="You are out.")
    assert all(trial_part(db, one, *WHERE).letters == [] for one in people.values())
    close_stage(db, owner, *WHERE, "trained", "qualify")
    sent = {one.person: one for one in letters(db, owner, *WHERE, *AT.values())}
    assert {*sent} == {first, second}
    assert all(one.sent and one.turned_away for one in sent.values())
    assert [one.text for one in trial_part(db, people[first], *WHERE).letters] == ["We are sorry."]
    assert "You do not go on" in trial_part(db, people[second], *WHERE).letters[0].text
    assert trial_part(db, people[passing], *WHERE).letters == []
    readmit(db, owner, *WHERE, **AT, person=first)
    assert trial_part(db, people[first], *WHERE).what == "wait"


def test_a_reply_that_came_by_mail_is_noted(db: Session, blobs: Blobs, owner: Actor) -> None:
    """An owner notes it; not before the letter has gone out, not empty, and nobody else can."""
    people = {one.name: one for one in _graded(db, blobs, owner)}
    person = letters(db, owner, *WHERE, *AT.values())[0].person
    with pytest.raises(NotFound, match="has gone out"):
        note_reply(db, owner, *WHERE, **AT, person=person, text="Why?")
    close_stage(db, owner, *WHERE, "trained", "qualify")
    with pytest.raises(Forbidden):
        note_reply(db, people[person], *WHERE, **AT, person=person, text="Why?")
    with pytest.raises(BadInput):
        note_reply(db, owner, *WHERE, **AT, person=person, text=" ")
    note_reply(db, owner, *WHERE, **AT, person=person, text="Why?", appeal=True)
    (letter,) = trial_part(db, people[person], *WHERE).letters
    assert (letter.reply, letter.appeal) == ("Why?", True)


def test_the_shell_edits_replies_and_answers(
    workspace: Workspace, tmp_path: Path, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the draft to the answer without a page; the person is told."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    with workspace.session() as db:
        people = {one.name: one for one in _graded(db, workspace.blobs, OPERATOR)}
    where = ("--workspace", workspace.settings.workspace, "trial")
    place = ("/".join(WHERE), *AT.values())
    drafts = json.loads(cli(*where, "letters", *place, "--json").stdout)
    person = drafts[0]["person"]
    path = tmp_path / "letter.txt"
    path.write_text("We are sorry.\n")
    edited = cli(*where, "edit-letter", *place, person, path)
    assert (edited.exit_code, edited.stdout) == (0, f"To {person}:\nWe are sorry.\n\n"), edited.output
    assert cli(*where, "answer", *place, person, "Yes.").exit_code == 1  # there is nothing to answer
    assert cli(*where, "close-stage", *place).exit_code == 0
    assert cli(*where, "edit-letter", *place, person, path).exit_code == 1  # it has gone out
    replied = json.loads(cli(*where, "reply", *place, person, "Look again.", "--appeal", "--json").stdout)
    assert (replied["reply"], replied["appeal"], replied["sent"]) == ("Look again.", True, True)
    assert "Answer: You go on." in cli(*where, "answer", *place, person, "You go on.").stdout
    assert cli(*where, "readmit", *place, person).exit_code == 0
    with workspace.session() as db:
        told = [one.text for one in list_notifications(db, people[person])]
    assert any("You go on." in one for one in told)
