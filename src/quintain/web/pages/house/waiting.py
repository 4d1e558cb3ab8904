"""What waits for somebody, in words."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.core.records.house import Errand, WaitingKind
from quintain.services.house.waiting import waiting_for
from quintain.web.visit import Visit

ICONS = {
    WaitingKind.WRITE: "pen",
    WaitingKind.JUDGE: "check",
    WaitingKind.OPEN: "round",
    WaitingKind.VALIDATE: "check",
    WaitingKind.ADJUDICATE: "shield",
    WaitingKind.INPUTS: "lock",
    WaitingKind.RELEASE: "data",
    WaitingKind.TRAIN: "model",
    WaitingKind.NEXT_ROUND: "round",
    WaitingKind.CONTRAST: "contrast",
    WaitingKind.CHECK: "check",
    WaitingKind.CODE: "tag",
    WaitingKind.SETTLE: "shield",
    WaitingKind.TRIAL: "trial",
    WaitingKind.GRADE: "check",
    WaitingKind.CLOSE_STAGE: "round",
    WaitingKind.CONTEST: "target",
    WaitingKind.BUILD: "model",
    WaitingKind.ANSWER_PAIRS: "model",
    WaitingKind.BREAK: "target",
    WaitingKind.JUDGE_PAIRS: "check",
    WaitingKind.RULE: "shield",
    WaitingKind.FAILED_RUN: "warning",
    WaitingKind.APPROVE_PAY: "coin",
    WaitingKind.PAID: "coin",
}


@dataclass(frozen=True, slots=True)
class ShownWaiting:
    """One thing that waits: what to do, on what, of which task."""

    icon: str
    title: str
    about: str
    task: str
    url: str


def shown_waiting(visit: Visit, titles: dict[str, str]) -> list[ShownWaiting]:
    """Return what waits for the person, in their language; *titles* are those of tasks."""
    errands = waiting_for(visit.db, visit.actor)
    return [
        ShownWaiting(
            ICONS[errand.kind],
            _title(visit, errand),
            _about(visit, errand),
            titles.get(errand.task, errand.task),
            errand.url,
        )
        for errand in errands
    ]


def _title(visit: Visit, errand: Errand) -> str:
    _, ngettext = visit.tongue.gettext, visit.tongue.ngettext
    count = errand.count or 0
    titles = {
        WaitingKind.WRITE: _("Go on writing") if errand.begun else _("Write: fool the model"),
        WaitingKind.JUDGE: _("Go on judging") if errand.begun else _("Judge what others wrote"),
        WaitingKind.OPEN: _("Open the round"),
        WaitingKind.VALIDATE: _("Let people judge"),
        WaitingKind.ADJUDICATE: ngettext("Decide %(num)s contested item", "Decide %(num)s contested items", count),
        WaitingKind.INPUTS: ngettext(
            "Decide who reads inputs: %(num)s request", "Decide who reads inputs: %(num)s requests", count
        ),
        WaitingKind.RELEASE: _("Release what was judged"),
        WaitingKind.TRAIN: _("Train the next model"),
        WaitingKind.NEXT_ROUND: _("Aim the next round at the new model"),
        WaitingKind.CONTRAST: _("Go on editing") if errand.begun else _("Edit an example of a test set"),
        WaitingKind.CHECK: ngettext("Check %(num)s edit", "Check %(num)s edits", count),
        WaitingKind.CODE: _("Code a sample by hand"),
        WaitingKind.SETTLE: ngettext("Decide %(num)s contested edit", "Decide %(num)s contested edits", count),
        WaitingKind.TRIAL: _("Go on in the trial") if errand.begun else _("Take part in a trial"),
        WaitingKind.GRADE: ngettext("Grade what others wrote", "Grade %(num)s items", count),
        WaitingKind.CLOSE_STAGE: ngettext(
            "People wait for you to close a stage", "People wait for you to close %(num)s stages", count
        ),
        WaitingKind.CONTEST: _("Build or break: join the contest"),
        WaitingKind.BUILD: _("Hand your team’s system in"),
        WaitingKind.ANSWER_PAIRS: _("Hand in what your system answers to the pairs"),
        WaitingKind.BREAK: _("Write pairs that break the systems"),
        WaitingKind.JUDGE_PAIRS: ngettext("Judge %(num)s pair of a contest", "Judge %(num)s pairs of a contest", count),
        WaitingKind.RULE: ngettext("Decide on %(num)s contested pair", "Decide on %(num)s contested pairs", count),
        WaitingKind.FAILED_RUN: ngettext("%(num)s run failed", "%(num)s runs failed", count),
        WaitingKind.APPROVE_PAY: _("Approve pay: %(money)s", money=errand.money),
        WaitingKind.PAID: _("Pay was approved: %(money)s", money=errand.money),
    }
    return titles[errand.kind]


def _about(visit: Visit, errand: Errand) -> str:
    if errand.kind is WaitingKind.APPROVE_PAY:
        return visit.tongue.gettext("Round %(n)s", n=errand.name)
    return errand.name
