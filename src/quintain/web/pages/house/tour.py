"""Beginning a tour, going on, and ending it."""

from __future__ import annotations

from starlette.responses import Response

from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.tasks.definitions import list_tasks
from quintain.web.tour import ENDED, STEPS, TOUR_COOKIE, TourStep, read_step, role_of
from quintain.web.visit import Posting, Visit, local_path


def go(post: Posting) -> Response:
    """Begin the tour, go to its next step, or end it; the person stays where they are when it ends."""
    visit = post.visit
    now = read_step(visit.request.cookies.get(TOUR_COOKIE, ""))
    if post.flag("end") or (post.flag("next") and (now is None or now.at + 1 >= STEPS)):
        visit.remember(TOUR_COOKIE, ENDED)
        return visit.redirect(local_path(post.text("here", "/")))
    step = TourStep(now.role, now.at + 1, now.task) if now and post.flag("next") else _first(visit)
    visit.remember(TOUR_COOKIE, step.cookie())
    return visit.redirect(step.page)


def _first(visit: Visit) -> TourStep:
    """Begin with the task whose round was begun last; a house without tasks has a front page all the same."""
    rounds = sorted(list_rounds(visit.db, visit.actor), key=lambda info: info.id)
    tasks = [item.task.name for item in list_tasks(visit.db)]
    shown = [info.task for info in rounds if info.task in tasks] or tasks or ["-"]
    return TourStep(role_of(visit.actor), 0, shown[-1])
