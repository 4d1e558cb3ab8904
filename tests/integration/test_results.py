"""Figures from stored predictions, on all five axes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.perturb.robustness.typos import Typos
from quintain.services import evaluate
from quintain.services.results import DatasetResult, results
from quintain.services.run_cell import Conditions
from quintain.services.tasks import get_task
from quintain.services.worker import work
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries import cells as queries
from quintain.store.tables import ResultCache
from tests.evaluation import add_data, add_model, add_task

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20))
CASE_SENSITIVE = """
    def predict(batch):
        return [{"positive": 0.9, "negative": 0.1} if "w" in item["text"] else "negative" for item in batch]
"""


@pytest.fixture
def evaluated(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> dict[str, DatasetResult]:
    """Two models, run on every variant of one data set; their results by name."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    names = {}
    for name, code in {"constant": "def predict(b): return ['positive'] * len(b)", "brittle": CASE_SENSITIVE}.items():
        names[add_model(db, blobs, builder, tmp_path, name=name, code=code).id] = name
    evaluate.fill(db)
    db.rollback()
    work(workspace.session, blobs, LocalEngine(tmp_path / "locks"), CONDITIONS, threading.Event(), until_empty=True)
    return {names[found.model_version_id]: found for found in results(db, blobs, get_task(db, "mood"))}


def test_all_five_axes_are_there_and_computed_once(
    db: Session, blobs: Blobs, evaluated: dict[str, DatasetResult]
) -> None:
    """Performance, throughput, memory, fairness and robustness, each of the right size; a second look is cached."""
    constant, brittle = evaluated["constant"], evaluated["brittle"]
    assert set(constant.states.values()) == {"done"}, constant.states
    assert constant.metrics["accuracy"]["value"] == pytest.approx(0.5)
    assert constant.metrics["accuracy"]["low"] < 0.5 < constant.metrics["accuracy"]["high"]
    assert constant.measurements["throughput"] > 100
    assert 0 < constant.measurements["memory"] < 0.5
    assert constant.robustness is not None
    assert constant.robustness["share"]["value"] == 1.0
    assert constant.fairness is not None
    assert constant.fairness["share"]["value"] == 1.0
    assert brittle.robustness is not None
    assert brittle.robustness["share"]["value"] < 1.0
    assert brittle.robustness["flips"] > 0
    assert {"typos", "word_case", "keyboard"} <= set(brittle.robustness["families"])
    kept = db.scalar(select(func.count()).select_from(ResultCache))
    assert kept == 2 * (3 + 2), "three figures of each model, and the resamples of two"
    again = {found.model_version_id: found for found in results(db, blobs, get_task(db, "mood"))}
    assert again[brittle.model_version_id].as_dict() == brittle.as_dict()
    assert db.scalar(select(func.count()).select_from(ResultCache)) == kept


def test_versions_of_a_perturbation_are_never_counted_together(
    workspace: Workspace,
    db: Session,
    blobs: Blobs,
    builder: Actor,
    evaluated: dict[str, DatasetResult],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A changed perturbation makes its own cells; the old figures stand until those are done, and then are gone."""
    before = evaluated["brittle"]
    assert before.robustness is not None
    newer, older = f"typos.v{Typos.version + 1}", f"typos.v{Typos.version}"
    monkeypatch.setattr(Typos, "version", Typos.version + 1)
    with transaction(db):
        cell = next(row.cell for row in queries.rows(db, variant=older))
        cell.state, cell.predictions = "queued", None
    left = cell.id
    assert evaluate.fill(db) == 2
    db.rollback()
    assert [row.cell.variant for row in queries.rows(db, states=["queued"])] == [newer, newer]
    stale = queries.row(db, left)
    assert stale is not None
    assert (stale.cell.state, stale.cell.reason) == ("cancelled", "the perturbation has a newer version")
    with pytest.raises(Conflict, match="has a newer version"):
        evaluate.retry(db, builder, left)
    db.rollback()
    work(workspace.session, blobs, LocalEngine(tmp_path / "locks"), CONDITIONS, threading.Event(), until_empty=True)
    db.rollback()
    found = {one.model_version_id: one for one in results(db, blobs, get_task(db, "mood"))}
    after = found[before.model_version_id]
    assert newer in after.states
    assert older not in after.states
    assert set(after.states.values()) == {"done"}
    assert after.robustness is not None
    assert set(after.robustness["families"]) == set(before.robustness["families"])
    made = {name: queries.variant(db, after.dataset_version_id, name) for name in (older, newer)}
    rows = {name: 0 if variant is None else variant.rows for name, variant in made.items()}
    assert rows[newer] > 0
    assert after.robustness["rows"] == before.robustness["rows"] - rows[older] + rows[newer]
