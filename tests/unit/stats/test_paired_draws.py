"""Every pair of systems: against SciPy's permutation test, a bootstrap by hand, and McNemar's exact one."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy

from quintain.metrics.aligned import Aligned, align
from quintain.metrics.contract import METRICS
from quintain.metrics.paired_systems import compare_systems
from quintain.stats import paired_draws
from quintain.stats.bootstrap import Tally
from quintain.stats.paired import examples_to_separate, mcnemar
from quintain.stats.paired_draws import SystemsDrawn, permutation_p


def labelled(n: int, *rights: float, classes: int = 3, groups: int = 0, seed: int = 0) -> list[Aligned]:
    """Make systems that are right so often, on the same gold answers."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, classes, n)
    within = None if not groups else (np.arange(n) % groups).tolist()
    return [
        align(
            "label",
            [f"c{code}" for code in gold],
            [f"c{code}" for code in np.where(rng.random(n) < right, gold, rng.integers(0, classes, n))],
            groups=within,
        )
        for right in rights
    ]


def macro_f1(gold: np.ndarray, predicted: np.ndarray) -> float:
    """Compute the mean of the classes' F1 from its definition."""
    values = []
    for name in np.union1d(gold, predicted):
        right = np.sum((gold == name) & (predicted == name))
        values.append(2 * right / (np.sum(gold == name) + np.sum(predicted == name)))
    return float(np.mean(values))


def by_hand(first: Aligned, second: Aligned, draws: int, groups: np.ndarray | None = None) -> tuple[np.ndarray, float]:
    """Bootstrap and permute macro F1 example by example (or group by group): the differences, and the p."""
    rng = np.random.default_rng(9)
    gold, left, right = (np.array(part.to_list()) for part in (first.gold, first.predictions, second.predictions))
    units = np.arange(len(gold)) if groups is None else groups
    members = [np.flatnonzero(units == unit) for unit in np.unique(units)]
    value = macro_f1(gold, left) - macro_f1(gold, right)
    drawn, as_far = [], 0
    for _ in range(draws):
        rows = np.concatenate([members[at] for at in rng.integers(0, len(members), len(members))])
        drawn.append(macro_f1(gold[rows], left[rows]) - macro_f1(gold[rows], right[rows]))
        swap = rng.integers(0, 2, len(members)).astype(bool)[np.searchsorted(np.unique(units), units)]
        apart = macro_f1(gold, np.where(swap, right, left)) - macro_f1(gold, np.where(swap, left, right))
        as_far += abs(apart) >= abs(value) - 1e-12
    return np.array(drawn), (1 + as_far) / (1 + draws)


def test_accuracy_is_mcnemars_and_scipys() -> None:
    """For right and wrong a permutation test is McNemar's exact one; SciPy's comes to the same."""
    first, second = labelled(300, 0.8, 0.72)
    _, (pair,) = compare_systems(METRICS.get("accuracy")(), [first, second])
    left, right = ((system.gold == system.predictions).to_numpy().astype(float) for system in (first, second))
    theirs = scipy.stats.permutation_test(
        (left, right), lambda a, b: a.mean() - b.mean(), permutation_type="samples", n_resamples=5000, rng=1
    )
    assert pair.p == pytest.approx(mcnemar(left, right).p_value, abs=0.012)
    assert pair.p == pytest.approx(theirs.pvalue, abs=0.025)
    whole = scipy.stats.bootstrap((left - right,), np.mean, method="percentile", n_resamples=5000, rng=1)
    assert pair.difference.low == pytest.approx(whole.confidence_interval.low, abs=0.006)
    assert pair.difference.high == pytest.approx(whole.confidence_interval.high, abs=0.006)
    assert pair.separation.needed == pytest.approx(examples_to_separate(left, right).needed, rel=0.06)


@pytest.mark.parametrize("groups", [0, 60])
def test_macro_f1_is_that_by_hand(groups: int) -> None:
    """A figure that is no mean, with and without groups: draws of cells are draws of examples."""
    first, second = labelled(240, 0.75, 0.65, groups=groups, seed=3)
    _, (pair,) = compare_systems(METRICS.get("macro_f1")(), [first, second])
    drawn, p = by_hand(first, second, 1200, first.groups)
    assert pair.p == pytest.approx(p, abs=0.03)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (pair.difference.low, pair.difference.high) == pytest.approx((low, high), abs=0.015)


@pytest.mark.parametrize("limits", [{"SOME": 0, "CELLS": 0}, {"SOME": 0, "FREQUENT": 1, "MANY": 1}])
def test_every_way_to_draw_comes_to_the_same(monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]) -> None:
    """Units one by one, and sums from their limit, agree with draws of cells."""
    first, second = labelled(1500, 0.8, 0.78, seed=5)
    metric = METRICS.get("macro_f1")()
    tallies = [metric.tally(system) for system in (first, second)]
    value = float(metric.value(tallies[0].totals()) - metric.value(tallies[1].totals()))
    usual = SystemsDrawn(tallies, metric.value, draws=4000).pair(0, 1)
    for name, limit in limits.items():
        monkeypatch.setattr(paired_draws, name, limit)
    other = SystemsDrawn(tallies, metric.value, draws=4000).pair(0, 1)
    assert other.resampled.std() == pytest.approx(usual.resampled.std(), rel=0.06)
    assert other.resampled.mean() == pytest.approx(usual.resampled.mean(), abs=0.002)
    assert other.swapped.std() == pytest.approx(usual.swapped.std(), rel=0.06)
    assert permutation_p(other.swapped, value) == pytest.approx(permutation_p(usual.swapped, value), abs=0.03)


def test_sparse_sums_of_texts_are_drawn_too() -> None:
    """BLEU adds up counts of n-grams: every example differs, and whole groups are swapped."""
    gold = [[f"the cat {number} sat on the mat"] for number in range(80)]
    near = [texts[0] if number % 3 else "the dog sat on it" for number, texts in enumerate(gold)]
    far = [texts[0] if number % 2 else "a bird" for number, texts in enumerate(gold)]
    for groups in (None, [number // 2 for number in range(80)]):
        systems = [align("text", gold, answers, groups=groups) for answers in (near, far)]
        _, (pair,) = compare_systems(METRICS.get("bleu")(), systems, draws=500)
        assert pair.difference.low <= pair.difference.value <= pair.difference.high
        assert pair.p is not None
        assert 0 < pair.p <= 1


def test_few_that_differ_are_counted_exactly() -> None:
    """Three of 100,000 examples tell two systems apart: p is a quarter, which a normal limit would call 0.08."""
    scores = np.ones(100_000)
    worse = scores.copy()
    worse[:3] = 0
    drawn = SystemsDrawn([Tally.of_scores(scores), Tally.of_scores(worse)], lambda totals: totals[..., 0] / 1e5).pair(
        0, 1
    )
    assert permutation_p(drawn.swapped, 3e-5) == pytest.approx(0.25, abs=0.02)


def test_two_that_answer_alike_do_not_differ() -> None:
    """No difference, p of 1, and no number of examples that would show one."""
    first, _ = labelled(200, 0.8, 0.8)
    _, (pair,) = compare_systems(METRICS.get("macro_f1")(), [first, first], draws=500)
    assert (pair.difference.value, pair.difference.low, pair.difference.high) == (0, 0, 0)
    assert (pair.p, pair.separation.needed) == (1.0, None)


def test_there_are_few_false_alarms() -> None:
    """Of systems that are equally good about one in twenty pairs has a p below 0.05, with few examples and groups."""
    metric = METRICS.get("macro_f1")()
    alarms = 0
    for seed in range(120):
        systems = labelled(60, 0.7, 0.7, groups=30 if seed % 2 else 0, seed=seed)
        _, (pair,) = compare_systems(metric, systems, seed=seed, draws=200)
        alarms += pair.p is not None and pair.p <= 0.05
    assert alarms <= 12  # a binomial of 120 and 0.05 exceeds it once in fifty


def test_a_pair_is_the_same_whoever_stands_beside_it() -> None:
    """A third system changes no figure of the first two, and what it alone answers changes no figure either."""
    first, second = labelled(200, 0.8, 0.7)
    strange = align("label", first.gold, ["other" if number % 9 == 0 else "c1" for number in range(200)])
    metric = METRICS.get("macro_f1")()
    alone_values, alone = compare_systems(metric, [first, second], draws=500)
    values, pairs = compare_systems(metric, [first, second, strange], draws=500)
    assert values[:2] == pytest.approx(alone_values)
    assert (pairs[0].p, pairs[0].difference.value) == (alone[0].p, pytest.approx(alone[0].difference.value))
    gold, said = np.array(strange.gold.to_list()), np.array(strange.predictions.to_list())
    assert values[2] == pytest.approx(macro_f1(gold, said))


def test_ten_systems_take_seconds() -> None:
    """Forty-five pairs on 100,000 examples, 10,000 draws: in processor time, which other work does not lengthen."""
    systems = labelled(100_000, *(0.7 + number / 100 for number in range(10)))
    metric = METRICS.get("macro_f1")()
    for system in systems:
        metric.tally(system)
    start = time.process_time()
    _, pairs = compare_systems(metric, systems)
    assert time.process_time() - start < 5
    assert len(pairs) == 45
