"""Taking a quiz out of use, and into use again."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import Conflict
from quintain.services.validate.quality import quiz_use
from quintain.web.errors import trouble_of
from quintain.web.pages.work.quizzes import show_results
from quintain.web.visit import Posting


def retire_quiz(post: Posting, task: str, quiz: str) -> Response:
    """Take a quiz out of use."""
    visit = post.visit
    try:
        quiz_use.retire_quiz(visit.db, visit.actor, task, quiz)
    except Conflict as error:
        return show_results(visit, task, quiz, trouble_of(error))
    toast = visit.tongue.gettext("The quiz is retired. It can be taken into use again here.")
    return visit.redirect(f"/tasks/{task}/quizzes/{quiz}/results", toast)


def restore_quiz(post: Posting, task: str, quiz: str) -> Response:
    """Take a retired quiz into use again."""
    visit = post.visit
    quiz_use.restore_quiz(visit.db, visit.actor, task, quiz)
    return visit.redirect(f"/tasks/{task}/quizzes/{quiz}/results", visit.tongue.gettext("The quiz is in use again."))
