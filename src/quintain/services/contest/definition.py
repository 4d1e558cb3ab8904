"""A contest as a TOML file, and its moments: reading with every fault named, and writing. See `ContestSpec`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from quintain.core.contests import MOMENTS, ContestSpec, Phase
from quintain.core.errors import BadInput, Fault
from quintain.core.spec import plain, read
from quintain.core.toml import parse_toml
from quintain.tasks.writing import dump_toml

ENDS = {Phase.BUILD: "build_ends", Phase.BREAK: "break_ends", Phase.SCORE: "score_ends", Phase.REVIEW: "review_ends"}


@dataclass(frozen=True, slots=True)
class ContestSchedule:
    """When a contest begins and when each phase ends; what ends at a moment is open until then, and no second longer.

    >>> noon = datetime(2026, 12, 1, 12, tzinfo=UTC)
    >>> found = ContestSchedule(UTC, noon, {Phase.BREAK: noon.replace(day=2), Phase.SCORE: noon.replace(day=3)})
    >>> found.at(noon.replace(day=2)).value, found.at(noon.replace(day=2, second=1)).value
    ('break', 'score')
    """

    zone: tzinfo
    starts: datetime
    ends: Mapping[Phase, datetime]

    def at(self, moment: datetime) -> Phase:
        """Return the phase at *moment*."""
        if moment < self.starts:
            return Phase.COMING
        return next((phase for phase, end in self.ends.items() if moment <= end), Phase.OVER)

    def begins(self, phase: Phase) -> datetime:
        """Return the moment at which *phase* begins, or would begin."""
        order = list(Phase)
        before = [end for one, end in self.ends.items() if order.index(one) < order.index(phase)]
        return before[-1] if before else self.starts

    def local(self, moment: datetime) -> str:
        """Write a moment by the clocks of the contest."""
        return f"{moment.astimezone(self.zone):%Y-%m-%d %H:%M:%S %Z}"


def parse_contest(text: str, *, file: str | None = None) -> ContestSpec:
    """Make a contest of the TOML *text*, or raise BadInput with every fault in it; *file* is named in them."""
    if len(text) > 1_000_000:
        raise BadInput("This is larger than 1 MB, which no contest is.")
    return contest_of(parse_toml(text, file=file), file=file)


def contest_of(data: Mapping[str, Any], *, file: str | None = None) -> ContestSpec:
    """Make a contest of plain data, as TOML or a page gives it."""
    return read(ContestSpec, data, file=file, also=_wrong_times)


def dump_contest(spec: ContestSpec) -> str:
    """Write *spec* as TOML; reading it again gives the same contest."""
    return dump_toml(plain(spec))


def schedule_of(spec: ContestSpec) -> ContestSchedule:
    """Return the moments of a contest, whatever the clocks they were written by."""
    zone = find_zone(spec.zone)
    moments = {name: _moment(value, zone) for name in MOMENTS if (value := getattr(spec, name)) is not None}
    ends = {phase: moments[name] for phase, name in ENDS.items() if name in moments}
    return ContestSchedule(zone, moments["starts"], ends)


def find_zone(name: str) -> tzinfo:
    """Return the time zone called *name*; BadInput without one."""
    if name == "UTC":  # which is known also where the system has no table of zones
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(
            faults=[Fault("there is no time zone '{name}'", name=name, field="zone")],
            remedy="Use a name such as UTC or Europe/Berlin.",
        ) from None


def _moment(value: datetime, zone: tzinfo) -> datetime:
    return (value.replace(tzinfo=zone) if value.tzinfo is None else value).astimezone(UTC)


def _wrong_times(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Look the zone up, and ask that moments follow each other."""
    try:
        zone = find_zone(str(values.get("zone", "UTC")))
    except BadInput as error:
        yield from error.faults
        return
    moments = [(name, _moment(values[name], zone)) for name in MOMENTS if values.get(name) is not None]
    for (before, first), (after, second) in pairwise(moments):
        if second <= first:
            yield Fault("is not after '{before}'", before=before, field=after)
