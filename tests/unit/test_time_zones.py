"""Time zones are known wherever the product runs."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from quintain.services.contest.definition import find_zone


@pytest.fixture
def no_tables() -> Iterator[None]:
    """A system without a table of zones, as small containers are."""
    zoneinfo.reset_tzpath(to=())
    zoneinfo.ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath()


@pytest.mark.usefixtures("no_tables")
def test_zones_are_known_without_the_systems_table() -> None:
    """The product brings its own: a contest by the clocks of Berlin ends when it should."""
    assert find_zone("Europe/Berlin").utcoffset(datetime(2026, 7, 1)) == timedelta(hours=2)
    assert find_zone("Europe/Berlin").utcoffset(datetime(2026, 12, 1)) == timedelta(hours=1)
