"""Arms beside each other: gaps, intervals over writers, and tests that deal the writers out anew."""

from __future__ import annotations

import numpy as np
import pytest

from quintain.core.errors import BadInput
from quintain.protocols.justifications import quality, repeats
from quintain.stats.arms import EVERYTHING, ArmItems, agreement, compare, figures, sum_arm
from quintain.stats.judgements import Judgements


def arm(name: str, wrong: float, seed: int, *, votes: int = 10, items: int = 120) -> ArmItems:
    """Make an arm of twelve writers whose items a model gets wrong with a chance that differs from writer to writer."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), votes)
    worker = np.tile(np.arange(votes), items)
    label = rng.integers(0, 2, items)
    said = np.where(rng.random(len(item)) < 0.08, 1 - label[item], label[item])
    writer = np.arange(items) % 12
    chance = np.clip(wrong + rng.normal(0, 0.03, 12), 0, 1)[writer]
    model = np.where(rng.random(items) < chance, 1 - label, label)
    names = [f"i{number:04d}" for number in range(items)]
    judged = Judgements.from_codes(item, worker, said, names, [f"j{one:02d}" for one in range(votes)], ("a", "b", "z"))
    return ArmItems(name, judged, label, writer, {"model_1": model, "model_2": model}, 2)


def test_a_large_difference_is_seen_and_none_is_not() -> None:
    """Thirty points are beyond doubt; two arms of one kind are not told apart."""
    hard, easy, same = (sum_arm(arm(*one), seeds=5) for one in (("hard", 0.4, 1), ("easy", 0.1, 2), ("same", 0.1, 3)))
    seen = compare(hard, easy, "all", "model")
    assert seen.difference.value == pytest.approx(0.3, abs=0.1)
    assert seen.p is not None
    assert seen.p < 0.01
    unseen = compare(easy, same, "all", "model")
    assert unseen.p is not None
    assert unseen.p > 0.05
    assert compare(hard, easy, "all", "other").p is None


def test_writers_are_what_is_resampled() -> None:
    """Where all items of a writer go together, the interval is wider than items alone would make it."""
    one = arm("a", 0.2, 4)
    together = {name: np.where(one.writer < 3, 1 - one.label, one.label) for name in one.predictions}
    grouped = ArmItems(one.name, one.judgements, one.label, one.writer, together, one.invalid)
    alone = ArmItems(one.name, one.judgements, one.label, np.arange(len(one.label)), together, one.invalid)
    widths = []
    for each in (grouped, alone):
        found = figures(sum_arm(each, seeds=3), EVERYTHING).models["model"]
        assert found.low is not None
        assert found.high is not None
        widths.append(found.high - found.low)
    assert widths[0] > 1.5 * widths[1]


def test_runs_of_one_model_are_one_family_with_their_deviation() -> None:
    """Two runs that say the same have the deviation 0; items without enough votes do not measure people."""
    found = figures(sum_arm(arm("a", 0.2, 5, votes=3), seeds=2), EVERYTHING)
    assert found.runs == {"model": 0.0}
    assert found.human.value is None
    assert figures(sum_arm(arm("a", 0.2, 5), seeds=2), "all").human.value > 0.9  # type: ignore[operator]


def test_the_writer_is_a_rater_and_nothing_judged_is_refused() -> None:
    """A writer who always agrees raises α; an arm without judgements has none."""
    one = arm("a", 0.2, 6)
    without = ArmItems(one.name, one.judgements, one.label, one.writer, {}, 2, writer_votes=False)
    assert agreement(one, resamples=0).value > agreement(without, resamples=0).value  # type: ignore[operator]
    nothing = ArmItems("b", one.judgements.take(np.zeros(0, dtype=np.int64)), one.label, one.writer)
    with pytest.raises(BadInput, match="Nothing of the arm 'b' was judged"):
        sum_arm(nothing)


def test_justifications_that_repeat_others_or_say_nothing_are_counted() -> None:
    """Two of four are the same sentence, and one more is too short."""
    pasted = "Good and deep knowledge is needed to answer this question."
    own = "The baker turned the sheet because the ice never held, which only the last clause gives away."
    found = quality([pasted, pasted.upper(), own, "It is hard."])
    assert found.duplicates.value == 0.5
    assert found.trivial.value == 0.75
    assert repeats(pasted.lower(), [own, pasted])
    assert not repeats(own, [pasted])


def test_one_writer_is_no_certainty_of_the_next() -> None:
    """Figures of a single writer, or of writers who are all right, have an interval with width that holds them."""
    one = arm("a", 0.2, 6)
    alone = ArmItems(one.name, one.judgements, one.label, np.zeros_like(one.label), one.predictions, one.invalid)
    right = ArmItems(one.name, one.judgements, one.label, one.writer, {"model": one.label}, one.invalid)
    for each in (alone, right):
        found = figures(sum_arm(each, seeds=3), "all")
        for figure in (found.human, found.models["model"], found.gaps["model"]):
            assert figure.value is not None
            assert figure.low is not None
            assert figure.high is not None
            assert figure.low <= figure.value <= figure.high
            assert figure.high - figure.low > 0.02
    difference = compare(sum_arm(alone, seeds=3), sum_arm(right, seeds=3), "all", "model").difference
    assert difference.low is not None
    assert difference.high is not None
    assert difference.high - difference.low > 0.02


def test_deals_that_leave_an_arm_without_items_say_nothing() -> None:
    """Where a deal of the writers may leave one side empty, the test and what it would show are numbers still."""
    first, second = (
        ArmItems(one.name, one.judgements, one.label, (np.arange(len(one.label)) > 0).astype(np.int64), one.predictions)
        for one in (arm("a", 0.2, 6, items=30), arm("b", 0.3, 7, items=30))
    )
    sums = [sum_arm(one, seeds=3) for one in (first, second)]
    for one in sums:  # the second writer of each arm has nothing that was judged often
        one.items["all"][0] = one.human["all"][0] = one.models["all"]["model"][0] = one.asked["all"]["model"][0] = 0.0
    found = compare(*sums, "all", "model")
    assert found.p is not None
    assert found.edge is not None
    assert np.isfinite([found.p, found.edge]).all()
