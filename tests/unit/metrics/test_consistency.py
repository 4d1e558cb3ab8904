"""Consistency over contrast sets as a metric of data set versions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from quintain.core.task import Label, Task
from quintain.metrics.aligned import align
from quintain.metrics.evaluate import evaluate_aligned
from quintain.services.evaluate.results.scoring import metric_names, score_table

TASK = Task("mood", "text-classification", {"en": "Mood"}, (Label("yes"), Label("no")), metrics=("accuracy",))
# Three sets: right as a whole, its neighbour wrong, its original wrong.
GROUPS = ["a", "a", "a", "b", "b", "c", "c"]
GOLD = ["yes", "no", "no", "yes", "no", "yes", "no"]
SAID = ["yes", "no", "no", "yes", "yes", "no", "no"]
ROLES = ["original", "contrast", "contrast", "original", "contrast", "original", "contrast"]


def value(answer_type: str, gold: list[Any], said: list[Any], groups: list[str] | None = None) -> float | None:
    """Compute consistency."""
    found = evaluate_aligned(align(answer_type, gold, said, groups=groups), ["consistency"], resamples=0)
    return found.metrics["consistency"].estimate.value


def test_a_set_is_right_as_a_whole() -> None:
    """One wrong member is enough; without groups it is the share of right answers."""
    assert value("label", GOLD, SAID, GROUPS) == pytest.approx(1 / 3)
    assert value("label", GOLD, SAID) == pytest.approx(5 / 7)


@pytest.mark.parametrize(
    ("answer_type", "gold", "said", "right"),
    [
        ("span", [["p q r s t"]], ["p q r s x"], 0.0),
        ("span", [["p q r s t"]], ["p q r s t u"], 1.0),
        ("choices", [[0, 2]], [[2, 0]], 1.0),
        ("choices", [[0, 2]], [[2]], 0.0),
        ("discrete", [[["1,000"]]], [["1000"]], 1.0),
        ("token", [3], [None], 0.0),
    ],
)
def test_what_is_right_depends_on_the_type(answer_type: str, gold: list[Any], said: list[Any], right: float) -> None:
    """F1 above 0.8 for spans, the whole set of choices, the word itself; no answer is wrong."""
    assert value(answer_type, gold, said) == right


def test_intervals_are_of_sets() -> None:
    """Five copies of every member say nothing more: the interval stays as wide."""

    def width(times: int) -> float:
        groups = [f"{name}{copy}" for copy in range(30) for name in GROUPS for _ in range(times)]
        gold = [one for _ in range(30) for one in GOLD for _ in range(times)]
        said = [one for _ in range(30) for one in SAID for _ in range(times)]
        found = evaluate_aligned(align("label", gold, said, groups=groups), ["consistency"])
        estimate = found.metrics["consistency"].estimate
        assert estimate.low is not None
        assert estimate.high is not None
        return estimate.high - estimate.low

    assert width(5) == pytest.approx(width(1), rel=0.15)


def test_versions_of_role_contrast_have_it() -> None:
    """A contrast version is scored by consistency besides the task's metrics, and by role and phenomenon."""
    table = pl.DataFrame(
        {
            "id": [str(number) for number in range(7)],
            "answer": GOLD,
            "tags": [[f"role:{role}"] for role in ROLES],
            "group": GROUPS,
            "meta": [None] * 7,
        },
        schema_overrides={"meta": pl.String},
    )
    predictions = pl.DataFrame({"id": table["id"], "prediction": SAID})
    found = score_table(TASK, table, predictions, role="contrast")
    slices = {one["value"]: one["metrics"]["accuracy"]["value"] for one in found["slices"]}

    assert found["metrics"]["consistency"]["value"] == pytest.approx(1 / 3)
    assert slices == {"role:contrast": pytest.approx(3 / 4), "role:original": pytest.approx(2 / 3)}
    assert "consistency" not in score_table(TASK, table, predictions, role="test")["metrics"]
    assert metric_names(TASK, "contrast") == ("accuracy", "consistency")
