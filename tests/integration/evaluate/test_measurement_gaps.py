"""What was measured ranks only where it is of the answers that are scored, and known sharply; else it is said why."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.cells import MEASURE, PLAIN
from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.engine.jobs import CellJob, CellResult, LocalEngine
from quintain.engine.loops import Loop
from quintain.engine.machine_load import machine
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.services.access.links import make_link, redeem_link
from quintain.services.board.assemble import board
from quintain.services.board.gaps import why_unranked
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.measure_again import (
    DISTURBED,
    may_measure_again,
    measure_again,
    queue_disturbed,
)
from quintain.services.evaluate.cells.worker import Work, work
from quintain.services.evaluate.results.axis_gaps import MEASURED
from quintain.services.evaluate.results.compute import model_results
from quintain.services.evaluate.results.dataset_results import StoredResult
from quintain.services.evaluate.results.measurement_gaps import keeps_known, measured_figures, measurement_gaps
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.tables import Cell
from tests.evaluation import add_data, add_model, add_task
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, on_one_line, post, token_for

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20))
ROWS = [(f"The number {number} is here.", "positive" if number % 2 else "negative") for number in range(40)]
STEADY = "def predict(batch): return ['positive'] * len(batch)"
MODEL = "mood/steady"


@pytest.mark.parametrize(("later", "axes"), [(None, set()), (1.9, set()), (2.1, {"throughput"})])
def test_throughput_of_examples_that_stand_for_no_others_does_not_rank(later: float | None, axes: set[str]) -> None:
    """On large data the slowest of the scored processes counts: twice the work after what was timed is the bound."""
    sessions = [{"later": None}, {"later": 1.0}, {"later": later}]
    measured = {"throughput": 100.0, "memory": 0.1, "throughput_half": 1.0}
    gaps = measurement_gaps(measured_figures(measured, {"timing": {"sessions": sessions}}, {}))
    assert set(gaps) == axes


@pytest.fixture
def cells(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> dict[str, Cell]:
    """Give the plain run and the measurement of a model that answers everything alike."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path, rows=ROWS)
    add_model(db, blobs, builder, tmp_path, name="steady", code=STEADY)
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            row.cell.state = "queued" if row.cell.variant in {PLAIN, MEASURE} else "cancelled"
    run(workspace, blobs, tmp_path)
    db.expire_all()
    return {row.cell.variant: row.cell for row in queries.rows(db) if row.cell.state == "done"}


def run(workspace: Workspace, blobs: Blobs, tmp_path: Path) -> None:
    """Run what waits."""
    work(workspace.session, blobs, LocalEngine(tmp_path / "locks"), CONDITIONS, threading.Event(), until_empty=True)


def figures(db: Session, blobs: Blobs, owner: Actor) -> StoredResult:
    """Give what is known of the model."""
    return model_results(db, blobs, owner, MODEL)[0]


def told(db: Session, cell: Cell, **measured: Any) -> Mapping[str, Any]:
    """Let the measurement have found something else."""
    cell.measurements = {**(cell.measurements or {}), **measured}
    db.commit()
    return cell.measurements


def answer_otherwise(db: Session, blobs: Blobs, cell: Cell) -> pl.DataFrame:
    """Let the further processes of a measurement have answered otherwise, and return what they answered."""
    timed = pl.read_parquet(blobs.path(str(cell.predictions))).with_columns(prediction=pl.lit("negative"))
    with blobs.scratch(".parquet") as path:
        timed.write_parquet(path)
        cell.predictions = blobs.put_file(path)
    db.commit()
    return timed


def test_figures_of_answers_that_are_not_scored_are_withheld(
    db: Session, blobs: Blobs, owner: Actor, cells: Mapping[str, Cell]
) -> None:
    """Where timed answers differ from the scored ones, speed and memory are gone from results and board, and why."""
    timed = answer_otherwise(db, blobs, cells[MEASURE])
    result = figures(db, blobs, owner)
    assert not {"throughput", "memory", "latency_p50", "cpu_seconds_per_example"} & result.measurements.keys()
    assert result.measurements["unlike_scored"] == timed.height
    assert {axis: result.gaps[axis].kind for axis in MEASURED} == dict.fromkeys(MEASURED, "otherwise")
    model = board(db, blobs, owner, "mood").models[0]
    assert list(model.values["throughput"]) == list(model.values["memory"]) == [None]
    assert "otherwise while it was timed" in why_unranked(model, {"throughput": [1.0]}, [1.0])


def test_the_reason_of_what_is_withheld_is_told_everywhere(
    workspace: Workspace,
    db: Session,
    blobs: Blobs,
    cells: Mapping[str, Cell],
    cli: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The results page, the board, `evaluate results` and `board show` say how many answers differed."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    timed = answer_otherwise(db, blobs, cells[MEASURE])
    reason = f"answered {timed.height} of {timed.height} examples otherwise while it was timed"
    make_person(db, "otto", RoleName.OWNER)
    redeem_link(db, make_link(db, OPERATOR, "otto").token, PASSWORD)
    browser = browser_of(workspace, "otto")
    page = browser.get("/tasks/mood/models/steady/results/test").text
    assert f"withheld: it {reason}" in " ".join(page.split())
    assert "Asked again, it answered 0 of 40 examples differently." in " ".join(page.split())
    assert reason in browser.get("/api/v1/tasks/mood/board").text
    assert "gap_otherwise" in browser.get("/tasks/mood/board").text
    where = ("-w", str(workspace.settings.workspace))
    monkeypatch.setenv("COLUMNS", "400")
    assert reason in cli(*where, "evaluate", "results", MODEL).output
    assert reason in cli(*where, "board", "show", "mood").output


def test_an_uneven_figure_is_shown_and_does_not_rank(
    db: Session, blobs: Blobs, owner: Actor, cells: Mapping[str, Cell]
) -> None:
    """A throughput of 500 give or take 400 stands beside the reason; memory, which is sharp, ranks."""
    told(db, cells[MEASURE], throughput=500.0, throughput_half=400.0, memory_half=0.0)
    model = board(db, blobs, owner, "mood").models[0]
    why = model.gaps["throughput"][0]
    assert model.values["throughput"][0] is None
    assert (why.kind, why.n, why.figure.value) == ("uneven", 80, 500.0)
    assert model.values["memory"][0] is not None


def test_a_busy_machine_is_told_with_the_figure(
    workspace: Workspace,
    db: Session,
    blobs: Blobs,
    owner: Actor,
    cells: Mapping[str, Cell],
    cli: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What others worked meanwhile stands in the cell of the board and below its table where it was much."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    show = ("-w", str(workspace.settings.workspace), "board", "show", "mood")
    line = "mood/steady@1 was measured while the machine was busy: 40% of it with other work."
    told(db, cells[MEASURE], busy=0.4, slowed=0.0, throughput_half=1e9)  # and too uneven to rank
    assert line in " ".join(cli(*show).output.split())
    said = "Measured while the machine was busy: steady. Its figures say how busy."
    assert said in on_one_line(browser_of(workspace).get("/tasks/mood/board"))
    told(db, cells[MEASURE], throughput_half=1.0)
    assert board(db, blobs, owner, "mood").models[0].values["throughput"][0].busy == 0.4
    told(db, cells[MEASURE], busy=0.01, slowed=0.05)
    quiet = board(db, blobs, owner, "mood").models[0]
    assert (quiet.values["throughput"][0].busy, quiet.disturbed) == (None, None)


def test_a_measurement_waits_for_the_run_that_it_rests_on(db: Session, cells: Mapping[str, Cell]) -> None:
    """Nobody takes it while the scored run waits or goes on; then it needs no further process where that was sharp."""
    cells[MEASURE].state, cells[PLAIN].state = "queued", "running"
    cells[PLAIN].lease_until = now() + timedelta(minutes=1)
    db.commit()
    assert evaluate.claim(db, "worker") is None
    cells[PLAIN].state = "done"
    db.commit()
    lease = evaluate.claim(db, "worker")
    assert lease is not None
    assert lease.cell_id == cells[MEASURE].id


def test_a_measurement_is_made_again_and_the_known_figure_stands_until_then(
    workspace: Workspace,
    db: Session,
    blobs: Blobs,
    owner: Actor,
    builder: Actor,
    cells: Mapping[str, Cell],
    tmp_path: Path,
) -> None:
    """Owners may at any time, builders where it was disturbed; the board keeps its figure while it waits."""
    number = cells[MEASURE].id
    before = told(db, cells[MEASURE], busy=0.0, slowed=0.0, throughput_half=0.0, throughput=7.0)
    with pytest.raises(Forbidden, match="while the machine was quiet"):
        measure_again(db, builder, number)
    told(db, cells[MEASURE], busy=0.5)
    assert may_measure_again(db, builder, number)
    told(db, cells[MEASURE], busy=0.0)
    measure_again(db, owner, number)
    assert cells[MEASURE].state == "queued"
    assert board(db, blobs, owner, "mood").models[0].values["throughput"][0].value == before["throughput"]
    assert not may_measure_again(db, owner, number)
    told(db, cells[MEASURE], throughput_half=1e9)  # one that is so uneven gives way to any other
    run(workspace, blobs, tmp_path)
    db.expire_all()
    assert (cells[MEASURE].state, cells[MEASURE].reason) == ("done", "")
    assert cells[MEASURE].measurements["throughput"] != before["throughput"]
    with pytest.raises(Conflict, match="no measurement that is done"):
        measure_again(db, owner, cells[PLAIN].id)


class Measures:
    """An engine whose measurement finds what it is told to, with so much noise."""

    def __init__(self, throughput: float, half: float) -> None:
        self.throughput, self.half = throughput, half

    def run(self, job: CellJob, progress: Callable[[int], None], stop: threading.Event) -> CellResult:
        """Give what another measurement would."""
        known = {"throughput": self.throughput, "throughput_half": self.half, "memory": 0.1, "memory_half": 0.0}
        return CellResult(len(ROWS), {**known, "machine": machine()})


def test_a_figure_that_ranks_is_not_lost_to_a_noisier_one(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, cells: Mapping[str, Cell]
) -> None:
    """Measured again on a disturbed machine, the known figure stands; a sharp one, or a sharper, takes its place."""
    told(db, cells[MEASURE], throughput=10.0, throughput_half=1.0, memory_half=0.0, slowed=0.4)
    for found, half, stands in ((4.0, 2.0, 10.0), (8.0, 2.0, 8.0), (9.0, 0.0, 9.0)):
        measure_again(db, owner, cells[MEASURE].id)
        db.rollback()
        again = Measures(found, half)
        work(workspace.session, blobs, again, CONDITIONS, threading.Event(), until_empty=True)
        db.expire_all()
        assert (cells[MEASURE].state, cells[MEASURE].measurements["throughput"]) == ("done", stands)
        kept = "what was known stands" in queries.events(db, cells[MEASURE].id)[-1].text
        assert kept == (found != stands)
    told(db, cells[MEASURE], throughput_half=5.0)
    assert keeps_known(cells[MEASURE].measurements, {**cells[MEASURE].measurements, "throughput_half": 6.0})
    elsewhere = {**cells[MEASURE].measurements, "throughput_half": 6.0, "machine_class": "another"}
    assert not keeps_known(cells[MEASURE].measurements, elsewhere)


def test_a_figure_is_not_lost_where_measuring_it_again_fails(
    db: Session, owner: Actor, cells: Mapping[str, Cell]
) -> None:
    """A fault of ours, three times over, leaves what was known; one of the model's ends the measurement as ever."""
    before = told(db, cells[MEASURE], throughput=10.0, throughput_half=1.0)
    for ours, state in ((True, "done"), (False, "failed")):
        measure_again(db, owner, cells[MEASURE].id)
        for _ in range(evaluate.MAX_ATTEMPTS if ours else 1):
            db.expire_all()
            cells[MEASURE].lease_until = None  # it waits for a while before each try
            db.commit()
            lease = evaluate.claim(db, "worker")
            assert lease is not None
            evaluate.fail(db, lease, "platform: the disk is full", ours=ours)
        db.expire_all()
        assert (cells[MEASURE].state, cells[MEASURE].measurements) == (state, before)


def test_a_worker_with_nothing_to_do_measures_again_what_was_disturbed(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, cells: Mapping[str, Cell], tmp_path: Path
) -> None:
    """It queues such a cell twice at most, and none that was measured sharply on a quiet machine."""
    told(db, cells[MEASURE], busy=0.0, slowed=0.0, throughput_half=0.0, memory_half=0.0)
    assert queue_disturbed(db) == 0
    told(db, cells[MEASURE], slowed=0.4, throughput_half=1e9)
    assert queue_disturbed(db, task="other") == queue_disturbed(db, machine="none such") == 0
    worker = Work(workspace.session, blobs, LocalEngine(tmp_path / "locks"), CONDITIONS, threading.Event())
    each = Loop("cells", worker.step, every=1.0).each
    assert worker.step(each) == 0  # it has queued the cell
    db.expire_all()
    assert (cells[MEASURE].state, queries.events(db, cells[MEASURE].id)[-1].text) == ("queued", DISTURBED)
    before = cells[MEASURE].measurements
    db.rollback()
    assert worker.step(each) == 0  # and has measured it
    db.expire_all()
    assert cells[MEASURE].state == "done"
    assert cells[MEASURE].measurements["throughput_repeats"] != before["throughput_repeats"]
    for queued in (1, 0):
        told(db, cells[MEASURE], slowed=0.4)
        assert queue_disturbed(db) == queued
        cells[MEASURE].state = "done"
        cells[MEASURE].finished_at = now()
        db.commit()


def test_a_measurement_is_made_again_from_the_page_the_api_and_the_command(
    workspace: Workspace, db: Session, cells: Mapping[str, Cell], cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The button of a run's page, the call and the command queue it."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    number = cells[MEASURE].id
    make_person(db, "otto", RoleName.OWNER)
    redeem_link(db, make_link(db, OPERATOR, "otto").token, PASSWORD)
    browser = browser_of(workspace, "otto")
    assert "Measure again" in browser.get(f"/runs/{number}").text
    assert post(browser, f"/runs/{number}", f"/runs/{number}/measure").status_code == 303
    db.expire_all()
    assert cells[MEASURE].state == "queued"
    db.rollback()
    token = token_for(workspace, "otto")
    for again in (
        lambda: cli("-w", str(workspace.settings.workspace), "evaluate", "measure", str(number)),
        lambda: browser.post(f"/api/v1/runs/{number}/measure", headers={"authorization": f"Bearer {token}"}),
    ):
        cells[MEASURE].state = "done"
        db.commit()
        again()
        db.expire_all()
        assert cells[MEASURE].state == "queued"
        db.rollback()


def test_what_broke_on_the_plain_examples_is_not_run_on_changed_ones(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Its other runs are spared with the reason, also those that come later, and wait again with the plain one."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path, rows=ROWS)
    add_model(db, blobs, builder, tmp_path, name="broken", code="def predict(batch): raise ValueError('no')")
    evaluate.fill(db)
    lease = evaluate.claim(db, "worker", variant=PLAIN)
    assert lease is not None
    evaluate.fail(db, lease, "crashed: no", ours=False)
    evaluate.fill(db)
    states = {row.cell.variant: row.cell.state for row in queries.rows(db)}
    assert states.pop(PLAIN) == "failed"
    assert len(states) > 5
    assert set(states.values()) == {"cancelled"}
    evaluate.retry(db, owner, lease.cell_id)
    assert {row.cell.state for row in queries.rows(db)} == {"queued"}
