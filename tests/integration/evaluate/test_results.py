"""Figures from stored predictions, on all five axes."""

from __future__ import annotations

import json
import math
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.core.people import Actor, RoleName
from quintain.core.records import results as records
from quintain.core.records.base import decode, to_plain
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.perturbations.contract import names_of
from quintain.perturbations.robustness.typos import Typos
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.results.axis_gaps import gap
from quintain.services.evaluate.results.compute import results
from quintain.services.evaluate.results.dataset_results import StoredResult, guarded
from quintain.services.evaluate.results.scoring import score_table
from quintain.services.evaluate.results.unchanged import unchanged_figures
from quintain.services.models.registry import get_model
from quintain.services.tasks.definitions import get_task, put_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.tables import ResultCache
from quintain.tasks.definition import parse_task
from tests.beginnings import Build
from tests.evaluation import TASK, add_data, add_model, add_task
from tests.people import make_person

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20))
CASE_SENSITIVE = """
    def predict(batch):
        return [{"positive": 0.9, "negative": 0.1} if "w" in item["text"] else "negative" for item in batch]
"""
MODELS = {"constant": "def predict(b): return ['positive'] * len(b)", "brittle": CASE_SENSITIVE}


def with_two_models_run(workspace: Workspace, folder: Path) -> None:
    """Begin with two models that were run on every variant of one data set."""
    blobs = workspace.blobs
    with workspace.session() as db:
        owner, builder = make_person(db, "olga", RoleName.OWNER), make_person(db, "bert", RoleName.BUILDER)
        add_task(db, owner)
        add_data(db, blobs, owner, folder)
        for name, code in MODELS.items():
            add_model(db, blobs, builder, folder, name=name, code=code)
        evaluate.fill(db)
    work(workspace.session, blobs, LocalEngine(folder / "locks"), CONDITIONS, threading.Event(), until_empty=True)


@pytest.fixture
def beginning(request: pytest.FixtureRequest) -> Build | None:
    """Two models that were run, for tests that look at what they did."""
    return with_two_models_run if "evaluated" in request.fixturenames else None


@pytest.fixture
def evaluated(db: Session, blobs: Blobs, builder: Actor) -> dict[str, StoredResult]:
    """The results of both models, by name."""
    names = {get_model(db, builder, f"mood/{name}@1").version.id: name for name in MODELS}
    return {names[found.model_version_id]: found for found in results(db, blobs, get_task(db, "mood"))}


def test_all_five_axes_are_there_and_computed_once(
    db: Session, blobs: Blobs, owner: Actor, evaluated: dict[str, StoredResult]
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
    families = brittle.robustness["families"]
    figure = [families[name]["value"] for name in names_of("robustness", in_paper=True) if name in families]
    assert brittle.robustness["share"]["value"] == pytest.approx(sum(figure) / len(figure))
    assert {"whitespace", "leetspeak"} <= set(brittle.robustness["beside"])
    assert "gender_neutral" in (brittle.fairness or {})["beside"]
    assert brittle.robustness["all_rows"]["value"] >= brittle.robustness["share"]["value"] - 1e-12
    kept = db.scalar(select(func.count()).select_from(ResultCache))
    assert kept == 2 * (4 + 2 + 4), "four figures of each model, the resamples of two, and both before the last runs"
    again = {found.model_version_id: found for found in results(db, blobs, get_task(db, "mood"))}
    assert again[brittle.model_version_id].record() == brittle.record()
    assert db.scalar(select(func.count()).select_from(ResultCache)) == kept
    put_task(db, owner, TASK.replace('"macro_f1"]', '"macro_f1", "mcc"]'))
    assert evaluate.fill(db) == 0, "a new metric needs no run"
    assert all("mcc" in found.metrics for found in results(db, blobs, get_task(db, "mood")))


def test_what_programs_read_of_results_is_what_is_kept(evaluated: dict[str, StoredResult]) -> None:
    """Every figure that is kept is in the record, under its name, and nothing beside it; also what is null."""
    for found in evaluated.values():
        said = to_plain(found.record())
        parts = ("metrics", "slices", "confusion", "measurements", "robustness", "fairness", "gaps", "runs")
        for part in parts:
            assert said[part] == to_plain(getattr(found, part)), part
        assert "joules_per_example" in said["measurements"]
        assert said["robustness"]["families"]
        assert decode(records.DatasetResult, said) == found.record()


def test_results_that_were_never_measured_have_nothing_there(evaluated: dict[str, StoredResult]) -> None:
    """Before a measurement there is an empty object, and a gap says why."""
    found = replace(evaluated["brittle"], measurements={}, gaps={"memory": gap("waiting", done=0, needed=1)})
    said = to_plain(found.record())
    assert said["measurements"] == {}
    assert said["gaps"]["memory"] == {"kind": "waiting", "done": 0, "needed": 1, "text": "0 of 1 runs done"}


def test_examples_that_a_perturbation_left_alone_count_over_all_rows() -> None:
    """One answer of four examples flips, and the perturbation changed that example only."""
    table = pl.DataFrame(
        {"parent": ["a"], "family": ["typos"], "group": [None], "before": ["positive"], "after": ["negative"]},
        schema_overrides={"group": pl.String},
    )
    found = unchanged_figures(parse_task(TASK), table, pl.Series(["a", "b", "c", "d"]))
    assert (found["share"]["value"], found["all_rows"]["value"]) == (0.0, 0.75)
    assert (found["rows"], found["flips"]) == (1, 1)


def test_no_figure_of_hidden_labels_tells_that_they_are_all_one() -> None:
    """Of a tag whose gold answers are nearly all one label nothing is shown; nor is a metric that has no value."""
    rows = [(f"e{at:02}", "positive", ["praise"]) for at in range(20)]
    rows += [(f"e{at:02}", ["positive", "negative"][at % 2 if at > 28 else 0], ["mixed"]) for at in range(20, 60)]
    examples = pl.DataFrame(
        {
            "id": [row[0] for row in rows],
            "text": ["One."] * len(rows),
            "answer": [row[1] for row in rows],
            "tags": [row[2] for row in rows],
            "group": [None] * len(rows),
        },
        schema_overrides={"group": pl.String},
    )
    task = parse_task(TASK.replace('"macro_f1"]', '"macro_f1", "mcc", "class_f1"]'))
    said = pl.DataFrame({"id": examples["id"], "prediction": ["positive", "negative"] * 30})

    def shown(part: pl.DataFrame) -> StoredResult:
        scores = score_table(task, part, said)
        parts = {name: scores[name] for name in ("metrics", "slices", "confusion", "uneven")}
        return guarded(StoredResult(1, 1, "d", 1, "test", len(part), hidden=True, **parts))

    assert [part["value"] for part in shown(examples).slices] == ["mixed"]
    assert shown(examples).metrics["mcc"]["value"] is not None
    alone = shown(examples.head(20))
    assert (alone.slices, alone.confusion) == ([], None)
    assert set(alone.metrics) == {"accuracy", "macro_f1", "class_f1"}
    assert "one class" not in repr(alone)
    assert "does not occur" not in repr(alone)


def test_a_tag_with_one_label_alone_is_marked_and_to_owners_only_where_labels_are_hidden() -> None:
    """A macro average over such a slice says something else; of hidden labels that is not told."""
    rows = [
        (f"e{at:02}", "positive" if at < 12 else "negative", ["short"] if at < 12 else ["long"]) for at in range(12)
    ]
    rows += [(f"e{at:02}", ["positive", "negative"][at % 2], ["long"]) for at in range(12, 40)]
    examples = pl.DataFrame(
        {
            "id": [row[0] for row in rows],
            "text": ["One."] * len(rows),
            "answer": [row[1] for row in rows],
            "tags": [row[2] for row in rows],
            "group": [None] * len(rows),
        },
        schema_overrides={"group": pl.String},
    )
    said = pl.DataFrame({"id": examples["id"], "prediction": ["positive"] * len(rows)})
    scores = score_table(parse_task(TASK), examples, said)
    assert {part["value"]: part.get("one_label") for part in scores["slices"]} == {"short": True, "long": None}
    kept = StoredResult(1, 1, "d", 1, "test", 40, examples=40, hidden=True, slices=scores["slices"])
    assert [part.one_label for part in kept.record().slices] == [None, True]
    assert not any("one_label" in part for part in guarded(kept).slices)
    accuracy = parse_task(TASK.replace(', "macro_f1"]', "]"))
    assert not any("one_label" in part for part in score_table(accuracy, examples, said)["slices"])


@pytest.mark.parametrize(
    "votes", [{"positive": ["a", "b", "c"], "negative": ["d"], "mixed": ["e"]}, {"positive": 0.75}]
)
def test_soft_metrics_come_from_the_votes_that_a_data_set_kept(votes: dict[str, Any]) -> None:
    """Lists of voters, or shares; votes for no label of the task do not count. Without votes there is no figure."""
    task = parse_task(TASK.replace('"macro_f1"]', '"macro_f1", "soft_cross_entropy"]'))
    examples = pl.DataFrame(
        {
            "id": ["a", "b"],
            "text": ["One.", "Two."],
            "answer": ["positive", "negative"],
            "tags": [[], []],
            "group": [None, None],
            "meta": [json.dumps({"label_distribution": votes}), json.dumps({"distribution": {"negative": 2}})],
        },
        schema_overrides={"tags": pl.List(pl.String), "group": pl.String},
    )
    said = pl.DataFrame({"id": ["a", "b"], "prediction": ["positive", "positive"]}).with_columns(
        probabilities=pl.struct(negative=pl.lit(0.25), positive=pl.lit(0.75))
    )
    share = 0.75 if "negative" in votes else 1.0
    first = -(share * math.log(0.75) + (1 - share) * math.log(0.25))
    found = score_table(task, examples, said)["metrics"]
    assert found["soft_cross_entropy"]["value"] == pytest.approx((first - math.log(0.25)) / 2)
    without = score_table(task, examples.with_columns(meta=pl.lit(None, dtype=pl.String)), said)["metrics"]
    assert set(without) == {"accuracy", "macro_f1"}


def test_versions_of_a_perturbation_are_never_counted_together(
    workspace: Workspace,
    db: Session,
    blobs: Blobs,
    builder: Actor,
    evaluated: dict[str, StoredResult],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A changed perturbation makes its own cells; until those are done there is no figure, then they alone count."""
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
    meanwhile = [one.robustness or {} for one in results(db, blobs, get_task(db, "mood"))]
    assert [one["share"]["value"] for one in meanwhile] == [None, None], "two versions never rank together"
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
