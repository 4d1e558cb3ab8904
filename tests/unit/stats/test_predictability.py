"""What an attribute says of a label: nothing by chance, everything where it is the label, and as much as is put in."""

from __future__ import annotations

import numpy as np
import pytest

from quintain.stats import predictability
from quintain.stats.predictability import gain_over_chance, one_hot


def labels(count: int = 3000) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.arange(count) % 3


def test_noise_predicts_nothing() -> None:
    """A value drawn at random is worth less than two points, and a gain is never negative."""
    rng = np.random.default_rng(1)
    for seed in range(5):
        found = gain_over_chance(one_hot(rng.integers(0, 5, 3000)), labels(), seed)
        assert 0 <= found.gain < 0.02
        assert found.chance == pytest.approx(1 / 3)


def test_as_much_as_was_put_in() -> None:
    """An attribute that is the label in half of the rows and random otherwise is right on two thirds."""
    rng = np.random.default_rng(2)
    label = labels()
    told = np.where(rng.random(3000) < 0.5, label, rng.integers(0, 3, 3000))
    assert gain_over_chance(one_hot(told), label, 1).accuracy == pytest.approx(2 / 3, abs=0.03)


def test_rare_values_share_a_column() -> None:
    """Writers of one text each cannot be learned by heart; missing values are a value of their own."""
    many = one_hot(np.arange(500), most=10)
    assert many.shape == (500, 11)
    assert (many.sum(axis=1) == 1).all()
    assert one_hot(np.array([-1, 3, 3])).tolist() == [[0, 1], [1, 0], [1, 0]]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_too_few_rows_say_nothing(count: int) -> None:
    """Nothing can be held out of fewer rows than there are folds."""
    assert gain_over_chance(np.ones((count, 1)), labels(count), 1).gain == 0


@pytest.mark.parametrize(("values", "classes"), [(5, 3), (30, 2)])
def test_both_ways_to_fit_find_the_same(values: int, classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's steps, which are for few weights, end where the general optimiser does."""
    rng = np.random.default_rng(4)
    label, told = rng.integers(0, classes, 300), one_hot(rng.integers(0, values, 300))
    by_newton = predictability._fit(told, label, classes)
    monkeypatch.setattr(predictability, "MOST_NEWTON", 0)
    by_steps = predictability._fit(told, label, classes)
    assert by_newton[1:] == pytest.approx(by_steps[1:], abs=0.01)
