"""Data sets beside each other: what is planted is found, sizes do not matter, tests say what others say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from quintain.core.records.study import TransferCell
from quintain.stats.arms import figures
from quintain.stats.artefacts.examples import Examples
from quintain.stats.comparing.compared import ComparedSet, people_and_models
from quintain.stats.comparing.coverage import coverage, tag_shares
from quintain.stats.comparing.transfer import Transfer, TransferRows, clustered_mean
from quintain.stats.comparing.variety import variety
from quintain.stats.two_samples import brunner_munzel, standardised_difference

LABELS = ["no", "yes"]


def reviews(number: int, cue: tuple[str, str], seed: int, labels: list[str] = LABELS) -> Examples:
    """Draw texts in which one of two words tells the label, four texts to a context."""
    rng = np.random.default_rng(seed)
    answer = rng.integers(0, 2, number)
    texts = [f"{' '.join(f'w{one}' for one in rng.integers(0, 50, 5))} {cue[code]}" for code in answer.tolist()]
    return Examples({"text": texts}, answer, labels, (), [f"c{at // 4}" for at in range(number)])


def cells(wanted: Transfer) -> dict[tuple[str, str], TransferCell]:
    """Give the matrix by its sides."""
    rows = TransferRows(wanted)
    return {(cell.train, cell.test): cell for name in wanted.rows for cell in rows.row(name)}


def test_what_carries_over_is_found() -> None:
    """Two data sets with the same cue teach each other; the third, whose cue is turned round, teaches the opposite."""
    one, other = reviews(120, ("dull", "good"), 1), reviews(160, ("dull", "good"), 2, ["no", "yes"])
    turned = reviews(120, ("good", "dull"), 3)
    found = cells(Transfer({"one": one, "turned": turned}, {"other": other}, seeds=2))
    assert [(name, cell.outside) for (name, _), cell in found.items()][:2] == [("other", True)] * 2
    assert found["other", "one"].accuracy.value == 1.0
    assert (found["other", "turned"].accuracy.value or 0.0) < 0.2
    assert found["one", "one"].own
    assert (found["one", "one"].accuracy.value, len(found["one", "one"].runs)) == (1.0, 2)
    assert (found["one", "turned"].accuracy.high or 1.0) < 0.2


def test_labels_may_come_in_another_order() -> None:
    """What a label is called counts, not its place in the list."""
    one, other = reviews(80, ("dull", "good"), 1), reviews(80, ("good", "dull"), 2, ["yes", "no"])
    assert cells(Transfer({"one": one, "other": other}, seeds=1))["one", "other"].accuracy.value == 1.0


def test_what_cannot_teach_is_said() -> None:
    """A data set with one answer, or one context, has a reason in place of a figure."""
    one = reviews(40, ("dull", "good"), 1)
    same = Examples({"text": ["a", "b"]}, np.zeros(2, dtype=np.int64), ["no"])
    found = cells(Transfer({"one": one, "same": same}, seeds=1))
    assert found["same", "one"].accuracy.value is None
    assert "one answer" in (found["same", "one"].accuracy.reason or "")
    assert found["one", "same"].accuracy.value is not None


def test_a_row_is_the_same_alone() -> None:
    """Rows do not depend on which were computed before, so that a run can be taken up again."""
    wanted = Transfer({"one": reviews(60, ("a", "b"), 1), "two": reviews(60, ("a", "c"), 2)}, seeds=2)
    assert TransferRows(wanted).row("two") == list(cells(wanted).values())[2:]


def test_choices_carry_over_too() -> None:
    """Of options, the one that stands in the passage is found after learning from other questions."""

    def questions(seed: int) -> Examples:
        rng = np.random.default_rng(seed)
        answer = rng.integers(0, 4, 80)
        options = [[f"o{one}" for one in rng.permutation(60)[:4]] for _ in range(80)]
        passages = [f"they saw {own[code]} there" for own, code in zip(options, answer.tolist(), strict=True)]
        return Examples({"passage": passages}, answer, ["1", "2", "3", "4"], options)

    found = cells(Transfer({"one": questions(1), "two": questions(2)}, seeds=1))
    assert (found["one", "two"].accuracy.low or 0.0) > 0.9


def test_the_gap_is_known_where_votes_are() -> None:
    """People are measured by their votes on each slice, a model by its answers, over resampled contexts."""
    rng = np.random.default_rng(0)
    answer = rng.integers(0, 2, 200)
    votes = np.zeros((200, 3), dtype=np.int64)
    agreed = rng.choice([3, 4, 5], 200)
    votes[np.arange(200), answer] = agreed
    votes[np.arange(200), 1 - answer] = 5 - agreed
    said = np.where(rng.random(200) < 0.7, answer, 1 - answer)
    examples = Examples({"text": [""] * 200}, answer, LABELS)
    sums = people_and_models(ComparedSet("one", examples, votes=votes, predictions={"m": said}))
    everyone, four, five = (figures(sums, name) for name in ("all", "at_least_4_of_5", "unanimous"))
    assert everyone.human.value == pytest.approx(agreed.mean() / 5)
    assert (four.items, five.items) == ((agreed >= 4).sum(), (agreed == 5).sum())
    assert five.human.value == 1.0
    assert everyone.gaps["m"].value == pytest.approx(agreed.mean() / 5 - (said == answer).mean())
    assert (everyone.gaps["m"].low or 1.0) < (everyone.gaps["m"].value or 0.0) < (everyone.gaps["m"].high or 0.0)


def test_votes_are_kept_apart_where_the_writer_has_a_label() -> None:
    """With the writer's own label and ten votes, four set the label and six measure people, who also err."""
    rng = np.random.default_rng(1)
    answer = rng.integers(0, 2, 150)
    right = rng.binomial(10, 0.8, 150)
    votes = np.zeros((150, 3), dtype=np.int64)
    votes[np.arange(150), answer], votes[np.arange(150), 1 - answer] = right, 10 - right
    one = ComparedSet("one", Examples({"text": [""] * 150}, answer, LABELS), votes=votes, intended=answer)
    unanimous = figures(people_and_models(one, draws=10), "unanimous")
    assert 0.9 < (unanimous.human.value or 0.0) < 1.0


def test_variety_does_not_grow_with_size() -> None:
    """As many texts of each are drawn: a data set and ten times as many of the same kind are as varied."""
    rng = np.random.default_rng(0)
    large = [" ".join(f"w{one}" for one in rng.integers(0, 300, 8)) for _ in range(2000)]
    small = large[:200]
    some, more = variety(small, 200), variety(large, 200)
    assert some.entropy[1].value == pytest.approx(more.entropy[1].value, abs=0.05)
    repeated = variety(small[:20] * 10, 200)
    assert (repeated.entropy[2].value or 0.0) < (some.entropy[2].value or 0.0) - 2
    assert repeated.nearest.value == pytest.approx(1.0)


def test_coverage_is_compared_on_as_many() -> None:
    """A larger data set has more rare tags only because it is larger; a planted difference stands."""
    few = [["a"], ["b"]] * 20
    many = [["a"], ["b"]] * 200 + [["rare"]] * 4
    found = coverage({"few": few, "many": many})
    assert (found["many"].tags, found["few"].tags, found["few"].known) == (3, 2, 3)
    assert 2.0 < found["many"].expected < 2.5
    tags = {one.tag: one for one in tag_shares({"one": [["x"]] * 40 + [[]] * 60, "two": [["x"]] * 5 + [[]] * 95})}
    assert tags["x"].stands
    assert not any(one.stands for one in tag_shares({"one": few, "two": few}))


def test_two_samples_as_others_test_them() -> None:
    """Brunner and Munzel's p is scipy's; Hedges's g is near the difference that was drawn, and its interval has it."""
    rng = np.random.default_rng(5)
    one, other = rng.normal(0.5, 1, 300), rng.normal(0, 1, 250)
    theirs = scipy.stats.brunnermunzel(one, other).pvalue
    assert brunner_munzel(one, other) == pytest.approx(theirs, rel=1e-9)
    size = standardised_difference(one, other)
    assert (size.low or 1.0) < 0.5 < (size.high or 0.0)
    assert brunner_munzel(one[:1], other) is None
    assert standardised_difference(np.ones(3), np.ones(3)).value is None


def test_intervals_follow_contexts() -> None:
    """Examples of one context go together: the same answers in larger contexts say less."""
    values = np.repeat(np.tile([0.0, 1.0], 20), 10)
    alone = clustered_mean(values, np.arange(400))
    together = clustered_mean(values, np.arange(400) // 10)
    assert alone.value == together.value == 0.5
    assert (together.high or 0.0) - (together.low or 0.0) > 2 * ((alone.high or 0.0) - (alone.low or 0.0))
