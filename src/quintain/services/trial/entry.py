"""How long people can enter a trial: until a stage of any arm is closed, and then no arm takes anybody in.

Who came later would be drawn into the arms that are still open only, so that these had other people than the others;
and whoever was refused by one arm would know that there are several.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.texts import Text
from quintain.services.trial.courses import course_of
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdTrial

OVER = Text("Nobody can enter any more: those who take part are further on.")
ELSEWHERE = Text("See what other work there is.")


def entering(trial_id: int) -> str:
    """Name what is locked while somebody enters, or entry ends."""
    return f"entering trial {trial_id}"


def is_over(db: Session, trial: CrowdTrial) -> bool:
    """Whether a stage of any arm is closed."""
    for arm in queries.arms(db, trial.id):
        with course_of(db, trial, arm) as course:
            if course.arm.closed:
                return True
    return False


def require_entry(db: Session, trial: CrowdTrial, remedy: Text = ELSEWHERE) -> None:
    """Refuse somebody who comes too late, and say what they can do."""
    if is_over(db, trial):
        raise Conflict(OVER, remedy=remedy, code="entry_over")
