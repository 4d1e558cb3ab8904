"""Human performance: by hand, by definition, and as published."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.stats.human import Spread, class_scores, held_out_majority, majority_gold, synthetic_annotators
from quintain.stats.judgements import Judgements
from quintain.stats.one_coin import fit_one_coin, vote_log_odds
from tests.properties import examples
from tests.published import baseline_votes


def votes(*patterns: str) -> Judgements:
    """Make items from strings of one-letter votes; worker n gives the n-th."""
    rows = [(f"{i:04}", f"w{n}", label) for i, pattern in enumerate(patterns) for n, label in enumerate(pattern)]
    return Judgements.of(*zip(*rows, strict=True))


def test_people_who_agree_are_perfect() -> None:
    """Unanimous items give scores of 1 without spread; three of them do not make it certain."""
    judgements = votes("aaaaa", "bbbbb", "aaaaa")
    found = synthetic_annotators(judgements, majority_gold(judgements), seeds=5)
    assert list(found) == ["all", "at_least_4_of_5", "unanimous"]
    for one in found.values():
        assert (one.items, one.annotators) == (3, 5)
        for figure in (one.macro["f1"], one.accuracy):
            assert (figure.value, figure.high, figure.spread) == (1.0, 1.0, 0.0)
            assert figure.low is not None
            assert 0.3 < figure.low < 0.85


def test_dynasents_reasoning() -> None:
    """Where four of five agree on every item, annotators are right four times in five: F1 is about 0.8."""
    judgements = votes(*["aaaab", "bbbbc", "cccca"] * 100)
    found = synthetic_annotators(judgements, majority_gold(judgements), seeds=30)
    assert set(found) == {"all", "at_least_4_of_5"}
    assert found["all"].accuracy.value == pytest.approx(0.8)
    f1 = found["all"].macro["f1"]
    assert f1.value == pytest.approx(0.8, abs=0.005)
    assert f1.spread is not None
    assert 0 < f1.spread < 0.01
    assert found["all"].macro["recall"].value == pytest.approx(0.8, abs=1e-9)


def test_labels_outside_gold_are_wrong() -> None:
    """Mixed is no gold label here: it costs recall, and is not scored itself."""
    judgements = votes("aaaam", "bbbbb")
    found = synthetic_annotators(judgements, majority_gold(judgements), seeds=3)["all"]
    assert sorted(found.classes) == ["a", "b"]
    assert found.classes["a"]["recall"].value == pytest.approx(0.8)
    assert found.macro["recall"].value == pytest.approx(0.9)


def test_class_scores_by_hand() -> None:
    """Precision, recall and F1 of a table of gold × said."""
    found = class_scores(np.array([[6.0, 2.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 0.0]]))
    assert found["precision"][:2].tolist() == pytest.approx([6 / 7, 3 / 5])
    assert found["recall"][:2].tolist() == pytest.approx([6 / 8, 3 / 4])
    assert found["f1"][:2].tolist() == pytest.approx([12 / 15, 6 / 9])
    assert np.isnan([found[kind][2] for kind in found]).all()


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.text("abc", min_size=3, max_size=5), min_size=2, max_size=10), st.integers(0, 99))
def test_seeds_repeat_and_rows_do_not_matter(patterns: list[str], seed: int) -> None:
    """The same seed gives the same figures, and accuracy is the share of judgements that are gold."""
    judgements = votes(*patterns)
    gold = np.zeros(len(patterns), dtype=np.int64)
    first, second = (synthetic_annotators(judgements, gold, seed=seed, seeds=4) for _ in range(2))
    assert first == second
    assert first["all"].accuracy.value == pytest.approx((judgements.label == 0).mean())


def test_held_out_votes() -> None:
    """Six of ten are left; when all agree they are right, and items with no vote to spare do not count."""
    judgements = votes("a" * 10, "b" * 10, "ab", "a" * 4)
    found = held_out_majority(judgements, np.array([0, 1, 0, 0]), seeds=3)
    assert found["all"].items.value == 2
    assert found["all"].accuracy.value == 1
    without = held_out_majority(judgements, np.array([0, 1, 0, 0]), excluded=[1], seeds=3)
    assert without["all"].items.value == 1


def test_ties_among_held_out_votes_count_by_share() -> None:
    """One against one that is left counts half."""
    judgements = votes(*["aaaaab"] * 300)
    found = held_out_majority(judgements, np.zeros(300, dtype=np.int64), sample=4, seeds=20)
    # Two of six are left: both a with probability 2/3, else a tie.
    assert found["all"].accuracy.value == pytest.approx(2 / 3 + 1 / 3 / 2, abs=0.02)
    assert found["all"].undecided.value == pytest.approx(1 / 3, abs=0.02)


def test_what_cannot_be_measured_is_named() -> None:
    """No gold, no votes to spare, no seeds: each is said."""
    judgements = votes("ab", "ba")
    with pytest.raises(BadInput, match="No judged item has a gold label"):
        synthetic_annotators(judgements, np.full(2, -1))
    with pytest.raises(BadInput, match="more than 4 judgements"):
        held_out_majority(judgements, np.zeros(2, dtype=np.int64))
    with pytest.raises(BadInput, match="1 labels for 2 items"):
        synthetic_annotators(judgements, np.zeros(1, dtype=np.int64))
    with pytest.raises(BadInput, match="one seed"):
        synthetic_annotators(judgements, np.zeros(2, dtype=np.int64), seeds=0)
    assert Spread.of([]).value is None


def test_one_coin_recovers_accuracies() -> None:
    """Estimates lie near the accuracies that made the data, and their intervals hold most of them."""
    rng = np.random.default_rng(1)
    skill = rng.uniform(0.4, 0.95, 40)
    truth = rng.integers(0, 4, 2000)
    worker = np.array([rng.choice(40, 5, replace=False) for _ in truth])
    right = rng.random(worker.shape) < skill[worker]
    label = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 4, worker.shape)) % 4)
    names = [f"{i:04}" for i in range(2000)], [f"w{n:02}" for n in range(40)], list("abcd")
    judgements = Judgements.from_codes(np.repeat(np.arange(2000), 5), worker.ravel(), label.ravel(), *names)
    fit = fit_one_coin(judgements)
    assert fit.converged
    assert np.abs(fit.accuracy - skill).mean() < 0.03
    inside = (fit.accuracy_quantile(0.005) <= skill) & (skill <= fit.accuracy_quantile(0.995))
    assert inside.mean() > 0.8
    assert vote_log_odds(np.array([0.25]), 4) == pytest.approx(0.0)


def test_baseline_protocol() -> None:
    """The BASELINE arm: N and human accuracy of Table 1 lie where the draw of four votes puts them."""
    votes = baseline_votes()
    judgements = Judgements.of(*zip(*((item, worker, answer) for item, worker, answer, _ in votes), strict=True))
    aims = {item: aim for item, _, _, aim in votes}
    writer = np.array([judgements.classes.index(aims[item]) for item in judgements.items])
    invalid = judgements.classes.index("option5")
    found = held_out_majority(judgements, writer, excluded=[invalid], seeds=60)
    published = {"all": (482, 0.959), "at_least_4_of_5": (436, 0.977), "unanimous": (340, 0.991)}
    for name, (items, accuracy) in published.items():
        assert found[name].items.value == pytest.approx(items, abs=10)
        assert found[name].accuracy.value == pytest.approx(accuracy, abs=0.007)
        assert found[name].items.low is not None
        assert found[name].items.high is not None
        assert found[name].items.low <= items <= found[name].items.high
