"""The one door to reports: what can be asked for, and the report itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor, RoleName
from quintain.core.records.report import Report, ReportChoices, ReportKind
from quintain.core.rounds import RoundState
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.data.datasets import list_versions
from quintain.services.study.compare import compare_report
from quintain.services.study.judged import relabel_report, workers_report
from quintain.services.study.models import models_report
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.console.manage import list_validations
from quintain.store.blobs import Blobs


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A report to make of a task: *rounds* and *harvests* for `compare`, a *validation* for `relabel` and `workers`."""

    task: str
    kind: ReportKind
    rounds: Sequence[int] = ()
    harvests: Sequence[str] = ()
    validation: str = ""
    seed: int = 0


def make_report(db: Session, blobs: Blobs, actor: Actor, request: ReportRequest) -> Report:
    """Make the report of a *request*. `models` is for everybody, the others are for the task's owners."""
    if request.kind == "models":
        return models_report(db, blobs, actor, request.task, seed=request.seed)
    if request.kind == "compare":
        rounds = [f"{request.task}/{number}" for number in request.rounds]
        harvests = [f"{request.task}/{name}" for name in request.harvests]
        return compare_report(db, blobs, actor, request.task, rounds, harvests, seed=request.seed)
    if not request.validation:
        raise BadInput("No validation is named.", remedy="Choose the validation that the report is about.")
    ref = f"{request.task}/{request.validation}"
    if request.kind == "relabel":
        return relabel_report(db, actor, ref, seed=request.seed)
    return workers_report(db, actor, ref)


def choices(db: Session, actor: Actor, task: str) -> ReportChoices:
    """Return which reports *actor* can have of *task*, and of which rounds and validations."""
    task_there = get_task(db, task)
    kinds: list[ReportKind] = ["models"] if task_there.label_names else []
    if not actor.has(RoleName.OWNER, task):
        return ReportChoices(kinds, [], [])
    rounds = [info.number for info in list_rounds(db, actor, task) if info.state is not RoundState.DRAFT]
    validations = [ref.rpartition("/")[2] for ref in list_validations(db, task)]
    if rounds or validations:
        kinds.append("compare")
    if validations:
        kinds += ["relabel", "workers"]
    names = sorted({version.dataset for version in list_versions(db, actor, task)})
    return ReportChoices(kinds, sorted(rounds), validations, names if len(names) > 1 else [])
