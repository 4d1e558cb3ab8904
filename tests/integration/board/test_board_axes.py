"""When an axis has a figure: every run that it needs is over, and on the class of machine that ranks."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.cells import MEASURE, PLAIN
from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import ANONYMOUS, Actor
from quintain.core.records.base import to_plain
from quintain.core.records.board import BoardView, Remeasured
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox.limits import MIB, Limits, Outcome
from quintain.services.board.assemble import board
from quintain.services.board.export import export
from quintain.services.board.parts import BoardMatrix, BoardPart, MatrixModel
from quintain.services.board.ranking import rank
from quintain.services.board.remeasure import remeasure
from quintain.services.board.snapshots import read_snapshot, take_snapshot
from quintain.services.board.uncertainty import uncertainty
from quintain.services.board.verify import verify_snapshot
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.progress import explain
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.results.compute import results
from quintain.services.evaluate.results.variants import variant_name
from quintain.services.models.registry import ModelVersionInfo
from quintain.services.tasks.board_settings import board_spec, set_board
from quintain.services.tasks.definitions import get_task
from quintain.services.tasks.machines import class_of
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.tasks import board_settings
from quintain.store.tables import Cell
from tests.boards import COUNTED, add_cell, add_sentences, add_version, evaluated, sentences, up_to
from tests.evaluation import add_data, add_model, add_task
from tests.refusals import refusal

LIMITS = Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20)
HONEST = """
    def predict(batch):
        return ["positive" if "o" in item["text"] else "negative" for item in batch]
"""
ALIKE = "def predict(batch): return ['positive'] * len(batch)"
CRASHES = """
    import os

    def predict(batch):
        for item in batch:
            # No capital at all, or one at every word: small letters, capitals and title case, whichever was drawn.
            if len({word[0] == word[0].lower() for word in item["text"].split()}) == 1:
                os._exit(3)
        return ["positive" if "o" in item["text"] else "negative" for item in batch]
"""


@pytest.fixture
def site(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A task with one test set and no model."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(80))


def model_of(made: BoardMatrix, name: str) -> MatrixModel:
    """The row of one model."""
    return next(model for model in made.models if model.name == name)


def ranks(made: BoardMatrix, view: BoardView | None = None) -> Mapping[str, Any]:
    """The rank of each model, by name."""
    return {model["name"]: model["rank"] for model in rank(made, view).as_dict()["models"]}


def the_set(db: Session) -> Any:
    """The version of the one data set."""
    return board_settings.evaluated_versions(db, "mood")[0][0]


def change(db: Session, model: ModelVersionInfo, variant: str, **values: Any) -> None:
    """Change a cell as a worker, an owner or a broken machine would have left it."""
    with transaction(db):
        for row in queries.rows(db, model_version_id=model.id, variant=variant):
            for name, value in values.items():
                setattr(row.cell, name, value)
            queries.note(db, row.cell.id, "changed")


def test_a_model_that_crashes_on_odd_case_is_less_robust_than_its_honest_twin(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Both are run in the real sandbox: where one crashes, its answers count as changed, and it ranks below."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    versions = {
        add_model(db, blobs, builder, tmp_path, name=name, code=code).id: name
        for name, code in {"honest": HONEST, "crashes": CRASHES}.items()
    }
    evaluate.fill(db)
    needed = {PLAIN, MEASURE, *map(variant_name, COUNTED)}
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant not in needed:
                row.cell.state = "cancelled"
    db.rollback()
    work(
        workspace.session,
        blobs,
        LocalEngine(tmp_path / "locks"),
        Conditions(LIMITS),
        threading.Event(),
        until_empty=True,
    )
    db.expire_all()
    found = {versions[one.model_version_id]: one for one in results(db, blobs, get_task(db, "mood"))}
    reasons = {row.cell.variant: row.cell.reason for row in queries.rows(db) if row.cell.state != "done"}
    assert found["crashes"].states[variant_name("word_case")] == "failed", reasons
    shares = {name: one.robustness or {} for name, one in found.items()}
    assert shares["crashes"]["families"]["word_case"]["value"] == 0.0
    assert "word_case" in shares["crashes"]["broken"]
    assert shares["honest"]["broken"] == []
    assert shares["crashes"]["share"]["value"] < shares["honest"]["share"]["value"]
    made = board(db, blobs, ANONYMOUS, "mood")
    assert ranks(made, BoardView(weights={"robustness": 1}, base="robustness")) == {"honest": 1, "crashes": 2}
    sure = uncertainty(db, blobs, made, BoardView(weights={"robustness": 1}, base="robustness"))
    assert [one["model"] for one in sure["models"]] == ["mood/honest@1", "mood/crashes@1"]


@pytest.mark.usefixtures("site")
def test_an_axis_has_no_figure_until_all_of_its_variants_are_over(
    db: Session, blobs: Blobs, builder: Actor, tmp_path: Path
) -> None:
    """One variant missing, queued, cancelled or broken by us: no figure, no rank, and the reason is said."""
    whole = add_version(db, blobs, builder, tmp_path, "whole")
    part = add_version(db, blobs, builder, tmp_path, "part")
    evaluated(db, blobs, whole, up_to(90))
    evaluated(db, blobs, part, up_to(60), perturbed=[name for name in COUNTED if name != "ocr"])
    before = rank(board(db, blobs, ANONYMOUS, "mood"))
    row = before.as_dict()["models"][-1]
    assert (row["name"], row["rank"], row["values"]["robustness"]) == ("part", None, None)
    assert row["values"]["fairness"] is not None
    assert row["reason"] == "robustness missing (11 of 12 runs done)"
    assert ranks(before.board, BoardView(weights={"performance": 1, "fairness": 1})) == {"whole": 1, "part": 2}
    assert "mood/part@1" not in [one["model"] for one in uncertainty(db, blobs, before.board)["models"]]
    ocr = variant_name("ocr")
    add_cell(db, part, the_set(db), ocr, "queued")
    for values, said, provisional in (
        ({"state": "running"}, "11 of 12 runs done", True),
        ({"state": "cancelled", "finished_at": now()}, "runs that were cancelled: 1", False),
        ({"state": "failed", "reason": f"{Outcome.PLATFORM}: no bwrap"}, "no fault of the model: 1", False),
    ):
        change(db, part, ocr, **values)
        ranked = rank(board(db, blobs, ANONYMOUS, "mood"))
        assert ranked.as_dict()["models"][-1]["rank"] is None
        assert said in ranked.reasons["mood/part@1"]
        assert ranked.as_dict()["provisional"] is provisional
    share = next(one for one in results(db, blobs, get_task(db, "mood")) if one.model_version_id == part.id)
    assert share.robustness is not None
    assert share.robustness["share"]["value"] is None
    assert "no fault of the model" in share.robustness["share"]["reason"]


@pytest.mark.usefixtures("site")
def test_a_broken_variant_counts_as_changed_for_robustness_and_its_resamples(
    db: Session, blobs: Blobs, builder: Actor, tmp_path: Path
) -> None:
    """Whoever crashes on one of seven variants loses a seventh of the robustness, never gains a rank."""
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "honest"), lambda _: "positive")
    broken = add_version(db, blobs, builder, tmp_path, "broken")
    evaluated(db, blobs, broken, lambda _: "positive", broken=["typos"])
    made = board(db, blobs, ANONYMOUS, "mood")
    shares = {model.name: (model.values["robustness"][0] or {})["value"] for model in made.models}
    families = len((next(one for one in results(db, blobs, get_task(db, "mood"))).robustness or {})["families"])
    assert shares["honest"] == 100.0
    assert shares["broken"] == pytest.approx(100.0 * (1 - 1 / families))
    view = BoardView(weights={"robustness": 1}, base="robustness")
    sure = uncertainty(db, blobs, made, view)
    assert [one["model"] for one in sure["models"]] == ["mood/honest@1", "mood/broken@1"]
    assert sure["above"][0][1] == 1.0
    spread = sure["models"][1]["dynascore"]
    assert spread["low"] <= spread["value"] <= spread["high"] < 100.0


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("variant", [PLAIN, MEASURE])
def test_a_model_that_breaks_its_plain_run_or_its_measurement_is_unranked_for_good(
    db: Session, blobs: Blobs, builder: Actor, tmp_path: Path, variant: str
) -> None:
    """It has no figure, with the outcome as the reason and nothing of what it said, and keeps nobody waiting."""
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "honest"), up_to(80))
    broken = add_version(db, blobs, builder, tmp_path, "broken")
    evaluated(db, blobs, broken, up_to(99))
    secret = "out of memory: s3cret"
    change(db, broken, variant, state="failed", reason=secret, predictions=None, measurements={})
    ranked = rank(board(db, blobs, ANONYMOUS, "mood"))
    assert ranks(ranked.board) == {"honest": 1, "broken": None}
    assert "the model failed: out of memory" in ranked.reasons["mood/broken@1"]
    assert "s3cret" not in str(ranked.as_dict())
    assert "s3cret" not in str(ranked.board.record())
    assert not ranked.board.provisional


@pytest.mark.usefixtures("site")
def test_an_order_is_provisional_until_all_runs_are_there_and_says_so_everywhere(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """While better models wait, the board, its ranking, exports and snapshots say that the order may change."""
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "majority"), up_to(50))
    better = add_version(db, blobs, builder, tmp_path, "better")
    made = board(db, blobs, ANONYMOUS, "mood")
    assert made.record().provisional is True
    assert to_plain(made.record().runs) == {"needed": 24, "done": 12, "waiting": 12}
    ranked = rank(made)
    assert ranked.as_dict()["provisional"] is True
    assert ranked.reasons["mood/better@1"].endswith("(0 of 12 runs done)")
    assert "Provisional: 12 of 24 runs are still to come." in export(ranked, "markdown")
    assert "Provisional: 12 of 24" in export(ranked, "latex")
    assert export(ranked, "csv").splitlines()[1].endswith(",true")
    taken = take_snapshot(db, blobs, owner, "mood", part=None)
    data = read_snapshot(db, blobs, ANONYMOUS, "mood", taken.hash)[1]
    assert b'"provisional": true' in data
    checked = verify_snapshot(data)
    assert checked.provisional
    assert not checked.problems
    lied = verify_snapshot(data.replace(b'"provisional": true', b'"provisional": false', 1))
    assert any("provisional" in problem for problem in lied.problems)
    evaluated(db, blobs, better, up_to(95))
    final = rank(board(db, blobs, ANONYMOUS, "mood"))
    assert final.as_dict()["provisional"] is False
    assert export(final, "csv").splitlines()[1].endswith(",false")
    assert "Provisional" not in export(final, "markdown")
    assert ranks(final.board)["better"] == 1


@pytest.mark.usefixtures("site")
def test_what_waits_on_a_set_that_does_not_score_makes_nothing_provisional(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Only data sets with a weight count, by the owner or by the reader's view, and models that the reader sees."""
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "one"), up_to(70))
    add_version(db, blobs, builder, tmp_path, "hidden", visibility="private")
    add_sentences(db, blobs, owner, tmp_path, "dev", sentences(20), role="dev", hidden=False)
    made = board(db, blobs, ANONYMOUS, "mood")
    assert not made.provisional
    assert rank(made, BoardView(datasets={"dev": 1})).as_dict()["provisional"]
    assert board(db, blobs, builder, "mood").provisional


@pytest.mark.usefixtures("site")
def test_a_frozen_board_counts_what_came_later_as_still_to_come(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A variant that was finished after the freeze leaves the axis without a figure on the frozen board only."""
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "one"), up_to(70))
    two = add_version(db, blobs, builder, tmp_path, "two")
    evaluated(db, blobs, two, up_to(80))
    set_board(db, owner, "mood", {"freeze_until": (now() + timedelta(days=1)).isoformat()})
    change(db, two, variant_name("ocr"), finished_at=now() + timedelta(seconds=1))
    frozen = board(db, blobs, ANONYMOUS, "mood")
    assert ranks(frozen) == {"one": 1, "two": None}
    assert frozen.provisional
    assert model_of(frozen, "two").values["performance"][0] is not None
    assert ranks(board(db, blobs, owner, "mood", BoardPart(live=True)))["two"] is not None
    with refusal(Conflict, "board_frozen"):
        remeasure(db, blobs, owner, "mood")


@pytest.mark.usefixtures("site")
def test_measurements_rank_within_one_class_of_machine(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Most models' class ranks unless the owner names one; what was measured elsewhere is shown and has no rank."""
    for name, machine, rate in (("a", "old", 10.0), ("b", "old", 20.0), ("c", "new", 900.0)):
        model = add_version(db, blobs, builder, tmp_path, name)
        evaluated(db, blobs, model, up_to(70), throughput=rate, machine=machine)
    made = board(db, blobs, ANONYMOUS, "mood")
    assert to_plain(made.machine) == {"name": "old", "named": False, "models": {"old": 2, "new": 1}}
    fast = model_of(made, "c")
    assert fast.values["throughput"] == [None]
    gap = fast.gaps["throughput"][0]
    assert gap is not None
    assert (gap["text"], gap["figure"]["value"]) == ("measured on another machine: new", 900.0)
    assert ranks(made, BoardView(weights={"throughput": 1}, base="throughput")) == {"b": 1, "a": 2, "c": None}
    assert ranks(made, BoardView(weights={"performance": 1}))["c"] is not None
    assert "measured on another machine: new" in rank(made).reasons["mood/c@1"]
    set_board(db, owner, "mood", {"machine": "new"})
    named = board(db, blobs, ANONYMOUS, "mood")
    assert named.machine.named
    assert ranks(named, BoardView(weights={"throughput": 1}, base="throughput")) == {"c": 1, "a": None, "b": None}
    with pytest.raises(BadInput) as caught:
        set_board(db, owner, "mood", {"machine": "x" * 121})
    assert "machine" in str(caught.value.faults[0])


@pytest.mark.usefixtures("site")
def test_a_tie_of_classes_goes_to_the_one_used_last(db: Session, blobs: Blobs, builder: Actor, tmp_path: Path) -> None:
    """One model each on two classes: the newer measurement's class ranks."""
    for name, machine in (("a", "zeta"), ("b", "alpha")):
        evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, name), up_to(70), machine=machine)
        with transaction(db):
            for row in queries.rows(db, variant=MEASURE):
                if row.model.name == "a":
                    row.cell.finished_at = now() - timedelta(hours=1)
    assert board(db, blobs, ANONYMOUS, "mood").machine.name == "alpha"


@pytest.mark.usefixtures("site")
def test_what_was_measured_elsewhere_is_measured_again_by_workers_of_the_class_only(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Owners queue it; a worker of another class leaves it alone, one of the class takes it and the figure ranks."""
    one = add_model(db, blobs, builder, tmp_path, name="one", code=ALIKE)
    evaluated(db, blobs, one, lambda row: "positive", machine="old")
    with pytest.raises(Forbidden):
        remeasure(db, blobs, builder, "mood")
    assert remeasure(db, blobs, owner, "mood") == Remeasured("old", 0)
    set_board(db, owner, "mood", {"machine": "new box"})
    assert remeasure(db, blobs, owner, "mood") == Remeasured("new box", 1)
    waiting = board(db, blobs, ANONYMOUS, "mood")
    gap = waiting.models[0].gaps["throughput"][0]
    assert gap is not None
    assert gap["kind"] == "machine"
    assert waiting.provisional
    assert "machine of class 'new box'" in explain(db, owner, "mood/one", "mood/test", MEASURE).summary
    engine = LocalEngine(tmp_path / "locks")
    with transaction(db):
        for row in queries.rows(db, states=["queued"]):
            if row.cell.variant != MEASURE:
                row.cell.state = "cancelled"
    db.rollback()
    for machine, state in (("", "queued"), ("other", "queued"), ("new box", "done")):
        conditions = Conditions(LIMITS, machine=machine)
        assert evaluate.claim(db, "watcher", machine="another") is None
        db.rollback()
        work(workspace.session, blobs, engine, conditions, threading.Event(), until_empty=True, task="mood")
        db.expire_all()
        cell = queries.rows(db, model_version_id=one.id, variant=MEASURE)[0].cell
        assert cell.state == state, (machine, cell.reason)
        db.rollback()
    assert cell.measurements["machine_class"] == "new box"
    with transaction(db):  # few examples, on a machine that may be busy
        db.get_one(Cell, cell.id).measurements = {**cell.measurements, "throughput_half": 0.0, "memory_half": 0.0}
    db.rollback()
    ranked = board(db, blobs, ANONYMOUS, "mood")
    assert ranked.models[0].values["throughput"][0] is not None
    assert not ranked.provisional


@pytest.mark.usefixtures("site")
def test_new_measurements_wait_for_the_class_that_the_owner_names(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Cells made afterwards, and those that are queued already, follow the setting; so does taking it back."""

    def wanted() -> set[tuple[bool, str | None]]:
        db.expire_all()
        return {(row.cell.variant == MEASURE, row.cell.machine) for row in queries.rows(db)}

    add_model(db, blobs, builder, tmp_path, name="one", code=HONEST)
    evaluate.fill(db)
    assert wanted() == {(True, None), (False, None)}
    set_board(db, owner, "mood", {"machine": " lab "})
    assert board_spec(db, "mood").machine == "lab"
    assert wanted() == {(True, "lab"), (False, None)}
    add_model(db, blobs, builder, tmp_path, name="two", code=HONEST)
    evaluate.fill(db)
    assert wanted() == {(True, "lab"), (False, None)}
    set_board(db, owner, "mood", {"machine": None})
    assert wanted() == {(True, None), (False, None)}


def test_a_measurement_from_before_classes_has_the_class_of_its_machine() -> None:
    """The processor and how many of them, as stored with every measurement, name the class."""
    facts = {"cpu": "Ryzen 7", "cpus": 8, "system": "Linux", "python": "3.12"}
    assert class_of({"machine": facts}) == "Ryzen 7, 8 CPUs"
    assert class_of({"machine": facts, "machine_class": "lab"}) == "lab"
    assert class_of({}) == "unknown"
