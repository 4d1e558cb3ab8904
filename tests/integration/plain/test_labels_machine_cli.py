"""`quintain labels machine|estimate`: what programs and people read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import quintain as qt
from quintain.cli.app import app

SHARED = Path(__file__).parents[4] / "shared" / "data"


def run(*words: object) -> dict[str, object]:
    """Run a command with `--json`."""
    done = CliRunner().invoke(app, ["labels", *map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """Three people and two machines on sixty items; one machine copies the truth, the other says one thing."""
    rng = np.random.default_rng(8)
    rows = []
    for item in range(60):
        truth = ["no", "yes"][item % 2]
        other = {"no": "yes", "yes": "no"}[truth]
        rows += [(f"i{item}", who, truth if rng.random() < 0.85 else other, "false") for who in ("ann", "bob", "cy")]
        rows += [(f"i{item}", "good", truth, "true"), (f"i{item}", "lazy", "yes", "true")]
    path = tmp_path / "judged.csv"
    pl.DataFrame(rows, schema=["item", "worker", "label", "machine"], orient="row").write_csv(path)
    return path


def test_a_machine_is_held_beside_people(judged: Path) -> None:
    """A good one may replace one of three; one that always says yes may not, and what it misses is named."""
    good, lazy = (run("machine", judged, "--machine", name) for name in ("good", "lazy"))
    assert (good["winning_rate"], good["verdict"], good["admission"]) == (1.0, "may replace one of 3", "replace")
    assert (good["people"], good["judgements"]) == (3, 180)  # the other machine is nobody
    assert good["notes"] == ["Judgements of other machines, left out: 60."]
    assert good["agreement"]["value"] > good["people_agreement"]["value"]
    assert sum(sum(row.values()) for row in good["confusion"].values()) == 180
    assert (lazy["verdict"], lazy["admission"]) == ("not yet: misses 'no'", "no")
    assert lazy["agreement"]["kappa"]["low"] <= 0 <= lazy["agreement"]["kappa"]["high"]


def test_nobody_is_tested_on_few_items(tmp_path: Path) -> None:
    """With ten items there is agreement and no test, and the notes say why."""
    path = tmp_path / "few.csv"
    rows = [(f"i{item}", who, "ab"[item % 2]) for item in range(10) for who in ("ann", "bob", "gpt")]
    pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row").write_csv(path)
    answer = run("machine", path, "--machine", "gpt")
    assert (answer["winning_rate"], answer["advantage"], answer["persons"]) == (None, None, [])
    assert "too few items" in str(answer["verdict"])
    assert answer["notes"]
    assert answer["agreement"]["low"] < 1 == answer["agreement"]["high"]


def test_what_cannot_be_compared_is_refused(judged: Path) -> None:
    """A name that nobody has, a machine alone, and a margin that is none."""
    with pytest.raises(qt.BadInput, match="Nobody in the table"):
        qt.machine_agreement(judged, "gtp")
    with pytest.raises(qt.BadInput, match="All judgements are by"):
        qt.machine_agreement([("a", "gpt", "yes")], "gpt")
    with pytest.raises(qt.BadInput, match="no difference of shares"):
        qt.machine_agreement(judged, "good", epsilon=3)


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path, Path]:
    """People's labels of 100 of 2,000 items, a machine's of all, and a model's answers."""
    rng = np.random.default_rng(9)
    truth = rng.choice(["neg", "neu", "pos"], 2000, p=[0.5, 0.3, 0.2])

    def noisy(right: float) -> list[str]:
        return np.where(rng.random(2000) < right, truth, rng.choice(["neg", "neu", "pos"], 2000)).tolist()

    names = [str(item) for item in range(2000)]
    people = pl.DataFrame({"item": names[:100], "worker": ["ann"] * 100, "label": truth[:100].tolist()})
    machine = pl.DataFrame({"item": names, "label": noisy(0.85)})
    model = pl.DataFrame({"id": names, "prediction": noisy(0.7)})
    paths = tuple(tmp_path / f"{name}.csv" for name in ("people", "machine", "model"))
    for frame, path in zip((people, machine, model), paths, strict=True):
        frame.write_csv(path)
    return paths  # type: ignore[return-value] # three paths


def test_figures_with_a_machine(tables: tuple[Path, Path, Path]) -> None:
    """People's own figure is what `evaluate score` says, the other is surer, and the shape is as documented."""
    people, machine, model = tables
    answer = run("estimate", people, machine, "--metric", "share", "--label", "pos")
    assert set(answer) >= {"metric", "people", "together", "needed"}
    share = pl.read_csv(people)["label"].eq("pos").mean()
    assert answer["people"]["value"] == pytest.approx(share)
    assert answer["people"]["n"] == answer["together"]["n"] == 100
    assert answer["together"]["machine_n"] == 2000
    for metric in ("accuracy", "macro_f1"):
        figures = run("estimate", people, machine, "--metric", metric, "--predictions", model)
        gold = pl.read_csv(people).rename({"item": "id"}).drop("worker")
        scored = qt.score(gold, pl.read_csv(model).head(100), metrics=[metric]).to_dict()["metrics"][metric]["value"]
        assert figures["people"]["value"] == pytest.approx(scored)
        widths = [figures[part]["high"] - figures[part]["low"] for part in ("people", "together")]
        assert widths[1] < widths[0]


def test_labels_of_several_people(tmp_path: Path) -> None:
    """An item's label is its plurality with ties shared, or a share of votes."""
    people = [("a", "1", "x"), ("a", "2", "x"), ("a", "3", "y"), ("b", "1", "x"), ("b", "2", "y")]
    machine = [("a", "x"), ("b", "x"), ("c", "y")]
    assert qt.estimate(people, machine, label="x").record.people.value == pytest.approx(0.75)
    assert qt.estimate(people, machine, label="x", votes=True).record.people.value == pytest.approx(7 / 12)


def test_files_that_do_not_fit_are_refused(tables: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Items with two labels, names that nobody shares, labels that nobody gave, and a metric without answers."""
    people, machine, _ = tables
    with pytest.raises(qt.BadInput, match="several labels"):
        qt.estimate(people, [("1", "pos"), ("1", "neg")], label="pos")
    with pytest.raises(qt.BadInput, match="No item has people's labels"):
        qt.estimate(people, [("other", "pos")], label="pos")
    with pytest.raises(qt.BadInput, match="Nobody gave the label"):
        qt.estimate(people, machine, label="positive")
    with pytest.raises(qt.BadInput, match="not said"):
        qt.estimate(people, machine)
    with pytest.raises(qt.BadInput, match="not said"):
        qt.estimate(people, machine, "accuracy")
    with pytest.raises(qt.BadInput, match="no metric"):
        qt.estimate(people, machine, "f3")


def test_labels_in_another_spelling_are_warned_of(tables: tuple[Path, Path, Path]) -> None:
    """A machine that says `POS` for `pos` is no bad machine but a slip."""
    people, machine, _ = tables
    shouted = pl.read_csv(machine).with_columns(pl.col("label").str.to_uppercase(), pl.col("item").cast(pl.String))
    with pytest.warns(UserWarning, match="case only"):
        qt.estimate(people, shouted, label="pos")


@pytest.mark.skipif(not (SHARED / "machine-judges").exists(), reason="the shared data is not here")
def test_real_judges() -> None:
    """On relations between words, the weakest of six language models stands behind the strongest."""
    path = SHARED / "machine-judges" / "wax.csv"
    rates = {name: qt.machine_agreement(path, name).record.advantage for name in ("gpt-4o", "mistral-v03")}
    assert rates["mistral-v03"] < 0.6
    assert rates["gpt-4o"] > 0.7
