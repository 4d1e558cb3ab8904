"""`quintain study preference`: what programs and people read, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import quintain as qt
from quintain.cli.app import app

EXAMPLE = Path(__file__).parents[3] / "examples" / "preferences.csv"
FIELDS = ["model", "rating", "low", "high", "rank", "rank_low", "rank_high", "votes"]
POINTS = 400 / math.log(10)
TURNED = {"left": "right", "right": "left"}


def run(*words: object) -> dict[str, object]:
    """Run the command with `--json`."""
    done = CliRunner().invoke(app, ["study", "preference", *map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


@pytest.fixture
def plain_votes(tmp_path: Path) -> Path:
    """Eight votes of x against y: four won, two lost, two without a winner."""
    path = tmp_path / "votes.csv"
    votes = ["x,y,left"] * 3 + ["y,x,right", "x,y,right", "y,x,left", "x,y,tie", "y,x,both_bad"]
    path.write_text("\n".join(["left,right,winner", *votes]))
    return path


def test_two_models_by_hand(plain_votes: Path) -> None:
    """Odds of two to one without a tie are ln 2, in points around 1000; the shape is as documented."""
    answer = run(plain_votes)
    assert list(answer) == ["models", "votes", "ties", "both_bad", "notes", "warnings"]
    assert [list(model) for model in answer["models"]] == [FIELDS, FIELDS]
    assert (answer["votes"], answer["ties"], answer["both_bad"]) == (8, 2, 1)
    x, y = answer["models"]
    assert (x["model"], x["rank"], x["votes"], y["rank"]) == ("x", 1, 8, 2)
    assert x["rating"] == pytest.approx(1000 + POINTS * math.log(2) / 2)
    assert y["rating"] == pytest.approx(1000 - POINTS * math.log(2) / 2)
    assert (x["rank_low"], x["rank_high"]) == (1, 2)  # so few votes tell nothing for sure
    assert x["low"] < x["rating"] < x["high"]


def test_a_rating_may_be_anchored(plain_votes: Path) -> None:
    """The anchor has its points for sure, the other its distance."""
    x, y = run(plain_votes, "--anchor", "y=1200")["models"]
    assert (y["low"], y["rating"], y["high"]) == (1200, 1200, 1200)
    assert x["rating"] == pytest.approx(1200 + POINTS * math.log(2))
    for wrong in ("z=1000", "y", "y=high"):
        with pytest.raises(qt.BadInput, match="anchor"):
            qt.preference(plain_votes, anchor=wrong)


@pytest.mark.filterwarnings("ignore")
def test_the_order_of_sides_changes_nothing() -> None:
    """Each vote turned round, or any of them, leaves every figure as it was; position gains turn their sign."""
    votes = pl.read_csv(EXAMPLE)
    turned = votes.rename({"left": "right", "right": "left", "left_text": "right_text", "right_text": "left_text"})
    turned = turned.with_columns(pl.col("winner").replace(TURNED))
    mixed = pl.concat([votes.head(300), turned.tail(300).select(votes.columns)])
    first, second, third = (qt.preference(table).record for table in (votes, turned, mixed))
    assert first.models == second.models == third.models
    effects = [{effect.name: effect.value for effect in record.style.effects} for record in (first, second)]
    assert effects[0]["position"] == pytest.approx(-effects[1]["position"])
    assert effects[0]["length"] == pytest.approx(effects[1]["length"])


@pytest.mark.filterwarnings("ignore")
def test_style_is_shown_with_and_without() -> None:
    """Where voters take the longer answer, the long-winded model falls once that is taken out."""
    record = qt.preference(EXAMPLE).record
    effects = {effect.name: effect for effect in record.style.effects}
    assert set(effects) == {"length", "lists", "headings", "position"}
    assert effects["length"].low > 0
    ranks = [{model.model: model.rank for model in models} for models in (record.models, record.style.models)]
    assert (ranks[0]["birch"], ranks[1]["birch"]) == (1, 3)
    assert qt.preference(EXAMPLE, style=False).record.style is None


def test_votes_in_parts() -> None:
    """Each language by itself, the larger first; a part that nothing joins says why."""
    answer = run(EXAMPLE, "--by", "language", "--no-style")
    assert [(group["name"], group["votes"]) for group in answer["groups"]] == [("en", 400), ("de", 200)]
    assert sum(group["ties"] for group in answer["groups"]) == answer["ties"]
    rows = [("a", "b", "left", "one"), ("b", "a", "left", "one"), ("b", "c", "tie", "two")]
    groups = qt.preference(
        [dict(zip(("left", "right", "winner", "when"), row, strict=True)) for row in rows], by="when"
    )
    assert [group.reason is None for group in groups.record.groups] == [True, False]
    with pytest.raises(qt.BadInput, match="no column 'month'"):
        qt.preference(EXAMPLE, by="month")


def test_voters_who_always_choose_one_side_are_noted() -> None:
    """They are named with their votes, and may be left out; others are held beside the ratings."""
    with pytest.warns(UserWarning, match="'judge-07'"):
        record = qt.preference(EXAMPLE, style=False).record
    sided = [judge for judge in record.judges if judge.one_sided]
    assert [(judge.judge, judge.left) for judge in sided] == [("judge-07", 1.0)]
    assert sum(judge.votes for judge in record.judges) == record.votes
    others = [judge for judge in record.judges if not judge.one_sided]
    assert all(0.5 <= judge.expected < 1 for judge in others)
    without = qt.preference(EXAMPLE, style=False, without_one_sided=True).record
    assert without.votes == record.votes - sided[0].votes
    assert not any(judge.one_sided for judge in without.judges)


def test_weights_are_votes(plain_votes: Path) -> None:
    """A vote that weighs two moves ratings as two would; the count of votes stays that of rows."""
    once = pl.read_csv(plain_votes).with_columns(weight=2.0)
    assert qt.preference(once).table["rating"].to_list() == pytest.approx(
        qt.preference(plain_votes).table["rating"].to_list()
    )
    heavy = [("x", "y", "left", 2), ("x", "y", "right", 1)]
    names = ("left", "right", "winner", "weight")
    found = qt.preference([dict(zip(names, row, strict=True)) for row in heavy])
    assert found.record.votes == 2
    assert np.ptp(found.table["rating"].to_numpy()) == pytest.approx(POINTS * math.log(2))
    with pytest.raises(qt.BadInput, match="above 0"):
        qt.preference([dict(zip(names, ("x", "y", "left", -1), strict=True))])


def test_votes_of_the_arena_are_read_as_they_are() -> None:
    """Its columns and words, with `--column`."""
    rows = [("a", "b", "model_a"), ("a", "b", "model_b"), ("b", "a", "tie (bothbad)")]
    table = pl.DataFrame(rows, schema=["model_a", "model_b", "winner"], orient="row")
    record = qt.preference(table, columns={"left": "model_a", "right": "model_b"}).record
    assert (record.votes, record.both_bad) == (3, 1)


def test_what_cannot_be_rated_is_refused(tmp_path: Path) -> None:
    """Words that are no winner and a model against itself with their rows; parts that nothing joins; only ties."""
    path = tmp_path / "wrong.csv"
    path.write_text("left,right,winner\na,b,left\na,a,left\na,b,both\n,b,left\n")
    with pytest.raises(qt.BadInput) as caught:
        qt.preference(path)
    places = [(fault.row, fault.field, str(fault.reason)) for fault in caught.value.faults]
    assert places == [
        (3, None, "'a' stands against itself"),
        (4, "winner", "'both' is not one of left, right, tie, both_bad"),
        (5, "left", "no model is named"),
    ]
    with pytest.raises(qt.BadInput, match="No vote joins 'a', 'b' with 'c', 'd'"):
        qt.preference([("a", "b", "left"), ("b", "a", "left"), ("c", "d", "tie"), ("d", "c", "left")])
    with pytest.raises(qt.BadInput, match="No vote has a winner"):
        qt.preference([("a", "b", "tie")])
    path.write_text("left,right,winner\n")
    with pytest.raises(qt.BadInput, match="no rows"):
        qt.preference(path)


def test_a_model_that_won_everything_is_said() -> None:
    """Its rating is finite, and a warning says what holds it."""
    rows = [("best", "a", "left"), ("best", "b", "left"), ("a", "b", "left"), ("b", "a", "left")]
    with pytest.warns(UserWarning, match="'best' won every vote"):
        record = qt.preference(rows).record
    assert record.models[0].model == "best"
    assert record.models[0].rating < 2000
