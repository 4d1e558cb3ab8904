"""What every page of a contest shows: where it stands, who one is in it, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from quintain.core.contests import Phase
from quintain.core.records.contests import ContestSystem
from quintain.core.task import Task
from quintain.services.contest.contests import ContestInfo, find_contest, organises
from quintain.services.contest.pair_outcomes import has_judges
from quintain.services.contest.teams import DOES, team_of
from quintain.services.contest.undecided import count_waiting, results_wait
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble
from quintain.web.pages.contest.sides import shown_label
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Visit


@dataclass(frozen=True, slots=True)
class ContestStation:
    """A phase on the way: its words, when it ends, and whether it is over or now."""

    title: str
    said: str
    done: bool
    now: bool


@dataclass(frozen=True, slots=True)
class ContestAdvice:
    """What somebody can do now, and where."""

    text: str
    button: str = ""
    href: str = ""
    primary: bool = True


@dataclass(frozen=True, slots=True)
class Room:
    """One page of a contest, for whoever looks at it."""

    visit: Visit
    task: Task
    info: ContestInfo
    team: str
    role: str
    organiser: bool

    @property
    def base(self) -> str:
        """The address of the contest."""
        return f"/tasks/{self.info.task}/contests/{self.info.name}"

    @property
    def builds(self) -> bool:
        """Whether the reader's team builds."""
        return self.role in DOES["build"]

    @property
    def breaks(self) -> bool:
        """Whether the reader's team breaks."""
        return self.role in DOES["break"]

    def sees_results(self) -> bool:
        """Whether the reader may see how it ends."""
        phase = self.info.phase
        early = self.organiser and phase in (Phase.SCORE, Phase.REVIEW)
        return phase is Phase.OVER or early or (phase is Phase.REVIEW and bool(self.team))

    @property
    def waits(self) -> bool:
        """Whether the final results wait for the organisers."""
        return results_wait(self.visit.db, self.info)

    def judges(self) -> bool:
        """Whether the reader may be asked for labels."""
        asked = has_judges(self.info.spec)
        return asked and self.visit.signed_in and not self.team and self.info.phase in (Phase.SCORE, Phase.REVIEW)

    def tabs(self) -> list[tuple[str, str, str]]:
        """List the rooms of the contest that the reader may enter: key, title, address."""
        _ = self.visit.tongue.gettext
        tabs = [("contest", _("Contest"), self.base)]
        if self.builds or self.organiser:
            tabs.append(("build", _("Build"), f"{self.base}/build"))
        if self.breaks:
            tabs.append(("break", _("Break"), f"{self.base}/break"))
            if self.info.spec.searches and self.info.spec.starter and self.info.phase is Phase.BREAK:
                tabs.append(("search", _("Search automatically"), f"{self.base}/break/search"))
        if (self.team or self.organiser) and self.info.phase not in (Phase.COMING, Phase.BUILD):
            tabs.append(("answers", _("Answers to the blind set"), f"{self.base}/answers"))
        if self.judges():
            tabs.append(("judge", _("Judge pairs"), f"{self.base}/judge"))
        if self.sees_results():
            tabs.append(("results", _("Results"), f"{self.base}/results"))
            if self.organiser or self.team or not self.waits:
                tabs.append(("pairs", _("Pairs"), f"{self.base}/pairs"))
            if self.organiser:
                tabs.append(("decide", _("Decide"), f"{self.base}/decide"))
            if self.organiser or self.team:
                tabs.append(("disputes", _("Contested"), f"{self.base}/disputes"))
        return tabs

    def stations(self) -> list[ContestStation]:
        """List the phases, each with when it ends by the contest's clocks."""
        _ = self.visit.tongue.gettext
        titles = {
            Phase.BUILD: _("Build"),
            Phase.BREAK: _("Break"),
            Phase.SCORE: _("Score"),
            Phase.REVIEW: _("Settle labels"),
        }
        schedule, phase, order = self.info.schedule, self.info.phase, list(Phase)
        stations = []
        for station, end in schedule.ends.items():
            done, now = order.index(phase) > order.index(station), phase is station
            time = schedule.local(end)
            ends = _("ended %(time)s", time=time) if done else _("until %(time)s", time=time)
            stations.append(ContestStation(titles[station], ends, done, now))
        over = phase is Phase.OVER
        words = _("for everybody") if over else _("afterwards")
        if self.waits:
            words = _("waiting for the organisers")
        stations.append(ContestStation(_("Results"), words, False, over))
        return stations

    def render(self, template: str, section: str, *, trouble: Trouble | None = None, **values: Any) -> Response:
        """Answer with a page of the contest."""
        _ = self.visit.tongue.gettext
        tabs = self.tabs()
        here = next((title for key, title, _url in tabs if key == section), "")
        crumbs: list[tuple[str, str | None]] = [
            (title_of(self.visit, self.task), f"/tasks/{self.task.name}"),
            (_("Contests"), f"/tasks/{self.task.name}/contests"),
            (self.info.spec.title, self.base if here and section != "contest" else None),
        ]
        if here and section != "contest":
            crumbs.append((here, None))
        return self.visit.render(
            f"contest/{template}.html",
            status=trouble.status if trouble else 200,
            task=self.task,
            section="contests",
            room=self,
            contest=self.info,
            spec=self.info.spec,
            phase=self.info.phase.value,
            base=self.base,
            tab=section,
            tabs=tabs,
            stations=self.stations(),
            crumbs=crumbs,
            error=trouble,
            by_team=by_team,
            label_word=lambda inputs, label: shown_label(self.task, inputs, label),
            **values,
        )


def by_team(systems: Sequence[ContestSystem]) -> list[tuple[str | None, list[ContestSystem]]]:
    """Put the systems of a team together, in the order of its first; a system of no team stands by itself."""
    groups: dict[tuple[str | None, str], list[ContestSystem]] = {}
    for system in systems:
        groups.setdefault((system.team, "" if system.team else system.name), []).append(system)
    return [(team, own) for (team, _), own in groups.items()]


def room_of(visit: Visit, task: str, name: str) -> Room:
    """Find the contest, and who the reader is in it."""
    definition = tasks.get_task(visit.db, task)
    info = find_contest(visit.db, f"{task}/{name}")
    team = team_of(visit.db, visit.actor, info)
    return Room(
        visit, definition, info, team.name if team else "", team.role if team else "", organises(visit.actor, info)
    )


def next_steps(room: Room) -> list[ContestAdvice]:
    """Return what the reader does next in this phase."""
    by_phase = {
        Phase.COMING: _coming,
        Phase.BUILD: _building,
        Phase.BREAK: _breaking,
        Phase.SCORE: _scoring,
        Phase.REVIEW: _settling,
        Phase.OVER: _over,
    }
    steps = by_phase[room.info.phase](room)
    if room.judges():
        _ = room.visit.tongue.gettext
        text = _("Labels of pairs are validated by people outside the contest. You are one.")
        steps.append(ContestAdvice(text, _("Judge pairs"), f"{room.base}/judge", primary=not steps))
    return steps


def _coming(room: Room) -> list[ContestAdvice]:
    _ = room.visit.tongue.gettext
    time = room.info.schedule.local(room.info.schedule.starts)
    if room.organiser:
        text = _("The contest begins on %(time)s. Until then everything can be changed.", time=time)
        return [ContestAdvice(text, _("Edit"), f"{room.base}/edit", primary=False)]
    return [ContestAdvice(_("The contest begins on %(time)s. Teams can be made already.", time=time))]


def _building(room: Room) -> list[ContestAdvice]:
    _ = room.visit.tongue.gettext
    if room.builds:
        text = _("Hand in a model, or your answers to the blind development set.")
        return [ContestAdvice(text, _("Build"), f"{room.base}/build")]
    if room.breaks:
        text = _("Builders are at work. When they have finished, you see what their systems answer.")
        return [ContestAdvice(text)]
    if room.organiser:
        return [
            ContestAdvice(_("Teams form and build. The phase ends by itself."), _("Edit"), f"{room.base}/edit", False)
        ]
    return [ContestAdvice(_("Make a team below, or join one."))]


def _breaking(room: Room) -> list[ContestAdvice]:
    _ = room.visit.tongue.gettext
    if room.breaks:
        text = _("Write minimal pairs: change a sentence so that a system has one side right and the other wrong.")
        return [ContestAdvice(text, _("Break"), f"{room.base}/break")]
    if room.builds:
        return [ContestAdvice(_("Breakers are at work. Your system is asked about their pairs afterwards."))]
    if room.organiser:
        text = _("Breakers write pairs. The phase ends by itself, and the pairs become a data set.")
        return [ContestAdvice(text, _("Edit"), f"{room.base}/edit", primary=False)]
    return [ContestAdvice(_("Make a team of breakers below, or join one."))]


def _scoring(room: Room) -> list[ContestAdvice]:
    _ = room.visit.tongue.gettext
    if room.organiser:
        text = _("Systems answer the pairs. You may add reference systems, and see how it stands.")
        return [ContestAdvice(text, _("Results"), f"{room.base}/results")]
    if room.builds:
        text = _("Hand in your answers to the pairs; a model that we run needs nothing more.")
        return [ContestAdvice(text, _("Build"), f"{room.base}/build")]
    return [ContestAdvice(_("Builders answer the pairs. The results come next."))]


def _settling(room: Room) -> list[ContestAdvice]:
    _ = room.visit.tongue.gettext
    if room.organiser:
        text = _("Teams contest labels. Decide about pairs on which judges do not agree.")
        waiting = count_waiting(room.visit.db, room.info)
        return [ContestAdvice(text, _("Decide"), f"{room.base}/decide", primary=waiting > 0)]
    if room.team:
        text = _("See how it stands, and contest pairs of others whose label is wrong.")
        return [ContestAdvice(text, _("Results"), f"{room.base}/results")]
    return [ContestAdvice(_("Labels are being settled. The results are public afterwards."))]


def _over(room: Room) -> list[ContestAdvice]:
    _ = room.visit.tongue.gettext
    if room.waits:
        text = _("The contest is over, and its final results wait: the organisers have to decide about some pairs.")
        button = (_("Decide"), f"{room.base}/decide") if room.organiser else ("", "")
        return [ContestAdvice(text, *button)]
    text = _("The contest is over. See who withstood, who broke what, and every pair.")
    return [ContestAdvice(text, _("Results"), f"{room.base}/results")]
