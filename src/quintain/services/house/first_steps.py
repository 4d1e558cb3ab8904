"""From an empty task to its first round: what is there, and what its owner does next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.jobs import JobStanding
from quintain.services.collect.rounds.manage import RoundInfo, list_rounds
from quintain.services.data.datasets import list_versions
from quintain.services.house.browse import TaskCard
from quintain.services.jobs import queue
from quintain.services.models import baselines


class FirstStep(StrEnum):
    """What a benchmark needs before people write for it, in order."""

    DATA = "data"
    MODELS = "models"
    BOARD = "board"
    ROUND = "round"


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """Which steps are done, and the one that is next; None where all are.

    *training* is the job that trains the baselines, while it is under way or where it failed; *trainable* says whether
    there is open data to train on.
    """

    done: frozenset[FirstStep]
    training: JobStanding | None
    trainable: bool
    newest_round: RoundInfo | None

    @property
    def next(self) -> FirstStep | None:
        """The first step that is not done."""
        return next((step for step in FirstStep if step not in self.done), None)


def first_steps(db: Session, actor: Actor, card: TaskCard) -> FirstSteps:
    """Return how far the task of *card* is; *actor* is one of its owners."""
    task = card.task.name
    versions = list_versions(db, actor, task)
    rounds = list_rounds(db, actor, task)
    job = queue.newest(db, baselines.JOB, task)
    done = {
        FirstStep.DATA: bool(versions),
        FirstStep.MODELS: card.models > 0,
        FirstStep.BOARD: any(version.scores for version in versions),
        FirstStep.ROUND: bool(rounds),
    }
    return FirstSteps(
        frozenset(step for step, is_done in done.items() if is_done),
        job if job is not None and (job.going or job.state == "failed") else None,
        bool(baselines.training_sets(db, actor, task)),
        max(rounds, key=lambda info: info.number, default=None),
    )
