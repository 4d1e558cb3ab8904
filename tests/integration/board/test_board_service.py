"""The board of a task: its matrix, who is on it, how it is ranked, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.core.editing import EditOrigin
from quintain.core.errors import BadInput, Forbidden
from quintain.core.people import ANONYMOUS, Actor
from quintain.core.records.board import BoardView
from quintain.services.board.assemble import board
from quintain.services.board.cache import warm_board
from quintain.services.board.choices import aggregations, sensitivity
from quintain.services.board.parts import BoardPart
from quintain.services.board.ranking import rank
from quintain.services.board.uncertainty import uncertainty
from quintain.services.models.registry import set_visibility
from quintain.services.tasks.board_settings import board_spec, set_board
from quintain.services.tasks.definitions import put_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.board import boards as board_queries
from quintain.store.tables import AuditEntry, ResultCache
from tests.beginnings import Build, with_small_board
from tests.boards import add_sentences, add_version, evaluated, sentences, up_to
from tests.evaluation import TASK, add_task


@pytest.fixture
def beginning(request: pytest.FixtureRequest) -> Build | None:
    """A board of three models on two data sets, for tests that use `small`."""
    return with_small_board if "small" in request.fixturenames else None


@pytest.fixture
def small() -> None:
    """Say that the workspace begins with a small board."""


def names(shape: Mapping[str, Any]) -> list[str]:
    """The models' names from the best."""
    return [model["name"] for model in shape["models"]]


@pytest.mark.both_databases
@pytest.mark.usefixtures("small")
def test_the_board_has_five_axes_with_intervals_and_weights_move_it(db: Session, blobs: Blobs) -> None:
    """All five axes have values; accuracy alone puts the large model first, throughput alone the small one."""
    made = board(db, blobs, ANONYMOUS, "mood")
    assert [axis.name for axis in made.axes] == ["performance", "throughput", "memory", "fairness", "robustness"]
    large = next(model for model in made.models if model.name == "large")
    first = large.values["performance"][1]
    assert first is not None
    assert made.datasets[1].name == "test"
    assert first["value"] == pytest.approx(90, abs=2)
    assert first["low"] < first["value"] < first["high"]
    assert first["n"] == 120
    assert first["at"] is not None
    assert all(model.values[axis.name][0] is not None for model in made.models for axis in made.axes)
    by_accuracy = rank(made, BoardView(weights={"performance": 1})).as_dict()
    assert names(by_accuracy) == ["large", "medium", "small"]
    assert by_accuracy["models"][0]["dynascore"] == pytest.approx(
        by_accuracy["models"][0]["values"]["performance"]["value"]
    )
    assert names(rank(made, BoardView(weights={"throughput": 1})).as_dict()) == ["small", "medium", "large"]
    one_set = rank(made, BoardView(weights={"performance": 1}, datasets={"test": 1}))
    assert one_set.as_dict()["models"][0]["values"]["performance"]["value"] == pytest.approx(first["value"])


def test_small_slices_of_hidden_labels_are_for_owners(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A tag that few examples have would tell their labels, as a slice and as a part of the board."""
    add_task(db, owner)
    rows = sentences(40)
    rows[0]["tags"].append("rare")
    add_sentences(db, blobs, owner, tmp_path, "test", rows)
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "one"), up_to(50), perturbed=())
    for actor, seen in ((ANONYMOUS, False), (builder, False), (owner, True)):
        made = board(db, blobs, actor, "mood")
        assert ("rare" in made.tags) is seen
        assert ("rare" in {piece["name"] for piece in made.models[0].slices[0]}) is seen
        part = board(db, blobs, actor, "mood", BoardPart(tag="rare"))
        assert bool(part.datasets) is seen
        assert board(db, blobs, actor, "mood", BoardPart(tag="even")).models[0].values["performance"][0] is not None


@pytest.mark.usefixtures("small")
def test_views_that_mean_nothing_are_refused(db: Session, blobs: Blobs) -> None:
    """Unknown names, weights that are all 0 or negative: each is named."""
    made = board(db, blobs, ANONYMOUS, "mood")
    for view, word in (
        (BoardView(weights={"beauty": 1}), "beauty"),
        (BoardView(weights={"performance": 0}), "All weights are 0"),
        (BoardView(weights={"performance": -1}), "-1"),
        (BoardView(datasets={"dev": 1}), "dev"),
        (BoardView(datasets={"test": 0}), "No data set"),
        (BoardView(epsilon=-1), "Epsilon"),
        (BoardView(base="beauty"), "beauty"),
    ):
        with pytest.raises(BadInput, match=word):
            rank(made, view)


@pytest.mark.usefixtures("small")
def test_what_is_missing_or_beyond_the_cap_is_shown_unranked_with_the_reason(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A model that was not run and one above the memory cap are listed last and say why; the others are ranked."""
    add_version(db, blobs, builder, tmp_path, "fresh")
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "huge"), up_to(99), memory=40.0)
    set_board(db, owner, "mood", {"caps": {"memory": 16}})
    shape = rank(board(db, blobs, ANONYMOUS, "mood")).as_dict()
    assert names(shape)[3:] == ["fresh", "huge"]
    assert "(0 of 24 runs done)" in shape["models"][3]["reason"]
    assert "above the cap of 16 GiB" in shape["models"][4]["reason"]
    assert [model["rank"] for model in shape["models"]] == [1, 2, 3, None, None]
    # Without a weight on memory, the huge one counts.
    unweighted = rank(board(db, blobs, ANONYMOUS, "mood"), BoardView(weights={"performance": 1}))
    assert names(unweighted.as_dict())[0] == "huge"


@pytest.mark.usefixtures("small")
def test_private_models_stay_hidden_anonymous_ones_have_no_owner_and_files_are_marked(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A private model is on its owner's board only; an anonymous one shows no owner, to nobody."""
    set_visibility(db, builder, "mood/large", "private")
    set_visibility(db, builder, "mood/medium", "anonymous")
    public = {model.name: model for model in board(db, blobs, ANONYMOUS, "mood").models}
    assert set(public) == {"medium", "small"}
    assert public["medium"].owner is None
    assert public["small"].owner == builder.name
    assert not public["small"].predictions_only
    assert {model.name for model in board(db, blobs, builder, "mood").models} == {"large", "medium", "small"}
    assert warm_board(db, blobs, builder, "mood").etag != warm_board(db, blobs, ANONYMOUS, "mood").etag


def test_seeds_of_one_model_are_one_row_with_their_spread(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Models of one family and one owner are averaged; another person's model of that family name stays apart."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(100))
    for seed, level in enumerate((70, 74, 78)):
        model = add_version(db, blobs, builder, tmp_path, f"net-{seed}", meta={"family": "net"})
        evaluated(db, blobs, model, up_to(level))
    evaluated(db, blobs, add_version(db, blobs, owner, tmp_path, "claim", meta={"family": "net"}), up_to(20))
    made = board(db, blobs, ANONYMOUS, "mood")
    assert {model.name for model in made.models} == {"net", "claim"}
    net = next(model for model in made.models if model.name == "net")
    figure = net.values["performance"][0]
    assert figure is not None
    assert figure["value"] == pytest.approx(74)
    assert figure["spread"] == pytest.approx(4)
    assert net.seeds == ("mood/net-0@1", "mood/net-1@1", "mood/net-2@1")
    apart = board(db, blobs, ANONYMOUS, "mood", BoardPart(seeds_apart=True))
    assert len(apart.models) == 4
    sure = uncertainty(db, blobs, made)
    assert sure["models"][0]["model"] == "mood/net"


def test_boards_by_tag_and_by_language(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> None:
    """A tag's board has performance on its examples only; a language's board has that language's data sets only."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(80))
    add_sentences(db, blobs, owner, tmp_path, "probe", sentences(40), language="de")
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "one"), up_to(60))
    whole = board(db, blobs, ANONYMOUS, "mood")
    assert whole.tags == ("even", "odd")
    assert whole.languages == ("de", "en")
    even = board(db, blobs, ANONYMOUS, "mood", BoardPart(tag="even"))
    figure = even.models[0].values["performance"][0]
    assert figure is not None
    assert figure["n"] < 80
    assert [dataset.name for dataset in board(db, blobs, ANONYMOUS, "mood", BoardPart(language="de")).datasets] == [
        "probe"
    ]
    assert board(db, blobs, ANONYMOUS, "mood", BoardPart(tag="nobody")).datasets == ()


@pytest.mark.both_databases
@pytest.mark.usefixtures("small")
def test_the_ranking_knows_how_sure_it_is_and_the_default_view_is_remembered(db: Session, blobs: Blobs) -> None:
    """Rank intervals hold the rank, large is surely above small by accuracy, and the answer is computed once."""
    made = board(db, blobs, ANONYMOUS, "mood")
    sure = uncertainty(db, blobs, made, BoardView(weights={"performance": 1}))
    rows = {row["model"]: row for row in sure["models"]}
    for row in rows.values():
        assert row["rank"]["low"] <= row["rank"]["value"] <= row["rank"]["high"]
        assert row["dynascore"]["low"] <= row["dynascore"]["value"] <= row["dynascore"]["high"]
    order = [row["model"] for row in sure["models"]]
    assert sure["above"][0][order.index("mood/small@1")] > 0.99
    assert sure["above"][0][0] == pytest.approx(0.5)
    assert np.allclose(np.array(sure["above"]) + np.array(sure["above"]).T, 1.0, atol=1e-3)
    assert rows["mood/small@1"]["group"] > rows["mood/large@1"]["group"]
    assert sure["pairs"][0]["first"] == "mood/large@1"
    assert sure["pairs"][0]["more"] >= 0
    assert sure["examples"] == 180
    before = db.scalar(select(func.count()).select_from(ResultCache))
    first = uncertainty(db, blobs, made)
    assert db.scalar(select(func.count()).select_from(ResultCache)) == (before or 0) + 1
    assert uncertainty(db, blobs, board(db, blobs, ANONYMOUS, "mood")) == first


@pytest.mark.usefixtures("small")
def test_count_metrics_are_resampled_too(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Macro F1, which is no mean over examples, gets intervals around its value from the same resamples."""
    set_board(db, owner, "mood", {"metric": "macro_f1", "weights": {"performance": 1}})
    sure = uncertainty(db, blobs, board(db, blobs, ANONYMOUS, "mood"))
    for row in sure["models"]:
        assert row["dynascore"]["low"] < row["dynascore"]["value"] < row["dynascore"]["high"]


@pytest.mark.usefixtures("small")
def test_aggregations_and_sensitivity(db: Session, blobs: Blobs) -> None:
    """Every aggregation has a rank for every model; the leader's weights hold the present one; the pool is told."""
    made = board(db, blobs, ANONYMOUS, "mood")
    side = aggregations(made)
    assert set(side["aggregations"]) == {
        "dynascore",
        "dynascore_median",
        "zscore",
        "average",
        "win_rate",
        "bradley_terry",
    }
    assert all(
        model["aggregates"][name]["rank"] in {1, 2, 3} for model in side["models"] for name in side["aggregations"]
    )
    assert any(model["pareto"] for model in side["models"])
    found = sensitivity(made)
    assert found["leader"] == rank(made).as_dict()["models"][0]["model"]
    for span in found["weights"].values():
        assert span["low"] <= span["value"] + 1e-9
        assert span["value"] <= span["high"] + 1e-9
    assert len(found["pool"]) == 3


@pytest.mark.usefixtures("small")
def test_owners_set_the_board_and_nobody_else(db: Session, blobs: Blobs, owner: Actor, builder: Actor) -> None:
    """Data sets, weights, caps, metric, who is shown; faults are all named and nothing is half set."""
    with pytest.raises(Forbidden):
        set_board(db, builder, "mood", {"weights": {"performance": 1}})
    bad = {"weights": {"beauty": 1}, "datasets": {"nowhere": -1}, "human": 7, "colour": "red", "freeze_until": "soon"}
    bad["caps"] = {"memroy": 16}
    with pytest.raises(BadInput) as caught:
        set_board(db, owner, "mood", bad)
    said = "\n".join(map(str, caught.value.faults))
    assert all(word in said for word in ("beauty", "nowhere", "human", "colour", "soon", "memroy"))
    for shapeless in ({"datasets": [1]}, {"weights": "x"}, {"models": 5}, {"hidden_models": [1]}, {"metric": {}}):
        with pytest.raises(BadInput, match="cannot be used"):
            set_board(db, owner, "mood", shapeless)
    assert board_spec(db, "mood").weights == {}
    set_board(
        db,
        owner,
        "mood",
        {
            "datasets": {"contrast": 2, "test": 0},
            "weights": {"throughput": 1},
            "hidden_models": ["medium"],
            "human": 0.95,
        },
    )
    made = board(db, blobs, ANONYMOUS, "mood")
    assert {model.name for model in made.models} == {"large", "small"}
    assert [dataset.weight for dataset in made.datasets] == [2.0, 0.0]
    assert names(rank(made).as_dict()) == ["small", "large"]
    assert made.human == pytest.approx(95)
    less = EditOrigin(remove=frozenset({"weights", "hidden_models"}))
    assert set_board(db, owner, "mood", {"human": 0.9}, edit=less).datasets == {"contrast": 2, "test": 0}  # as before


@pytest.mark.both_databases
@pytest.mark.usefixtures("small")
def test_a_frozen_board_shows_what_was_known(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """After the freeze a new model and new results are not shown, except to the owner who asks for the live board."""
    set_board(db, owner, "mood", {"freeze_until": (now() + timedelta(days=1)).isoformat()})
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "late"), up_to(99))
    frozen = board(db, blobs, ANONYMOUS, "mood")
    assert {model.name for model in frozen.models} == {"large", "medium", "small"}
    assert frozen.record().frozen_until is not None
    with pytest.raises(Forbidden):
        board(db, blobs, builder, "mood", BoardPart(live=True))
    assert len(board(db, blobs, owner, "mood", BoardPart(live=True)).models) == 4
    set_board(db, owner, "mood", {"freeze_until": (now() - timedelta(days=1)).isoformat()})
    assert len(board(db, blobs, ANONYMOUS, "mood").models) == 4


@pytest.mark.both_databases
@pytest.mark.usefixtures("small")
def test_the_board_stays_warm_until_something_changes(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """The same board is given again while nothing happens; a result, a setting or a visibility makes a new one."""
    first = warm_board(db, blobs, ANONYMOUS, "mood")
    assert warm_board(db, blobs, ANONYMOUS, "mood") is first
    evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, "new"), up_to(30))
    second = warm_board(db, blobs, ANONYMOUS, "mood")
    assert len(second.board.models) == 4
    set_visibility(db, builder, "mood/new", "private")
    assert len(warm_board(db, blobs, ANONYMOUS, "mood").board.models) == 3
    set_board(db, owner, "mood", {"hidden_models": ["large"]})
    assert len(warm_board(db, blobs, ANONYMOUS, "mood").board.models) == 2
    assert second.etag != first.etag


@pytest.mark.both_databases
def test_an_empty_board_is_a_board(db: Session, blobs: Blobs, owner: Actor) -> None:
    """A task without data sets and models has an empty board that can be ranked and asked how sure it is."""
    add_task(db, owner)
    made = board(db, blobs, ANONYMOUS, "mood")
    assert rank(made).as_dict()["models"] == []
    assert uncertainty(db, blobs, made)["models"] == []
    assert sensitivity(made)["leader"] is None


def test_robustness_is_resampled_for_all_models_at_once(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A model that flips wherever another does, and more often, is above it in no resample of the examples."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(50))

    def flips_on(*levels: str) -> Any:
        def say(row: Mapping[str, Any]) -> str:
            text = str(row["text"])
            untouched = text.startswith("Mary said that it isn't item") and text.endswith(("negative.", "positive."))
            return "positive" if not untouched and row["id"][0] in levels else "negative"

        return say

    for name, levels in (("steady", "01"), ("shaky", "012")):
        model = add_version(db, blobs, builder, tmp_path, name)
        evaluated(db, blobs, model, flips_on(*levels))
    made = board(db, blobs, ANONYMOUS, "mood")
    shares = {model.name: model.values["robustness"][0] for model in made.models}
    assert shares["steady"] is not None
    assert shares["shaky"] is not None
    assert shares["shaky"]["value"] < shares["steady"]["value"] < 100
    assert shares["steady"]["low"] < shares["shaky"]["high"], "the intervals overlap, so that only pairing tells"
    sure = uncertainty(db, blobs, made, BoardView(weights={"robustness": 1}, base="robustness"))
    assert [one["model"] for one in sure["models"]] == ["mood/steady@1", "mood/shaky@1"]
    assert sure["above"][1][0] == 0
    assert sure["above"][0][1] > 0.95


def test_a_performance_of_which_less_is_better_ranks(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """By calibration error the lowest value leads, and what is left of the whole is the good."""
    put_task(db, owner, TASK.replace('"macro_f1"]', '"calibration_error"]'))
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(120))
    for name, sureness in (("modest", 0.9), ("boastful", 1.0)):
        evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, name), up_to(90), sureness=sureness)
    set_board(db, owner, "mood", {"metric": "calibration_error", "weights": {"performance": 1}})
    made = board(db, blobs, ANONYMOUS, "mood")
    assert made.axes[0].lower
    ranked = rank(made).as_dict()
    assert names(ranked) == ["modest", "boastful"]
    values = [model["values"]["performance"]["value"] for model in ranked["models"]]
    assert values[0] < values[1]
    assert ranked["models"][0]["dynascore"] == pytest.approx(made.axes[0].cap - values[0])
    sure = uncertainty(db, blobs, made)
    assert sure["models"][0]["rank"]["value"] == 1


@pytest.mark.both_databases
def test_what_is_written_down_late_changes_the_board_too(db: Session, admin: Actor) -> None:
    """A transaction that began earlier and ended later has the lower number; it makes a new board all the same."""
    acts = ((1010, "board.settings", True), (1005, "model.visibility", True), (1007, "session.start", False))
    for number, action, changes in acts:
        before = board_queries.stamp(db)
        with transaction(db):
            db.add(AuditEntry(id=number, actor_id=admin.user_id, actor=admin.name, action=action, subject="mood"))
        assert (board_queries.stamp(db) != before) is changes, action
