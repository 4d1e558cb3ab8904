"""`quintain study human` on plain tables, with no workspace."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

from tests.published import baseline_votes

Cli = Callable[..., Result]


def ask(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    """Run a command with --json and give what it prints."""
    result = cli("study", "human", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of items with ten judgements each, with the writer's label beside them."""
    votes = {"s1": "aaaaaaaaaa", "s2": "bbbbbbbbbb", "s3": "aaaaaaaaab", "s4": "iiiiiiiiii"}
    rows = [
        {"item": item, "worker": f"w{n}", "label": label, "aimed": votes[item][0]}
        for item in votes
        for n, label in enumerate(votes[item])
    ]
    path = tmp_path / "votes.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


def test_synthetic_annotators(cli: Cli, table: Path, tmp_path: Path) -> None:
    """Precision, recall and F1 against a gold file, by slice of agreement, with their spread."""
    gold = tmp_path / "gold.csv"
    gold.write_text("item,label\ns1,a\ns2,b\ns3,a\n", encoding="utf-8")
    found = ask(cli, table, "--gold", gold, "--seeds", "20")["synthetic_annotators"]
    assert [found[name]["items"] for name in ("all", "at_least_4_of_5", "unanimous")] == [3, 3, 2]
    assert found["all"]["accuracy"]["value"] == pytest.approx(29 / 30)
    assert set(found["all"]["f1"]) == {"value", "low", "high", "spread"}
    assert found["all"]["classes"]["a"]["recall"]["value"] == pytest.approx(0.95)
    assert found["unanimous"]["f1"]["value"] == 1
    shown = cli("study", "human", table).stdout
    assert "Synthetic annotators" in shown
    assert "±" not in shown, "the spread over draws reads like an interval, and is 0 where all agree"
    assert all(int(low) < 100 for low in re.findall(r"100\.0% \((\d+)", shown))
    assert "100.0% (" in shown


def test_held_out_majority(cli: Cli, table: Path) -> None:
    """With the writers' labels, six of ten votes judge the other four; excluded labels discard their items."""
    found = ask(cli, table, "--writer", "aimed", "--exclude", "i", "--seeds", "10")
    assert found["gold"] == "majority"
    assert found["held_out_majority"]["all"]["items"]["value"] == 3
    assert found["held_out_majority"]["all"]["accuracy"]["value"] == 1
    shown = cli("study", "human", table, "--writer", "aimed")
    assert "Majority of the held-out votes" in shown.stdout


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--gold", "nowhere"), "neither a file nor a column"),
        (("--exclude", "z"), "no label 'z' to exclude"),
        (("--writer", "aimed", "--sample", "0"), "decides nothing"),
        (("--writer", "aimed", "--sample", "10"), "more than 10 judgements"),
    ],
)
def test_bad_input_is_named(cli: Cli, table: Path, options: tuple[str, ...], complaint: str) -> None:
    """What cannot be measured is said."""
    result = cli("study", "human", table, *options)
    assert result.exit_code == 1
    assert complaint in result.stderr


def test_a_judgement_that_is_its_own_gold_is_named(cli: Cli, tmp_path: Path) -> None:
    """Items of one rater agree with themselves; the report says so rather than that people are perfect."""
    path = tmp_path / "alone.csv"
    path.write_text("item,worker,label\n1,a,x\n2,b,y\n3,a,x\n3,b,x\n3,c,y\n")
    result = cli("study", "human", path, "--seeds", "3")
    assert result.exit_code == 0
    assert "2 items have one judgement, which is its own gold" in result.stderr


def test_baseline_protocol(cli: Cli, tmp_path: Path) -> None:
    """The BASELINE arm's human accuracy is that of the paper, within what the draw of votes allows."""
    path = tmp_path / "baseline.parquet"
    pl.DataFrame(baseline_votes(), schema=["item", "worker", "label", "writer"], orient="row").write_parquet(path)
    found = ask(cli, path, "--writer", "writer", "--exclude", "option5", "--seeds", "20")["held_out_majority"]
    assert found["all"]["accuracy"]["value"] == pytest.approx(0.959, abs=0.007)
    assert found["unanimous"]["accuracy"]["value"] == pytest.approx(0.991, abs=0.007)
