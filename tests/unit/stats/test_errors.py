"""Errors of models: planted weak slices are found and nothing else, pairs are tested, confidence is held to people."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from quintain.stats.errors.calibration import calibrate, divergence, rank_correlation
from quintain.stats.errors.disagree import mcnemar, pair_of, parted_slices
from quintain.stats.errors.slices import Sliceable, candidates, weak_slices


def drawn(number: int = 600, seed: int = 0) -> tuple[Sliceable, np.ndarray]:
    """Draw texts of forty words, with a tag that says nothing, and which of them hold "never"."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(f"w{one}" for one in rng.integers(0, 40, 6)) for _ in range(number)]
    never = rng.random(number) < 0.15
    texts = [f"{text} never" if there else text for text, there in zip(texts, never.tolist(), strict=True)]
    tags = [[f"t{one}"] for one in rng.integers(0, 4, number)]
    return Sliceable({"text": texts}, {"tag": tags}), never


def test_a_planted_weakness_is_found_and_chance_is_not() -> None:
    """The word on which the model fails is first; where errors are at random, nothing stands."""
    examples, never = drawn()
    rng = np.random.default_rng(1)
    right = (rng.random(600) < np.where(never, 0.4, 0.85)).astype(float)
    found = weak_slices(candidates(examples), right)
    assert (str(found[0].kind), found[0].name) == ("word in text", "never")
    assert found[0].examples == never.sum()
    assert found[0].accuracy.high is not None
    assert found[0].accuracy.high < found[0].elsewhere
    assert len(found) <= 3
    assert found[0].tested > 40
    assert weak_slices(candidates(examples), (rng.random(600) < 0.8).astype(float)) == []


def false_alarms(accuracy: float, runs: int, *, number: int, seed: int = 0) -> float:
    """Say in what share of runs a slice is shown although errors are at random, over words as frequent as in prose."""
    rng = np.random.default_rng([seed, number])
    frequency = 1 / np.arange(1, 2001)
    words = rng.choice(2000, (number, 12), p=frequency / frequency.sum())
    texts = [" ".join(f"w{one}" for one in row) for row in words.tolist()]
    tags = [[f"t{one}"] for one in rng.integers(0, 12, number)]
    answers = [[f"a{one}"] for one in rng.choice(3, number, p=[0.8, 0.15, 0.05])]
    looked = candidates(Sliceable({"text": texts}, {"tag": tags, "answer": answers}))
    return sum(bool(weak_slices(looked, (rng.random(number) < accuracy) * 1.0)) for _ in range(runs)) / runs


# Of so many runs one in twenty is an alarm at most; the bound leaves room for four deviations of that share.
@pytest.mark.parametrize("accuracy", [0.6, 0.8, 0.9, 0.95, 0.98])
def test_no_slice_is_weak_by_chance(accuracy: float) -> None:
    """Where errors are at random, at most one run in twenty shows a slice, however few the errors are."""
    assert false_alarms(accuracy, 120, number=800) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 120)


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", [0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
@pytest.mark.parametrize("number", [200, 800, 3000])
def test_no_slice_is_weak_by_chance_over_many_runs(accuracy: float, number: int) -> None:
    """The same with two thousand runs, for small and large sets."""
    assert false_alarms(accuracy, 2000, number=number) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 2000)


def test_a_slice_that_says_the_same_is_left_out() -> None:
    """Of a word and a tag with the same examples, one is shown."""
    examples, never = drawn()
    twice = Sliceable(examples.texts, {"tag": [["negation"] if one else [] for one in never.tolist()]})
    right = np.where(never, 0.0, 1.0)
    assert [one.name for one in weak_slices(candidates(twice), right)] == ["negation"]


def test_lengths_are_cut_into_parts() -> None:
    """Where only long texts fail, the longest quarter is found."""
    texts = ["a " * size for size in range(1, 101)] * 3
    right = np.array([float(len(text.split()) <= 75) for text in texts])
    found = weak_slices(candidates(Sliceable({"text": texts})), right)
    assert (str(found[0].kind), found[0].name) == ("length of text", "75–100")


def test_two_models_are_told_apart() -> None:
    """McNemar's p is that of the exact binomial test; the slice in which the second is better is named."""
    examples, never = drawn()
    first, second = np.where(never, 0.0, 1.0), np.where(never, 1.0, 1.0)
    pair = pair_of(first, second, first)
    assert (pair.only_first, pair.only_second, pair.both) == (0, never.sum(), (~never).sum())
    assert pair.p < 1e-6
    assert mcnemar(3, 11) == pytest.approx(scipy.stats.binomtest(3, 14).pvalue)
    assert mcnemar(0, 0) == 1.0
    [best, *_] = parted_slices(candidates(examples), first, second)
    assert best[1] == "never"
    assert parted_slices(candidates(examples), first, first) == []


def test_a_model_that_knows_people_is_calibrated() -> None:
    """True shares as probabilities: no calibration error but noise, entropies that go together, no more than the floor.

    One that is always sure is too sure, and its entropy says nothing.
    """
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([1.0, 1.0, 1.0], 400)
    votes = rng.multinomial(10, shares)
    good = calibrate(shares, votes, resamples=100)
    assert (good.error.value or 0.0) < 0.03
    assert (good.correlation.low or 0.0) > 0.6
    assert good.distance.value == pytest.approx(good.floor, abs=0.03)
    sure = np.full((400, 3), 0.01)
    sure[np.arange(400), shares.argmax(axis=1)] = 0.98
    bad = calibrate(sure, votes, resamples=50)
    assert bad.correlation.value is None
    assert (bad.confidence.value or 0.0) > (bad.people_on_top.high or 1.0) + 0.2
    assert (bad.error.low or 0.0) > (good.error.high or 1.0)
    assert (bad.divergence.value or 0.0) > (good.divergence.value or 0.0)


def test_figures_as_others_compute_them() -> None:
    """Spearman's correlation is scipy's; an answer that the model rules out costs much, and not infinity."""
    rng = np.random.default_rng(2)
    one, other = rng.integers(0, 5, 60).astype(float), rng.normal(size=60)
    assert rank_correlation(one, other) == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    assert 10 < divergence(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))[0] < 40
