"""Figures from stored predictions, on all five axes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.services import evaluate
from quintain.services.results import DatasetResult, results
from quintain.services.run_cell import Conditions
from quintain.services.tasks import get_task
from quintain.services.worker import work
from quintain.store.blobs import Blobs
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
    assert kept == 6
    again = {found.model_version_id: found for found in results(db, blobs, get_task(db, "mood"))}
    assert again[brittle.model_version_id].as_dict() == brittle.as_dict()
    assert db.scalar(select(func.count()).select_from(ResultCache)) == kept
