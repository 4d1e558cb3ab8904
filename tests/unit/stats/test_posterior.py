"""Intervals from few examples: honest where a bootstrap would see nothing vary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from quintain.metrics.aligned import align
from quintain.metrics.contract import METRICS
from quintain.metrics.evaluate import evaluate_metrics
from quintain.metrics.flips import unchanged_share
from quintain.metrics.paired import paired_metric
from quintain.stats.bootstrap import Tally
from quintain.stats.posterior import FEW, Draws, mean_estimate, posterior_totals
from quintain.stats.ranking import rank_uncertainty

LABELS = ("a", "b", "c", "d", "e")


@given(st.integers(1, FEW - 1), st.data())
def test_a_share_of_few_has_jeffreys_interval(total: int, data: st.DataObject) -> None:
    """Few right and wrong answers give the posterior of Jeffreys' prior, whose ends the draws meet."""
    hits = data.draw(st.integers(0, total))
    found = mean_estimate([1.0] * hits + [0.0] * (total - hits), resamples=4000)
    low, high = stats.beta(hits + 0.5, total - hits + 0.5).ppf([0.025, 0.975])
    assert found.low == pytest.approx(min(low, hits / total), abs=0.035)
    assert found.high == pytest.approx(max(high, hits / total), abs=0.035)


@pytest.mark.parametrize("total", [1, 7, 60, 1000])
def test_no_interval_has_no_width(total: int) -> None:
    """All right is not certainly always right, at one example or at a thousand; more of them say more."""
    found = mean_estimate(np.ones(total))
    assert found.high == 1.0
    assert found.low is not None
    assert 1 - found.low == pytest.approx(1 - stats.beta(total + 0.5, 0.5).ppf(0.025), rel=0.25)


@pytest.mark.parametrize(("examples", "apart"), [(200, 0.01), (20_000, 0.0015)])
def test_with_many_examples_the_interval_is_the_bootstraps(examples: int, apart: float) -> None:
    """The posterior is taken at any size, and comes to the percentile bootstrap as examples grow."""
    scores = np.random.default_rng(3).random(examples).round(1)
    drawn = Tally.of_scores(scores).resampled(4000, np.random.default_rng(7))
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    found = mean_estimate(scores, seed=7, resamples=4000)
    assert (found.low, found.high) == (pytest.approx(low, abs=apart), pytest.approx(high, abs=apart))


def test_one_more_example_does_not_widen_an_interval() -> None:
    """No number of examples is a border: the interval of macro F1 shrinks evenly from 47 to 52 examples."""
    chance = np.random.default_rng(5)
    widths = {}
    for examples in range(46, 54):
        found = []
        for _ in range(25):
            gold = chance.choice(3, examples, p=[0.8, 0.15, 0.05])
            said = np.where(chance.random(examples) < 0.8, gold, chance.integers(0, 3, examples))
            result = evaluate_metrics("label", [str(one) for one in gold], [str(one) for one in said], ["macro_f1"])
            estimate = result.metrics["macro_f1"].estimate
            assert estimate.low is not None
            assert estimate.high is not None
            found.append(estimate.high - estimate.low)
        widths[examples] = np.mean(found)
    early, late = np.mean([widths[n] for n in range(46, 50)]), np.mean([widths[n] for n in range(50, 54)])
    assert late < early * 1.03


CASES = [
    ([0.4, 0.35, 0.25], 0.8),
    ([0.8, 0.2], 0.9),
    ([0.3, 0.3, 0.2, 0.1, 0.1], 0.7),
    pytest.param([0.4, 0.35, 0.25], 0.95, marks=pytest.mark.slow),
    pytest.param([0.6, 0.3, 0.1], 0.6, marks=pytest.mark.slow),
    pytest.param([0.5, 0.5], 0.7, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("examples", [5, 8, 15, 40])
@pytest.mark.parametrize(("classes", "right"), CASES)
def test_intervals_of_few_examples_hold_the_truth(classes: list[float], right: float, examples: int) -> None:
    """Drawn from a known truth, the 95 % intervals of accuracy and macro F1 hold it nine times in ten or more."""
    size = len(classes)
    truth = np.array(classes)[:, None] * np.where(np.eye(size) > 0, right, (1 - right) / (size - 1))
    f1 = float(np.mean(2 * np.diag(truth) / (truth.sum(axis=0) + truth.sum(axis=1))))
    rng, trials = np.random.default_rng(examples), 150
    held = {"accuracy": 0, "macro_f1": 0}
    for _ in range(trials):
        gold, said = np.divmod(rng.choice(size * size, size=examples, p=truth.ravel()), size)
        found = evaluate_metrics(
            "label",
            [LABELS[place] for place in gold],
            [LABELS[place] for place in said],
            list(held),
            labels=LABELS[:size],
            resamples=300,
        )
        for name, value in (("accuracy", right), ("macro_f1", f1)):
            estimate = found.metrics[name].estimate
            assert estimate.low is not None
            assert estimate.high is not None
            held[name] += estimate.low <= value <= estimate.high
    # A true coverage of 0.92 is seen at or above 0.88 in 150 trials 97 times in 100.
    assert min(held.values()) / trials >= 0.88, held


def test_a_set_of_one_class_says_little_of_a_macro_average() -> None:
    """A model that says one label is right on eight rows of that label; what it does on others is not known."""
    found = evaluate_metrics("label", ["a"] * 8, ["a"] * 8, ["macro_f1", "class_f1"], labels=["a", "b", "c"])
    estimate = found.metrics["macro_f1"].estimate
    assert estimate.value == estimate.high == 1.0
    assert estimate.low is not None
    assert estimate.low < 0.75
    assert found.metrics["class_f1"].parts["b"].value is None


def test_eight_rows_do_not_make_a_leader_certain() -> None:
    """One example more right of eight leaves the order open, and two models alike are even."""
    answers = [["a"] * 8, ["a"] * 7 + ["b"], ["a"] * 7 + ["b"]]
    metric = METRICS.get("accuracy")()
    tallies = [metric.tally(align("label", ["a"] * 8, said, labels=["a", "b"])) for said in answers]
    drawn = np.column_stack([metric.value(totals) for totals in posterior_totals(tallies)])
    found = rank_uncertainty(drawn, [1.0, 0.875, 0.875])
    assert 0.7 < found.above[0, 1] < 0.9
    assert found.above[1, 2] == 0.5
    assert (found.low[0], found.high[0]) == (1, 3)


@pytest.mark.parametrize("apart", [1, 2, 4, 8])
def test_an_order_is_as_sure_as_the_examples_that_differ(apart: int) -> None:
    """Two models that differ on a few of eight examples: as sure as Jeffreys' posterior of who wins those is."""
    metric = METRICS.get("exact_match")()
    right = [["yes"]] * 8
    answers = [["yes"] * 8, ["no"] * apart + ["yes"] * (8 - apart)]
    tallies = [metric.tally(align("text", right, said)) for said in answers]
    one, two = (metric.value(totals) for totals in posterior_totals(tallies, resamples=20_000))
    expected = float(stats.beta(apart + 0.5, 0.5).sf(0.5))
    assert float((one > two).mean()) == pytest.approx(expected, abs=0.02)


def test_two_models_that_are_always_right_differ_by_something_unknown() -> None:
    """The difference of two perfect models on eight examples has a width, and says nothing for either."""
    one = align("label", ["a", "b"] * 4, ["a", "b"] * 4, labels=["a", "b"])
    two = align("label", ["a", "b"] * 4, ["a", "b"] * 3 + ["a", "a"], labels=["a", "b"])
    found = paired_metric(METRICS.get("accuracy")(), one, two)
    assert found.difference.low is not None
    assert found.difference.high is not None
    assert found.difference.low < 0 < found.difference.high
    assert found.p_value > 0.05


def test_unchanged_answers_to_few_rows_leave_room() -> None:
    """Twelve variants of six examples, none of which flipped, are no certainty that none ever would."""
    families = ["typos", "case"] * 6
    found = unchanged_share(np.ones(12, dtype=bool), families, clusters=np.repeat(np.arange(6), 2))
    assert found.share.value == found.share.high == 1.0
    assert found.share.low == pytest.approx(float(stats.beta(6.5, 0.5).ppf(0.025)), abs=0.06)
    assert len(found.drawn) == 1000
    assert found.drawn.min() < 1.0
    assert all(part.low is not None and part.low < 1.0 for part in found.families.values())


def test_a_figure_without_ends_has_no_interval_where_nothing_varied() -> None:
    """Log loss of one example: no interval at all rather than one of no width."""
    found = evaluate_metrics("label", ["a"], ["a"], ["log_loss"], probabilities=[{"a": 0.8, "b": 0.2}])
    estimate = found.metrics["log_loss"].estimate
    assert estimate.value == pytest.approx(-np.log(0.8))
    assert (estimate.low, estimate.high) == (None, None)


def test_no_resamples_no_interval() -> None:
    """Without resamples there are values only."""
    drawn = Draws(Tally.of_scores(np.ones(3), (0.0, 1.0)), resamples=0)
    assert drawn.estimate(lambda totals: totals[..., 0] / totals[..., 1], "").as_dict() == {
        "value": 1.0,
        "low": None,
        "high": None,
    }
