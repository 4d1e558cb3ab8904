"""How far evaluation is, and why a figure is missing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS
from quintain.core.cells import MEASURE, PLAIN, CellState
from quintain.core.errors import NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.records.evaluate import Run, RunEvent, RunReport, Runs
from quintain.services.data.datasets import VersionInfo, get_version
from quintain.services.evaluate.cells.lifecycle import ASKED, EVALUATED, estimate_wait, may_read_words, may_see_logs
from quintain.services.evaluate.cells.redact_logs import own_reason, redacted_event
from quintain.services.evaluate.results.variants import counted_variants, variants_of
from quintain.services.models.registry import ModelVersionInfo, get_model
from quintain.services.tasks.definitions import get_task
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate import runs
from quintain.store.queries.evaluate.cells import CellRow

WILL_BE = "The cell does not exist yet: the next worker that looks for work makes it."


def status(db: Session, actor: Actor, task: str | None = None) -> dict[str, int]:
    """Count the cells by state."""
    if task is not None:
        get_task(db, task)
    counts = runs.count_by_state(db, task)
    return {state.value: counts.get(state, 0) for state in CellState}


def list_cells(
    db: Session, actor: Actor, *, task: str | None = None, model: str | None = None, states: Sequence[str] = ()
) -> list[Run]:
    """List the cells of the models that *actor* may see."""
    version_id = get_model(db, actor, model).version.id if model else None
    rows = queries.rows(db, task=task, model_version_id=version_id, states=states)
    seen = [(row, may_see_logs(actor, row)) for row in rows]
    return [
        describe(row, full=full, words=full and may_read_words(db, actor, row))
        for row, full in seen
        if full or row.model.visibility != "private"
    ]


def page_of_cells(
    db: Session,
    actor: Actor,
    task: str,
    *,
    states: Sequence[str] = (),
    model: str = "",
    dataset: str = "",
    variant: str = "",
    offset: int = 0,
    limit: int = 50,
) -> Runs:
    """List some of a task's cells that *actor* may see: what runs first, then what waits, then what failed."""
    get_task(db, task)
    rows, total = runs.page(
        db,
        task=task,
        viewer_id=actor.user_id,
        private=actor.has(RoleName.OWNER, task),
        states=states,
        model=model,
        dataset=dataset,
        variant=variant,
        offset=offset,
        limit=limit,
    )
    described = [describe(row, full=may_see_logs(actor, row), words=may_read_words(db, actor, row)) for row in rows]
    return Runs(described, total, offset)


def explain_cell(db: Session, actor: Actor, cell_id: int) -> RunReport:
    """Return why cell *cell_id* is as it is; NotFound where *actor* may not know of it."""
    row = queries.row(db, cell_id)
    if row is None or (row.model.visibility == "private" and not may_see_logs(actor, row)):
        raise NotFound(
            "There is no cell {cell}.",
            cell=cell_id,
            remedy="`quintain evaluate status --cells` lists them.",
            page="The page of runs lists those there are.",
        )
    return _explain(db, actor, row)


def may_manage(db: Session, actor: Actor, cell_id: int) -> bool:
    """Whether *actor* may cancel a run, queue it again and read its log."""
    row = queries.row(db, cell_id)
    return row is not None and may_see_logs(actor, row)


def explain(db: Session, actor: Actor, model: str, dataset: str, variant: str = PLAIN) -> RunReport:
    """Return why *model* has, or has not, a result on *dataset* in *variant*."""
    version = get_model(db, actor, model).version
    data = get_version(db, actor, dataset)
    if data.task != version.task:
        return RunReport(f"{model} is a model of task '{version.task}' and {dataset} belongs to '{data.task}'.")
    for row in queries.rows(db, model_version_id=version.id, dataset_version_id=data.id):
        if row.cell.variant == variant or row.cell.variant.rpartition(".v")[0] == variant:
            return _explain(db, actor, row)
    if data.role not in EVALUATED:
        return RunReport(f"{data.ref} is training data, which no model is evaluated on.")
    if version.withdrawn_at:
        return RunReport(f"{version.ref} was withdrawn.")
    known = variants_of(get_task(db, data.task))
    if variant not in {name.rpartition(".v")[0] or name for name in known} | set(known):
        return RunReport(f"There is no variant '{variant}' of {data.ref}. There are: {', '.join(known)}.")
    return RunReport(_never(db, actor, version, data, variant) or WILL_BE)


def _never(db: Session, actor: Actor, model: ModelVersionInfo, data: VersionInfo, variant: str) -> str:
    """Return why there will be no cell; empty where there will."""
    runs_at = ADAPTERS.get(model.adapter).place
    if runs_at == "file" and data.hash not in model.meta.get("datasets", ()):
        return f"{model.ref} is a file of predictions, and has none for {data.ref}."
    if (runs_at == "file" and variant != PLAIN) or (runs_at == "remote" and variant == MEASURE):
        return f"{model.ref} is not run by us, so that there is no '{variant}' of it."
    if data.meta.get("models") == ASKED and not data.scores:
        return f"{data.ref} is answered only by models that an owner of the task asks for."
    newest = get_version(db, actor, f"{data.task}/{data.dataset}")
    return f"{data.ref} has a newer version, {newest.ref}, which is evaluated." if newest.id != data.id else ""


def _explain(db: Session, actor: Actor, row: CellRow) -> RunReport:
    cell = row.cell
    logs = may_see_logs(actor, row)
    words = may_read_words(db, actor, row)
    info = describe(row, full=logs, words=words)
    where = f"{row.model.name} on {row.dataset.name}@{row.dataset_version.number}, {cell.variant}"
    ahead = queries.ahead(db, cell, counted_variants()) if cell.state == CellState.QUEUED else None
    wait = None
    if ahead is not None:
        running = len(queries.rows(db, states=[CellState.RUNNING]))
        wait = estimate_wait(queries.recent_durations(db), ahead + 1, running)
    on = f" on {info.worker}" if info.worker else ""
    states = {
        CellState.QUEUED: f"{where}: waiting, {ahead} before it." + (f" About {wait:.0f} s to go." if wait else ""),
        CellState.RUNNING: f"{where}: running{on}, {cell.done} of {cell.total} rows.",
        CellState.DONE: f"{where}: done, {cell.total} rows.",
        CellState.FAILED: f"{where}: failed. {info.reason}",
        CellState.CANCELLED: f"{where}: {info.reason}.",
    }
    summary = states[CellState(cell.state)]
    if cell.state == CellState.QUEUED and cell.machine:
        summary += f" Only a worker on a machine of class '{cell.machine}' takes it."
    if cell.waits_for:
        summary = f"{where}: {info.reason}"
    elif cell.state == CellState.QUEUED and cell.reason:
        summary += f" The last attempt failed: {info.reason}"
    events = [
        RunEvent(event.at, event.kind, event.text if words else redacted_event(row, event) if logs else "")
        for event in queries.events(db, cell.id)
    ]
    return RunReport(summary, info, ahead, wait, events)


def describe(row: CellRow, *, full: bool = True, words: bool = True) -> Run:
    """Describe a cell for people. Without *full*, where it ran is left out; without *words*, what the model said."""
    cell = row.cell
    return Run(
        id=cell.id,
        task=row.task.name,
        model=f"{row.model.name}@{row.model_version.number}",
        dataset=f"{row.dataset.name}@{row.dataset_version.number}",
        variant=cell.variant,
        state=cell.state,
        done=cell.done,
        total=cell.total,
        attempts=cell.attempts,
        reason=cell.reason if full and words else own_reason(cell.reason),
        waits_for=cell.waits_for,
        worker=cell.worker if full else None,
        created_at=cell.created_at,
        started_at=cell.started_at,
        finished_at=cell.finished_at,
    )
