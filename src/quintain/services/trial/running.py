"""What an owner does while a trial runs: close stages, which lets people go on and sends letters."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.records.trial import CrowdTrial as TrialRecord
from quintain.protocols.events import closed
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.trial.courses import course_of, record
from quintain.services.trial.earnings import settle
from quintain.services.trial.letters import send
from quintain.services.trial.progress import give_passes, sync
from quintain.services.trial.trials import find, find_arm, get_trial
from quintain.store.database import transaction
from quintain.store.queries.trial import leases


def close_stage(
    db: Session, actor: Actor, task: str, name: str, arm_name: str, stage: str, *, force: bool = False
) -> TrialRecord:
    """Close a stage of an arm: those who wait there go on; letters of a stage of feedback go out."""
    require_owner(actor, task)
    with transaction(db):
        trial = find(db, task, name)
        if trial.state != "open":
            raise Conflict("Trial {task}/{name} is not open.", task=task, name=name)
        arm = find_arm(db, trial, arm_name)
        sync(db, trial, arm)
        with course_of(db, trial, arm) as course:
            feedback = any(one.name == stage and one.feedback for one in course.protocol.stages)
        if feedback:
            send(db, trial, arm, stage, task)
        record(db, trial, arm, closed(stage, force=force), actor.user_id)
        leases.drop(db, arm.id, stage)
        give_passes(db, trial, arm)
        with course_of(db, trial, arm) as course:
            settle(db, trial, arm, course)
        audit.record(db, actor, "trial.close-stage", f"{task}/{name}", arm=arm_name, stage=stage, force=force)
    return get_trial(db, actor, task, name)
