"""The timeline of a task: how the post moves, which rounds are solved, and the next turn."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.records.wheel import Timeline
from quintain.core.wheel import ParityState
from quintain.reports.round_lines import RoundWords
from quintain.services.tasks import definitions as tasks
from quintain.services.wheel import next_round, standings
from quintain.services.wheel import timeline as service
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.models.styles import model_styles
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.wheel.charts import (
    RoundsChart,
    collected_chart,
    collected_table,
    score_chart,
    score_table,
)
from quintain.web.visit import Posting, Visit, Visiting


def show(visit: Visiting, task: str) -> Response:
    """Show the rounds of a task in their order, with people and models on each."""
    return _page(visit, task)


def save_margin(post: Posting, task: str) -> Response:
    """Set the margin."""
    visit = post.visit
    try:
        standings.set_margin(visit.db, visit.actor, task, _number(post.text("margin")))
    except BadInput as error:
        return _page(visit, task, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/timeline", visit.tongue.gettext("Saved."))


def start_next(post: Posting, task: str, name: str) -> Response:
    """Make a draft of the next round, aimed at the model that was chosen, and go to it."""
    visit = post.visit
    try:
        info = next_round.start_next(visit.db, visit.actor, f"{task}/{name}", post.text("model") or None)
    except (BadInput, Conflict, NotFound) as error:
        return _page(visit, task, trouble_of(error))
    toast = visit.tongue.gettext("The next round is a draft. It has no prompts yet.")
    return visit.redirect(f"/tasks/{task}/rounds/{info.number}/edit", toast)


def _number(text: str) -> float:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError as error:
        raise BadInput(faults=[Fault("is not a number", field="margin")]) from error


def _page(visit: Visit, task: str, trouble: Trouble | None = None) -> Response:
    definition = tasks.get_task(visit.db, task)
    timeline = service.timeline(visit.db, visit.actor, task)
    _ = visit.tongue.gettext
    return visit.render(
        "wheel/timeline.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="overview",
        told=timeline,
        solved=standings.solved_rounds(visit.db, visit.actor, task) if visit.owns(definition) else [],
        states=state_words(visit),
        charts=_charts(visit, timeline),
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Timeline"), None)],
        error=trouble,
    )


def state_words(visit: Visit) -> dict[str, str]:
    """Return in words what each state of a round is."""
    _ = visit.tongue.gettext
    return {
        ParityState.SOLVED: _("solved"),
        ParityState.OPEN: _("not solved"),
        ParityState.UNDECIDED: _("undecided"),
        ParityState.TOO_FEW: _("too few items to tell"),
        ParityState.SHOWN: _("labels are open: nothing to tell"),
        ParityState.WAITING: _("no model has been run"),
        ParityState.UNRELEASED: _("not released"),
    }


def _charts(visit: Visit, timeline: Timeline) -> list[RoundsChart]:
    """Return each chart with the question that it answers and its figures; none where there is nothing to draw."""
    _ = visit.tongue.gettext
    styles = model_styles(visit, timeline.task)
    notes = {
        "draft": _("a draft"),
        "open": _("still open"),
        "unjudged": _("nothing judged yet"),
        "untested": _("no test released"),
    }
    about = {"round": _("Round"), "who": _("Who"), "people": _("People"), "examples": _("Examples")}
    share = RoundWords(**about, value=_("Right, as people agree"), form=".1%")
    score = RoundWords(**about, value=_("Macro F1"))
    drawn = [
        (_("Does the post move? What the model of each round got right"), collected_chart, share, collected_table),
        (_("What do people and models reach on the test of each round?"), score_chart, score, score_table),
    ]
    charts = []
    for title, draw, words, tabulate in drawn:
        chart = draw(timeline.rounds, styles, words, notes)
        if chart is not None:
            charts.append(RoundsChart(title, chart, tabulate(timeline.rounds), words.form.endswith("%")))
    return charts
