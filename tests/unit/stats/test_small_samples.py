"""Figures from few examples, or from examples that are all alike: none is certain, wherever it is reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from quintain.core.records.figures import Estimate
from quintain.stats.agreement import measure_agreement
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.people import order_effect
from quintain.stats.by_class import scores_by_class
from quintain.stats.contrast import Members, contrast_estimates
from quintain.stats.errors.calibration import calibrate
from quintain.stats.errors.disagree import pair_of
from quintain.stats.human import Spread, held_out_majority, synthetic_annotators
from quintain.stats.judgements import Judgements
from quintain.stats.parity import parity


def _width(figure: Estimate | Spread) -> float:
    """Return how wide an interval is, which holds its figure."""
    assert figure.low is not None
    assert figure.high is not None
    assert figure.value is not None
    assert figure.low <= figure.value <= figure.high
    return figure.high - figure.low


def _all_alike(items: int, label: str = "a") -> Judgements:
    return Judgements.of(
        *zip(*[(f"i{item}", f"w{judge}", label) for item in range(items) for judge in range(5)], strict=True)
    )


@pytest.mark.parametrize("first", [0.0, 1.0])
def test_two_models_that_never_differed_or_always_may_yet(first: float) -> None:
    """On thirty examples alike the difference has an interval with a width that holds it, and so it has on one."""
    for number in (1, 30):
        right, other = np.full(number, first), np.zeros(number)
        found = pair_of(right, other, right).difference
        assert found.value == first
        assert found.low is not None
        assert found.high is not None
        assert -1 <= found.low <= first <= found.high <= 1
        assert found.high - found.low > 0.05


@pytest.mark.parametrize("items", [8, 30])
def test_people_who_only_ever_said_one_label_may_yet_say_another(items: int) -> None:
    """Agreement that is unanimous on one label has the interval of as many items on two, and κ stays undefined."""
    found = measure_agreement(_all_alike(items)).statistics
    rows = [(f"i{item}", f"w{judge}", "ab"[item % 2]) for item in range(items) for judge in range(5)]
    two = measure_agreement(Judgements.of(*zip(*rows, strict=True))).statistics
    for name in ("percent_agreement", "unanimous", "four_fifths"):
        assert _width(found[name]) == pytest.approx(_width(two[name]), abs=0.05)
    assert found["gwet_ac1"].value is None
    assert found["krippendorff_alpha"].value is None


@pytest.mark.parametrize("labels", [("a",), ("a", "b")])
def test_annotators_of_one_class_are_not_perfect_for_ever(labels: tuple[str, ...]) -> None:
    """Also where gold is of one class, with another in use or not, every score has an interval with a width."""
    votes = [(f"i{item}", f"w{judge}", "a") for item in range(8) for judge in range(5)]
    votes += [("i9", f"w{judge}", label) for judge, label in enumerate("aaab" if "b" in labels else "aaaa")]
    judgements = Judgements.of(*zip(*votes, strict=True))
    gold = np.zeros(len(judgements.items), dtype=np.int64)
    found = synthetic_annotators(judgements, gold, seeds=20)["all"]
    figures: list[Spread] = [found.accuracy, *found.macro.values(), *found.classes["a"].values()]
    assert all(_width(figure) > 0.02 for figure in figures)
    assert found.accuracy.low is not None
    assert found.accuracy.low > 0.5
    held = held_out_majority(_all_alike(8), np.full(8, -1) + np.arange(8) // 4, seeds=20, sample=2)
    assert all(_width(one.accuracy) > 0.02 for one in held.values())


def _figures(counts: list[list[int]]) -> Iterator[Estimate]:
    scores, macro = scores_by_class(["a", "b"], counts, [0, 0])
    yield macro
    for score in scores:
        yield from (figure for figure in (score.precision, score.recall, score.f1) if figure.value is not None)


@pytest.mark.parametrize("counts", [[[1, 0], [0, 0]], [[4, 0], [0, 4]], [[0, 1], [0, 0]]])
def test_the_f1_of_a_class_is_as_open_as_the_metrics_have_it(counts: list[list[int]]) -> None:
    """One row, or eight that are all right, leave F1 and its mean open."""
    for figure in _figures(counts):
        assert _width(figure) > 0.2


@pytest.mark.parametrize("examples", [30, 80])
def test_the_mean_f1_holds_the_truth(examples: int) -> None:
    """On skewed classes nine of ten intervals hold what is true, and more; resampled tables came to eight."""
    truth = np.array([[0.76, 0.03, 0.01], [0.02, 0.12, 0.01], [0.01, 0.01, 0.03]])
    f1 = float((2 * np.diag(truth) / (truth.sum(axis=0) + truth.sum(axis=1))).mean())
    rng, held = np.random.default_rng(0), 0
    for seed in range(120):
        counts = rng.multinomial(examples, truth.ravel()).reshape(3, 3)
        macro = scores_by_class(["a", "b", "c"], counts.tolist(), [0, 0, 0], seed=seed)[1]
        assert macro.low is not None
        assert macro.high is not None
        held += macro.low <= f1 <= macro.high
    assert held >= 0.9 * 120


@pytest.mark.parametrize("sets", [1, 3, 60])
def test_no_difference_on_few_sets_is_no_certainty(sets: int) -> None:
    """Sets that are all right have a difference of 0 between originals and neighbours, give or take."""
    members = Members.of([1.0] * 2 * sets, [True] * 2 * sets, np.repeat(np.arange(sets), 2), [True, False] * sets)
    found = contrast_estimates(members)
    assert found.difference.value == 0.0
    assert found.difference.low is not None
    assert found.difference.high is not None
    assert found.difference.low < 0 < found.difference.high
    assert _width(found.difference) < 4 / sets


def test_the_difference_of_many_sets_is_the_bootstraps() -> None:
    """With 400 sets what is not known makes next to no difference."""
    rng = np.random.default_rng(3)
    right = rng.random((400, 2)) < [0.9, 0.6]
    members = Members.of(right.ravel(), right.ravel(), np.repeat(np.arange(400), 2), [True, False] * 400)
    apart = right[:, 1].astype(float) - right[:, 0]
    error = apart.std() / np.sqrt(400)
    assert _width(contrast_estimates(members).difference) == pytest.approx(2 * 1.96 * error, rel=0.1)


@pytest.mark.parametrize("items", [60, 200])
def test_a_model_that_was_always_right_is_not_sure_to_be(items: int) -> None:
    """Also from fifty items on, where a bootstrap of all alike comes to the same every time."""
    label = np.arange(items) % 2
    found = parity(label, 5 * np.eye(2, dtype=np.int64)[label], label, 2)
    assert min(_width(figure) for figure in (found.human, found.model, found.difference)) > 0.01


def test_calibration_on_examples_that_are_all_alike() -> None:
    """Shares have an interval with a width; what has no upper end has none where nothing varied, as have bins."""
    votes = np.tile([5, 0], (20, 1))
    found = calibrate(np.tile([0.9, 0.1], (20, 1)), votes)
    assert min(_width(figure) for figure in (found.distance, found.people_on_top, found.confidence)) > 0.02
    assert (found.divergence.low, found.error.low) == (None, None)
    assert all(_width(part.people) > 0.02 for part in found.bins)


def _order(contexts: int, texts: list[str]) -> Any:
    groups = np.repeat(np.arange(contexts), len(texts))
    examples = Examples(
        {"text": texts * contexts}, np.arange(len(groups)) % 2, ["x", "y"], context=[str(group) for group in groups]
    )
    return order_effect(examples, texts * contexts)


def test_texts_that_always_grow_within_few_contexts() -> None:
    """A correlation of 1 over five contexts has an interval, and texts of one length have no correlation."""
    found = _order(5, ["a", "a b", "a b c"])
    assert found.length.value == pytest.approx(1.0)
    assert _width(found.length) > 0.1
    assert _order(5, ["a b", "c d"]).length.value is None
