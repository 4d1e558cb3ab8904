"""The baselines on real data: figures that anybody can check with the commands in docs/models.md.

The starter data that is shipped shows the same order of models everywhere.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from quintain.core.task import Label, Task
from quintain.data.presets import read_preset
from quintain.services.plain.files.training import Trained, train_files
from tests.starter import FOLDER


def task_with(kind: str, *labels: str) -> Task:
    """Make a task with the metrics that the tests read."""
    names = tuple(Label(label) for label in labels)
    metrics = ("token_f1",) if kind == "extractive-qa" else ("accuracy",)
    return Task("real", kind, {"en": "Real"}, labels=names, metrics=metrics)


def score(trained: Trained, metric: str = "accuracy") -> float:
    """Give one figure on the dev examples."""
    return float(trained.metrics()[metric]["value"])


def test_what_a_model_learns_from_the_starter_data(tmp_path: Path) -> None:
    """A linear model beats the lexicon, and both beat the majority, which has a third of three even labels."""
    task = task_with("text-classification", "negative", "neutral", "positive")
    folder = FOLDER / "sentiment"
    found = {
        name: score(train_files(task, name, [folder / "train.jsonl"], tmp_path / name, dev=[folder / "dev.jsonl"]))
        for name in ("majority", "lexicon", "tfidf")
    }
    assert found["majority"] == pytest.approx(1 / 3, abs=0.01)
    assert found["tfidf"] > found["majority"]
    assert found["lexicon"] > found["majority"]


def test_overlap_finds_spans_of_the_starter_data(tmp_path: Path) -> None:
    """Choosing a span by overlap beats giving the passage back."""
    task, path = task_with("extractive-qa"), FOLDER / "qa" / "test.jsonl"
    whole, span = (
        score(train_files(task, name, [path], tmp_path / name, dev=[path]), "token_f1")
        for name in ("return-context", "span-overlap")
    )
    assert span > 2 * whole


@pytest.mark.slow
def test_sentiment(shared_data: Path, tmp_path: Path) -> None:
    """On SST-2, both linear models come near 80 % and the lexicon beats the majority by far."""
    task = task_with("text-classification", "negative", "positive")
    folder, plan = shared_data / "sst" / "data" / "SST2", read_preset("sst2").plan
    found = {
        name: score(
            train_files(task, name, [folder / "train.tsv"], tmp_path / name, dev=[folder / "dev.tsv"], plan=plan)
        )
        for name in ("majority", "lexicon", "tfidf", "ngram")
    }
    assert found["majority"] == pytest.approx(0.5092, abs=0.001)
    assert found["lexicon"] > 0.68
    assert found["tfidf"] > 0.78
    assert found["ngram"] > 0.78


@pytest.mark.slow
def test_a_hypothesis_alone_gives_much_away(shared_data: Path, tmp_path: Path) -> None:
    """Trained on hypotheses of SNLI alone, MNLI is answered above a third, which chance would give."""
    task = task_with("pair-classification", "entailment", "neutral", "contradiction")
    folder, plan = shared_data / "nli-small" / "nli_datasets", read_preset("nli-csv").plan
    trained = train_files(
        task,
        "hypothesis-only",
        [folder / "snli" / "dev.csv.gz"],
        tmp_path / "model",
        dev=[folder / "mnli" / "dev.csv.gz"],
        plan=plan,
    )
    assert score(trained) > 0.36


@pytest.mark.slow
def test_questions(shared_data: Path, tmp_path: Path) -> None:
    """On XQuAD, choosing a span by overlap beats giving the passage back several times over."""
    task = task_with("extractive-qa")
    path, plan = shared_data / "xquad-en-squad-preds" / "xquad.en.json", read_preset("squad").plan
    found = [
        score(train_files(task, name, [path], tmp_path / name, dev=[path], plan=plan), "token_f1")
        for name in ("return-context", "span-overlap")
    ]
    assert found[0] == pytest.approx(0.052, abs=0.005)
    assert found[1] > 0.25
