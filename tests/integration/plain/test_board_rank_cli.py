"""`quintain board rank` on plain tables, with no workspace."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

TABLE2 = Path(__file__).parents[2] / "data" / "dynaboard_table2.csv"
Cli = Callable[..., Result]


@pytest.fixture
def table(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes a table."""

    def write(text: str) -> Path:
        path = tmp_path / "table.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


SMALL = "model,f1,speed,memory\na,80,1,10\nb,70,5,4\nc,60,6,2\n"


def rank(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    """Run the command with --json and give what it prints."""
    result = cli("board", "rank", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize(("task", "bound"), [("NLI", 0.09), ("QA", 0.21), ("Sentiment", 0.09), ("Hate Speech", 0.09)])
def test_the_published_table(cli: Cli, table: Callable[[str], Path], task: str, bound: float) -> None:
    """The command of the issue gives the paper's Dynascores, ranks and z-scores."""
    with TABLE2.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["task"] == task]
    names = ["model", "perf", "throughput", "memory", "fairness", "robustness"]
    path = table("\n".join([",".join(names), *(",".join(row[name] for name in names) for row in rows)]) + "\n")
    weights = "perf=4,throughput=1,memory=1,fairness=1,robustness=1"
    options = ("--lower", "memory", "--cap", "memory=32", "--weights", weights, "--epsilon", "0.011")
    found = rank(cli, path, *options)
    assert [row["model"] for row in found["models"]] == [row["model"] for row in rows]
    for ours, theirs in zip(found["models"], rows, strict=True):
        assert ours["dynascore"] == pytest.approx(float(theirs["dynascore"]), abs=bound)
        assert ours["zscore"] == pytest.approx(float(theirs["zscore"]), abs=0.006)
    assert found["weights"] == {name: 0.5 if name == "perf" else 0.125 for name in names[1:]}
    assert found["epsilon"] == 0.011
    assert set(found["amrs"]) == set(names[1:])


def test_choices(cli: Cli, table: Callable[[str], Path]) -> None:
    """Performance, base, rates by hand and other aggregations can be chosen."""
    path = table(SMALL)
    found = rank(cli, path, "--lower", "memory", "--amrs", "memory=0.5", "--aggregate", "zscore,win_rate")
    assert found["amrs"]["memory"] == 0.5
    assert found["perf"] == "f1"
    assert set(found["models"][0]["aggregates"]) == {"zscore", "win_rate"}
    assert found["models"][0]["aggregates"]["zscore"]["score"] == found["models"][0]["zscore"]
    speedy = rank(cli, path, "--perf", "speed", "--base", "memory", "--cap", "memory=16", "--weights", "perf=1,f1=1")
    assert speedy["weights"] == {"f1": 0.5, "speed": 0.5, "memory": 0.0}
    assert speedy["base"] == "memory"
    assert speedy["amrs"]["memory"] == 1.0


def test_people_get_a_table(cli: Cli, table: Callable[[str], Path]) -> None:
    """Without --json there is a table of models and one of exchange rates."""
    result = cli("board", "rank", table(SMALL), "--lower", "memory", "--aggregate", "average")
    assert result.exit_code == 0
    assert "dynascore" in result.stdout
    assert "is worth, in f1" in result.stdout
    assert "were ignored" in result.stderr


def test_gaps_are_shown_unranked(cli: Cli, table: Callable[[str], Path]) -> None:
    """A model with an empty cell comes last with the reason; one that cannot have a metric is ranked."""
    path = table("model,f1,speed\na,80,\nb,70,5\nc,60,6\nd,90,n/a\n")
    found = rank(cli, path)
    last = found["models"][-1]
    assert (last["model"], last["rank"], last["dynascore"], last["reason"]) == ("a", None, None, "speed missing")
    assert {row["model"] for row in found["models"] if row["rank"]} == {"b", "c", "d"}
    assert "unranked: speed missing" in cli("board", "rank", path).stdout


def test_a_constant_metric_is_noted(cli: Cli, table: Callable[[str], Path]) -> None:
    """A metric that all models share adds nothing, and the result says so."""
    found = rank(cli, table("model,f1,speed\na,80,5\nb,70,5\n"))
    assert found["notes"] == {"speed": "all models share one value, so it adds nothing"}


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("model,f1\na,80\nb,fast\n", (), "table.csv, row 3, field 'f1': 'fast' is not a number"),
        ("model,f1\na,NaN\n", (), "table.csv, row 2, field 'f1': 'NaN' is not a number"),
        ("model,f1\na,inf\n", (), "row 2, field 'f1': 'inf' is not a number"),
        ("model,f1\na,80\na,70\n", (), "table.csv, row 3, field 'model': the model 'a' is there twice"),
        ("model,f1\n,80\n", (), "row 2, field 'model': the model has no name"),
        (SMALL, ("--cap", "memory=8"), "row 2, field 'memory': model 'a' has 10, above the cap of 8"),
        (SMALL, ("--weights", "perf=1,sped=1"), "a weight for 'sped'"),
        (SMALL, ("--weights", "perf=-1"), "The weight of 'perf' is -1"),
        (SMALL, ("--weights", "perf=0,speed=0"), "All weights are 0"),
        (SMALL, ("--weights", "perf"), "'perf' in the weights is not NAME=NUMBER"),
        (SMALL, ("--weights", "f1=1,f1=2"), "'f1' is in the weights twice"),
        (SMALL, ("--weights", "perf=1,f1=2"), "weights for 'perf' and for 'f1', which are the same metric"),
        (SMALL, ("--lower", "size"), "no metric called 'size'"),
        (SMALL, ("--perf", "accuracy"), "no metric called 'accuracy'"),
        (SMALL, ("--epsilon", "-1"), "Epsilon is -1"),
        (SMALL, ("--amrs", "speed=0"), "exchange rate of 'speed' is 0"),
        (SMALL, ("--aggregate", "median"), "no aggregation 'median'"),
        (SMALL, ("--skip", "size"), "no column 'size' to skip"),
        ("model\na\n", (), "no metric beside the column 'model'"),
        ("name,f1\na,80\n", (), "there is no column 'model'"),
    ],
)
def test_bad_input_is_explained(
    cli: Cli, table: Callable[[str], Path], text: str, options: tuple[str, ...], why: str
) -> None:
    """What is wrong is named with its row and column, and the exit code is 1."""
    result = cli("board", "rank", table(text), *options)
    assert result.exit_code == 1
    assert why in " ".join(result.stderr.split())
    assert result.stdout == ""
