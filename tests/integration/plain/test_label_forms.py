"""Every command on plain files compares labels by one form: `1`, `1.0`, `True` and `1 ` are one label."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

import quintain
from quintain.services.plain.labels.judged_rows import read_judged_rows
from quintain.services.plain.reports.artefact_files import ExampleColumns
from quintain.services.plain.reports.comparing.reading import DatasetColumns, read_dataset

# How a program may write the labels 1 and 0, and how it may write yes and no.
SPELLINGS = {
    "floats": ("1", "0", "1.0", "0.0"),
    "truth": ("1", "0", "True", "False"),
    "python": ("true", "false", "True", "False"),
    "spaces": ("yes", "no", "yes ", " no"),
    "unicode": ("n\u00e9", "no", "ne\u0301", "no"),
}
N = 60


class Files:
    """Gold answers and predictions of the same labels, the latter spelled in another way; every tenth is wrong."""

    def __init__(self, folder: Path, spelling: str) -> None:
        self.folder = folder
        right, wrong, said_right, said_wrong = SPELLINGS[spelling]
        self.gold = (np.random.default_rng(3).random(N) < 0.5).tolist()
        self.said = [value != (at % 10 == 0) for at, value in enumerate(self.gold)]
        self.names, self.spelled = {True: right, False: wrong}, {True: said_right, False: said_wrong}

    def write(self, name: str, rows: list[dict[str, Any]]) -> Path:
        """Write rows as JSON Lines."""
        place = self.folder / name
        place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return place

    def table(self, name: str, *, as_gold: bool, **columns: str) -> Path:
        """Write a table of labels: gold ones as they are called, the others as they are spelled."""
        values, called = (self.gold, self.names) if as_gold else (self.said, self.spelled)
        label = columns.pop("label")
        rows = [
            {"id": f"e{at}", "item": f"e{at}", label: called[value], "text": f"word{at % 7} here", **columns}
            for at, value in enumerate(values)
        ]
        return self.write(name, rows)


@pytest.fixture(params=list(SPELLINGS))
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    """Gold answers and predictions whose labels are spelled in two ways."""
    return Files(tmp_path, request.param)


Cli = Callable[..., Result]


def found(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    """Run a command and read its JSON, which must come without a warning."""
    result = cli(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    assert "Warning" not in result.stderr
    read: dict[str, Any] = json.loads(result.stdout)
    return read


def test_evaluate_score(cli: Cli, files: Files) -> None:
    """Nine in ten are right."""
    gold, said = (
        files.table("g.jsonl", as_gold=True, label="answer"),
        files.table("p.jsonl", as_gold=False, label="prediction"),
    )
    report = found(cli, "evaluate", "score", gold, said, "--resamples", "0")
    assert report["metrics"]["accuracy"]["value"] == pytest.approx(0.9)
    assert report["metrics"]["macro_f1"]["value"] > 0.85
    assert report["warnings"] == []


def test_labels_aggregate_and_agreement(cli: Cli, files: Files) -> None:
    """Two workers who spell labels in two ways agree, and so does gold that is spelled as one of them does."""
    rows = [{"item": f"e{at}", "worker": "a", "label": files.names[value]} for at, value in enumerate(files.gold)]
    rows += [{"item": f"e{at}", "worker": "b", "label": files.spelled[value]} for at, value in enumerate(files.gold)]
    judgements = files.write("j.jsonl", rows)
    report = found(cli, "labels", "aggregate", judgements, "--out", files.folder / "o.csv")
    assert len(report["labels"]) == 2
    assert report["no_label"] == 0
    assert found(cli, "labels", "agreement", judgements, "--resamples", "0")["percent_agreement"]["value"] == 1.0
    gold = files.write(
        "g.jsonl", [{"item": f"e{at}", "label": files.spelled[value]} for at, value in enumerate(files.gold)]
    )
    weighted = ["labels", "aggregate", judgements, "--method", "gold-weighted", "--gold", gold]
    assert found(cli, *weighted, "--out", files.folder / "w.csv")["details"]["gold_accuracy"] == 1.0


def test_study_human(cli: Cli, files: Files) -> None:
    """People who are right are right, however the gold file spells it."""
    rows = [
        {"item": f"e{at}", "worker": worker, "label": files.names[value]}
        for at, value in enumerate(files.gold)
        for worker in ("a", "b")
    ]
    gold = files.write(
        "g.jsonl", [{"item": f"e{at}", "label": files.spelled[value]} for at, value in enumerate(files.gold)]
    )
    report = found(cli, "study", "human", files.write("j.jsonl", rows), "--gold", gold, "--seeds", "2")
    assert report["synthetic_annotators"]["all"]["accuracy"]["value"] == 1.0


def test_study_slices_and_disagreement(cli: Cli, files: Files) -> None:
    """Errors are those that are errors: one in ten, and a model does not disagree with its own twin."""
    gold = files.table("g.jsonl", as_gold=True, label="label")
    said = files.table("p.jsonl", as_gold=False, label="prediction")
    twin = files.write(
        "t.jsonl", [{"id": f"e{at}", "prediction": files.names[value]} for at, value in enumerate(files.said)]
    )
    report = found(cli, "study", "slices", gold, said)
    assert "right in 90.0%" in report["sections"][0]["findings"][0].replace(" %", "%")
    pair = quintain.disagreement(str(gold), str(said), str(twin)).pair
    assert pair.only_first == pair.only_second == pair.wrong_apart == 0
    assert pair.both == 54


def test_contrast_score(cli: Cli, files: Files) -> None:
    """Every set holds."""
    rows = [
        {"id": f"e{at}", "set": f"s{at // 2}", "role": "contrast" if at % 2 else "original", "gold": files.names[value]}
        for at, value in enumerate(files.gold)
    ]
    said = files.write(
        "p.jsonl", [{"id": f"e{at}", "prediction": files.spelled[value]} for at, value in enumerate(files.gold)]
    )
    assert found(cli, "contrast", "score", files.write("c.jsonl", rows), said, "--resamples", "0")["consistency"] == 1.0


def test_contest_score(cli: Cli, files: Files) -> None:
    """A system that is right is never broken, and one that is right on originals only always is."""
    rows = [
        {
            "breaker": "b",
            "pair_id": at // 2,
            "side": "ab"[at % 2],
            "gold": files.names[value],
            "sys": files.spelled[value],
            "half": files.spelled[value != bool(at % 2)],
        }
        for at, value in enumerate(files.gold)
    ]
    report = found(cli, "contest", "score", files.write("m.jsonl", rows), "--resamples", "0")
    assert report["systems"]["sys"]["broken"] == 0
    assert report["directions"]["half"] == {"original_only": N // 2, "modified_only": 0}
    assert report["systems"]["sys"]["average_f1"] == 1.0


def test_data_split_by_a_models_answers(files: Files) -> None:
    """What the model said is known to be one of the labels."""
    rows = [
        {
            "id": f"e{at}",
            "text": f"text number {at} says {at * 7}",
            "label": files.names[value],
            "predicted": files.spelled[value],
        }
        for at, value in enumerate(files.gold)
    ]
    read = read_judged_rows(files.write("r.jsonl", rows))
    assert (read.answers_of("predicted") == read.label).all()


def test_irt_responses() -> None:
    """Right and wrong may be written as numbers or truth values, with spaces."""
    rows = [
        {"respondent": f"r{who}", "item": f"i{at}", "correct": spelling}
        for who in range(12)
        for at in range(10)
        for spelling in [[" 1", "0.0", "True", "1.0", "false "][(who * 3 + at * at) % 5]]
    ]
    assert quintain.irt(rows).table.height > 0


def test_compare_with_models_answers(files: Files) -> None:
    """A model's answers in a column of the data are compared with its labels by their form."""
    rows = [
        {"text": f"word {at}", "label": files.names[value], "m": files.spelled[value]}
        for at, value in enumerate(files.gold)
    ]
    place = files.write("d.jsonl", rows)
    read = read_dataset("d", place, DatasetColumns(ExampleColumns(["text"], "label"), models=["m"]))
    assert (read.predictions["m"] == read.examples.answer).all()


@pytest.mark.parametrize(
    ("gold", "said", "part"),
    [(("yes", "no"), ("Yes", "No"), "in case only"), (("pos", "neg"), ("1", "0"), "coded in another way")],
)
def test_wrong_spellings_are_said_aloud(
    cli: Cli, tmp_path: Path, gold: tuple[str, str], said: tuple[str, str], part: str
) -> None:
    """On stderr, in JSON and as a warning of Python: figures from labels of another coding are no figures."""
    files = Files(tmp_path, "floats")
    files.names, files.spelled = (
        dict(zip((True, False), gold, strict=True)),
        dict(zip((True, False), said, strict=True)),
    )
    one, other = (
        files.table("g.jsonl", as_gold=True, label="answer"),
        files.table("p.jsonl", as_gold=False, label="prediction"),
    )
    result = cli("evaluate", "score", one, other, "--resamples", "0", "--json")
    assert part in " ".join(result.stderr.split())
    assert part in json.loads(result.stdout)["warnings"][0]
    with pytest.warns(UserWarning, match=part):
        quintain.score(str(one), str(other), ["accuracy"])
    labelled = files.table("l.jsonl", as_gold=True, label="label")
    slices = cli("study", "slices", labelled, other, "--json")
    assert part in " ".join(slices.stderr.split())
    assert part in json.loads(slices.stdout)["warnings"][0]


def test_no_warning_where_labels_fit() -> None:
    """A right answer warns nobody."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert quintain.score({"a": "1", "b": "0"}, {"a": 1.0, "b": 0.0}, ["accuracy"]).table["value"].item() == 1.0
