"""`quintain study compare` on plain files, and `qt.compare`: one answer, from what is planted in made data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import Result

import quintain as qt
from quintain.core.errors import BadInput
from quintain.core.records.figures import Estimate
from quintain.data.in_memory import source_of
from quintain.services.plain.files.checkpoints import FOLDER
from quintain.services.plain.reports.artefact_files import ExampleColumns
from quintain.services.plain.reports.comparing.reading import DatasetColumns, read_dataset
from quintain.stats.arms import figures
from quintain.stats.comparing.compared import people_and_models

SHARED = Path(__file__).parents[4] / "shared" / "data"
OPTIONS: dict[str, Any] = {"votes": "votes", "tags": "tags", "id": "id", "models": ["weak", "fair", "strong"]}


def rows(name: str, number: int, cue: tuple[str, str], agree: float, seed: int) -> list[dict[str, Any]]:
    """Draw examples with votes, tags and three models of different strength."""
    rng = np.random.default_rng(seed)
    found = []
    for at in range(number):
        code = int(rng.integers(0, 2))
        label = ("no", "yes")[code]
        wrong = ("yes", "no")[code]
        text = f"{' '.join(f'w{one}' for one in rng.integers(0, 40, 4 + at % 5))} {cue[code]}"
        found.append(
            {
                "id": f"{name}{at}",
                "text": text,
                "label": label,
                "context": f"c{at // 3}",
                "votes": [label if rng.random() < agree else wrong for _ in range(5)],
                "tags": ["negation"] if rng.random() < 0.4 else ["numbers"],
                **{
                    model: label if rng.random() < share else wrong
                    for model, share in (("weak", 0.6), ("fair", 0.75), ("strong", 0.9))
                },
            }
        )
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two data sets and one more to learn from."""
    folder = tmp_path_factory.mktemp("compared")
    made = {
        "easy": rows("e", 90, ("dull", "good"), 0.95, 1),
        "hard": rows("h", 60, ("bleak", "good"), 0.8, 2),
        "more": rows("m", 60, ("dull", "good"), 0.9, 3),
    }
    for name, one in made.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in one))
    return folder


def test_a_command_compares_files(files: Path, tmp_path: Path, cli: Callable[..., Result]) -> None:
    """Every question has a section with the command that answers it again; parts that were kept are cleared away."""
    done = cli(
        *("study", "compare", files / "easy.jsonl", files / "hard.jsonl", "--train", files / "more.jsonl"),
        *("--votes", "votes", "--tags", "tags", "--id", "id", "--context", "context", "--seeds", "2"),
        *("--model", "weak", "--model", "fair", "--model", "strong", "--out", tmp_path / "out", "--json"),
    )
    report = json.loads(done.stdout)
    keys = [one["key"] for one in report["sections"]]
    assert keys[:3] == ["gap", "transfer", "difficulty"]
    assert {"lengths", "vocabulary", "variety", "coverage", "differences"} <= set(keys)
    again = report["sections"][0]["commands"][0]
    assert again.startswith("quintain study compare easy.jsonl hard.jsonl --train more.jsonl")
    assert "--model weak --model fair --model strong --seeds 2 --seed 0 --out DIR" in again
    assert "Data sets beside each other" in (tmp_path / "out" / "report.html").read_text()
    assert "\\begin{table}" in (tmp_path / "out" / "tables.tex").read_text()
    assert not (tmp_path / "out" / FOLDER).exists()


def test_the_library_finds_what_is_planted(files: Path) -> None:
    """The second data set is harder for people; both cues are learned; the weak model is furthest behind."""
    found = qt.compare([files / "easy.jsonl", files / "hard.jsonl"], context="context", seeds=1, **OPTIONS)
    assert found.table["train"].to_list() == ["easy", "easy", "hard", "hard"]
    sections = {one.key: one for one in found.report.sections}
    gaps = {(row[0], str(row[1])): row for row in sections["gap"].tables[0].rows}
    people = [gaps[name, "judged often"][3].value for name in ("easy", "hard")]  # type: ignore[union-attr]
    assert people[0] > people[1] + 0.05  # type: ignore[operator]
    assert any("weak is" in one and "points behind people on" in one for one in found.findings)
    assert found.to_dict()["transfer"][0]["own"]


def test_what_chance_gives_is_no_gap_between_people_and_models() -> None:
    """Where both are right equally often no model is behind, also on the items that were chosen because votes agree."""
    rng = np.random.default_rng(1)

    def drawn(name: str) -> list[dict[str, Any]]:
        rows = []
        for place in range(120):
            label, other = ("p", "n") if rng.random() < 0.5 else ("n", "p")
            said = [label if rng.random() < 0.75 else other for _ in range(4)]
            row = {"id": f"{name}{place}", "text": f"text {name} {place}", "label": label}
            rows.append({**row, "votes": said[:3], "m": said[3]})
        return rows

    found = qt.compare({"one": drawn("a"), "two": drawn("b")}, votes="votes", models=["m"], seeds=1)
    gap = next(one for one in found.report.sections if one.key == "gap")
    assert [str(one) for one in gap.findings] == ["That m is behind people cannot be told, where judged often."]
    people = {(row[0], str(row[1])): row[3].value for row in gap.tables[0].rows}  # type: ignore[union-attr]
    assert people["one", "judged often"] == pytest.approx(0.75, abs=0.1)
    assert people["one", "at least 80 % of votes agree"] is None
    assert people["one", "all votes agree"] is None
    assert {str(row[2]) for row in gap.tables[1].rows} == {"judged often"}


def test_interrupted_work_goes_on(files: Path, tmp_path: Path) -> None:
    """Rows of the matrix that were done are not done again, and the report is the same."""
    given = {name: files / f"{name}.jsonl" for name in ("easy", "hard")}

    def stop(share: float) -> None:
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        qt.compare(given, seeds=1, keep=tmp_path, progress=stop)
    kept = list((tmp_path / FOLDER).glob("*.json"))
    assert len(kept) == 1
    kept[0].write_text(kept[0].read_text().replace('"deviation":0.0', '"deviation":0.123'))
    found = qt.compare(given, seeds=1, keep=tmp_path)
    assert found.table["deviation"].to_list() == [0.123, 0.123, 0.0, 0.0]
    found.save(tmp_path)
    assert not (tmp_path / FOLDER).exists()


def test_parts_of_another_recipe_are_not_taken(files: Path, tmp_path: Path) -> None:
    """Whoever changes the recipe before going on gets its figures, whatever the file is called."""
    given, recipe = {name: files / f"{name}.jsonl" for name in ("easy", "hard")}, tmp_path / "linear.toml"
    qt.compare(given, seeds=1, keep=tmp_path)
    kept = {path.name for path in (tmp_path / FOLDER).glob("*.json")}
    for epochs in (5, 6):
        recipe.write_text(f'learner = "linear"\n[options]\nfeatures = "tfidf"\nepochs = {epochs}\n')
        qt.compare(given, recipe=recipe, seeds=1, keep=tmp_path)
        parts = {path.name for path in (tmp_path / FOLDER).glob("*.json")}
        assert len(parts - kept) == len(given), epochs
        kept = parts


def test_responses_give_difficulty_by_id(files: Path) -> None:
    """Responses from elsewhere are matched by id; where no id is known, it is said what to look at."""
    rng = np.random.default_rng(0)
    said = [
        (f"r{who}", f"{name}{item}", int(rng.random() < share + 0.06 * (who - 4)))
        for who in range(8)
        for name, share in (("e", 0.75), ("h", 0.4))
        for item in range(30)
    ]
    given = [files / "easy.jsonl", files / "hard.jsonl"]
    found = qt.compare(given, id="id", responses=said, seeds=1)
    assert any(one.startswith("An item of easy is harder than one of hard in") for one in found.findings)
    with pytest.raises(BadInput, match="None of the 60 items"):
        qt.compare(given, id="id", responses=[(who, f"x{item}", right) for who, item, right in said], seeds=1)


def test_respondents_who_are_alike_give_no_difficulty(files: Path) -> None:
    """Where respondents cannot be told apart there is no median, no chart and no comparison of difficulties."""
    rng = np.random.default_rng(0)
    said = [
        (f"r{who}", f"{name}{item}", int(rng.random() < 0.7)) for who in range(6) for name in "eh" for item in range(40)
    ]
    found = qt.compare([files / "easy.jsonl", files / "hard.jsonl"], id="id", responses=said, seeds=1)
    sections = {one.key: one for one in found.report.sections}
    assert not sections["difficulty"].tables
    assert not sections["difficulty"].charts
    assert "right equally often" in sections["difficulty"].findings[0]
    assert "Difficulty" not in {str(row[0]) for row in sections["differences"].tables[0].rows}


def test_a_recipe_learns_in_place_of_the_linear_learner(files: Path, tmp_path: Path) -> None:
    """The learner and options of a recipe are taken; a learner that there is not is refused."""
    recipe = tmp_path / "mine.toml"
    recipe.write_text('learner = "linear"\n[options]\nfeatures = "tfidf"\nepochs = 20\n')
    found = qt.compare([files / "easy.jsonl", files / "hard.jsonl"], recipe=recipe, seeds=1)
    assert found.table.row(0, named=True)["accuracy"] > 0.8
    assert "The learner is mine." in found.report.sections[0].note
    recipe.write_text('learner = "none"\n')
    with pytest.raises(BadInput, match="'none' is not one of"):
        qt.compare([files / "easy.jsonl", files / "hard.jsonl"], recipe=recipe)


def test_what_cannot_be_compared_is_refused(files: Path) -> None:
    """One data set, two of one name, votes that are none, tables without a name, a field that is not there."""
    easy = files / "easy.jsonl"
    with pytest.raises(BadInput, match="comparison takes two"):
        qt.compare([easy])
    with pytest.raises(BadInput, match="Two data sets are called 'easy'"):
        qt.compare([easy, easy])
    with pytest.raises(BadInput, match="has no votes that can be read"):
        qt.compare([easy, files / "hard.jsonl"], votes="text")
    with pytest.raises(BadInput, match="has no name"):
        qt.compare([{"text": ["a"], "label": ["b"]}])
    with pytest.raises(BadInput, match="no column 'hypothesis'"):
        qt.compare([easy, files / "hard.jsonl"], ["hypothesis"])


@pytest.mark.skipif(not (SHARED / "nli-small").exists(), reason="the shared data is not here")
def test_hard_pairs_of_snli_beside_sick() -> None:
    """People's five labels on the hard part of SNLI, and what SICK teaches of it: less than it teaches of itself."""
    folder = SHARED / "nli-small"
    with gzip.open(folder / "data" / "raw" / "SNLI Test Hard" / "snli_1.0_test_hard.jsonl.gz", "rt") as lines:
        hard = [json.loads(line) for _, line in zip(range(500), lines, strict=False)]
    snli = [
        {"premise": one["sentence1"], "hypothesis": one["sentence2"], "label": one["gold_label"], "votes": labels}
        for one in hard
        if (labels := [label for label in one["annotator_labels"] if label]) and one["gold_label"] != "-"
    ]
    sick = [{**row, "votes": []} for row in pl.read_csv(folder / "nli_datasets" / "sick" / "dev.csv").to_dicts()]
    found = qt.compare({"snli": snli, "sick": sick}, ["premise", "hypothesis"], votes="votes", seeds=1)
    cells = {(row["train"], row["test"]): row["accuracy"] for row in found.table.iter_rows(named=True)}
    assert cells["sick", "sick"] > cells["sick", "snli"] + 0.1
    rows = {(row[0], str(row[1])): row for row in found.report.sections[0].tables[0].rows}
    people = rows["snli", "judged often"][3]
    assert isinstance(people, Estimate)
    assert 0.85 < (people.value or 0.0) < 0.95


@pytest.mark.skipif(not (SHARED / "crowdsourcing-protocols").exists(), reason="the shared data is not here")
def test_the_gap_of_the_baseline_arm() -> None:
    """On the published BASELINE arm, people and models come out as in table 1 of Nangia et al. (95.9 and 87.2)."""
    with gzip.open(SHARED / "crowdsourcing-protocols" / "data" / "baseline.json.gz") as file:
        records = json.load(file)
    table = [
        {
            "question": one["question"],
            "options": one["options"],
            "label": one["gold_answer"],
            "writer": one["worker_id"],
            "votes": [vote["worker_answer"] for vote in one["validation_data"]],
            **{model: f"option{place + 1}" for place, model in one["model_predictions"]},
        }
        for one in records
    ]
    columns = DatasetColumns(
        ExampleColumns(["question"], "label", ["options"], writer="writer"),
        votes="votes",
        intended="label",
        models=[f"roberta_large_{run}" for run in range(1, 6)],
    )
    arm = read_dataset("baseline", source_of(table), columns)
    found = figures(people_and_models(arm, draws=10), "all")
    assert found.human.value == pytest.approx(0.959, abs=0.012)
    assert found.models["roberta_large"].value == pytest.approx(0.872, abs=0.012)


def test_data_sets_without_a_common_answer_are_named() -> None:
    """Zero transfer between labels that are only named differently is not shown as a finding about the data."""
    rows = [{"text": f"w{at} a b", "label": ("yes", "no")[at % 2]} for at in range(40)]
    other = [{**row, "label": {"yes": "1", "no": "0"}[row["label"]]} for row in rows]
    found = qt.compare({"words": rows, "numbers": other}, seeds=1)
    assert any("words and numbers have no answer in common" in one for one in found.findings)
