"""The report of a trial as it is kept: made when facts have arrived, of many by a worker, and shown with its time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Unavailable
from quintain.core.hashing import content_id
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.jobs import JobStanding
from quintain.core.records.report import Report
from quintain.reports.plain import from_plain, to_plain
from quintain.services.access.permissions import require_owner
from quintain.services.jobs import figures
from quintain.services.jobs.figures import FigureKind, ReportProgress, files
from quintain.services.pay.policy import policy_of
from quintain.services.trial.judged_items import find_pool
from quintain.services.trial.model_runs import states_of_runs
from quintain.services.trial.pool import final_round
from quintain.services.trial.reporting import report
from quintain.services.trial.trials import find_trial, may_read
from quintain.services.validate.types import ValidationInfo
from quintain.store.blobs import Blobs
from quintain.store.queries.trial import pool as pool_queries
from quintain.store.queries.trial import trials as queries
from quintain.store.queries.validate import intake, judgements
from quintain.store.queries.validate.validation import newest_facts
from quintain.store.tables import CrowdTrial

SHAPE = 1  # of what is kept: reports of another shape are made anew
AT_ONCE = 3_000  # judgements of which a report is made while somebody waits: about a quarter of a second
SOON_S = 5


@dataclass(frozen=True, slots=True)
class ShownTrialReport:
    """The report as it is known, None where it was never made; where it is not *fresh*, *job* makes the next one."""

    report: Report | None
    computed_at: datetime | None
    fresh: bool
    job: JobStanding | None


def shown_report(db: Session, blobs: Blobs, actor: Actor, task: str, name: str) -> ShownTrialReport:
    """Return the report of a trial as it is known (owners); that of a simulated trial is for everybody."""
    if not may_read(db, actor, find_trial(db, task, name), task):
        require_owner(actor, task)
    shown = figures.shown_figure(db, blobs, REPORT, f"{task}/{name}", task=task)
    return ShownTrialReport(from_plain(shown.value) if shown.value else None, shown.computed_at, shown.fresh, shown.job)


def get_report(db: Session, blobs: Blobs, actor: Actor, task: str, name: str) -> Report:
    """Return the report of a trial; refuse for now where the first one is being made."""
    report = shown_report(db, blobs, actor, task, name).report
    if report is None:
        raise Unavailable(
            "The report is being made: there is much to read, so that a worker does it.",
            retry_after=SOON_S,
            remedy="Try again in a moment; where no worker runs, start one: quintain worker.",
            page="Look again in a moment. A worker makes it.",
            code="report_pending",
        )
    return report


def _named(db: Session, subject: str) -> tuple[str, CrowdTrial, ValidationInfo | None]:
    task, _, name = subject.partition("/")
    trial = find_trial(db, task, name)
    return task, trial, None if trial.data else find_pool(db, task, name)


def _basis(db: Session, subject: str) -> str:
    """Name what was written, said, judged, run and paid, by the ends of their indices."""
    task, trial, pool = _named(db, subject)
    if trial.data:
        return f"{SHAPE}/{trial.data}"
    arms = queries.arms(db, trial.id)
    parts = [pool_queries.newest_pay(db, trial.task_id), states_of_runs(db, task, trial.name)]
    rules: list[object] = [trial.title, policy_of(db, trial.task_id)]
    for arm in arms:
        round_id = final_round(db, arm)
        parts += [str(queries.newest_event(db, arm.id)), intake.mark(db, round_id) if round_id is not None else ""]
    if pool is not None:
        parts += [newest_facts(db, pool.id, None), str(pool.revision)]
        rules += [pool.policy, pool.task]
    return f"{SHAPE}/{content_id([*parts, repr(rules)])}"


def _facts(db: Session, subject: str) -> int:
    """Count the judgements, and no further than matters."""
    _, _, pool = _named(db, subject)
    return 0 if pool is None else judgements.count_to(db, pool.id, AT_ONCE + 1)


def _compute(db: Session, blobs: Blobs | None, subject: str, tell: ReportProgress) -> Mapping[str, Any]:
    task, _, name = subject.partition("/")
    return to_plain(report(db, files(blobs), OPERATOR, task, name))


def _subjects(db: Session) -> Iterable[str]:
    """List the trials of which there is something to report."""
    refs = [f"{task}/{row.name}" for row, task in queries.all_of(db, None, 0, None)]
    return [ref for ref in refs if _named(db, ref)[1].data or _facts(db, ref)]


REPORT = FigureKind(
    "trial report",
    basis=_basis,
    facts=_facts,
    compute=_compute,
    subjects=_subjects,
    at_once=AT_ONCE,
    kept_always=True,
)
