"""How the writer's answer and a model's are held against what judges of a trial say."""

from __future__ import annotations

from typing import Any

import pytest

from quintain.data.trials import TrialArm, TrialItem, items_of
from quintain.services.trial.judged_items import (
    NOTHING,
    OTHER,
    label_of_model,
    label_of_writer,
    labels_when_asked,
)
from quintain.stats.arms import EVERYTHING, figures, sum_arm
from quintain.tasks.definition import parse_task

CLASSES = parse_task('name = "mood"\nkind = "text-classification"\ntitle = "Mood"\nlabels = ["bad", "good"]')
OPTIONS = parse_task('name = "quiz"\nkind = "multiple-choice"\ntitle = "Quiz"')
SPANS = parse_task('name = "qa"\nkind = "extractive-qa"\ntitle = "Questions"')
SPAN = [{"text": "the old bridge", "start": 3}]


@pytest.mark.parametrize(
    ("task", "said", "answer", "label"),
    [
        (CLASSES, "good", "bad", "good"),
        (OPTIONS, 2, 1, "2"),
        (SPANS, [{"text": "the old bridge", "start": 3}], SPAN, "right"),
        (SPANS, [{"text": "a new road", "start": 40}], SPAN, OTHER),
        (SPANS, None, SPAN, NOTHING),
        (CLASSES, None, "bad", NOTHING),
    ],
)
def test_a_model_says_a_label_as_judges_do(task: Any, said: Any, answer: Any, label: str) -> None:
    """Of answers that judges are shown a model is right with the writer's; no answer is one that nobody gave."""
    assert label_of_model(task, said, answer) == label


def test_a_writer_votes_as_a_judge_who_agrees() -> None:
    """Their label is a vote: the option's number or, where the answer is shown, that it is right."""
    assert label_of_writer(CLASSES, "bad") == "bad"
    assert label_of_writer(OPTIONS, 0) == "0"
    assert label_of_writer(SPANS, SPAN) == "right"
    assert label_of_writer(CLASSES, None) is None


def test_models_that_were_to_be_fooled_have_the_names_of_runs() -> None:
    """What one said while somebody wrote is not counted beside its run as if it were another model."""
    said = [{"model": "mood/counter@2", "answer": "good"}]
    assert labels_when_asked(CLASSES, said, "bad") == {"counter@2": "good"}


def test_no_answer_counts_against_a_model() -> None:
    """Of two items that all judges agree on, one that the model failed on leaves it at a half."""
    votes = tuple((f"judge-{number}", "good") for number in range(5))
    said = [{"counter@2": "good"}, {"counter@2": label_of_model(CLASSES, None, "good")}]
    items = [TrialItem(str(place), f"w{place}", "good", votes, one) for place, one in enumerate(said)]
    found = figures(sum_arm(items_of(TrialArm("plain", items)), seeds=5), EVERYTHING, resamples=50)
    assert found.models["counter@2"].value == pytest.approx(0.5)
