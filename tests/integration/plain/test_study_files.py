"""`quintain study texts` and `quintain study relabel` on plain files, with no workspace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import Result

Cli = Callable[..., Result]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Texts of two conditions, one of them with prompts."""
    rows = [
        {"condition": "prompt", "before": f"a film number {n}", "said": f"a fine film number {n}"} for n in range(8)
    ]
    rows += [{"condition": "none", "before": "", "said": "good"} for _ in range(8)]
    path = tmp_path / "texts.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


def test_texts_are_compared_by_group(cli: Cli, texts: Path, tmp_path: Path) -> None:
    """Edits count where there is a prompt, lengths and vocabulary everywhere; the folder has all of it."""
    options = ("--text", "said", "--group", "condition", "--prompt", "before")
    done = cli("study", "texts", texts, *options, "--out", tmp_path / "report")
    assert done.exit_code == 0, done.stderr
    assert "A text of prompt is longer than one of none in 100.0% of pairs" in done.stdout
    report = json.loads(cli("study", "texts", texts, *options, "--json").stdout)
    assert report == json.loads((tmp_path / "report" / "report.json").read_text())
    tables = {table["key"]: table for section in report["sections"] for table in section["tables"]}
    assert tables["edits-table"]["rows"][0][:2] == ["prompt", 8]
    assert tables["edits-table"]["rows"][0][2]["value"] == pytest.approx(5 / 20)
    assert [row[1]["value"] for row in tables["vocabulary-table"]["rows"]][1] == 1.0
    assert "--group condition --prompt before" in report["sections"][0]["commands"][0]


def test_what_is_wrong_with_a_file_is_named(cli: Cli, texts: Path, tmp_path: Path) -> None:
    """A column that is not there, a row without a text, too many groups: each is said with its place."""
    assert "no column" in cli("study", "texts", texts).stderr
    (bad := tmp_path / "bad.csv").write_text("text,id\nfine,1\n,2\n")
    assert "bad.csv, row 3, field 'text': has no text" in cli("study", "texts", bad).stderr
    pl.DataFrame({"text": ["a"] * 30, "id": range(30)}).write_csv(many := tmp_path / "many.csv")
    refused = cli("study", "texts", many, "--group", "id")
    assert refused.exit_code == 1
    assert "names 30 groups" in refused.stderr


def test_old_labels_of_a_file_stand_against_the_majority(cli: Cli, tmp_path: Path) -> None:
    """The column of old labels is compared with what most say; texts stand where ids would."""
    votes = {"s1": ("pos", "pos", "pos"), "s2": ("neg", "neg", "pos"), "s3": ("pos", "neg", "neu")}
    rows = [
        {"item": item, "worker": f"w{at}", "label": label, "sst": "pos", "sentence": f"text of {item}"}
        for item, labels in votes.items()
        for at, label in enumerate(labels)
    ]
    pl.DataFrame(rows).write_csv(path := tmp_path / "votes.csv")
    report = json.loads(cli("study", "relabel", path, "--old", "sst", "--text", "sentence", "--json").stdout)
    tables = {table["key"]: table for section in report["sections"] for table in section["tables"]}
    assert tables["matrix-table"]["rows"] == [["pos", 1, 0, 1, 1, 3]]
    assert [row[1:] for row in tables["changes-table"]["rows"]] == [
        ["neg", "neg 2, pos 1", "text of s2"],
        ["no majority", "neg 1, neu 1, pos 1", "text of s3"],
    ]
    refused = cli("study", "relabel", path, "--old", "sst", "--text", "nothing")
    assert "no column 'nothing'" in refused.stderr


def test_the_first_thousand_sentences_of_both_rounds(cli: Cli, shared_data: Path) -> None:
    """On sentences of DynaSent: all are read, and those of both rounds are about as rich in words."""
    file = shared_data / "dynasent-derived" / "gold_subset_r1_r2_first1000.csv"
    report = json.loads(cli("study", "texts", file, "--text", "sentence", "--group", "round", "--json").stdout)
    tables = {table["key"]: table for section in report["sections"] for table in section["tables"]}
    assert [row[1] for row in tables["lengths-table"]["rows"]] == [1000, 1000]
    first, second = (row[1]["value"] for row in tables["vocabulary-table"]["rows"])
    assert 0.9 < second / first < 1.1
