"""The five stations of a round in words, with the one button of the step that comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintain.core.records.stations import Station, StationName, Stations, StationStep
from quintain.core.records.wheel import RoundParity
from quintain.core.rounds import RoundKind
from quintain.core.task import Task
from quintain.services.collect.rounds.manage import get_round
from quintain.services.release.stations import KnownJudging, stations_of
from quintain.services.validate.judging.offers import page_in_hand
from quintain.services.wheel.standings import solved_rounds
from quintain.web.pages.begun import begun_session, writing_address
from quintain.web.visit import Visit


@dataclass(frozen=True, slots=True)
class ShownStation:
    """One station as a page shows it; *href* leads to its work where the reader may go there."""

    title: str
    said: str
    done: bool
    now: bool
    href: str


@dataclass(frozen=True, slots=True)
class StepButton:
    """What the reader may do next: a link, or a form with *post* as its values."""

    title: str
    href: str
    post: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StationLine:
    """The stations of a round, with the *button* of the next step, and that of what may be done instead."""

    number: int
    stations: list[ShownStation]
    step: StationStep | None
    button: StepButton | None
    also: StepButton | None


def station_line(
    visit: Visit, task: Task, number: int | str, *, judging: KnownJudging | None = None
) -> StationLine | None:
    """Return where a round stands, in the reader's language; None where *number* is no round's, as of a validation.

    *judging* is what the page knows of its judging already.
    """
    if not str(number).isdecimal():
        return None
    stations = stations_of(visit.db, visit.actor, f"{task.name}/{number}", judging=judging)
    owns = visit.owns(task)
    shown = [_shown(visit, task, stations, station, owns=owns) for station in stations.stations]
    button, also = (_button(visit, task, number, stations, step, owns=owns) for step in (stations.step, stations.also))
    return StationLine(int(number), shown, stations.step, button, also)


def parity_of_round(visit: Visit, task: Task, ref: str) -> RoundParity | None:
    """Return how models stand against people in a round that is solved, where no later one follows; owners may ask."""
    return next((parity for parity in solved_rounds(visit.db, visit.actor, task.name) if parity.round == ref), None)


def _shown(visit: Visit, task: Task, stations: Stations, station: Station, *, owns: bool) -> ShownStation:
    _ = visit.tongue.gettext
    number = stations.round.rpartition("/")[2]
    base, judging = f"/tasks/{task.name}/rounds/{number}", f"/tasks/{task.name}/validation/{number}"
    titles = {
        StationName.WRITE: (_("Harvest") if stations.kind == RoundKind.HARVEST else _("Write"), base),
        StationName.JUDGE: (_("Judge"), judging if owns and station.total is not None else ""),
        StationName.LABEL: (_("Label"), f"{judging}/items" if owns and station.total is not None else ""),
        StationName.RELEASE: (
            _("Release"),
            f"{judging}/release"
            if owns and (station.done or StationStep.RELEASE in (stations.step, stations.also))
            else "",
        ),
        StationName.MODEL: (_("Next model"), f"/tasks/{task.name}/models" if station.count else ""),
    }
    title, href = titles[station.name]
    return ShownStation(title, _state_text(visit, station), station.done, station.name is stations.now, href)


def _state_text(visit: Visit, station: Station) -> str:
    _, ngettext = visit.tongue.gettext, visit.tongue.ngettext
    if not station.counted:
        return _("being counted")
    if station.name is StationName.WRITE:
        return ngettext("%(num)s text", "%(num)s texts", station.count)
    if station.name is StationName.RELEASE:
        return ngettext("%(num)s release", "%(num)s releases", station.count) if station.count else _("not yet")
    if station.name is StationName.MODEL:
        return ", ".join(ref.partition("/")[2] for ref in station.refs) or _("not yet")
    if station.total is None:
        return _("not yet")
    return _("%(n)s of %(all)s", n=station.count, all=station.total)


def _button(
    visit: Visit, task: Task, number: int | str, stations: Stations, step: StationStep | None, *, owns: bool
) -> StepButton | None:
    _ = visit.tongue.gettext
    home = f"/tasks/{task.name}"
    if step is StationStep.WRITE:
        begun = begun_session(visit, get_round(visit.db, visit.actor, f"{task.name}/{number}"))
        return StepButton(_("Go on writing") if begun else _("Write"), writing_address(task.name, number, begun))
    if step is StationStep.JUDGE:
        held = page_in_hand(visit.db, visit.actor, f"{task.name}/{number}") if visit.signed_in else None
        if held is not None:
            return StepButton(_("Go on judging"), f"/judge/{held}")
        return StepButton(_("Judge"), f"{home}/judge/{number}")
    if not owns or step is None:
        return None
    judging = f"{home}/validation/{number}"
    steps = {
        StationStep.OPEN: StepButton(_("Open the round"), f"{home}/rounds/{number}/open", {"now": "on"}),
        StationStep.VALIDATE: StepButton(_("Let people judge"), f"{home}/validation", {"name": str(number)}),
        StationStep.ADJUDICATE: StepButton(_("Decide contested items"), f"{judging}/adjudicate"),
        StationStep.RELEASE: StepButton(_("Release"), f"{judging}/release"),
        StationStep.TRAIN: StepButton(_("Train the next model"), f"{home}/train"),
        StationStep.NEXT_ROUND: StepButton(
            _("Start the next round"), f"{judging}/next", {"model": next(iter(stations.stations[-1].refs), "")}
        ),
    }
    return steps.get(step)
