"""How much of the demo is built: by known counts, in order, never back, and full at the end."""

from __future__ import annotations

import pytest

from quintain.simulate.demo import Amounts
from quintain.simulate.progress import BuildProgress, TimedStation


def test_stations_take_their_share() -> None:
    """A second stage of the same name begins where less is reported than before; who is unknown changes nothing."""
    built = BuildProgress([TimedStation("Judging", 60.0), TimedStation("Judging", 20.0), TimedStation("Trial", 20.0)])
    reports = [("Judging", 5, 10), ("Judging", 10, 10), ("Judging", 1, 4), ("Other", 9, 9), ("Trial", 0, 1)]
    assert [built.update(*report) for report in reports] == pytest.approx([0.3, 0.6, 0.65, 0.65, 0.8])
    assert built.update("Trial", 1, 1) == 1.0


def test_a_build_that_goes_on_passes_over_what_is_done() -> None:
    """The stations of an interrupted build are not reported again; the bar begins behind them."""
    built = Amounts().progress()
    assert built.update("Starter task", 1, 1) < 0.1
    assert 0.3 < built.update("Model 2", 0, 1) < built.update("Contest", 0, 1) < 1
