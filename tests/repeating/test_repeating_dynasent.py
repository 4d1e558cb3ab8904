"""The page on DynaSent: all of it is run on the public data, and its tables are what comes out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

from tests.repeating_pages import PAGES, ROOT, matches, output, rows_of, run_page, working_folder

DATA = ROOT.parent / "shared" / "data"
CLASSES = ("positive", "negative", "neutral")
TRAINED = 0.6  # points by which what a trained model does may differ between machines

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "dynasent-derived").exists(), reason="the public data is not there"),
]


def test_the_page_is_true(cli: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command and script runs as it stands, and every figure of ours is what they give."""
    monkeypatch.chdir(working_folder(tmp_path))
    page = (PAGES / "dynasent.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    results = run_page(page, cli, names)

    wrong = []
    for name, (rows, within) in figures(names, results).items():
        printed = [row for row in rows_of(page, name) if any(row[0] == label for label, *_ in rows)]
        wrong += [
            (name, [label, *ours])
            for label, *ours in rows
            if not any(row[0] == label and matches(row[-len(ours) :], ours, within) for row in printed)
        ]
    assert not wrong, "\n".join(f"{name}: {row}" for name, row in wrong)
    check_top_votes(page, names["votes"])
    check_text(page, results)


def figures(names: dict[str, Any], results: dict[str, Result]) -> dict[str, tuple[list[list[Any]], float]]:
    """Return for each marked table the rows of ours, by their first cells, and how near they must be."""
    return {
        "splits": (split_rows(results), 0.0),
        "models": (model_rows(), TRAINED),
        "harvest": (harvest_rows(), 2 * TRAINED),
        "people": (people_rows(results), 0.0),
        "texts": (text_rows(), 0.0),
        "relabel": (relabel_rows(), 0.0),
        "inoculation": (inoculation_rows(), TRAINED),
    }


def check_top_votes(page: str, votes: pl.DataFrame) -> None:
    """Counts of Round 1 stand in the text, and people's F1 and κ follow from them as it says."""
    counts = dict(votes["top_votes_of_5"].value_counts().iter_rows())
    for label, top in (("five", 5), ("four", 4), ("three", 3), ("two: no majority", 2)):
        assert f"| {label} | {counts[top]:,} | {100 * counts[top] / len(votes):.1f} % |" in page
    assert sum((21391, 14021, 45076, 3900, 7200)) == len(votes) - counts[2]
    unanimous = counts[5] / (counts[5] + counts[4])
    pairs = unanimous + 0.6 * (1 - unanimous)
    assert f"{100 * unanimous:.1f} % are\nunanimous" in page
    assert f"which is {100 * (unanimous + 0.8 * (1 - unanimous)):.1f} %" in page
    assert f"a κ of {(pairs - 1 / 3) / (1 - 1 / 3):.3f}" in page


def check_text(page: str, results: dict[str, Result]) -> None:
    """What the text says of SST and of the splits of real votes is so."""
    for name, count in (("sst3-train", "159,274"), ("sst3-dev", "1,100"), ("sst3-test", "2,210")):
        assert f"Imported {count.replace(',', '')} examples as sentiment/{name}" in output_of(results, f"--name {name}")
        assert count in page
    real = json.loads(output(results, "split-real.csv"))
    for split in ("dev", "test"):
        assert real["splits"][split]["labels"] == dict.fromkeys(sorted(CLASSES), 60)
        assert list(real["splits"][split]["model_f1"].values()) == pytest.approx([1 / 3] * 3)
    assert real["gains"]["rating"]["even"]


def output_of(results: dict[str, Result], word: str) -> str:
    """Return all that a command said, also on the second stream."""
    (result,) = (result for command, result in results.items() if word in command)
    return result.output


def split_rows(results: dict[str, Result]) -> list[list[Any]]:
    """Train, what was left out, dev, test, and the model's F1."""
    rows = []
    for number in "12":
        split = json.loads(output(results, f"split-{number}.csv"))
        parts, left_out = split["splits"], split["left_out"]["nearly the same is in dev or test"]
        values = {round(value, 4) for part in ("dev", "test") for value in parts[part]["model_f1"].values()}
        (f1,) = values
        rows.append([number, parts["train"]["rows"], left_out, parts["dev"]["rows"], parts["test"]["rows"], f1])
    return rows


def model_rows() -> list[list[Any]]:
    """F1 of each class on the four data sets, and their mean."""
    cells = _tables("models")["classes-table"]
    f1 = {(row[0], row[1].partition("@")[0], row[2]): 100 * row[-1]["value"] for row in cells}
    sets = ("sst3-dev", "sst3-test", "round-1-dev", "round-2")

    def of(model: str, name: str) -> list[float]:
        if name == "mean":
            return [sum(f1[model, data, each] for each in CLASSES) / 3 for data in sets]
        return [f1[model, data, name] for data in sets]

    return [
        ["Model 0, ours: positive", *of("model-0@1", "positive")],
        *([name, *of("model-0@1", name)] for name in ("negative", "neutral", "mean")),
        ["Model 1, ours: neutral", *of("model-1@1", "neutral")],
        ["mean", *of("model-1@1", "mean")],
    ]


def harvest_rows() -> list[list[Any]]:
    """How much of the sample each stratum is, and how often people have another label than the model."""
    everything, sample = pl.read_csv("dynasent/all.csv"), pl.read_csv("dynasent/harvest.csv")
    rows: list[list[Any]] = [
        ["all sentences, ours", 100 * everything["wrong"].mean()],  # type: ignore[operator]
        ["harvested, ours", 100 * sample["wrong"].mean()],  # type: ignore[operator]
    ]
    for name, part in sample.group_by("stratum"):
        label = "the rest" if name[0] == "rest" else name[0]
        rows.append([label, 100 * len(part) / len(sample), 100 * part["wrong"].mean()])  # type: ignore[operator]
    return rows


def people_rows(results: dict[str, Result]) -> list[list[Any]]:
    """F1 of synthetic annotators on two kinds of items, and κ."""
    human = json.loads(output(results, "study human"))["synthetic_annotators"]
    kappa = json.loads(output(results, "labels agreement"))["fleiss_kappa"]["value"]
    rows: list[list[Any]] = []
    for label, items in (("Amazon, four of five agree", "at_least_4_of_5"), ("Amazon, all with a majority", "all")):
        found = human[items]
        f1 = [found["classes"][name]["f1"]["value"] for name in CLASSES]
        rows.append([label, *(100 * value for value in [*f1, found["f1"]["value"]]), ""])
    return [*rows, ["Amazon, all", "", "", "", "", kappa]]


def _tables(name: str) -> dict[str, list[list[Any]]]:
    report = json.loads(Path(f"dynasent/{name}/report.json").read_text(encoding="utf-8"))
    return {table["key"]: table["rows"] for section in report["sections"] for table in section["tables"]}


def text_rows() -> list[list[Any]]:
    """Lengths and vocabulary of both rounds."""
    tables = _tables("texts")
    pairs = zip(tables["lengths-table"], tables["vocabulary-table"], strict=True)
    return [
        [f"Round {length[0]}, ours", length[2]["value"], length[4]["value"], words[1]["value"]]
        for length, words in pairs
    ]


def relabel_rows() -> list[list[Any]]:
    """What became of SST's labels."""
    rows = []
    for label, negative, neutral, positive, none, total in _tables("relabel")["matrix-table"]:
        of_label = positive if label == "positive" else negative
        rows.append([f"{label}, ours", positive, negative, neutral, "–", none, 100 * of_label / total])
    return rows


def inoculation_rows() -> list[list[Any]]:
    """F1 of each class after each number of examples, on both dev sets."""
    points = json.loads(Path("dynasent/inoculation.json").read_text(encoding="utf-8"))["inoculation"]["points"]
    rows: dict[int, list[Any]] = {}
    for point in points:
        row = rows.setdefault(point["size"], [str(point["size"])])
        row += [100 * point["f1"][name] for name in CLASSES]
    return list(rows.values())
