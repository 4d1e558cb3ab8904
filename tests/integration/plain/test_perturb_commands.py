"""`quintain data perturb` and `quintain data perturbations` on plain files."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from quintain.cli.app import app

ROWS = [
    {"id": "a", "text": "Somebody said that she does not know her colour.", "label": "positive"},
    {"id": "b", "text": "Nothing to see.", "label": "negative"},
]
TASK = """
name = "sentiment"
kind = "text-classification"
title = "Sentiment"
[[labels]]
name = "positive"
[[labels]]
name = "negative"
"""


def _run(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["data", *map(str, words)])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """Two reviews in a CSV file."""
    path = tmp_path / "reviews.csv"
    pl.DataFrame(ROWS).write_csv(path)
    return path


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_a_file_is_perturbed_in_every_format(tmp_path: Path, reviews: Path, suffix: str) -> None:
    """The changed rows are written with parent, perturbation and change; the report counts rows and words."""
    out = tmp_path / f"out.{suffix}"
    code, stdout, _ = _run("perturb", reviews, "--kind", "typos,gender_words", "--seed", 0, "--out", out, "--json")
    assert code == 0
    report = json.loads(stdout)
    typos, words = report["perturbations"]
    assert (typos["name"], typos["rows"], typos["changed"]) == ("typos", 2, 2)
    assert (words["changed"], words["words_edited"], words["words"]) == (1, 2, 12)
    assert words["share_edited"] == pytest.approx(2 / 12)
    readers = {"parquet": pl.read_parquet, "jsonl": pl.read_ndjson, "csv": pl.read_csv}
    made = pl.read_csv(out, separator="\t") if suffix == "tsv" else readers[suffix](out)
    last = made.row(-1, named=True)
    assert last["text"] == "Somebody said that he does not know his colour."
    assert (last["parent"], last["perturbation"], last["change"]) == ("a", "gender_words", "female → male")


def test_the_same_seed_writes_the_same_file(tmp_path: Path, reviews: Path) -> None:
    """Twice the same seed, twice the same bytes; another seed, other typos."""
    outs = [tmp_path / f"{i}.csv" for i in range(3)]
    for out, seed in zip(outs, (1, 1, 2), strict=True):
        assert _run("perturb", reviews, "--kind", "robustness", "--seed", seed, "--out", out)[0] == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert outs[0].read_bytes() != outs[2].read_bytes()


def test_a_task_file_names_the_fields(tmp_path: Path, reviews: Path) -> None:
    """As examples of a task, the rows have the task's columns and their own ids."""
    (tmp_path / "task.toml").write_text(TASK, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    code, _, stderr = _run(
        "perturb", reviews, "--kind", "british_american", "--task", tmp_path / "task.toml", "--out", out
    )
    assert code == 0, stderr
    row = json.loads(out.read_text(encoding="utf-8"))
    assert row["text"].endswith("color.")
    assert (row["answer"], row["parent"]) == ("positive", "a")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--kind", "nothing"], "no perturbation called 'nothing'"),
        (["--kind", ","], "No perturbation is named"),
        (["--kind", "typos", "--field", "body"], "body"),
        (["--kind", "typos", "--severity", "0"], "severity is 0"),
    ],
)
def test_bad_requests_say_what_is_wrong(tmp_path: Path, reviews: Path, words: list[str], told: str) -> None:
    """An unknown perturbation, column or severity exits with 1 and writes nothing."""
    out = tmp_path / "out.csv"
    code, _, stderr = _run("perturb", reviews, *words, "--out", out)
    assert code == 1
    assert told in " ".join(stderr.split())
    assert not out.exists()


def test_the_list_names_every_perturbation() -> None:
    """Seven robustness perturbations make the canonical figure, and thirteen more are there."""
    code, stdout, _ = _run("perturbations", "--json")
    assert code == 0
    found = json.loads(stdout)["perturbations"]
    robust = [one for one in found if one["family"] == "robustness"]
    assert sorted(one["name"] for one in robust if one["in_paper"]) == [
        "contraction",
        "keyboard",
        "ocr",
        "punctuation",
        "spelling_error",
        "typos",
        "word_case",
    ]
    assert len(robust) == 20
    assert {one["name"] for one in found if one["family"] == "fairness"} >= {"gender_words", "ethnicity_names"}
    assert _run("perturbations")[1].count("robustness") == 20
