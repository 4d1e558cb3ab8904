"""Taking part in a trial: one page that says what comes next, the tutorial, and letters."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import RoleName
from quintain.core.records.trial import TrialPart
from quintain.services.tasks import definitions as tasks
from quintain.services.trial import letters, offers, panel_entry, participation, trials
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.trial.owner import show_to_owner
from quintain.web.visit import Posting, Visit, Visiting


def show(visit: Visiting, task: str, trial: str) -> Response:
    """Show owners where the arms stand, and everybody else what they can do next."""
    if visit.actor.has(RoleName.OWNER, task):
        return show_to_owner(visit, task, trial)
    return _page(visit, task, trial)


def enter(post: Posting, task: str, trial: str) -> Response:
    """Take part."""
    visit = post.visit
    try:
        participation.enter(visit.db, visit.actor, task, trial, consent=post.text("consent") == "1")
    except (Conflict, Forbidden) as error:
        return _page(visit, task, trial, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/trials/{trial}")


def leave(post: Posting, task: str, trial: str) -> Response:
    """Leave."""
    visit = post.visit
    participation.leave(visit.db, visit.actor, task, trial)
    return visit.redirect(f"/tasks/{task}/trials/{trial}")


def reply(post: Posting, task: str, trial: str) -> Response:
    """Reply to a letter, or appeal against it."""
    visit = post.visit
    stage, text = post.text("stage"), post.text("text")
    letters.reply(visit.db, visit.actor, task, trial, stage, text, appeal=post.text("appeal") == "1")
    return visit.redirect(f"/tasks/{task}/trials/{trial}", visit.tongue.gettext("Thank you."))


def tutorial(visit: Visiting, task: str, trial: str) -> Response:
    """Show the next step of the tutorial's quizzes; after the last, what comes next."""
    step = participation.quiz_step(visit.db, visit.actor, task, trial)
    if step is None:
        return visit.redirect(f"/tasks/{task}/trials/{trial}", _told_last(visit, task, trial))
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    return visit.render(
        "trial/tutorial.html",
        task=definition,
        section="trials",
        trial=trial,
        step=step,
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Tutorial"), None)],
    )


def answer(post: Posting, task: str, trial: str) -> Response:
    """Take an answer."""
    visit = post.visit
    step = participation.answer_quiz(
        visit.db,
        visit.actor,
        task,
        trial,
        quiz=post.text("quiz"),
        step=post.number("step"),
        answer=post.text("answer"),
    )
    if step is None:
        return visit.redirect(f"/tasks/{task}/trials/{trial}", _told_last(visit, task, trial))
    return visit.redirect(f"/tasks/{task}/trials/{trial}/tutorial")


def _told_last(visit: Visit, task: str, trial: str) -> str:
    """Return how the last answer was, where its quiz tells: no other step comes that could."""
    notice = participation.last_notice(visit.db, visit.actor, task, trial)
    if notice is None:
        return ""
    _ = visit.tongue.gettext
    right = _("Your last answer was right.") if notice[0] else _("Your last answer was not the one we mean.")
    return f"{right} {notice[1]}".strip()


def _page(visit: Visit, task: str, trial: str, trouble: Trouble | None = None) -> Response:
    definition = tasks.get_task(visit.db, task)
    record = trials.get_trial(visit.db, visit.actor, task, trial)
    part: TrialPart | None = None
    to_grade: int | None = None
    if visit.actor.user_id is not None:
        part = participation.trial_part(visit.db, visit.actor, task, trial)
        to_grade = offers.grades_waiting(visit.db, visit.actor, task, trial)
    return visit.render(
        "trial/part.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="trials",
        trial=record,
        part=part,
        to_grade=to_grade,
        from_panel=panel_entry.came_by_panel(visit.db, visit.actor, task, trial),
        to_panel=panel_entry.may_complete(visit.db, visit.actor, task, trial, "trial"),
        error=trouble,
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (visit.tongue.gettext("Your part"), f"/tasks/{task}/trials"),
            (record.title or trial, None),
        ],
    )
