"""Contrast sets: the figures, and what must hold of them whatever the answers are."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.stats.contrast import Members, consistent_sets, contrast_by, contrast_estimates
from quintain.stats.grading import Grading
from tests.properties import examples

# Each set: is the original right, and are its neighbours.
SETS = st.lists(st.tuples(st.booleans(), st.lists(st.booleans(), min_size=1, max_size=4)), min_size=1, max_size=12)


def members(sets: list[tuple[bool, list[bool]]], order: list[int] | None = None) -> Members:
    """Put sets into arrays, in another order where one is given."""
    rows = [
        (right, name, place == 0)
        for name, (first, others) in enumerate(sets)
        for place, right in enumerate([first, *others])
    ]
    rows = [rows[at] for at in order] if order else rows
    right, names, original = zip(*rows, strict=True)
    return Members.of(right, right, names, original)


@given(SETS)
@settings(max_examples=examples(60), deadline=None)
def test_consistency_is_at_most_either_score(sets: list[tuple[bool, list[bool]]]) -> None:
    """A set that is right as a whole has its original right, and all of its neighbours."""
    found = contrast_estimates(members(sets), resamples=0)
    by_set = np.mean([np.mean(others) for _, others in sets])

    assert found.consistency.value is not None
    assert found.original.value is not None
    assert found.consistency.value <= found.original.value + 1e-12
    assert found.consistency.value <= by_set + 1e-12


@given(SETS, st.randoms(use_true_random=False))
@settings(max_examples=examples(40), deadline=None)
def test_the_order_of_the_members_does_not_matter(sets: list[tuple[bool, list[bool]]], rng: random.Random) -> None:
    """Members may stand in any order in the file."""
    straight = members(sets)
    order = list(range(len(straight.score)))
    rng.shuffle(order)
    first, second = (contrast_estimates(one, resamples=0) for one in (straight, members(sets, order)))

    for name in ("original", "contrast", "difference", "consistency"):
        assert first[name].value == pytest.approx(second[name].value)


def test_figures_and_intervals() -> None:
    """Sixty sets, half of them right as a whole: the figures, with intervals that hold them and are not points."""
    found = contrast_estimates(members([(True, [True]), (True, [False])] * 30))

    assert (found.original.value, found.contrast.value, found.consistency.value) == (1.0, 0.5, 0.5)
    assert found.difference.value == -0.5
    for estimate in (found.contrast, found.consistency, found.difference):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < estimate.value < estimate.high


def test_intervals_are_of_sets() -> None:
    """Ten sets with five neighbours each that stand or fall together say no more than ten with one neighbour."""
    alone = contrast_estimates(members([(True, [True]), (True, [False])] * 40))
    copied = contrast_estimates(members([(True, [True] * 5), (True, [False] * 5)] * 40))

    def width(estimate: object) -> float:
        return float(estimate.high - estimate.low)  # type: ignore[attr-defined]

    assert width(copied.contrast) == pytest.approx(width(alone.contrast), rel=0.15)


def test_a_tag_is_measured_against_the_originals_of_its_sets() -> None:
    """A neighbour counts under each of its tags, beside its own original; other neighbours do not count."""
    data = members([(True, [True, False]), (False, [True])])
    parts, _ = contrast_by(data, [[], ["negation"], ["negation", "number"], [], ["negation"]], resamples=0)

    negation, number = parts["negation"], parts["number"]
    assert (negation.examples, negation.sets, negation.original, negation.consistency) == (3, 2, 0.5, 0.0)
    assert negation.contrast == pytest.approx(2 / 3)
    assert (number.examples, number.sets, number.original, number.contrast, number.consistency) == (1, 1, 1.0, 0.0, 0.0)


def test_sets_that_hold() -> None:
    """Which sets break a model can be told one by one."""
    assert consistent_sets(members([(True, [True]), (True, [False]), (False, [True])])).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("metric", "said", "gold", "score", "right"),
    [
        ("accuracy", "yes", "yes", 1.0, True),
        ("accuracy", 1, "1", 1.0, True),
        ("accuracy", "Yes", "yes", 0.0, False),
        ("accuracy", "b", ["a", "b"], 1.0, True),
        ("exact_match", " Mercury", ["mercury"], 1.0, True),
        ("exact_match", "the past", "past", 0.0, False),
        ("f1", "the past", "past", 1.0, True),
        ("f1", "a b c d", "b c d x y z", 0.6666666666666666, False),
        ("f1", "p q r s t", "p q r s x", 0.8, False),
        ("set_exact_match", ["b", "a"], ["a", "b"], 1.0, True),
        ("set_exact_match", ["a"], ["a", "b"], 0.0, False),
        ("set_exact_match", [], [], 1.0, True),
        ("f1", None, "past", 0.0, False),
    ],
)
def test_grades(metric: str, said: object, gold: object, score: float, right: bool) -> None:
    """Each metric grades in its own way; F1 has to be above the threshold, not at it."""
    grade = Grading(metric)(said, gold)

    assert grade.score == pytest.approx(score)
    assert grade.right is right


def test_squads_normalisation_can_be_asked_for() -> None:
    """Articles and punctuation count in an exact match, unless they are to be left aside."""
    assert Grading("exact_match", normalise="squad")("the past.", "past").right


@pytest.mark.parametrize(
    "wrong",
    [{"metric": "bleu"}, {"threshold": 1.0}, {"threshold": -0.1}, {"threshold": float("nan")}, {"normalise": "x"}],
)
def test_a_grading_that_cannot_be(wrong: dict[str, object]) -> None:
    """Unknown names, and a threshold that nothing or everything is above, are refused."""
    with pytest.raises(BadInput):
        Grading(**wrong)  # type: ignore[arg-type]
