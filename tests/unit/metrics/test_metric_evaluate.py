"""Metrics by name, by slice and by task."""

from __future__ import annotations

import pytest

from quintain.core.errors import BadInput, NotFound
from quintain.core.task import Label, Task
from quintain.metrics.evaluate import evaluate_metrics


def test_tags_slice_an_example_more_than_once() -> None:
    """An example counts in the slice of each of its tags, and one without tags in none."""
    result = evaluate_metrics(
        "label", ["a", "b", "a"], ["a", "a", "a"], ["accuracy"], by={"tag": [["x", "y"], ["y"], []]}, resamples=0
    )
    found = {part.value: (part.examples, part.metrics["accuracy"].estimate.value) for part in result.slices}
    assert found == {"x": (1, 1.0), "y": (2, 0.5)}


def test_a_task_brings_its_labels_and_metrics() -> None:
    """With a task, its labels are the classes and its metrics the default."""
    task = Task("mood", "text-classification", {"en": "Mood"}, labels=(Label("a"), Label("b")), metrics=("macro_f1",))
    result = evaluate_metrics(task, ["a", "b"], ["a", "bee"], resamples=0)
    assert list(result.metrics) == ["macro_f1"]
    assert result.metrics["macro_f1"].estimate.value == pytest.approx(0.5)


def test_clusters_widen_the_interval() -> None:
    """Answers that stand and fall in groups of ten are worth fewer independent ones."""
    gold, said = ["a"] * 200, (["a"] * 10 + ["b"] * 10) * 10
    groups = [f"g{row // 10}" for row in range(200)]
    loose = evaluate_metrics("label", gold, said, ["accuracy"]).metrics["accuracy"].estimate
    tight = evaluate_metrics("label", gold, said, ["accuracy"], groups=groups).metrics["accuracy"].estimate
    assert loose.low is not None
    assert tight.low is not None
    assert tight.low < loose.low - 0.08


def test_examples_without_a_group_stand_alone() -> None:
    """Clustering by a column with gaps treats each gap as a group of its own."""
    plain = evaluate_metrics("label", ["a", "b"] * 50, ["a"] * 100, ["accuracy"])
    alone = evaluate_metrics("label", ["a", "b"] * 50, ["a"] * 100, ["accuracy"], groups=[None] * 100)
    first, second = plain.metrics["accuracy"].estimate, alone.metrics["accuracy"].estimate
    assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=0.03)


def test_refusals_say_what_is_wrong() -> None:
    """An unknown metric, one for other answers, no examples, unequal lengths and a missing gold are named."""
    with pytest.raises(NotFound, match=r"no metric called 'f7'.*accuracy"):
        evaluate_metrics("label", ["a"], ["a"], ["f7"])
    with pytest.raises(BadInput, match=r"'bleu' is not for answers of type 'label'.*macro_f1"):
        evaluate_metrics("label", ["a"], ["a"], ["bleu"])
    with pytest.raises(BadInput, match="no examples"):
        evaluate_metrics("label", [], [], ["accuracy"])
    with pytest.raises(BadInput, match="2 gold answers and 1 predictions"):
        evaluate_metrics("label", ["a", "b"], ["a"])
    with pytest.raises(BadInput, match="Example 2 has no gold answer"):
        evaluate_metrics("label", ["a", None], ["a", "b"])


def test_json_has_the_documented_shape() -> None:
    """A figure is value, low and high; slices are a list of what, which and the figures."""
    shape = evaluate_metrics("label", ["a", "b"], ["a", "b"], by={"half": ["x", "y"]}).as_dict()
    assert shape["examples"] == shape["answered"] == 2
    assert shape["metrics"]["accuracy"] == {"value": 1.0, "low": pytest.approx(0.26, abs=0.05), "high": 1.0}
    assert [(part["by"], part["value"], part["examples"]) for part in shape["slices"]] == [
        ("half", "x", 1),
        ("half", "y", 1),
    ]
