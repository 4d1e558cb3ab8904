"""Metrics of single answers, against values worked out by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.metrics.evaluate import evaluate_metrics

# 6 cats (4 right, 1 dog, 1 fox), 3 dogs (2 right, 1 cat), 1 fox (1 right).
GOLD = ["cat"] * 6 + ["dog"] * 3 + ["fox"]
SAID = ["cat"] * 4 + ["dog", "fox"] + ["dog"] * 2 + ["cat"] + ["fox"]
ALL = ["accuracy", "macro_f1", "micro_f1", "weighted_f1", "class_f1", "balanced_accuracy", "mcc"]


def values(gold: list[str], said: list[str | None], names: list[str], **beside: object) -> dict[str, float | None]:
    """Compute metrics without intervals."""
    result = evaluate_metrics("label", gold, said, names, resamples=0, **beside)  # type: ignore[arg-type]
    return {name: found.estimate.value for name, found in result.metrics.items()}


def test_values_by_hand() -> None:
    """The figures of a small confusion matrix are those worked out on paper."""
    found = values(GOLD, SAID, ALL)
    cat, dog, fox = 8 / 11, 4 / 6, 2 / 3
    assert found["accuracy"] == pytest.approx(0.7)
    assert found["micro_f1"] == pytest.approx(0.7)
    assert found["macro_f1"] == pytest.approx((cat + dog + fox) / 3)
    assert found["class_f1"] == pytest.approx((cat + dog + fox) / 3)
    assert found["weighted_f1"] == pytest.approx((6 * cat + 3 * dog + fox) / 10)
    assert found["balanced_accuracy"] == pytest.approx((4 / 6 + 2 / 3 + 1) / 3)
    # (c·s − Σ p·t) / √((s² − Σ p²)(s² − Σ t²)) with c = 7, s = 10, p = (5, 3, 2), t = (6, 3, 1)
    assert found["mcc"] == pytest.approx((70 - 41) / np.sqrt((100 - 38) * (100 - 46)))


def test_parts_are_the_classes() -> None:
    """F1 by class lists every class with its interval."""
    parts = evaluate_metrics("label", GOLD, SAID, ["class_f1"]).metrics["class_f1"].parts
    assert {name: part.value for name, part in parts.items()} == pytest.approx(
        {"cat": 8 / 11, "dog": 4 / 6, "fox": 2 / 3}
    )
    assert all(part.low is not None and part.high is not None for part in parts.values())


def test_unanswered_examples_are_wrong_for_their_class_only() -> None:
    """A missing answer lowers recall and leaves the precision of all classes alone."""
    found = values(["a", "a", "b"], ["a", None, "b"], ["accuracy", "micro_f1", "macro_f1"])
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["micro_f1"] == pytest.approx(4 / 5)
    assert found["macro_f1"] == pytest.approx((2 / 3 + 1) / 2)


def test_an_answer_outside_the_labels_is_no_class() -> None:
    """With the labels known, a misspelt answer is wrong and does not count as one more class."""
    known = values(["a", "b"], ["a", "bee"], ["macro_f1"], labels=["a", "b"])
    unknown = values(["a", "b"], ["a", "bee"], ["macro_f1"])
    assert known["macro_f1"] == pytest.approx(1 / 2)
    assert unknown["macro_f1"] == pytest.approx(1 / 3)


def test_a_gold_answer_outside_the_labels_is_refused() -> None:
    """Gold answers must be labels of the task."""
    with pytest.raises(BadInput, match="Gold answer 'c' is not one of a, b"):
        values(["a", "c"], ["a", "b"], ["accuracy"], labels=["a", "b"])


def test_matthews_correlation_where_a_side_is_constant() -> None:
    """A constant prediction correlates with nothing (0); a constant gold answer makes it undefined, with a reason."""
    assert values(["a", "b"], ["a", "a"], ["mcc"])["mcc"] == 0.0
    estimate = evaluate_metrics("label", ["a", "a"], ["a", "b"], ["mcc"]).metrics["mcc"].estimate
    assert estimate.value is None
    assert estimate.reason == "all gold answers are of one class"
    assert estimate.as_dict() == {"value": None, "low": None, "high": None, "reason": estimate.reason}


def test_f1_is_macro_f1_for_labels() -> None:
    """The short name stands for the F1 that suits the answers, under the name that was asked for."""
    assert values(GOLD, SAID, ["f1"])["f1"] == values(GOLD, SAID, ["macro_f1"])["macro_f1"]


def test_the_interval_is_that_of_a_share() -> None:
    """The interval of accuracy is the binomial one, within what 1,000 resamples allow."""
    n, right = 10_000, 8_000
    result = evaluate_metrics("label", ["a"] * n, ["a"] * right + ["b"] * (n - right), ["accuracy"], resamples=4000)
    estimate = result.metrics["accuracy"].estimate
    assert estimate.low == pytest.approx(0.8 - 1.96 * 0.004, abs=6e-4)
    assert estimate.high == pytest.approx(0.8 + 1.96 * 0.004, abs=6e-4)


answers = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=40)


@given(answers)
def test_f1_agrees_with_its_definition(pairs: list[tuple[str, str]]) -> None:
    """Macro F1 is the mean over classes of 2·tp / (2·tp + fp + fn), counted naively."""
    gold, said = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    right = Counter(g for g, s in pairs if g == s)
    f1s = [2 * right[c] / (gold.count(c) + said.count(c)) for c in sorted({*gold, *said})]
    found = values(gold, said, ["macro_f1", "accuracy"])
    assert found["macro_f1"] == pytest.approx(sum(f1s) / len(f1s))
    assert found["accuracy"] == pytest.approx(sum(right.values()) / len(pairs))


@given(answers, st.permutations("abcd"))
def test_renaming_the_classes_changes_nothing(pairs: list[tuple[str, str]], names: list[str]) -> None:
    """No class is special."""
    renamed = dict(zip("abcd", names, strict=True))
    before = values([g for g, _ in pairs], [s for _, s in pairs], ALL)
    after = values([renamed[g] for g, _ in pairs], [renamed[s] for _, s in pairs], ALL)
    assert after == pytest.approx(before, nan_ok=True)
