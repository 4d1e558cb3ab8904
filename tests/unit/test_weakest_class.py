"""Which class a model is said to be weakest on."""

from __future__ import annotations

import pytest

from quintain.core.records.figures import Estimate
from quintain.services.study.models import Scored, weakest_class
from quintain.stats.by_class import ClassScores


@pytest.mark.parametrize(
    ("low", "claim"),
    [
        (0.7, "m is weakest on rare in test: F1 50.0% (95 % between 40.0% and 60.0%)."),
        (0.55, "The lowest F1 of m is that of rare in test: 50.0% (95 % between 40.0% and 60.0%). The intervals of"),
    ],
)
def test_a_class_is_the_weakest_only_where_intervals_bear_it(low: float, claim: str) -> None:
    """Where the interval of another class reaches as low, the lowest figure is named as that."""
    rare, often = (
        ClassScores(name, 50, 50, Estimate(None), Estimate(None), f1)
        for name, f1 in (("rare", Estimate(0.5, 0.4, 0.6)), ("often", Estimate(0.8, low, 0.9)))
    )
    assert weakest_class("m", [Scored("m", "test", 100, [rare, often], Estimate(0.65))]).startswith(claim)
