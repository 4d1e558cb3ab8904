"""Trying a submitted model on a few examples: before it is registered where that can be, else as a worker's first job.

What a builder hears at once is worth more than ninety runs that fail. A model that a short try cannot decide on (its
packages are to be installed, it loads for long, the sandbox is on other machines) is registered as *being tried*: no
run of it is queued until a worker has seen it answer. One that is refused leaves no run, no place on the board and
nothing in its builder's quota; its builder is told why.
"""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS
from quintain.adapters.manifest import Manifest, read_manifest
from quintain.core.errors import BadInput, Fault, QuintainError, Unavailable
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.engine.jobs import CellJob, LocalEngine
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.layers import require_sandbox
from quintain.engine.sandbox.limits import Outcome, RunEnded
from quintain.models import artefact
from quintain.services.access.notify import notify
from quintain.services.data.inputs import open_to_all
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions, runnable
from quintain.services.evaluate.cells.run_cell import Engine, Sessions
from quintain.services.evaluate.cells.spending import charged_call
from quintain.services.evaluate.submissions.check_model import CheckReport, check_model, sample_inputs
from quintain.services.jobs.lease import LEASE_SECONDS, lease_kept
from quintain.services.tasks.definitions import find_row, get_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells
from quintain.store.queries.evaluate import tryouts as queries
from quintain.store.queries.models.models import versions_by_id
from quintain.store.queries.models.tried import PASSED, QUEUED, REFUSED
from quintain.store.tables import Dataset, ModelVersion, Tryout
from quintain.tasks.contract import kind_of

EXAMPLES = 8
REMOTE_EXAMPLES = 3  # somebody pays for each of these
HERE_SECONDS = 20.0
REMOTE_SECONDS = 10.0
LONGEST_WAIT = 600.0
LOG_CHARACTERS = 8000
TAIL_LINES = 12

log = logging.getLogger("quintain.worker")


@dataclass(frozen=True, slots=True)
class Payer:
    """Who pays for a try: the budgets that the *manifest* names, and those of the *version* where it is registered."""

    sessions: Sessions
    manifest: Manifest
    version: int | None = None


def inputs_for(db: Session, blobs: Blobs, task: Task) -> list[dict[str, Any]]:
    """Return a few inputs of the task's data sets, without ids or answers; samples of its kind where it has none.

    Builders read what their model prints when it is tried, so only data sets whose inputs are open are drawn on.
    """
    newest = cells.newest_dataset_versions(db, find_row(db, task.name).id, evaluate.EVALUATED)
    versions = [one for one in newest if open_to_all(db.get_one(Dataset, one.dataset_id), one)]
    names = [item.name for item in kind_of(task).fields(task)]
    inputs: list[dict[str, Any]] = []
    for version in versions:
        share = -(-EXAMPLES // len(versions))
        # Ids are hashes of content: the first of them are a sample, the same for every model.
        rows = pl.scan_parquet(blobs.path(version.blob), glob=False).sort("id").head(share).select(names).collect()
        inputs += rows.to_dicts()
    return inputs[:EXAMPLES] or sample_inputs(task)


def try_here(
    sessions: Sessions,
    folder: Path,
    task: Task,
    manifest: Manifest,
    inputs: list[dict[str, Any]],
    conditions: Conditions,
) -> CheckReport | None:
    """Try the model in *folder* now, for a moment; None where that does not decide it. No database is held.

    Raises OverBudget where the budget of its key does not cover the try.
    """
    runs_at = ADAPTERS.get(manifest.adapter).place
    if runs_at == "sandbox":
        environments = conditions.environments
        if not _sandbox_is_here(conditions) or (environments and not environments.ready(folder)):
            return None
    seconds = min(HERE_SECONDS, conditions.trial_seconds)
    report = _check(Payer(sessions, manifest), folder, task, inputs, conditions, seconds)
    undecided = {Outcome.PLATFORM, Outcome.CANCELLED}
    if conditions.trial_seconds > HERE_SECONDS:
        undecided |= {Outcome.WALL_TIME, Outcome.CPU_TIME}
    return None if runs_at == "sandbox" and report.outcome in undecided else report


def refusal(report: CheckReport) -> BadInput:
    """Make the refusal that says what the model answered, or how it ended, and what it printed last."""
    faults = [_storable(fault) for fault in report.faults]
    tail = "\n".join(_plain(report.log).strip().splitlines()[-TAIL_LINES:])
    faults += [Fault("the end of its log:\n{tail}", tail=tail)] if tail else []
    return BadInput(
        "The model was tried on a few examples and refused.",
        faults=faults,
        remedy="`quintain model check` shows the same before anything is sent.",
        page="Mend it, and send it again.",
        code="model_refused",
    )


def postpone_tryout(db: Session, version_id: int) -> None:
    """Leave the trial of a version to a worker; one that was refused before is tried anew. In a transaction."""
    tryout = db.get(Tryout, version_id)
    if tryout is None:
        db.add(Tryout(version_id=version_id))
    elif tryout.state == REFUSED:
        tryout.state, tryout.reason, tryout.log, tryout.attempts = QUEUED, "", "", 0
        tryout.lease_until = tryout.finished_at = None
        db.get_one(ModelVersion, version_id).withdrawn_at = None
    db.flush()


def record_pass(db: Session, version_id: int) -> None:
    """Note that a version whose trial was put off, or refused, has passed one since. In a transaction."""
    tryout = db.get(Tryout, version_id)
    if tryout is not None and tryout.state != PASSED:
        if tryout.state == REFUSED:
            db.get_one(ModelVersion, version_id).withdrawn_at = None
        tryout.state, tryout.finished_at, tryout.reason, tryout.log = PASSED, now(), "", ""
        tryout.generation += 1
        db.flush()


def try_next(
    sessions: Sessions,
    blobs: Blobs,
    engine: Engine,
    conditions: Conditions,
    worker: str,
    *,
    task: str | None = None,
    tell: Callable[[str], None] = log.info,
) -> bool:
    """Try the model whose turn it is; False where there is none that this worker can try."""
    if isinstance(engine, LocalEngine) and not _sandbox_is_here(conditions):
        return False
    with sessions() as db:
        if not queries.any_waiting(db, now()):
            return False
    with sessions() as db, transaction(db):
        moment = now()
        until = moment + timedelta(seconds=LEASE_SECONDS)
        tryout = queries.claim(db, worker=worker, now=moment, until=until, task=task)
        held = None if tryout is None else (tryout.version_id, tryout.generation, tryout.attempts)
    if held is None:
        return False
    version_id, generation, attempts = held
    with _lease_kept(sessions, version_id, generation):
        try:
            report = _try_version(sessions, blobs, engine, conditions, version_id, tell)
        except (QuintainError, OSError) as error:  # nothing that the model did
            report = CheckReport(outcome=Outcome.PLATFORM, faults=[Fault(_error_text(error))])
    with sessions() as db:
        _record(db, version_id, generation, attempts, report)
    return True


def _try_version(
    sessions: Sessions,
    blobs: Blobs,
    engine: Engine,
    conditions: Conditions,
    version_id: int,
    tell: Callable[[str], None],
) -> CheckReport:
    with sessions() as db:
        version, model, task_name = versions_by_id(db, [version_id])[0]
        tell(f"trying {task_name}/{model.name}@{version.number}")
        task = get_task(db, task_name)
        inputs = inputs_for(db, blobs, task)
        adapter, blob = version.adapter, version.blob
    if blob is None:
        raise Unavailable("The model's artefact is gone.")
    with tempfile.TemporaryDirectory(prefix="quintain-trial-") as name:
        folder = Path(name) / "model"
        artefact.unpack(blobs.path(blob), folder)
        if _sandbox_is_here(conditions) or ADAPTERS.get(adapter).place == "remote":
            manifest = replace(read_manifest(folder), adapter=adapter)
            seconds = conditions.trial_seconds
            return _check(Payer(sessions, manifest, version_id), folder, task, inputs, conditions, seconds)
        return _ask_engine(engine, folder, adapter, task, inputs, conditions)


def _ask_engine(
    engine: Engine,
    folder: Path,
    adapter: str,
    task: Task,
    inputs: list[dict[str, Any]],
    conditions: Conditions,
) -> CheckReport:
    """Try a model where cells are run, when that is not here."""
    scratch = folder.parent
    conditions = _within(conditions, conditions.trial_seconds)
    table = pl.DataFrame(inputs).with_columns(id=pl.Series([f"trial-{n}" for n in range(len(inputs))]))
    table.write_parquet(scratch / "inputs.parquet")
    report = CheckReport(adapter=adapter)
    try:
        job = CellJob(
            task=task,
            model=runnable(adapter, folder, conditions),
            inputs=scratch / "inputs.parquet",
            out=scratch / "predictions.parquet",
            measured=False,
            seed=0,
            limits=conditions.limits,
            sandbox=conditions.sandbox,
            outside=conditions.outside,
        )
        engine.run(job, lambda done: None, threading.Event())
        answers = pl.read_parquet(job.out)["prediction"]
        if answers.null_count():
            report.faults.append(
                Fault("gave no answer to {failed} of {n} examples", failed=answers.null_count(), n=len(inputs))
            )
    except RunEnded as error:
        report.outcome, report.log = error.outcome, error.log
        report.faults.append(Fault("{outcome}: {message}", outcome=error.outcome, message=error.message))
    return report


def _check(
    pay: Payer, folder: Path, task: Task, inputs: list[dict[str, Any]], conditions: Conditions, seconds: float
) -> CheckReport:
    manifest = pay.manifest
    remote = ADAPTERS.get(manifest.adapter).place == "remote"
    sample = inputs[:REMOTE_EXAMPLES] if remote else inputs
    model = RunnableModel(folder, manifest.adapter, manifest.options)
    with charged_call(pay.sessions, pay.version, task, model, conditions.outside, sample) as call:
        within = _within(conditions, seconds)
        within = replace(within, outside=replace(within.outside, budget=call.budget))
        report = check_model(folder, task, within, sample, expected=0, patience=REMOTE_SECONDS if remote else None)
        call.spent = float(report.facts.get("spent", 0.0))
    return report


def _within(conditions: Conditions, seconds: float) -> Conditions:
    limits = replace(conditions.limits, wall_seconds=seconds, cpu_seconds=seconds, call_seconds=seconds)
    return replace(conditions, limits=limits)


def _record(db: Session, version_id: int, generation: int, attempts: int, report: CheckReport) -> None:
    """Write down how a trial went: a fault of ours is tried again later, one of the model's refuses it."""
    ours = report.outcome in {Outcome.PLATFORM, Outcome.CANCELLED}
    state = QUEUED if ours else REFUSED if report.faults else PASSED
    wait = timedelta(seconds=min(LONGEST_WAIT, 15.0 * 2**attempts))
    reason = _plain("\n".join(str(fault) for fault in report.faults))
    values: Mapping[str, Any] = {
        "state": state,
        "reason": reason,
        "log": _plain(report.log)[-LOG_CHARACTERS:],
        "lease_until": now() + wait if ours else None,
        "finished_at": None if ours else now(),
    }
    with transaction(db):
        if not queries.update_held(db, version_id, generation, **values):
            return
        version, model, task = versions_by_id(db, [version_id])[0]
        if state == REFUSED:
            version.withdrawn_at = now()
            if model.owner_id is not None:
                text = Text(
                    "{model}, version {number}, was tried on a few examples and refused: {reason}",
                    model=model.name,
                    number=version.number,
                    reason=reason,
                )
                page = f"/tasks/{task}/models/{model.name}?version={version.number}"
                notify(db, model.owner_id, "model-refused", text, page)
    if state == PASSED:
        evaluate.fill(db, task)


def _error_text(error: QuintainError | OSError) -> Text:
    return error.text if isinstance(error, QuintainError) else Text("{error}", error=error)


def _plain(text: str) -> str:
    """Return what a model said as text that every database and every page can hold."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")


def _storable(fault: Fault) -> Fault:
    plain = _plain(fault.reason)
    if plain == fault.reason:
        return fault
    return Fault(plain, file=fault.file, row=fault.row, field=fault.field, line=fault.line)


def _sandbox_is_here(conditions: Conditions) -> bool:
    try:
        require_sandbox(conditions.sandbox)
    except Unavailable:
        return False
    return True


def _lease_kept(sessions: Sessions, version_id: int, generation: int) -> AbstractContextManager[None]:
    """Keep the lease of a trial alive while the block runs."""

    def prolong(db: Session, until: datetime) -> bool:
        return queries.update_held(db, version_id, generation, lease_until=until)

    return lease_kept(sessions, f"the trial of {version_id}", prolong, lost=threading.Event(), every=LEASE_SECONDS / 4)
