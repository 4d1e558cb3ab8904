"""What holds for every aggregator, built in or not."""

from __future__ import annotations

from dataclasses import is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.errors import BadInput, NotFound
from quintain.labels.contract import AGGREGATORS, Aggregated, Known, make_aggregator
from quintain.stats.judgements import Judgements
from tests.properties import examples

NAMES = AGGREGATORS.names()
CLASSES = ("mixed", "negative", "positive")
Row = tuple[str, str, str]


def sample(items: int = 60, workers: int = 12, votes: int = 5, seed: int = 0) -> tuple[list[Row], dict[str, str]]:
    """Make judgements by workers who are right about three times in four, and the truth."""
    rng = np.random.default_rng(seed)
    truth = {f"item{i}": CLASSES[rng.integers(3)] for i in range(items)}
    skill = rng.uniform(0.6, 0.95, workers)
    rows = []
    for item, right in truth.items():
        for worker in rng.choice(workers, votes, replace=False):
            wrong = [name for name in CLASSES if name != right]
            said = right if rng.random() < skill[worker] else wrong[rng.integers(2)]
            rows.append((item, f"worker{worker}", said))
    return rows, truth


def aggregate(name: str, rows: list[Row], truth: dict[str, str], seed: int = 0) -> Aggregated:
    """Aggregate *rows*; the truth of every third item is known as gold, and all of it to the writers."""
    judgements = Judgements.of(*zip(*rows, strict=True), classes=CLASSES)
    codes = np.array([judgements.classes.index(truth[item]) for item in judgements.items])
    gold = np.where(np.arange(len(codes)) % 3 == 0, codes, -1)
    return make_aggregator(name).aggregate(judgements, seed=seed, known=Known(gold=gold, writer=codes))


def by_item(result: Aggregated) -> dict[str, tuple[str | None, float]]:
    """Give label and confidence of each item."""
    return dict(zip(result.items, zip(result.names(), result.confidence.round(6), strict=True), strict=True))


@pytest.mark.parametrize("name", NAMES)
class TestEveryAggregator:
    """One suite over all registered members."""

    def test_it_describes_itself(self, name: str) -> None:
        """An aggregator is a dataclass known by its own name, with a title."""
        kind = AGGREGATORS.get(name)
        assert kind.name == name
        assert len(kind.title) > 10
        assert is_dataclass(kind)

    def test_shapes(self, name: str) -> None:
        """Every item has a label or none, a confidence from 0 to 1, and a distribution that sums to 1."""
        rows, truth = sample()
        result = aggregate(name, rows, truth)
        assert len(result.items) == len(result.label) == len(result.confidence) == 60
        assert result.distribution.shape == (60, 3)
        assert np.allclose(result.distribution.sum(axis=1), 1)
        assert ((result.confidence >= 0) & (result.confidence <= 1)).all()
        assert ((result.label >= -1) & (result.label < 3)).all()

    def test_it_finds_most_of_the_truth(self, name: str) -> None:
        """With five fair workers an item, most labels are right."""
        rows, truth = sample(items=200)
        if name == "mixed-as-two":  # which has no mixed label to give
            rows = [row for row in rows if truth[row[0]] != "mixed"]
        found = by_item(aggregate(name, rows, truth))
        right = [label == truth[item] for item, (label, _) in found.items() if label is not None]
        assert np.mean(right) > 0.85

    def test_the_order_of_rows_does_not_matter(self, name: str) -> None:
        """Shuffled rows give the same labels and confidences, to the last bit."""
        rows, truth = sample(votes=4)
        shuffled = [rows[place] for place in np.random.default_rng(1).permutation(len(rows))]
        assert by_item(aggregate(name, rows, truth)) == by_item(aggregate(name, shuffled, truth))

    def test_names_of_workers_do_not_matter_without_draws(self, name: str) -> None:
        """Workers by other names in the same order judge the same."""
        rows, truth = sample()
        if name == "writer-vote":  # draws by the names
            return
        renamed = [(item, f"x{worker}", label) for item, worker, label in rows]
        assert by_item(aggregate(name, rows, truth)) == by_item(aggregate(name, renamed, truth))

    def test_a_unanimous_item_gets_its_label(self, name: str) -> None:
        """Where all say the same, that is the label."""
        rows, truth = sample()
        truth["sure"] = "positive"
        rows += [("sure", f"worker{worker}", "positive") for worker in range(5)]
        assert by_item(aggregate(name, rows, truth))["sure"][0] == "positive"

    def test_the_same_seed_gives_the_same(self, name: str) -> None:
        """Two runs are equal, and leave the judgements as they were."""
        rows, truth = sample()
        assert by_item(aggregate(name, rows, truth, seed=7)) == by_item(aggregate(name, rows, truth, seed=7))

    def test_few_judgements(self, name: str) -> None:
        """One judgement, one worker, one label in use: there is a result, without a warning."""
        with np.errstate(all="raise", under="ignore"):
            found = by_item(aggregate(name, [("a", "w", "positive")], {"a": "positive"}))
        assert found["a"][0] == "positive"

    def test_items_without_judgements_have_no_label(self, name: str) -> None:
        """An item that was set aside with all its judgements has no label."""
        rows, truth = sample()
        judgements = Judgements.of(*zip(*rows, strict=True), classes=CLASSES)
        codes = np.array([judgements.classes.index(truth[item]) for item in judgements.items])
        rest = judgements.take(judgements.item != 0)
        writer = np.where(np.arange(60) == 0, -1, codes)
        result = make_aggregator(name).aggregate(rest, known=Known(gold=codes, writer=writer))
        assert result.names()[0] is None
        assert None not in result.names()[1:10] or name in ("majority", "writer-vote")

    def test_nothing_to_aggregate_is_named(self, name: str) -> None:
        """Without judgements there is an error, not an empty result."""
        empty = Judgements.of([], [], [], classes=CLASSES)
        with pytest.raises(BadInput, match="no judgements"):
            make_aggregator(name).aggregate(empty, known=Known(np.zeros(0, int), np.zeros(0, int)))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("mixed-as-two", "writer-vote")])
@settings(max_examples=examples(15), deadline=None)
@given(names=st.permutations(["alpha", "beta", "gamma"]), seed=st.integers(0, 5))
def test_labels_may_be_called_anything(name: str, names: list[str], seed: int) -> None:
    """Other names in another order for the same labels give the same posteriors."""
    rows, truth = sample(items=30, seed=seed)
    new = dict(zip(CLASSES, names, strict=True))
    renamed = Judgements.of(*zip(*[(item, worker, new[label]) for item, worker, label in rows], strict=True))
    codes = np.array([renamed.classes.index(new[truth[item]]) for item in renamed.items])
    found = make_aggregator(name).aggregate(renamed, known=Known(gold=np.where(np.arange(30) % 3 == 0, codes, -1)))
    known = aggregate(name, rows, truth)
    order = [found.classes.index(new[label]) for label in CLASSES]
    tolerance = 0.02 if name == "mace" else 1e-6  # its random starts differ
    assert np.allclose(found.distribution[:, order], known.distribution, atol=tolerance)


def test_options_are_checked() -> None:
    """Unknown methods and options are named together with those that there are."""
    with pytest.raises(NotFound, match="Known: dawid-skene"):
        make_aggregator("oracle")
    with pytest.raises(BadInput, match=r"no option 'minimum'.*iterations"):
        make_aggregator("glad", minimum=3)
    for name, options in {
        "majority": {"minimum": 0},
        "dawid-skene": {"smoothing": 0.0},
        "mace": {"restarts": 0},
        "glad": {"iterations": 0},
        "writer-vote": {"sample": 0},
    }.items():
        with pytest.raises(BadInput):
            make_aggregator(name, **options)


@pytest.mark.parametrize(("name", "need"), [("gold-weighted", "gold"), ("writer-vote", "writer")])
def test_what_a_method_needs_is_named(name: str, need: str) -> None:
    """A method that needs gold or writers' labels says so when they are missing or do not fit."""
    judgements = Judgements.of(["a", "b"], ["w", "w"], ["x", "y"])
    with pytest.raises(BadInput, match=f"--{need}"):
        make_aggregator(name).aggregate(judgements)
    with pytest.raises(BadInput, match=f"1 {need} labels for 2 items"):
        make_aggregator(name).aggregate(judgements, known=Known(**{need: np.array([0])}))
