"""Cells: derived, leased, computed once, lost by nobody."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.engine.jobs import CellResult, LocalEngine
from quintain.engine.machine_hold import is_machine_free, machine_taken
from quintain.engine.sandbox.limits import MIB, Limits, Outcome
from quintain.services.access.notify import list_notifications
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells import progress, worker
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.run_cell import run_leased
from quintain.services.evaluate.cells.worker import Work, work
from quintain.services.evaluate.results.variants import counted_variants, variant_name, variants_of
from quintain.services.models.registry import withdraw
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.tables import Cell, ModelVersion
from tests.evaluation import add_data, add_model, add_task
from tests.people import make_person

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20))


@pytest.fixture
def engine(tmp_path: Path) -> LocalEngine:
    """The engine that runs cells on this machine."""
    return LocalEngine(tmp_path / "locks")


@pytest.fixture
def one_cell(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> int:
    """A task with one data set and one model; all cells but the plain one are cancelled."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    add_model(db, blobs, builder, tmp_path)
    evaluate.fill(db)
    return keep_only(db, "plain")


def keep_only(db: Session, *variants: str) -> int:
    """Cancel the cells of other variants and give the id of the first that is left."""
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant not in variants:
                row.cell.state = "cancelled"
    return next(row.cell.id for row in queries.rows(db) if row.cell.variant in variants)


@pytest.mark.both_databases
def test_missing_cells_are_derived_and_none_twice(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A model and a data set make one cell for each variant; a second look adds nothing."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    add_model(db, blobs, builder, tmp_path)
    variants = len(variants_of(get_task(db, "mood")))
    assert evaluate.fill(db) == variants > 17
    assert evaluate.fill(db) == 0
    add_model(db, blobs, builder, tmp_path, name="second")
    assert evaluate.fill(db) == variants
    add_data(db, blobs, owner, tmp_path, name="more", rows=[("A new one.", "positive")])
    assert evaluate.fill(db) == 2 * variants


def test_training_data_and_withdrawn_models_make_no_cells(db: Session, blobs: Blobs, one_cell: int) -> None:
    """Only what is to be evaluated is; a withdrawn model's cells are not handed out."""
    with transaction(db):
        row = queries.row(db, one_cell)
        assert row is not None
        row.model_version.withdrawn_at = row.model_version.created_at
    assert evaluate.claim(db, "w") is None


@pytest.mark.both_databases
def test_a_cell_is_leased_to_one_worker(db: Session, one_cell: int) -> None:
    """While one has it nobody else gets it."""
    lease = evaluate.claim(db, "first")
    assert lease is not None
    assert lease.cell_id == one_cell
    assert evaluate.claim(db, "second") is None


@pytest.mark.both_databases
def test_a_lapsed_lease_goes_back_and_its_holder_can_write_nothing(db: Session, one_cell: int) -> None:
    """The fencing token decides: the newest lease writes, the older one is told that it lost."""
    old = evaluate.claim(db, "slow")
    assert old is not None
    lapse(db, one_cell)
    new = evaluate.claim(db, "quick")
    assert new is not None
    assert new.generation > old.generation
    assert not evaluate.heartbeat(db, old, done=1)
    assert not evaluate.complete(db, old, predictions="stale", measurements={}, rows=1)
    assert evaluate.complete(db, new, predictions="fresh", measurements={}, rows=6)
    assert db.get_one(Cell, one_cell).predictions == "fresh"


def lapse(db: Session, cell_id: int) -> None:
    """Let the lease of a cell run out."""
    with transaction(db):
        cell = db.get_one(Cell, cell_id)
        assert cell.lease_until is not None
        cell.lease_until -= timedelta(hours=1)
    db.rollback()


@pytest.mark.both_databases
def test_a_cell_that_kills_its_workers_is_given_up(db: Session, one_cell: int) -> None:
    """After many leases that lapsed without a word the cell fails with a reason instead of blocking the queue."""
    for number in range(evaluate.MAX_LOST + 1):
        assert evaluate.claim(db, f"w{number}") is not None
        lapse(db, one_cell)
    assert evaluate.claim(db, "last") is None
    cell = db.get_one(Cell, one_cell)
    assert cell.state == "failed"
    assert cell.reason.startswith(f"{Outcome.PLATFORM}: Given up after 10 workers were lost"), "no fault of the model"


@pytest.mark.both_databases
def test_a_lost_lease_is_no_failed_attempt(db: Session, owner: Actor, one_cell: int) -> None:
    """Workers that were killed use up nothing: the cell still has its three attempts, and a retry forgets the lost."""
    for number in range(5):
        lease = evaluate.claim(db, f"killed-{number}")
        lapse(db, one_cell)
    for attempt in range(1, evaluate.MAX_ATTEMPTS + 1):
        lease = evaluate.claim(db, "w")
        assert lease is not None
        assert db.get_one(Cell, one_cell).attempts == attempt
        evaluate.fail(db, lease, "disk full", ours=True, retry_in=0)
        db.rollback()
    cell = db.get_one(Cell, one_cell)
    assert (cell.state, cell.lost) == ("failed", 5)
    evaluate.retry(db, owner, one_cell)
    assert (cell.state, cell.attempts, cell.lost) == ("queued", 0, 0)


@pytest.mark.both_databases
@pytest.mark.parametrize("said", ["\ud800", "a\x00b", "\udcff" * 3])
def test_what_a_database_cannot_take_is_written_out(db: Session, builder: Actor, one_cell: int, said: str) -> None:
    """A reason and a log with halves of characters or NUL are kept, readable, and the builder is told."""
    set_inputs(db, OPERATOR, "mood/test", "open")  # what a model says is as open as the inputs
    lease = evaluate.claim(db, "w")
    assert lease is not None
    evaluate.fail(db, lease, f"crashed: {said}", log=said, ours=False)
    db.rollback()
    written = "".join(
        "\N{REPLACEMENT CHARACTER}" if one == "\x00" or "\ud800" <= one <= "\udfff" else one for one in said
    )
    assert db.get_one(Cell, one_cell).reason == f"crashed: {written}"
    assert queries.events(db, one_cell)[-1].text == f"crashed: {written}\n{written}"
    assert any(written in note.text for note in list_notifications(db, builder))


def test_a_withdrawn_models_runs_are_cancelled(db: Session, builder: Actor, one_cell: int) -> None:
    """Nothing of it waits for ever; the worker that has one loses it, and nobody can queue it again."""
    lease = evaluate.claim(db, "w")
    assert lease is not None
    with transaction(db):
        waiting = next(row.cell for row in queries.rows(db) if row.cell.variant == "measure")
        waiting.state = "queued"
    withdraw(db, builder, "mood/constant")
    db.rollback()
    assert not evaluate.heartbeat(db, lease, done=1)
    counts = progress.status(db, builder)
    assert (counts["queued"], counts["running"]) == (0, 0)
    assert "the model was withdrawn" in progress.explain_cell(db, builder, waiting.id).summary
    with pytest.raises(Conflict, match="was withdrawn"):
        evaluate.retry(db, builder, one_cell)


def test_a_fault_in_our_own_code_fails_the_cell_and_not_the_worker(
    workspace: Workspace, db: Session, blobs: Blobs, builder: Actor, one_cell: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again like any fault of ours, then given up; the worker lives, and the builder is told."""

    class Broken:
        def run(self, *_: object) -> CellResult:
            raise ZeroDivisionError("ours")

    monkeypatch.setattr(evaluate, "MAX_ATTEMPTS", 1)
    assert work(workspace.session, blobs, Broken(), CONDITIONS, threading.Event(), until_empty=True) == 0
    db.rollback()
    cell = db.get_one(Cell, one_cell)
    assert (cell.state, cell.reason) == ("failed", f"{Outcome.PLATFORM}: ZeroDivisionError: ours")
    assert any("constant failed on test" in note.text for note in list_notifications(db, builder))


@pytest.mark.both_databases
def test_builders_share_fairly(db: Session, blobs: Blobs, one_cell: int, tmp_path: Path) -> None:
    """Somebody with one model does not wait for all of somebody else's."""
    first = evaluate.claim(db, "w1")
    assert first is not None
    keen = make_person(db, "keen", RoleName.BUILDER)
    rare = make_person(db, "rare", RoleName.BUILDER)
    for number in range(3):
        add_model(
            db, blobs, keen, tmp_path, name=f"keen-{number}", code=f"def predict(b): return ['positive'] * {number}"
        )
    add_model(db, blobs, rare, tmp_path, name="rare", code="def predict(b): return ['negative']")
    evaluate.fill(db)
    owners = []
    for number in range(4):
        lease = evaluate.claim(db, f"f{number}")
        assert lease is not None
        row = queries.row(db, lease.cell_id)
        assert row is not None
        owners.append(row.model.owner_id)
    assert owners[:2] == [keen.user_id, rare.user_id]


@pytest.mark.both_databases
def test_a_language_model_waits_for_quicker_ones(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """It takes so long over every example that all else of its builder goes before, though it was there first."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    slow = add_model(db, blobs, builder, tmp_path, name="slow")
    quick = add_model(db, blobs, builder, tmp_path, name="quick", code="def predict(b): return ['negative']")
    evaluate.fill(db)
    keep_only(db, "plain", variant_name("typos"))
    with transaction(db):
        db.get_one(ModelVersion, slow.id).adapter = "gguf"
    order = []
    for number in range(4):
        lease = evaluate.claim(db, f"w{number}")
        assert lease is not None
        order.append(db.get_one(Cell, lease.cell_id).model_version_id)
    assert order == [quick.id, quick.id, slow.id, slow.id]


def test_what_a_board_ranks_by_is_run_first(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Data to look at and perturbations that enter no figure wait, however long they have been queued."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path, name="dev", role="dev", hidden=False)
    add_model(db, blobs, builder, tmp_path)
    evaluate.fill(db)
    add_data(db, blobs, owner, tmp_path, name="test")
    evaluate.fill(db)
    last = next(row for row in queries.rows(db, variant=variant_name("emoji")) if row.dataset.name == "dev")
    counted = counted_variants()
    assert queries.ahead(db, last.cell, counted) >= 4 + len(counted)
    found = []
    while lease := evaluate.claim(db, "w"):
        found.append(lease.title.partition(" on ")[2])
        assert evaluate.complete(db, lease, predictions=None, measurements={}, rows=6)
    assert found[:3] == ["test, plain", "dev, plain", "test, measure"]
    assert set(found[3 : 3 + len(counted)]) == {f"test, {variant}" for variant in counted}
    assert found[3 + len(counted)] == "dev, measure"
    assert len(found) == 2 * len(variants_of(get_task(db, "mood")))


@pytest.mark.both_databases
def test_what_is_new_is_found_while_others_are_queued(
    workspace: Workspace,
    db: Session,
    blobs: Blobs,
    owner: Actor,
    one_cell: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A long queue of what nobody waits for does not keep a new data set from being answered."""
    monkeypatch.setattr(worker, "FILL_SECONDS", 0.0)
    with transaction(db):
        for row in queries.rows(db):
            row.cell.state = "queued"
    job = Work(workspace.session, blobs, LocalEngine(tmp_path), CONDITIONS, threading.Event())
    titles = [lease.title for lease in (job.next_lease(), job.next_lease()) if lease]
    add_data(db, blobs, owner, tmp_path, name="more", rows=[("A new one.", "positive")])
    titles += [lease.title for lease in (job.next_lease(),) if lease]
    first, second, third = (title.partition(" on ")[2] for title in titles)
    assert (first, second.partition(",")[0], third) == ("test, plain", "test", "more, plain")


def test_nothing_is_measured_on_a_machine_that_is_taken(
    workspace: Workspace, db: Session, blobs: Blobs, one_cell: int, tmp_path: Path
) -> None:
    """While somebody has the machine, workers do all but measure; a measurement comes when they have let go."""
    with transaction(db):
        for row in queries.rows(db):
            row.cell.state = "queued" if row.cell.variant in {"plain", "measure"} else "cancelled"
    conditions = replace(CONDITIONS, is_idle=lambda: is_machine_free(tmp_path))
    job = Work(workspace.session, blobs, LocalEngine(tmp_path), conditions, threading.Event())
    with machine_taken(tmp_path):
        first, second = job.next_lease(), job.next_lease()
    assert first is not None
    assert (first.variant, second) == ("plain", None)
    with transaction(db):
        db.get_one(Cell, first.cell_id).state = "done"
    later = job.next_lease()
    assert later is not None
    assert later.variant == "measure"


@pytest.mark.both_databases
def test_a_fault_of_ours_is_tried_again_and_the_models_is_not(db: Session, one_cell: int) -> None:
    """Platform failures queue the cell again after a while; the model's own end it."""
    lease = evaluate.claim(db, "w")
    assert lease is not None
    evaluate.fail(db, lease, "disk full", ours=True, retry_in=0)
    db.rollback()
    assert db.get_one(Cell, one_cell).state == "queued"
    again = evaluate.claim(db, "w")
    assert again is not None
    evaluate.fail(db, again, "crashed", log="Traceback …", ours=False)
    db.rollback()
    assert db.get_one(Cell, one_cell).state == "failed"
    assert [event.kind for event in queries.events(db, one_cell)] == ["leased", "retry", "leased", "failed"]


@pytest.mark.both_databases
def test_cancelling_is_for_the_builder_and_the_owner(
    db: Session, one_cell: int, builder: Actor, worker: Actor, owner: Actor
) -> None:
    """Others may not; a cancelled cell is not handed out, and can be tried again."""
    with pytest.raises(Forbidden):
        evaluate.cancel(db, worker, one_cell)
    lease = evaluate.claim(db, "w")
    assert lease is not None
    evaluate.cancel(db, builder, one_cell)
    assert not evaluate.heartbeat(db, lease, done=3)
    assert evaluate.claim(db, "w") is None
    with pytest.raises(Conflict, match="nothing to cancel"):
        evaluate.cancel(db, owner, one_cell)
    evaluate.retry(db, owner, one_cell)
    assert evaluate.claim(db, "w") is not None


def test_a_worker_computes_and_stores_predictions(
    workspace: Workspace, db: Session, blobs: Blobs, engine: LocalEngine, one_cell: int
) -> None:
    """The whole way: lease, sandbox, predictions in a blob, in the order of the data set."""
    stored = work(workspace.session, blobs, engine, CONDITIONS, threading.Event(), until_empty=True)
    assert stored == 1
    db.rollback()
    cell = db.get_one(Cell, one_cell)
    assert cell.state == "done", cell.reason
    assert cell.predictions is not None
    table = pl.read_parquet(blobs.path(cell.predictions))
    row = queries.row(db, one_cell)
    assert row is not None
    assert table["id"].to_list() == pl.read_parquet(blobs.path(row.dataset_version.blob))["id"].to_list()
    assert table["prediction"].to_list() == ["positive"] * 6


def test_measurement_and_perturbations_are_cells_too(
    workspace: Workspace, db: Session, blobs: Blobs, engine: LocalEngine, one_cell: int
) -> None:
    """Throughput, latency and memory are measured; a perturbed variant is made once and predicted."""
    with transaction(db):
        for row in queries.rows(db):
            wanted = row.cell.variant == "measure" or row.cell.variant.startswith("contraction.")
            row.cell.state = "queued" if wanted else "cancelled"
    assert work(workspace.session, blobs, engine, CONDITIONS, threading.Event(), until_empty=True) == 2
    db.rollback()
    done = {row.cell.variant: row.cell for row in queries.rows(db, states=["done"])}
    measured = done["measure"].measurements
    assert measured["throughput"] > 0
    assert measured["latency_p95"] >= measured["latency_p50"] > 0
    assert 0 < measured["memory"] <= measured["memory_peak"] < 0.5
    assert measured["machine"]["cpus"] >= 1
    (name,) = [name for name in done if name != "measure"]
    predictions = done[name].predictions
    assert predictions is not None
    assert 1 <= pl.read_parquet(blobs.path(predictions)).height < 6


def test_a_broken_model_fails_with_its_traceback_and_its_builder_is_told(
    workspace: Workspace, db: Session, blobs: Blobs, engine: LocalEngine, builder: Actor, one_cell: int, tmp_path: Path
) -> None:
    """The run is marked, the log kept, the builder notified, and the queue moves on."""
    version = add_model(db, blobs, builder, tmp_path, name="broken", code="def predict(b): return 1 / 0")
    evaluate.fill(db)
    keep_only(db, "plain")
    work(workspace.session, blobs, engine, CONDITIONS, threading.Event(), until_empty=True)
    db.rollback()
    states = {row.model.name: row.cell for row in queries.rows(db, variant="plain")}
    assert states["constant"].state == "done"
    assert states["broken"].state == "failed"
    assert "ZeroDivisionError" in states["broken"].reason
    log = queries.events(db, states["broken"].id)[-1].text
    assert "handler.py" in log
    assert any("broken failed on test" in note.text for note in list_notifications(db, builder))
    assert version.number == 1


@pytest.mark.both_databases
def test_a_run_whose_lease_was_lost_stores_nothing(
    workspace: Workspace, db: Session, blobs: Blobs, engine: LocalEngine, one_cell: int
) -> None:
    """A worker that comes back late finds the cell taken, and its result is dropped."""
    late = evaluate.claim(db, "late")
    assert late is not None
    lapse(db, one_cell)
    quick = evaluate.claim(db, "quick")
    assert quick is not None
    assert not run_leased(workspace.session, blobs, engine, late, CONDITIONS)
    assert run_leased(workspace.session, blobs, engine, quick, CONDITIONS)
