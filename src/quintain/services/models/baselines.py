"""The baselines of a task, trained by one click: each that suits it and is not there yet, on its open training data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, QuintainError, reason_of
from quintain.core.example import Role
from quintain.core.people import Actor, RoleName
from quintain.core.records.jobs import JobStanding
from quintain.models.contract import baselines_for
from quintain.services.access.permissions import require_role
from quintain.services.data.datasets import VersionInfo, list_versions
from quintain.services.jobs import queue
from quintain.services.jobs.running import JobRun
from quintain.services.models.registry import list_names
from quintain.services.models.train import train
from quintain.services.tasks.definitions import get_task

JOB = "baselines"
STEPS = 100  # of one training


def ask_baselines(db: Session, actor: Actor, task: str) -> JobStanding:
    """Have a worker train every baseline that suits *task* and is not there yet."""
    require_role(actor, RoleName.BUILDER, RoleName.OWNER, task=task)
    if not training_sets(db, actor, task):
        raise Conflict(
            "Task '{task}' has no open data to train on.",
            task=task,
            remedy="Import data with the role `train`, or divide a file on import.",
        )
    if not missing_baselines(db, actor, task):
        raise Conflict("Every baseline that suits task '{task}' is there already.", task=task)
    return queue.enqueue(db, JOB, task, task=task, by=actor)


def training_sets(db: Session, actor: Actor, task: str) -> list[VersionInfo]:
    """List the newest versions of the data sets that models of *task* learn from."""
    return [version for version in _newest(db, actor, task) if version.role == Role.TRAIN and not version.hidden]


def missing_baselines(db: Session, actor: Actor, task: str) -> list[str]:
    """Name the baselines that suit *task* and are no models of it yet."""
    known = {name for _, name in list_names(db, actor, task=task)}
    return [name for name in baselines_for(get_task(db, task)) if name not in known]


def do_baselines(run: JobRun) -> Mapping[str, Any]:
    """Train them one after the other, as a job; one that cannot be trained is named, and the others go on."""
    trained: list[str] = []
    failed: dict[str, str] = {}
    with run.sessions() as db:
        actor, task = run.asker(db), run.subject
        names = missing_baselines(db, actor, task)
        refs = [version.ref for version in training_sets(db, actor, task)]
        dev = [version.ref for version in _newest(db, actor, task) if version.role == Role.DEV and not version.hidden]
        for number, name in enumerate(names):

            def tell(share: float, number: int = number) -> None:
                run.report_progress(number * STEPS + int(share * STEPS), len(names) * STEPS)

            tell(0.0)
            try:
                trained.append(train(db, run.blobs, actor, task, name, refs, dev_refs=dev[:1], progress=tell).ref)
            except QuintainError as error:
                db.rollback()
                failed[name] = reason_of(error)
    return {"models": trained, "failed": failed}


def _newest(db: Session, actor: Actor, task: str) -> list[VersionInfo]:
    newest: dict[str, VersionInfo] = {}
    for version in list_versions(db, actor, task):
        if version.dataset not in newest or version.number > newest[version.dataset].number:
            newest[version.dataset] = version
    return list(newest.values())
