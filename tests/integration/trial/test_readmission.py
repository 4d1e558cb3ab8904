"""Somebody who was turned away reads why, appeals, and is let back in: from the record, with all that follows."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import Actor, RoleName
from quintain.protocols.engine import replay
from quintain.protocols.events import Event
from quintain.protocols.reading import parse_protocol
from quintain.services.access.notify import list_notifications
from quintain.services.access.sign_in import start_session
from quintain.services.pay.earnings import my_earnings
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.courses import course_of
from quintain.services.trial.letters import letters, reply
from quintain.services.trial.participation import enter, leave, trial_part
from quintain.services.trial.stages import close_stage, readmit
from quintain.services.trial.trials import OpenTrial, find_trial, get_trial, open_trial, put_trial
from quintain.store.blobs import Blobs
from quintain.store.queries.trial.trials import events_from
from quintain.store.tables import CrowdArm
from tests.collecting import TASK, writers
from tests.integration.trial.life import TRAINED, WHERE, grade_all, train, write
from tests.people import make_person
from tests.web_support import browser_of, post

AT = {"arm": "trained", "stage": "qualify"}


@pytest.fixture
def people(db: Session, blobs: Blobs, owner: Actor) -> tuple[Actor, Actor]:
    """Two people of whom the first has qualified and the second was turned away."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [TRAINED], title="Mood of texts")
    open_trial(db, blobs, owner, *WHERE, OpenTrial())
    found = writers(db, 2)
    for one in found:
        enter(db, one, *WHERE)
        train(db, blobs, one)
        trial_part(db, one, *WHERE)
    close_stage(db, owner, *WHERE, "trained", "tutorial")
    grade_all(db, make_person(db, "eva", RoleName.EXPERT))
    for stage in ("grades", "qualify"):
        close_stage(db, owner, *WHERE, "trained", stage)
    passed = [one for one in found if trial_part(db, one, *WHERE).what == "wait"]
    turned_away = [one for one in found if trial_part(db, one, *WHERE).what == "end"]
    return passed[0], turned_away[0]


def test_an_appeal_is_heard(db: Session, blobs: Blobs, owner: Actor, people: tuple[Actor, Actor]) -> None:
    """They read why, appeal, come to where others are, get the bonus, and write; the record gives the same again."""
    passed, away = people
    (letter,) = trial_part(db, away, *WHERE).letters
    assert "You do not go on, because others’ items had higher scores." in letter.text
    assert trial_part(db, passed, *WHERE).letters == []
    reply(db, away, *WHERE, "qualify", "Please look again.", appeal=True)
    (told,) = letters(db, owner, *WHERE, "trained", "qualify")
    assert (told.person, told.appeal, told.turned_away) == (away.name, True, True)
    close_stage(db, owner, *WHERE, "trained", "feedback")
    with pytest.raises(Forbidden):
        readmit(db, away, *WHERE, **AT, person=away.name)
    with pytest.raises(Conflict, match="was not turned away"):
        readmit(db, owner, *WHERE, **AT, person=passed.name)
    readmit(db, owner, *WHERE, **AT, person=away.name)
    with pytest.raises(Conflict, match="was not turned away"):
        readmit(db, owner, *WHERE, **AT, person=away.name)
    assert not letters(db, owner, *WHERE, "trained", "qualify")[0].turned_away
    assert any("you go on" in one.text for one in list_notifications(db, away))
    part = trial_part(db, away, *WHERE)
    assert (part.what, part.stage) == ("work", "final")
    assert sorted(one.amount for one in my_earnings(db, away)) == [150, 350]
    write(db, blobs, away)
    assert sorted(one.amount for one in my_earnings(db, away)) == [100, 150, 350]
    trial, arm = find_trial(db, *WHERE), db.scalars(select(CrowdArm)).one()
    trial_part(db, away, *WHERE)
    events = [Event.of(body) for _, _, body in events_from(db, arm.id, 1)]
    with course_of(db, trial, arm) as course:
        assert replay(parse_protocol(TRAINED), events, trial.seed).arm == course.arm


def test_it_can_be_too_late(db: Session, blobs: Blobs, owner: Actor, people: tuple[Actor, Actor]) -> None:
    """Once the stage of writing that follows is closed, nobody comes back, and nothing changes."""
    _, away = people
    close_stage(db, owner, *WHERE, "trained", "feedback")
    close_stage(db, owner, *WHERE, "trained", "final")
    before = get_trial(db, owner, *WHERE)
    with pytest.raises(Conflict, match="cannot go on any more: final is closed"):
        readmit(db, owner, *WHERE, **AT, person=away.name)
    assert get_trial(db, owner, *WHERE) == before


def test_an_owner_lets_somebody_back_on_the_page(
    db: Session, workspace: Workspace, owner: Actor, people: tuple[Actor, Actor]
) -> None:
    """The page of the stage's letters has the appeal and the button."""
    passed, away = people
    page = "/tasks/mood/trials/training/letters/trained/qualify"
    with browser_of(workspace) as client:
        client.cookies.set("quintain_session", start_session(db, owner).token)
        assert "Let them go on" in client.get(page).text
        address = "/tasks/mood/trials/training/readmit/trained/qualify"
        assert post(client, page, address, person=away.name).status_code == 303
        assert "Let them go on" not in client.get(page).text
        assert post(client, page, address, person=passed.name).status_code == 409
    assert trial_part(db, away, *WHERE).what == "wait"
    leave(db, away, *WHERE)
    assert trial_part(db, away, *WHERE).what == "end"
