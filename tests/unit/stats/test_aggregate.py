"""Other aggregations of the same table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.stats.aggregate import (
    AGGREGATIONS,
    bradley_terry,
    duels,
    mean_zscore,
    paired_wins,
    pareto_front,
    plain_average,
    win_rate,
)
from quintain.stats.utility import UtilityColumn, UtilityTable

EVEN = {"perf": 0.5, "memory": 0.5}


def board(*rows: tuple[float, float], cannot: list[list[bool]] | None = None) -> UtilityTable:
    """Make a table of performance and memory, of which less is better."""
    columns = (UtilityColumn("perf"), UtilityColumn("memory", lower=True, cap=10.0))
    return UtilityTable(
        tuple(f"m{row}" for row in range(len(rows))),
        columns,
        np.array(rows, dtype=float),
        None if cannot is None else np.array(cannot),
    )


def test_zscore_by_hand() -> None:
    """Two models are one population deviation from the mean on each side."""
    assert mean_zscore(board((80, 2), (60, 4)), EVEN) == pytest.approx((1.0, -1.0))


def test_a_metric_that_all_share_has_no_zscore() -> None:
    """Equal values are no distance from their mean, rounding errors or not."""
    assert mean_zscore(board((80, 0.1), (60, 0.1), (40, 0.1)), EVEN) == pytest.approx(
        (0.5 * 20 / np.sqrt(800 / 3), 0.0, -0.5 * 20 / np.sqrt(800 / 3))
    )


def test_average_and_win_rate_by_hand() -> None:
    """The average adds goods as they are; the win rate counts duels by weight, ties half."""
    table = board((80, 2), (60, 2), (50, 1))
    assert plain_average(table, EVEN) == pytest.approx((44.0, 34.0, 29.5))
    assert win_rate(table, EVEN) == pytest.approx(((0.75 + 0.5) / 2, (0.25 + 0.5) / 2, (0.5 + 0.5) / 2))


def test_gaps_and_what_cannot_be_had() -> None:
    """A gap leaves a model out; what it cannot have counts as the least on the board."""
    table = board((80, np.nan), (60, 2), (70, np.nan), cannot=[[False, True], [False, False], [False, False]])
    for aggregate in AGGREGATIONS.values():
        scores = aggregate(table, EVEN)
        assert scores[2] is None
        assert scores[0] is not None
    assert plain_average(table, EVEN) == (44.0, 34.0, None)


def test_the_pareto_front() -> None:
    """A model is on the front unless another is nowhere worse and somewhere better; copies are on it together."""
    assert pareto_front(board((80, 5), (60, 2), (60, 6), (80, 5), (90, np.nan))) == (True, True, False, True, False)
    assert pareto_front(board((80, 5), (60, 2)), {"perf": 1.0, "memory": 0.0}) == (True, False)


def test_bradley_terry_recovers_strengths() -> None:
    """From many duels whose odds are known, the strengths come back."""
    truth = np.array([1.0, 0.2, -1.2])
    odds = 1 / (1 + np.exp(truth[None, :] - truth[:, None]))
    wins = odds * 1e6
    np.fill_diagonal(wins, 0)
    assert bradley_terry(wins) == pytest.approx(truth, abs=1e-4)


def test_paired_wins_order_models_as_their_means_do() -> None:
    """Wins and ties of a pair add up to all examples, and the model that is right more often is stronger."""
    right = (np.random.default_rng(0).random((500, 3)) < np.array([0.9, 0.6, 0.3])).astype(float)
    wins = paired_wins(right)
    assert wins[0, 1] + wins[1, 0] == 500
    assert np.diff(bradley_terry(wins)).max() < 0


def test_bradley_terry_of_a_clean_sweep_is_finite() -> None:
    """A model that always wins is strongest, and not infinitely so; one model alone has strength 0."""
    strength = bradley_terry(np.array([[0.0, 5.0], [0.0, 0.0]]))
    assert np.isfinite(strength).all()
    assert strength[0] == pytest.approx(-strength[1])
    assert strength[0] > 1
    assert bradley_terry(np.zeros((1, 1))).tolist() == [0.0]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=8))
def test_duels_share_out_all_weight(rows: list[tuple[int, int]]) -> None:
    """In each pair the two sides' shares add up to 1, and win rates average to one half."""
    table = board(*((float(a), float(b)) for a, b in rows))
    shares = duels(table.values, [0.5, 0.5])
    assert shares + shares.T == pytest.approx(np.ones_like(shares))
    assert np.mean([score or 0.0 for score in win_rate(table, EVEN)]) == pytest.approx(0.5)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=6), st.randoms(use_true_random=False)
)
def test_the_order_of_rows_does_not_matter(rows: list[tuple[int, int]], random: object) -> None:
    """Every aggregation gives a model its score wherever its row stands."""
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    table = board(*((float(a), float(b)) for a, b in rows))
    for aggregate in AGGREGATIONS.values():
        before, after = aggregate(table, EVEN), aggregate(table.take(order), EVEN)
        assert list(after) == pytest.approx([before[row] for row in order], abs=1e-7)
