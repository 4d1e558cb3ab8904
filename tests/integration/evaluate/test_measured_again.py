"""Figures that models' own clocks made do not outlive the upgrade."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.models.registry import withdraw
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.migrate import FOLDER
from quintain.store.queries.evaluate import cells as queries
from tests.evaluation import add_data, add_model, add_task


def test_old_measurements_are_queued_again(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Finished measurements lose their figures and wait for a worker; those of withdrawn models only lose them."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    add_model(db, blobs, builder, tmp_path)
    add_model(db, blobs, builder, tmp_path, name="gone", code="def predict(b): return ['negative'] * len(b)")
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            row.cell.state, row.cell.measurements = "done", {"throughput": 2e11, "failed": 0}
    withdraw(db, builder, "mood/gone")
    db.rollback()
    (file,) = (FOLDER / "versions").glob("*_measure_again.py")
    spec = importlib.util.spec_from_file_location("measure_again", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with workspace.engine.begin() as connection, Operations.context(MigrationContext.configure(connection)):
        module.upgrade()
    db.expire_all()
    found = {(row.model.name, row.cell.variant): (row.cell.state, row.cell.measurements) for row in queries.rows(db)}
    assert found["constant", "measure"] == ("queued", {})
    assert found["gone", "measure"] == ("done", {})
    assert found["constant", "plain"] == ("done", {"throughput": 2e11, "failed": 0})
