"""The alternative annotator test, beside a computation that goes through it person by person."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from quintain.stats.alternative_annotator import alternative_test, benjamini_yekutieli
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import NONE, Judgements

CLASSES = "abc"


def simulated(seed: int, accuracy: float, items: int = 120, people: int = 5) -> tuple[Judgements, IntArray]:
    """Draw what people of .85 and a machine of *accuracy* say; some people skip some items, and so does the machine."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)

    def said(right: float) -> IntArray:
        return np.where(rng.random(items) < right, truth, rng.integers(0, 3, items))

    answers = {f"p{person}": said(0.85) for person in range(people)}
    rows = [
        (f"i{item:04d}", name, CLASSES[label])
        for name, labels in answers.items()
        for item, label in enumerate(labels)
        if rng.random() < 0.8
    ]
    votes = Judgements.of(*zip(*rows, strict=True), classes=CLASSES)
    machine = said(accuracy)[[int(name[1:]) for name in votes.items]]
    return votes, np.where(rng.random(len(machine)) < 0.95, machine, NONE)


def by_hand(votes: Judgements, machine: IntArray, margin: float) -> dict[str, tuple[int, float, float]]:
    """Go through the test as it is written down: items, advantage and p of each person."""
    labels: dict[int, dict[int, int]] = {}
    for item, worker, label in zip(votes.item, votes.worker, votes.label, strict=True):
        labels.setdefault(int(item), {})[int(worker)] = int(label)
    outcome = {}
    for worker, name in enumerate(votes.workers):
        machine_wins, person_wins = [], []
        for item, given in labels.items():
            rest = [label for other, label in given.items() if other != worker]
            if worker not in given or not rest or machine[item] == NONE:
                continue
            own, other = (np.mean([label == said for label in rest]) for said in (given[worker], machine[item]))
            machine_wins.append(other >= own)
            person_wins.append(own >= other)
        ahead = np.array(person_wins, dtype=float) - np.array(machine_wins, dtype=float)
        p = stats.ttest_1samp(ahead, margin, alternative="less").pvalue
        outcome[name] = (len(ahead), float(np.mean(machine_wins)), float(p))
    return outcome


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_published_test(seed: int) -> None:
    """Items, advantages, p-values and the winning rate are those of a loop over persons and items."""
    votes, machine = simulated(seed, accuracy=0.8)
    outcome = alternative_test(votes, machine, 0.1)
    expected = by_hand(votes, machine, 0.1)
    for person in outcome.persons:
        items, advantage, p = expected[votes.workers[person.worker]]
        assert (person.items, person.advantage) == (items, pytest.approx(advantage))
        assert person.p == pytest.approx(p, abs=1e-12)
    beaten = stats.false_discovery_control([p for *_, p in expected.values()], method="by") <= 0.05
    assert outcome.winning_rate == pytest.approx(beaten.mean())


def test_good_machines_win_and_poor_ones_lose() -> None:
    """One that is right more often than people beats them all; one that guesses beats nobody."""
    assert alternative_test(*simulated(1, accuracy=0.99)).winning_rate == 1.0
    assert alternative_test(*simulated(2, accuracy=0.2)).winning_rate == 0.0


def test_who_shares_few_items_is_not_tested() -> None:
    """Below thirty items nobody is tested; an item with one person tests nobody."""
    votes, machine = simulated(3, accuracy=0.9, items=30)
    assert all(person.items >= 30 for person in alternative_test(votes, machine).persons)
    alone = Judgements.of([f"i{item}" for item in range(50)], ["ann"] * 50, ["a"] * 50)
    assert alternative_test(alone, np.zeros(50, dtype=np.int64)).winning_rate is None


def test_twins_are_beaten_beyond_doubt() -> None:
    """Where the two never differ there is no spread: the margin alone decides."""
    items = [f"i{item:02d}" for item in range(40) for _ in range(2)]
    votes = Judgements.of(items, ["ann", "bob"] * 40, ["a", "b"][:1] * 80)
    machine = np.zeros(40, dtype=np.int64)
    assert [person.p for person in alternative_test(votes, machine, 0.1).persons] == [0.0, 0.0]
    assert [person.p for person in alternative_test(votes, machine, 0.0).persons] == [1.0, 1.0]


def test_benjamini_yekutieli_is_scipys() -> None:
    """Which tests stand is what scipy's adjusted p-values say."""
    p = np.random.default_rng(4).beta(0.3, 2, size=40)
    assert benjamini_yekutieli(p).tolist() == (stats.false_discovery_control(p, method="by") <= 0.05).tolist()
