"""What an owner does while a trial runs: close stages, which lets people go on and sends letters; let somebody back."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.records.trial import CrowdTrial as TrialRecord
from quintain.core.texts import Text
from quintain.protocols.events import closed, readmitted
from quintain.services.access import audit
from quintain.services.access.actors import find_user
from quintain.services.access.notify import notify
from quintain.services.access.permissions import require_owner
from quintain.services.trial.courses import course_of, record
from quintain.services.trial.earnings import pay_amounts_due, pay_unfinished
from quintain.services.trial.entry import entering
from quintain.services.trial.letters import notify_turned_away, send
from quintain.services.trial.progress import give_stage_qualifications, sync
from quintain.services.trial.trials import find_arm, find_trial, get_trial
from quintain.store.database import lock, transaction


def close_stage(
    db: Session, actor: Actor, task: str, name: str, arm_name: str, stage: str, *, force: bool = False
) -> TrialRecord:
    """Close a stage of an arm: those who wait there go on; letters of a stage of feedback go out."""
    require_owner(actor, task)
    with transaction(db):
        trial = find_trial(db, task, name)
        if trial.state != "open":
            raise Conflict("Trial {task}/{name} is not open.", task=task, name=name)
        arm = find_arm(db, trial, arm_name)
        lock(db, entering(trial.id))  # who enters meanwhile would come after entry is over
        sync(db, trial, arm)
        with course_of(db, trial, arm) as course:
            kind = next((one.kind for one in course.protocol.stages if one.name == stage), "")
        if kind == "feedback":
            send(db, trial, arm, stage, task)
        with course_of(db, trial, arm) as course:
            here = course.at(stage)
        pay_unfinished(db, trial, arm, here)
        record(db, trial, arm, closed(stage, force=force), actor.user_id)
        if kind == "qualification":
            notify_turned_away(db, trial, arm, stage, task)
        give_stage_qualifications(db, trial, arm)
        with course_of(db, trial, arm) as course:
            pay_amounts_due(db, trial, arm, course)
        audit.record(db, actor, "trial.close-stage", f"{task}/{name}", arm=arm_name, stage=stage, force=force)
    return get_trial(db, actor, task, name)


def readmit(db: Session, actor: Actor, task: str, name: str, *, arm: str, stage: str, person: str) -> TrialRecord:
    """Let somebody go on whom a qualification turned away, as after an appeal; they get what those who passed got."""
    require_owner(actor, task)
    with transaction(db):
        trial = find_trial(db, task, name)
        if trial.state != "open":
            raise Conflict("Trial {task}/{name} is not open.", task=task, name=name)
        row, user = find_arm(db, trial, arm), find_user(db, person)
        sync(db, trial, row)
        record(db, trial, row, readmitted(str(user.id), stage), actor.user_id)
        give_stage_qualifications(db, trial, row, [str(user.id)])
        with course_of(db, trial, row) as course:
            pay_amounts_due(db, trial, row, course, [str(user.id)])
        audit.record(db, actor, "trial.readmit", f"{task}/{name}", arm=arm, stage=stage, user=user.id)
        message = Text("We have looked at the decision again: you go on in {trial}.", trial=trial.title or name)
        notify(db, user.id, "trial.readmit", message, f"/tasks/{task}/trials/{name}")
    return get_trial(db, actor, task, name)
