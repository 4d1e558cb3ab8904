"""A task at a glance: what it asks, what is open, who leads."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import Unavailable
from quintain.services.board.cache import PENDING
from quintain.services.board.standings import make_standing
from quintain.services.house.overview import overview_of
from quintain.services.tasks import definitions as tasks
from quintain.services.wheel import standings
from quintain.web.pages.begun import begun_session
from quintain.web.pages.contest_words import phase_names
from quintain.web.pages.house.first_steps import owner_path
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Visiting


def overview(visit: Visiting, task: str) -> Response:
    """Show what the task asks."""
    seen = overview_of(visit.db, visit.blobs, visit.actor, task)
    title = title_of(visit, seen.card.task)
    phases = phase_names(visit)
    path = owner_path(visit, seen.card)
    answer = visit.render(
        "house/task.html",
        task=seen.card.task,
        section="overview",
        card=seen.card,
        open_rounds=seen.open,
        begun={open_round.info.number: begun_session(visit, open_round.info) for open_round in seen.open},
        before=seen.before,
        standing=seen.standing,
        contests=[(contest, phases[contest.phase.value]) for contest in seen.contests],
        path=path,
        solved=standings.solved_rounds(visit.db, visit.actor, task) if visit.owns(seen.card.task) else [],
        crumbs=[(title, None)],
    )
    if visit.request.headers.get("hx-request") and path is not None and not path.going:
        answer.headers["HX-Refresh"] = "true"  # what was trained stands all over the page
    return answer


def top_models(visit: Visiting, task: str) -> Response:
    """Show the first of the board: a part of the overview that was not ready with it."""
    definition = tasks.get_task(visit.db, task)
    try:
        ranking = make_standing(visit.db, visit.blobs, task)
    except Unavailable as error:
        if error.code != PENDING:
            raise
        ranking = None
    return visit.render("board/top.html", task=definition, standing=ranking)
