"""Models against people on the same items: what people reach by their own votes, and the interval of the difference."""

from __future__ import annotations

import numpy as np
import pytest

from quintain.core.errors import BadInput
from quintain.stats.human import synthetic_annotators
from quintain.stats.judgements import Judgements
from quintain.stats.parity import human_rows, macro_f1, parity


def _judgements(votes: np.ndarray) -> Judgements:
    """Spread counts of five votes each over five judges."""
    given = [np.repeat(["a", "b", "c"], counts).tolist() for counts in votes]
    rows = [(f"{item:03d}", f"w{judge}", vote) for item, some in enumerate(given) for judge, vote in enumerate(some)]
    return Judgements.of(*zip(*rows, strict=True))


def test_people_are_what_synthetic_annotators_are_where_four_of_five_agree() -> None:
    """With 5–0 and 4–1 votes no vote decides its own label: both ways of measuring people give the same."""
    rng = np.random.default_rng(4)
    label = np.arange(300) % 3
    votes = np.zeros((300, 3), dtype=np.int64)
    votes[np.arange(300), label] = 5
    for at in np.flatnonzero(rng.random(300) < 0.4):
        votes[at, label[at]] -= 1
        votes[at, (label[at] + 1 + rng.integers(2)) % 3] += 1
    here = parity(label, votes, label, 3).human.value
    paper = synthetic_annotators(_judgements(votes), label, seeds=50)["all"].macro["f1"].value
    assert here is not None
    assert paper is not None
    assert here == pytest.approx(paper, abs=0.002)


def test_nobody_is_measured_by_their_own_vote() -> None:
    """On a 3–2 item each of the three is compared with two against two: half right, as the others are wrong."""
    hits, said, true = np.split(human_rows(np.array([[3, 2]]), 2)[0], 3)
    # three of five meet a tie, two of five meet three against one
    assert hits.tolist() == pytest.approx([0.3, 0.0])
    assert said.tolist() == pytest.approx([0.6, 0.4])
    assert true.tolist() == pytest.approx([0.3 + 0.4, 0.3])


def test_a_better_model_has_a_positive_difference_with_its_interval() -> None:
    """A perfect model is above people who disagree, surely; one that is right half the time is surely below."""
    label = np.arange(240) % 3
    votes = np.zeros((240, 4), dtype=np.int64)
    votes[np.arange(240), label] = 4
    votes[:, 3] = 1
    good = parity(label, votes, label, 3)
    assert good.model.value == 1.0
    assert good.human.value == pytest.approx(2 * 0.8 / 1.8)
    assert good.difference.low is not None
    assert good.difference.low > 0
    bad = parity(label, votes, np.where(np.arange(240) % 2, label, (label + 1) % 3), 3)
    assert bad.difference.high is not None
    assert bad.difference.high < -0.3


def test_an_answer_that_is_missing_counts_against_the_model() -> None:
    """-1 is no label, and so never right."""
    label, votes = np.array([0, 1] * 60), np.array([[5, 0], [0, 5]] * 60)
    full, part = (parity(label, votes, np.where(np.arange(120) < upto, label, -1), 2) for upto in (120, 60))
    assert full.model.value == 1.0
    assert part.model.value == pytest.approx(2 / 3)


def test_items_with_one_vote_say_nothing_about_people() -> None:
    """They are left out; where there are no others, there is no figure and a reason."""
    found = parity(np.array([0, 1]), np.array([[1, 0], [0, 1]]), np.array([0, 1]), 2)
    assert (found.items, found.human.value, found.difference.low) == (0, None, None)
    assert found.human.reason
    with pytest.raises(BadInput):
        parity(np.array([0]), np.array([[5, 0]]), np.array([0, 1]), 2)


def test_a_class_that_never_occurs_is_left_out() -> None:
    """Macro F1 is over the classes that occur in labels or answers."""
    assert float(macro_f1(np.array([2.0, 0, 2.0, 0, 2.0, 0]))) == 1.0
    assert np.isnan(macro_f1(np.zeros(6)))
