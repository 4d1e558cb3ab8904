"""Measure a model again on data that it was measured on: the figure that is known stands until there is another."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.cells import MEASURE, CellState
from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import Actor, RoleName
from quintain.services.access import audit
from quintain.services.evaluate.cells.lifecycle import managed_row
from quintain.services.evaluate.results.measurement_gaps import measurement_gaps, share_disturbed
from quintain.services.tasks.board_settings import board_spec, frozen_at
from quintain.services.tasks.machines import class_of
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate.cells import CellRow

DISTURBED = "to be measured again: the machine was disturbed"
TIMES_BY_ITSELF = 2
LATELY_HOURS = 24


def measure_again(db: Session, actor: Actor, cell_id: int) -> None:
    """Queue a measurement once more. The task's owners may, and its builder where the figure is uneven or disturbed.

    A builder may not measure a figure that stands again, or would until chance is kind.
    """
    with transaction(db):
        row = managed_row(db, actor, cell_id)
        if row.cell.variant != MEASURE or row.cell.state != CellState.DONE or not row.cell.measurements:
            raise Conflict(
                "Cell {cell} is no measurement that is done.",
                cell=cell_id,
                remedy="`quintain evaluate status --cells` lists them: a 'measure' that is done can be.",
                page="The page of runs lists them; a 'measure' that is done can be.",
            )
        if row.model_version.withdrawn_at is not None:
            raise Conflict("Cell {cell} is of a model that was withdrawn.", cell=cell_id, code="model_withdrawn")
        refuse_frozen(db, row.task.name)
        if not actor.has(RoleName.OWNER, row.task.name) and not is_disturbed(row):
            raise Forbidden(
                "Cell {cell} was measured sharply, while the machine was quiet.",
                cell=cell_id,
                remedy="Ask an owner of the task to measure it again.",
            )
        queue_measurement(db, row, machine=row.cell.machine, why=f"to be measured again, by {actor.name}")
        audit.record(db, actor, "evaluate.measure", f"cell {cell_id}")


def may_measure_again(db: Session, actor: Actor, cell_id: int) -> bool:
    """Whether *actor* may queue this measurement again now."""
    row = queries.row(db, cell_id)
    if row is None or row.cell.variant != MEASURE or row.cell.state != CellState.DONE or not row.cell.measurements:
        return False
    if row.model_version.withdrawn_at is not None or frozen_at(board_spec(db, row.task.name)) is not None:
        return False
    mine = actor.user_id is not None and row.model.owner_id == actor.user_id
    return actor.has(RoleName.OWNER, row.task.name) or (mine and is_disturbed(row))


def is_disturbed(row: CellRow) -> bool:
    """Whether a measurement is too uneven to rank, or was made while others kept the machine busy."""
    measured = row.cell.measurements or {}
    uneven = any(why.kind == "uneven" for why in measurement_gaps(measured).values())
    return uneven or share_disturbed(measured) is not None


def queue_disturbed(db: Session, *, task: str | None = None, machine: str | None = None) -> int:
    """Queue once more what was measured lately while the machine was disturbed; give how many cells.

    A worker that has nothing else to do asks for it, for its own class of *machine*. Each is queued twice at most.
    """
    queued = 0
    with transaction(db):
        since = now() - timedelta(hours=LATELY_HOURS)
        for row in queries.measured_since(db, since, task=task, note=DISTURBED, most=TIMES_BY_ITSELF):
            measured = row.cell.measurements or {}
            here = machine is None or class_of(measured) == machine
            if here and is_disturbed(row) and frozen_at(board_spec(db, row.task.name)) is None:
                queue_measurement(db, row, machine=row.cell.machine, why=DISTURBED)
                queued += 1
    return queued


def queue_measurement(db: Session, row: CellRow, *, machine: str | None, why: str) -> None:
    """Queue a measurement that is done, for a *machine* of one class or any; what it found is kept until the next."""
    cell = row.cell
    cell.state, cell.machine, cell.attempts, cell.done = CellState.QUEUED.value, machine, 0, 0
    cell.lease_until = cell.finished_at = None
    queries.note(db, cell.id, "queued", why)


def send_measurements(db: Session, task_id: int, machine: str | None) -> None:
    """Let what is queued of a task wait for another class of machine, or for any; in the caller's transaction."""
    queries.send_measurements(db, task_id, machine)


def refuse_frozen(db: Session, task: str) -> None:
    """Refuse where the task's board is frozen: it shows what was measured until then."""
    if frozen_at(board_spec(db, task)) is not None:
        raise Conflict(
            "The board of '{task}' is frozen, and shows what was measured until then.",
            task=task,
            remedy="Measure again when the freeze is over.",
            code="board_frozen",
        )
