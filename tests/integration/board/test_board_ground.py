"""What a ranking stands on: over which data sets an axis is averaged, and whether one pair of models makes a rate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import ANONYMOUS, Actor
from quintain.services.board.assemble import board
from quintain.services.board.choices import aggregations
from quintain.services.board.export import export
from quintain.services.board.ranking import parse_view, rank
from quintain.services.board.snapshots import snapshot_shape
from quintain.services.board.uncertainty import uncertainty
from quintain.services.board.verify import verify_snapshot
from quintain.services.tasks.board_settings import set_board
from quintain.store.blobs import Blobs
from tests.boards import add_sentences, add_version, evaluated, sentences, up_to
from tests.evaluation import add_task

NAMELESS = [{**row, "text": str(row["text"]).replace("Mary", "It").replace("said", "says")} for row in sentences(60)]


def fill_board(db: Session, blobs: Blobs, owner: Actor, builder: Actor, folder: Path) -> None:
    """Run three models on every data set of the task."""
    for name, level in (("large", 90), ("medium", 80), ("small", 55)):
        evaluated(db, blobs, add_version(db, blobs, builder, folder, name), up_to(level), throughput=1000.0 / level)


def test_an_axis_is_averaged_over_the_data_sets_where_it_applies(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A set without names scores beside one with them: fairness is that of the other, and everything says so."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(80))
    add_sentences(db, blobs, owner, tmp_path, "nameless", NAMELESS)
    fill_board(db, blobs, owner, builder, tmp_path)
    made = board(db, blobs, ANONYMOUS, "mood")
    assert {one.name: one.inapplicable for one in made.datasets} == {"nameless": ("fairness",), "test": ()}
    ranked = rank(made)
    assert sorted(filter(None, ranked.ranking.rank)) == [1, 2, 3]
    place = [one.name for one in made.datasets].index("test")
    for row, model in enumerate(made.models):
        own = model.values["fairness"][place]
        whole = ranked.figure(row, "fairness")
        assert own is not None
        assert whole is not None
        assert (whole.value, whole.low, whole.high) == pytest.approx((own.value, own.low, own.high))
    shape = ranked.as_dict()
    assert shape["over"]["fairness"] == ["test"]
    assert sorted(shape["over"]["performance"]) == ["nameless", "test"]
    assert "fairness over 1 of 2 data sets" in export(ranked, "markdown")
    assert len(uncertainty(db, blobs, made).models) == 3
    kept = json.loads(json.dumps(snapshot_shape(ranked, {})))
    assert kept["board"]["datasets"][1 - place]["inapplicable"] == ["fairness"]
    assert verify_snapshot(json.dumps(kept).encode()).problems == ()


def test_an_axis_that_applies_nowhere_is_dropped_for_all(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Without any set with names nobody is unranked for fairness; its weight goes to the others."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "nameless", NAMELESS)
    fill_board(db, blobs, owner, builder, tmp_path)
    ranked = rank(board(db, blobs, ANONYMOUS, "mood"))
    assert sorted(filter(None, ranked.ranking.rank)) == [1, 2, 3]
    assert ranked.ranking.weights["fairness"] == 0
    assert ranked.ranking.weights["performance"] == pytest.approx(0.5 / 0.875)
    assert ranked.as_dict()["dropped"] == ["fairness"]
    alone = rank(ranked.board, parse_view("fairness:1"))
    assert set(alone.ranking.rank) == {None}


def test_one_pair_that_makes_a_rate_is_named_and_the_owner_may_choose_the_median(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Two models a hair apart and far apart in speed: the board names them, shows the median, and can rank by it."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(120))
    levels = {"a": (90, 20.0), "b": (80, 25.0), "c": (70, 30.0), "d": (60, 35.0), "e": (59, 9000.0)}
    for name, (level, speed) in levels.items():
        evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, name), up_to(level), throughput=speed)
    made = board(db, blobs, ANONYMOUS, "mood")
    shape = rank(made).as_dict()
    pair = shape["dominant"]["throughput"]
    assert {pair["first"], pair["second"]} == {"mood/d@1", "mood/e@1"}
    assert pair["share"] > 0.5
    by_median = rank(made, parse_view(rate="median")).as_dict()
    assert (shape["rate"], by_median["rate"]) == ("mean", "median")
    assert by_median["amrs"]["throughput"] < shape["amrs"]["throughput"] / 10
    assert {row["model"]: row["by_median"]["rank"] for row in shape["models"]} == {
        row["model"]: row["rank"] for row in by_median["models"]
    }
    assert "dynascore_median" in aggregations(made).aggregations
    with pytest.raises(BadInput, match="mode"):
        rank(made, parse_view(rate="mode"))
    set_board(db, owner, "mood", {"rate": "median"})
    chosen = board(db, blobs, ANONYMOUS, "mood")
    assert rank(chosen).as_dict()["models"] == by_median["models"]
    assert "median exchange rates" in export(rank(chosen), "markdown")
    shape = snapshot_shape(rank(chosen), {})
    assert verify_snapshot(json.dumps(shape).encode()).problems == ()
    assert [row.model for row in uncertainty(db, blobs, chosen).models] == [
        row["model"] for row in by_median["models"] if row["rank"]
    ]
