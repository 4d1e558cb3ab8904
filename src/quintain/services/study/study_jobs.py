"""Making the report that somebody has asked for, as a job.

Parts that are done are written down: a worker that takes the job over goes on from there.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR
from quintain.core.records.base import Misread, decode, to_json
from quintain.core.records.report import Report
from quintain.reports.plain import to_plain
from quintain.services.jobs.running import Handler, JobRun
from quintain.services.plain.files.checkpoints import Checkpoints
from quintain.services.plain.files.recipe_learner import parse_learner
from quintain.services.plain.reports.comparing.report import CompareOptions
from quintain.services.study.datasets import datasets_report
from quintain.services.study.model_errors import errors_report
from quintain.services.study.studies import BESIDE, KIND
from quintain.services.study.whole import recipe_option, whole_report
from quintain.services.trial.reporting import report as trial_report
from quintain.stats.artefacts.learner import LinearLearner
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.jobs import figures as kept_queries

T = TypeVar("T")
STEPS = 100  # in which progress is told


@dataclass(frozen=True, slots=True)
class JobCheckpoints(Checkpoints):
    """Parts of a report in the checkpoint of its job."""

    run: JobRun | None = None
    done: dict[str, Any] = field(default_factory=dict)

    def part(self, name: str, kind: type[T], make: Callable[[], T]) -> T:
        """Return the part that the checkpoint has under *name*, or make it and save it there."""
        own = self._part_path(name).stem
        with contextlib.suppress(KeyError, Misread):  # what cannot be read is made anew
            return decode(kind, self.done[own])
        result = make()
        self.done[own] = json.loads(to_json(result))
        if self.run is not None:
            self.run.save(self.done)
        return result


def handler_of(checkpoints: Path | None) -> Handler:
    """Return what makes studies; their recipes begin with folders in *checkpoints*."""
    return partial(make_study, checkpoints=checkpoints)


def make_study(run: JobRun, checkpoints: Path | None = None) -> None:
    """Make the report that a job asks for, and keep it; what a worker before has finished is taken over."""
    task, _, source = run.subject.partition(" ")
    started, at = time.perf_counter(), now()
    with run.sessions() as db:
        report = _make_report(db, run, task, source, checkpoints)
        db.rollback()  # the reading is over, and writing lasts a moment
        with transaction(db):
            kept_queries.put(
                db,
                KIND,
                run.subject,
                basis="",
                value=to_plain(report),
                at=at,
                seconds=time.perf_counter() - started,
            )


def _make_report(db: Session, run: JobRun, task: str, source: str, checkpoints: Path | None) -> Report:
    room, _, name = source.partition("/")
    parts = JobCheckpoints(run=run, done=dict(run.checkpoint))

    def tell(share: float) -> None:
        run.report_progress(int(STEPS * share), STEPS)

    tell(0.0)
    if room == "trials":
        return trial_report(db, run.blobs, OPERATOR, task, name)
    seed, recipe = int(run.params.get("seed", 0)), str(run.params.get("recipe", ""))
    learner = parse_learner(recipe, checkpoints=checkpoints) if recipe else None
    if room == "compared":
        refs = [f"{task}/{one}" for one in name.split(BESIDE)]
        command = f"quintain study compare {' '.join(refs)} --seed {seed}{recipe_option(learner)} --out DIR"
        options = CompareOptions(learner=learner or LinearLearner(), seed=seed, commands=[command], checkpoints=parts)
        return datasets_report(db, run.blobs, OPERATOR, refs, options, done=tell).report
    if room == "errors":
        dataset, *models = name.split(BESIDE)
        return errors_report(db, run.blobs, OPERATOR, f"{task}/{dataset}", models, seed=seed)
    return whole_report(
        db, run.blobs, OPERATOR, f"{task}/{name}", seed=seed, done=tell, checkpoints=parts, learner=learner
    )
