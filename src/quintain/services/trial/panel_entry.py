"""People from panels in a trial: in by its addresses, out with a code after a session, the tutorial, or some grades."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any, Literal

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, revision_of_spec, settled
from quintain.core.errors import Conflict, NotFound
from quintain.core.people import Actor
from quintain.core.records.trial import TrialEntries
from quintain.core.rounds import Entry
from quintain.core.spec import plain, read
from quintain.core.spec_changes import review
from quintain.core.texts import Text
from quintain.core.toml import parse_toml
from quintain.core.trial_entry import TrialEntry
from quintain.services.access import audit
from quintain.services.access.passwords import fingerprint
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.collect.panels.admission import Door, PanelArrival, Visitor
from quintain.services.collect.panels.entry import Completion, address_for
from quintain.services.collect.panels.panel_entry import arrive, entry_key, go_back, may_go_back
from quintain.services.collect.panels.panel_ids import panel_ids
from quintain.services.trial.courses import course_of
from quintain.services.trial.entry import require_entry
from quintain.services.trial.progress import arm_of
from quintain.services.trial.trials import find_trial
from quintain.services.validate.judging import panel_entry as judging
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import panels
from quintain.store.queries.trial import stays as queries
from quintain.store.queries.trial import trials as trial_queries
from quintain.store.tables import CrowdArm, CrowdTrial
from quintain.tasks.writing import dump_toml

BACK = Text("Return to the panel; nothing is owed and nothing is lost.")
What = Literal["trial", "grading"]


def put_doors(
    db: Session,
    actor: Actor,
    task: str,
    name: str,
    text: str,
    *,
    base_url: str,
    file: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> TrialEntries:
    """Set by a TOML *text* how people from panels come into a trial and go back (owners)."""
    return set_doors(db, actor, task, name, parse_toml(text, file=file), base_url=base_url, file=file, edit=edit)


def set_doors(
    db: Session,
    actor: Actor,
    task: str,
    name: str,
    data: Mapping[str, Any],
    *,
    base_url: str,
    file: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> TrialEntries:
    """Set by plain data how people from panels come into a trial and go back (owners).

    *edit* says what the data was made from.
    """
    require_owner(actor, task)
    doors = read(TrialEntry, data, file=file)
    with transaction(db):
        lock(db, f"doors of {task}/{name}")
        trial = find_trial(db, task, name)
        db.refresh(trial)
        doors = settled(edit, doors_of(trial), doors, partial(read, TrialEntry))
        if trial.data:
            raise Conflict("Trial {task}/{name} takes nobody in.", task=task, name=name)
        review(edit, plain(doors_of(trial), whole=True), plain(doors, whole=True), data, file)
        trial.doors = plain(doors)
        audit.record(db, actor, "trial.doors", f"{task}/{name}")
    return get_doors(db, actor, task, name, base_url=base_url)


def get_doors(db: Session, actor: Actor, task: str, name: str, *, base_url: str) -> TrialEntries:
    """Return the doors of a trial, with the addresses that panels send people to (owners)."""
    require_owner(actor, task)
    trial = find_trial(db, task, name)
    doors = doors_of(trial)
    entry, grading = (
        None if one is None else address_for(one, entry_key(db, _panel_place(what, trial)), base_url)
        for what, one in (("trial", doors.entry), ("grading", doors.grading))
    )
    toml = dump_toml(plain(doors))
    return TrialEntries(f"{task}/{name}", entry, grading, doors.batch, toml, revision_of_spec(doors))


def doors_of(trial: CrowdTrial) -> TrialEntry:
    """Return the doors of a trial."""
    return read(TrialEntry, trial.doors or {})


def enter(db: Session, key: str, parameters: Mapping[str, str], visitor: Visitor) -> PanelArrival:
    """Let somebody in who came from a panel: to write, to judge, to take part in a trial or to grade in one."""
    target = panels.place_of(db, key) if "\x00" not in key else None
    what, _, number = (target or "").partition(":")
    if what not in {"trial", "grading"}:
        return judging.enter(db, key, parameters, visitor)
    trial, task = trial_queries.by_id(db, int(number))
    door = _door(trial, task, "grading" if what == "grading" else "trial")
    if door is None:
        raise NotFound("This address leads nowhere.", remedy="Check the link in the panel's study.")

    def check() -> None:
        _require_open(trial, task)
        if what == "trial":
            _require_entry(db, trial, door.entry, parameters, visitor.device)

    return arrive(db, door, parameters, check, visitor)


def complete(db: Session, actor: Actor, task: str, name: str, what: What) -> Completion:
    """Return what somebody who came from a panel, and has done enough since, needs to go back and be paid."""
    user_id = require_user(actor)
    trial = find_trial(db, task, name)
    door = _door(trial, task, what)
    completion = None
    if door is not None:
        missing = Text("You have not graded enough yet.") if what == "grading" else Text("Nothing is finished yet.")
        completion = go_back(db, actor, door, lambda moment: _done(db, trial, user_id, what, moment), missing)
    if completion is None:
        raise NotFound("You did not come to this trial from a panel.")
    return completion


def may_complete(db: Session, actor: Actor, task: str, name: str, what: What) -> bool:
    """Whether a code waits for the actor; nothing is written."""
    trial, user_id = find_trial(db, task, name), actor.user_id
    if trial.doors is None or user_id is None or _entry(trial, what) is None:
        return False
    return may_go_back(db, actor, _panel_place(what, trial), lambda moment: _done(db, trial, user_id, what, moment))


def came_by_panel(db: Session, actor: Actor, task: str, name: str) -> bool:
    """Whether a panel sent the actor to take part: to there they can return."""
    trial = find_trial(db, task, name)
    if trial.doors is None or actor.user_id is None:
        return False
    return panels.newest_stay(db, _panel_place("trial", trial), actor.user_id) is not None


def came_as_expert(db: Session, trial: CrowdTrial, user_id: int) -> bool:
    """Whether somebody came by the door for grading of a trial whose owner lets experts in by it.

    They hold no role: where the owner shuts the door, or lets nobody be an expert by it, they grade no more. When the
    trial is closed, they hand in what they were given.
    """
    doors = doors_of(trial)
    if trial.state == "draft" or doors.grading is None or not doors.experts:
        return False
    return panels.newest_stay(db, _panel_place("grading", trial), user_id) is not None


def _done(db: Session, trial: CrowdTrial, user_id: int, what: What, since: datetime) -> bool:
    """Whether somebody has done enough since a moment."""
    own = arm_of(db, trial, user_id)
    if what == "trial":
        return own is not None and queries.finished_since(db, own.id, user_id, since)
    arms = [own] if own is not None else [*trial_queries.arms(db, trial.id)]
    graded = queries.graded_since(db, [arm.id for arm in arms], user_id, since)
    if graded >= doors_of(trial).batch:
        return True
    return graded > 0 and not any(_waits(db, trial, arm, user_id) for arm in arms)


def _waits(db: Session, trial: CrowdTrial, arm: CrowdArm, user_id: int) -> bool:
    with course_of(db, trial, arm) as course:
        return any(course.waiting(stage, str(user_id)) for stage in course.gradings())


def _require_open(trial: CrowdTrial, task: str) -> None:
    if trial.state != "open":
        raise Conflict(
            "Trial {task}/{name} is not open.",
            task=task,
            name=trial.name,
            remedy=BACK,
        )


def _require_entry(db: Session, trial: CrowdTrial, entry: Entry, parameters: Mapping[str, str], device: str) -> None:
    """Send those back who come too late; who takes part comes in again and again."""
    ids = panel_ids(entry, parameters, fingerprint(device) if device else "")
    known = panels.person(db, entry.provider, ids.person)
    if known is None or arm_of(db, trial, known.id) is None:
        require_entry(db, trial, BACK)


def _entry(trial: CrowdTrial, what: What) -> Entry | None:
    doors = doors_of(trial)
    return doors.grading if what == "grading" else doors.entry


def _door(trial: CrowdTrial, task: str, what: What) -> Door | None:
    entry = _entry(trial, what)
    if entry is None:
        return None
    page = f"/tasks/{task}/trials/{trial.name}"
    page += "/grade" if what == "grading" else ""
    return Door(_panel_place(what, trial), entry, page, task, trial.task_id, f"{task}/{trial.name}")


def _panel_place(what: str, trial: CrowdTrial) -> str:
    return f"{what}:{trial.id}"
