"""The way from an empty task to its first round, as its owner sees it: steps, the next one lit, with its button."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.core.task import Task
from quintain.services.house.browse import TaskCard
from quintain.services.house.first_steps import FirstStep, FirstSteps, first_steps
from quintain.web.pages.stations import StationLine, StepButton, station_line
from quintain.web.visit import Visit


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step as the page shows it."""

    title: str
    text: str
    href: str
    done: bool
    now: bool


@dataclass(frozen=True, slots=True)
class OwnerPath:
    """What an owner sees above everything else: the steps to the first round, or where the newest round stands."""

    steps: list[ShownStep]
    button: StepButton | None
    also: StepButton | None
    trouble: str
    going: bool  # a worker is at it, so the page looks again by itself
    wheel: StationLine | None


def owner_path(visit: Visit, card: TaskCard) -> OwnerPath | None:
    """Return the next step of a task's owner; None for everybody else."""
    if not visit.owns(card.task):
        return None
    steps = first_steps(visit.db, visit.actor, card)
    if steps.next is None:
        newest = steps.newest_round
        return OwnerPath([], None, None, "", False, station_line(visit, card.task, newest.number) if newest else None)
    button, also = _buttons(visit, card.task, steps)
    job = steps.training if steps.next is FirstStep.MODELS else None
    return OwnerPath(
        [_shown(visit, card, steps, step) for step in FirstStep],
        button,
        also,
        job.reason if job is not None and not job.going else "",
        job is not None and job.going,
        None,
    )


def _shown(visit: Visit, card: TaskCard, steps: FirstSteps, step: FirstStep) -> ShownStep:
    _, number = visit.tongue.gettext, visit.tongue.number
    base = f"/tasks/{card.task.name}"
    later = _("not yet")
    texts = {
        FirstStep.DATA: _("%(n)s examples", n=number(card.examples)),
        FirstStep.MODELS: _("%(n)s models", n=number(card.models)),
        FirstStep.BOARD: _("ranks by what scores"),
        FirstStep.ROUND: _("people write"),
    }
    titles = {
        FirstStep.DATA: (_("Data"), f"{base}/data"),
        FirstStep.MODELS: (_("Models"), f"{base}/models"),
        FirstStep.BOARD: (_("Board"), f"{base}/board"),
        FirstStep.ROUND: (_("First round"), f"{base}/rounds"),
    }
    title, href = titles[step]
    done = step in steps.done
    text = texts[step] if done else later
    if step is FirstStep.MODELS and steps.training is not None and steps.training.going:
        share = steps.training.share or 0.0
        text = _("being trained, %(share)s", share=visit.tongue.percent(share))
    return ShownStep(title, text, href, done, step is steps.next)


def _buttons(visit: Visit, task: Task, steps: FirstSteps) -> tuple[StepButton | None, StepButton | None]:
    _ = visit.tongue.gettext
    base = f"/tasks/{task.name}"
    submit = StepButton(_("Submit a model"), f"{base}/submit")
    bring = StepButton(_("Import data"), f"{base}/data/import")
    if steps.next is FirstStep.DATA:
        return bring, None
    if steps.next is FirstStep.MODELS:
        if steps.training is not None and steps.training.going:
            return None, None
        if not steps.trainable:
            return submit, bring
        return StepButton(_("Train the baselines"), f"{base}/train/baselines", {"now": "on"}), submit
    if steps.next is FirstStep.BOARD:
        return StepButton(_("Choose what scores"), f"{base}/data"), bring
    return StepButton(_("Open the first round"), f"{base}/rounds/new"), None
