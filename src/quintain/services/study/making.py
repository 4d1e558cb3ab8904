"""Making the report that somebody has asked for, as a job.

Parts that are done are written down: a worker that takes the job over goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR
from quintain.core.records.report import Report, ReportSection
from quintain.reports.plain import sections_from_plain, sections_to_plain, to_plain
from quintain.services.jobs.running import JobRun
from quintain.services.plain.comparing.report import CompareOptions
from quintain.services.study.datasets import datasets_report
from quintain.services.study.model_errors import errors_report
from quintain.services.study.studies import BESIDE, KIND
from quintain.services.study.whole import Part, whole_report
from quintain.services.trial.reporting import report as trial_report
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.jobs import figures as kept_queries

STEPS = 100  # in which progress is told


def make_study(run: JobRun) -> None:
    """Make the report that a job asks for, and keep it; what a worker before has finished is taken over."""
    task, _, source = run.subject.partition(" ")
    done: dict[str, object] = dict(run.checkpoint)

    def part(name: str, make: Callable[[], list[ReportSection]]) -> list[ReportSection]:
        known = done.get(name)
        if isinstance(known, list):
            return sections_from_plain(known)
        found = make()
        done[name] = sections_to_plain(found)
        run.save(done)
        return found

    started, at = time.perf_counter(), now()
    with run.sessions() as db:
        report = _made(db, run, task, source, part)
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


def _made(db: Session, run: JobRun, task: str, source: str, part: Part) -> Report:
    room, _, name = source.partition("/")

    def tell(share: float) -> None:
        run.tell(int(STEPS * share), STEPS)

    tell(0.0)
    if room == "trials":
        return trial_report(db, run.blobs, OPERATOR, task, name)
    seed = int(run.params.get("seed", 0))
    if room == "compared":
        refs = [f"{task}/{one}" for one in name.split(BESIDE)]
        options = CompareOptions(
            seed=seed, commands=[f"quintain study compare {' '.join(refs)} --seed {seed} --out DIR"]
        )
        return datasets_report(db, run.blobs, OPERATOR, refs, options, done=tell).report
    if room == "errors":
        dataset, *models = name.split(BESIDE)
        return errors_report(db, run.blobs, OPERATOR, f"{task}/{dataset}", models, seed=seed)
    return whole_report(db, run.blobs, OPERATOR, f"{task}/{name}", seed=seed, done=tell, part=part)
