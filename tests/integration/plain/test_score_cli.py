"""`quintain evaluate score` on plain files, with no workspace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

from quintain.services.plain.files.score import Scoring, score_files

XQUAD = Path(__file__).parents[4] / "shared" / "data" / "xquad-en-squad-preds"
Cli = Callable[..., Result]

GOLD = "id,answer,tags\n1,yes,negation|short\n2,no,short\n3,yes,\n4,no,negation\n"
SAID = "id,prediction\n4,no\n3,yes\n2,yes\n1,yes\n"


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """A function that writes a gold and a prediction file."""

    def write(gold: str = GOLD, said: str = SAID, *, ending: str = "csv", said_ending: str = "") -> tuple[Path, Path]:
        paths = tmp_path / f"gold.{ending}", tmp_path / f"said.{said_ending or ending}"
        for path, text in zip(paths, (gold, said), strict=True):
            path.write_text(text, encoding="utf-8")
        return paths

    return write


def scores(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    """Run the command with --json and give what it prints."""
    result = cli("evaluate", "score", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_scores_by_tag(cli: Cli, files: Callable[..., tuple[Path, Path]]) -> None:
    """The file's order does not matter; every figure has an interval; tags slice."""
    found = scores(cli, *files(), "--metric", "f1,accuracy", "--by", "tag")
    assert found["metrics"]["accuracy"]["value"] == 0.75
    assert found["metrics"]["f1"]["value"] == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert set(found["metrics"]["accuracy"]) == {"value", "low", "high"}
    slices = {part["value"]: part for part in found["slices"]}
    assert {name: part["examples"] for name, part in slices.items()} == {"negation": 2, "short": 2}
    assert slices["short"]["metrics"]["accuracy"]["value"] == 0.5
    assert (found["answer_type"], found["missing"], found["examples"], found["answered"]) == ("label", 0, 4, 4)


def test_people_get_a_table(cli: Cli, files: Callable[..., tuple[Path, Path]]) -> None:
    """Without --json the figures are a table."""
    result = cli("evaluate", "score", *files(), "--metric", "accuracy,class_f1")
    assert result.exit_code == 0
    assert "0.7500" in result.stdout
    assert "class_f1: yes" in result.stdout


def test_the_formats_are_read_alike(cli: Cli, tmp_path: Path) -> None:
    """JSONL and Parquet give what CSV gives, with probabilities as an object or as columns."""
    gold = pl.DataFrame({"id": ["1", "2"], "label": ["yes", "no"], "tags": [["x"], []]})
    gold.write_parquet(tmp_path / "gold.parquet")
    rows = [
        {"id": "1", "prediction": "yes", "probabilities": {"yes": 0.8, "no": 0.2}},
        {"id": "2", "prediction": "yes", "probabilities": {"yes": 0.6, "no": 0.4}},
    ]
    (tmp_path / "said.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    (tmp_path / "said.csv").write_text(
        "id,prediction,prob_yes,prob_no\n1,yes,0.8,0.2\n2,yes,0.6,0.4\n", encoding="utf-8"
    )
    metrics = ("--metric", "log_loss,accuracy,auroc", "--by", "tags")
    first = scores(cli, tmp_path / "gold.parquet", tmp_path / "said.jsonl", *metrics)
    second = scores(cli, tmp_path / "gold.parquet", tmp_path / "said.csv", *metrics)
    assert first == second
    assert first["metrics"]["auroc"]["value"] == 1.0
    assert first["slices"][0]["metrics"]["auroc"]["reason"] == "all gold answers are of one class"


def test_squad_files(cli: Cli, tmp_path: Path) -> None:
    """SQuAD's own JSON and a JSON object of answers are scored by exact match and token F1."""
    questions = [
        {"id": "q1", "question": "?", "answers": [{"text": "Denver Broncos", "answer_start": 0}]},
        {"id": "q2", "question": "?", "answers": [{"text": "308", "answer_start": 3}, {"text": "308 points"}]},
    ]
    document = {"version": "1.1", "data": [{"title": "T", "paragraphs": [{"context": "…", "qas": questions}]}]}
    (tmp_path / "dev.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "said.json").write_text(json.dumps({"q1": "The Broncos", "q2": "308 Points"}), encoding="utf-8")
    found = scores(cli, tmp_path / "dev.json", tmp_path / "said.json", "--by", "title")
    assert found["answer_type"] == "span"
    assert found["metrics"]["exact_match"]["value"] == 0.5
    assert found["metrics"]["token_f1"]["value"] == pytest.approx((2 / 3 + 1) / 2)


def test_other_answers(cli: Cli, files: Callable[..., tuple[Path, Path]]) -> None:
    """The metrics asked for tell the type of answer; lists in a CSV are JSON."""
    chosen = files('id,answer\n1,"[0, 2]"\n2,[1]\n', "id,prediction\n1,[2]\n2,[1]\n")
    assert scores(cli, *chosen, "--metric", "set_f1")["metrics"]["set_f1"]["value"] == pytest.approx((2 / 3 + 1) / 2)
    spans = files("id,answer\n1,the tower\n2,Rome\n", "id,prediction\n1,Tower\n2,Paris\n")
    assert scores(cli, *spans, "--metric", "exact_match")["metrics"]["exact_match"]["value"] == 0.5
    texts = files("id,answer\n1,the cat sat on the mat\n", "id,prediction\n1,the cat sat on the mat\n")
    assert scores(cli, *texts, "--metric", "bleu")["metrics"]["bleu"]["value"] == pytest.approx(1.0)
    heads = files("id,answer\n1,4\n2,0\n", "id,prediction\n1,4\n2,1\n")
    assert scores(cli, *heads, "--type", "token")["metrics"]["attachment"]["value"] == 0.5


def test_columns_are_mapped_and_clusters_drawn(cli: Cli, files: Callable[..., tuple[Path, Path]]) -> None:
    """Names from elsewhere are mapped, for both files or one of them; a cluster column sets the interval."""
    paths = files("qid,gold_label,pair\n1,a,p\n2,b,p\n3,a,q\n4,b,q\n", "row,model_says\n1,a\n2,b\n3,b\n4,a\n")
    mapped = ("--column", "gold.id=qid", "--column", "answer=gold_label")
    mapped += ("--column", "predictions.id=row", "--column", "prediction=model_says")
    found = scores(cli, *paths, *mapped, "--cluster", "pair", "--metric", "accuracy")
    alone = scores(cli, *paths, *mapped, "--metric", "accuracy")["metrics"]["accuracy"]
    together = found["metrics"]["accuracy"]
    assert together["value"] == alone["value"] == 0.5
    assert together["low"] < alone["low"] < alone["high"] < together["high"]


def test_ids_that_do_not_match_are_named(cli: Cli, files: Callable[..., tuple[Path, Path]]) -> None:
    """Missing, unknown and repeated ids are all named, with their row, and the exit code is 1."""
    paths = files(said="id,prediction\n1,yes\n1,no\n3,yes\n4,no\n9,yes\n")
    result = cli("evaluate", "score", *paths)
    assert result.exit_code == 1
    assert "said.csv, row 3: id '1' is there a second time" in result.stderr
    assert "said.csv: no prediction for id '2'" in result.stderr
    assert "said.csv, row 6: id '9' is not among the gold answers" in result.stderr
    assert "--allow-missing" in result.stderr
    assert result.stdout == ""


def test_what_is_missing_may_be_allowed(cli: Cli, files: Callable[..., tuple[Path, Path]]) -> None:
    """Allowed gaps count as wrong, allowed strangers are left out, and both are said."""
    paths = files(said="id,prediction\n1,yes\n3,yes\n9,yes\n")
    result = cli("evaluate", "score", *paths, "--allow-missing", "--allow-unknown", "--metric", "accuracy", "--json")
    found = json.loads(result.stdout)
    assert (found["missing"], found["unknown"], found["answered"]) == (2, 1, 2)
    assert found["metrics"]["accuracy"]["value"] == 0.5
    assert "2 missing predictions were counted as wrong" in result.stderr


@pytest.mark.parametrize(
    ("gold", "said", "options", "why"),
    [
        ("id,text\n1,x\n", SAID, (), "no column 'answer' or 'label'"),
        (GOLD, "id,label\n1,x\n", (), "no column 'prediction'"),
        (GOLD, SAID, ("--by", "genre"), "no column 'genre' to slice by"),
        (GOLD, SAID, ("--cluster", "genre"), "no column 'genre' to cluster by"),
        (GOLD, SAID, ("--metric", "acuracy"), "no metric called 'acuracy'"),
        (GOLD, SAID, ("--metric", "auroc"), "needs probabilities"),
        (GOLD, SAID, ("--type", "number"), "no answer type 'number'"),
        (GOLD, SAID, ("--type", "choice"), "'yes' is not a whole number"),
        (GOLD, SAID, ("--column", "gold=answer"), "no column called 'gold' to map to"),
        ("id,answer\n1,[1\n", "id,prediction\n1,[1]\n", ("--type", "choices"), "'[1' is not a JSON list"),
        ("id,answer\n1,[x]\n", "id,prediction\n1,[1]\n", ("--type", "choices"), "not a JSON list"),
        ("id,answer\n1,yes\n2,\n", "id,prediction\n1,yes\n2,no\n", (), "gold.csv, row 3: there is no gold answer"),
    ],
)
def test_bad_input_is_explained(
    cli: Cli,
    files: Callable[..., tuple[Path, Path]],
    gold: str,
    said: str,
    options: tuple[str, ...],
    why: str,
) -> None:
    """What is wrong is said on stderr, and the exit code is 1."""
    result = cli("evaluate", "score", *files(gold, said), *options)
    assert result.exit_code == 1
    assert why in " ".join(result.stderr.split())


def test_bad_json_is_explained(cli: Cli, files: Callable[..., tuple[Path, Path]]) -> None:
    """JSON that is broken or not SQuAD's is named."""
    result = cli("evaluate", "score", *files("{", "{}", ending="json"))
    assert result.exit_code == 1
    assert "gold.json, row 1: not JSON" in result.stderr
    result = cli("evaluate", "score", *files('{"data": [{}]}', "{}", ending="json"))
    assert "not in SQuAD's form: 'paragraphs'" in result.stderr


PUBLISHED = {
    "BERT (ensemble) (Google AI Language)": (74.9, 86.3),
    "r-net+ (ensemble) (Microsoft Research Asia)": (72.8, 83.4),
    "SLQA+ (ensemble) (Alibaba iDST NLP)": (72.2, 82.8),
    "Match-LSTM with Ans-Ptr (Boundary+Ensemble) (Singapore Management University)": (61.1, 72.7),
    "Logistic Regression Baseline (Stanford University)": (34.6, 45.9),
}


@pytest.mark.skipif(not XQUAD.exists(), reason="the shared data sets are not here")
@pytest.mark.parametrize("system", PUBLISHED)
def test_real_systems_on_real_questions(system: str) -> None:
    """Five systems' answers to 1,190 SQuAD questions get the exact match and F1 that are known for them.

    The known figures are over the questions that a system answered; one left two out, which count as wrong here.
    """
    scoring = Scoring(allow_missing=True, allow_unknown=True, cluster="paragraph")
    report = score_files(XQUAD / "xquad.en.json", XQUAD / "models" / "1.1" / f"{system}.json", scoring)
    metrics, answered = report.evaluation.metrics, report.evaluation.answered / report.evaluation.examples
    found = [100 * (metrics[name].estimate.value or 0) / answered for name in ("exact_match", "token_f1")]
    assert found == pytest.approx(PUBLISHED[system], abs=0.06)


def test_a_slice_of_one_gold_label_is_noted(cli: Callable[..., Result], tmp_path: Path) -> None:
    """Its macro F1 is no mean of what its name promises, and that is said beside the figure."""
    gold, said = tmp_path / "gold.csv", tmp_path / "said.csv"
    gold.write_text("id,answer,tags\na,yes,one\nb,yes,one\nc,yes,two\nd,no,two\n")
    said.write_text("id,prediction\na,yes\nb,no\nc,yes\nd,no\n")
    result = cli("evaluate", "score", gold, said, "--by", "tag", "--resamples", "0", "--json")
    assert "one gold label only: tag: one." in " ".join(result.stderr.split())
    assert len(json.loads(result.stdout)["notes"]) == 1
    assert "one gold label" not in cli("evaluate", "score", gold, said, "--resamples", "0").stderr
