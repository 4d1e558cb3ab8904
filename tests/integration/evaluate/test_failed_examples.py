"""What fails on one input is that input's failure: wrong, changed, counted and listed, and the run goes on."""

from __future__ import annotations

import threading
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox.limits import MIB, Limits, Outcome
from quintain.perturbations.contract import names_of
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.results import example_files, examples
from quintain.services.evaluate.results.compute import model_results
from quintain.services.evaluate.results.dataset_results import StoredResult
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.tables import Cell
from tests.evaluation import add_data, add_model, add_task
from tests.people import make_person

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20))
ROWS = [(f"The number {number} is here.", "positive" if number % 2 else "negative") for number in range(40)]
PICKY = """
    def predict(batch):
        for item in batch:
            if "number 7 " in item["text"]: raise ValueError("seven \\ud800" * 200)
        return ["postive" if "number 8 " in item["text"] else
                {"positive": 0.5 + (int(item["text"].split()[2]) % 2) * 0.4,
                 "negative": 0.5 - (int(item["text"].split()[2]) % 2) * 0.4} for item in batch]
"""


def run(workspace: Workspace, db: Session, blobs: Blobs, tmp_path: Path, *variants: str) -> dict[str, Cell]:
    """Run the cells of *variants* and give them by name."""
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            wanted = row.cell.variant.partition(".v")[0] in variants
            row.cell.state = "queued" if wanted else "cancelled"
    work(workspace.session, blobs, LocalEngine(tmp_path / "locks"), CONDITIONS, threading.Event(), until_empty=True)
    db.rollback()
    db.expire_all()
    return {row.cell.variant.partition(".v")[0]: row.cell for row in queries.rows(db) if row.cell.state != "cancelled"}


@pytest.fixture
def ground(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A task with forty examples, whose labels are hidden."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path, rows=ROWS)


def figures(db: Session, blobs: Blobs, owner: Actor, ref: str) -> StoredResult:
    """Give what is known of the model on its one data set."""
    return model_results(db, blobs, owner, ref)[0]


@pytest.mark.usefixtures("ground")
@pytest.mark.parametrize("batch_size", [1, 16])
def test_an_exception_marks_one_example_only(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path, batch_size: int
) -> None:
    """Alone or in a batch, the culprits are marked: the others have their answers, and the run is done."""
    folder = tmp_path / "model-picky"
    folder.mkdir()
    (folder / "quintain.toml").write_text(f"batch_size = {batch_size}\n")
    add_model(db, blobs, builder, tmp_path, name="picky", code=PICKY)
    cell = run(workspace, db, blobs, tmp_path, "plain")["plain"]
    assert cell.state == "done", cell.reason
    assert cell.measurements["failed"] == 2
    assert cell.predictions is not None
    table = pl.read_parquet(blobs.path(cell.predictions))
    failed = table.filter(pl.col("failure").is_not_null())
    assert failed.height == table["prediction"].null_count() == 2
    assert all(len(reason) <= 300 for reason in failed["failure"])
    assert sum("raised ValueError: seven" in reason for reason in failed["failure"]) == 1
    assert sum("'postive'" in reason for reason in failed["failure"]) == 1
    found = figures(db, blobs, owner, "mood/picky")
    assert found.failed == {"plain": 2}
    assert found.metrics["accuracy"]["value"] == pytest.approx(38 / 40)


@pytest.mark.usefixtures("ground")
def test_failures_are_listed_for_those_who_may_see_them(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Builder and owner see inputs and reasons; others see neither on hidden labels, and no reason in any file."""
    set_inputs(db, OPERATOR, "mood/test", "open")  # what a model says is as open as the inputs
    add_model(db, blobs, builder, tmp_path, name="picky", code=PICKY)
    run(workspace, db, blobs, tmp_path, "plain")
    for actor in (builder, owner):
        listed, total = examples.failures(db, blobs, actor, "mood/picky", "test")
        assert total == 2
        assert {one.inputs["text"] for one in listed} == {"The number 7 is here.", "The number 8 is here."}
        assert all(one.reason for one in listed)
    with pytest.raises(Forbidden):
        examples.failures(db, blobs, make_person(db, "other", RoleName.BUILDER), "mood/picky", "test")
    wrong, _ = examples.mistakes(db, blobs, owner, "mood/picky", "test")
    assert sum(one.failed for one in wrong) == 2
    example_files.export_examples(db, blobs, owner, "mood/picky", "test", "csv", tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv")["failure"].drop_nulls().len() == 2


@pytest.mark.usefixtures("ground")
def test_too_many_failures_end_the_run(
    workspace: Workspace, db: Session, blobs: Blobs, builder: Actor, tmp_path: Path
) -> None:
    """Two of forty may fail; at the third the run ends, and says what happened first."""
    code = "def predict(batch): return ['positive' if '1' in item['text'] else 1 / 0 for item in batch]"
    add_model(db, blobs, builder, tmp_path, name="broken", code=code)
    cell = run(workspace, db, blobs, tmp_path, "plain")["plain"]
    assert cell.state == "failed"
    assert cell.reason.startswith(f"{Outcome.CRASHED}: The model raised ZeroDivisionError: division by zero.")
    assert "failed on 3 examples; 2 of 40 may fail" in cell.reason
    assert any("handler.py" in event.text for event in queries.events(db, cell.id))


@pytest.mark.usefixtures("ground")
def test_crashing_on_a_variant_counts_as_changed_answers(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A constant model that raises on an odd wording is less robust than one that answers; it was more so before."""
    set_inputs(db, OPERATOR, "mood/test", "open")  # what a model says is as open as the inputs
    code = """
        def predict(batch):
            return ["positive" if "number 3 " in item["text"].lower() and item["text"] != "The number 3 is here."
                    and 1 / 0 else "positive" for item in batch]
    """
    add_model(db, blobs, builder, tmp_path, name="crashing", code=code)
    counted = names_of("robustness", in_paper=True)
    cells = run(workspace, db, blobs, tmp_path, "plain", *counted)
    assert {cell.state for cell in cells.values()} == {"done"}, [cell.reason for cell in cells.values()]
    failed = sum(cells[name].measurements["failed"] for name in counted)
    assert failed >= 1
    found = figures(db, blobs, owner, "mood/crashing")
    assert found.robustness is not None
    assert found.robustness["flips"] == failed
    assert found.robustness["share"]["value"] < 1
    listed = examples.flips(db, blobs, builder, "mood/crashing", "test")
    assert [(flip.before, flip.after) for flip in listed.flips] == [("positive", None)] * failed


@pytest.mark.usefixtures("ground")
def test_older_predictions_still_read(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Files that were written before examples could fail have no such column, and are scored as ever."""
    add_model(db, blobs, builder, tmp_path)
    cell = run(workspace, db, blobs, tmp_path, "plain")["plain"]
    assert cell.predictions is not None
    pl.read_parquet(blobs.path(cell.predictions)).drop("failure").write_parquet(tmp_path / "old.parquet")
    with transaction(db):
        old = db.get_one(Cell, cell.id)
        old.predictions, old.measurements = blobs.put_file(tmp_path / "old.parquet"), {}
    found = figures(db, blobs, owner, "mood/constant")
    assert found.metrics["accuracy"]["value"] == pytest.approx(0.5)
    assert examples.failures(db, blobs, owner, "mood/constant", "test") == ([], 0)
    assert examples.mistakes(db, blobs, owner, "mood/constant", "test")[1] == 20


@pytest.mark.usefixtures("ground")
def test_answers_while_timed_are_held_against_those_that_are_scored(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A model that looks at its caller and at how many it is asked for cannot tell when it is timed."""
    code = """
        import sys
        def predict(batch):
            request = sys._getframe(2).f_locals.get("request") or {}
            cheap = len(request.get("items", ())) == 1 or len(batch) == 1 or "single" in request
            return ["negative" if cheap else "positive" for item in batch]
    """
    add_model(db, blobs, builder, tmp_path, name="two-faced", code=code)
    cells = run(workspace, db, blobs, tmp_path, "plain", "measure")
    assert {cell.state for cell in cells.values()} == {"done"}
    measured = figures(db, blobs, owner, "mood/two-faced").measurements
    further = measured["sessions"] - 1  # one is that of the run that is scored
    assert measured["compared"] == 40 * further > 20
    assert (measured["asked_again"], measured["unstable"]) == (40, 0)
    assert measured["unlike_scored"] == 0
