"""What holds for every metric, built in or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from quintain.core.task import AnswerType
from quintain.metrics.aligned import Aligned, align
from quintain.metrics.contract import METRICS, Metric
from quintain.metrics.evaluate import default_metrics, evaluate_aligned
from quintain.tasks.contract import KINDS, TaskKind

LABELS = ("no", "maybe", "yes")
TEXTS = ("the cat sat on the mat", "a dog barked at night", "Paris", "1,000 people were there today")


def sample(answer_type: AnswerType, *, n: int = 60, seed: int = 3, perfect: bool = False) -> Aligned:
    """Make examples of one answer type with predictions that are right about half of the time."""
    rng = np.random.default_rng(seed)
    pools: dict[AnswerType, list[Any]] = {
        "label": list(LABELS),
        "choice": [0, 1, 2],
        "token": [0, 1, 2],
        "choices": [[0], [0, 2], [1, 2], []],
        "span": list(TEXTS),
        "text": list(TEXTS),
        "discrete": [[text] for text in TEXTS[:3]] + [["4", "the mat"]],
    }
    pool = pools[answer_type]
    gold = [pool[i] for i in rng.integers(0, len(pool), n)]
    other = [pool[i] for i in rng.integers(0, len(pool), n)]
    said = [
        right if perfect or coin < 0.5 else wrong for right, wrong, coin in zip(gold, other, rng.random(n), strict=True)
    ]
    classes = [str(item) for item in pool] if answer_type in ("label", "choice", "token") else []
    beside: dict[str, Any] = {}
    if classes:
        certain = [{name: float(name == str(right)) for name in classes} for right in gold]
        mixed = [dict(zip(classes, row.tolist(), strict=True)) for row in rng.dirichlet(np.ones(3), n)]
        beside = {"labels": classes, "probabilities": certain if perfect else mixed, "distributions": certain}
    golds = [[text] for text in gold] if answer_type in ("span", "text") else gold
    return align(answer_type, golds, said, **beside)


CASES = [
    pytest.param(name, answer_type, id=f"{name}-{answer_type}")
    for name, metric in METRICS.items()
    for answer_type in metric.answer_types
]


@pytest.mark.parametrize(("name", "answer_type"), CASES)
class TestEveryMetric:
    """One suite over all registered members."""

    def test_it_describes_itself(self, name: str, answer_type: AnswerType) -> None:
        """A metric is known by its own name and says which way is better and what it may be."""
        metric = METRICS.get(name)
        assert metric.name == name
        assert metric.title
        assert metric.better in ("higher", "lower")
        assert metric.range[0] < metric.range[1]
        assert metric.needs

    def test_value_and_interval_are_in_range(self, name: str, answer_type: AnswerType) -> None:
        """The interval holds the value's neighbourhood and stays in the range."""
        estimate = evaluate_aligned(sample(answer_type), [name]).metrics[name].estimate
        low, high = METRICS.get(name).range
        assert estimate.value is not None
        assert estimate.low is not None
        assert estimate.high is not None
        assert low <= estimate.low <= estimate.high <= high
        assert low <= estimate.value <= high

    def test_perfect_answers_get_the_best_value(self, name: str, answer_type: AnswerType) -> None:
        """Predictions that are the gold answers get the best value there is."""
        metric = METRICS.get(name)
        estimate = evaluate_aligned(sample(answer_type, perfect=True), [name]).metrics[name].estimate
        best = metric.range[1] if metric.better == "higher" else metric.range[0]
        assert estimate.value == pytest.approx(best, abs=1e-9)

    def test_the_order_of_examples_does_not_matter(self, name: str, answer_type: AnswerType) -> None:
        """Shuffled examples have the same value."""
        data = sample(answer_type)
        shuffled = data.take(np.random.default_rng(0).permutation(len(data)))
        values = [evaluate_aligned(d, [name], resamples=0).metrics[name].estimate.value for d in (data, shuffled)]
        assert values[0] == pytest.approx(values[1], abs=1e-12)

    def test_the_seed_decides_the_interval(self, name: str, answer_type: AnswerType) -> None:
        """The same seed gives the same interval, whatever else is asked for."""
        data = sample(answer_type)
        alone = evaluate_aligned(data, [name], seed=5).metrics[name].estimate
        beside = evaluate_aligned(data, [*default_metrics(answer_type), name], seed=5).metrics[name].estimate
        assert alone == beside

    def test_a_slice_is_the_metric_on_its_examples(self, name: str, answer_type: AnswerType) -> None:
        """A slice's value is what the metric gives when only its examples are there."""
        data = sample(answer_type)
        half = pl.Series(["a", "b"] * (len(data) // 2))
        sliced = evaluate_aligned(data, [name], by={"half": half}, resamples=0).slices[1]
        alone = evaluate_aligned(data.take(np.arange(1, len(data), 2)), [name], resamples=0)
        assert (sliced.by, sliced.value, sliced.examples) == ("half", "b", 30)
        assert sliced.metrics[name].estimate.value == pytest.approx(alone.metrics[name].estimate.value, abs=1e-12)

    def test_clusters_are_drawn_whole(self, name: str, answer_type: AnswerType) -> None:
        """One cluster says little, however many examples it has: a wide interval or none, never one of no width."""
        data = sample(answer_type)
        one = Aligned(
            data.answer_type,
            data.gold,
            data.predictions,
            data.classes,
            data.probabilities,
            data.distributions,
            np.zeros(len(data), dtype=np.int64),
        )
        estimate = evaluate_aligned(one, [name]).metrics[name].estimate
        low, high = METRICS.get(name).range
        if estimate.low is None or estimate.high is None:
            assert (estimate.low, estimate.high) == (None, None)
        else:
            assert estimate.high - estimate.low > 0.5 * (high - low)

    def test_an_unanswered_example_is_never_better(self, name: str, answer_type: AnswerType) -> None:
        """Taking a right answer away does not improve the value."""
        metric: type[Metric] = METRICS.get(name)
        data = sample(answer_type, perfect=True)
        gone = data.predictions.clone()
        fewer = pl.Series([None, *gone.to_list()[1:]], dtype=gone.dtype)
        worse = Aligned(answer_type, data.gold, fewer, data.classes, data.probabilities, data.distributions)
        before = evaluate_aligned(data, [name], resamples=0).metrics[name].estimate.value
        after = evaluate_aligned(worse, [name], resamples=0).metrics[name].estimate.value
        assert before is not None
        assert after is not None
        assert after <= before + 1e-12 if metric.better == "higher" else after >= before - 1e-12


@pytest.mark.parametrize(("name", "kind"), list(KINDS.items()))
def test_the_metrics_of_every_task_kind_suit_its_answers(name: str, kind: type[TaskKind]) -> None:
    """What a kind of task is scored by exists, and is for its type of answer."""
    for metric in kind.default_metrics:
        assert kind.answer_type in METRICS.get(metric).answer_types, (name, metric)
