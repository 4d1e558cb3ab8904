"""Estimates with a machine's labels keep their promise: the true value is within, and they are never wider."""

from __future__ import annotations

import numpy as np
import pytest

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.prediction_powered import (
    Parts,
    Powered,
    judgements_needed,
    macro_f1,
    powered_macro_f1,
    powered_mean,
)

DRAWS = 500


def machine_says(rng: np.random.Generator, truth: IntArray, kind: str) -> IntArray:
    """Draw a machine's labels: good, biased to one of two labels, always wrong, or without any sense."""
    right = np.where(rng.random(len(truth)) < 0.85, truth, 1 - truth)
    biased = np.where(rng.random(len(truth)) < 0.3, 1, right)
    return {"good": right, "biased": biased, "wrong": 1 - right, "useless": rng.integers(0, 2, len(truth))}[kind]


@pytest.mark.parametrize("kind", ["good", "biased", "wrong", "useless"])
@pytest.mark.parametrize(("judged", "others", "share"), [(50, 1000, 0.3), (200, 5000, 0.1)])
def test_shares_are_covered(kind: str, judged: int, others: int, share: float) -> None:
    """Nominal .95 holds at least .93 of the time, and no interval is wider than that of people alone."""
    rng = np.random.default_rng(5)
    within, widths = 0, np.zeros(2)
    for _ in range(DRAWS):
        truth = (rng.random(judged + others) < share).astype(np.int64)
        machine = machine_says(rng, truth, kind).astype(np.float64)
        alone, both = powered_mean(Parts(truth[:judged].astype(float), machine[:judged], machine[judged:], judged))
        within += both.low <= share <= both.high
        widths += alone.width, both.width
        assert both.width <= alone.width
    assert within / DRAWS >= 0.93
    assert widths[1] <= (0.95 if kind == "good" else 1.0) * widths[0]


def confused(rng: np.random.Generator, truth: IntArray, right: float) -> IntArray:
    return np.where(rng.random(len(truth)) < right, truth, rng.choice(3, len(truth), p=[0.6, 0.3, 0.1]))


def test_macro_f1_is_covered() -> None:
    """Also with a class of one in ten, of which a hundred judged items have about ten."""
    rng = np.random.default_rng(6)
    shares = [0.6, 0.3, 0.1]
    many = rng.choice(3, 400_000, p=shares)
    cells = np.zeros((3, 3))
    np.add.at(cells, (many, confused(rng, many, 0.7)), 1 / len(many))
    within, widths = 0, np.zeros(2)
    for _ in range(DRAWS):
        truth = rng.choice(3, 3100, p=shares)
        machine, model = confused(rng, truth, 0.85), confused(rng, truth, 0.7)
        others = (machine[100:], model[100:])
        alone, both = powered_macro_f1(np.eye(3)[truth[:100]], machine[:100], model[:100], others)
        within += both.low <= macro_f1(cells) <= both.high
        widths += alone.width, both.width
    assert within / DRAWS >= 0.93
    assert widths[1] < 0.9 * widths[0]


def cells_of(people: FloatArray, predicted: IntArray) -> FloatArray:
    cells = np.zeros((3, 3))
    for row, code in zip(people, predicted, strict=True):
        cells[:, code] += row / len(people)
    return cells


def test_people_alone_are_scored_as_ever() -> None:
    """The figure from people alone is macro F1 itself."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 3, 60)
    model, machine = confused(rng, truth, 0.6), rng.integers(0, 3, 60)
    alone, _ = powered_macro_f1(np.eye(3)[truth], machine, model, (machine, model))
    assert alone.value == pytest.approx(macro_f1(cells_of(np.eye(3)[truth], model)))


def test_nothing_is_ever_certain() -> None:
    """Where everybody agrees there is still an interval; without further items people alone decide."""
    same = np.ones(12)
    alone, both = powered_mean(Parts(same, same, np.empty(0), 12))
    assert alone == both
    assert 0.7 < alone.low < 0.8 < alone.high == 1.0


def test_more_judgements_are_needed_without_a_machine() -> None:
    """A machine that foretells nine tenths saves most of the work; one that foretells nothing saves none."""
    good, poor = (Powered(0.5, 0.45, 0.55, 0.02, 0.9, 0.25, explained) for explained in (0.9, 0.0))
    alone, together = judgements_needed(good, 1_000_000, 0.01)
    assert alone == 9604
    assert together < 0.12 * alone
    assert judgements_needed(poor, 1_000_000, 0.01) == (alone, alone)
    # Where the machine has labelled few items, what it foretells is not known well enough.
    assert judgements_needed(good, 5_000, 0.01) == (alone, alone)
