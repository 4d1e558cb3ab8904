"""A simulated crowd in a real trial: they enter, are trained, write, are graded, read letters, and others judge.

Everything goes through the services that real people go through, and each stage is closed when nobody has anything left
to do there. People are called after the seed, and shown as simulated; a trial that this begins is called so, too. Time
passes as they work, without being waited for, from some days ago until now. Whoever was interrupted goes on with the
same seed: the same people come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.people import OPERATOR
from quintain.core.records.trial import CrowdTrial, SimulatedTrial
from quintain.core.task import Task
from quintain.services.harvest.model import sentence_field
from quintain.services.tasks.definitions import get_task
from quintain.services.trial import trials
from quintain.services.trial.trials import OpenTrial
from quintain.simulate.clock import SimulatedClock
from quintain.simulate.crowd_drive import CrowdDrive, CrowdSize, Progress, known_labels
from quintain.simulate.reviews import CONSTRUCTIONS, PLAIN
from quintain.simulate.strangers import MARK, refuse_strangers
from quintain.store.base import clock, now

DAYS = 21.0  # a trial that is begun here began so long ago


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a trial is begun with that is not there: protocols, as TOML, and where contexts come from."""

    protocols: Sequence[str] = ()
    opening: OpenTrial = field(default_factory=OpenTrial)


def simulate_trial(
    workspace: Workspace,
    ref: tuple[str, str],
    seed: int,
    size: CrowdSize | None = None,
    beginning: Beginning | None = None,
    *,
    progress: Progress | None = None,
    anyway: bool = False,
) -> SimulatedTrial:
    """Let a simulated crowd go through the trial *ref*, (task, name), which is begun where it is not there.

    Where real people take part in it, or it is not called simulated, that is refused unless they are to mix *anyway*.
    """
    report = progress or (lambda *_: None)
    with workspace.session() as db:
        task = _fit_task(db, ref[0])
        trial = _find(db, ref)
        if not anyway:
            _refuse_real(db, ref, trial)
        began = trial.opened_at if trial is not None and trial.opened_at else now() - timedelta(days=DAYS)
        time = SimulatedClock(began)
        with clock(time):
            _open(db, workspace, ref, trial, beginning or Beginning())
            crowd = CrowdDrive(workspace, db, task, ref, seed, size or CrowdSize(), time, report)
            crowd.go_through()
            return crowd.judge_and_ask()


def _fit_task(db: Session, name: str) -> Task:
    """Return the task; refuse one that simulated people cannot write for."""
    task = get_task(db, name)
    sentence_field(task)
    if len(known_labels(task)) < 2:
        raise BadInput(
            "Simulated people write about what they like and dislike; of the labels of '{task}' they know {known}.",
            task=name,
            known=", ".join(known_labels(task)) or "–",
            remedy="Give the task labels such as {labels}.",
            labels=", ".join(CONSTRUCTIONS[PLAIN]),
        )
    return task


def _find(db: Session, ref: tuple[str, str]) -> CrowdTrial | None:
    try:
        return trials.get_trial(db, OPERATOR, *ref)
    except NotFound:
        return None


def _refuse_real(db: Session, ref: tuple[str, str], trial: CrowdTrial | None) -> None:
    if trial is None:
        refuse_strangers(db, ref[0])
    elif not trial.title.startswith(MARK):
        raise Conflict(
            "Trial {task}/{name} is not called simulated, and simulated people would mix with real ones.",
            task=ref[0],
            name=ref[1],
            remedy="Begin a trial of its own, or give --anyway.",
        )


def _open(
    db: Session, workspace: Workspace, ref: tuple[str, str], trial: CrowdTrial | None, beginning: Beginning
) -> None:
    """Begin the trial where it is not there, and let people enter."""
    if trial is None:
        if not beginning.protocols:
            raise BadInput("There is no trial '{task}/{name}'.", task=ref[0], name=ref[1], remedy="Name its protocols.")
        title = f"{MARK} trial {ref[1]}"
        trial = trials.put_trial(db, OPERATOR, *ref, beginning.protocols, title=title)
    if trial.state == "draft":
        trials.open_trial(db, workspace.blobs, OPERATOR, *ref, beginning.opening)
    elif trial.state != "open" or trial.simulated:
        raise Conflict("Trial {task}/{name} takes nobody in.", task=ref[0], name=ref[1])
