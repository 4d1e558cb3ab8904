"""`quintain evaluate paired` and `qt.paired`: what programs read, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import quintain as qt
from quintain.cli.app import app
from quintain.metrics.evaluate import evaluate_metrics

GOLD = {f"e{number}": "yes" if number % 3 else "no" for number in range(90)}


def run(*words: object) -> Result:
    """Run `evaluate paired`."""
    return CliRunner().invoke(app, ["evaluate", "paired", *map(str, words)])


def write(path: Path, every: int, **more: list[object]) -> Path:
    """Write predictions of which every so many are wrong."""
    path.parent.mkdir(exist_ok=True)
    wrong = {"yes": "no", "no": "yes"}
    said = [wrong[label] if number % every == 0 else label for number, label in enumerate(GOLD.values())]
    pl.DataFrame({"id": list(GOLD), "prediction": said, **more}).write_csv(path)
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Ninety examples, of two labels."""
    path = tmp_path / "gold.csv"
    pl.DataFrame({"id": list(GOLD), "answer": list(GOLD.values())}).write_csv(path)
    return path


def test_every_pair_has_its_difference_and_test(gold: Path, tmp_path: Path) -> None:
    """Three systems make three pairs, p by Holm is never below p, and a difference is that of the scores."""
    files = [write(tmp_path / f"{name}.csv", every) for name, every in (("a", 4), ("b", 9), ("c", 10))]
    result = run(gold, *files, "--metric", "macro_f1", "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert [(pair["a"], pair["b"]) for pair in answer["pairs"]] == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair in answer["pairs"]:
        assert list(pair) == ["a", "b", "difference", "p", "p_holm", "n"]
        assert list(pair["difference"]) == ["value", "low", "high"]
        assert pair["difference"]["low"] <= pair["difference"]["value"] <= pair["difference"]["high"]
        assert pair["p"] <= pair["p_holm"] <= 1
        assert pair["n"] == 90
    scores = [
        evaluate_metrics("label", list(GOLD.values()), pl.read_csv(file)["prediction"], ["macro_f1"], resamples=0)
        for file in files
    ]
    values = [score.metrics["macro_f1"].estimate.value for score in scores]
    assert [system["value"] for system in answer["systems"]] == pytest.approx(values)
    assert answer["pairs"][0]["difference"]["value"] == pytest.approx((values[0] or 0) - (values[1] or 0))
    assert answer["pairs"][0]["p"] < 0.05 < answer["pairs"][2]["p"]
    assert answer["power"][2]["needed"] > 90
    assert answer["power"][2]["more"] == answer["power"][2]["needed"] - 90
    same = qt.paired(gold, *files, metric="macro_f1")
    assert same.to_dict() == answer
    assert same.table["needed"].to_list() == [row["needed"] for row in answer["power"]]
    assert "80 % power" in run(gold, *files).stdout


def test_groups_are_drawn_and_swapped_whole(gold: Path, tmp_path: Path) -> None:
    """A column `group` widens the interval where a group's answers go wrong together."""
    one, other = (write(tmp_path / f"{name}.csv", every) for name, every in (("a", 3), ("b", 9)))
    table = pl.read_csv(gold).with_row_index("row")
    by_thirds = table.with_columns((pl.col("row") % 9).alias("group")).drop("row")
    plain = qt.paired(gold, one, other, metric="accuracy", resamples=2000).record
    grouped = qt.paired(by_thirds, one, other, metric="accuracy", resamples=2000).record
    assert (plain.groups, grouped.groups) == (None, 9)
    assert grouped.pairs[0].difference.value == plain.pairs[0].difference.value
    assert grouped.pairs[0].p > plain.pairs[0].p


def test_two_files_of_one_name_are_told_apart_by_their_paths(gold: Path, tmp_path: Path) -> None:
    """Folders name runs of one system; one file twice is refused."""
    files = [write(tmp_path / folder / "predictions.csv", every) for folder, every in (("old", 4), ("new", 9))]
    pair = json.loads(run(gold, *files, "--json").stdout)["pairs"][0]
    assert (pair["a"], pair["b"]) == tuple(map(str, files))
    twice = run(gold, files[0], files[0])
    assert twice.exit_code != 0
    assert "is there twice" in twice.stderr


def test_what_cannot_be_compared_is_refused(gold: Path, tmp_path: Path) -> None:
    """One system, a missing id, a metric that is none or of other answers, two metrics, and too few draws."""
    whole, other = write(tmp_path / "a.csv", 4), write(tmp_path / "b.csv", 9)
    short = tmp_path / "short.csv"
    pl.read_csv(whole).head(88).write_csv(short)
    refused = {
        "of one system only": (gold, whole),
        "no prediction for id 'e89'": (gold, whole, short),
        "mystery": (gold, whole, other, "--metric", "mystery"),
        "is not for answers of type 'label'": (gold, whole, other, "--metric", "bleu", "--type", "label"),
        "probabilities": (gold, whole, other, "--metric", "log_loss"),
        "too few for a test": (gold, whole, other, "--resamples", 20),
    }
    for words, arguments in refused.items():
        result = run(*arguments)
        assert result.exit_code != 0, words
        assert words in " ".join(result.stderr.split()), result.stderr
    allowed = run(gold, whole, short, "--allow-missing")
    assert allowed.exit_code == 0
    assert "2 missing predictions were counted as wrong" in allowed.stderr


def test_tables_in_memory_have_names(gold: Path) -> None:
    """One mapping names systems; tables without names are numbered."""
    right = dict(GOLD)
    wrong = dict.fromkeys(GOLD, "no")
    record = qt.paired(GOLD, {"right": right, "wrong": wrong}, metric="accuracy", resamples=200).record
    assert [system.name for system in record.systems] == ["right", "wrong"]
    numbered = qt.paired(gold, right, wrong, resamples=200)
    assert numbered.table["a"].to_list() == ["1"]
    assert numbered.chart()["data"]["values"]
    with pytest.raises(qt.BadInput, match="one system"):
        qt.paired(GOLD, right)


def test_charts_become_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SVG, PNG and PDF are what their endings say; where the extra is missing, it is named."""
    chart = qt.paired(GOLD, {"a": GOLD, "b": dict.fromkeys(GOLD, "no")}, resamples=200).plot()
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "vl_convert", None)
        with pytest.raises(qt.Unavailable, match="not installed") as refusal:
            chart.save(tmp_path / "figure.svg")
        assert "quintain[figures]" in str(refusal.value.remedy)
        assert not (tmp_path / "figure.svg").exists()
    pytest.importorskip("vl_convert")
    for ending, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        assert chart.save(tmp_path / f"figure{ending}").read_bytes().startswith(start)
    assert "a – b" in (tmp_path / "figure.svg").read_text("utf-8")
