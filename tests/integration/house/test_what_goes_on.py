"""Who archives a task is told what goes on in it: whoever knows the address takes part in an archived task, too."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Actor
from quintain.core.validation import ValidationState
from quintain.services.access.links import make_link, redeem_link
from quintain.services.house.overview import running_in
from quintain.services.trial.trials import OpenTrial, open_trial, put_trial
from quintain.services.validate.console.manage import set_state
from quintain.store.blobs import Blobs
from tests.integration.trial.life import PLAIN, WHERE
from tests.validation_support import REF, make_ground
from tests.web_support import PASSWORD, browser_of


def test_trials_and_judging_are_named_before_a_task_is_archived(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor
) -> None:
    """Both stand on the page and in its question; what is closed does not."""
    make_ground(db, owner, 5)
    put_trial(db, owner, *WHERE, [PLAIN], title="Mood of texts")
    open_trial(db, blobs, owner, *WHERE, OpenTrial())
    running = running_in(db, owner, "mood")
    assert ([trial.title for trial in running.trials], running.judgings) == (["Mood of texts"], [REF.partition("/")[2]])
    db.rollback()
    redeem_link(db, make_link(db, OPERATOR, owner.name).token, PASSWORD)
    with browser_of(workspace, owner.name) as browser:
        page = browser.get("/tasks/mood/settings").text
    assert "/tasks/mood/trials/" in page
    assert f"/tasks/mood/validation/{REF.partition('/')[2]}" in page
    assert "What goes on in it goes on" in page
    set_state(db, owner, REF, ValidationState.CLOSED)
    assert running_in(db, owner, "mood").judgings == []
