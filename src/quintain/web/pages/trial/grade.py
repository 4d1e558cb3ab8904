"""The rubric page: one item, a few questions, keys."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.records.trial import GradingTask
from quintain.core.task import Task
from quintain.services.tasks import definitions as tasks
from quintain.services.trial import panel_entry, rubric, trials
from quintain.store.base import now
from quintain.web.forms import answer_text
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.written import marks_answer, written_parts
from quintain.web.visit import Posting, Visiting

PREFIX = "q-"


def show(visit: Visiting, task: str, trial: str, back: int = 0) -> Response:
    """Show the next item to grade, or one that was graded before."""
    definition = tasks.get_task(visit.db, task)
    item: GradingTask | None
    if back > 0:
        item = rubric.graded_before(visit.db, visit.actor, task, trial, back)
    else:
        item = rubric.next_to_grade(visit.db, visit.actor, task, trial)
    _ = visit.tongue.gettext
    return visit.render(
        "trial/grade.html",
        task=definition,
        section="trials",
        trial=trial,
        item=item,
        to_panel=panel_entry.may_complete(visit.db, visit.actor, task, trial, "grading"),
        prefix=PREFIX,
        left=0 if item is None or item.until is None else max(0, int((item.until - now()).total_seconds())),
        parts=[] if item is None else written_parts(definition, item.inputs, item.answer),
        answer="" if item is None else _answer(definition, item),
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (trials.title_of(visit.db, task, trial), f"/tasks/{task}/trials/{trial}"),
            (_("Grade"), None),
        ],
    )


def _answer(task: Task, item: GradingTask) -> str:
    """Write the writer's answer where no option of theirs is marked."""
    if item.answer is None or marks_answer(task, item.inputs):
        return ""
    return answer_text(task, item.inputs, item.answer)


def grade(post: Posting, task: str, trial: str) -> Response:
    """Take a grade, or other answers in the place of one."""
    visit = post.visit
    names = [name for name in post.text("questions").split(",") if name]
    answers = {name: post.text(PREFIX + name) for name in names}
    stage, item = post.text("stage"), post.text("item")
    give = rubric.change_grade if post.text("back") else rubric.grade
    give(visit.db, visit.actor, task, trial, stage=stage, item=item, answers=answers)
    return visit.redirect(f"/tasks/{task}/trials/{trial}/grade")
