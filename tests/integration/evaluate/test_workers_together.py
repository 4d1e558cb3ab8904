"""Several workers at once, and workers around which things break: nothing is lost, done twice, or left undone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from quintain.adapters.builtin import BuiltinAdapter
from quintain.adapters.contract import EndpointSecret, Outside
from quintain.compose import Workspace
from quintain.core.errors import Unavailable
from quintain.core.people import Actor, RoleName
from quintain.core.records.board import BoardView
from quintain.engine.jobs import CellJob, CellResult, LocalEngine
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.models import artefact
from quintain.services.board.snapshots import save_fork
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells import run_cell, worker
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.run_cell import variant_of
from quintain.services.evaluate.cells.worker import work, work_together
from quintain.services.evaluate.results.variants import variant_name, variants_of
from quintain.services.evaluate.submissions import submit
from quintain.services.models.outside import share_of
from quintain.services.models.registry import register_version
from quintain.services.tasks.definitions import get_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate.cells import LastCell
from quintain.store.tables import Cell, DatasetVersion, Variant
from tests.evaluation import CARD, add_data, add_model, add_task
from tests.people import make_person

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20), lease_seconds=6)
TOGETHER = 6


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses as long as a test can wait."""
    monkeypatch.setattr(worker, "IDLE_SECONDS", 0.1)
    monkeypatch.setattr(worker, "FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(run_cell, "FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(evaluate, "fail", partial(evaluate.fail, retry_in=0.5))


@pytest.fixture
def ground(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> None:
    """A task with one data set and one model, and no cells yet."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    add_model(db, blobs, builder, tmp_path)


@pytest.fixture
def one_cell(db: Session, ground: None) -> int:
    """The plain cell of that model; all others are cancelled."""
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant != "plain":
                row.cell.state = "cancelled"
    return next(row.cell.id for row in queries.rows(db, variant="plain"))


def all_at_once(workspace: Workspace, act: Callable[[Session], Any]) -> list[Any]:
    """Let several people do the same thing at the same moment, each on a connection of their own."""
    ready = threading.Barrier(TOGETHER)

    def one(_: int) -> Any:
        with workspace.session() as db:
            db.connection()
            ready.wait()
            return act(db)

    with ThreadPoolExecutor(TOGETHER) as pool:
        return list(pool.map(one, range(TOGETHER)))


def cell_of(db: Session, number: int) -> Cell:
    """Give a cell as it is now."""
    db.rollback()
    db.expire_all()
    return db.get_one(Cell, number)


class Doing:
    """An engine that does what it is told for each run, then answers."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        self.acts = list(acts)
        self.jobs: list[CellJob] = []

    def run(self, job: CellJob, progress: Callable[[int], None], stop: threading.Event) -> CellResult:
        """Run *job*."""
        self.jobs.append(job)
        if self.acts:
            self.acts.pop(0)()
        job.out.write_bytes(b"PAR1")
        return CellResult(6)


def breaking(error: Exception) -> Callable[[], object]:
    """Give something that raises *error*."""

    def act() -> object:
        raise error

    return act


@pytest.mark.both_databases
def test_cells_added_by_many_at_once_are_added_once(workspace: Workspace, db: Session, ground: None) -> None:
    """Nobody fails, and the numbers that each reports add up to the cells that there are."""
    added = all_at_once(workspace, evaluate.fill)
    db.rollback()
    assert sum(added) == len(queries.rows(db)) == len(variants_of(get_task(db, "mood")))


@pytest.mark.both_databases
def test_a_variant_made_by_many_at_once_is_made_once(
    workspace: Workspace, db: Session, blobs: Blobs, ground: None
) -> None:
    """All get the same one."""
    name = variant_name("word_case")
    task = get_task(db, "mood")

    def make(session: Session) -> int:
        (version,) = session.query(DatasetVersion).all()
        return variant_of(session, blobs, task, version, name).id

    assert len(set(all_at_once(workspace, make))) == 1
    db.rollback()
    assert db.query(Variant).count() == 1


@pytest.mark.both_databases
def test_what_many_make_at_once_under_one_name_is_made_once(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, ground: None, tmp_path: Path
) -> None:
    """The same model, the same data set, the same view: nobody is told that something broke."""
    model = tmp_path / "model-constant"

    def register(session: Session) -> int:
        return register_version(
            session, blobs, builder, "mood", "twin", adapter="handler", folder=model, card=CARD
        ).number

    assert all_at_once(workspace, register) == [1] * TOGETHER
    places = iter(tmp_path / f"p{number}" for number in range(TOGETHER))

    def bring(session: Session) -> int:
        place = next(places)
        place.mkdir()
        return add_data(session, blobs, owner, place, name="again").number

    assert all_at_once(workspace, bring) == [1] * TOGETHER
    kept = all_at_once(workspace, lambda session: save_fork(session, blobs, owner, "mood", "mine", BoardView()).name)
    assert kept == ["mine"] * TOGETHER


@pytest.mark.both_databases
def test_a_recorded_submission_is_a_success(
    db: Session, blobs: Blobs, builder: Actor, ground: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is kept, and adding its cells fails: its builder hears that it was taken, and workers add them."""
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "handler.py").write_text("def predict(b): return ['negative'] * len(b)\n")
    (folder / "card.md").write_text(CARD)
    (folder / "quintain.toml").write_text('adapter = "handler"\nname = "late"\n')
    whole = evaluate.fill
    monkeypatch.setattr(evaluate, "fill", lambda *_: breaking(IntegrityError("insert", {}, Exception("there")))())
    made = submit.submit_folder(db, blobs, builder, "mood", folder, rules=submit.SubmissionRules(sandbox="off"))
    assert (made.new, made.cells, made.version.ref) == (True, 0, "mood/late@1")
    monkeypatch.setattr(evaluate, "fill", whole)
    assert evaluate.fill(db) > 0


@pytest.mark.both_databases
def test_until_empty_waits_for_a_cell_that_is_to_be_tried_again(
    workspace: Workspace, db: Session, blobs: Blobs, one_cell: int
) -> None:
    """It fails through a fault of ours and waits out its delay; the worker does not leave before it is done."""
    engine = Doing(breaking(OSError("disk full")))
    assert work(workspace.session, blobs, engine, CONDITIONS, threading.Event(), until_empty=True) == 1
    cell = cell_of(db, one_cell)
    assert (cell.state, cell.attempts) == ("done", 2)


@pytest.mark.both_databases
def test_until_empty_waits_for_what_another_thread_has_in_hand(
    workspace: Workspace, db: Session, blobs: Blobs, one_cell: int
) -> None:
    """The only cell is running in one thread, which then fails: the other is still there to take it."""

    def slow_failure() -> None:
        time.sleep(1.0)
        raise OSError("disk full")

    engine = Doing(slow_failure)
    stored = work_together(
        workspace.session, blobs, engine, CONDITIONS, threading.Event(), parallel=2, until_empty=True
    )
    assert stored == 1
    assert cell_of(db, one_cell).state == "done"


def lease_elsewhere(db: Session, seconds: float) -> evaluate.CellLease:
    """Lease the next cell to a worker on another machine."""
    lease = evaluate.claim(db, "elsewhere:1:aa", seconds=seconds)
    assert lease is not None
    db.commit()
    return lease


@pytest.mark.both_databases
def test_until_empty_takes_over_from_a_dead_machine(
    workspace: Workspace, db: Session, blobs: Blobs, one_cell: int
) -> None:
    """A lease that nobody prolongs lapses while the worker waits, and the cell is computed."""
    lease_elsewhere(db, 1.5)
    assert work(workspace.session, blobs, Doing(), CONDITIONS, threading.Event(), until_empty=True) == 1
    cell = cell_of(db, one_cell)
    assert (cell.state, cell.attempts, cell.lost) == ("done", 1, 1)


@pytest.mark.both_databases
def test_until_empty_leaves_to_others_what_they_compute(
    workspace: Workspace, db: Session, blobs: Blobs, one_cell: int
) -> None:
    """A worker elsewhere prolongs its lease: it lives, and this one need not wait for it."""
    lease = lease_elsewhere(db, 120)
    prolong = threading.Timer(0.5, lambda: _beat(workspace, lease))
    prolong.start()
    began = time.monotonic()
    assert work(workspace.session, blobs, Doing(), CONDITIONS, threading.Event(), until_empty=True) == 0
    prolong.join()
    assert time.monotonic() - began < 100
    assert cell_of(db, one_cell).state == "running"


def _beat(workspace: Workspace, lease: evaluate.CellLease) -> None:
    with workspace.session() as db:
        assert evaluate.heartbeat(db, lease, done=1)


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("select", {}, Exception("server closed the connection")),
        IntegrityError("insert", {}, Exception("duplicate key")),
        Unavailable("The disk is full."),
        OSError(28, "No space left on device"),
        RuntimeError("a fault of ours"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("where", ["claim", "fill", "heartbeat", "complete"])
def test_nothing_around_a_cell_ends_a_worker(
    workspace: Workspace,
    db: Session,
    blobs: Blobs,
    one_cell: int,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    error: Exception,
) -> None:
    """Whatever fails, and whichever way, twice in a row: the worker goes on, and the cell is stored once."""
    broken = 2
    whole = getattr(evaluate, where)

    def sometimes(*args: Any, **named: Any) -> Any:
        nonlocal broken
        broken -= 1
        if broken >= 0:
            raise error
        return whole(*args, **named)

    monkeypatch.setattr(evaluate, where, sometimes)
    engine = Doing(lambda: time.sleep(3.6) if where == "heartbeat" else None)
    assert work(workspace.session, blobs, engine, CONDITIONS, threading.Event(), until_empty=True) == 1
    assert broken < 0
    cell = cell_of(db, one_cell)
    assert cell.state == "done"
    assert [event.kind for event in queries.events(db, one_cell)].count("done") == 1


@pytest.mark.both_databases
def test_a_result_outlives_a_database_that_is_away(
    workspace: Workspace, db: Session, blobs: Blobs, one_cell: int
) -> None:
    """The database goes while the model runs, and comes back a little later: nothing is computed again."""
    away_until = 0.0

    @contextmanager
    def sessions() -> Iterator[Session]:
        if time.monotonic() < away_until:
            raise Unavailable("The database does not answer.")
        with workspace.session() as session:
            yield session

    def take_away() -> None:
        nonlocal away_until
        away_until = time.monotonic() + 1.5

    engine = Doing(take_away)
    assert work(sessions, blobs, engine, CONDITIONS, threading.Event(), until_empty=True) == 1
    assert len(engine.jobs) == 1
    assert cell_of(db, one_cell).attempts == 1


@pytest.mark.both_databases
def test_a_worker_that_is_to_end_does_not_try_for_ever(workspace: Workspace, blobs: Blobs) -> None:
    """Where nothing can be reached, it says so in the end."""

    @contextmanager
    def nowhere() -> Iterator[Session]:
        raise Unavailable("The database does not answer.")
        yield

    with pytest.raises(Unavailable):
        work(nowhere, blobs, Doing(), CONDITIONS, threading.Event(), until_empty=True)


def test_a_model_is_unpacked_once_for_its_cells(
    workspace: Workspace, db: Session, blobs: Blobs, ground: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All runs of one version see one folder; with the sandbox off, each has a fresh one."""
    unpacked: list[Path] = []
    whole = artefact.unpack
    monkeypatch.setattr(artefact, "unpack", lambda source, folder: (unpacked.append(folder), whole(source, folder)))
    stored = work(workspace.session, blobs, Doing(), CONDITIONS, threading.Event(), until_empty=True)
    assert stored > 17
    assert len(unpacked) == 1
    assert not unpacked[0].exists()
    with transaction(db):
        for row in queries.rows(db):
            row.cell.state = "queued"
    unpacked.clear()
    off = Conditions(CONDITIONS.limits, "off", lease_seconds=6)
    assert work(workspace.session, blobs, Doing(), off, threading.Event(), until_empty=True) == stored
    assert len(unpacked) == stored


def test_submitted_code_has_a_new_process_for_each_run(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A model that remembers what it was asked before, to repeat its answers, has nothing to remember or to write."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    notes = """
        import os
        SEEN = []
        def predict(batch):
            known = bool(SEEN) or os.path.exists(os.path.join(os.path.dirname(__file__), "notes"))
            try:
                open(os.path.join(os.path.dirname(__file__), "notes"), "w").close()
                known = True
            except OSError:
                pass
            answers = ["negative" if known else "positive"] * len(batch)
            SEEN.extend(batch)
            return answers
    """
    add_model(db, blobs, builder, tmp_path, name="notes", code=notes)
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant not in {"plain", variant_name("contraction")}:
                row.cell.state = "cancelled"
    engine = LocalEngine(tmp_path / "locks")
    assert work(workspace.session, blobs, engine, CONDITIONS, threading.Event(), until_empty=True) == 2
    for row in queries.rows(db, states=["done"]):
        answers = pl.read_parquet(blobs.path(str(row.cell.predictions)))["prediction"].to_list()
        assert answers.count("positive") == 1, f"{row.cell.variant}: the first that it was asked, in whatever order"


def test_a_model_of_our_own_is_loaded_once_for_its_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same content is not loaded again, other content is, and what has no hash always is."""
    engine = LocalEngine(tmp_path / "locks")
    loaded: list[Path] = []

    def load(self: BuiltinAdapter, folder: Path) -> Callable[[list[Any]], list[Any]]:
        loaded.append(folder)
        return lambda batch: ["positive"] * len(batch)

    monkeypatch.setattr(BuiltinAdapter, "load", load)
    one, two = RunnableModel(Path("a"), "builtin", key="1"), RunnableModel(Path("b"), "builtin", key="2")
    assert engine._load(one) is engine._load(one)
    assert loaded == [Path("a")]
    engine._load(two)
    engine._load(one)
    assert loaded == [Path("a"), Path("b"), Path("a")]
    nameless = RunnableModel(Path("c"), "builtin")
    engine._load(nameless)
    engine._load(nameless)
    assert loaded[3:] == [Path("c"), Path("c")]


@pytest.mark.both_databases
def test_the_cells_of_what_is_in_hand_come_first_but_never_before_somebody_elses_turn(
    db: Session, blobs: Blobs, ground: None, tmp_path: Path, builder: Actor
) -> None:
    """Two models of one builder: the one in hand goes on. A builder with nothing running comes before both."""
    add_model(db, blobs, builder, tmp_path, name="second", code="def predict(b): return ['negative'] * len(b)")
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant in {"plain", "measure"}:
                row.cell.state = "cancelled"
    later = [row for row in queries.rows(db, states=["queued"]) if row.model.name == "second"]
    place = LastCell(later[0].model_version.id, later[0].dataset_version.id)
    lease = evaluate.claim(db, "w", last=place)
    assert lease is not None
    assert lease.last == place
    other = make_person(db, "other", RoleName.BUILDER)
    add_model(db, blobs, other, tmp_path, name="rare", code="def predict(b): return ['negative']")
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant in {"plain", "measure"} and row.cell.state == "queued":
                row.cell.state = "cancelled"
    following = evaluate.claim(db, "w2", last=place)
    assert following is not None
    row = queries.row(db, following.cell_id)
    assert row is not None
    assert row.model.name == "rare"


def test_keys_go_only_where_they_are_used() -> None:
    """A run of a handler, a baseline or a file carries no key; one on another server carries its own."""
    keys = {"mine": EndpointSecret("https://a.example", "k1"), "other": EndpointSecret("https://b.example", "k2")}
    outside = Outside(("https://a.example", "https://b.example"), keys, Path("cache"))
    for adapter in ("handler", "builtin", "predictions", "sklearn"):
        assert share_of(outside, adapter, {"secret": "mine"}) == Outside()
    assert share_of(outside, "chat", {"secret": "mine"}).secrets == {"mine": keys["mine"]}
    assert share_of(outside, "chat", {}).secrets == {}
    assert share_of(outside, "chat", {}).endpoints == outside.endpoints


def test_a_delay_is_waited_out_and_not_skipped(workspace: Workspace, db: Session, blobs: Blobs, one_cell: int) -> None:
    """A cell that is to be tried later is not tried before, however empty the queue is."""
    with transaction(db):
        moment = now() + timedelta(seconds=1.5)
        db.get_one(Cell, one_cell).lease_until = moment
    assert work(workspace.session, blobs, Doing(), CONDITIONS, threading.Event(), until_empty=True) == 1
    started = cell_of(db, one_cell).started_at
    assert started is not None
    assert started >= moment
