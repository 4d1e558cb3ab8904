"""Measure again, on the class of machine that ranks, what was measured elsewhere."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.cells import MEASURE, CellState
from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.records.board import Remeasured
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.board.assemble import board
from quintain.services.board.parts import BoardPart
from quintain.services.evaluate.cells.measure_again import queue_measurement, refuse_frozen
from quintain.services.tasks.definitions import find_row
from quintain.services.tasks.machines import class_of
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.tasks import board_settings


def remeasure(db: Session, blobs: Blobs, actor: Actor, task: str) -> Remeasured:
    """Queue what was measured on another class of machine than the one that ranks; the task's owners may.

    Only workers on machines of that class take it. What is known stays shown, unranked, until then.
    """
    find_row(db, task)
    require_owner(actor, task)
    refuse_frozen(db, task)
    machine = board(db, blobs, actor, task, BoardPart(live=True, seeds_apart=True)).machine.name
    if machine is None:
        raise Conflict("Nothing has been measured yet.", remedy="Name a class of machine in the board's settings.")
    newest = {version.id for version, _ in board_settings.evaluated_versions(db, task)}
    queued = 0
    with transaction(db):
        for row in queries.rows(db, task=task, variant=MEASURE, states=[CellState.DONE]):
            elsewhere = row.cell.measurements and class_of(row.cell.measurements) != machine
            if elsewhere and row.dataset_version.id in newest and row.model_version.withdrawn_at is None:
                queue_measurement(db, row, machine=machine, why=f"to be measured on {machine}, by {actor.name}")
                queued += 1
        if queued:
            audit.record(db, actor, "evaluate.remeasure", task, machine=machine, queued=queued)
    return Remeasured(machine, queued)
