"""Cells: which there should be, whose turn it is, and what became of them.

Nobody schedules a cell. `fill` compares the models and data sets that there are with the cells that there are and adds
what is missing; workers lease what is queued. A cell is written only by the holder of its newest lease, so a worker
that was thought dead and comes back changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.cells import MEASURE, PLAIN, CellState
from quintain.core.errors import Conflict, NotFound
from quintain.core.example import Role
from quintain.core.people import Actor, RoleName
from quintain.core.task import Task
from quintain.core.texts import Text, Word
from quintain.core.untrusted import storable
from quintain.engine.sandbox.limits import OURS, Outcome
from quintain.services.access import audit
from quintain.services.access.notify import notify, notify_once
from quintain.services.access.permissions import require_owner, require_signed_in
from quintain.services.data.inputs import may_read_inputs, may_read_perturbed, open_to_all
from quintain.services.evaluate.cells.conditions import LEASE_SECONDS
from quintain.services.evaluate.cells.redact_logs import own_reason
from quintain.services.evaluate.results.variants import counted_variants, outdated, slow_adapters, variants_for
from quintain.services.tasks.board_settings import board_spec
from quintain.services.tasks.definitions import get_task, list_tasks
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate.cells import CellRow, LastCell
from quintain.store.queries.tasks import tasks as task_queries
from quintain.store.tables import Cell, Dataset, DatasetVersion

EVALUATED = (Role.DEV, Role.TEST, Role.CONTRAST)
MAX_ATTEMPTS = 3
REASON_CHARACTERS = 4_000
MAX_LOST = 10  # workers are killed, machines restarted: more than this, and it is the cell that ends them
PLAIN_FAILED = "The run on the plain examples failed."
ASKED = "asked"  # of a version's `models`: only those are run on it that somebody asks for


@dataclass(frozen=True, slots=True)
class CellLease:
    """The right to compute one cell until the lease lapses."""

    cell_id: int
    generation: int
    variant: str
    title: str = ""
    seconds: float = LEASE_SECONDS
    last: LastCell | None = None


def fill(db: Session, task: str | None = None) -> int:
    """Add the cells that are missing, and give their number. It is safe to call at any time, from anywhere."""
    names = [task] if task else [summary.task.name for summary in list_tasks(db)]
    added = 0
    with transaction(db):
        for name in names:
            row = task_queries.task_row(db, name)
            if row is None:
                raise NotFound("There is no task called '{name}'.", name=name)
            added += _fill_task(db, row.id, get_task(db, name))
    return added


def fill_dataset(db: Session, actor: Actor, ref: str) -> int:
    """Queue all that a board needs of the data set *ref* (`task/name`), though it does not score yet; owners may.

    Give the number of runs that were added: none where all are there already.
    """
    task, _, name = ref.partition("@")[0].partition("/")
    row = task_queries.task_row(db, task)
    if row is None:
        raise NotFound("There is no task called '{name}'.", name=task)
    require_owner(actor, task)
    with transaction(db):
        versions = queries.newest_dataset_versions(db, row.id, EVALUATED)
        chosen = {version.id for version in versions if db.get_one(Dataset, version.dataset_id).name == name}
        if not chosen:
            raise NotFound("Task '{task}' has no data set '{name}' that models are evaluated on.", task=task, name=name)
        added = _fill_task(db, row.id, get_task(db, task), whole=chosen)
        if added:
            audit.record(db, actor, "evaluate.queue", f"{task}/{name}", queued=added)
    return added


def _fill_task(db: Session, task_id: int, task: Task, *, whole: Collection[int] = ()) -> int:
    """Add what is missing; the data sets that are to be run *whole* are, whatever their makers said."""
    models = queries.live_model_versions(db, task_id)
    machine = board_spec(db, task.name).machine
    every = queries.newest_dataset_versions(db, task_id, EVALUATED)
    left = _until_scoring(db, task, every, "models", ASKED).difference(whole)
    datasets = [one for one in every if one.id not in left]
    plain_only = _until_scoring(db, task, datasets, "variants", PLAIN).difference(whole)
    existing = queries.existing_keys(db, [dataset.id for dataset in datasets])
    failed = queries.failed_plain(db, [dataset.id for dataset in datasets])
    broken = {(model, dataset) for model, dataset, reason in failed if not reason.startswith(OURS)}
    missing = [
        {
            "model_version_id": model.id,
            "dataset_version_id": dataset.id,
            "variant": variant,
            "total": dataset.rows,
            "machine": machine if variant == MEASURE else None,
        }
        for dataset in datasets
        for model in models
        for variant in variants_for(task, model.adapter, model.meta.get("perturbations", "counted"))
        if variant == PLAIN or dataset.id not in plain_only
        if (model.id, dataset.id, variant) not in existing
        and (variant == PLAIN or (model.id, dataset.id) not in broken)
        and dataset.hash in model.meta.get("datasets", [dataset.hash])  # a file of predictions names those it covers
    ]
    added = queries.add(db, missing)
    if any(outdated(variant) for *_, variant in existing):
        _drop_outdated(db, task)
    return added


def _until_scoring(db: Session, task: Task, datasets: Sequence[DatasetVersion], what: str, value: str) -> set[int]:
    """Return those of *datasets* of which their makers said this, which holds until they score on the board.

    `variants`: they are run as they are only; `models`: only by those models that somebody asks for.
    """
    spec = board_spec(db, task.name)
    asked = [dataset for dataset in datasets if dataset.meta.get(what) == value]
    return {one.id for one in asked if not spec.dataset_weight(db.get_one(Dataset, one.dataset_id).name)}


def _drop_outdated(db: Session, task: Task) -> None:
    """Cancel what still waits for an older version of a perturbation; the newer one has cells of its own."""
    for row in queries.rows(db, task=task.name, states=[CellState.QUEUED]):
        if outdated(row.cell.variant):
            row.cell.state, row.cell.finished_at = CellState.CANCELLED.value, now()
            row.cell.reason = "the perturbation has a newer version"
            queries.note(db, row.cell.id, "cancelled", row.cell.reason)


def claim(
    db: Session,
    worker: str,
    *,
    task: str | None = None,
    alone: bool = True,
    seconds: float = LEASE_SECONDS,
    last: LastCell | None = None,
    without: Collection[str] = (),
    machine: str | None = None,
    variant: str | None = None,
) -> CellLease | None:
    """Lease the next cell, of *task* or of any, to *worker* for *seconds*.

    *alone* says that the worker can give a measurement the machine to itself, *machine* of what class that one is;
    *last* is what it computed last; *without* names the adapters whose models it cannot run; with *variant* only
    that one is leased.
    """
    with transaction(db):
        moment = now()
        while True:
            cell = queries.claim(
                db,
                worker=worker,
                now=moment,
                until=moment + timedelta(seconds=seconds),
                alone=alone,
                task=task,
                without=without,
                slow=slow_adapters(),
                last=last,
                machine=machine,
                variant=variant,
                counted=counted_variants(),
            )
            if cell is None:
                return None
            if cell.lost > MAX_LOST:
                # The sandbox keeps a model from its worker: where workers die, the platform is at fault.
                why = f"Given up after {MAX_LOST} workers were lost while they computed it."
                _give_up(db, cell, f"{Outcome.PLATFORM}: {why}")
                continue
            lost = f", after {cell.lost} that were lost" if cell.lost else ""
            queries.note(db, cell.id, "leased", f"by {worker}, attempt {cell.attempts}{lost}")
            leased = LastCell(cell.model_version_id, cell.dataset_version_id)
            return CellLease(cell.id, cell.generation, cell.variant, _title(db, cell), seconds, leased)


def _title(db: Session, cell: Cell) -> str:
    row = _row(db, cell.id)
    return f"{row.task.name}/{row.model.name} on {row.dataset.name}, {cell.variant}"


def heartbeat(db: Session, lease: CellLease, *, done: int) -> bool:
    """Note that the work goes on and how far it is; False means that the lease was lost or the cell cancelled."""
    with transaction(db):
        until = now() + timedelta(seconds=lease.seconds)
        return queries.update_held(db, lease.cell_id, lease.generation, lease_until=until, done=done)


def complete(
    db: Session, lease: CellLease, *, predictions: str | None, measurements: Mapping[str, Any], rows: int, log: str = ""
) -> bool:
    """Store the result of a cell and what the model printed; False where the lease was lost: nothing is stored."""
    with transaction(db):
        held = queries.update_held(
            db,
            lease.cell_id,
            lease.generation,
            state=CellState.DONE.value,
            predictions=predictions,
            measurements=dict(measurements),
            done=rows,
            total=rows,
            lease_until=None,
            finished_at=now(),
        )
        if held:
            queries.note(db, lease.cell_id, "done", f"{rows} rows\n{storable(log)}".strip())
            _tell_measured(db, lease.cell_id)
        return held


def fail(db: Session, lease: CellLease, reason: str, *, log: str = "", ours: bool, retry_in: float = 30.0) -> None:
    """Record that a run failed. A fault of ours is tried again later; a fault of the model's is final.

    What was measured before stands where measuring it again fails through a fault of ours.
    """
    reason, log = storable(reason, REASON_CHARACTERS), storable(log)  # both may hold the model's own words
    with transaction(db):
        row = queries.row(db, lease.cell_id)
        if row is None:
            return
        again = ours and row.cell.attempts < MAX_ATTEMPTS
        stands = ours and row.cell.variant == MEASURE and bool(row.cell.measurements)
        over = CellState.DONE if stands else CellState.FAILED
        held = queries.update_held(
            db,
            lease.cell_id,
            lease.generation,
            state=(CellState.QUEUED if again else over).value,
            reason="" if stands and not again else reason,
            lease_until=now() + timedelta(seconds=retry_in) if again else None,
            finished_at=None if again else now(),
        )
        if held:
            queries.note(db, lease.cell_id, "retry" if again else "failed", f"{reason}\n{log}".strip())
            if not again and not stands:
                _tell_builder(db, row, reason)
                if row.cell.variant == PLAIN and not ours:
                    _spare_siblings(db, row)


def _spare_siblings(db: Session, row: CellRow) -> None:
    """Cancel what still waits of a model on data that broke it: nothing could be compared with what it never said."""
    for sibling in _siblings(db, row, CellState.QUEUED):
        sibling.state, sibling.reason, sibling.finished_at = CellState.CANCELLED.value, PLAIN_FAILED, now()
        queries.note(db, sibling.id, "cancelled", PLAIN_FAILED)


def _queue_siblings(db: Session, row: CellRow) -> None:
    """Queue again what was spared because the plain run had failed, which is tried again now."""
    for sibling in _siblings(db, row, CellState.CANCELLED):
        if sibling.reason == PLAIN_FAILED:
            sibling.state, sibling.reason, sibling.finished_at = CellState.QUEUED.value, "", None
            queries.note(db, sibling.id, "queued", "with the plain run")


def _siblings(db: Session, row: CellRow, state: CellState) -> list[Cell]:
    version, data = row.model_version.id, row.dataset_version.id
    rows = queries.rows(db, model_version_id=version, dataset_version_id=data, states=[state])
    return [sibling.cell for sibling in rows if sibling.cell.id != row.cell.id]


def release(db: Session, lease: CellLease) -> None:
    """Return a lease: the worker has to stop, and the cell waits for the next one as if nothing had happened."""
    with transaction(db):
        row = queries.row(db, lease.cell_id)
        if row is not None and queries.update_held(
            db,
            lease.cell_id,
            lease.generation,
            state=CellState.QUEUED.value,
            lease_until=None,
            attempts=max(0, row.cell.attempts - 1),
            done=0,
        ):
            queries.note(db, lease.cell_id, "queued", "again, because its worker had to stop")


def cancel(db: Session, actor: Actor, cell_id: int) -> None:
    """Cancel a cell that is queued or running; its builder and the task's owner may."""
    with transaction(db):
        row = managed_row(db, actor, cell_id)
        if CellState(row.cell.state).ended:
            raise Conflict(
                "Cell {cell} is {state}; there is nothing to cancel.", cell=cell_id, state=Word(row.cell.state)
            )
        row.cell.state = CellState.CANCELLED.value
        row.cell.reason = f"cancelled by {actor.name}"
        row.cell.lease_until = None
        row.cell.finished_at = now()
        row.cell.generation += 1
        queries.note(db, cell_id, "cancelled", f"by {actor.name}")
        audit.record(db, actor, "evaluate.cancel", f"cell {cell_id}")


def retry(db: Session, actor: Actor, cell_id: int) -> None:
    """Queue a failed or cancelled cell again."""
    with transaction(db):
        row = managed_row(db, actor, cell_id)
        if row.cell.state not in {CellState.FAILED, CellState.CANCELLED}:
            raise Conflict(
                "Cell {cell} is {state}; only a failed or cancelled one can be tried again.",
                cell=cell_id,
                state=Word(row.cell.state),
            )
        if row.model_version.withdrawn_at is not None:
            raise Conflict("Cell {cell} is of a model that was withdrawn.", cell=cell_id, code="model_withdrawn")
        if outdated(row.cell.variant):
            raise Conflict(
                "Cell {cell} is of {variant}, and the perturbation has a newer version.",
                cell=cell_id,
                variant=row.cell.variant,
            )
        row.cell.state = CellState.QUEUED.value
        row.cell.attempts = row.cell.lost = 0
        row.cell.done = 0
        row.cell.lease_until = None
        row.cell.finished_at = None
        queries.note(db, cell_id, "queued", f"again, by {actor.name}")
        if row.cell.variant == PLAIN:
            _queue_siblings(db, row)
        audit.record(db, actor, "evaluate.retry", f"cell {cell_id}")


def may_see_logs(actor: Actor, row: CellRow) -> bool:
    """Whether *actor* may look into a run and manage it: its builder, the task's owner, an admin."""
    mine = actor.user_id is not None and row.model.owner_id == actor.user_id
    return mine or actor.has(RoleName.OWNER, row.task.name)


def may_read_words(db: Session, actor: Actor, row: CellRow) -> bool:
    """Whether *actor* may read what a model said in a run: whoever sees its log, where the inputs are open to them.

    A model can print what it is asked, and that of a perturbed run is for the task's owners.
    """
    if row.cell.variant not in {PLAIN, MEASURE} and not may_read_perturbed(actor, row.task.name):
        return False
    return may_see_logs(actor, row) and may_read_inputs(db, actor, row.task.name, row.dataset_version)


def estimate_wait(durations: Sequence[float], ahead: int, workers: int) -> float | None:
    """Guess the seconds until a cell with *ahead* others before it starts; None before any has finished."""
    if not durations:
        return None
    return sum(durations) / len(durations) * ahead / max(workers, 1)


def _give_up(db: Session, cell: Cell, reason: str) -> None:
    cell.state = CellState.FAILED.value
    cell.reason = reason
    cell.lease_until = None
    cell.finished_at = now()
    queries.note(db, cell.id, "failed", reason)
    db.flush()
    _tell_builder(db, _row(db, cell.id), reason)


def _tell_measured(db: Session, cell_id: int) -> None:
    """Tell a model's builder, once, that nothing of it is left to be run."""
    row = _row(db, cell_id)
    if row.model.owner_id is None or queries.is_unfinished(db, row.model_version.id):
        return
    page = f"/tasks/{row.task.name}/models/{row.model.name}?version={row.model_version.number}"
    text = Text("{model} has been run on every data set of {task}.", model=row.model.name, task=row.task.name)
    notify_once(db, row.model.owner_id, "model.measured", text, page)


def _tell_builder(db: Session, row: CellRow, reason: str) -> None:
    # A broken model fails on every variant; its builder hears of it once for each data set.
    first = queries.failures(db, row.model_version.id, row.dataset_version.id) == 1
    if row.model.owner_id is not None and first:
        if row.cell.variant not in {PLAIN, MEASURE} or not open_to_all(row.dataset, row.dataset_version):
            reason = own_reason(reason)
        text = Text(
            "{model} failed on {dataset} ({variant}): {reason}",
            model=row.model.name,
            dataset=row.dataset.name,
            variant=row.cell.variant,
            reason=reason,
        )
        notify(db, row.model.owner_id, "run-failed", text, f"/runs/{row.cell.id}")


def _row(db: Session, cell_id: int) -> CellRow:
    row = queries.row(db, cell_id)
    if row is None:
        raise NotFound(
            "There is no cell {cell}.",
            cell=cell_id,
            remedy="`quintain evaluate status` lists them.",
            page="The page of runs lists those there are.",
        )
    return row


def managed_row(db: Session, actor: Actor, cell_id: int) -> CellRow:
    """Return a cell that *actor* may manage, as its builder or the task's owner; refuse others."""
    row = _row(db, cell_id)
    _require_may_manage(actor, row)
    return row


def _require_may_manage(actor: Actor, row: CellRow) -> None:
    require_signed_in(actor)
    if actor.user_id is None or row.model.owner_id != actor.user_id:
        require_owner(actor, row.task.name)
