"""Real people in a task, with whom simulated ones are not to mix."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import OPERATOR
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.trial.pool import pool_name
from quintain.services.trial.trials import list_trials
from quintain.services.validate.console.manage import list_validations

MARK = "Simulated"  # titles of rounds and trials begin with it


def refuse_strangers(db: Session, task: str) -> None:
    """Refuse a task that has rounds or validations of real people."""
    rounds = list_rounds(db, OPERATOR, task)
    ours = {str(one.number) for one in rounds if one.spec.title.startswith(MARK)}
    ours |= {pool_name(trial.name) for trial in list_trials(db, OPERATOR, task) if trial.title.startswith(MARK)}
    names = {str(one.number) for one in rounds} | {ref.rpartition("/")[2] for ref in list_validations(db, task)}
    strange = sorted(names - ours)
    if strange:
        raise Conflict(
            "Task '{task}' has rounds of real people here, such as {ref}, and simulated ones would mix with them.",
            task=task,
            ref=f"{task}/{strange[0]}",
            remedy="Simulate in a workspace of its own, or give --anyway.",
        )
