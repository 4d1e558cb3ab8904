"""Metrics of probabilities and of label distributions."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import mannwhitneyu

from quintain.core.errors import BadInput
from quintain.metrics.evaluate import evaluate_metrics
from quintain.stats import bootstrap


def one(name: str, gold: list[str], probabilities: list[dict[str, float]], **beside: object) -> float | None:
    """Compute one metric; the answer is the most probable class."""
    said = [max(row, key=lambda key: row[key]) for row in probabilities]
    result = evaluate_metrics("label", gold, said, [name], probabilities=probabilities, resamples=0, **beside)  # type: ignore[arg-type]
    return result.metrics[name].estimate.value


def binary(*scores: float) -> list[dict[str, float]]:
    """Make the probabilities of 'yes' into those of both classes."""
    return [{"no": 1 - score, "yes": score} for score in scores]


def test_log_loss_by_hand() -> None:
    """Log loss is the mean of minus the logarithms; a certain error counts as the floor."""
    assert one("log_loss", ["yes", "no"], binary(0.8, 0.4)) == pytest.approx(-(math.log(0.8) + math.log(0.6)) / 2)
    assert one("log_loss", ["yes"], binary(0.0)) == pytest.approx(-math.log(1e-15))


def test_auroc_by_hand() -> None:
    """Of the four pairs of a 'yes' and a 'no', three are in order and one is a tie."""
    assert one("auroc", ["yes", "yes", "no", "no"], binary(0.9, 0.4, 0.4, 0.1)) == pytest.approx(3.5 / 4)


def test_auroc_of_one_class_is_undefined() -> None:
    """Without two classes there is nothing to tell apart, and the result says so."""
    result = evaluate_metrics("label", ["yes", "yes"], ["yes", "no"], ["auroc"], probabilities=binary(0.9, 0.4))
    estimate = result.metrics["auroc"].estimate
    assert estimate.value is None
    assert estimate.reason == "all gold answers are of one class"


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 10)), min_size=2, max_size=30))
def test_auroc_is_the_mann_whitney_statistic(pairs: list[tuple[bool, int]]) -> None:
    """The area is the share of pairs in order, as scipy counts it."""
    positive = [score for yes, score in pairs if yes]
    negative = [score for yes, score in pairs if not yes]
    if positive and negative:
        gold = ["yes" if yes else "no" for yes, _ in pairs]
        expected = mannwhitneyu(positive, negative).statistic / (len(positive) * len(negative))
        assert one("auroc", gold, binary(*(score / 10 for _, score in pairs))) == pytest.approx(expected)


def test_auroc_interval_is_near_the_full_bootstrap() -> None:
    """The first-order interval is that of resampling the examples and computing the area anew."""
    rng = np.random.default_rng(1)
    n = 300
    yes = rng.random(n) < 0.4
    score = 1 / (1 + np.exp(-rng.normal(yes.astype(float), 1.0)))
    gold = np.where(yes, "yes", "no").tolist()
    result = evaluate_metrics("label", gold, gold, ["auroc"], probabilities=binary(*score), resamples=2000)
    areas = []
    for _ in range(1000):
        rows = rng.integers(0, n, n)
        inside, outside = score[rows][yes[rows]], score[rows][~yes[rows]]
        areas.append(mannwhitneyu(inside, outside).statistic / (len(inside) * len(outside)))
    low, high = np.quantile(areas, [0.025, 0.975])
    estimate = result.metrics["auroc"].estimate
    assert estimate.low == pytest.approx(low, abs=0.012)
    assert estimate.high == pytest.approx(high, abs=0.012)


def test_calibration_error_by_hand() -> None:
    """Two answers at 0.9 of which one is right, two at 0.6 that both are: half of 0.4 and half of 0.4."""
    gold = ["yes", "no", "yes", "yes"]
    assert one("calibration_error", gold, binary(0.9, 0.9, 0.6, 0.6)) == pytest.approx((0.4 + 0.4) / 2)


def test_normal_limit_gives_the_same_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing sums from their normal limit gives the interval that drawing examples does."""
    rng = np.random.default_rng(2)
    n = 3000
    scores = rng.beta(2, 1, n)
    gold = np.where(rng.random(n) < scores, "yes", "no").tolist()
    shares = pl.DataFrame({"no": 1 - scores, "yes": scores})
    names = ["log_loss", "calibration_error", "auroc"]
    exact = evaluate_metrics("label", gold, gold, names, probabilities=shares, resamples=3000)
    monkeypatch.setattr(bootstrap, "MANY", 100)
    normal = evaluate_metrics("label", gold, gold, names, probabilities=shares, resamples=3000)
    for name in names:
        first, second = exact.metrics[name].estimate, normal.metrics[name].estimate
        assert first.value == second.value
        assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=0.0025)


def test_soft_metrics_by_hand() -> None:
    """Cross-entropy and Jensen–Shannon are those of the definitions (scipy gives the square root of the latter)."""
    people = [{"no": 0.25, "yes": 0.75}]
    assert one("soft_cross_entropy", ["yes"], binary(0.5), distributions=people) == pytest.approx(math.log(2))
    expected = jensenshannon([0.5, 0.5], [0.25, 0.75], base=2) ** 2
    assert one("jensen_shannon", ["yes"], binary(0.5), distributions=people) == pytest.approx(expected)
    apart = [{"no": 1.0, "yes": 0.0}]
    assert one("jensen_shannon", ["yes"], binary(1.0), distributions=apart) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"no": 0.5, "yes": 0.6}, "add up to 1.1"),
        ({"no": -0.5, "yes": 1.5}, "negative or not finite"),
        ({"no": float("nan"), "yes": 1.0}, "negative or not finite"),
    ],
)
def test_bad_probabilities_are_refused(row: dict[str, float], why: str) -> None:
    """What is no distribution is named with its example."""
    with pytest.raises(BadInput, match=f"Example 2: the probabilities .*{why}"):
        one("log_loss", ["yes", "no"], [{"no": 0.5, "yes": 0.5}, row])


def test_probabilities_are_asked_for() -> None:
    """A metric that needs probabilities or distributions says so when they are not there."""
    with pytest.raises(BadInput, match="'auroc' needs probabilities"):
        evaluate_metrics("label", ["a"], ["a"], ["auroc"])
    with pytest.raises(BadInput, match="needs the distribution of people's labels"):
        evaluate_metrics("label", ["a"], ["a"], ["jensen_shannon"], probabilities=[{"a": 1.0}])


def test_a_model_that_gave_no_probabilities_said_nothing() -> None:
    """An answer without probabilities counts as every class alike."""
    found = evaluate_metrics(
        "label", ["yes", "no"], ["yes", "no"], ["log_loss"], probabilities=[{"no": 0.0, "yes": 1.0}, None], resamples=0
    )
    assert found.metrics["log_loss"].estimate.value == pytest.approx(math.log(2) / 2)


def test_an_example_without_an_answer_is_wrong_in_every_metric() -> None:
    """A failed example gave its gold answer no probability: failing is never better than the worst answer."""
    gold = ["yes", "no", "yes", "no"]
    sure = {"no": {"no": 0.9, "yes": 0.1}, "yes": {"no": 0.1, "yes": 0.9}}
    names = ["accuracy", "macro_f1", "log_loss", "calibration_error", "auroc", "mcc"]

    def figures(predictions: list[str | None], probabilities: list[dict[str, float] | None]) -> dict[str, float]:
        found = evaluate_metrics("label", gold, predictions, names, probabilities=probabilities, resamples=0)
        return {name: result.estimate.value or 0.0 for name, result in found.metrics.items()}

    right = figures(["yes", "no", "yes", "no"], [sure[label] for label in gold])
    failed = figures([None, "no", "yes", "no"], [None, *(sure[label] for label in gold[1:])])
    worst = figures(["no", "no", "yes", "no"], [{"no": 1.0, "yes": 0.0}, *(sure[label] for label in gold[1:])])
    for name in ("accuracy", "auroc", "mcc", "macro_f1"):
        assert failed[name] < right[name]
    for name in ("log_loss", "calibration_error"):
        assert failed[name] > right[name]
    assert failed["log_loss"] == pytest.approx(worst["log_loss"])
    assert failed["auroc"] == pytest.approx(worst["auroc"])
    assert failed["accuracy"] == worst["accuracy"] == 0.75
