"""Trained baselines learn something in every script, and those of before go on as they were trained."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from quintain.core.task import Label
from quintain.metrics.evaluate import evaluate_metrics
from quintain.models.contract import BASELINES, Baseline, load
from quintain.models.ngrams import features
from quintain.models.schedule import Schedule
from tests.languages import LANGUAGES, opinion_task, opinions


def _trained(name: str, language: str) -> Baseline:
    return BASELINES.get(name).train(opinion_task(language), pl.DataFrame(opinions(language, half=0)))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["tfidf", "ngram", "lexicon"])
def test_baselines_are_above_chance_in_every_script(name: str, language: str) -> None:
    """What was said of some things is known again when it is said of others, with an interval above one half."""
    model, rows = _trained(name, language), opinions(language, half=1)
    shares = model.predict([{"text": row["text"]} for row in rows])
    said = [max(share, key=share.get) for share in shares]
    accuracy = evaluate_metrics("label", [row["answer"] for row in rows], said, ["accuracy"]).metrics["accuracy"]
    assert accuracy.estimate.low is not None
    assert accuracy.estimate.low > 0.5


def test_a_model_of_format_1_goes_on_as_it_was_trained(tmp_path: Path) -> None:
    """What it learned are clauses: cut otherwise, its texts would hold nothing that it knows."""
    model = BASELINES.get("tfidf")(opinion_task("zh"))
    model.format = 1
    rows = opinions("zh", half=0)
    model.fit(pl.DataFrame(rows), seed=0, progress=lambda share: None)
    model.prepare()
    model.save(tmp_path)
    assert json.loads((tmp_path / "model.json").read_text("utf-8"))["format"] == 1
    restored = load(tmp_path)
    assert restored.predict([{"text": rows[0]["text"]}]) == model.predict([{"text": rows[0]["text"]}])
    assert rows[0]["text"][:-1] in restored.state["terms"]


def test_going_on_from_an_older_model_cuts_as_it_does() -> None:
    """A vocabulary of clauses grows no characters."""
    first = BASELINES.get("tfidf")(opinion_task("zh"))
    first.format = 1
    table = pl.DataFrame(opinions("zh", half=0))
    first.fit(table, seed=0, progress=lambda share: None)
    first.prepare()
    further = BASELINES.get("tfidf")(opinion_task("zh"))
    further.learn(table, further.one_hot(table), Schedule(seed=0), first)
    assert further.format == 1


def test_forms_of_unicode_are_one_word_to_an_ngram() -> None:
    """An accent that is typed apart gives the same features; a mark belongs to its letter, a joiner to its word."""
    one, other = features(["Un caf\u00e9 tr\u00e8s bon"], 14), features(["Un cafe\u0301 tre\u0300s bon"], 14)
    assert one.buckets().tolist() == other.buckets().tolist()
    assert len(features(["花了"], 14).blocks[0].indices) == 2
    assert len(features(["हिन्दी है।"], 14).blocks[0].indices) == 3


def test_a_list_of_english_words_is_for_english_alone() -> None:
    """Where labels are positive and negative, the words of another language are learned."""
    names = {"good": "positive", "bad": "negative"}
    for language in ("de", "zh", "hi", "ar"):
        task = replace(opinion_task(language), labels=(Label("positive"), Label("negative")))
        rows = [{**row, "answer": names[row["answer"]]} for half in (0, 1) for row in opinions(language, half=half)]
        model = BASELINES.get("lexicon").train(task, pl.DataFrame(rows[:40]))
        said = model.predict([{"text": row["text"]} for row in rows[40:]])
        right = sum(max(share, key=share.get) == row["answer"] for share, row in zip(said, rows[40:], strict=True))
        assert right > 35
