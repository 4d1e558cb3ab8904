"""The baselines on real data: figures that anybody can check with the commands in docs/models.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintain.core.task import Label, Task
from quintain.data.presets import read_preset
from quintain.services.train import Trained, train_files

pytestmark = pytest.mark.slow


def task_with(kind: str, *labels: str) -> Task:
    """Make a task with the metrics that the tests read."""
    names = tuple(Label(label) for label in labels)
    metrics = ("token_f1",) if kind == "extractive-qa" else ("accuracy",)
    return Task("real", kind, {"en": "Real"}, labels=names, metrics=metrics)


def score(trained: Trained, metric: str = "accuracy") -> float:
    """Give one figure on the dev examples."""
    return float(trained.metrics()[metric]["value"])


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
