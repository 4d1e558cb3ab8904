"""Sharing out the last places, so that everybody who comes can still take some."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quintain.stats.sharing_out import fair_shares, order_for


def test_who_alone_can_take_an_item_gets_it_first() -> None:
    """Items that others can take are left to them."""
    may = np.array([[True, True, True, True], [True, False, True, False]])
    order = order_for(0, np.array([1, 1, 1, 1]), may, np.array([0, 0]), 2)
    assert set(order[:2].tolist()) == {1, 3}
    assert set(order.tolist()) == {0, 1, 2, 3}


def test_what_one_has_seen_is_never_offered() -> None:
    """The order has only items that the person may take."""
    may = np.array([[False, True, False], [True, True, True]])
    assert order_for(0, np.array([2, 2, 2]), may, np.array([5, 5]), 10).tolist() == [1]


@given(
    rest=st.integers(0, 200),
    people=st.lists(st.tuples(st.integers(0, 100), st.integers(0, 60)), min_size=1, max_size=12),
)
def test_shares_are_fair_and_enough(rest: int, people: list[tuple[int, int]]) -> None:
    """Nobody gets over what they can take; all is shared out if it can be; who had less gets no less."""
    taken, most = np.array([one[0] for one in people]), np.array([one[1] for one in people])
    shares = fair_shares(rest, taken, most)
    assert (shares >= 0).all()
    assert (shares <= most).all()
    assert shares.sum() >= min(rest, most.sum())
    assert shares.sum() < max(rest, 1) + len(people)
    free = shares < most
    for one in np.flatnonzero(free):
        for other in np.flatnonzero(taken > taken[one]):
            assert shares[one] >= shares[other]
