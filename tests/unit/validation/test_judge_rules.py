"""Rules that unqualify judges, and the patterns that give clickers away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.validation import UnqualifyRule
from quintain.services.validate.quality.final_labels import best_ranked
from quintain.stats.judge_patterns import copies, keys_in_turn
from quintain.stats.judge_rules import catches, judgements_needed, power
from quintain.stats.judgements import Judgements

WILSON = UnqualifyRule("wilson", 0.5)


def test_the_papers_rule_lets_most_random_clickers_through() -> None:
    """With four labels a clicker disagrees on 75 %, so "more than 80 %" seldom catches one; a bound at 50 % does."""
    paper = power(UnqualifyRule("disagreement", 0.8), 50, labels=4, honest=0.9)
    bound = power(WILSON, 50, labels=4, honest=0.9)
    assert paper.clicker < 0.3
    assert bound.clicker > 0.95
    assert bound.honest < 1e-6
    assert judgements_needed(UnqualifyRule("disagreement", 0.8), labels=4, most=200) is None
    assert judgements_needed(WILSON, labels=4) is not None


@pytest.mark.parametrize("name", ["disagreement", "wilson", "posterior", "gold"])
@pytest.mark.parametrize("count", [20, 60])
def test_power_is_what_a_simulation_finds(name: str, count: int) -> None:
    """The sum over the binomial distribution agrees with 20,000 clickers."""
    limit = 0.7 if name == "disagreement" else 0.5
    rule = UnqualifyRule(name, limit)  # type: ignore[arg-type]  # parametrised over the names
    drawn = np.random.default_rng(3).binomial(count, 1 / 3, 20_000)
    caught = catches(rule, drawn, np.full_like(drawn, count)).mean()
    assert power(rule, count, labels=3, honest=0.9).clicker == pytest.approx(caught, abs=0.015)


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from(["disagreement", "wilson", "posterior", "gold"]))
def test_more_agreement_never_makes_it_worse(hits: int, more: int, name: str) -> None:
    """Rules are monotone, and catch nobody on too few judgements."""
    rule = UnqualifyRule(name, 0.5)  # type: ignore[arg-type]  # one of the names
    total = np.array([hits + more, hits + more])
    worse, better = catches(rule, np.array([hits, hits + more]), total)
    assert worse or not better
    assert not catches(rule, np.array([0]), np.array([rule.least - 1]))[0]


def test_keys_in_turn_are_seen_and_constant_or_mixed_ones_are_not() -> None:
    """1, 2, 3, 1, 2, 3 … is a pattern of its own."""
    draw = np.random.default_rng(0)
    label = np.concatenate([np.tile([0, 1, 2], 10), np.zeros(30, int), draw.integers(0, 3, 30)])
    worker = np.repeat([0, 1, 2], 30)
    assert keys_in_turn(worker, label, 3).tolist() == [True, False, False]


def test_two_who_share_their_errors_are_copies() -> None:
    """Agreeing on what is right is no sign; agreeing on what is wrong is."""
    items = range(60)
    wrong = {item: "c" if item % 3 == 0 else "a" for item in items}
    rows = [(f"{item:02}", worker, "a") for item in items for worker in ("w1", "w2", "w3")]
    rows += [(f"{item:02}", worker, wrong[item]) for item in items for worker in ("x1", "x2")]
    judgements = Judgements.of(*zip(*rows, strict=True))
    assert copies(judgements, np.zeros(60, dtype=int)).tolist() == [False, False, False, True, True]


@given(st.integers(1, 4), st.integers(0, 1000))
def test_the_best_ranked_judges_are_kept(most: int, seed: int) -> None:
    """At most so many judgements of an item stay, and none that stays has a lower rank than one that goes."""
    draw = np.random.default_rng(seed)
    pairs = [(f"i{item}", f"w{worker}", "a") for item in range(5) for worker in range(6) if draw.random() < 0.7]
    judgements = Judgements.of(*zip(*pairs, strict=True)) if pairs else Judgements.of([], [], [])
    rank = draw.random(len(judgements.workers))
    kept = best_ranked(judgements, rank, np.full(len(judgements.items), most))
    for item in range(len(judgements.items)):
        own = judgements.item == item
        assert kept[own].sum() == min(most, own.sum())
        if kept[own].any() and (~kept[own]).any():
            assert rank[judgements.worker[own & kept]].min() >= rank[judgements.worker[own & ~kept]].max()
