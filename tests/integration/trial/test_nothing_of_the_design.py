"""Who takes part sees their own part: no list of trials, no word of arms, no report, in pages and from the API."""

from __future__ import annotations

import json
import re

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import Forbidden, NotFound, NotSignedIn
from quintain.core.people import ANONYMOUS, Actor, RoleName
from quintain.data.trials import TrialArm, TrialItem
from quintain.protocols.reading import shipped_text
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.offers import grades_waiting, own_trials
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.rubric import next_to_grade
from quintain.services.trial.stages import close_stage
from quintain.services.trial.stored_report import shown_report
from quintain.services.trial.trials import close_trial, get_trial, keep_simulated, list_trials
from quintain.store.blobs import Blobs
from quintain.web.sidebar import sidebar_of
from tests.collecting import writers
from tests.integration.trial.life import TASK, WHERE, begin, train, write
from tests.people import make_person


def _rehearsed(db: Session, blobs: Blobs, owner: Actor) -> None:
    votes = tuple((f"j{number}", "positive") for number in range(2))
    arm = TrialArm("baseline", [TrialItem(f"i{number}", "w", "positive", votes) for number in range(3)])
    keep_simulated(db, blobs, owner, ("mood", "rehearsal"), [(shipped_text("baseline"), arm)], title="Rehearsal")


def test_a_worker_finds_their_own_part_and_no_other_trial(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Open trials are there to enter; simulated ones and their reports are hidden while a real one runs."""
    put_task(db, owner, TASK)
    _rehearsed(db, blobs, owner)
    (worker,) = writers(db, 1)
    for actor in (worker, ANONYMOUS):
        assert [one.name for one in list_trials(db, actor, "mood")] == ["rehearsal"]
    begin(db, blobs, owner)
    for actor in (worker, ANONYMOUS):
        assert [one.name for one in list_trials(db, actor, "mood")] == ["training"]
        with pytest.raises(NotFound):
            get_trial(db, actor, "mood", "rehearsal")
        with pytest.raises((Forbidden, NotSignedIn)):
            shown_report(db, blobs, actor, "mood", "rehearsal")
    assert [one.name for one in list_trials(db, owner, "mood")] == ["training", "rehearsal"]
    assert [(one.name, one.what) for one in own_trials(db, worker, "mood")] == [("training", "enter")]
    enter(db, worker, *WHERE)
    assert [one.what for one in own_trials(db, worker, "mood")] == ["work"]
    shown = json.dumps([one.__class__.__name__ for one in list_trials(db, worker)]) + str(get_trial(db, worker, *WHERE))
    assert not re.search(r"\barm_|plain|trained|protocol", shown)
    close_trial(db, owner, *WHERE)
    assert {one.name for one in list_trials(db, worker, "mood")} == {"training", "rehearsal"}
    assert [one.name for one in list_trials(db, ANONYMOUS, "mood")] == ["rehearsal"]


def test_the_menu_of_a_worker_has_no_trials() -> None:
    """Owners and experts have the entry; whoever writes does not."""

    def rooms(**rights: bool) -> set[str]:
        said = {"signed_in": True, "owner": False, "expert": False, **rights}
        return {entry.key for group in sidebar_of(str, "mood", **said) for entry in group.entries}

    assert "trials" not in rooms()
    assert "trials" not in rooms(signed_in=False)
    assert "trials" in rooms(expert=True)
    assert "trials" in rooms(owner=True)


def test_an_experts_page_leads_to_what_waits_for_grades(db: Session, blobs: Blobs, owner: Actor) -> None:
    """It counts the items that wait for them; who takes part is no expert there."""
    begin(db, blobs, owner)
    people = writers(db, 4)
    for one in people:
        enter(db, one, *WHERE)
        if trial_part(db, one, *WHERE).quiz:
            train(db, blobs, one)
        else:
            write(db, blobs, one)
        trial_part(db, one, *WHERE)
    expert = make_person(db, "eva", RoleName.EXPERT)
    assert grades_waiting(db, expert, *WHERE) == 0
    close_stage(db, owner, *WHERE, "trained", "tutorial")
    assert grades_waiting(db, expert, *WHERE) == 2
    assert [(one.what, one.to_grade) for one in own_trials(db, expert, "mood")] == [("", 2)]
    assert grades_waiting(db, people[0], *WHERE) is None
    with pytest.raises(Forbidden, match="nothing for you to grade"):
        next_to_grade(db, make_person(db, "wim", RoleName.WORKER), *WHERE)
